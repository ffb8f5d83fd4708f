"""The boards of a public tree: which cards may come, and which hands remain on each.

Boards that differ by a relabelling of suits are solved once. That is sound only under relabellings
that leave the root's board, both ranges and whatever else was given unchanged; they form the
*group* of the root. A board's group are those of its parent's that leave its new cards in place. A
class of boards with w members stands for all of them: its values count w / |group| times, and the
values that reach the parent are summed over the parent's group (``symmetries``), which brings the
other members' share.

Hands are compacted board by board: only hands without a board card have a place, in order of hand
index, and in order of strength on the boards of the last betting round.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.boards import hand_permutation
from deepstack.cards.notation import hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.run.errors import InputError

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class BoardStage:
    """The boards of one betting round: B boards of H live hands.

    Attributes:
        cards: [B, cards on the board] in order of rounds.
        hands: [B, H] hand index of every place.
        strengths: [B, H] ascending, on the last round; else empty.
        parent: [B] board of the stage before.
        place_in_parent: [B, H] the place of a hand on the parent's board.
        weight: [B] what a value of this board adds to the parent's, chance included.
        symmetries: for every board, places [g, H] of the hands' images under its group.
        first_child: [B + 1] children are consecutive boards of the next stage.
    """

    cards: Ints
    hands: Ints
    strengths: Ints
    parent: Ints
    place_in_parent: Ints
    weight: npt.NDArray[np.float64]
    symmetries: list[Ints]
    first_child: Ints

    @property
    def boards(self) -> int:
        return len(self.cards)


def root_group(
    game: Game, board: tuple[int, ...], vectors: npt.NDArray[np.floating] | None = None
) -> Ints:
    """Relabellings of suits that leave a board and vectors over hands [..., H] unchanged.

    Rows say which suit each suit becomes, the identity first.
    """
    from deepstack.cards.boards import suit_permutations_fixing

    ranks, suits = len(game.deck.ranks), len(game.deck.suits)
    group = suit_permutations_fixing(board, ranks=ranks, suits=suits)
    if vectors is None:
        return group
    flat = np.atleast_2d(vectors)
    images = [hand_permutation(row, ranks, game.hole_cards) for row in group]
    return np.array(
        [row for row, image in zip(group, images, strict=True) if (flat[:, image] == flat).all()]
    )


def build_boards(
    game: Game, board: tuple[int, ...], first_round: int, last_round: int, group: Ints
) -> list[BoardStage]:
    """The boards of the rounds ``first_round`` to ``last_round`` below a root board.

    ``group`` is the root's group of relabellings (``root_group``), or the identity alone to keep
    every board apart.
    """
    if len(board) != game.board_size(first_round):
        text = game.deck.format(board)
        raise InputError(f"board {text!r}: round {first_round} has {game.board_size(first_round)}")
    places = _Places(game)
    groups = [group]
    cards = np.array([board], dtype=np.int64).reshape(1, len(board))
    parent, weight = np.zeros(1, np.int64), np.ones(1)
    stages: list[BoardStage] = []
    for round_ in range(first_round, last_round + 1):
        final = round_ == game.rounds - 1
        hands, strengths = _hands_in_order(game, cards, final)
        stage = BoardStage(
            cards=cards,
            hands=hands,
            strengths=strengths,
            parent=parent,
            place_in_parent=np.empty((len(cards), 0), np.int64),
            weight=weight,
            symmetries=[places.images(hands[b], groups[b]) for b in range(len(cards))],
            first_child=np.zeros(len(cards) + 1, np.int64),
        )
        if stages:
            stage.place_in_parent = places.within(stages[-1].hands, hands, parent)
        stages.append(stage)
        if round_ == last_round:
            break
        cards, parent, weight, groups = _deal(game, cards, groups, game.board_cards[round_ + 1])
        stage.first_child = np.searchsorted(parent, np.arange(stage.boards + 1))
    return stages


def _hands_in_order(game: Game, cards: Ints, final: bool) -> tuple[Ints, Ints]:
    """Live hands of every board [B, H], by strength where hands are shown, and the strengths."""
    held = hand_cards(len(game.deck), game.hole_cards)
    live = np.ones((len(cards), len(held)), bool)
    for column in range(cards.shape[1]):
        live &= (held[None] != cards[:, column, None, None]).all(axis=2)
    hands = np.nonzero(live)[1].reshape(len(cards), -1)
    if not final:
        return hands, np.empty((len(cards), 0), np.int64)
    if game.showdown == "five-card" and game.hole_cards == 2:
        strengths = np.take_along_axis(board_strengths(cards).astype(np.int64), hands, axis=1)
    else:
        shape = (*hands.shape, cards.shape[1])
        board = np.broadcast_to(cards[:, None, :], shape)
        strengths = strengths_of(game, np.concatenate([held[hands], board], axis=2))
    order = np.argsort(strengths, axis=1, kind="stable")
    return np.take_along_axis(hands, order, 1), np.take_along_axis(strengths, order, 1)


def _deal(
    game: Game, cards: Ints, groups: list[Ints], count: int
) -> tuple[Ints, Ints, npt.NDArray[np.float64], list[Ints]]:
    """All boards with ``count`` more cards, one of every class; parents, weights, groups."""
    deck, suits = len(game.deck), len(game.deck.suits)
    # given both hands, every deal of the remaining cards is equally likely
    chance = 1.0 / comb(deck - cards.shape[1] - 2 * game.hole_cards, count)
    boards, parents, weights, below = [], [], [], []
    for number, (board, group) in enumerate(zip(cards, groups, strict=True)):
        left = np.setdiff1d(np.arange(deck), board)
        deals = np.array(list(combinations(left, count)), dtype=np.int64).reshape(-1, count)
        images = np.sort(_relabelled(deals, group, suits), axis=2)  # [g, n, count]
        codes = _codes(images, deck)
        least = codes.min(axis=0)
        chosen, sizes = np.unique(least, return_counts=True)
        rows = np.searchsorted(codes[0], chosen)  # combinations come in order of their codes
        boards.append(np.concatenate([np.tile(board, (len(rows), 1)), deals[rows]], axis=1))
        parents += [number] * len(rows)
        weights += (chance * sizes / len(group)).tolist()
        below += [group[codes[:, row] == codes[0, row]] for row in rows]
    return np.concatenate(boards), np.array(parents), np.array(weights), below


def _relabelled(cards: Ints, group: Ints, suits: int) -> Ints:
    """Cards [n, k] under every relabelling [g, suits]: [g, n, k]."""
    return cards // suits * suits + group[:, cards % suits]


def _codes(cards: Ints, deck: int) -> Ints:
    """Cards [..., k] as one number each [...], in dictionary order."""
    code = np.zeros(cards.shape[:-1], np.int64)
    for column in range(cards.shape[-1]):
        code = code * deck + cards[..., column]
    return code


class _Places:
    """Where hands are found on a board."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._images: dict[bytes, Ints] = {}

    def within(self, outer: Ints, hands: Ints, parent: Ints) -> Ints:
        """Places [B, H] of ``hands`` on their parents' boards ``outer`` [B', H']."""
        where = np.empty((len(outer), self._game.hands), np.int64)
        np.put_along_axis(where, outer, np.arange(outer.shape[1])[None], axis=1)
        return np.take_along_axis(where[parent], hands, axis=1)

    def images(self, hands: Ints, group: Ints) -> Ints:
        """Places [g, H] of every hand's image under every relabelling of a group."""
        if len(group) == 1:
            return np.arange(len(hands))[None]
        where = np.empty(self._game.hands, np.int64)
        where[hands] = np.arange(len(hands))
        return np.stack([where[self._image(row)[hands]] for row in group])

    def _image(self, relabelling: Ints) -> Ints:
        key = relabelling.tobytes()
        if key not in self._images:
            ranks = len(self._game.deck.ranks)
            self._images[key] = hand_permutation(relabelling, ranks, self._game.hole_cards)
        return self._images[key]
