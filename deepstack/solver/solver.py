"""Solving a public tree: tables, iterations, best response, exploitability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import (
    AVERAGE,
    BEST,
    CURRENT,
    NOTHING,
    Step,
    Tables,
    Work,
    iterate,
    start,
    visit,
)
from deepstack.solver.layout import lay_out_betting, lay_out_boards
from deepstack.solver.rules import UpdateRule
from deepstack.solver.simd import LANES, aligned_zeros, padded
from deepstack.tree.betting import Raises, build_betting
from deepstack.tree.boards import build_boards, root_group


class Solver:
    def __init__(
        self,
        root: State,
        ranges: npt.ArrayLike,
        raises: Raises,
        rule: UpdateRule,
        *,
        dtype: npt.DTypeLike = np.float32,
        merge: bool = True,
    ) -> None:
        self.root, self.game, self.rule = root, root.game, rule
        self.dtype = np.dtype(dtype)
        given = np.asarray(ranges, dtype=np.float64)
        self.betting_tree = build_betting(root, raises)
        identity = root_group(self.game, root.board)[:1]
        group = root_group(self.game, root.board, given) if merge else identity
        last = self.game.rounds - 1
        self.board_tree = build_boards(self.game, root.board, root.round, last, group)
        self.tree = lay_out_betting(self.betting_tree)
        self.boards = lay_out_boards(self.game, self.board_tree)
        self._allocate()
        self.iterations = 0
        self.ranges = np.zeros((2, self.boards.width[0]), self.dtype)
        self.ranges[:, : self.boards.hands[0]] = given[:, self.board_tree[0].hands[0]]
        self.mass = self._mass()

    def _allocate(self) -> None:
        tree, boards = self.tree, self.boards
        stages = len(boards.width)
        slots = np.diff(tree.first_slot[tree.first_node])
        nodes = np.diff(tree.first_node)
        sizes = boards.boards * slots * boards.width
        self.slots = int((boards.boards * slots * boards.hands).sum())
        total = int(sizes.sum())
        at_slot = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        at_node = np.concatenate([[0], np.cumsum(boards.boards * nodes)[:-1]])
        self.tables = Tables(
            regret=aligned_zeros(total, self.dtype),
            average=aligned_zeros(total, self.dtype),
            prediction=aligned_zeros(total if self.rule.predictive else 0, self.dtype),
            frozen=np.zeros(0, np.bool_),
            at_slot=at_slot,
            at_node=at_node,
        )
        sides = 1 if self.rule.alternating else 2
        reach = tree.rows * boards.width
        value = tree.value_rows * boards.width
        at_reach = np.stack(
            [np.concatenate([[0], np.cumsum(reach)[:-1]]) + side * reach.sum() for side in (0, 1)]
        )
        at_value = np.stack(
            [np.concatenate([[0], np.cumsum(value)[:-1]]) + side * value.sum() for side in (0, 1)]
        )
        width = int(boards.width.max())
        self.work = Work(
            reach=aligned_zeros(int(reach.sum()) * sides, self.dtype),
            value=aligned_zeros(int(value.sum()) * sides, self.dtype),
            at_reach=at_reach,
            at_value=at_value,
            lanes=aligned_zeros(width * LANES, self.dtype),
            out=aligned_zeros(width * LANES, self.dtype),
            sums=aligned_zeros((len(self.game.deck) + 1) * LANES, self.dtype),
        )

    def _mass(self) -> float:
        from deepstack.cards.notation import hand_cards

        held = hand_cards(len(self.game.deck), self.game.hole_cards)[self.board_tree[0].hands[0]]
        r = self.ranges[:, : len(held)].astype(np.float64)
        total = r[0].sum() * r[1].sum()
        if held.shape[1] == 1:
            return total - (r[0] * r[1]).sum()
        sums = np.zeros((2, len(self.game.deck)))
        for p in (0, 1):
            for c in (0, 1):
                np.add.at(sums[p], held[:, c], r[p])
        return total - (sums[0] * sums[1]).sum() + (r[0] * r[1]).sum()

    def run(self, iterations: int) -> None:
        rule = self.rule
        schedule = rule.schedule(self.iterations + 1, iterations + 1)
        if rule.alternating:
            step = Step(
                NOTHING,
                1.0,
                1.0,
                schedule[0, 2],
                schedule[0, 3],
                True,
                rule.floor,
                rule.predictive,
                rule.fresh,
            )
            start(self.tree, self.boards, self.work, self.ranges, 1, 1)
            visit(self.tree, self.boards, self.tables, self.work, step, 0, 0, 1, 1, 1)
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
        self.iterations += iterations

    def root_values(self, mode: int) -> npt.NDArray[np.float64]:
        """[2, H at root]"""
        rule = self.rule
        hands = self.boards.hands[0]
        values = np.empty((2, hands))
        step = Step(mode, 1.0, 1.0, 1.0, 0.0, False, rule.floor, rule.predictive, rule.fresh)
        for player in (0, 1):
            start(self.tree, self.boards, self.work, self.ranges, player, player)
            visit(self.tree, self.boards, self.tables, self.work, step, 0, 0, 1, player, player)
            at = self.work.at_value[0, 0] + self.tree.line_source[player, 0] * self.boards.width[0]
            values[player] = self.work.value[at : at + hands]
        return values

    def exploitability(self) -> float:
        values = self.root_values(BEST)
        return float((values * self.ranges[:, : values.shape[1]]).sum() / self.mass / 2)

    def ev(self) -> npt.NDArray[np.float64]:
        values = self.root_values(AVERAGE)
        return (values * self.ranges[:, : values.shape[1]]).sum(axis=1) / self.mass
