"""What a strategy of the first betting round is worth when the rounds after it are played best.

A lookahead finds a strategy for one betting round and stands on values for the rest. To judge the
round alone, a player is *held* to it: in the whole tree the player's nodes of the first round are
locked, everything else is solved again, the player's own later rounds and all that the opponent
does. In that game the opponent wins more than the game is worth by just what the held strategy
costs. Half the sum of the winnings over both players, each held in turn, is the exploitability of
the round with the rest completed optimally; the value of the game falls out of the sum.

The solve leaves a gap, which says how far the figure may be off: the opponent wins at most what its
best response to the player's whole average strategy does, and at least what the player's best
completion leaves it against the opponent's own average.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.stopping import next_check

Floats = npt.NDArray[np.float64]
RoundStrategy = tuple[Floats, ...]
"""Probabilities [hands of the game, A] by node of the first round, both players' nodes."""


class Winnings(NamedTuple):
    """What the opponent of a held player wins, in chips; ``most`` by a best response to the
    completed strategy, ``least`` whatever the player does later."""

    most: float
    least: float
    iterations: int

    @property
    def gap(self) -> float:
        return self.most - self.least


def round_strategy(engine: Engine) -> RoundStrategy:
    """The average strategies of the first betting round; hands that never come play evenly."""
    width, places = int(engine.boards.width[0]), engine.board_tree[0].hands[0]
    found = []
    for number, node in enumerate(engine.betting_tree.stages[0].nodes):
        actions = len(node.slots)
        rows = engine.tables.average[engine.table_rows(0, number, 0)].reshape(actions, width)
        weights = rows[:, : len(places)].T.astype(np.float64)
        total = weights.sum(axis=1, keepdims=True)
        strategy = np.full((engine.game.hands, actions), 1.0 / actions)
        strategy[places] = np.divide(
            weights, total, out=np.full_like(weights, 1.0 / actions), where=total > 0
        )
        found.append(strategy)
    return tuple(found)


def hold(engine: Engine, player: int, strategy: RoundStrategy) -> None:
    """Lock a player's nodes of the first round; the other player's are left alone.

    ``strategy`` belongs to a tree with the same betting in the first round, whatever follows it.
    """
    if engine.merged:
        raise InputError("a held strategy: expected a tree whose boards are not merged")
    nodes = engine.betting_tree.stages[0].nodes
    shapes = [(engine.game.hands, len(node.slots)) for node in nodes]
    if [rows.shape for rows in strategy] != shapes:
        raise InputError(
            f"a held strategy of {len(strategy)} nodes: expected {len(nodes)} with the same actions"
        )
    places = engine.board_tree[0].hands[0]
    for number, node in enumerate(nodes):
        if node.player == player:
            engine.lock(0, number, 0, strategy[number][places])


def winnings(engine: Engine, player: int) -> Winnings:
    """What the opponent of a held player wins, as far as the engine has come."""
    values = engine.root_values(BEST)
    won = (values * engine.ranges[:, : values.shape[1]]).sum(axis=1) / engine.mass
    return Winnings(float(won[1 - player]), -float(won[player]), engine.iterations)


def complete(
    engine: Engine, player: int, strategy: RoundStrategy, *, gap: float, iterations: int
) -> Winnings:
    """Solve the tree with a player held to its strategy of the first round.

    What the engine knew is forgotten.

    Args:
        engine: the whole tree, to the end of the game, boards not merged.
        player: who is held.
        strategy: to what, by node.
        gap: stop when the opponent's winnings are known to so many chips,
        iterations: or after so many iterations.
    """
    engine.reset()
    hold(engine, player, strategy)
    while True:
        following = min(next_check(engine.iterations, True), iterations)
        engine.run(following - engine.iterations)
        found = winnings(engine, player)
        if found.gap <= gap or engine.iterations >= iterations:
            return found
