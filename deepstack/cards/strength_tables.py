"""The rules of five-card strength, and the small tables the kernels read.

Every five-card hand falls into one of 7,462 groups of equal strength. :func:`five_card_value`
states the rules by counting, :func:`numbering` sorts the groups and numbers them 1 (7-5-4-3-2 of
two suits) to 7462 (royal flush). Six and seven cards are worth their best five.

The tables answer for five, six or seven cards with one lookup by ranks or one by suited ranks:

* Without a flush only the multiset of ranks matters. Rank r adds ``5**r``; as no rank comes more
  than four times, the sum spells the multiset in base 5. Multiplied by an odd constant modulo
  2**32 it is still a sum over cards, and its upper 30 bits are a good hash: 13 bits choose a
  displacement, 17 bits are added to it, and that is the place in ``by_ranks``
  (R. E. Tarjan and A. C. Yao, "Storing a sparse table", 1979).
* With a flush only the ranks of that suit matter, since five cards of one suit leave no room for
  four of a kind or a full house in seven: ``by_suited`` is indexed by the 13-bit set of ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import numpy.typing as npt

from deepstack.cards.strength_kernels import (
    COLUMN_BITS,
    ROW_BITS,
    UNKNOWN_CARD,
    StrengthTables,
    place_rows,
)

CLASSES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)

STRONGEST = 7462

# Odd, and such that the upper 30 bits of the sums of 5, 6 and 7 cards are all different;
# found by trying random odd numbers, and checked whenever the tables are built.
MULTIPLIER = 2773350129

_CLASS_OF_COUNTS = {
    (1, 1, 1, 1, 1): HIGH_CARD,
    (2, 1, 1, 1): PAIR,
    (2, 2, 1): TWO_PAIR,
    (3, 1, 1): THREE,
    (3, 2): FULL_HOUSE,
    (4, 1): FOUR,
}


def five_card_value(ranks: Iterable[int], suited: bool) -> tuple[int, ...]:
    """The class of five cards, then the ranks that break ties; larger tuples are stronger.

    ``suited`` says that the five cards share one suit. The ace (12) is also low in a straight.

    >>> five_card_value([0, 12, 2, 3, 1], suited=False)  # A2345 is a straight to the five
    (4, 3)
    >>> five_card_value([7, 9, 7, 9, 9], suited=False)
    (6, 9, 7)
    """
    groups = sorted(((n, rank) for rank, n in Counter(ranks).items()), reverse=True)
    order = tuple(rank for _, rank in groups)
    shape = _CLASS_OF_COUNTS[tuple(n for n, _ in groups)]
    if shape != HIGH_CARD:
        return (shape, *order)
    if order == (12, 3, 2, 1, 0):
        return (STRAIGHT_FLUSH if suited else STRAIGHT, 3)
    if order[0] - order[4] == 4:
        return (STRAIGHT_FLUSH if suited else STRAIGHT, order[0])
    return (FLUSH if suited else HIGH_CARD, *order)


@lru_cache(maxsize=1)
def numbering() -> dict[tuple[int, ...], int]:
    """The strength 1..7462 of every :func:`five_card_value`."""
    mixed = (
        five_card_value(ranks, suited=False)
        for ranks in combinations_with_replacement(range(13), 5)
        if ranks[0] != ranks[4]
    )
    suited = (five_card_value(ranks, suited=True) for ranks in combinations(range(13), 5))
    values = sorted({*mixed, *suited})
    assert len(values) == STRONGEST
    return {value: i + 1 for i, value in enumerate(values)}


def _strengths_by_ranks() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16]]:
    """Every multiset of 5, 6 or 7 ranks as a number in base 5, and its strength without a flush.

    Both [73775]. The strength with one card more is the best of those it can have come from.
    """
    powers = 5 ** np.arange(13)
    number = numbering()
    hands = [r for r in combinations_with_replacement(range(13), 5) if r[0] != r[4]]
    codes = powers[np.array(hands)].sum(axis=1)
    values = np.array([number[five_card_value(ranks, suited=False)] for ranks in hands], np.int16)
    all_codes, all_values = [codes], [values]
    for _ in (6, 7):
        fits = codes[:, None] // powers % 5 < 4
        codes, origin = np.unique((codes[:, None] + powers)[fits], return_inverse=True)
        values, fewer = np.zeros(len(codes), np.int16), np.broadcast_to(values[:, None], fits.shape)
        np.maximum.at(values, origin, fewer[fits])
        all_codes.append(codes)
        all_values.append(values)
    return np.concatenate(all_codes), np.concatenate(all_values)


def _strengths_by_suited() -> npt.NDArray[np.int16]:
    """The strength of the best flush in every set of ranks, 0 below five: int16 [8192]."""
    number = numbering()
    table = np.zeros(1 << 13, np.int16)
    for ranks in combinations(range(13), 5):
        table[sum(1 << rank for rank in ranks)] = number[five_card_value(ranks, suited=True)]
    for rank in range(13):  # a set is worth at least what it is worth without this rank
        halves = table.reshape(-1, 2, 1 << rank)
        np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 1])
    return table


@lru_cache(maxsize=1)
def strength_tables() -> StrengthTables:
    """The tables of the kernels, made at the first call (about 0.1 s)."""
    codes, values = _strengths_by_ranks()
    places = (codes * MULTIPLIER & 0xFFFFFFFF) >> (32 - ROW_BITS - COLUMN_BITS)
    assert len(np.unique(places)) == len(places), "MULTIPLIER does not keep the multisets apart"
    order = np.argsort(places)
    rows, columns = places[order] >> COLUMN_BITS, places[order] & ((1 << COLUMN_BITS) - 1)

    starts = np.searchsorted(rows, np.arange((1 << ROW_BITS) + 1))
    fullest_first = np.argsort(-np.diff(starts), kind="stable")
    displacements = np.zeros(1 << ROW_BITS, np.uint16)
    place_rows(starts, columns, fullest_first, displacements)
    # Long enough for any key at all, also of cards that no deck can deal.
    by_ranks = np.zeros((1 << COLUMN_BITS) + int(displacements.max()), np.int16)
    by_ranks[displacements[rows] + columns] = values[order]

    card = np.arange(52)
    keys = np.full(256, UNKNOWN_CARD, np.uint64)
    hashes = (5 ** (card // 4) * MULTIPLIER & 0xFFFFFFFF).astype(np.uint64)
    keys[:52] = hashes << np.uint64(32) | np.uint64(1) << (card % 4 * 4).astype(np.uint64)
    return StrengthTables(keys, displacements, by_ranks, _strengths_by_suited())
