"""Numba kernels of the hand index; what they compute is defined in ``isomorphism.py``.

Two small devices keep them free of searches. The ranks of a suit that are still free live in one
word of four-bit fields ("nibbles"), so that renumbering the free ranks is a shift and a
subtraction. And every deck is treated as one of four suits, absent suits being always empty, so
that sorting the suits is a fixed network of five comparisons.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel

SLOTS = 4
# Nibble r holds r: every rank is its own number while no rank of the suit has been dealt.
IDENTITY = 0x0EDCBA9876543210
ONES = 0x0111111111111111
# A suit's shape and its number are sorted as one integer, the shape above these bits. A number
# is below 13!, the ways to deal 13 ranks in order.
NUMBER_BITS = 40
NUMBER_MASK = (1 << NUMBER_BITS) - 1


class IndexTables(NamedTuple):
    """Everything the kernels look up for one split of rounds; made by ``isomorphism.tables``.

    A *shape* is how many cards of each round one suit holds; C configurations are sorted
    quadruples of shapes, V the number of shapes, R of rounds. Slots ascend by shape.
    """

    rounds: npt.NDArray[np.int64]  # [R] cards a round
    suits: int
    shape_step: npt.NDArray[np.int64]  # [R] what one card of a round adds, in place for sorting
    shape_size: npt.NDArray[np.int64]  # [V] ways to choose a suit's ranks
    shape_counts: npt.NDArray[np.int64]  # [V, R] cards a round
    shape_radix: npt.NDArray[np.int64]  # [V, R] ways to choose the ranks of one round
    config_of: npt.NDArray[np.int32]  # [C(V + 2, 3)] by the three greatest shapes
    config_offset: npt.NDArray[np.int64]  # [C + 1] first index
    config_shapes: npt.NDArray[np.int64]  # [C, 4]
    config_place: npt.NDArray[np.int64]  # [C, 4] 1, 2, ... within a run of equal shapes
    config_run: npt.NDArray[np.int64]  # [C, 4] length of the run
    config_size: npt.NDArray[np.int64]  # [C, 4] multisets of numbers in the run
    config_stride: npt.NDArray[np.int64]  # [C, 4] weight of the run's multiset in the index
    set_code: npt.NDArray[np.int16]  # [2**ranks] 16 * (place among sets of its length) + length
    set_start: npt.NDArray[np.int64]  # [ranks + 1] first row in set_members
    set_members: npt.NDArray[np.int64]  # [2**ranks] members as nibbles, by length and place


@kernel(inline="always")
def multisets(n, k):
    """Multisets of k from n, C(n + k - 1, k), for k of 1 to 4; also the rank of the kth member."""
    if k == 1:
        return n
    if k == 2:
        return n * (n + 1) // 2
    if k == 3:
        return n * (n + 1) * (n + 2) // 6
    return n * (n + 1) * (n + 2) * (n + 3) // 24


# Inlined, and so is split_index below: as calls they would cost more than everything else.
@kernel(error_model="numpy", inline="always")
def last_member(rank, k):
    """The greatest n with ``multisets(n, k) <= rank``."""
    if k == 2:
        n = np.int64((np.sqrt(8.0 * rank + 1.0) - 1.0) * 0.5)
    elif k == 3:
        n = np.int64((6.0 * rank) ** (1.0 / 3.0))
    else:
        n = np.int64(np.sqrt(np.sqrt(24.0 * rank)))
    # The roots are upper bounds within k, give or take rounding.
    while multisets(n, k) > rank:
        n -= 1
    while multisets(n + 1, k) <= rank:
        n += 1
    return n


@kernel(error_model="numpy")
def index_hands(cards, t, out):
    """Write the index of every row of int64 [M, k] ``cards`` to int64 [M] ``out``.

    Returns the first row with a card out of range or standing twice, or -1.
    """
    n_rounds = t.rounds.size
    deck = t.suits * (t.set_start.size - 1)
    suit_of = np.zeros(64, np.int64)
    shift_of = np.zeros(64, np.int64)
    for c in range(deck):
        suit_of[c] = c % t.suits
        shift_of[c] = 4 * (c // t.suits)
    free = np.empty(SLOTS, np.int64)
    described = np.empty(SLOTS, np.int64)  # shape and number, packed for sorting

    for row in range(cards.shape[0]):
        for s in range(SLOTS):
            free[s] = IDENTITY
            described[s] = 0
        seen = np.int64(0)
        first = 0
        for j in range(n_rounds):
            last = first + t.rounds[j]
            chosen = np.int64(0)  # 16 bits a suit: places of the round's cards among free ranks
            for k in range(first, last):
                c = cards[row, k]
                if c < 0 or c >= deck or (seen >> c) & 1:
                    return row
                seen |= np.int64(1) << c
                s = suit_of[c] & 3
                place = (free[s] >> shift_of[c]) & 15
                if last - first == 1:  # no need to ask the other suits
                    shape = described[s] >> NUMBER_BITS
                    described[s] += t.shape_step[j] + t.shape_size[shape] * place
                else:
                    chosen |= np.int64(1) << (16 * s + place)
            if last - first > 1:
                for s in range(SLOTS):
                    code = np.int64(t.set_code[chosen & 0x1FFF])
                    shape = described[s] >> NUMBER_BITS
                    described[s] += t.shape_step[j] * (code & 15) + t.shape_size[shape] * (
                        code >> 4
                    )
                    chosen >>= 16
            if j + 1 < n_rounds:
                for k in range(first, last):
                    c = cards[row, k]
                    free[suit_of[c] & 3] -= (ONES << shift_of[c]) << 4
            first = last

        a, b, c, d = described[0], described[1], described[2], described[3]
        a, b = min(a, b), max(a, b)
        c, d = min(c, d), max(c, d)
        a, c = min(a, c), max(a, c)
        b, d = min(b, d), max(b, d)
        b, c = min(b, c), max(b, c)
        config = t.config_of[
            (b >> NUMBER_BITS) + multisets(c >> NUMBER_BITS, 2) + multisets(d >> NUMBER_BITS, 3)
        ]
        stride = t.config_stride[config]
        place_in_run = t.config_place[config]
        out[row] = (
            t.config_offset[config]
            + stride[0] * (a & NUMBER_MASK)
            + stride[1] * multisets(b & NUMBER_MASK, place_in_run[1])
            + stride[2] * multisets(c & NUMBER_MASK, place_in_run[2])
            + stride[3] * multisets(d & NUMBER_MASK, place_in_run[3])
        )
    return -1


@kernel(error_model="numpy", inline="always")
def split_index(index, t, number):
    """Write the suits' numbers to int64 [4] ``number``; the configuration of ``index``."""
    config, left = 0, t.config_offset.size - 1
    while left > 1:
        half = left >> 1
        config += half if t.config_offset[config + half] <= index else 0
        left -= half
    rest = index - t.config_offset[config]
    slot = SLOTS - 1
    while slot >= 0:
        size = t.config_size[config, slot]
        rank = rest % size
        rest //= size
        for k in range(t.config_run[config, slot], 1, -1):
            member = last_member(rank, k)
            rank -= multisets(member, k)
            number[slot] = member
            slot -= 1
        number[slot] = rank
        slot -= 1
    return config


