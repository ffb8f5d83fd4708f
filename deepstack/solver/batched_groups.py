"""What happens at the nodes of a group, for all of them and all subgames at once.

Regret matching, averages and regret updates as ``deepstack.solver.cfr_kernels`` has them, written
on views of the tables that are made once. Results go where they are needed or into scratch tensors;
nothing is allocated in an iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepstack.solver.batched_shapes import Group, Shape
from deepstack.solver.rules import UpdateRule


@dataclass(frozen=True, slots=True)
class Tables:
    """Rows of B × H numbers.

    Attributes:
        regret, average: [slots, B, H] what is learned.
        prediction: [slots, B, H], or without rows unless the rule predicts.
        reach: [2 + slots, B, H] the ranges, then of every slot the reach of the player who acts.
        values: [slots + 2, B, H] of the updated player, in chips; the last two rows are the values
            of the root, of each player.
    """

    regret: Tensor
    average: Tensor
    prediction: Tensor
    reach: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True)
class Scratch:
    """Room for the group at work: [slots, B, H], [nodes, B, H], and [rows, B, H] to copy into."""

    weights: Tensor
    strategy: Tensor
    share: Tensor
    even: Tensor
    rows: Tensor


class Rows:
    """Some rows of a table, ``here`` [n, B, H]: in place where they are neighbours, else copied."""

    __slots__ = ("_indices", "_table", "here")

    def __init__(self, table: Tensor, rows: npt.NDArray[np.int64], scratch: Tensor) -> None:
        self._table = table
        self._indices: Tensor | None = None
        if (np.diff(rows) == 1).all():
            self.here = table[int(rows[0]) : int(rows[-1]) + 1]
        else:
            self._indices = torch.as_tensor(rows, device=table.device)
            self.here = scratch[: len(rows)]

    def read(self) -> Tensor:
        """The rows as they are in the table."""
        if self._indices is not None:
            torch.index_select(self._table, 0, self._indices, out=self.here)
        return self.here

    def write(self) -> None:
        """Put what was written ``here`` into the table."""
        if self._indices is not None:
            self._table.index_copy_(0, self._indices, self.here)


@dataclass(frozen=True, slots=True)
class GroupTensors:
    """The views of one group of n nodes with A actions; see ``batched_shapes.Group``.

    Attributes:
        player: who acts.
        above: reach of that player at the nodes [n, B, H].
        nodes: values of the nodes [n, B, H], by updated player.
        regret, average, prediction, reach, values: [A, n, B, H] of the slots.
        weights, strategy: [A, n, B, H] scratch.
        share, even: [n, B, H] scratch.
    """

    player: int
    above: Rows
    nodes: tuple[Rows, Rows]
    regret: Tensor
    average: Tensor
    prediction: Tensor | None
    reach: Tensor
    values: Tensor
    weights: Tensor
    strategy: Tensor
    share: Tensor
    even: Tensor


def make_groups(shape: Shape, tables: Tables, scratch: Scratch) -> list[GroupTensors]:
    """The groups of a shape on some tables, parents before children."""
    return [_group_tensors(group, shape.slots, tables, scratch) for group in shape.groups]


def _group_tensors(group: Group, slots: int, tables: Tables, scratch: Scratch) -> GroupTensors:
    def view(table: Tensor, first: int) -> Tensor:
        rows = table[first : first + group.actions * group.size]
        return rows.view(group.actions, group.size, *table.shape[1:])

    # the root has no slot above it; its values are the last rows
    parents = [group.parent if len(group.parent) else np.array([slots + p]) for p in (0, 1)]
    nodes = [Rows(tables.values, parent, scratch.rows) for parent in parents]
    return GroupTensors(
        player=group.player,
        above=Rows(tables.reach, group.reach, scratch.rows),
        nodes=(nodes[0], nodes[1]),
        regret=view(tables.regret, group.first),
        average=view(tables.average, group.first),
        prediction=view(tables.prediction, group.first) if len(tables.prediction) else None,
        reach=view(tables.reach, 2 + group.first),
        values=view(tables.values, group.first),
        weights=view(scratch.weights, 0),
        strategy=view(scratch.strategy, 0),
        share=scratch.share[: group.size],
        even=scratch.even[: group.size],
    )


def follow(group: GroupTensors, average: bool, into: Tensor, reach: Tensor | None = None) -> Tensor:
    """Probabilities of the slots into [A, n, B, H], times reach [n, B, H] if given.

    They are in proportion to the average strategy, or else to positive regrets, and uniform where
    all are zero. Returns these weights [A, n, B, H].
    """
    if average:
        weights = group.average
    else:
        weights = group.weights
        if group.prediction is None:
            torch.clamp(group.regret, min=0.0, out=weights)
        else:
            torch.add(group.regret, group.prediction, out=weights)
            weights.clamp_(min=0.0)
    share, even = group.share, group.even
    torch.sum(weights, dim=0, out=share)
    torch.eq(share, 0.0, out=even)
    share.add_(even)  # no division by zero
    if reach is None:
        share.reciprocal_()
    else:
        torch.div(reach, share, out=share)
        even.mul_(reach)
    even.mul_(1.0 / len(weights))
    torch.addcmul(even, weights, share, out=into)
    return weights


def accumulate(group: GroupTensors, keep: float, add: float) -> None:
    """Into the average strategy: what is kept of it, and the reach of the slots."""
    reach = group.reach if add == 1.0 else group.reach * add
    torch.add(reach, group.average, alpha=keep, out=group.average)


def expect(strategy: Tensor, values: Tensor, mean: Tensor) -> None:
    """Values [n, B, H] of nodes from probabilities and values [A, n, B, H] of their slots."""
    torch.mul(strategy[0], values[0], out=mean)
    for action in range(1, len(strategy)):
        mean.addcmul_(strategy[action], values[action])


def update(
    group: GroupTensors, mean: Tensor, rule: UpdateRule, positive: float, negative: float
) -> None:
    """Values of the nodes into ``mean`` [n, B, H], and the regrets of their slots.

    Regrets so far are multiplied by ``positive`` or ``negative``, by their sign. The values of the
    slots are used up.
    """
    weights = follow(group, False, group.strategy)
    expect(group.strategy, group.values, mean)
    gain, regret = group.values.sub_(mean), group.regret
    if rule.floor or positive == negative:
        torch.add(gain, regret, alpha=positive, out=regret)
        if rule.floor:
            regret.clamp_(min=0.0)
    else:
        if rule.predictive:  # the weights are not just the regrets
            torch.clamp(regret, min=0.0, out=weights)
        torch.add(gain, regret, alpha=negative, out=regret)
        regret.add_(weights, alpha=positive - negative)
    if group.prediction is not None:
        group.prediction.copy_(gain)
    if rule.fresh:
        follow(group, False, group.strategy)
        for action in range(len(gain)):
            mean.addcmul_(group.strategy[action], gain[action])
