"""Values at folds and showdowns for sixteen reach vectors at once.

A hand's value at a fold is the opponent's reach that does not clash with it; at a showdown, the
reach it beats minus the reach that beats it. With hands in order of strength both need only sums:
over all hands, and over the hands that hold each card (inclusion–exclusion; Johanson 2016, §2.4).
Here sixteen reach vectors stand side by side, ``lanes[hand * 16 + lane]``, so that every step is
one vector instruction.

For a hand h = {a, b} with tie group G, let W(before) be the reach of weaker unblocked hands and
W(after) that of hands weaker or tied. Wins minus losses are W(before) + W(after) − (all unblocked).
Sums that start at minus half of their total absorb the last term, and h's own reach cancels.

``tests/solver/test_terminals.py`` holds this to the O(H²) definition.
"""

from __future__ import annotations

from deepstack.run.jit import kernel
from deepstack.solver.simd import LANES, vadd, vload, vmul, vsplat, vstore, vsub


@kernel
def sum_cards(lanes, sums, live, lists, at_live, at_lists, cards, per_card, share):
    """Reach of the hands that hold each live card, into ``sums[card]``, and of all, at its end.

    ``lists`` names the hands of each live card; ``share`` is one over the cards of a hand.
    """
    total = vsplat(lanes, 0.0)
    for i in range(cards):
        first = at_lists + i * per_card
        a = b = c = d = vsplat(lanes, 0.0)
        k = 0
        while k + 4 <= per_card:
            a = vadd(a, vload(lanes, int(lists[first + k]) * LANES))
            b = vadd(b, vload(lanes, int(lists[first + k + 1]) * LANES))
            c = vadd(c, vload(lanes, int(lists[first + k + 2]) * LANES))
            d = vadd(d, vload(lanes, int(lists[first + k + 3]) * LANES))
            k += 4
        while k < per_card:
            a = vadd(a, vload(lanes, int(lists[first + k]) * LANES))
            k += 1
        held = vadd(vadd(a, b), vadd(c, d))
        vstore(sums, int(live[at_live + i]) * LANES, held)
        total = vadd(total, held)
    vstore(sums, len(sums) - LANES, vmul(total, vsplat(lanes, share)))


@kernel
def fold_values(lanes, out, sums, card1, card2, at, hands, own):
    """All that does not clash: total − card a − card b + ``own`` × the hand itself.

    ``own`` is 1 for hands of two cards, which both sums contain, and 0 for hands of one.
    """
    total, again = vload(sums, len(sums) - LANES), vsplat(lanes, own)
    for h in range(hands):
        clash = vadd(vload(sums, int(card1[at + h])), vload(sums, int(card2[at + h])))
        value = vadd(vsub(total, clash), vmul(again, vload(lanes, h * LANES)))
        vstore(out, h * LANES, value)


@kernel
def showdown_values(
    lanes, out, sums, live, lists, ties, at_live, at_lists, cards, per_card, group_end, hands
):
    """Wins minus losses of every hand; hands are in order of strength.

    ``group_end[h]`` is the end of the tie group that starts at hand h; ``ties`` the same within the
    hands of each card, as a place in its list.
    """
    half = vsplat(lanes, -0.5)
    before = vmul(vload(sums, len(sums) - LANES), half)
    h = 0
    while h < hands:
        end = int(group_end[h])
        after = before
        for j in range(h, end):
            after = vadd(after, vload(lanes, j * LANES))
        middle = vadd(before, after)
        for j in range(h, end):
            vstore(out, j * LANES, middle)
        before = after
        h = end
    for i in range(cards):
        first = at_lists + i * per_card
        before = vmul(vload(sums, int(live[at_live + i]) * LANES), half)
        k = 0
        while k < per_card:
            end = int(ties[first + k])
            after = before
            for j in range(first + k, first + end):
                after = vadd(after, vload(lanes, int(lists[j]) * LANES))
            middle = vadd(before, after)
            for j in range(first + k, first + end):
                place = int(lists[j]) * LANES
                vstore(out, place, vsub(vload(out, place), middle))
            before = after
            k = end
