"""Table 2.1 of M. Johanson's thesis (2016): what players who ignore their cards can lose.

Exact best responses in full heads-up limit hold'em; ``evaluate.card_blind`` says how that can be.
"""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig

from deepstack.evaluate.card_blind import card_blind_exploitabilities, count_steps
from deepstack.game.definition import load_game
from deepstack.run.progress import Progress

UNIT = "boards"


def steps(config: DictConfig) -> int:
    """Boards of the first deal."""
    return count_steps(load_game(str(config.game)))


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in mbb/g by agent: the mean, and by the seat of the best response."""
    game = load_game(str(config.game))
    agents = [(float(a.fold), float(a.call), float(a.get("raise"))) for a in config.agents.values()]
    found = card_blind_exploitabilities(game, agents, progress=progress, threads=config.threads)
    return {
        "game": game.name,
        "agents": {
            str(name): {"mbb_per_game": result.mbb, "mbb_by_seat": list(result.mbb_by_seat)}
            for name, result in zip(config.agents, found, strict=True)
        },
    }
