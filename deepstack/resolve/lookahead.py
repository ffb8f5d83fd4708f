"""The lookahead: one solve below the present state, and what the next decision needs of it.

A lookahead ends with the betting round, where a leaf evaluator stands for what comes after, or with
the game. It is entered with our range; the opponent's is chosen by a gadget from the values that it
was left with. When it is solved it answers for every hand: our strategy at its root, and what the
opponent's hands are worth after each of our actions and, once the round is over, for the cards that
are dealt.

The opponent's values are of one of three kinds (``VALUES``):

- ``best``: of a best response to our average strategy, leaves at their mean over the iterations;
- ``average``: of its own average strategy against ours;
- ``mean``: averaged over the iterations with the weights of our strategy, as published.

An end-of-round evaluator values leaves in the mean over the next cards. The values for the card
that is dealt come from *snapshots*: both ranges at every leaf, kept from some iterations that are
spread evenly over the weights of the average, and valued for the card when it is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepstack.game.state import Action, State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE, BEST
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import RootGadget, RoundEvaluator
from deepstack.solver.rules import UpdateRule
from deepstack.tree.betting import DECISION, NEXT, Raises

Floats = npt.NDArray[np.float64]
MakeLeaves = Callable[[State, Raises], RoundEvaluator]
"""An evaluator for the leaves of a lookahead from a state with a menu."""

VALUES = {"best": BEST, "average": AVERAGE, "mean": AVERAGE}


@dataclass(frozen=True, slots=True)
class Solve:
    """How the decisions of a betting round are solved.

    Attributes:
        raises: the raise totals of the lookahead.
        rule: how regrets and averages move; its ``delay`` are the omitted iterations.
        iterations: of every solve.
        leaves: makes the evaluator at the end of the round; None: solved to the end of the game.
    """

    raises: Raises
    rule: UpdateRule
    iterations: int
    leaves: MakeLeaves | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InputError(f"iterations {self.iterations}: expected at least 1")
        if self.rule.delay >= self.iterations:
            raise InputError(
                f"omitted iterations {self.rule.delay}: expected fewer than {self.iterations}"
            )


class Lookahead:
    """A lookahead for one seat.

    Args:
        state: its root; both seats may be to act.
        seat: ours.
        ranges: [2, hands]; with a gadget the opponent's is replaced.
        solve: how it is solved.
        values: the kind of the opponent's values.
        snapshots: how many snapshots of the leaves' ranges are kept.
        dtype: of the tables.
    """

    def __init__(
        self,
        state: State,
        seat: int,
        ranges: Floats,
        solve: Solve,
        *,
        values: str = "best",
        snapshots: int = 32,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self.state, self.seat, self.solve, self.values = state, seat, solve, values
        last = state.game.rounds - 1
        limited = solve.leaves is not None and state.round < last
        self.evaluator = solve.leaves(state, solve.raises) if limited and solve.leaves else None
        self.engine = Engine(
            state,
            ranges,
            solve.raises,
            solve.rule,
            dtype=dtype,
            merge=False,
            last_round=state.round if limited else last,
            evaluator=self.evaluator,
        )
        self._kept: list[npt.NDArray[np.floating]] = []
        self._weights: list[float] = []
        self._asked = 0
        self._chosen = _spread(solve.rule, solve.iterations, snapshots)
        if limited:
            self.engine.watch = self._watch
        if limited or values == "mean":
            self.engine.average_values()

    @property
    def opponent(self) -> int:
        return 1 - self.seat

    @property
    def hands(self) -> npt.NDArray[np.int64]:
        """[H] indices of the root's live hands."""
        return self.engine.board_tree[0].hands[0]

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the player to act at the root may do."""
        return tuple(slot.action for slot in self.engine.betting_tree.stages[0].nodes[0].slots)

    def run(self, gadget: RootGadget | None = None) -> None:
        """Solve; a gadget decides with which range the opponent enters."""
        self.engine.run(self.solve.iterations, gadget)

    def _watch(self, player: int, reach: npt.NDArray[np.floating]) -> None:
        """Keep a snapshot if it is one of the iterations that were chosen."""
        if player == self.seat:
            return
        weight = self._chosen.get(self._asked)
        self._asked += 1
        if weight is not None:
            self._kept.append(reach[:, 0].copy())
            self._weights.append(weight)

    # ---- what is asked of it

    def strategy(self, node: int = 0) -> Floats:
        """Probabilities [hands, A] of the actions of a node of the first round."""
        engine = self.engine
        slots = engine.betting_tree.stages[0].nodes[node].slots
        hands, width = int(engine.boards.hands[0]), int(engine.boards.width[0])
        weights = engine.tables.average[engine.table_rows(0, node, 0)].reshape(-1, width)
        weights = weights[:, :hands].T.astype(np.float64)
        total = weights.sum(axis=1, keepdims=True)
        even = np.full_like(weights, 1.0 / len(slots))
        full = np.zeros((self.state.game.hands, len(slots)))
        full[self.hands] = np.divide(weights, total, out=even, where=total > 0)
        return full

    def root_values(self) -> Floats:
        """The opponent's values [hands] before anybody acts."""
        return self._full(self.engine.root_values(VALUES[self.values])[self.opponent])

    def values_after(self, slot: int) -> Floats:
        """The opponent's values [hands] after an action of ours at the root."""
        if self.values == "mean":
            return self._full(self.engine.mean_slot_values(slot, self.opponent))
        return self._full(self.engine.slot_values(slot, self.opponent, VALUES[self.values]))

    def gap(self) -> float:
        """How much more a best response would have than the values carried, in chips.

        The mean over the hands that the opponent may hold, by our range; before our action.
        """
        best, average = (self.engine.root_values(mode)[self.opponent] for mode in (BEST, AVERAGE))
        mass = self.engine.ranges[self.seat].sum()
        return float((best - average).mean() / mass) if mass > 0 else 0.0

    def gift(self, slot: int) -> Floats:
        """What the opponent's hands [hands] give up by calling our action rather than their best.

        Zero if our action ends the round.
        """
        engine, player = self.engine, self.opponent
        taken = engine.betting_tree.stages[0].nodes[0].slots[slot]
        if taken.kind != DECISION:
            return np.zeros(self.state.game.hands)
        best = engine.slot_values(slot, player, BEST)
        number = int(engine.tree.first_slot[taken.target]) + self._call(taken.target)
        row = engine.row(player, 0, 0, int(engine.tree.source[player, number]))
        return self._full(best - row * float(engine.tree.scale[player, number]))

    def line_after(self, slot: int) -> int | None:
        """The line of the next round after our action, called by the opponent if it was a bet."""
        nodes = self.engine.betting_tree.stages[0].nodes
        taken = nodes[0].slots[slot]
        if taken.kind == DECISION:
            taken = nodes[taken.target].slots[self._call(taken.target)]
        return taken.target if taken.kind == NEXT else None

    def card_values(self, slot: int, state: State) -> Floats | None:
        """The opponent's values [hands] at the start of the next round, once its cards are dealt.

        None if the round does not end after our action and the opponent's call.
        """
        line = self.line_after(slot)
        if line is None:
            return None
        if self.evaluator is None:
            stage = self.engine.board_tree[1]
            board = _index(stage.cards, state.board)
            mode = VALUES[self.values]
            full = np.zeros(state.game.hands)
            values = self.engine.line_values(line, board, self.opponent, mode)
            full[stage.hands[board]] = values
            return full
        reach = np.zeros((2, len(self._kept), state.game.hands))
        reach[:, :, self.hands] = np.stack([kept[:, line] for kept in self._kept], axis=1)
        start = _round_start(self.engine.betting_tree.leaves[line], state.board)
        values = self.evaluator.card_values(start, reach)[self.opponent]
        return np.asarray(np.average(values, axis=0, weights=self._weights), np.float64)

    def _call(self, node: int) -> int:
        slots = self.engine.betting_tree.stages[0].nodes[node].slots
        return next(i for i, slot in enumerate(slots) if slot.action.kind == "c")

    def _full(self, values: Floats) -> Floats:
        full = np.zeros(self.state.game.hands)
        full[self.hands] = values
        return full


