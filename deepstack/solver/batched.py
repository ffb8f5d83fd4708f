"""Counterfactual regret minimisation for many subgames at once, on tensors of any device.

    for same in group_by_shape(states, raises):
        chosen = [states[i] for i in same.indices]
        engine = BatchedEngine(chosen, ranges[[*same.indices]], raises, rule, device="cuda")
        engine.run(500)
        engine.root_values(AVERAGE)             # [B, 2, H] chips

B subgames with the betting tree of one round, of one shape (``batched_shapes``), but each with its
own board, ranges and chips: rivers, or earlier rounds with leaves where the round ends. The meaning
is that of ``deepstack.solver.engine``, traversal by traversal: the same rules, the same order of
updates, the same averages. Leaf values are asked for in one call for all leaves of all subgames.
Called all-ins before the last round are terminals, by exact equity. Between iterations nothing
leaves the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_margins
from deepstack.solver.batched_groups import (
    Rows,
    Scratch,
    Tables,
    accumulate,
    expect,
    follow,
    make_groups,
    update,
)
from deepstack.solver.batched_shapes import (
    ALL_IN,
    end_chips,
    leaf_states,
    make_shape,
    round_tree,
    shape_key,
)
from deepstack.solver.batched_terminals import AllIns, Folds, Showdowns, live_hands
from deepstack.solver.cfr_kernels import AVERAGE, BEST, BEST_OF_CURRENT, CURRENT, UPDATE
from deepstack.solver.memory import Memory, require_memory
from deepstack.solver.ranges import check_ranges, joint_mass
from deepstack.solver.rules import UpdateRule
from deepstack.tree.betting import FOLDED, NEXT, SHOWDOWN, BettingTree, Raises

MODES = (AVERAGE, CURRENT, BEST, BEST_OF_CURRENT)


@dataclass(frozen=True, slots=True)
class BatchedLeaves:
    """The L leaves of each of B subgames; tensors stand on the engine's device.

    Attributes:
        states: the betting of every leaf, by subgame.
        boards: [B, cards] the public cards.
        hands: [B, H] hand index of every place of a vector.
        pot: [B, L] chips that both players have put in.
    """

    states: tuple[tuple[State, ...], ...]
    boards: Tensor
    hands: Tensor
    pot: Tensor


class BatchedLeafEvaluator(Protocol):
    """Values beyond the end of the round."""

    def values(self, leaves: BatchedLeaves, reach: Tensor) -> Tensor:
        """Counterfactual values in chips [2, B, L, H] of both players.

        Args:
            leaves: where.
            reach: [2, B, L, H] what each player's strategy and range make of reaching the leaf with
                each hand, not normalised; to be left as it is. A player's values are weighted by
                the opponent's reach.
        """
        ...


class BatchedEngine:
    """Counterfactual regret minimisation below B states of one round and one shape.

    Args:
        states: the roots; private cards are ignored.
        ranges: [B, 2, hands of the game] weights of every hand of each seat; hands that hold a
            board card are ignored.
        raises: the raise totals a tree offers (``Menu.raises``).
        rule: how regrets and averages move.
        device, dtype: of all tensors.
        evaluator: values of the leaves; needed before the last round.
        trees: the trees of the states, where they have been built (``group_by_shape``).

    On a processor, one engine a core with ``torch.set_num_threads(1)`` is the way to use several
    cores: the operations are short, and threads of one operation wait for each other.

    Vectors over hands hold the H hands that are possible on a subgame's board: ``hands`` [B, H]
    names them, in order of strength on the last round, as the engine for one subgame does.
    """

    def __init__(
        self,
        states: Sequence[State],
        ranges: npt.ArrayLike,
        raises: Raises,
        rule: UpdateRule,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        evaluator: BatchedLeafEvaluator | None = None,
        trees: Sequence[BettingTree] | None = None,
    ) -> None:
        if not len(states):
            raise InputError("no states: expected at least one")
        self.device, self.dtype, self.rule = torch.device(device), dtype, rule
        self.trees = tuple(trees or [round_tree(state, raises) for state in states])
        keys = {shape_key(tree) for tree in self.trees}
        if len(keys) > 1:
            raise InputError(
                f"{len(states)} states with trees of {len(keys)} shapes: expected one shape "
                "(group_by_shape)"
            )
        self.states, self.game = tuple(states), states[0].game
        self.iterations = 0
        self.evaluator = evaluator
        self.shape = make_shape(self.trees[0])
        if len(self.shape.ends[NEXT].slots) and evaluator is None:
            raise InputError(f"round {states[0].round}: expected an evaluator for its leaves")
        given = np.asarray(ranges, np.float64)
        if given.shape != (len(states), 2, self.game.hands):
            raise InputError(
                f"ranges of shape {given.shape}: expected ({len(states)}, 2, {self.game.hands})"
            )
        checked = [check_ranges(*pair) for pair in zip(states, given, strict=True)]
        boards = [state.board for state in states]
        self.boards = live_hands(self.game, boards, states[0].round)
        if self.device.type == "cpu":
            require_memory(self.memory)
        options: dict[str, Any] = {"device": self.device, "dtype": dtype}
        self.hands = self._indices(self.boards.hands)
        compact = np.take_along_axis(np.stack(checked), self.boards.hands[:, None, :], axis=2)
        self.ranges = torch.as_tensor(compact, **options)  # [B, 2, H]
        self.mass = torch.as_tensor([joint_mass(self.game, rows) for rows in checked], **options)
        self._allocate(options)

    # ---- tensors

    @property
    def memory(self) -> Memory:
        """Bytes of the solve."""
        shape, item = self.shape, torch.finfo(self.dtype).bits // 8
        vectors = self.boards.hands.size  # numbers in one vector a subgame
        ends = sum(len(ends.slots) for ends in shape.ends.values())
        tables = shape.slots * (3 if self.rule.predictive else 2)
        # values, reach and scratch; at folds and showdowns about eight vectors side by side
        work = 2 * shape.slots + 2 + 2 * shape.widest + 3 * shape.most + 9 * ends
        matrix = self.boards.hands.shape[1] if len(shape.ends[ALL_IN].slots) else 0
        return Memory(
            tables=tables * vectors * item,
            work=work * vectors * item,
            index=20 * vectors * 4 + matrix * vectors * (2 if self.device.type == "cpu" else item),
        )

    def _allocate(self, options: dict[str, Any]) -> None:
        shape, size = self.shape, self.boards.hands.shape  # B, H

        def zeros(*rows: int) -> Tensor:
            return torch.zeros((*rows, *size), **options)

        self.tables = Tables(
            regret=zeros(shape.slots),
            average=zeros(shape.slots),
            prediction=zeros(shape.slots if self.rule.predictive else 0),
            reach=zeros(2 + shape.slots),
            values=zeros(shape.slots + 2),
        )
        self.tables.reach[:2] = self.ranges.transpose(0, 1)
        longest = max(len(ends.slots) for ends in shape.ends.values())
        scratch = Scratch(
            weights=zeros(shape.widest),
            strategy=zeros(shape.widest),
            share=zeros(shape.most),
            even=zeros(shape.most),
            rows=zeros(max(longest, shape.most)),
        )
        self._groups = make_groups(shape, self.tables, scratch)
        self._leaf_reach = zeros(2, len(shape.ends[NEXT].slots))
        self._make_ends(scratch, options)

    def _make_ends(self, scratch: Scratch, options: dict[str, Any]) -> None:
        """Index tables and chips of folds, showdowns, all-ins and leaves."""
        self._ends: dict[int, _EndTensors] = {}
        boards = [state.board for state in self.states]
        for kind, ends in self.shape.ends.items():
            if not len(ends.slots):
                continue
            chips = torch.as_tensor([end_chips(tree, kind) for tree in self.trees], **options)
            sign = torch.as_tensor(ends.sign, **options)
            reach = [Rows(self.tables.reach, rows, scratch.rows) for rows in ends.reach]
            self._ends[kind] = _EndTensors(
                slots=Rows(self.tables.values, ends.slots, scratch.rows),
                reach=(reach[0], reach[1]),
                scale=(sign[:, None, :] * chips).transpose(1, 2)[..., None].contiguous(),
                values=self._terminal_values(kind, len(ends.slots), boards, options),
            )
            if kind == NEXT:
                self.leaves = BatchedLeaves(
                    states=tuple(leaf_states(tree) for tree in self.trees),
                    boards=self._indices(np.array(boards, np.int64).reshape(len(boards), -1)),
                    hands=self.hands,
                    pot=2 * chips,
                )

    def _terminal_values(
        self, kind: int, count: int, boards: list[tuple[int, ...]], options: dict[str, Any]
    ) -> Callable[[Tensor], Tensor] | None:
        """What turns reach rows [T, B, H] into values for one chip; nothing for leaves."""
        if kind == FOLDED:
            return Folds(self.boards, count, options).values
        if kind == SHOWDOWN:
            return Showdowns(self.boards, count, options).values
        if kind == ALL_IN:
            made = {board: allin_margins(board, self.game) for board in dict.fromkeys(boards)}
            chosen = boards[:1] if len(made) == 1 else boards
            return AllIns([made[board] for board in chosen], len(boards), count, options).values
        return None

    def _indices(self, values: npt.NDArray[np.int64]) -> Tensor:
        return torch.as_tensor(values, device=self.device)

    # ---- iterations

    @torch.no_grad()
    def run(self, iterations: int) -> None:
        """Go on for some iterations."""
        if iterations <= 0:
            return
        schedule = self.rule.schedule(self.iterations + 1, iterations + 1).tolist()
        if self.rule.alternating:
            # player 0's strategy of the first iteration, which the last call left to this one
            self._descend(0, CURRENT, schedule[0][2:])
        for t in range(iterations):
            factors, weights = schedule[t][:2], schedule[t][2:]
            if self.rule.alternating:
                self._traverse(UPDATE, (0,), factors, weights)
                following = schedule[t + 1][2:] if t + 1 < iterations else None
                self._traverse(UPDATE, (1,), factors, following)
            else:
                self._traverse(UPDATE, (0, 1), factors, weights)
        self.iterations += iterations

    def _traverse(
        self,
        mode: int,
        players: tuple[int, ...],
        factors: Sequence[float] = (1.0, 1.0),
        weights: Sequence[float] | None = None,
    ) -> None:
        """Down and up once, for the values of some players.

        ``factors`` multiply positive and negative regrets before an update; ``weights`` keep the
        average strategies of the players' opponents and add the current ones to them.
        """
        for player in (0, 1):
            met = 1 - player in players
            if met or NEXT in self._ends:
                self._descend(player, mode, weights if met else None)
        answer = self._ask() if NEXT in self._ends else None
        for player in players:
            self._evaluate(player, None if answer is None else answer[player])
            self._ascend(player, mode, factors)

    def _descend(self, player: int, mode: int, weights: Sequence[float] | None) -> None:
        """Reach rows of a player's slots, and their share in the player's average strategy."""
        for group in self._groups:
            if group.player == player:
                follow(group, mode in (AVERAGE, BEST), group.reach, group.above.read())
                if weights is not None:
                    accumulate(group, *weights)

    def _ask(self) -> Tensor:
        """Values of the leaves [2, B, L, H] at the present reach."""
        assert self.evaluator is not None
        for player, rows in enumerate(self._ends[NEXT].reach):
            self._leaf_reach[player].copy_(rows.read())
        return self.evaluator.values(self.leaves, self._leaf_reach.transpose(1, 2))

    def _evaluate(self, player: int, answer: Tensor | None) -> None:
        """Values of a player at all ends of the round; ``answer`` [B, L, H] at the leaves."""
        for ends in self._ends.values():
            if ends.values is None:
                assert answer is not None
                ends.slots.here.copy_(answer.transpose(0, 1))
            else:
                values = ends.values(ends.reach[1 - player].read())
                torch.mul(values, ends.scale[player], out=ends.slots.here)
            ends.slots.write()

    def _ascend(self, player: int, mode: int, factors: Sequence[float]) -> None:
        """Values of the nodes from their slots; in an update the player's regrets move."""
        for group in reversed(self._groups):
            nodes = group.nodes[player]
            if group.player != player:
                torch.sum(group.values, dim=0, out=nodes.here)
            elif mode in (BEST, BEST_OF_CURRENT):
                torch.amax(group.values, dim=0, out=nodes.here)
            elif mode == UPDATE:
                update(group, nodes.here, self.rule, *factors)
            else:
                follow(group, mode == AVERAGE, group.strategy)
                expect(group.strategy, group.values, nodes.here)
            nodes.write()

    # ---- answers

    @torch.no_grad()
    def root_values(self, mode: int) -> Tensor:
        """Counterfactual values of the root's live hands [B, 2, H], in chips.

        ``mode``: BEST (BEST_OF_CURRENT) for best responses to the average (current) strategies,
        AVERAGE (CURRENT) for these strategies against each other. Leaves are worth what the
        evaluator says when both players follow these strategies.
        """
        if mode not in MODES:
            raise InputError(f"mode {mode}: expected AVERAGE, CURRENT, BEST or BEST_OF_CURRENT")
        self._traverse(mode, (0, 1))
        return self.tables.values[-2:].transpose(0, 1).clone()

    @torch.no_grad()
    def exploitability(self, current: bool = False) -> Tensor:
        """Half the sum of what both best responses win, in chips [B].

        Of the average strategies, or with ``current`` of the current ones.
        """
        return self._won(BEST_OF_CURRENT if current else BEST).sum(dim=1) / 2

    @torch.no_grad()
    def expected_values(self, current: bool = False) -> Tensor:
        """Chips won by each seat [B, 2] when both play their average (or current) strategies."""
        return self._won(CURRENT if current else AVERAGE)

    def _won(self, mode: int) -> Tensor:
        return (self.root_values(mode) * self.ranges).sum(dim=2) / self.mass[:, None]

    @torch.no_grad()
    def strategies(self, node: int, current: bool = False) -> Tensor:
        """Average (or current) probabilities [B, H, A] of a node, counted as in ``trees``."""
        number, place = self.shape.place[node].tolist()
        group = self._groups[number]
        follow(group, not current, group.strategy)
        return group.strategy[:, place].permute(1, 2, 0).clone()

    @torch.no_grad()
    def over_all_hands(self, vectors: Tensor) -> Tensor:
        """Vectors [B, …, H] over live hands as [B, …, hands of the game], blocked hands zero."""
        shape = (*vectors.shape[:-1], self.game.hands)
        spread = torch.zeros(shape, dtype=vectors.dtype, device=vectors.device)
        between = (1,) * (vectors.ndim - 2)
        indices = self.hands.view(len(self.hands), *between, -1).expand_as(vectors)
        return spread.scatter_(-1, indices, vectors)


class _EndTensors(NamedTuple):
    """The ends of one kind, on the device; see ``batched_shapes.Ends``."""

    slots: Rows
    reach: tuple[Rows, Rows]  # of each player
    scale: Tensor  # [2, T, B, 1] chips by updated player
    values: Callable[[Tensor], Tensor] | None  # nothing for leaves
