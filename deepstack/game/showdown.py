"""Who wins when cards are shown: the showdown rules that a game definition may name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deepstack.cards.small_strength import pair_strengths, three_card_strengths
from deepstack.cards.strength import strength
from deepstack.game.definition import Game


def strengths_of(game: Game, cards: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Strengths of full hands, hole and board cards together: [..., k] to int64 [...].

    Higher is stronger and equal means tie, under the game's showdown rule.
    """
    if game.showdown == "pairs":
        return pair_strengths(cards, game.deck)
    if game.showdown == "three-card":
        return three_card_strengths(cards, game.deck)
    return strength(cards).astype(np.int64)


def showdown_strengths(
    game: Game,
    hands: Sequence[tuple[int, ...]],
    board: tuple[int, ...],
    folded: Sequence[bool],
) -> list[int]:
    """Strength of each seat's hand on a full board; 0 for folded seats."""
    seats = [seat for seat, out in enumerate(folded) if not out]
    shown = strengths_of(game, np.array([hands[seat] + board for seat in seats]))
    result = [0] * len(hands)
    for seat, value in zip(seats, shown.tolist(), strict=True):
        result[seat] = value
    return result
