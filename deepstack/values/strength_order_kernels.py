"""Numba kernel of the mean place of hands over run-outs; ``strengths`` says what it is for."""

from __future__ import annotations

import numpy as np

from deepstack.cards.strength_kernels import BLOCKED, HANDS, ROW, fill_board_strengths
from deepstack.run.jit import kernel


@kernel
def add_places(tables, boards, strongest, out):
    """Add to ``out`` int64 [1326] the places of live hands on complete boards uint8 [B, 5].

    A place is how many live hands are weaker plus how many are at most as strong.
    """
    strengths = np.empty(HANDS, np.int16)
    row = np.empty(ROW, np.int16)
    weaker = np.empty(strongest + 2, np.int32)
    for b in range(len(boards)):
        fill_board_strengths(tables, boards[b], row, strengths)
        weaker[:] = 0
        for h in range(HANDS):
            weaker[strengths[h] + 1] += 1
        weaker[BLOCKED + 1] = 0
        for s in range(strongest + 1):
            weaker[s + 1] += weaker[s]
        for h in range(HANDS):
            s = strengths[h]
            if s != BLOCKED:
                out[h] += weaker[s] + weaker[s + 1]
