"""Public cards up to suit isomorphism: canonical boards, and chance nodes with suits merged.

A chance node may deal one card of each class instead of all of them, weighted, if everything
below it looks the same after the relabelling of suits that turns a card into its representative.
That holds for relabellings that leave the board, both ranges and any constraint unchanged; such
a set of relabellings is a *group* here, int64 [g, suits], whose rows say which suit each suit
becomes. Hands have to be relabelled on the way: with ``image = hand_permutation(relabelling)``,

    values_of_card = values_of_representative[..., image]
    range_for_representative[..., image] = range_for_card
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.cards.isomorphism import Indexer, as_integers, check_deck
from deepstack.cards.notation import RANKS, SUITS, hand_cards
from deepstack.run.errors import InputError

Ints = npt.NDArray[np.int64]


class CanonicalBoards(NamedTuple):
    """One board of every class."""

    cards: Ints  # [m, n] ascending
    weights: Ints  # [m] boards in the class


class NextCards(NamedTuple):
    """The classes of the next public card."""

    cards: Ints  # [m] representatives, ascending: the least card of each class
    weights: Ints  # [m] cards in the class
    class_of: Ints  # [deck] class of each card, -1 for cards on the board
    relabelling: Ints  # [deck, suits] turns the card into its representative; board: identity


@lru_cache(maxsize=16)
def canonical_boards(n: int, ranks: int = len(RANKS), suits: int = len(SUITS)) -> CanonicalBoards:
    """Boards of n cards, dealt in any order, up to relabelling of suits.

    >>> [len(canonical_boards(n).cards) for n in (3, 4, 5)]
    [1755, 16432, 134459]
    """
    indexer = Indexer((n,), ranks, suits)
    every = np.arange(indexer.size())
    boards = CanonicalBoards(indexer.unindex(every), indexer.weight(every))
    for array in boards:
        array.flags.writeable = False  # shared by all callers
    return boards


def relabel(cards: npt.ArrayLike, relabelling: npt.ArrayLike) -> Ints:
    """Cards after their suits are renamed: integers [...] to int64 [...].

    ``relabelling`` [suits] or [..., suits] says what each suit becomes; its leading axes stand
    before those of ``cards``.

    >>> relabel([51, 50], [0, 1, 3, 2]).tolist()
    [50, 51]
    """
    names = np.asarray(relabelling, np.int64)
    suits = names.shape[-1]
    rank, suit = np.divmod(np.asarray(cards, np.int64), suits)
    return rank * suits + names[..., suit]


def suit_permutations_fixing(
    *groups: npt.ArrayLike,
    among: npt.ArrayLike | None = None,
    ranks: int = len(RANKS),
    suits: int = len(SUITS),
) -> Ints:
    """The relabellings that turn each group of cards into itself: int64 [g, suits].

    Cards within a group are unordered. To keep flop and turn apart, as a game that began on the
    flop must, give them as two groups. ``among`` restricts the answer to a smaller group of
    relabellings, say to those that leave the ranges unchanged. The identity comes first.

    >>> from deepstack.cards.notation import STANDARD
    >>> suit_permutations_fixing(STANDARD.parse("Ah Kh 7h")).shape
    (6, 4)
    >>> suit_permutations_fixing(STANDARD.parse("Ac Ad 7h")).tolist()
    [[0, 1, 2, 3], [1, 0, 2, 3]]
    """
    check_deck(ranks, suits)
    if among is None:
        fixing = np.array(list(permutations(range(suits))), np.int64)
    else:
        fixing = _group(among, suits)
    for group in groups:
        cards = _distinct(group, ranks * suits)
        kept = (np.sort(relabel(cards, fixing), axis=-1) == np.sort(cards)).all(axis=-1)
        fixing = fixing[kept]
    return fixing


def next_cards(
    board: npt.ArrayLike,
    among: npt.ArrayLike | None = None,
    ranks: int = len(RANKS),
    suits: int = len(SUITS),
) -> NextCards:
    """The classes of the card that follows a board, whose cards are unordered.

    Cards are of one class if a relabelling turns one into the other: any that fixes the board,
    or only those of the group ``among``, all of which must. On a later round of the same game,
    ``among`` is ``suit_permutations_fixing(board, [card], ...)``.

    >>> from deepstack.cards.notation import STANDARD
    >>> turns = next_cards(STANDARD.parse("Ah Kh 7h"))
    >>> len(turns.cards), int(turns.weights.sum())
    (23, 49)
    """
    check_deck(ranks, suits)
    deck = ranks * suits
    dealt = _distinct(board, deck)
    group = suit_permutations_fixing(dealt, among=among, ranks=ranks, suits=suits)
    given = group if among is None else _group(among, suits)
    if len(group) < len(given):
        raise InputError(
            f"relabellings {given.tolist()}: expected all to leave board {dealt.tolist()} alone"
        )
    images = relabel(np.arange(deck), group)  # [g, deck]
    least = images.argmin(axis=0)
    representative = images.min(axis=0)
    relabelling = group[least]
    on_board = np.isin(np.arange(deck), dealt)
    relabelling[on_board] = np.arange(suits)
    cards, class_of, weights = np.unique(
        representative[~on_board], return_inverse=True, return_counts=True
    )
    classes = np.full(deck, -1, np.int64)
    classes[~on_board] = class_of
    return NextCards(cards, weights.astype(np.int64), classes, relabelling)


def hand_permutation(
    relabelling: npt.ArrayLike, ranks: int = len(RANKS), hole: int = 2
) -> npt.NDArray[np.intp]:
    """Which hand each hand becomes when suits are renamed: [suits] to intp [H].

    The result is shared and read-only.

    >>> hand_permutation([1, 0], ranks=3, hole=1).tolist()
    [1, 0, 3, 2, 5, 4]
    """
    names = as_integers(relabelling, "relabelling")
    check_deck(ranks, names.size)
    return _hand_permutation(tuple(_permutations([names], names.size)[0].tolist()), ranks, hole)


@lru_cache(maxsize=256)
def _hand_permutation(names: tuple[int, ...], ranks: int, hole: int) -> npt.NDArray[np.intp]:
    hands = np.sort(relabel(hand_cards(ranks * len(names), hole), names), axis=1)
    image = hands[:, 0] if hole == 1 else hands[:, 1] * (hands[:, 1] - 1) // 2 + hands[:, 0]
    image = image.astype(np.intp)
    image.flags.writeable = False
    return image


def _permutations(relabellings: npt.ArrayLike, suits: int) -> Ints:
    rows = as_integers(relabellings, "relabellings").astype(np.int64)
    if rows.ndim != 2 or rows.shape[1] != suits or (np.sort(rows) != np.arange(suits)).any():
        raise InputError(
            f"relabellings {rows.tolist()}: expected rows that permute 0 to {suits - 1}"
        )
    return rows


def _group(relabellings: npt.ArrayLike, suits: int) -> Ints:
    rows = np.unique(_permutations(relabellings, suits), axis=0)
    products = rows[:, rows].reshape(-1, suits)
    if len(rows) == 0 or len(np.unique(np.concatenate([rows, products]), axis=0)) > len(rows):
        raise InputError(
            f"relabellings {rows.tolist()}: expected a group, one after another being a third"
        )
    return rows


def _distinct(cards: npt.ArrayLike, deck: int) -> Ints:
    array = as_integers(cards, "cards").astype(np.int64)
    if array.ndim != 1:
        raise InputError(f"cards of shape {array.shape}: expected one axis")
    listed = array.tolist()
    for i, card in enumerate(listed):
        if not 0 <= card < deck:
            raise InputError(f"card {card}: expected 0 to {deck - 1}")
        if card in listed[:i]:
            raise InputError(f"cards {listed}: card {card} stands twice")
    return array
