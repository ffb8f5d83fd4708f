"""Suit isomorphism: a perfect index of hands that differ only by the names of suits.

After Waugh, "A fast and optimal hand isomorphism algorithm" (AAAI workshop on computer poker,
2013). A hand is a deal by rounds, say (2, 3, 1, 1): two private cards, flop, turn and river.
Cards of one round are unordered, rounds are ordered, and deals that a relabelling of suits turns
into each other are one hand. Hands are numbered 0, 1, ... without gaps:

1. Suits are described one by one. A suit's *shape* says how many cards of each round it holds;
   its *number* says which, round by round, among the ranks that earlier rounds left.
2. Sorted by shape, the suits of a deal form a *configuration*. Each owns a block of indices.
3. Within the block, suits of different shape are digits of a mixed radix. Suits of equal shape
   can be swapped, so together they are one digit: the rank of the multiset of their numbers.

``canonical_plain`` defines what "one hand" means, without any of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, permutations, product
from math import comb, prod

import numpy as np
import numpy.typing as npt

from deepstack.cards.isomorphism_kernels import (
    NUMBER_BITS,
    SLOTS,
    IndexTables,
    count_orbits,
    index_hands,
    unindex_hands,
)
from deepstack.cards.notation import RANKS, SUITS
from deepstack.run.errors import InputError

Ints = npt.NDArray[np.int64]

# Rows converted to int64 at a time: stays in cache, and needs no second copy of a big array.
BLOCK = 8192
# Beyond these the tables or the kernels' 64-bit products would not hold.
MAX_SHAPES = 256
MAX_SIZE = 2**58


def canonical_plain(
    cards_by_round: Sequence[Sequence[int]], suits: int = 4
) -> tuple[tuple[int, ...], ...]:
    """The least of all deals that relabelling the suits makes of this one, each round sorted.

    Two deals are isomorphic exactly when this is equal for both.

    >>> canonical_plain([[51, 50], [0, 4, 11]])
    ((48, 49), (2, 6, 8))
    """
    return min(
        tuple(
            tuple(sorted(card - card % suits + names[card % suits] for card in cards))
            for cards in cards_by_round
        )
        for names in permutations(range(suits))
    )


@dataclass(frozen=True, slots=True)
class Indexer:
    """Indices of hands dealt in ``rounds`` from a deck of cards ``rank * suits + suit``.

    A hand at round r is the cards of rounds 0 to r in order; ``round=-1``, the last, is the
    default everywhere. Arrays of any leading shape go in and come out.

    >>> hold_em = Indexer((2, 3, 1, 1))
    >>> [hold_em.size(r) for r in range(4)]
    [169, 1286792, 55190538, 2428287420]
    >>> hold_em.canonical([51, 50], round=0)
    array([48, 49])
    """

    rounds: tuple[int, ...]
    ranks: int = len(RANKS)
    suits: int = len(SUITS)

    def __post_init__(self) -> None:
        check_deck(self.ranks, self.suits)
        rounds = tuple(int(n) for n in self.rounds)
        object.__setattr__(self, "rounds", rounds)  # a list is welcome, but does not hash
        deck = self.ranks * self.suits
        if not rounds or min(rounds) < 1 or sum(rounds) > deck:
            raise InputError(
                f"rounds {rounds}: expected at least one card a round, at most {deck} in all"
            )
        if prod(n + 1 for n in rounds) > MAX_SHAPES:
            raise InputError(
                f"rounds {rounds}: too many; one more than each, multiplied, "
                f"may be at most {MAX_SHAPES}"
            )
        if self.deals() >= MAX_SIZE:
            raise InputError(f"rounds {rounds}: {self.deals()} deals, expected fewer than 2**58")

    def size(self, round: int = -1) -> int:
        """How many hands there are at a round."""
        return int(self._tables(round).config_offset[-1])

    def deals(self, round: int = -1) -> int:
        """How many raw deals there are at a round, the sum of all weights.

        >>> Indexer((2, 3)).deals()
        25989600
        """
        left, deals = self.ranks * self.suits, 1
        for n in self._rounds(round):
            deals *= comb(left, n)
            left -= n
        return deals

    def index(self, cards: npt.ArrayLike, round: int = -1) -> Ints:
        """The index of each hand: integers [..., k] to int64 [...].

        >>> bool(Indexer((1, 1)).index([51, 50]) == Indexer((1, 1)).index([48, 49]))
        True
        """
        t = self._tables(round)
        hands = as_integers(cards, "cards")
        k = int(t.rounds.sum())
        if hands.ndim == 0 or hands.shape[-1] != k:
            raise InputError(
                f"cards of shape {hands.shape}: expected {k} in the last axis "
                f"for rounds {self._rounds(round)}"
            )
        rows = hands.reshape(-1, k)
        out = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK].astype(np.int64, order="C")
            bad = index_hands(block, t, out[start : start + BLOCK])
            if bad >= 0:
                raise InputError(self._complaint([int(c) for c in rows[start + bad]]))
        return out.reshape(hands.shape[:-1])[()]

    def unindex(self, index: npt.ArrayLike, round: int = -1) -> Ints:
        """The canonical hand of each index, rounds sorted: integers [...] to int64 [..., k]."""
        t = self._tables(round)
        flat, shape = self._indices(index, round)
        out = np.empty((flat.size, int(t.rounds.sum())), np.int64)
        unindex_hands(flat, t, out)
        return out.reshape(*shape, out.shape[1])

    def canonical(self, cards: npt.ArrayLike, round: int = -1) -> Ints:
        """The one hand that stands for all isomorphic to each: [..., k] to int64 [..., k]."""
        return self.unindex(self.index(cards, round), round)

    def weight(self, index: npt.ArrayLike, round: int = -1) -> Ints:
        """How many raw deals share each index: integers [...] to int64 [...].

        >>> Indexer((2,)).weight(Indexer((2,)).index([[48, 49], [48, 44], [48, 45]])).tolist()
        [6, 4, 12]
        """
        t = self._tables(round)
        flat, shape = self._indices(index, round)
        out = np.empty(flat.size, np.int64)
        count_orbits(flat, t, out)
        return out.reshape(shape)[()]

    def _rounds(self, round: int) -> tuple[int, ...]:
        n = len(self.rounds)
        if not -n <= round < n:
            raise InputError(f"round {round}: expected 0 to {n - 1}, or -1 for the last")
        return self.rounds[: round % n + 1]

    def _tables(self, round: int) -> IndexTables:
        return tables(self._rounds(round), self.ranks, self.suits)

    def _indices(self, index: npt.ArrayLike, round: int) -> tuple[Ints, tuple[int, ...]]:
        indices, size = as_integers(index, "index"), self.size(round)
        if indices.size:
            for worst in (int(indices.min()), int(indices.max())):
                if not 0 <= worst < size:
                    raise InputError(f"index {worst}: expected 0 to {size - 1}")
        return np.ascontiguousarray(indices, np.int64).reshape(-1), indices.shape

    def _complaint(self, hand: list[int]) -> str:
        deck = self.ranks * self.suits
        for i, card in enumerate(hand):
            if not 0 <= card < deck:
                return f"card {card}: expected 0 to {deck - 1}"
            if card in hand[:i]:
                return f"cards {hand}: card {card} stands twice"
        raise AssertionError(f"{hand} is a legal hand")


def sizes_ignoring_suits(
    rounds: Sequence[int], ranks: int = len(RANKS), suits: int = len(SUITS)
) -> tuple[int, ...]:
    """How many hands each round has in a game without flushes, where only ranks tell cards apart.

    Then suits may be relabelled within each rank by itself, which merges more than ``Indexer``
    does. Leduc hold'em is such a game: 3 ranks of one card, then 9 pairs of ranks.

    >>> sizes_ignoring_suits((1, 1), ranks=3, suits=2)
    (3, 9)
    """
    check_deck(ranks, suits)
    sizes = []
    for r in range(len(rounds)):
        whole = tuple(rounds[: r + 1])
        fits = [v for v in product(*(range(n + 1) for n in whole)) if sum(v) <= suits]
        ways = Counter({(0,) * len(whole): 1})  # by cards dealt, over the ranks seen so far
        for _ in range(ranks):
            longer: Counter[tuple[int, ...]] = Counter()
            for dealt, count in ways.items():
                for v in fits:
                    total = tuple(a + b for a, b in zip(dealt, v, strict=True))
                    if all(a <= b for a, b in zip(total, whole, strict=True)):
                        longer[total] += count
            ways = longer
        sizes.append(ways[whole])
    return tuple(sizes)


def check_deck(ranks: int, suits: int) -> None:
    """Refuse a deck that notation has no letters for."""
    if not (1 <= ranks <= len(RANKS) and 1 <= suits <= len(SUITS)):
        raise InputError(
            f"deck of {ranks} ranks and {suits} suits: expected 1 to {len(RANKS)} ranks "
            f"and 1 to {len(SUITS)} suits"
        )


def as_integers(values: npt.ArrayLike, name: str) -> npt.NDArray[np.integer]:
    """``values`` as an array of integers, or an error that calls it ``name``."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name} {values!r}: expected an array of integers") from error
    if array.size == 0 and array.dtype == np.float64:  # what an empty list becomes
        array = array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} of type {array.dtype}: expected integers")
    return array


