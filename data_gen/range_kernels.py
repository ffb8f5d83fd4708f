"""Kernels of random ranges: the recursive draw R(S, p) (DeepStack, supplement), and percentiles."""

from __future__ import annotations

import numpy as np

from deepstack.run.jit import kernel


@kernel
def split_ranges(order, draws, out):
    """Fill ranges ``out`` [B, H] of sum 1 over hands in ``order`` [B, H], weakest first.

    ``draws`` [B, H - 1] are uniform in (0, 1), one a split, used in depth-first order, the weaker
    half first.
    """
    hands = order.shape[1]
    begins = np.empty(64, np.int64)
    ends = np.empty(64, np.int64)
    shares = np.empty(64, np.float64)
    for row in range(len(order)):
        begins[0], ends[0], shares[0] = 0, hands, 1.0
        waiting, used = 1, 0
        while waiting:
            waiting -= 1
            begin, end, share = begins[waiting], ends[waiting], shares[waiting]
            while end - begin > 1:
                middle = begin + (end - begin) // 2
                weaker = share * draws[row, used]
                used += 1
                begins[waiting], ends[waiting] = middle, end
                shares[waiting] = share - weaker
                waiting += 1
                end, share = middle, weaker
            out[row, order[row, begin]] = share


@kernel
def add_percentiles(strengths, strongest, total, seen):
    """Add every hand's percentile among the live hands of each board, ties half.

    ``strengths`` [B, hands] are at most ``strongest``, 0 where a hand is blocked; ``total`` and
    ``seen`` [hands] take the sums and how often a hand was live.
    """
    boards, hands = strengths.shape
    below = np.empty(strongest + 2, np.int64)  # hands weaker than a strength
    for b in range(boards):
        below[:] = 0
        live = 0
        for h in range(hands):
            if strengths[b, h] > 0:
                below[strengths[b, h] + 1] += 1
                live += 1
        for s in range(1, strongest + 2):
            below[s] += below[s - 1]
        for h in range(hands):
            s = strengths[b, h]
            if s > 0:
                total[h] += (below[s] + below[s + 1]) / (2 * live)
                seen[h] += 1
