"""The engine: iterations of an update rule on a public tree, and values.

    engine = Engine(root, ranges, raises, CFR_PLUS)
    engine.run(1000)
    engine.exploitability()                 # chips, half the sum of both best responses' gains

One engine serves every two-player game of ``deepstack.game``, whole or from any state, with all
rounds to come or with leaves at a depth limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from deepstack.solver.callback_kernels import Question
from deepstack.solver.cfr_kernels import (
    AVERAGE,
    BEST,
    BEST_OF_CURRENT,
    BOTH,
    CURRENT,
    NOTHING,
    UPDATE,
    Step,
    go_down,
    go_up,
    start,
    traverse,
    visit,
)
from deepstack.solver.gadget_kernels import no_gadget
from deepstack.solver.leaves import RootGadget
from deepstack.solver.loop_kernels import (
    Averages,
    accumulate,
    iterate,
    no_averages,
    solve_onward,
    traverse_to_leaves,
)
from deepstack.solver.public_tree import PublicTree


class Engine(PublicTree):
    """Counterfactual regret minimisation below one state; arguments as of ``PublicTree``."""

    watch: Callable[[int, npt.NDArray[np.floating]], None] | None = None
    """Told of every question of the iterations: the player updated (2: both), and the reach
    [2, B, L, H] of the leaves."""
    _averages: Averages | None = None
    _asked = UPDATE  # the mode of the traversal that asks for leaf values

    def average_values(self) -> None:
        """From now on, average the values of the root's actions and of the leaves.

        Then ``mean_slot_values`` answers, and in the modes AVERAGE and BEST the leaves are worth
        what they were worth on average over the iterations, instead of being asked again.
        """
        boards, slots = self.boards, len(self.betting_tree.stages[0].nodes[0].slots)
        leaves = (2, int(boards.boards[-1]), len(self.betting_tree.leaves), int(boards.width[-1]))
        self._averages = Averages(
            np.zeros(2),
            np.zeros((2, slots, int(boards.width[0])), self.dtype),
            np.zeros(leaves, self.dtype),
        )

    # ---- iterations

    def reset(self, ranges: npt.ArrayLike | None = None) -> None:
        """Forget everything, locks too, and go on with other ranges [2, hands] if given."""
        for table in (self.tables.regret, self.tables.average, self.tables.prediction):
            table[:] = 0
        self.tables = self.tables._replace(frozen=np.zeros(0, np.bool_))
        self.iterations = 0
        if self._averages is not None:
            self.average_values()
        if ranges is not None:
            self.set_ranges(ranges)

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
            mode = NOTHING if self._averages is None else CURRENT
            self.traverse(self.step(mode, keep=keep, add=add, averaging=True), 1, 1)
        if self.threads == 1:
            self._iterate(schedule, gadget)
        else:
            self._iterate_in_threads(schedule, gadget)
        self.iterations += iterations

    def _iterate(self, schedule: npt.NDArray[np.float64], gadget: RootGadget | None) -> None:
        rule, question = self.rule, self._question()
        self._asked = UPDATE
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
            no_gadget() if gadget is None else gadget.arrays(),
            no_averages(self.dtype) if self._averages is None else self._averages,
            0 if question is None else question.address,
        )
        if question is not None:
            question.settle()

    def _iterate_in_threads(
        self, schedule: npt.NDArray[np.float64], gadget: RootGadget | None
    ) -> None:
        with self._pool():
            for step, first, last in self.steps(schedule):
                self.traverse(step, first, last)
                if gadget is not None and first <= gadget.player <= last:
                    values = self.root_row(gadget.player)
                    gadget.observe(values, step.positive, step.negative, self.rule.floor)
                    self._enter(gadget)

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
        """The traversals of ``loop_kernels.iterate``, one at a time."""
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
        averages = self._averages
        if averages is not None and step.averaging:
            for player in range(first, last + 1):
                numbers = (player, step.keep, step.add)
                accumulate(self.tree, self.boards, main, averages, *numbers)

    def _traverse_with_leaves(self, step: Step, first: int, last: int) -> None:
        question = self._question()
        assert question is not None
        self._asked = step.mode
        arrays = (self.tree, self.boards, self.tables, self.work, self.ranges)
        traverse_to_leaves(*arrays, step, first, last, question.address)
        question.settle()

    def _question(self) -> Question | None:
        """How kernels ask for the values of the leaves."""
        if not self.betting_tree.leaves:
            return None
        if self._leaf_question is None:
            self._leaf_question = Question(self._value_leaves)
        return self._leaf_question

    _leaf_question: Question | None = None

    def _value_leaves(self, player: int) -> None:
        """Put the values of the leaves in place for a player, or for both (2)."""
        players = (0, 1) if player == 2 else (player,)
        averages = self._averages
        if averages is not None and self._asked in (AVERAGE, BEST):
            hands = int(self.boards.hands[-1])
            for p in players:
                total = max(float(averages.weight[p]), 1e-30)
                self.put_leaf_values(p, averages.leaves[p, :, :, :hands] / total)
            return
        assert self.evaluator is not None
        reach = self.leaf_reach()
        if self.watch is not None and self._asked in (UPDATE, CURRENT):
            self.watch(player, reach)
        answer = self.evaluator.values(self.leaves(), reach)
        for p in players:
            self.put_leaf_values(p, answer[p])

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

    def mean_slot_values(self, slot: int, player: int) -> npt.NDArray[np.float64]:
        """A player's values [H] after an action of the root, averaged over the iterations.

        Needs ``average_values`` before the iterations. An action that folds has no such value.
        """
        assert self._averages is not None, "average_values() comes before the iterations"
        averages, hands = self._averages, int(self.boards.hands[0])
        total = max(float(averages.weight[player]), 1e-30)
        return averages.slots[player, slot, :hands].astype(np.float64) / total

    def line_values(self, line: int, board: int, player: int, mode: int) -> npt.NDArray[np.float64]:
        """A player's values [H] at the start of a line of the second stage, on one board of it."""
        arrays, work = (self.tree, self.boards, self.tables), self.work
        step, number = self.step(mode), int(self.tree.first_line[1]) + line
        start(self.tree, self.boards, work, self.ranges, player, player)
        go_down(*arrays, work, step, 0, 0, player)
        visit(*arrays, work, step, 1, board, board + 1, 0, player, player)
        row = self.row(player, 1, board, int(self.tree.line_source[player, number]))
        return row * float(self.tree.line_scale[player, number])

    def solve_onward(self, reach: npt.ArrayLike, iterations: int) -> npt.NDArray[np.float64]:
        """Solve the rounds after the root's from scratch, for the reach [2, lines, H] into them.

        Over the root's live hands; in merged trees the reach must be as symmetric as the root.
        Returns the values [2, lines, H] of best responses to the solution, in the mean over the
        cards that are dealt.
        """
        rule, given = self.rule, np.ascontiguousarray(reach, dtype=np.float64)
        result = np.empty(given.shape)
        begin = int(self.tables.at_slot[1])
        flags = (rule.floor, rule.predictive, rule.fresh)
        arrays = (self.tree, self.boards, self.tables, self.work)
        solve_onward(*arrays, given, rule.schedule(1, iterations), *flags, begin, result)
        return result

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
