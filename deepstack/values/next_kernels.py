"""Numba kernels of what two ranges look like on the boards after the next card.

``next_cards`` says what is computed. Situations of one board stand side by side, sixteen at a time
(``solver.simd``), so that a sweep over hands in order of strength serves all of them.
"""

from __future__ import annotations

import math

import numpy as np

from deepstack.run.jit import kernel
from deepstack.solver.simd import LANES, vadd, vload, vmul, vsplat, vstore, vsub

MOST_CARDS = 52
LEAST = 1e-5
"""Of a range of mass 1, what a card must leave possible for it to count on that card."""
ROUND = 1e-5
"""Shares of the strongest hands below which the square root of the axis becomes linear."""
ROOT, SCALE = ROUND**0.5, 1 / ((1 + ROUND) ** 0.5 - ROUND**0.5)


@kernel
def fill_next_order(keys, order, group_end):
    """Sort the hands that each next card leaves possible.

    Args:
        keys: int64 [C, H] strengths after each card, at least 0; -1 where it takes a card of the
            hand.
        order: int16 [C, H'] out: hands from the weakest to the strongest.
        group_end: int16 [C, H'] out: at the first of a tie group, where the group ends.
    """
    cards, hands = keys.shape
    for c in range(cards):
        largest = 0
        for h in range(hands):
            largest = max(largest, keys[c, h])
        counts = np.zeros(largest + 2, np.int64)
        for h in range(hands):
            if keys[c, h] >= 0:
                counts[keys[c, h] + 1] += 1
        for k in range(largest + 1):
            counts[k + 1] += counts[k]
        for h in range(hands):
            key = keys[c, h]
            if key >= 0:
                order[c, counts[key]] = h
                counts[key] += 1
        # counts[key] is now where the group of key ends
        for j in range(order.shape[1]):
            group_end[c, j] = counts[keys[c, order[c, j]]]


