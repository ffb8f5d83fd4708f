"""Many subgames at once on tensors, next to the kernels that solve one at a time.

    python -m benchmarks.batched [--device DEVICE] [--quick]

Rivers of one tree shape with random boards and ranges: subgames × iterations a second, of the
iterations alone, in batches of several sizes. Above 1 the tensors are faster than the kernels,
which solve the same subgames one at a time. On a processor the ratio is given twice: on one thread,
in processor time, and on all cores, by the wall clock, for which the machine has to do nothing
else. There every core has an engine of its own, of one thread: several threads of one tensor
operation wait for each other, which costs far more than it gains where others use the machine.
Other devices are compared with the kernels on all cores. Next to it, what it takes to set up a
subgame, and on the turn, with leaves that cost nothing to ask, what is left beside them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from deepstack.cards.notation import blocked
from deepstack.game.spots import Spot
from deepstack.game.state import State
from deepstack.solver.batched import BatchedEngine, BatchedLeaves
from deepstack.solver.engine import Engine
from deepstack.solver.rules import DEFAULT
from deepstack.tree.menus import load_menu

POT, STACK = 200, 900
RAISES = load_menu("fcpa").raises
SIZES, QUICK_SIZES, TURN_SIZES = (1, 16, 64, 256), (1, 16), (1, 16)
SECONDS, QUICK_SECONDS = 3.0, 0.5  # that a figure is measured for, about
PARTS = 5  # of that time, of which the best counts
CORES = os.cpu_count() or 1

Clock = Callable[[], float]


class Nothing:
    """Leaves that are worth nothing, and cost nothing to ask."""

    def values(self, leaves: BatchedLeaves, reach: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(reach)


def situations(count: int, cards: int, seed: int = 1) -> tuple[list[State], npt.NDArray]:
    """States with random boards, and random ranges [count, 2, 1326] that sum to 1."""
    rng = np.random.default_rng(seed)
    boards = [rng.permutation(52)[:cards].tolist() for _ in range(count)]
    ranges = rng.random((count, 2, 1326))
    for row, board in zip(ranges, boards, strict=True):
        row[:, blocked(board)] = 0.0
    ranges /= ranges.sum(axis=2, keepdims=True)
    return [Spot(board, POT, STACK).state() for board in boards], ranges


def rate(run: Callable[[int], object], subgames: int, seconds: float, clock: Clock) -> float:
    """Subgames × iterations a second: the best of several parts of the time."""
    run(2)
    start = clock()
    run(2)
    count = max(2, int(seconds / PARTS / (clock() - start) * 2))
    best = 0.0
    for _ in range(PARTS):
        start = clock()
        run(count)
        best = max(best, subgames * count / (clock() - start))
    return best


def kernels(states: Sequence[State], ranges: npt.NDArray, seconds: float) -> tuple[float, float]:
    """The rates of the kernels: on one thread, and on all cores, each with subgames of its own."""
    pairs = zip(states, ranges, strict=True)
    engines = [Engine(state, pair, RAISES, DEFAULT) for state, pair in pairs]
    one = rate(engines[0].run, 1, seconds, time.thread_time)
    with ThreadPoolExecutor(CORES) as pool:

        def run(iterations: int) -> None:
            list(pool.map(lambda engine: engine.run(iterations), engines))

        return one, rate(run, len(engines), seconds, time.perf_counter)


class Measured(NamedTuple):
    """Rates of a batch on one thread (None beside a processor) and as fast as it can be, and the
    milliseconds that it takes to set up a subgame."""

    one: float | None
    all: float
    setup: float


def batched(
    states: Sequence[State], ranges: npt.NDArray, seconds: float, device: torch.device
) -> Measured:
    def make() -> BatchedEngine:
        return BatchedEngine(states, ranges, RAISES, DEFAULT, device=device, evaluator=Nothing())

    start = time.perf_counter()
    engine = make()
    wait(device)
    setup = (time.perf_counter() - start) / len(states) * 1e3
    if device.type != "cpu":

        def run_there(iterations: int) -> None:
            engine.run(iterations)
            wait(device)

        return Measured(None, rate(run_there, len(states), seconds, time.perf_counter), setup)
    one = rate(engine.run, len(states), seconds, time.thread_time)
    engines = [engine, *(make() for _ in range(CORES - 1))]
    with ThreadPoolExecutor(CORES, initializer=torch.set_num_threads, initargs=(1,)) as pool:

        def run_here(iterations: int) -> None:
            list(pool.map(lambda engine: engine.run(iterations), engines))

        every = rate(run_here, CORES * len(states), seconds, time.perf_counter)
    return Measured(one, every, setup)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def run(
    device: str = "cpu", sizes: Sequence[int] = SIZES, seconds: float = SECONDS
) -> dict[str, float]:
    """Rates by name: ``kernels_one``, ``kernels``, and of ``river_B`` and ``turn_B`` the same, with
    ``_over_kernels`` and ``_setup_ms``."""
    states, ranges = situations(max(*sizes, 2 * CORES), 5)
    one, every = kernels(states[: 2 * CORES], ranges[: 2 * CORES], seconds)
    figures = {"kernels_one": one, "kernels": every}
    turns = situations(max(TURN_SIZES), 4)
    cases = [("river", size, (states, ranges)) for size in sizes]
    cases += [("turn", size, turns) for size in TURN_SIZES]
    for kind, size, (roots, weights) in cases:
        measured = batched(roots[:size], weights[:size], seconds, torch.device(device))
        name = f"{kind}_{size}"
        figures[name], figures[f"{name}_setup_ms"] = measured.all, measured.setup
        if measured.one is not None:
            figures[f"{name}_one"] = measured.one
        if kind == "river":
            figures[f"{name}_over_kernels"] = measured.all / every
            if measured.one is not None:
                figures[f"{name}_one_over_kernels"] = measured.one / one
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true")
    options, _ = parser.parse_known_args()
    sizes, seconds = (QUICK_SIZES, QUICK_SECONDS) if options.quick else (SIZES, SECONDS)
    torch.set_num_threads(1)
    figures = run(options.device, sizes, seconds)
    print(f"{'subgames × iterations/s':25}{'one thread':>12}{'/ kernels':>11}", end="")
    print(f"{options.device if options.device != 'cpu' else 'all cores':>12}", end="")
    print(f"{'/ kernels':>11}{'set-up ms':>11}")
    names = ["kernels", *(f"river_{size}" for size in sizes), *(f"turn_{n}" for n in TURN_SIZES)]
    columns = (("_one", 12, ",.0f"), ("_one_over_kernels", 11, ".2f"), ("", 12, ",.0f"))
    columns += (("_over_kernels", 11, ".2f"), ("_setup_ms", 11, ".2f"))
    for name in names:
        line = f"{name.replace('_', ', batches of '):25}"
        for suffix, width, style in columns:
            figure = figures.get(name + suffix)
            line += f"{'' if figure is None else format(figure, style):>{width}}"
        print(line)


if __name__ == "__main__":
    main()
