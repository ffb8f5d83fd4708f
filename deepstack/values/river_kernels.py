"""Numba kernels of the mean over rivers of a river network; ``river_means`` says what it is.

Sixteen situations of one board stand side by side. ``sweep_rivers`` makes what the network sees on
every river, ``read_rivers`` takes what it says back to the hands and sums over rivers.
"""

from __future__ import annotations

import math

import numpy as np

from deepstack.run.jit import kernel
from deepstack.solver.simd import LANES, vadd, vload, vmul, vsplat, vstore, vsub
from deepstack.values.next_kernels import MOST_CARDS


@kernel
def card_sums(lanes, held, whole, total, pair):
    """Mass of each card's hands ``whole`` [2, card, lane] and of all ``total`` [2, lane].

    ``pair`` int64 [card, card] gets the hand of two cards, -1 where there is none.
    """
    hands = len(held)
    whole[:] = 0
    total[:] = 0
    pair[:] = -1
    for h in range(hands):
        a, b = held[h, 0], held[h, 1]
        pair[a, b] = pair[b, a] = h
        for p in range(2):
            r = vload(lanes, (p * hands + h) * LANES)
            for card in (a, b):
                at = (p * MOST_CARDS + card) * LANES
                vstore(whole, at, vadd(vload(whole, at), r))
            vstore(total, p * LANES, vadd(vload(total, p * LANES), r))


@kernel
def sweep_rivers(
    lanes, held, coming, order, group_end, edges, axis, count, places, leads, left, below
):
    """What the river network sees on every river, and where each hand stands.

    Args:
        lanes: float32 flat [2, H, 16] both ranges, each of sum 1.
        held, coming, order, group_end: tables of the board (``next_tables``), C rivers.
        edges: float32 [E] quantiles.
        axis: (bins, share that is logarithmic, the finest share) of the network's axis.
        count: situations, at most 16.
        places: float32 flat [C, H, 16] out: places between the centres of bins.
        leads: float32 flat [C, 2, H, 16] out: mass beaten minus mass lost to, not normalised.
        left: float32 flat [C, 2, 16] out: each range's mass that the river leaves possible.
        below: float32 [N, C, 2, E] out: each range's share below the edges.
    """
    hands, cards, after, last = len(held), len(coming), order.shape[1], len(edges)
    bins, fine, finest = axis
    scale = 1 / math.log1p(1 / finest)
    whole = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)
    running = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)
    total = np.zeros(2 * LANES, lanes.dtype)
    pair = np.full((MOST_CARDS, MOST_CARDS), -1, np.int64)
    card_sums(lanes, held, whole, total, pair)
    zero, half = vsplat(lanes, 0.0), vsplat(lanes, -0.5)
    share = np.zeros(2 * LANES, lanes.dtype)
    low_high = np.zeros(2 * LANES, lanes.dtype)  # of the mixture, before and after a tie group
    sums = np.zeros(4 * LANES, lanes.dtype)  # of both ranges, before and after
    edge = np.zeros(LANES, np.int64)
    for c in range(cards):
        card = coming[c]
        for p in range(2):
            rest = vsub(vload(total, p * LANES), vload(whole, (p * MOST_CARDS + card) * LANES))
            vstore(left, (c * 2 + p) * LANES, rest)
            for a in range(MOST_CARDS):
                at = (p * MOST_CARDS + a) * LANES
                start = vload(whole, at)
                if pair[a, card] >= 0:
                    start = vsub(start, vload(lanes, (p * hands + pair[a, card]) * LANES))
                vstore(running, at, vmul(start, half))
        for i in range(2 * LANES):
            share[i] = 1 / max(left[c * 2 * LANES + i], np.float32(1e-12))
        half0 = vmul(vload(left, c * 2 * LANES), half)
        half1 = vmul(vload(left, (c * 2 + 1) * LANES), half)
        before0, before1 = half0, half1
        share0, share1 = vload(share, 0), vload(share, LANES)
        edge[:] = 0
        low = zero
        j = 0
        while j < after:
            end = int(group_end[c, j])
            after0, after1 = before0, before1
            for k in range(j, end):
                h = int(order[c, k])
                after0 = vadd(after0, vload(lanes, h * LANES))
                after1 = vadd(after1, vload(lanes, (hands + h) * LANES))
            vstore(sums, 0, vmul(vsub(before0, half0), share0))
            vstore(sums, LANES, vmul(vsub(before1, half1), share1))
            vstore(sums, 2 * LANES, vmul(vsub(after0, half0), share0))
            vstore(sums, 3 * LANES, vmul(vsub(after1, half1), share1))
            high = vadd(vload(sums, 2 * LANES), vload(sums, 3 * LANES))
            vstore(low_high, 0, low)
            vstore(low_high, LANES, high)
            low = high
            for i in range(count):
                begin, stop = low_high[i], low_high[LANES + i]
                while edge[i] < last and 2 * edges[edge[i]] < stop:
                    part = (2 * edges[edge[i]] - begin) / (stop - begin)
                    part = min(max(part, np.float32(0)), np.float32(1))
                    for p in range(2):
                        first, second = sums[p * LANES + i], sums[(2 + p) * LANES + i]
                        below[i, c, p, edge[i]] = first + part * (second - first)
                    edge[i] += 1
            for i in range(LANES):
                quantile = (low_high[i] + low_high[LANES + i]) / 4
                above = max(1 - quantile, np.float32(0))
                bent = 1 - math.log1p(above / finest) * scale
                at_bin = ((1 - fine) * quantile + fine * bent) * bins - np.float32(0.5)
                low_high[i] = min(max(at_bin, np.float32(0)), np.float32(bins - 1))
            place = vload(low_high, 0)
            middle0, middle1 = vadd(before0, after0), vadd(before1, after1)
            for k in range(j, end):
                h = int(order[c, k])
                a, b = held[h, 0] * LANES, held[h, 1] * LANES
                clash0 = vadd(vload(running, a), vload(running, b))
                a, b = a + MOST_CARDS * LANES, b + MOST_CARDS * LANES
                clash1 = vadd(vload(running, a), vload(running, b))
                # a player's values come from the opponent's range
                vstore(leads, (2 * c * hands + h) * LANES, vsub(middle1, clash1))
                vstore(leads, ((2 * c + 1) * hands + h) * LANES, vsub(middle0, clash0))
                vstore(places, (c * hands + h) * LANES, place)
            for k in range(j, end):
                h = int(order[c, k])
                for p in range(2):
                    r = vload(lanes, (p * hands + h) * LANES)
                    a = (p * MOST_CARDS + held[h, 0]) * LANES
                    b = (p * MOST_CARDS + held[h, 1]) * LANES
                    vstore(running, a, vadd(vload(running, a), r))
                    vstore(running, b, vadd(vload(running, b), r))
            for k in range(j, end):
                h = int(order[c, k])
                for p in range(2):
                    other = (1 - p) * MOST_CARDS
                    a, b = (other + held[h, 0]) * LANES, (other + held[h, 1]) * LANES
                    clash = vadd(vload(running, a), vload(running, b))
                    at = ((2 * c + p) * hands + h) * LANES
                    vstore(leads, at, vsub(vload(leads, at), clash))
            before0, before1 = after0, after1
            j = end
        for i in range(count):
            for e in range(edge[i], last):
                below[i, c, 0, e] = sums[2 * LANES + i]
                below[i, c, 1, e] = sums[3 * LANES + i]


