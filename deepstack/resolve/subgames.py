"""Subgames of a solved tree: the betting round after the root's, on one board.

What re-solving needs of the solution that exists: who reaches the subgame with which hands, what
the opponent's hands are worth there, and how a new strategy takes the old one's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE, BEST
from deepstack.solver.engine import Engine
from deepstack.solver.rules import UpdateRule
from deepstack.tree.betting import DECISION, Raises

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Subgame:
    """A line of the second stage on one board of a tree whose boards are kept apart.

    Attributes:
        line: the line, counted in its stage.
        board: the board, counted in its stage.
        state: the public state at its root.
        reach: [2, H] reach of each player under the average strategies, over the board's live
            hands, the root's range included.
        hands: [H] hand indices of those places.
    """

    line: int
    board: int
    state: State
    reach: Floats
    hands: npt.NDArray[np.int64]

    def over_hands(self, values: npt.ArrayLike) -> Floats:
        """Values of live hands [..., H] as a vector over all hands of the game."""
        given = np.asarray(values, np.float64)
        full = np.zeros((*given.shape[:-1], self.state.game.hands))
        full[..., self.hands] = given
        return full


def subgames(whole: Engine) -> Iterator[Subgame]:
    """Every subgame with decisions after the root's betting round."""
    if whole.merged or len(whole.board_tree) < 2:
        raise InputError("subgames: expected a tree of two rounds or more, without merged boards")
    stage = whole.board_tree[1]
    before = whole.line_reach(AVERAGE)  # [2, lines, H of the root]
    for number, line in enumerate(whole.betting_tree.stages[1].lines):
        if line.kind != DECISION:
            continue
        for board in range(stage.boards):
            cards = tuple(int(card) for card in stage.cards[board])
            reach = before[:, number, stage.place_in_parent[board]]
            state = replace(line.state, board=cards)
            yield Subgame(number, board, state, reach, stage.hands[board])


def subgame_engine(
    subgame: Subgame,
    ranges: npt.ArrayLike,
    raises: Raises,
    rule: UpdateRule,
    dtype: npt.DTypeLike = np.float64,
) -> Engine:
    """The subgame as a game of its own, entered with ranges [2, H] of live hands."""
    full = subgame.over_hands(ranges)
    return Engine(subgame.state, full, raises, rule, dtype=dtype, merge=False)


def entered_by(
    subgame: Subgame,
    seat: int,
    raises: Raises,
    rule: UpdateRule,
    *,
    scale: float = 1.0,
    dtype: npt.DTypeLike = np.float64,
) -> Engine:
    """The subgame to be solved again for a seat, which enters with its reach times ``scale``.

    The other seat's range is a gadget's choice. With a scale, constraints have to be scaled too.
    """
    ranges = np.ones_like(subgame.reach)
    ranges[seat] = subgame.reach[seat] * scale
    return subgame_engine(subgame, ranges, raises, rule, dtype)


def dealt(whole: Engine, subgame: Subgame, player: int) -> Floats:
    """Weights [H] of a player's live hands in the range at the root of the whole tree.

    To a gadget they are what chance deals: a hand that is rarely held there weighs little.
    """
    place = whole.board_tree[1].place_in_parent[subgame.board]
    return whole.ranges[player, place].astype(np.float64)


def copy_strategy(
    source: Engine, target: Engine, subgame: Subgame, players: tuple[int, ...], *, back: bool
) -> None:
    """Average strategies of some players between a whole tree and a subgame's own tree.

    With ``back`` from the subgame (``source``) into the whole tree (``target``), else from the
    whole tree into the subgame.
    """
    whole, part = (target, source) if back else (source, target)
    nodes = [n for n, node in enumerate(whole.betting_tree.stages[1].nodes)
             if node.line == subgame.line]  # fmt: skip
    for inner, outer in enumerate(nodes):
        if whole.betting_tree.stages[1].nodes[outer].player not in players:
            continue
        there = whole.table_rows(1, outer, subgame.board)
        here = part.table_rows(0, inner, 0)
        if back:
            whole.tables.average[there] = part.tables.average[here]
        else:
            part.tables.average[here] = whole.tables.average[there]


def opponent_values(
    whole: Engine, subgame: Subgame, opponent: int, raises: Raises, rule: UpdateRule, *, best: bool
) -> Floats:
    """What the opponent's live hands [H] are worth at a subgame's root, against our average.

    With ``best`` under its best response (the safe constraints), else under its own average
    strategy (self-play). The unit is that of the subgame entered with our reach.
    """
    ranges = np.ones_like(subgame.reach)
    ranges[1 - opponent] = subgame.reach[1 - opponent]
    part = subgame_engine(subgame, ranges, raises, rule)
    copy_strategy(whole, part, subgame, (0, 1), back=False)
    return part.root_values(BEST if best else AVERAGE)[opponent]
