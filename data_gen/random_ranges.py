"""The published family of ranges: R(S, p) over hands in order of strength (Burch 2017 §3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from data_gen.places import live_count
from data_gen.range_kernels import split_ranges
from data_gen.strengths import hand_strengths
from deepstack.game.definition import Game

Ints = npt.NDArray[np.integer]


def random_ranges(game: Game, boards: Ints, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """R(S, 1) for both players, drawn apart, on boards [N, C]: [N, 2, H].

    Hands of equal strength come in random order, so that their numbering leaves no trace.
    """
    count, hands = len(boards), live_count(game, boards.shape[1])
    order = np.empty((count, 2, hands), np.int64)
    strengths: npt.NDArray = np.zeros(0)
    for number, board in enumerate(boards):
        if number == 0 or (board != boards[number - 1]).any():
            strengths = hand_strengths(game, board)
        for player in (0, 1):
            shuffled = rng.permutation(hands)
            order[number, player] = shuffled[np.argsort(strengths[shuffled], kind="stable")]
    draws = rng.random((2 * count, hands - 1))
    ranges = np.empty((2 * count, hands))
    split_ranges(order.reshape(2 * count, hands), draws, ranges)
    return ranges.reshape(count, 2, hands)


def split_range_plain(order: Sequence[int], draws: Sequence[float]) -> npt.NDArray[np.float64]:
    """R(S, 1) over hands [H] in order of strength, as it is written: the meaning of the kernel.

    >>> split_range_plain([1, 0, 2], [0.25, 0.5]).tolist()
    [0.375, 0.25, 0.375]
    """
    result = np.zeros(len(order))
    remaining = iter(draws)

    def assign(hands: Sequence[int], share: float) -> None:
        if len(hands) == 1:
            result[hands[0]] = share
            return
        half = len(hands) // 2
        weaker = share * next(remaining)
        assign(hands[:half], weaker)
        assign(hands[half:], share - weaker)

    assign(order, 1.0)
    return result
