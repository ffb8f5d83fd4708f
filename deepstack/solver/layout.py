"""A public tree as flat arrays for the kernels.

The betting tree and the board tree (``deepstack.tree``) become two named tuples of arrays. In a
visit of one board of one stage, the kernels work on rows of hands. First come the **reach rows** of
the player who is not updated: one for each line of the stage and one for each of that player's
slots. At a node, the reach of a player is the row of their last slot on the way (``node_row``), so
nothing is copied where somebody else acts.

On the way up the same rows turn into **values** of the updated player: what a showdown or a fold is
worth takes the place of the reach it was computed from. Where one reach meets both, the fold goes
to a row of its own. So do the values of nodes, but for the opponent's nodes that may fold, which
put their sum where nobody but they looks: into the row of the fold. Last come the continuations.
``source`` and ``scale`` say for every slot which row is its value, and times how many chips.

Reach rows that meet a showdown stand first, then those that only meet a fold, then the others, so
that sixteen neighbours can be evaluated together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game
from deepstack.solver.simd import LANES, padded
from deepstack.tree.betting import DECISION, FOLDED, NEXT, SHOWDOWN, BettingTree, Stage
from deepstack.tree.boards import BoardStage

Array = npt.NDArray[Any]


class Betting(NamedTuple):
    """The betting tree. Nodes, slots and lines are numbered through all stages; rows are local to
    a stage. ``[2, …]`` is by player: of ``source`` and ``scale`` the updated player, of rows the
    player whose reach it is."""

    first_node: Array  # [stages + 1]
    first_line: Array  # [stages + 1]; of the leaves beyond the last stage too: [stages + 2]
    player: Array  # [nodes]
    first_slot: Array  # [nodes + 1]
    node_row: Array  # [2, nodes]
    slot_row: Array  # [slots] of the player who acts
    node_value: Array  # [2, nodes] row of a node's value
    source: Array  # [2, slots] row of a slot's value
    scale: Array  # [2, slots] chips
    line_row: Array  # [2, lines] reach row that a line starts with
    line_from: Array  # [2, lines] reach row of the stage before that leads into it
    line_source: Array  # [2, lines] row of the value of a line as a whole
    line_scale: Array  # [2, lines]
    rows: Array  # [stages] rows in all
    onward: Array  # [stages] where the continuations begin
    reach_rows: Array  # [stages]
    fold_rows: Array  # [stages] where folds that have rows of their own begin
    show_end: Array  # [2, stages] reach rows [0, show_end) meet a showdown, to whole vectors
    fold_begin: Array  # [2, stages] of them, rows [fold_begin, show_end) also meet a fold
    fold_end: Array  # [2, stages] reach rows [show_end, fold_end) meet only a fold


class Boards(NamedTuple):
    """The board tree, flat: ``at`` arrays give where a stage begins."""

    boards: Array  # [stages]
    hands: Array  # [stages] H
    width: Array  # [stages] H padded to whole vectors
    at_board: Array  # [stages] into weight, first_child, first_symmetry
    at_hand: Array  # [stages] into card1, card2, place, group_end; B × width
    at_live: Array  # [stages] into live; B × cards
    at_list: Array  # [stages] into lists and ties; B × cards × per_card
    cards: Array  # [stages] live cards of a board
    per_card: Array  # [stages] hands that hold a card
    weight: Array
    first_child: Array  # [boards + 1 a stage]
    first_symmetry: Array  # [boards + 1 a stage] rows of ``symmetry``
    at_symmetry: Array  # [stages] into symmetry; rows × hands
    symmetry: Array
    card1: Array  # first card of a hand, times the lanes
    card2: Array  # second card; a card that nobody holds in one-card games
    place: Array  # place of the hand on the parent's board
    group_end: Array
    live: Array
    lists: Array
    ties: Array
    own: float  # 1 if both card sums contain a hand itself
    share: float  # one over the cards of a hand


def lay_out_betting(tree: BettingTree) -> Betting:
    """The arrays of a betting tree."""
    stages = tree.stages
    onward = [len(stage.lines) for stage in stages[1:]] + [len(tree.leaves)]
    parts = [_Rows(stage, lines) for stage, lines in zip(stages, onward, strict=True)]
    slots = [len(node.slots) for stage in stages for node in stage.nodes]

    def joined(name: str, axis: int = -1) -> Array:
        return np.concatenate([getattr(part, name) for part in parts], axis=axis)

    # a line starts from the row with which the stage before went on to it
    line_from = [np.zeros((2, len(stages[0].lines)), np.int64)] + [p.onward_row for p in parts]
    return Betting(
        first_node=_starts([len(stage.nodes) for stage in stages]),
        first_line=_starts([len(stage.lines) for stage in stages] + [len(tree.leaves)]),
        player=np.array([node.player for stage in stages for node in stage.nodes], np.int64),
        first_slot=_starts(slots),
        node_row=joined("node_row"),
        slot_row=joined("slot_row"),
        node_value=joined("node_value"),
        source=joined("source"),
        scale=joined("scale"),
        line_row=joined("line_row"),
        line_from=np.concatenate(line_from, axis=1),
        line_source=joined("line_source"),
        line_scale=joined("line_scale"),
        rows=np.array([part.rows for part in parts], np.int64),
        onward=np.array([part.onward for part in parts], np.int64),
        reach_rows=np.array([part.reach_rows for part in parts], np.int64),
        fold_rows=np.array([part.fold_rows for part in parts], np.int64),
        show_end=np.stack([part.show_end for part in parts], axis=1),
        fold_begin=np.stack([part.fold_begin for part in parts], axis=1),
        fold_end=np.stack([part.fold_end for part in parts], axis=1),
    )


def _starts(counts: list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


class _Rows:
    """The rows of one stage: which there are, in which order, and who reads what."""

    def __init__(self, stage: Stage, lines_onward: int) -> None:
        nodes, lines = len(stage.nodes), len(stage.lines)
        orders = [_order_rows(stage, player) for player in (0, 1)]
        row = [order.place for order in orders]
        self.show_end, self.fold_begin, self.fold_end = (
            np.array([getattr(order, name) for order in orders], np.int64)
            for name in ("show_end", "fold_begin", "fold_end")
        )
        self.reach_rows = max(order.rows for order in orders)
        values = self.reach_rows
        self.node_value = np.zeros((2, nodes), np.int64)
        own_rows = [0, 0]
        for updated in (0, 1):
            for n, node in enumerate(stage.nodes):
                if node.player != updated and node.slots[0].kind == FOLDED:
                    self.node_value[updated, n] = row[1 - updated][n, 0]
                else:
                    self.node_value[updated, n] = values + own_rows[updated]
                    own_rows[updated] += 1
        # The last sixteen reach rows may reach into the nodes' values, which come later in time.
        self.fold_rows = max(values + max(own_rows), padded(int(self.fold_end.max())))
        # Folds beside showdowns; the rows are also where showdowns are worked out.
        both = max(int((self.show_end - self.fold_begin).max()), LANES * bool(self.show_end.any()))
        self.onward = self.fold_rows + both
        self.rows = self.onward + lines_onward

        last = _last_keys(stage)
        self.node_row = np.array(
            [[row[p][last[p][n]] for n in range(nodes)] for p in (0, 1)], np.int64
        ).reshape(2, nodes)
        self.line_row = np.array([[row[p][line] for line in range(lines)] for p in (0, 1)])

        def fold_source(updated: int, there: int) -> int:
            """The row of a fold's value: its own beside showdowns, else that of the reach."""
            shown = there < self.show_end[1 - updated]
            return self.fold_rows + there - int(self.fold_begin[1 - updated]) if shown else there

        self.onward_row = np.zeros((2, lines_onward), np.int64)
        self.line_source = np.zeros((2, lines), np.int64)
        self.line_scale = np.ones((2, lines))
        for number, line in enumerate(stage.lines):
            for updated in (0, 1):
                there = int(self.line_row[1 - updated, number])
                if line.kind == SHOWDOWN:
                    self.line_source[updated, number] = there
                    self.line_scale[updated, number] = line.chips
                elif line.kind == NEXT:
                    self.line_source[updated, number] = self.onward + line.target
                    self.onward_row[1 - updated, line.target] = there
                else:
                    self.line_source[updated, number] = self.node_value[updated, line.target]
        self.slot_row = np.zeros(stage.slots, np.int64)
        self.source = np.zeros((2, stage.slots), np.int64)
        self.scale = np.ones((2, stage.slots))
        place = 0
        for n, node in enumerate(stage.nodes):
            for a, slot in enumerate(node.slots):
                self.slot_row[place] = row[node.player][n, a]
                for updated in (0, 1):
                    other = 1 - updated
                    acted = node.player == other
                    there = int(self.slot_row[place] if acted else self.node_row[other, n])
                    if slot.kind == DECISION:
                        self.source[updated, place] = self.node_value[updated, slot.target]
                    elif slot.kind == FOLDED:
                        self.source[updated, place] = fold_source(updated, there)
                        self.scale[updated, place] = slot.chips if acted else -slot.chips
                    elif slot.kind == SHOWDOWN:
                        self.source[updated, place] = there
                        self.scale[updated, place] = slot.chips
                    else:
                        self.source[updated, place] = self.onward + slot.target
                        self.onward_row[other, slot.target] = there
                place += 1


