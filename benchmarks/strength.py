"""Speed of hand strength on one thread, next to evaluators that others wrote.

    python -m benchmarks.strength

Every figure is the best of several runs. The yardstick is a loop that never changes, so that
figures from two machines can be compared; eval7 and phevaluator are left out if not installed.
They take one hand a call, as Python programs use them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from deepstack.cards.notation import RANKS, SUITS
from deepstack.cards.strength import HANDS, board_strengths, strength

SEED = 1
RANDOM_HANDS = 1_000_000
PEER_HANDS = 50_000
BOARDS = 2_000

ROWS = (  # figure, what it is
    ("seven_card_array", "7 cards, array of random hands"),
    ("seven_card_array_unchecked", "7 cards, array of random hands, check=False"),
    ("six_card_array", "6 cards, array of random hands"),
    ("five_card_array", "5 cards, array of random hands"),
    ("river_boards", "all 1,081 hands of random 5-card boards"),
    ("turn_boards", "all 1,128 hands of random 4-card boards"),
    ("flop_boards", "all 1,176 hands of random 3-card boards"),
    ("eval7", "eval7, 7 cards, one hand a call"),
    ("phevaluator", "phevaluator, 7 cards, one hand a call"),
)


@njit(cache=True)
def _sum(numbers, times):
    """One addition waits for the one before it: the clock, and nothing else."""
    total = 0.0
    for _ in range(times):
        for number in numbers:
            total += number
    return total


def best_seconds(task: Callable[..., object], *args: Any, repeats: int = 15, **more: Any) -> float:
    """The shortest of several runs of a call, after one that compiles and warms up."""
    task(*args, **more)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task(*args, **more)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def yardstick_ns() -> float:
    """Nanoseconds an element to sum 32 KB of float64, which stay in the first-level cache."""
    numbers = np.ones(4096)
    return best_seconds(_sum, numbers, 250) / (250 * len(numbers)) * 1e9


def random_hands(count: int, hands: int) -> npt.NDArray[np.uint8]:
    """Random hands of different cards: uint8 [hands, count]."""
    rng = np.random.default_rng(SEED)
    cards = np.empty((hands, count), np.uint8)
    for start in range(0, hands, 50_000):
        part = cards[start : start + 50_000]
        part[:] = rng.random((len(part), 52), np.float32).argsort(axis=1)[:, :count]
    return cards


def peers() -> dict[str, tuple[Callable[[list[int]], tuple[Any, ...]], Callable[..., int]]]:
    """The installed evaluators by name: how to make arguments of a hand's cards, and what to call.

    phevaluator numbers cards as we do.
    """
    found: dict[str, Any] = {}
    with suppress(ImportError):
        eval7: Any = import_module("eval7")
        cards = [eval7.Card(rank + suit) for rank in RANKS for suit in SUITS]
        found["eval7"] = (lambda hand: ([cards[c] for c in hand],), eval7.evaluate)
    with suppress(ImportError):
        phevaluator: Any = import_module("phevaluator")
        found["phevaluator"] = (tuple, phevaluator.evaluate_cards)
    return found


def _each(evaluate: Callable[..., int], arguments: list[tuple[Any, ...]]) -> list[int]:
    return [evaluate(*hand) for hand in arguments]


def run() -> dict[str, float]:
    """Millions of hands a second by name of ROWS, ``yardstick_ns``, and ratios to the peers."""
    figures = {"yardstick_ns": yardstick_ns()}
    hands = random_hands(7, RANDOM_HANDS)
    out = np.empty(RANDOM_HANDS, np.int16)
    for name, count in (("five", 5), ("six", 6), ("seven", 7)):
        cards = np.ascontiguousarray(hands[:, :count])
        seconds = best_seconds(strength, cards, out=out)
        figures[f"{name}_card_array"] = RANDOM_HANDS / seconds / 1e6
    seconds = best_seconds(strength, hands, check=False, out=out)
    figures["seven_card_array_unchecked"] = RANDOM_HANDS / seconds / 1e6

    table = np.empty((BOARDS, HANDS), np.int16)
    for name, count in (("flop", 3), ("turn", 4), ("river", 5)):
        boards = np.ascontiguousarray(hands[:BOARDS, :count])
        seconds = best_seconds(board_strengths, boards, out=table)
        figures[f"{name}_boards"] = BOARDS * comb(52 - count, 2) / seconds / 1e6

    for name, (prepare, evaluate) in peers().items():
        prepared = [prepare(hand) for hand in hands[:PEER_HANDS].tolist()]
        seconds = best_seconds(_each, evaluate, prepared, repeats=5)
        figures[name] = PEER_HANDS / seconds / 1e6
        figures[f"seven_card_array_over_{name}"] = figures["seven_card_array"] / figures[name]
        figures[f"river_boards_over_{name}"] = figures["river_boards"] / figures[name]
    return figures


def main() -> None:
    figures = run()
    found = [name for name in ("eval7", "phevaluator") if name in figures]
    print(f"{'M hands/s':>52}" + "".join(f"{'/ ' + name:>16}" for name in found))
    for name, what in ROWS:
        if name in figures:
            ratios = "".join(f"{figures[name] / figures[peer]:16.1f}" for peer in found)
            print(f"{what:43}{figures[name]:9.2f}{ratios}")
    print(f"yardstick: {figures['yardstick_ns']:.3f} ns an element (sum of 32 KB, one thread)")


if __name__ == "__main__":
    main()
