"""Numba kernel of exhaustive roll-outs; ``rollouts.py`` has the plain function that defines it."""

from __future__ import annotations

import numpy as np

from deepstack.cards.strength_kernels import HANDS, ROW, fill_board_strengths
from deepstack.run.jit import kernel

ZERO, ONE, TWO = np.int16(0), np.int16(1), np.int16(2)
PART = 16_000  # boards whose counts, two at most for each, fit into 16 bits


@kernel
def count_half_wins(tables, boards, hand, counts):
    """2 · (boards on which ``hand`` wins) + (boards on which it ties) against every hand.

    boards: uint8 [n, 3..5], none of which holds a card of the hand; counts: int32 [1326], added
    to. A board that blocks an opponent's hand counts as won, two, because blocked hands have
    strength 0: every hand that is not blocked from the start meets the same number of such boards,
    so the caller subtracts one number and no step here has to ask.
    """
    row = np.empty(ROW, np.int16)
    strengths = np.empty(HANDS, np.int16)
    part = np.empty(HANDS, np.int16)
    for start in range(0, len(boards), PART):
        part[:] = 0
        for b in range(start, min(start + PART, len(boards))):
            fill_board_strengths(tables, boards[b], row, strengths)
            own = strengths[hand]
            for h in range(HANDS):
                part[h] += TWO if strengths[h] < own else (ONE if strengths[h] == own else ZERO)
        for h in range(HANDS):
            counts[h] += part[h]
