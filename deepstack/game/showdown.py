"""Who wins when cards are shown: the showdown rules that a game definition may name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deepstack.cards.small_strength import pair_strengths, three_card_strengths
from deepstack.cards.strength import strength
from deepstack.game.definition import Game


def showdown_strengths(
    game: Game,
    hands: Sequence[tuple[int, ...]],
    board: tuple[int, ...],
    folded: Sequence[bool],
) -> list[int]:
    """Strength of each seat's hand on a full board, higher is better; 0 for folded seats."""
    seats = [seat for seat, out in enumerate(folded) if not out]
    cards = np.array([hands[seat] + board for seat in seats], dtype=np.int64)
    shown = strengths_of(game, cards)
    result = [0] * len(hands)
    for seat, value in zip(seats, shown.tolist(), strict=True):
        result[seat] = value
    return result
