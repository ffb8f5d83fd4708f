"""Random situations at the start of a betting round: a board, a pot, two ranges.

The published recipe (DeepStack, supplement; Burch 2017 §3.2): boards are uniform; the chips each
player has put in come from intervals, an interval chosen uniformly and then a whole number in it;
a range is drawn by R(S, p), which splits the hands in order of strength into halves and the
probability between them at a uniform point, until single hands remain.

Where ranges come from is a *family*. Families are mixed by weights and every situation says which
one it is from, since what a network learns depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from data_gen.range_kernels import split_ranges
from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]

RUN_OUTS = 200
"""Boards over which the strength of a hand before the river is averaged, where there are more."""
PREFLOP_RUN_OUTS = 4000


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


RangeFamily = Callable[[Game, Ints, Ints, np.random.Generator], Floats]
"""Draws ranges [N, 2, H] of live hands, from boards [N, C] and contributions [N]."""


def draw_situations(
    game: Game,
    round_: int,
    count: int,
    intervals: Sequence[Sequence[int]],
    families: Mapping[str, float],
    rng: np.random.Generator,
) -> Situations:
    """Situations at the start of a betting round.

    Args:
        intervals: ``[low, high)`` in chips that each player has put in; the last one may be closed
            by giving ``high`` one more.
        families: names of ``RANGE_FAMILIES`` with the weights by which they are mixed.
    """
    boards = draw_boards(game, round_, count, rng)
    contributions = draw_contributions(intervals, count, rng)
    weights = np.array(list(families.values()), np.float64)
    source = rng.choice(len(weights), count, p=weights / weights.sum()).astype(np.uint8)
    ranges = np.empty((count, 2, live_count(game, boards.shape[1])))
    for number, name in enumerate(families):
        rows = np.flatnonzero(source == number)
        if len(rows):
            ranges[rows] = RANGE_FAMILIES[name](game, boards[rows], contributions[rows], rng)
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


def live_count(game: Game, board_cards: int) -> int:
    """Hands that hold no card of a board of so many cards."""
    return int((~blocked(range(board_cards), len(game.deck), game.hole_cards)).sum())


def live_hands(game: Game, board: Ints) -> Ints:
    """Hand indices [H] without a card of the board, ascending."""
    cards = [int(card) for card in board]
    return np.flatnonzero(~blocked(cards, len(game.deck), game.hole_cards))


# ---- the published family


def random_ranges(
    game: Game, boards: Ints, contributions: Ints, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """R(S, 1) for both players, drawn apart: [N, 2, H]. The pot plays no part.

    Hands of equal strength come in random order, so that their numbering leaves no trace.
    """
    count, hands = len(boards), live_count(game, boards.shape[1])
    order = np.empty((count, 2, hands), np.int64)
    for number, board in enumerate(boards):
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


RANGE_FAMILIES: dict[str, RangeFamily] = {"random": random_ranges}
"""Families by name. One more that re-solving meets is a function of the same form."""


# ---- strength


def hand_strengths(game: Game, board: Ints) -> Floats | Ints:
    """A number for every live hand [H] that grows with its strength on a board.

    On the last round the strength at showdown; before it the mean over run-outs of the hand's
    percentile among all hands, which for hold'em is E[HS] against a uniform hand but for card
    removal.
    """
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
    for strengths in board_strengths(boards.astype(np.uint8)):
        live = np.flatnonzero(strengths)
        ordered = np.sort(strengths[live])
        weaker = np.searchsorted(ordered, strengths[live], "left")
        no_stronger = np.searchsorted(ordered, strengths[live], "right")
        total[live] += (weaker + no_stronger) / (2 * len(live))
        seen[live] += 1
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
