"""Ranges at the root of a solve: what can be dealt, and how likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards
from deepstack.game.definition import Game
from deepstack.game.state import State
from deepstack.run.errors import InputError


def check_ranges(root: State, ranges: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Ranges [2, hands] with blocked hands at exactly zero; refuses what cannot be dealt."""
    game = root.game
    given = np.array(ranges, dtype=np.float64)
    if given.shape != (2, game.hands):
        raise InputError(f"ranges of shape {given.shape}: expected (2, {game.hands})")
    if not np.isfinite(given).all() or given.min() < 0:
        raise InputError("ranges: expected finite weights of at least 0")
    given[:, blocked(root.board, len(game.deck), game.hole_cards)] = 0.0
    for seat in (0, 1):
        if not given[seat].any():
            raise InputError(f"range of seat {seat + 1}: no hand is possible on this board")
    if joint_mass(game, given) <= 0:
        raise InputError("ranges cannot coexist: every pair of hands shares a card")
    return given


def joint_mass(game: Game, ranges: npt.NDArray[np.floating]) -> float:
    """Total weight of the pairs of hands that do not clash, for ranges [2, hands]."""
    held = hand_cards(len(game.deck), game.hole_cards)
    both = ranges.sum(axis=1).prod()
    same = float((ranges[0] * ranges[1]).sum())
    if game.hole_cards == 1:
        return float(both) - same
    sums = np.zeros((2, len(game.deck)))
    for player in (0, 1):
        for column in (0, 1):
            np.add.at(sums[player], held[:, column], ranges[player])
    return max(float(both - (sums[0] * sums[1]).sum()) + same, 0.0)
