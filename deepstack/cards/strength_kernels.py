"""Numba kernels of hand strength; what they compute is defined in ``strength.py``.

A hand is summed up in one 64-bit *key*, starting from ``START`` and adding ``tables.keys[card]``
for each card in any order:

    bits 32-63  a hash of the rank multiset, modulo 2**32; the tables use its upper 30 bits
    bits 20-22  how many of the cards were not cards at all (numbers of 52 and more)
    bits  0-15  for each suit a four-bit counter that starts at 3, so that five cards set its top
                bit and ``key & FLUSH`` is the whole test for a flush

Other kernels can use the pieces as they are: keep partial sums of keys while cards are dealt,
then ``rank_strength``, and ``flush_strength`` for the three hands in a hundred that need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from deepstack.run.jit import kernel

ROW_BITS = 13
COLUMN_BITS = 17

# Unsigned throughout: numba tests every signed index for being negative, and turns a sum of
# signed and unsigned 64-bit integers into a float.
U = np.uint64
ROW_SHIFT = U(64 - ROW_BITS)
COLUMN_SHIFT = U(64 - ROW_BITS - COLUMN_BITS)
COLUMN_MASK = U((1 << COLUMN_BITS) - 1)
START = U(0x3333)
FLUSH = U(0x8888)
UNKNOWN_CARD = U(1 << 20)
UNKNOWN = U(7 << 20)
RANK_SET = U(0x1FFF)

HANDS = 1326
ROW = 64  # 52, rounded up to whole vectors
BLOCKED = 0  # the strength of a hand that shares a card with the board; every hand beats it
CHUNK = 512  # hands at a time; their cards and results stay in the first-level cache


class StrengthTables(NamedTuple):
    """What the kernels read, some 300 KB; made by ``strength_tables.strength_tables``."""

    keys: npt.NDArray[np.uint64]  # [256] what a card adds to the key of a hand
    displacements: npt.NDArray[np.uint16]  # [2**ROW_BITS]
    by_ranks: npt.NDArray[np.int16]  # [2**COLUMN_BITS + largest displacement]
    by_suited: npt.NDArray[np.int16]  # [2**13] by the set of suited ranks; 0 below five cards


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """The number of ones in a uint64, as the one machine instruction it is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount: Any = _popcount  # what kernels call it with is not what its definition takes


@kernel
def rank_strength(tables, key):
    """The strength of 5 to 7 cards by their ranks alone, from their key."""
    displacement = U(tables.displacements[key >> ROW_SHIFT])
    return tables.by_ranks[displacement + ((key >> COLUMN_SHIFT) & COLUMN_MASK)]


@kernel
def suited_bit(card):
    """The bit of a card in a word of four 16-bit sets of ranks, one a suit."""
    return U(1) << (((card & U(3)) << U(4)) + (card >> U(2)) & U(63))


@kernel
def flush_strength(tables, suited):
    """The strength of the best flush in a word of ``suited_bit``, 0 where there is none."""
    best = np.int16(0)
    for suit in range(4):
        best = max(best, tables.by_suited[(suited >> U(16 * suit)) & RANK_SET])
    return best


@kernel
def strength7(tables, a, b, c, d, e, f, g):
    """The strength of seven different cards."""
    keys = tables.keys
    key = START + keys[U(a)] + keys[U(b)] + keys[U(c)] + keys[U(d)]
    key += keys[U(e)] + keys[U(f)] + keys[U(g)]
    if key & FLUSH:
        suited = suited_bit(U(a)) | suited_bit(U(b)) | suited_bit(U(c)) | suited_bit(U(d))
        suited |= suited_bit(U(e)) | suited_bit(U(f)) | suited_bit(U(g))
        return flush_strength(tables, suited)
    return rank_strength(tables, key)


def _strengths_kernel(count: int, check: bool) -> Callable[..., int]:
    """The kernel for hands of ``count`` cards: a constant, so that the loop over them unrolls."""

    @kernel
    def strengths(tables, cards, out):
        """Strengths of uint8 [n, count] into int16 [n]; not 0 if some hand is not one.

        With ``check`` a hand that holds a card twice is found too, else only unknown cards.
        Flushes are set aside and settled a chunk at a time: a branch for them would be
        mispredicted often enough to cost a fifth of the speed.
        """
        keys = tables.keys
        flushes = np.empty(CHUNK, np.uint16)
        seen, doubled = U(0), U(0)
        for start in range(0, len(cards), CHUNK):
            part = cards[start : start + CHUNK]
            result = out[start : start + CHUNK]
            found = U(0)
            for i in range(len(part)):
                key, held = START, U(0)
                for j in range(count):
                    card = U(part[i, j])
                    key += keys[card]
                    if check:
                        held |= U(1) << (card & U(63))
                seen |= key
                if check:
                    doubled |= popcount(held) ^ U(count)
                result[i] = rank_strength(tables, key)
                flushes[found] = i
                found += U((key & FLUSH) != U(0))
            for f in range(found):
                hand = U(flushes[U(f)])
                suited = U(0)
                for j in range(count):
                    suited |= suited_bit(U(part[hand, j]))
                result[hand] = flush_strength(tables, suited)
        return doubled | (seen & UNKNOWN)

    return strengths


