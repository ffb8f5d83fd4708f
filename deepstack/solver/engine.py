"""The engine: a public tree, its tables, iterations of an update rule, values.

    engine = Engine(root, ranges, raises, CFR_PLUS)
    engine.run(1000)
    engine.exploitability()                 # chips, half the sum of both best responses' gains

One engine serves every two-player game of ``deepstack.game``, whole or from any state, with all
rounds to come or with leaves at a depth limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import (
    AVERAGE,
    BEST,
    BEST_OF_CURRENT,
    BOTH,
    CURRENT,
    DOWN,
    NOTHING,
    UP,
    UPDATE,
    Step,
    Tables,
    Work,
    go_down,
    go_up,
    iterate,
    start,
    traverse,
    visit,
)
from deepstack.solver.layout import Betting, Boards, lay_out_betting, lay_out_boards
from deepstack.solver.leaves import LeafEvaluator, Leaves, RootGadget
from deepstack.solver.memory import Memory, require_memory
from deepstack.solver.ranges import check_ranges, joint_mass
from deepstack.solver.rules import UpdateRule
from deepstack.solver.simd import LANES, aligned_zeros
from deepstack.tree.betting import DECISION, FOLDED, NEXT, SHOWDOWN, Raises, build_betting
from deepstack.tree.boards import build_boards, root_group

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a public tree is: nodes, and slots (actions × hands of the root, by convention)."""

    decisions: int
    chances: int
    folds: int
    showdowns: int
    slots: int