@lru_cache(maxsize=64)
def tables(rounds: tuple[int, ...], ranks: int, suits: int) -> IndexTables:
    """What the kernels look up for hands at the last of ``rounds``."""
    shapes = list(product(*(range(n + 1) for n in rounds)))  # in order: shape 0 is no card at all
    step = [prod(n + 1 for n in rounds[j + 1 :]) for j in range(len(rounds))]
    radix = [
        [comb(max(0, ranks - sum(shape[:j])), n) for j, n in enumerate(shape)] for shape in shapes
    ]
    size = [prod(row) for row in radix]

    codes, members, places, runs, sizes, strides, offsets = [], [], [], [], [], [], [0]
    for config in configurations(rounds, suits):
        slots = [0] * (SLOTS - suits) + [
            sum(a * b for a, b in zip(shape, step, strict=True)) for shape in config
        ]
        run = [slots.count(shape) for shape in slots]
        digits = {shape: multisets_exact(size[shape], slots.count(shape)) for shape in slots}
        total = prod(digits.values())
        if total == 0:  # more cards of a suit than it has ranks
            continue
        stride = [prod(d for other, d in digits.items() if other > shape) for shape in slots]
        codes.append(sum(multisets_exact(shape, j) for j, shape in enumerate(slots[1:], 1)))
        members.append(slots)
        places.append([place for n in _run_lengths(slots) for place in range(1, n + 1)])
        runs.append(run)
        sizes.append([digits[shape] for shape in slots])
        strides.append(stride)
        offsets.append(offsets[-1] + total)

    # The three greatest shapes name a configuration: the cards of a round are a known number.
    config_of = np.full(multisets_exact(len(shapes), 3), -1, np.int32)
    config_of[codes] = np.arange(len(codes))

    set_code, set_start, set_members = _rank_sets(ranks)

    def ints(values: object) -> Ints:
        return np.array(values, np.int64)

    return IndexTables(
        rounds=ints(rounds),
        suits=suits,
        shape_step=ints(step) << NUMBER_BITS,
        shape_size=ints(size),
        shape_counts=ints(shapes),
        shape_radix=ints(radix),
        config_of=config_of,
        config_offset=ints(offsets),
        config_shapes=ints(members),
        config_place=ints(places),
        config_run=ints(runs),
        config_size=ints(sizes),
        config_stride=ints(strides),
        set_code=set_code,
        set_start=set_start,
        set_members=set_members,
    )


