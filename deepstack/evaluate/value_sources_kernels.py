"""Kernels of ``value_sources_margins``: wins minus losses of hands over many full boards."""

from __future__ import annotations

import numpy as np

from deepstack.run.jit import kernel


@kernel
def order_hands(strengths, order, counts):
    """The hands of every board by strength, ascending, without those that the board blocks.

    strengths: int16 [n, H], 0 where blocked; order: int16 [n, H], counts: int32 [n], the results:
    row b of the order has counts[b] hands.
    """
    boards, hands = strengths.shape
    size = int(strengths.max()) + 2
    place = np.empty(size, np.int32)
    for b in range(boards):
        row = strengths[b]
        place[:] = 0
        for h in range(hands):
            place[row[h] + 1] += 1
        place[1] = 0
        for s in range(2, size):
            place[s] += place[s - 1]
        counts[b] = place[size - 1]
        for h in range(hands):
            s = row[h]
            if s > 0:
                order[b, place[s]] = h
                place[s] += 1


@kernel
def add_margins(strengths, order, counts, cards, reach, out):
    """Add to every hand what it wins from a range, summed over boards.

    strengths, order, counts: as of ``order_hands``; cards: int16 [H, 2]; reach: float64 [H];
    out: float64 [H].

    Running sums of the range over weaker hands, and for every card over those that hold it, begin
    at minus half their totals: what stands before a group of equal hands and what stands after it
    then add up to wins minus losses.
    """
    deck = int(cards.max()) + 1
    held = np.empty(deck)
    for b in range(len(strengths)):
        row, ranked, live = strengths[b], order[b], counts[b]
        below = 0.0
        held[:] = 0.0
        for i in range(live):
            h = ranked[i]
            half = 0.5 * reach[h]
            below -= half
            held[cards[h, 0]] -= half
            held[cards[h, 1]] -= half
        first = 0
        while first < live:
            last, tied = first, row[ranked[first]]
            while last < live and row[ranked[last]] == tied:
                h = ranked[last]
                out[h] += below - held[cards[h, 0]] - held[cards[h, 1]]
                last += 1
            for i in range(first, last):
                h = ranked[i]
                below += reach[h]
                held[cards[h, 0]] += reach[h]
                held[cards[h, 1]] += reach[h]
            for i in range(first, last):
                h = ranked[i]
                out[h] += below - held[cards[h, 0]] - held[cards[h, 1]]
            first = last


@kernel
def add_margins_against(strengths, hand, out):
    """Add to every hand the boards on which it beats one hand, minus those on which it loses.

    strengths: int16 [n, H], 0 where blocked; out: int32 [H]. Hands that share a card with the one
    get a number too, which means nothing.
    """
    for b in range(len(strengths)):
        row = strengths[b]
        other = row[hand]
        if other > 0:
            for h in range(len(row)):
                s = row[h]
                out[h] += np.int32(s > other) - np.int32((s < other) & (s > 0))