@kernel
def profile_lanes(
    lanes, held, next_cards, order, group_end, fine, knots, count, scratch, hist, lead, mass, places
):
    """The profiles of up to sixteen situations on one board.

    Args:
        lanes: float32 flat [2, H, 16] both ranges, each of sum 1.
        held: int64 [H, 2] the cards of every hand.
        next_cards: int64 [C] cards that may come.
        order, group_end: int16 [C, H'] of ``fill_next_order``.
        fine: share of the axis that follows a square root.
        knots: K, places on the axis.
        count: situations, at most 16.
        scratch: float32 flat, room for ``scratch_size`` numbers.
        hist: float32 [N, H, K, 2] out.
        lead, mass: float32 [N, 2, H] out.
        places: float32 [N, 2, H] out: mean and spread of a hand's place on the axis.
    """
    hands, cards, after = len(held), len(next_cards), order.shape[1]
    zero, half = vsplat(lanes, 0.0), vsplat(lanes, -0.5)
    whole = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)  # [2, card, lane]
    running = np.zeros(2 * MOST_CARDS * LANES, lanes.dtype)
    pair = np.full((MOST_CARDS, MOST_CARDS), -1, np.int64)
    total = np.zeros(2 * LANES, lanes.dtype)
    for h in range(hands):
        a, b = held[h, 0], held[h, 1]
        pair[a, b] = pair[b, a] = h
        for p in range(2):
            r = vload(lanes, (p * hands + h) * LANES)
            for card in (a, b):
                at = (p * MOST_CARDS + card) * LANES
                vstore(whole, at, vadd(vload(whole, at), r))
            vstore(total, p * LANES, vadd(vload(total, p * LANES), r))
    at_leads = 0  # [2, H, lane]
    at_values = 2 * hands * LANES  # [2, H, lane] of one card
    at_axis = 4 * hands * LANES  # [H, C, lane]
    scratch[: 2 * hands * LANES] = 0
    scratch[at_axis : at_axis + hands * cards * LANES] = -1
    worth = np.zeros((cards, LANES), np.float32)
    share = np.zeros(2 * LANES, lanes.dtype)
    place = np.zeros(LANES, lanes.dtype)
    for c in range(cards):
        card = next_cards[c]
        for p in range(2):
            left = vsub(vload(total, p * LANES), vload(whole, (p * MOST_CARDS + card) * LANES))
            vstore(share, p * LANES, left)
            for a in range(MOST_CARDS):
                at = (p * MOST_CARDS + a) * LANES
                start = vload(whole, at)
                if pair[a, card] >= 0:
                    start = vsub(start, vload(lanes, (p * hands + pair[a, card]) * LANES))
                vstore(running, at, vmul(start, half))
        before0 = vmul(vload(share, 0), half)
        before1 = vmul(vload(share, LANES), half)
        for i in range(2 * LANES):
            # a range that the card takes away nearly whole says nothing but roundings
            share[i] = 0.5 / share[i] if share[i] > LEAST else 0.0
        share0, share1 = vload(share, 0), vload(share, LANES)
        low = zero
        j = 0
        while j < after:
            end = int(group_end[c, j])
            after0, after1 = before0, before1
            for k in range(j, end):
                h = int(order[c, k])
                after0 = vadd(after0, vload(lanes, h * LANES))
                after1 = vadd(after1, vload(lanes, (hands + h) * LANES))
            weight = vadd(vmul(vsub(after0, before0), share0), vmul(vsub(after1, before1), share1))
            high = vadd(low, weight)
            vstore(place, 0, vmul(vadd(low, high), vsplat(lanes, 0.5)))
            low = high
            for i in range(LANES):
                place[i] = min(max(place[i], np.float32(0)), np.float32(1))
                above = np.float32(1) - place[i]
                bent = 1 - (math.sqrt(above + ROUND) - ROOT) * SCALE
                place[i] = (1 - fine) * place[i] + fine * bent
            axis = vload(place, 0)
            middle0, middle1 = vadd(before0, after0), vadd(before1, after1)
            for k in range(j, end):
                h = int(order[c, k])
                a, b = held[h, 0] * LANES, held[h, 1] * LANES
                clash0 = vadd(vload(running, a), vload(running, b))
                a, b = a + MOST_CARDS * LANES, b + MOST_CARDS * LANES
                clash1 = vadd(vload(running, a), vload(running, b))
                # a player's values come from the opponent's range
                vstore(scratch, at_values + h * LANES, vsub(middle1, clash1))
                vstore(scratch, at_values + (hands + h) * LANES, vsub(middle0, clash0))
                vstore(scratch, at_axis + (h * cards + c) * LANES, axis)
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
                    at = (p * hands + h) * LANES
                    vstore(scratch, at_values + at, vsub(vload(scratch, at_values + at), clash))
            before0, before1 = after0, after1
            j = end
        value = zero
        for k in range(after):
            h = int(order[c, k])
            gain = vload(scratch, at_values + h * LANES)
            value = vadd(value, vmul(vload(lanes, h * LANES), gain))
            at = at_leads + h * LANES
            vstore(scratch, at, vadd(vload(scratch, at), gain))
            at = (hands + h) * LANES
            gain = vload(scratch, at_values + at)
            vstore(scratch, at_leads + at, vadd(vload(scratch, at_leads + at), gain))
        vstore(place, 0, value)
        for i in range(LANES):
            worth[c, i] = place[i] * 4 * share[i] * share[LANES + i]
    for i in range(LANES):
        mean = np.float32(0)
        for c in range(cards):
            mean += worth[c, i] / cards
        for c in range(cards):
            worth[c, i] -= mean
    chance = np.float32(1 / (cards - 4 + 2))
    per_pair = np.float32(1 / (cards - 4))
    counts = np.zeros(LANES * 2 * knots, np.float32)  # [lane, K, 2]
    sums, squares = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32)
    at_knot, high_share = np.zeros(LANES, np.int32), np.zeros(LANES, np.float32)
    steps, last = np.float32(knots - 1), np.int32(knots - 2)
    for h in range(hands):
        counts[:] = 0
        sums[:] = 0
        squares[:] = 0
        for c in range(cards):
            at = at_axis + (h * cards + c) * LANES
            if scratch[at] < 0:
                continue
            for i in range(LANES):
                axis = scratch[at + i]
                sums[i] += axis
                squares[i] += axis * axis
                axis *= steps
                knot = min(np.int32(axis), last)
                at_knot[i] = 2 * (knot + i * knots)
                high_share[i] = axis - np.float32(knot)
            for i in range(count):
                k, high, w = at_knot[i], high_share[i], worth[c, i]
                low = np.float32(1) - high
                counts[k] += low
                counts[k + 1] += low * w
                counts[k + 2] += high
                counts[k + 3] += high * w
        for i in range(count):
            for k in range(knots):
                for w in range(2):
                    hist[i, h, k, w] = counts[2 * (i * knots + k) + w] * chance
            mean = sums[i] * chance
            places[i, 0, h] = mean
            places[i, 1, h] = math.sqrt(max(squares[i] * chance - mean * mean, np.float32(0)))
            for p in range(2):
                other = 1 - p
                lead[i, p, h] = scratch[at_leads + (p * hands + h) * LANES + i] * per_pair
                clash = whole[(other * MOST_CARDS + held[h, 0]) * LANES + i]
                clash += whole[(other * MOST_CARDS + held[h, 1]) * LANES + i]
                own = lanes[(other * hands + h) * LANES + i]
                mass[i, p, h] = total[other * LANES + i] - clash + own
