"""Table 2 of V. Lisý and M. Bowling (2017): local best response against trivial strategies.

Beside it stands what local best response and an exact best response win from always-call, without
sampling. The chips that a caller puts in
are the responder's to choose, and a hand pays in proportion to them; so it is best to put in all or
nothing more, and a limit game whose only raise is all-in has the same best response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from deepstack.agents.build import AgentSpec
from deepstack.evaluate.card_blind import card_blind_exploitability
from deepstack.evaluate.lbr import LbrTask, forget, lbr_task, run_lbr
from deepstack.evaluate.lbr_bets import load_bets
from deepstack.evaluate.lbr_caller import lbr_against_caller
from deepstack.experiments.machine import processor
from deepstack.game.definition import Game, load_game
from deepstack.run.executors import make_executor
from deepstack.run.progress import Progress

UNIT = "hands"
CALL = (0.0, 1.0, 0.0)
HOLDEM = "hunl"


def setting_name(bets: str, rounds: str | int) -> str:
    """What a setting is called in the result file."""
    return f"{bets} {rounds}"


def _cells(config: DictConfig) -> Iterator[tuple[str, str, LbrTask]]:
    """Every agent and setting."""
    game = load_game(str(config.game))
    agents = OmegaConf.to_container(config.agents, resolve=True)
    assert isinstance(agents, dict)
    for name, spec in agents.items():
        agent: AgentSpec = spec
        for setting in config.settings:
            bets = load_bets(str(setting.bets), game, setting.rounds)
            task = lbr_task(game, agent, bets, config.seed)
            yield str(name), setting_name(setting.bets, setting.rounds), task


def steps(config: DictConfig) -> int:
    """Hands in all."""
    return len(list(_cells(config))) * int(config.hands)


def all_in_game(game: Game) -> Game:
    """The game as a limit game with one raise a round, which is all-in.

    >>> all_in_game(load_game("nolimit_leduc")).raise_size
    (1200, 1200)
    """
    if game.limit:
        return game
    sizes = (max(game.stacks),) * game.rounds
    return replace(game, limit=True, raise_size=sizes, max_raises=(1,) * game.rounds)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Win rates in mbb/g by agent and setting; the exact best response to always-call."""
    executor = make_executor(str(config.executor), config.workers)
    work = Path(str(config.work))
    cells: dict[str, dict[str, Any]] = {}
    tasks = []
    for agent, setting, task in _cells(config):
        result = run_lbr(task, config.hands, work=work, executor=executor, progress=progress)
        cells.setdefault(agent, {})[setting] = result.figures()
        tasks.append(task)
    game = load_game(str(config.game))
    figures: dict[str, Any] = {
        "game": game.name,
        "machine": processor(),
        "agents": cells,
    }
    if config.exact:
        exact = card_blind_exploitability(all_in_game(game), CALL, threads=config.threads)
        figures["best_response_to_call"] = exact.mbb
        if game.name == HOLDEM:
            chips = lbr_against_caller(game)
            figures["lbr_against_call"] = {
                setting_name("fcpa", rounds): 1000 * won / game.big_blind
                for rounds, won in zip(("1-4", "2-4", "3-4", "4"), chips, strict=True)
            }
    for task in tasks:
        forget(task, work)
    return figures
