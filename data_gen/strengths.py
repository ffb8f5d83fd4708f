"""The order of hands by strength, on which random ranges are drawn.

On the last round it is that of the showdown, before it that of the mean percentile over run-outs,
which for hold'em is E[HS] against a uniform hand but for card removal.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from data_gen.places import live_hands
from data_gen.range_kernels import add_percentiles
from deepstack.cards.notation import hand_cards
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import STRONGEST, board_strengths
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]

RUN_OUTS = 200
"""Boards over which the strength of a hand before the river is averaged, where there are more."""
PREFLOP_RUN_OUTS = 4000


def hand_strengths(game: Game, board: Ints) -> Floats | Ints:
    """A number for every live hand [H] that grows with its strength on a board."""
    hands = live_hands(game, board)
    if len(board) == game.board_size(game.rounds - 1):
        if game.showdown == "five-card" and game.hole_cards == 2:
            return board_strengths(np.asarray(board, np.uint8))[hands]
        held = hand_cards(len(game.deck), game.hole_cards)[hands].astype(np.int64)
        shown = np.tile(np.asarray(board, np.int64), (len(hands), 1))
        return strengths_of(game, np.concatenate([held, shown], axis=1))
    if game.showdown != "five-card" or game.hole_cards != 2:
        raise InputError(f"strength before the last round of {game.name}: expected hold'em")
    return preflop_strengths() if len(board) == 0 else _mean_percentiles(board)[hands]


def _mean_percentiles(board: Ints) -> npt.NDArray[np.float64]:
    """Mean percentile [1326] over run-outs to the river; blocked hands at zero.

    After the turn all rivers, after the flop a fixed selection of run-outs, the same number of
    times each card as far as it goes.
    """
    left = np.setdiff1d(np.arange(52), board)
    run_outs = np.array(list(combinations(left, 5 - len(board))))
    if len(run_outs) > RUN_OUTS:
        run_outs = run_outs[np.random.default_rng(0).permutation(len(run_outs))[:RUN_OUTS]]
    boards = np.concatenate([np.tile(board, (len(run_outs), 1)), run_outs], axis=1)
    total, seen = _percentile_sums(boards)
    return total / np.maximum(seen, 1)


def _percentile_sums(boards: Ints) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Sums over boards [B, 5] of every hand's percentile among the live ones, and their counts."""
    total, seen = np.zeros(1326), np.zeros(1326, np.int64)
    add_percentiles(board_strengths(boards.astype(np.uint8)), STRONGEST, total, seen)
    return total, seen


@lru_cache(maxsize=1)
def preflop_strengths() -> npt.NDArray[np.float64]:
    """Mean percentile of every hand [1326] over a fixed selection of boards, equal within a class.

    A class is a pair of ranks with or without a common suit.
    """
    rng = np.random.default_rng(0)
    boards = np.array([rng.permutation(52)[:5] for _ in range(PREFLOP_RUN_OUTS)])
    total, seen = _percentile_sums(boards)
    classes = hand_classes().class_of_hand
    return (np.bincount(classes, total) / np.bincount(classes, seen))[classes]