class _Order(NamedTuple):
    """Reach rows of a player: the place of each line and slot (node, action)."""

    place: dict
    rows: int
    show_end: int
    fold_begin: int
    fold_end: int


def _order_rows(stage: Stage, player: int) -> _Order:
    """Showdown only, both, fold only, neither.

    Sixteen rows that end with the last showdown may hold folds too, which then count as both.
    """
    last = _last_keys(stage)[player]
    shown: set = {n for n, line in enumerate(stage.lines) if line.kind == SHOWDOWN}
    folded: set = set()
    keys: list = list(range(len(stage.lines)))
    for n, node in enumerate(stage.nodes):
        for a, slot in enumerate(node.slots):
            key = (n, a) if node.player == player else last[n]
            if node.player == player:
                keys.append(key)
            if slot.kind == FOLDED:
                folded.add(key)
            elif slot.kind == SHOWDOWN:
                shown.add(key)
    only_shown = [key for key in keys if key in shown - folded]
    both = [key for key in keys if key in shown & folded]
    only_folded = [key for key in keys if key in folded - shown]
    neither = [key for key in keys if key not in shown | folded]
    place = {key: i for i, key in enumerate([*only_shown, *both, *only_folded, *neither])}
    show_end = padded(len(only_shown) + len(both))
    fold_begin = min(len(only_shown) // LANES * LANES, show_end)
    fold_end = len(only_shown) + len(both) + len(only_folded)
    return _Order(place, len(keys), show_end, fold_begin, fold_end)


def _last_keys(stage: Stage) -> list[dict]:
    """By player and node: the key of the row that holds the player's reach there."""
    last: list[dict] = [{}, {}]
    for number, line in enumerate(stage.lines):
        if line.kind == DECISION:
            last[0][line.target] = last[1][line.target] = number
    for n, node in enumerate(stage.nodes):
        for a, slot in enumerate(node.slots):
            if slot.kind == DECISION:
                for player in (0, 1):
                    mine = player == node.player
                    last[player][slot.target] = (n, a) if mine else last[player][n]
    return last


def lay_out_boards(game: Game, stages: list[BoardStage]) -> Boards:
    """The arrays of a board tree."""
    hands = [stage.hands.shape[1] for stage in stages]
    width = [padded(count) for count in hands]
    boards = [stage.boards for stage in stages]
    deck, hole = len(game.deck), game.hole_cards
    cards = [deck - stage.cards.shape[1] for stage in stages]
    per_card = [1 if hole == 1 else count - 1 for count in cards]
    symmetries = [[len(images) for images in stage.symmetries] for stage in stages]
    held = hand_cards(deck, hole).astype(np.int64)
    if hole == 1:
        held = np.concatenate([held, np.full_like(held, deck)], axis=1)
    columns: dict[str, list[Array]] = {
        name: [] for name in ("card1", "card2", "place", "group_end", "live", "lists", "ties")
    }
    for stage, w, n, k in zip(stages, width, cards, per_card, strict=True):
        count = stage.boards
        board_cards = held[stage.hands]  # [B, H, 2]
        for c in (0, 1):
            columns[f"card{c + 1}"].append(
                _pad(board_cards[:, :, c] * LANES, w, deck * LANES, np.int16)
            )
        places = stage.place_in_parent if stage.place_in_parent.size else np.zeros((count, 0))
        columns["place"].append(_pad(places, w, 0, np.int16))
        live = np.ones((count, deck), bool)
        np.put_along_axis(live, stage.cards, False, axis=1)
        columns["live"].append(np.nonzero(live)[1].astype(np.uint8))
        strengths = stage.strengths if stage.strengths.size else stage.hands
        lists, ties = np.empty((2, count, n, k), np.uint16)
        group_end = np.zeros((count, w), np.uint16)
        _fill_lists(board_cards, strengths, live, lists, ties, group_end)
        columns["lists"].append(lists.ravel())
        columns["ties"].append(ties.ravel())
        columns["group_end"].append(group_end.ravel())
    flat = {name: np.concatenate(parts) for name, parts in columns.items()}
    images = [np.concatenate(stage.symmetries).astype(np.int32).ravel() for stage in stages]
    return Boards(
        boards=np.array(boards, np.int64),
        hands=np.array(hands, np.int64),
        width=np.array(width, np.int64),
        at_board=_starts([b + 1 for b in boards])[:-1],
        at_hand=_starts([b * w for b, w in zip(boards, width, strict=True)])[:-1],
        at_live=_starts([b * n for b, n in zip(boards, cards, strict=True)])[:-1],
        at_list=_starts([b * n * k for b, n, k in zip(boards, cards, per_card, strict=True)])[:-1],
        cards=np.array(cards, np.int64),
        per_card=np.array(per_card, np.int64),
        weight=np.concatenate([np.append(stage.weight, 0.0) for stage in stages]),
        first_child=np.concatenate([stage.first_child for stage in stages]).astype(np.int64),
        first_symmetry=np.concatenate([_starts(sizes) for sizes in symmetries]),
        at_symmetry=_starts([len(image) for image in images])[:-1],
        symmetry=np.concatenate(images),
        own=1.0 if hole == 2 else 0.0,
        share=1.0 / hole,
        **flat,
    )


def _pad(values: Array, width: int, fill: int, dtype: npt.DTypeLike) -> Array:
    padded_rows = np.full((len(values), width), fill, dtype)
    padded_rows[:, : values.shape[1]] = values
    return padded_rows.ravel()


@njit(cache=True)
def _fill_lists(cards, strengths, live, lists, ties, group_end):
    """The hands of every live card in order, and where tie groups end, for every board.

    cards [B, H, 2], strengths [B, H], live [B, deck] → lists, ties [B, n, k], group_end [B, width].
    """
    boards, hands = strengths.shape
    deck = live.shape[1]
    slot = np.empty(deck + 1, np.int64)
    for b in range(boards):
        n = 0
        for c in range(deck):
            slot[c] = n
            n += live[b, c]
        filled = np.zeros(n, np.int64)
        for h in range(hands):
            for c in cards[b, h]:
                if c < deck:
                    i = slot[c]
                    lists[b, i, filled[i]] = h
                    filled[i] += 1
        for i in range(n):
            end = filled[i]
            for k in range(filled[i] - 1, -1, -1):
                if k + 1 < filled[i] and (
                    strengths[b, lists[b, i, k]] != strengths[b, lists[b, i, k + 1]]
                ):
                    end = k + 1
                ties[b, i, k] = end
        end = hands
        for h in range(hands - 1, -1, -1):
            if h + 1 < hands and strengths[b, h] != strengths[b, h + 1]:
                end = h + 1
            group_end[b, h] = end
