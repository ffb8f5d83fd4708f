"""Continual re-solving with wrong leaf values: Burch's Theorem 12, measured in Leduc hold'em.

The lookahead of the first betting round ends with the round. Its leaves are solved exactly, and an
error is added that is a fixed function of the public state and the hand, uniform in [-ε, ε] chips.
The theorem bounds the exploitability of the whole strategy by

    (d + 1) k / √T  +  (2 d + 1) j ε

with d the re-solves on a path, T the iterations of each, k a number of the game and j the number
of public states at the depth limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from omegaconf import DictConfig

from deepstack.game.definition import Game, load_game
from deepstack.game.state import State
from deepstack.resolve.assemble import best_response_value, decisions, empty_game
from deepstack.resolve.continual import Resolver, Settings
from deepstack.resolve.lookahead import Solve
from deepstack.run.progress import Progress
from deepstack.solver.leaves import RoundEvaluator
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import Raises, limit_raises
from deepstack.values.leaves import NoisyLeaves
from deepstack.values.solved import SolvedLeaves

UNIT = "decisions"


def _runs(config: DictConfig) -> Iterator[tuple[float, int]]:
    """Sizes of the error and seeds; without an error there is nothing to draw."""
    for size in config.errors:
        for seed in range(int(config.draws) if size else 1):
            yield float(size), seed


def _settings(config: DictConfig, size: float, seed: int) -> Settings:
    rule, iterations = update_rule(str(config.algorithm)), int(config.iterations)

    def leaves(state: State, raises: Raises) -> RoundEvaluator:
        # errors tell suits apart, so boards must not be merged
        exact = SolvedLeaves(state, raises, iterations=int(config.leaf_iterations))
        return NoisyLeaves(exact, size, seed) if size else exact

    rounds = (Solve(limit_raises, rule, iterations, leaves), Solve(limit_raises, rule, iterations))
    return Settings(
        rounds,
        gadget=str(config.gadget),
        values=str(config.carry),
        gift=bool(config.gift),
        snapshots=int(config.snapshots),
    )


def steps(config: DictConfig) -> int:
    """Decisions of both seats for every run."""
    whole = empty_game(Resolver(load_game("leduc"), 0, _settings(config, 0.0, 0)))
    return len(list(_runs(config))) * (decisions(whole, 0) + decisions(whole, 1))


def bound(game: Game) -> dict[str, int]:
    """The numbers d and j of the theorem for a lookahead of one round."""
    whole = empty_game(Resolver(game, 0, Settings((Solve(limit_raises, update_rule("cfr"), 1),))))
    first = whole.betting_tree.stages[0]
    leaves = len(whole.betting_tree.stages[1].lines) * int(whole.boards.boards[1])
    most = max(
        sum(len(actions) for actions in node.state.betting) // 2 + 1
        for stage in whole.betting_tree.stages
        for node in stage.nodes
    )
    assert first.nodes
    return {"resolves": most, "leaves": leaves}


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in chips by the size of the error: mean, least and most over the draws."""
    game = load_game("leduc")
    found: dict[str, list[float]] = {}
    for size, seed in _runs(config):
        settings = _settings(config, size, seed)
        won = [
            best_response_value(Resolver(game, seat, settings), progress=progress)
            for seat in (0, 1)
        ]
        found.setdefault(f"{size:g}", []).append(sum(won) / 2)
    numbers = bound(game)
    return {
        "game": game.name,
        "exploitability": {size: float(np.mean(values)) for size, values in found.items()},
        "least": {size: min(values) for size, values in found.items()},
        "most": {size: max(values) for size, values in found.items()},
        "bound": {**numbers, "slope": (2 * numbers["resolves"] + 1) * numbers["leaves"]},
    }
