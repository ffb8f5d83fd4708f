"""Random situations at the start or the end of a betting round: a board, a pot, two ranges.

The published recipe (DeepStack, supplement; Burch 2017 §3.2): boards are uniform; the chips each
player has put in come from intervals, an interval chosen uniformly and then a whole number in it;
a range is drawn by R(S, p), which splits the hands in order of strength into halves and the
probability between them at a uniform point, until single hands remain.

Where ranges come from is a *family*. Families are mixed by weights and every situation says which
one it is from, since what a network learns depends on it:

- ``random``: the published draw;
- ``play``: what lookaheads ask their leaves (``data_gen.play``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from data_gen.places import Place, live_count
from data_gen.play import play_ranges
from data_gen.random_ranges import random_ranges
from deepstack.game.definition import Game
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Situations:
    """N situations on boards of C cards, with H live hands in ascending order of their index.

    Attributes:
        boards: uint8 [N, C] cards, ascending.
        contributions: int64 [N] chips that each player has put in.
        ranges: float64 [N, 2, H], each row of sum 1.
        source: uint8 [N] the family of the ranges, as its place among the configured ones.
    """

    boards: npt.NDArray[np.uint8]
    contributions: npt.NDArray[np.int64]
    ranges: npt.NDArray[np.float64]
    source: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.boards)


RangeFamily = Callable[[Place, Ints, Ints, np.random.Generator], tuple[Ints, Ints, Floats]]
"""Draws ranges [N, 2, H] of live hands for boards [N, C] and contributions [N].

Returns boards and contributions too: a family may have its own to go with its ranges."""


def _random(
    place: Place, boards: Ints, contributions: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints, Floats]:
    """The published family; the pot plays no part."""
    return boards, contributions, random_ranges(place.game, boards, rng)


RANGE_FAMILIES: dict[str, RangeFamily] = {"random": _random, "play": play_ranges}
"""Families by name. One more is a function of the same form."""


def draw_situations(
    place: Place,
    count: int,
    intervals: Sequence[Sequence[int]],
    families: Mapping[str, float],
    rng: np.random.Generator,
    per_board: int = 1,
) -> Situations:
    """Situations of one kind.

    Args:
        intervals: ``[low, high)`` in chips that each player has put in; the last one may be closed
            by giving ``high`` one more.
        families: names of ``RANGE_FAMILIES`` with the weights by which they are mixed.
        per_board: so many situations in a row share a board and a family.
    """
    game, groups = place.game, -(-count // per_board)
    boards = np.repeat(draw_boards(game, place.round, groups, rng), per_board, axis=0)[:count]
    contributions = draw_contributions(intervals, count, rng)
    weights = np.array(list(families.values()), np.float64)
    chosen = rng.choice(len(weights), groups, p=weights / weights.sum()).astype(np.uint8)
    source = np.repeat(chosen, per_board)[:count]
    ranges = np.empty((count, 2, live_count(game, boards.shape[1])))
    for number, name in enumerate(families):
        rows = np.flatnonzero(source == number)
        if len(rows):
            drawn = RANGE_FAMILIES[name](place, boards[rows], contributions[rows], rng)
            boards[rows], contributions[rows], ranges[rows] = drawn
    return Situations(boards, contributions, ranges, source)


def check_mixture(intervals: object, families: object, stack: int) -> None:
    """Refuse intervals of chips and range families that nothing can be drawn from."""
    expected = f"expected [[low, high), …] in chips with 0 < low < high <= {stack}"
    if not isinstance(intervals, Sequence) or isinstance(intervals, str) or not intervals:
        raise InputError(f"pots={intervals}: {expected}")
    for interval in intervals:
        pair = isinstance(interval, Sequence) and len(interval) == 2
        if not pair or not all(type(chips) is int for chips in interval):
            raise InputError(f"pots={interval}: {expected}")
        if not 0 < interval[0] < interval[1] <= stack:
            raise InputError(f"pots={list(interval)}: {expected}")
    if not isinstance(families, Mapping) or not families:
        raise InputError(f"ranges={families}: expected weights of range families")
    for name, weight in families.items():
        if name not in RANGE_FAMILIES:
            known = ", ".join(RANGE_FAMILIES)
            raise InputError(f"range family {name!r}: expected one of {known}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight >= 0:
            raise InputError(f"ranges.{name}={weight}: expected a weight of at least 0")
    if not sum(families.values()) > 0:
        raise InputError(f"ranges={dict(families)}: expected a positive weight")


def draw_boards(
    game: Game, round_: int, count: int, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Uniform boards [N, C] of a round, cards ascending."""
    cards = game.board_size(round_)
    shuffled = rng.permuted(np.tile(np.arange(len(game.deck)), (count, 1)), axis=1)
    return np.sort(shuffled[:, :cards], axis=1).astype(np.uint8)


def draw_contributions(
    intervals: Sequence[Sequence[int]], count: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Chips each player has put in [N]: a uniform interval ``[low, high)``, then uniform in it."""
    chosen = rng.integers(len(intervals), size=count)
    low, high = np.array(intervals, np.int64)[chosen].T
    return rng.integers(low, high)