def by_side(seat: int, ours: Raises, theirs: Raises) -> Raises:
    """One menu for a seat and another for its opponent."""

    def raises(state: State, raised: int) -> tuple[int, ...]:
        return (ours if state.actor == seat else theirs)(state, raised)

    return raises


def _round_start(leaf: State, board: tuple[int, ...]) -> State:
    """The state at the start of a round: a leaf with its cards dealt."""
    return leaf.deal(board[len(leaf.board) :])


def _index(boards: npt.NDArray[np.int64], board: tuple[int, ...]) -> int:
    same = (np.sort(boards, axis=1) == np.sort(board)).all(axis=1)
    found = np.nonzero(same)[0]
    if not len(found):
        raise InputError(f"board {board}: expected one that follows the last decision's")
    return int(found[0])


def _spread(rule: UpdateRule, iterations: int, count: int) -> dict[int, float]:
    """Iterations (from 0) spread evenly over the weights of the average, with their weights."""
    schedule = rule.schedule(1, iterations)
    weights = np.zeros(iterations)
    later = 1.0
    for t in range(iterations - 1, -1, -1):
        weights[t] = later * schedule[t, 3]
        later *= schedule[t, 2]
        if later == 0.0:
            break
    if np.count_nonzero(weights) <= count:
        return {int(t): float(weights[t]) for t in np.nonzero(weights)[0]}
    shares = np.cumsum(weights) / weights.sum()
    chosen = np.searchsorted(shares, (np.arange(count) + 0.5) / count)
    places, times = np.unique(chosen, return_counts=True)
    return {int(t): float(n) for t, n in zip(places, times, strict=True)}