class Engine:
    """Counterfactual regret minimisation below one state.

    Args:
        root: the state to solve; private cards are ignored.
        ranges: [2, hands] weights of every hand of each seat, at the root; hands that hold a board
            card are ignored.
        raises: the raise totals a tree offers (``Menu.raises``).
        rule: how regrets and averages move.
        dtype: float32, or float64 where digits count.
        merge: treat boards alike that differ by a relabelling of suits, where the root allows it.
        last_round: the last betting round of the tree; beyond it ``evaluator`` gives the values.
        evaluator: values of the leaves; needed if ``last_round`` is not the game's last.
        threads: threads across the boards of the second round of the tree.
    """

    def __init__(
        self,
        root: State,
        ranges: npt.ArrayLike,
        raises: Raises,
        rule: UpdateRule,
        *,
        dtype: npt.DTypeLike = np.float32,
        merge: bool = True,
        last_round: int | None = None,
        evaluator: LeafEvaluator | None = None,
        threads: int = 1,
    ) -> None:
        self.root, self.game, self.rule = root, root.game, rule
        self.dtype = np.dtype(dtype)
        self.iterations = 0
        self.evaluator = evaluator
        last = self.game.rounds - 1 if last_round is None else last_round
        given = check_ranges(root, ranges)
        self.betting_tree = build_betting(root, raises, last)
        if self.betting_tree.leaves and evaluator is None:
            raise InputError(f"last round {last}: expected a leaf evaluator for what comes after")
        group = root_group(self.game, root.board, given)
        if not merge:
            group = group[:1]
        self.merged = len(group) > 1
        self.board_tree = build_boards(self.game, root.board, root.round, last, group)
        self.tree: Betting = lay_out_betting(self.betting_tree)
        self.boards: Boards = lay_out_boards(self.game, self.board_tree)
        if threads < 1:
            raise InputError(f"threads={threads}: expected at least 1")
        widest = int(self.boards.boards[1]) if len(self.board_tree) > 1 else 1
        self.threads = 1 if self.betting_tree.leaves else min(threads, widest)
        self.memory = self._memory()
        require_memory(self.memory)
        self.ranges = np.zeros((2, self.boards.width[0]), self.dtype)
        self.ranges[:, : self.boards.hands[0]] = given[:, self.board_tree[0].hands[0]]
        self.mass = joint_mass(self.game, given)
        self._allocate()

    # ---- sizes and memory

    @property
    def slots_of_stage(self) -> npt.NDArray[np.int64]:
        return np.diff(self.tree.first_slot[self.tree.first_node])

    def counts(self) -> Counts:
        """The size of the public tree, boards that are merged counted once.

        Every slot has as many hands as the root, as other solvers count them.
        """
        decisions = chances = folds = showdowns = actions = 0
        for stage, copies in zip(self.betting_tree.stages, self.boards.boards, strict=True):
            boards = int(copies)
            kinds = [slot.kind for node in stage.nodes for slot in node.slots]
            kinds += [line.kind for line in stage.lines if line.kind != DECISION]
            decisions += boards * len(stage.nodes)
            folds += boards * kinds.count(FOLDED)
            showdowns += boards * kinds.count(SHOWDOWN)
            chances += boards * kinds.count(NEXT)
            actions += boards * stage.slots
        return Counts(decisions, chances, folds, showdowns, actions * int(self.boards.hands[0]))

    def _memory(self) -> Memory:
        boards, tree = self.boards, self.tree
        size = self.dtype.itemsize
        slots = int((boards.boards * self.slots_of_stage * boards.width).sum())
        spread = boards.boards if self.betting_tree.leaves else np.ones_like(boards.boards)
        rows = (tree.rows * boards.width * spread).sum()
        width = int(boards.width.max())
        index = sum(array.nbytes for array in (*boards, *tree) if isinstance(array, np.ndarray))
        return Memory(
            tables=slots * size * (3 if self.rule.predictive else 2),
            work=(int(rows) * self._sides + width * LANES) * size * self.threads,
            index=index + sum(stage.hands.nbytes * 3 for stage in self.board_tree),
        )

    @property
    def _sides(self) -> int:
        """Updates of both players at once, and leaves, need the rows of both."""
        return 2 if not self.rule.alternating or self.betting_tree.leaves else 1

    def _allocate(self) -> None:
        boards, tree = self.boards, self.tree
        sizes = boards.boards * self.slots_of_stage * boards.width
        total = int(sizes.sum())
        self.tables = Tables(
            regret=aligned_zeros(total, self.dtype),
            average=aligned_zeros(total, self.dtype),
            prediction=aligned_zeros(total if self.rule.predictive else 0, self.dtype),
            frozen=np.zeros(0, np.bool_),
            at_slot=_before(sizes),
            at_node=_before(boards.boards * np.diff(tree.first_node)),
        )
        self._works = [self._make_work() for _ in range(self.threads)]

    def _make_work(self) -> Work:
        boards, leaves = self.boards, bool(self.betting_tree.leaves)
        rows = self.tree.rows * boards.width
        spread = rows * boards.boards if leaves else rows
        width, total = int(boards.width.max()), int(spread.sum())
        second = total if self._sides == 2 else 0
        return Work(
            rows=aligned_zeros(total * self._sides, self.dtype),
            at_rows=np.stack([_before(spread), _before(spread) + second]),
            step=rows if leaves else np.zeros_like(rows),
            lanes=aligned_zeros(width * LANES, self.dtype),
            sums=aligned_zeros((len(self.game.deck) + 2) * LANES, self.dtype),
            cursor=np.zeros((2, len(boards.width)), np.int64),
        )

    @property
    def work(self) -> Work:
        """The rows of this process's own traversals; helpers of ``threads`` have others."""
        return self._works[0]

    # ---- iterations

    def run(self, iterations: int, gadget: RootGadget | None = None) -> None:
        """Go on for some iterations; a gadget decides with which range its player enters."""
        if iterations <= 0:
            return
        rule = self.rule
        schedule = rule.schedule(self.iterations + 1, iterations + 1)
        if gadget is not None:
            self._enter(gadget)
        if rule.alternating:
            # player 0's strategy of the first iteration, which the last call left to this one
            keep, add = schedule[0, 2:]
            self.traverse(self.step(NOTHING, keep=keep, add=add, averaging=True), 1, 1)
        if self.threads == 1 and not self.betting_tree.leaves and gadget is None:
            iterate(
                self.tree,
                self.boards,
                self.tables,
                self.work,
                self.ranges,
                schedule,
                rule.alternating,
                rule.floor,
                rule.predictive,
                rule.fresh,
            )
        else:
            with self._pool():
                for step, first, last in self.steps(schedule):
                    self.traverse(step, first, last)
                    if gadget is not None and first <= gadget.player <= last:
                        values = self.root_row(gadget.player)
                        gadget.observe(values, step.positive, step.negative, rule.floor)
                        self._enter(gadget)
        self.iterations += iterations

    def _enter(self, gadget: RootGadget) -> None:
        self.ranges[gadget.player, : self.boards.hands[0]] = gadget.reach()

    def root_row(self, player: int) -> npt.NDArray[np.float64]:
        """Values of the root's live hands [H] as the player's last traversal left them."""
        return self.row(player, 0, 0, int(self.tree.line_source[player, 0]))

    def row(self, player: int, stage: int, board: int, number: int) -> npt.NDArray[np.float64]:
        """A row [H] of a player's last traversal on a board, as the kernels left it."""
        work, width = self.work, int(self.boards.width[stage])
        at = int(work.at_rows[player, stage] + board * work.step[stage]) + number * width
        return work.rows[at : at + int(self.boards.hands[stage])].astype(np.float64)

    def steps(self, schedule: npt.NDArray[np.float64]) -> Iterator[tuple[Step, int, int]]:
        """The traversals of ``cfr_kernels.iterate``, one at a time."""
        for t in range(len(schedule) - 1):
            up, down, keep, add = schedule[t]
            if not self.rule.alternating:
                yield self.step(UPDATE, up, down, keep, add, True), 0, 1
                continue
            yield self.step(UPDATE, up, down, keep, add, True), 0, 0
            keep, add = schedule[t + 1, 2:]
            yield self.step(UPDATE, up, down, keep, add, t + 2 < len(schedule)), 1, 1

    def step(
        self,
        mode: int,
        positive: float = 1.0,
        negative: float = 1.0,
        keep: float = 1.0,
        add: float = 0.0,
        averaging: bool = False,
    ) -> Step:
        rule = self.rule
        numbers = (float(positive), float(negative), float(keep), float(add))
        flags = (bool(averaging), rule.floor, rule.predictive, rule.fresh)
        return Step(mode, BOTH, *numbers, *flags)

    def traverse(self, step: Step, first: int, last: int) -> None:
        """One traversal that updates the players ``first`` to ``last``."""
        main = self.work
        if self.betting_tree.leaves:
            self._traverse_with_leaves(step, first, last)
        elif self.threads == 1:
            traverse(self.tree, self.boards, self.tables, main, self.ranges, step, first, last)
        else:
            self._traverse_in_threads(step, first, last)

    def _traverse_in_threads(self, step: Step, first: int, last: int) -> None:
        """The root's round here, the boards of the next one in equal shares on threads."""
        arrays, main = (self.tree, self.boards, self.tables), self.work
        players = range(first, last + 1)
        start(self.tree, self.boards, main, self.ranges, first, last)
        for player in players:
            go_down(*arrays, main, step, 0, 0, player)
        shares = np.linspace(0, int(self.boards.boards[1]), self.threads + 1).astype(int).tolist()
        root_reach = int(self.tree.reach_rows[0] * self.boards.width[0])

        def share(number: int) -> None:
            work = self._works[number]
            if number:
                for player in players:
                    at = main.at_rows[player, 0]
                    work.rows[at : at + root_reach] = main.rows[at : at + root_reach]
                    work.rows[self._onward(player)] = 0
            visit(*arrays, work, step, 1, shares[number], shares[number + 1], 0, first, last)

        with self._pool() as pool:
            list(pool.map(share, range(self.threads)))
        if step.mode == NOTHING:
            return
        for player in players:
            here = self._onward(player)
            for work in self._works[1:]:
                main.rows[here] += work.rows[here]
            go_up(*arrays, main, step, 0, 0, player)

    def _onward(self, player: int) -> slice:
        """The continuations of the root's round."""
        width, at = int(self.boards.width[0]), int(self.work.at_rows[player, 0])
        return slice(at + int(self.tree.onward[0]) * width, at + int(self.tree.rows[0]) * width)

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        """The threads; those that an outer use has started, if any."""
        outer: ThreadPoolExecutor | None = getattr(self, "_threads_at_work", None)
        if outer is not None:
            yield outer
            return
        with ThreadPoolExecutor(self.threads) as pool:
            self._threads_at_work: ThreadPoolExecutor | None = pool
            try:
                yield pool
            finally:
                self._threads_at_work = None

    def table_rows(self, stage: int, node: int, board: int) -> slice:
        """Where the rows [actions, width] of a node stand in the tables; nodes count by stage."""
        first = int(self.tree.first_node[stage])
        slots, width = self.tree.first_slot, int(self.boards.width[stage])
        begin, end = int(slots[first + node]), int(slots[first + node + 1])
        at = int(self.tables.at_slot[stage]) + board * int(self.slots_of_stage[stage]) * width
        at -= int(slots[first]) * width
        return slice(at + begin * width, at + end * width)

    def lock(self, stage: int, node: int, board: int, strategy: npt.ArrayLike) -> None:
        """Fix the strategy of a node: probabilities [H, actions] of the board's live hands.

        Iterations leave it alone, and best responses of its player keep to it.
        """
        rows = self.table_rows(stage, node, board)
        width, hands = int(self.boards.width[stage]), int(self.boards.hands[stage])
        given = np.asarray(strategy, np.float64)
        actions = (rows.stop - rows.start) // width
        if given.shape != (hands, actions):
            raise InputError(f"strategy of shape {given.shape}: expected ({hands}, {actions})")
        if not (given >= 0).all() or not np.allclose(given.sum(axis=1), 1.0, atol=1e-4):
            raise InputError("strategy: expected probabilities that sum to 1 for every hand")
        if not len(self.tables.frozen):
            nodes = int((self.boards.boards * np.diff(self.tree.first_node)).sum())
            self.tables = self.tables._replace(frozen=np.zeros(nodes, np.bool_))
        nodes = int(np.diff(self.tree.first_node)[stage])
        self.tables.frozen[int(self.tables.at_node[stage]) + board * nodes + node] = True
        for table in (self.tables.regret, self.tables.average):
            table[rows].reshape(actions, width)[:, :hands] = given.T
        if self.rule.predictive:
            self.tables.prediction[rows] = 0.0

    # ---- leaves

    def _traverse_with_leaves(self, step: Step, first: int, last: int) -> None:
        """Down on all boards, one question to the evaluator, and up again."""
        arrays, work = (self.tree, self.boards, self.tables), self.work
        silent = step._replace(way=DOWN, averaging=False)
        start(self.tree, self.boards, work, self.ranges, 0, 1)
        for player in (0, 1):
            asked = step._replace(way=DOWN) if first <= player <= last else silent
            visit(*arrays, work, asked, 0, 0, 1, 0, player, player)
        if step.mode == NOTHING:
            return
        assert self.evaluator is not None
        answer = self.evaluator.values(self.leaves(), self._leaf_reach())
        for player in range(first, last + 1):
            self._put_leaf_values(player, np.asarray(answer[player], self.dtype))
        visit(*arrays, work, step._replace(way=UP), 0, 0, 1, 0, first, last)

    def leaves(self) -> Leaves:
        """The leaves of a depth-limited tree."""
        stage = self.board_tree[-1]
        return Leaves(tuple(self.betting_tree.leaves), stage.cards, stage.hands)

    def _last_rows(self, player: int) -> Floats:
        """Rows [B, rows, width] of the last stage, where every board keeps its own."""
        work, boards = self.work, self.boards
        shape = (int(boards.boards[-1]), int(self.tree.rows[-1]), int(boards.width[-1]))
        at = int(work.at_rows[player, -1])
        return work.rows[at : at + int(np.prod(shape))].reshape(shape)

    def _leaf_reach(self) -> Floats:
        """[2, B, L, H] reach of each player at the leaves."""
        stage, hands = len(self.boards.width) - 1, int(self.boards.hands[-1])
        lines = slice(int(self.tree.first_line[stage + 1]), int(self.tree.first_line[stage + 2]))
        # the rows of a visit are those of the updated player's opponent
        return np.stack(
            [
                self._last_rows(1 - player)[:, self.tree.line_from[player, lines], :hands]
                for player in (0, 1)
            ]
        )

    def _put_leaf_values(self, player: int, values: Floats) -> None:
        hands, onward = int(self.boards.hands[-1]), int(self.tree.onward[-1])
        self._last_rows(player)[:, onward:, :hands] = values

    # ---- values

    def line_reach(self, mode: int = AVERAGE) -> npt.NDArray[np.float64]:
        """Reach [2, lines of the second stage, H] of each player over the root's live hands.

        ``mode``: AVERAGE or CURRENT, the strategies that are followed.
        """
        first, last = int(self.tree.first_line[1]), int(self.tree.first_line[2])
        result = np.empty((2, last - first, int(self.boards.hands[0])))
        work = self.work
        for player in (0, 1):
            start(self.tree, self.boards, work, self.ranges, 1 - player, 1 - player)
            arrays = (self.tree, self.boards, self.tables, work)
            go_down(*arrays, self.step(mode), 0, 0, 1 - player)
            for line, number in enumerate(self.tree.line_from[player, first:last]):
                result[player, line] = self.row(1 - player, 0, 0, int(number))
        return result

    def root_values(self, mode: int) -> npt.NDArray[np.float64]:
        """Counterfactual values of the root's live hands [2, H], in chips.

        ``mode``: BEST (BEST_OF_CURRENT) for best responses to the average (current) strategies,
        AVERAGE (CURRENT) for these strategies against each other.
        """
        values = np.empty((2, int(self.boards.hands[0])))
        for player in (0, 1):
            self.traverse(self.step(mode), player, player)
            values[player] = self.root_row(player)
        return values

    def slot_values(self, slot: int, player: int, mode: int) -> npt.NDArray[np.float64]:
        """A player's values [H] after an action of the root, over the root's live hands.

        ``mode`` as for ``root_values``; where the action ends the round or the hand, what it is
        worth as a whole.
        """
        self.traverse(self.step(mode), player, player)
        row = self.row(player, 0, 0, int(self.tree.source[player, slot]))
        return row * float(self.tree.scale[player, slot])

    def line_values(self, line: int, board: int, player: int, mode: int) -> npt.NDArray[np.float64]:
        """A player's values [H] at the start of a line of the second stage, on one board of it."""
        arrays, work = (self.tree, self.boards, self.tables), self.work
        step, number = self.step(mode), int(self.tree.first_line[1]) + line
        start(self.tree, self.boards, work, self.ranges, player, player)
        go_down(*arrays, work, step, 0, 0, player)
        visit(*arrays, work, step, 1, board, board + 1, 0, player, player)
        row = self.row(player, 1, board, int(self.tree.line_source[player, number]))
        return row * float(self.tree.line_scale[player, number])

    def exploitability(self, current: bool = False) -> float:
        """Half the sum of what both best responses win, in chips.

        Of the average strategies, or with ``current`` of the current ones.
        """
        values = self.root_values(BEST_OF_CURRENT if current else BEST)
        return float((values * self.ranges[:, : values.shape[1]]).sum() / self.mass / 2)

    def expected_values(self, current: bool = False) -> npt.NDArray[np.float64]:
        """Chips won by each seat [2] when both play their average (or current) strategies."""
        values = self.root_values(CURRENT if current else AVERAGE)
        return (values * self.ranges[:, : values.shape[1]]).sum(axis=1) / self.mass


def _before(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where pieces of these sizes begin, one after the other."""
    return np.cumsum(sizes) - sizes