@lru_cache(maxsize=len(RANKS))
def _rank_sets(ranks: int) -> tuple[npt.NDArray[np.int16], Ints, Ints]:
    """``set_code``, ``set_start`` and ``set_members`` of ``IndexTables``."""
    # In numerical order, bit sets of one length are in colexicographic order.
    sets = np.arange(2**ranks)
    length = np.bitwise_count(sets).astype(np.int64)
    by_length = np.argsort(length, kind="stable")
    start = np.searchsorted(length[by_length], np.arange(ranks + 1))
    place = np.empty(2**ranks, np.int64)
    place[by_length] = sets - start[length[by_length]]
    members = np.zeros(2**ranks, np.int64)
    for r in reversed(range(ranks)):
        members = np.where(by_length >> r & 1, members << 4 | r, members)
    return (16 * place + length).astype(np.int16), start, members


def configurations(rounds: tuple[int, ...], suits: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to spread the cards of each round over suits, suits in ascending order.

    >>> list(configurations((2,), 4))
    [((0,), (0,), (0,), (2,)), ((0,), (0,), (1,), (1,))]
    """

    def spread(
        left: tuple[int, ...], suits: int, least: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], ...]]:
        if suits == 1:
            if left >= least:
                yield (left,)
            return
        for shape in product(*(range(n + 1) for n in left)):
            if shape >= least:
                rest = tuple(a - b for a, b in zip(left, shape, strict=True))
                for others in spread(rest, suits - 1, shape):
                    yield (shape, *others)

    return spread(rounds, suits, (0,) * len(rounds))


def multisets_exact(n: int, k: int) -> int:
    """How many multisets of k can be chosen from n things, in integers of any length.

    >>> multisets_exact(13, 2)
    91
    """
    return comb(n + k - 1, k) if n else 0


def _run_lengths(slots: Sequence[int]) -> list[int]:
    return [len(list(group)) for _, group in groupby(slots)]
