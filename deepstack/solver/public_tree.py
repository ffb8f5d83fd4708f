"""A public tree in memory: its arrays, its tables, and where things stand in them.

The structure that ``deepstack.solver.engine`` iterates on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import Tables, Work
from deepstack.solver.layout import Betting, Boards, lay_out_betting, lay_out_boards
from deepstack.solver.leaves import LeafEvaluator, Leaves
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


class PublicTree:
    """The public tree below one state, with tables of regrets and average strategies.

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
        self.set_ranges(given)
        self._allocate()

    def set_ranges(self, ranges: npt.ArrayLike) -> None:
        """Enter with other ranges [2, hands]; merged boards stay merged as the first ones were."""
        given = check_ranges(self.root, ranges)
        self.ranges[:, : self.boards.hands[0]] = given[:, self.board_tree[0].hands[0]]
        self.mass = joint_mass(self.game, given)

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

    def leaves(self) -> Leaves:
        """The leaves of a depth-limited tree, always the same object."""
        if self._leaves is None:
            stage = self.board_tree[-1]
            self._leaves = Leaves(tuple(self.betting_tree.leaves), stage.cards, stage.hands)
        return self._leaves

    _leaves: Leaves | None = None

    def _leaf_rows(self) -> _LeafRows:
        """Rows [B, rows, H] of the last stage by player, and where the leaves' reach is in them."""
        if self._rows is None:
            work, boards, tree = self.work, self.boards, self.tree
            stage, hands = len(boards.width) - 1, int(boards.hands[-1])
            shape = (int(boards.boards[-1]), int(tree.rows[-1]), int(boards.width[-1]))
            size = int(np.prod(shape))
            starts = [int(work.at_rows[player, -1]) for player in (0, 1)]
            rows = tuple(work.rows[at : at + size].reshape(shape)[..., :hands] for at in starts)
            lines = slice(int(tree.first_line[stage + 1]), int(tree.first_line[stage + 2]))
            self._rows = _LeafRows(rows, tree.line_from[:, lines], int(tree.onward[-1]))
        return self._rows

    _rows: _LeafRows | None = None

    def leaf_reach(self) -> Floats:
        """[2, B, L, H] reach of each player at the leaves."""
        rows, source, _ = self._leaf_rows()
        boards, leaves, hands = len(rows[0]), source.shape[1], rows[0].shape[2]
        reach = np.empty((2, boards, leaves, hands), self.dtype)
        for player in (0, 1):  # the rows of a visit are those of the updated player's opponent
            reach[player] = rows[1 - player][:, source[player]]
        return reach

    def put_leaf_values(self, player: int, values: Floats) -> None:
        """Values [B, L, H] of the leaves, for a traversal that updates a player."""
        rows, _, onward = self._leaf_rows()
        rows[player][:, onward:] = values


class _LeafRows(NamedTuple):
    rows: tuple[Floats, ...]
    source: npt.NDArray[np.int64]
    onward: int


def _before(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where pieces of these sizes begin, one after the other."""
    return np.cumsum(sizes) - sizes