STRENGTHS_KERNELS = {
    (count, check): _strengths_kernel(count, check)
    for count in (5, 6, 7)
    for check in (False, True)
}


@kernel
def fill_board_strengths(tables, board, row, out):
    """Strengths of all hands on a board of 3 to 5 different cards.

    board: uint8 [3..5]; row: int16 [ROW], scratch; out: int16 [1326], BLOCKED where blocked.

    Without flushes a hand is two ranks, so 91 lookups serve all hands. A row of strengths, one
    a lower card, is copied for each of the four higher cards of a rank; always all of it, for
    what is too much lands where later rows will be written. Flushes, which need three cards
    of a suit on the board, are put in afterwards.
    """
    keys = tables.keys
    key, suited = START, U(0)
    for card in board:
        key += keys[U(card)]
        suited |= suited_bit(U(card))
    floor = flush_strength(tables, suited)  # not 0 if the board itself is a flush

    row[:] = BLOCKED
    base = U(0)
    for rank in range(13):
        key_of_higher = key + keys[U(4 * rank)]
        for lower in range(rank + 1):
            strength = max(floor, rank_strength(tables, key_of_higher + keys[U(4 * lower)]))
            for suit in range(4):
                row[U(4 * lower + suit)] = strength
        for card in board:
            row[U(card)] = BLOCKED
        for suit in range(4):
            higher = U(4 * rank + suit)
            for i in range(len(row) if higher < U(51) else 51):
                out[base + U(i)] = row[U(i)]
            base += higher
    for card in board:
        base = U(card) * (U(card) - U(1)) >> U(1)
        for i in range(card):
            out[base + U(i)] = BLOCKED

    for suit in range(4):
        ranks = (suited >> U(16 * suit)) & RANK_SET
        if popcount(ranks) >= U(3):
            _fill_flushes(tables, U(suit), ranks, out)


@kernel
def _hand(a, b):
    """The index of a hand of two different cards, in either order."""
    lower, higher = min(a, b), max(a, b)
    return (higher * (higher - U(1)) >> U(1)) + lower


@kernel
def _fill_flushes(tables, suit, ranks, out):
    """Put in the strengths of hands that make a flush with a board's ``ranks`` of ``suit``."""
    by_suited = tables.by_suited
    for rank in range(13):
        with_one = ranks | (U(1) << U(rank))
        if with_one != ranks and by_suited[with_one]:
            card = (U(rank) << U(2)) + suit
            for other in range(52):
                hand = _hand(card, U(other))
                if U(other) != card and out[hand] != BLOCKED:
                    out[hand] = max(out[hand], by_suited[with_one])
    for rank in range(1, 13):
        with_one = ranks | (U(1) << U(rank))
        if with_one != ranks:
            higher = (U(rank) << U(2)) + suit
            base = higher * (higher - U(1)) >> U(1)
            for lower in range(rank):
                with_two = with_one | (U(1) << U(lower))
                if with_two != with_one:
                    out[base + (U(lower) << U(2)) + suit] = by_suited[with_two]


@kernel
def all_different(cards):
    """Whether cards [k] are cards of the deck, each at most once."""
    held = U(0)
    for card in cards:
        bit = U(1) << (U(card) & U(63))
        if card >= 52 or held & bit:
            return False
        held |= bit
    return True


@kernel
def boards_kernel(tables, boards, out):
    """``fill_board_strengths`` of uint8 [n, 3..5] into int16 [n, 1326].

    False, with the rest left undone, at the first row that is not a board.
    """
    row = np.empty(ROW, np.int16)
    for i in range(len(boards)):
        if not all_different(boards[i]):
            return False
        fill_board_strengths(tables, boards[i], row, out[i])
    return True


@kernel
def _any_used(used, entries, displacement):
    for entry in entries:  # noqa: SIM110 - any() over a generator is not for numba
        if used[entry + displacement]:
            return True
    return False


@kernel
def place_rows(rows, columns, order, displacements):
    """Displace the rows of a sparse table until no two entries meet, each as little as possible.

    rows: int64 [R + 1] where each row's entries start in columns: int64 [E]; order: int64 [R],
    the order to place rows in; displacements: [R], the result.
    """
    used = np.zeros(2 * columns.max() + 2 * len(columns), np.bool_)
    for row in order:
        entries = columns[rows[row] : rows[row + 1]]
        displacement = 0
        while _any_used(used, entries, displacement):
            displacement += 1
        for entry in entries:
            used[entry + displacement] = True
        displacements[row] = displacement
