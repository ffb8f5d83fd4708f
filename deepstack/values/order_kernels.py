"""Numba kernel of the tables that sort a board's hands; ``inputs.order_tables`` says what they are.

Strengths are small integers, so hands are sorted by counting.
"""

from __future__ import annotations

import numpy as np

from deepstack.run.jit import kernel


@kernel
def fill_order(keys, cards, order, first, last, card_hands, card_first, card_last):
    """Fill the tables of every board.

    Args:
        keys: int64 [B, H] strength of every live hand, at least 0.
        cards: int64 [B, H, 2] the two cards of every hand, counted among the D live cards.
        order: [B, H] out: hands from the weakest to the strongest.
        first, last: [B, H] out: where the tie group of a hand begins and ends in ``order``.
        card_hands: [B, D, D - 1] out: the hands of a card from the weakest to the strongest.
        card_first, card_last: [B, H, 2] out: where the tie group of a hand begins and ends among
            the hands of each of its cards, as places in running sums [D, D] that begin with 0.
    """
    boards, hands = keys.shape
    live = card_hands.shape[1]
    largest = 0
    for b in range(boards):
        for h in range(hands):
            largest = max(largest, keys[b, h])
    counts = np.empty(largest + 2, np.int64)
    held = np.empty(live, np.int64)
    for b in range(boards):
        counts[:] = 0
        for h in range(hands):
            counts[keys[b, h] + 1] += 1
        for k in range(largest + 1):
            counts[k + 1] += counts[k]
        for h in range(hands):
            at = counts[keys[b, h]]
            order[b, at] = h
            counts[keys[b, h]] += 1
        held[:] = 0
        begin = 0
        while begin < hands:
            key = keys[b, order[b, begin]]
            end = begin
            while end < hands and keys[b, order[b, end]] == key:
                h = order[b, end]
                for c in range(2):
                    card_first[b, h, c] = cards[b, h, c] * live + held[cards[b, h, c]]
                end += 1
            for at in range(begin, end):
                h = order[b, at]
                first[b, h], last[b, h] = begin, end
                for c in range(2):
                    card = cards[b, h, c]
                    card_hands[b, card, held[card]] = h
                    held[card] += 1
            for at in range(begin, end):
                h = order[b, at]
                for c in range(2):
                    card_last[b, h, c] = cards[b, h, c] * live + held[cards[b, h, c]]
            begin = end
