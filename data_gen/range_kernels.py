"""The recursive draw of random ranges (DeepStack, supplement: R(S, p)), for many ranges at once."""

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
