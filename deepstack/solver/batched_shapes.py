"""Betting trees of one shape, side by side: where rows stand, and what differs between subgames.

Subgames whose betting trees have the same nodes and slots, whatever their chips, boards and ranges,
can be solved together. Their nodes are put into **groups**: same depth, same player, and slots that
lead to the same kinds of things, in order. Depth by depth a traversal then has a few large
operations, and no work that grows with the nodes.

Every slot has a row. The slots of a group of n nodes with A actions stand together, action by
action: slot (a, i) is row ``first + a * n + i``, so a group's slots are a view [A, n, …] of any
table. Reach rows come after two rows of their own, the ranges of the players at the root: the row
of slot s is ``2 + s``, and holds the reach of the player who acts there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.tree.betting import (
    DECISION,
    FOLDED,
    NEXT,
    SHOWDOWN,
    BettingTree,
    Raises,
    build_betting,
)

ALL_IN = NEXT + 1  # a leaf at which no chips are left to bet
Ints = npt.NDArray[np.int64]
ShapeKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are worked on at once.

    Attributes:
        player: who acts.
        nodes: [n] nodes, as the betting tree counts them.
        first, actions: the slots are rows ``first`` … ``first + actions * n - 1``.
        reach: [n] reach row of the acting player at each node.
        parent: [n] slot that leads to each node; empty for the root.
    """

    player: int
    nodes: Ints
    first: int
    actions: int
    reach: Ints
    parent: Ints

    @property
    def size(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Ends:
    """Slots at which the round ends in one way: by folds, showdowns, called all-ins or leaves.

    Attributes:
        slots: [T].
        reach: [2, T] reach row of each player there.
        sign: [2, T] by which a player's value counts: -1 at the player's own folds, else 1.
    """

    slots: Ints
    reach: Ints
    sign: Ints


@dataclass(frozen=True, slots=True)
class Shape:
    """What subgames of one shape have in common.

    Attributes:
        groups: parents before children; the first is the root alone.
        slots: how many.
        ends: by kind: FOLDED, SHOWDOWN, ALL_IN, NEXT.
        place: [nodes] group of each node and its place there: [nodes, 2].
    """

    groups: tuple[Group, ...]
    slots: int
    ends: dict[int, Ends]
    place: Ints

    @property
    def widest(self) -> int:
        """The most slots of a group."""
        return max(group.actions * group.size for group in self.groups)

    @property
    def most(self) -> int:
        """The most nodes of a group."""
        return max(group.size for group in self.groups)


@dataclass(frozen=True, slots=True)
class SameShape:
    """Subgames that can be solved together: their places in what was given, and their trees."""

    indices: tuple[int, ...]
    trees: tuple[BettingTree, ...]


def round_tree(root: State, raises: Raises) -> BettingTree:
    """The betting of the root's round alone."""
    return build_betting(root, raises, root.round)


def shape_key(tree: BettingTree) -> ShapeKey:
    """Equal for trees that can be solved together: same game and round, same nodes and slots."""
    root = tree.root
    nodes = tuple(
        (node.player, tuple((_kind(tree, slot), slot.target) for slot in node.slots))
        for node in tree.stages[0].nodes
    )
    game = root.game
    return (game.deck, game.hole_cards, game.showdown, root.round, len(root.board), nodes)


def group_by_shape(roots: Sequence[State], raises: Raises) -> list[SameShape]:
    """The trees of the roots' rounds, put together by shape, in order of first appearance."""
    groups: dict[ShapeKey, list[tuple[int, BettingTree]]] = {}
    for index, root in enumerate(roots):
        tree = round_tree(root, raises)
        groups.setdefault(shape_key(tree), []).append((index, tree))
    return [
        SameShape(tuple(index for index, _ in members), tuple(tree for _, tree in members))
        for members in groups.values()
    ]


def make_shape(tree: BettingTree) -> Shape:
    """The shape of a tree of one round."""
    if len(tree.stages) != 1:
        raise InputError(f"a tree of {len(tree.stages)} rounds: expected one, with leaves after it")
    nodes = tree.stages[0].nodes
    depth, above = _depths(tree)
    keyed: dict[tuple, list[int]] = {}
    for n, node in enumerate(nodes):
        kinds = tuple(_kind(tree, slot) for slot in node.slots)
        keyed.setdefault((depth[n], node.player, kinds), []).append(n)
    row_of: dict[tuple[int, int], int] = {}  # (node, action) → slot
    place = np.zeros((len(nodes), 2), np.int64)
    first, firsts = 0, []
    for number, ((_, _, kinds), members) in enumerate(sorted(keyed.items())):
        firsts.append(first)
        for i, n in enumerate(members):
            place[n] = number, i
            for a in range(len(kinds)):
                row_of[n, a] = first + a * len(members) + i
        first += len(kinds) * len(members)
    # reach row of both players at every node: that of their last slot on the way
    reach = np.zeros((2, len(nodes)), np.int64)
    for n in range(len(nodes)):
        reach[:, n] = (0, 1)
        if above[n] is not None:
            parent, _ = above[n]
            reach[:, n] = reach[:, parent]
            reach[nodes[parent].player, n] = 2 + row_of[above[n]]
    groups = [
        Group(
            player=player,
            nodes=np.array(members),
            first=start,
            actions=len(kinds),
            reach=reach[player, members],
            parent=np.array([row_of[above[n]] for n in members if above[n]], np.int64),
        )
        for start, ((_, player, kinds), members) in zip(firsts, sorted(keyed.items()), strict=True)
    ]
    ends = {kind: _ends(tree, kind, row_of, reach) for kind in (FOLDED, SHOWDOWN, ALL_IN, NEXT)}
    return Shape(tuple(groups), first, ends, place)


def end_chips(tree: BettingTree, kind: int) -> list[float]:
    """What the loser has put in (at leaves, each player) at the ends of a kind, as in ``Ends``."""
    slots = [slot for node in tree.stages[0].nodes for slot in node.slots]
    chosen = [slot for slot in slots if _kind(tree, slot) == kind]
    if kind in (FOLDED, SHOWDOWN):
        return [slot.chips for slot in chosen]
    return [float(min(tree.leaves[slot.target].spent)) for slot in chosen]


def leaf_states(tree: BettingTree) -> tuple[State, ...]:
    """The leaves with chips left, in the order of ``Ends``."""
    slots = [slot for node in tree.stages[0].nodes for slot in node.slots]
    return tuple(tree.leaves[slot.target] for slot in slots if _kind(tree, slot) == NEXT)


def _kind(tree: BettingTree, slot) -> int:  # type: ignore[no-untyped-def]
    """The kind of a slot, called all-ins told apart from leaves."""
    if slot.kind == NEXT and tree.leaves[slot.target].pending == 0:
        return ALL_IN
    return int(slot.kind)


def _depths(tree: BettingTree) -> tuple[list[int], list]:
    """Depth of every node, and the node and action that lead to it (None for the root)."""
    nodes = tree.stages[0].nodes
    depth, above = [0] * len(nodes), [None] * len(nodes)
    for n, node in enumerate(nodes):
        for a, slot in enumerate(node.slots):
            if slot.kind == DECISION:
                depth[slot.target] = depth[n] + 1
                above[slot.target] = (n, a)  # type: ignore[call-overload]
    return depth, above


def _ends(tree: BettingTree, kind: int, row_of: dict[tuple[int, int], int], reach: Ints) -> Ends:
    slots, rows, signs = [], [], []
    for n, node in enumerate(tree.stages[0].nodes):
        for a, slot in enumerate(node.slots):
            if _kind(tree, slot) != kind:
                continue
            slots.append(row_of[n, a])
            both = reach[:, n].copy()
            both[node.player] = 2 + row_of[n, a]
            rows.append(both)
            signs.append([-1 if kind == FOLDED and p == node.player else 1 for p in (0, 1)])
    count = len(slots)
    return Ends(
        slots=np.array(slots, np.int64),
        reach=np.array(rows, np.int64).reshape(count, 2).T.copy(),
        sign=np.array(signs, np.int64).reshape(count, 2).T.copy(),
    )
