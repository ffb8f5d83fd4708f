"""CFR+ on Leduc hold'em, iterations a second on one thread, next to open_spiel's C++ solver.

    python -m benchmarks.leduc

Iterations alone, without exploitability checks, in processor time; the best of several runs. Both
solve the whole game in float64, every suit apart; the row of merged suits says what we gain by
solving boards alike once. open_spiel is left out if it is not installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR_PLUS
from deepstack.tree.betting import limit_raises

ITERATIONS, PEER_ITERATIONS = 2_000, 50
REPEATS = 7
MUST, AIM = 30, 100  # times open_spiel's speed

ROWS = (
    ("ours", "float64, every board apart"),
    ("ours_merged", "float64, suits merged"),
    ("ours_float32", "float32, suits merged"),
    ("open_spiel", "open_spiel, C++ CFRPlusSolver"),
)


def iterations_per_second(run: Callable[[int], object], count: int) -> float:
    """The best of several runs of ``count`` iterations, after a short one that warms up."""
    run(5)
    seconds = []
    for _ in range(REPEATS):
        start = time.thread_time()
        run(count)
        seconds.append(time.thread_time() - start)
    return count / min(seconds)


def leduc(dtype: npt.DTypeLike, merge: bool) -> Engine:
    game = load_game("leduc")
    ranges = np.ones((2, game.hands))
    root = initial_state(game)
    return Engine(root, ranges, limit_raises, CFR_PLUS, dtype=dtype, merge=merge)


def run() -> dict[str, float]:
    """Iterations a second by name of ROWS, and ratios to open_spiel."""
    figures = {
        "ours": iterations_per_second(leduc(np.float64, False).run, ITERATIONS),
        "ours_merged": iterations_per_second(leduc(np.float64, True).run, ITERATIONS),
        "ours_float32": iterations_per_second(leduc(np.float32, True).run, ITERATIONS),
    }
    with suppress(ImportError):
        pyspiel: Any = import_module("pyspiel")
        solver = pyspiel.CFRPlusSolver(pyspiel.load_game("leduc_poker"))

        def iterate(count: int) -> None:
            for _ in range(count):
                solver.evaluate_and_update_policy()

        theirs = iterations_per_second(iterate, PEER_ITERATIONS)
        figures |= {f"{name}_over_open_spiel": speed / theirs for name, speed in figures.items()}
        figures["open_spiel"] = theirs
    return figures


def main() -> None:
    figures = run()
    print(f"{'iterations/s':>47}{'µs':>10}{'/ open_spiel':>14}")
    for name, what in ROWS:
        if name in figures:
            speed, ratio = figures[name], figures.get(f"{name}_over_open_spiel")
            text = "" if ratio is None else f"{ratio:14.1f}"
            print(f"{what:35}{speed:12,.0f}{1e6 / speed:10.1f}{text}")
    print(f"must {MUST}, aim {AIM} times open_spiel")


if __name__ == "__main__":
    main()