@kernel(error_model="numpy")
def unindex_hands(indices, t, out):
    """Write the canonical cards of int64 [M] ``indices`` to int64 [M, k] ``out``."""
    n_rounds = t.rounds.size
    number = np.empty(SLOTS, np.int64)
    first = np.zeros(n_rounds + 1, np.int64)
    for j in range(n_rounds):
        first[j + 1] = first[j] + t.rounds[j]
    filled = np.empty(n_rounds, np.int64)

    for row in range(indices.size):
        config = split_index(indices[row], t, number)
        filled[:] = first[:-1]
        for suit in range(t.suits):
            slot = SLOTS - 1 - suit  # the greatest shape is suit 0
            shape = t.config_shapes[config, slot]
            if shape == 0:
                break
            rest = number[slot]
            free = np.int64(IDENTITY)
            for j in range(n_rounds):
                count = t.shape_counts[shape, j]
                if count == 0:
                    continue
                radix = t.shape_radix[shape, j]
                members = t.set_members[t.set_start[count] + rest % radix]
                rest //= radix
                # Highest first: taking a rank out renumbers only those above it.
                for i in range(count - 1, -1, -1):
                    shift = 4 * (members >> (4 * i) & 15)
                    card = (free >> shift & 15) * t.suits + suit
                    below = (np.int64(1) << shift) - 1
                    free = (free & below) | (free >> 4 & ~below)
                    k = filled[j]
                    filled[j] = k + 1
                    while k > first[j] and out[row, k - 1] > card:
                        out[row, k] = out[row, k - 1]
                        k -= 1
                    out[row, k] = card


@kernel(error_model="numpy")
def count_orbits(indices, t, out):
    """Write how many deals share each index to int64 [M] ``out``: suits! over the symmetries."""
    number = np.empty(SLOTS, np.int64)
    for row in range(indices.size):
        config = split_index(indices[row], t, number)
        orbit, run = 1, 1
        for n in range(2, t.suits + 1):
            slot = SLOTS - n
            same = t.config_place[config, slot + 1] > 1 and number[slot] == number[slot + 1]
            run = run + 1 if same else 1
            orbit = orbit * n // run
        out[row] = orbit