@kernel
def read_rivers(lanes, held, coming, order, places, leads, left, said, count, values):
    """Values summed over rivers, from what the network says about places on each of them.

    Args:
        lanes … left: as of ``sweep_rivers``.
        said: float32 flat [N, C, 4, bins]: worth of the mass a hand leaves possible, for each
            player, and of its lead.
        values: float32 [N, 2, H] out: the sum over rivers of m(c) · V_c(h).
    """
    hands, cards, after = len(held), len(coming), order.shape[1]
    bins = len(said) // (count * cards * 4)
    whole = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)
    total = np.zeros(2 * LANES, lanes.dtype)
    pair = np.full((MOST_CARDS, MOST_CARDS), -1, np.int64)
    card_sums(lanes, held, whole, total, pair)
    rest = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)
    worth = np.zeros(2 * hands * LANES, np.float32)
    mass = np.zeros(2 * hands * LANES, np.float32)
    inverse = np.zeros(2 * LANES, np.float32)
    surplus, weight = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32)
    values[:] = 0
    for c in range(cards):
        card = coming[c]
        for p in range(2):
            for a in range(MOST_CARDS):
                at = (p * MOST_CARDS + a) * LANES
                some = vload(whole, at)
                if pair[a, card] >= 0:
                    some = vsub(some, vload(lanes, (p * hands + pair[a, card]) * LANES))
                vstore(rest, at, some)
        for i in range(2 * LANES):
            inverse[i] = 1 / max(left[c * 2 * LANES + i], np.float32(1e-12))
        surplus[:] = 0
        weight[:] = 0
        for k in range(after):
            h = int(order[c, k])
            for p in range(2):
                other = 1 - p
                a = (other * MOST_CARDS + held[h, 0]) * LANES
                b = (other * MOST_CARDS + held[h, 1]) * LANES
                own, theirs = (p * hands + h) * LANES, (other * hands + h) * LANES
                lead = ((2 * c + p) * hands + h) * LANES
                for i in range(count):
                    place = places[(c * hands + h) * LANES + i]
                    low = min(int(place), bins - 2)
                    part = place - low
                    row = ((i * cards + c) * 4 + p) * bins + low
                    unit = said[row] + part * (said[row + 1] - said[row])
                    row += 2 * bins
                    slope = said[row] + part * (said[row + 1] - said[row])
                    possible = left[(2 * c + other) * LANES + i] - rest[a + i] - rest[b + i]
                    possible = (possible + lanes[theirs + i]) * inverse[other * LANES + i]
                    value = unit * possible + slope * leads[lead + i] * inverse[other * LANES + i]
                    worth[own + i], mass[own + i] = value, possible
                    mine = lanes[own + i] * inverse[p * LANES + i]
                    surplus[i] += value * mine
                    weight[i] += possible * mine
        for i in range(count):
            surplus[i] = surplus[i] / 2 / max(weight[i] / 2, np.float32(1e-6))
        for p in range(2):
            for k in range(after):
                h = int(order[c, k])
                at = (p * hands + h) * LANES
                for i in range(count):
                    value = worth[at + i] - surplus[i] * mass[at + i]
                    values[i, p, h] += value * left[(2 * c + 1 - p) * LANES + i]
