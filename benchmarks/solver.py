"""The solver on the trees that others were measured on: speed, time to 0.5 %, threads, memory.

    python -m benchmarks.solver [--quick] [--flop] [TREE …]

The trees and the peer's figures are those of postflop-solver (Rust), the fastest open solver, in
its fastest build: native instructions and its own allocator, two cores of an AMD EPYC (Zen 5). They
were measured on another machine of this class, so the benchmark prints yardsticks first, by which
machines can be compared, and ratios: above 1 we are faster, or smaller.

A *slot* is one action of one hand at one decision node, an *iteration* updates both players, and
time is that of iterations alone, the least of several repeats: of the processor on one thread, of
the wall clock on two, which therefore need a machine that does nothing else. Where it does, the
gain "by processor" says what two threads would give if both had a core: it counts what they cost
each other in caches and memory, but not that one may wait for the other. ``--quick`` repeats less
and leaves out the large trees; ``--flop`` solves the flop to 0.5 % too, which takes minutes.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.strength import best_seconds, yardstick_ns
from deepstack.game.spots import Spot
from deepstack.run.errors import InputError
from deepstack.solver.engine import Engine
from deepstack.solver.rules import DEFAULT, UpdateRule, update_rule
from deepstack.tree.menus import load_menu

PEER_RULE = update_rule("dcfr", gamma=3.0, restart=4)
TARGET = 0.005  # of the pot
CHECK_EVERY = 10  # iterations, as the peer's counts are
REPEAT = 0.05  # seconds that a repeat lasts about: short ones find a moment without disturbance
LEAST = 8  # iterations in a repeat, since every call averages one strategy more than it updates
BUDGET, QUICK_BUDGET = 3.0, 0.5  # seconds for the repeats of one figure; there are two at least
WARM_UP = 3  # iterations before the clock runs

RIVER, TURN, FLOP = "Td9d6hQc2s", "Td9d6hQc", "Td9d6h"
POT = 200
PA, HPA = "100%, a", "50%, 100%, a"
# Nanoseconds a slot that we allow ourselves on one thread, and those that we aim at.
GOALS = {RIVER: (2.0, 1.5), TURN: (3.0, 2.5), FLOP: (3.5, 3.0)}


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree, its size, and what the peer needs for it.

    ``nodes`` are decisions, chances, folds and showdowns. Of the peer: megabytes in float32,
    milliseconds an iteration on one thread and on two (None: no gain), iterations to 0.5 %.
    """

    board: str
    stack: int
    bets: str
    nodes: tuple[int, int, int, int]
    slots: int
    megabytes: float
    milliseconds: float
    milliseconds_two: float | None
    iterations: int

    @property
    def nanoseconds(self) -> float:
        return self.milliseconds * 1e6 / self.slots

    @property
    def seconds(self) -> float:
        """The peer's time to 0.5 % of the pot."""
        return self.iterations * self.milliseconds / 1e3


TREES = {
    "river_pa": Tree(RIVER, 900, PA, (12, 0, 10, 11), 34_592, 0.4, 0.103, None, 80),
    "river_hpa": Tree(RIVER, 900, HPA, (32, 0, 30, 31), 99_452, 0.9, 0.290, None, 100),
    "river_pa_deep": Tree(RIVER, 19_900, PA, (20, 0, 18, 19), 60_536, 0.6, 0.161, None, 230),
    "river_hpa_deep": Tree(RIVER, 19_900, HPA, (368, 0, 366, 367), 1_189_100, 9.3, 2.92, None, 370),
    "turn_pa": Tree(TURN, 900, PA, (1_740, 11, 1_258, 1_776), 4_800_768, 38.8, 18.7, 11.0, 90),
    "turn_hpa": Tree(TURN, 900, HPA, (6_560, 31, 5_118, 6_576), 18_945_888, 149.7, 72.1, 39.8, 110),
    "turn_pa_deep": Tree(
        TURN, 19_900, PA, (4_820, 19, 3_954, 4_848), 14_357_184, 113.1, 49.9, 28.3, 530
    ),
    "flop_pa": Tree(
        FLOP, 900, PA, (109_912, 1_343, 72_396, 124_323), 299_531_904, 2_408, 1_330, 712, 90
    ),
}
QUICK = ("river_pa", "river_hpa_deep", "turn_pa")


def engine_of(tree: Tree, rule: UpdateRule, threads: int = 1) -> Engine:
    spot = Spot(tree.board, POT, tree.stack)
    raises = load_menu(tree.bets).raises
    return Engine(spot.state(), spot.ranges(), raises, rule, threads=threads)


# ---- yardsticks


def yardsticks() -> dict[str, float]:
    """A loop, a matrix product (on all cores) and a copy of 128 MB, which never change."""
    rng = np.random.default_rng(1)
    left, right = rng.random((2, 1024, 1024), np.float32)
    product = np.empty_like(left)
    source = np.ones(2**25, np.float32)
    target = np.empty_like(source)
    return {
        "loop_ns": yardstick_ns(),
        "product_gflops": 2 * 1024**3 / best_seconds(np.matmul, left, right, out=product) / 1e9,
        "copy_gb_per_second": 2 * source.nbytes / best_seconds(np.copyto, target, source) / 1e9,
    }


# ---- speed


class Timing(NamedTuple):
    """Seconds an iteration, of the processor in all threads and of the wall clock."""

    processor: float
    wall: float


def time_iterations(run: Callable[[int], object], budget: float) -> Timing:
    """The least of the repeats that fit into some seconds."""
    run(WARM_UP)
    start = time.perf_counter()
    run(1)
    count = max(LEAST, int(REPEAT / (time.perf_counter() - start)))
    timings: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(timings) < 2 or time.perf_counter() - start < budget:
        wall, processor = time.perf_counter(), time.process_time()
        run(count)
        timings.append((time.process_time() - processor, time.perf_counter() - wall))
    return Timing(*(min(column) / count for column in zip(*timings, strict=True)))


def time_on_two_threads(tree: Tree, rule: UpdateRule, budget: float) -> Timing:
    """Seconds an iteration and situation: of one on two threads, or on the river of two at once."""
    if tree.board != RIVER:
        return time_iterations(engine_of(tree, rule, threads=2).run, budget)
    pair = [engine_of(tree, rule) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:

        def run(count: int) -> None:
            list(pool.map(lambda engine: engine.run(count), pair))

        both = time_iterations(run, budget)
    return Timing(both.processor / 2, both.wall / 2)


def time_to_target(tree: Tree, budget: float) -> tuple[int, float]:
    """Iterations of the default rule until a check finds 0.5 % of the pot, and their seconds.

    Where it is short, the same iterations are repeated without checks.
    """
    engine, spent = engine_of(tree, DEFAULT), 0.0
    while True:
        start = time.thread_time()
        engine.run(CHECK_EVERY)
        spent += time.thread_time() - start
        if engine.exploitability() <= TARGET * POT:
            break
    count = engine.iterations
    for _ in range(int(min(20, budget / spent))):
        engine = engine_of(tree, DEFAULT)
        start = time.thread_time()
        engine.run(count)
        spent = min(spent, time.thread_time() - start)
    return count, spent


# ---- memory


def resident_bytes(peak: bool = False) -> int | None:
    """Memory that this process holds now, or held at most since ``forget_peak``."""
    key = "VmHWM:" if peak else "VmRSS:"
    try:
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def forget_peak() -> None:
    with suppress(OSError):  # then the peak is that of the whole process
        Path("/proc/self/clear_refs").write_text("5")


def memory_of(name: str) -> str:
    """Bytes by which this process grew for a tree, in the end and at most, as text.

    Small trees are counted many times, so that the free memory they may find does not matter.
    """
    engine = engine_of(TREES["river_pa"], DEFAULT)
    engine.run(1)  # loads the kernels
    engine.exploitability()
    copies = int(max(1, min(100, 100 / TREES[name].megabytes)))
    gc.collect()
    forget_peak()
    before = resident_bytes() or 0
    engines = []
    for _ in range(copies):
        engine = engine_of(TREES[name], DEFAULT)
        engine.run(1)
        engine.exploitability()
        engines.append(engine)
    gc.collect()
    grown, most = resident_bytes() or 0, resident_bytes(peak=True) or 0
    return f"{(grown - before) // copies} {(most - before) // copies}"


def measured_memory(name: str) -> tuple[int, int] | None:
    """What a fresh process needs for a tree, in the end and at most; None where unknown."""
    if resident_bytes() is None:
        return None
    command = [sys.executable, "-m", "benchmarks.solver", "--memory", name]
    folder = Path(__file__).resolve().parents[1]
    answer = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    grown, most = map(int, answer.stdout.split())
    return grown, most


# ---- all together


def measure(name: str, quick: bool = False, target: bool = True) -> dict[str, float]:
    """The figures of one tree."""
    tree, budget = TREES[name], QUICK_BUDGET if quick else BUDGET
    start = time.perf_counter()
    engine = engine_of(tree, DEFAULT)
    figures = {"build_seconds": time.perf_counter() - start}
    counts = engine.counts()
    found = (counts.decisions, counts.chances, counts.folds, counts.showdowns, counts.slots)
    figures["slots"] = counts.slots
    figures["same_tree"] = float(found == (*tree.nodes, tree.slots))
    figures["memory_estimate_mb"] = engine.memory.total / 2**20
    timing = time_iterations(engine.run, budget)
    one = timing.processor
    del engine
    gc.collect()
    two = time_on_two_threads(tree, DEFAULT, budget)
    gc.collect()
    alike = one
    if DEFAULT != PEER_RULE:
        alike = time_iterations(engine_of(tree, PEER_RULE).run, budget).processor
        gc.collect()
    figures |= {
        "milliseconds": one * 1e3,
        "ns_per_slot": one * 1e9 / tree.slots,
        "milliseconds_peer_rule": alike * 1e3,
        "ns_per_slot_peer_rule": alike * 1e9 / tree.slots,
        "milliseconds_two_threads": two.wall * 1e3,
        "gain_of_two_threads": timing.wall / two.wall,
        "gain_by_processor": 2 * timing.processor / two.processor,
        "speed_over_peer": tree.milliseconds / (one * 1e3),
        "speed_over_peer_same_rule": tree.milliseconds / (alike * 1e3),
        "speed_over_peer_two_threads": (tree.milliseconds_two or tree.milliseconds)
        / (two.wall * 1e3),
    }
    if target:
        count, seconds = time_to_target(tree, budget)
        figures |= {
            "iterations_to_target": count,
            "seconds_to_target": seconds,
            "time_over_peer": tree.seconds / seconds,
        }
    grown = measured_memory(name)
    if grown is not None:
        figures["memory_mb"], figures["memory_peak_mb"] = (size / 2**20 for size in grown)
    return figures


def run(
    names: list[str] | None = None, quick: bool = False, flop_target: bool = False
) -> dict[str, dict[str, float]]:
    """Figures by tree, and ``yardsticks``."""
    chosen = names or [name for name in TREES if not quick or name in QUICK]
    unknown = [name for name in chosen if name not in TREES]
    if unknown:
        raise InputError(f"tree {unknown[0]!r}: expected one of {', '.join(TREES)}")
    figures = {"yardsticks": yardsticks()}
    print(_yardstick_text(figures["yardsticks"]), flush=True)
    for name in chosen:
        figures[name] = measure(name, quick, flop_target or TREES[name].board != FLOP)
        print(_progress_text(name, figures[name]), flush=True)
    return figures


def _yardstick_text(found: dict[str, float]) -> str:
    return (
        f"yardsticks: loop {found['loop_ns']:.3f} ns an element, matrix product "
        f"{found['product_gflops']:.0f} GFLOP/s, copy {found['copy_gb_per_second']:.1f} GB/s"
    )


def _progress_text(name: str, found: dict[str, float]) -> str:
    return f"{name:15} {found['milliseconds']:10.3f} ms an iteration"


def report(figures: dict[str, dict[str, float]]) -> None:
    """Print the figures beside the peer's."""
    rows = {name: row for name, row in figures.items() if name in TREES}
    unknown = float("nan")

    def table(
        title: str,
        columns: tuple[str, ...],
        cells: Callable[[Tree, dict[str, float]], list[float]],
        digits: int = 2,
    ) -> None:
        print(f"\n{title}\n{'':15}" + "".join(f"{column:>11}" for column in columns))
        for name, row in rows.items():
            numbers = [f"{number:.{digits}f}" for number in cells(TREES[name], row)]
            print(f"{name:15}" + "".join(f"{number.replace('nan', '-'):>11}" for number in numbers))

    table(
        "one thread, nanoseconds a slot by our default rule and by the peer's",
        ("ms", "default", "its rule", "peer", "ratio", "its rule", "must", "aim"),
        lambda tree, row: [
            row["milliseconds"],
            row["ns_per_slot"],
            row["ns_per_slot_peer_rule"],
            tree.nanoseconds,
            row["speed_over_peer"],
            row["speed_over_peer_same_rule"],
            *GOALS[tree.board],
        ],
    )
    table(
        "two threads (river: two situations at once), milliseconds an iteration and situation",
        ("ours", "peer", "ratio", "our gain", "by proc.", "peer gain"),
        lambda tree, row: [
            row["milliseconds_two_threads"],
            tree.milliseconds_two or tree.milliseconds,
            row["speed_over_peer_two_threads"],
            row["gain_of_two_threads"],
            row["gain_by_processor"],
            tree.milliseconds / (tree.milliseconds_two or tree.milliseconds),
        ],
    )
    table(
        f"to {TARGET:.1%} of the pot by our default rule, one thread",
        ("iterations", "peer", "ms", "peer", "ratio"),
        lambda tree, row: [
            row.get("iterations_to_target", unknown),
            tree.iterations,
            1e3 * row.get("seconds_to_target", unknown),
            1e3 * tree.seconds,
            row.get("time_over_peer", unknown),
        ],
        digits=1,
    )
    table(
        "memory, MB: as estimated, as measured in the end and at most",
        ("estimate", "real", "peak", "peer", "real/est.", "real/peer"),
        lambda tree, row: [
            row["memory_estimate_mb"],
            row.get("memory_mb", unknown),
            row.get("memory_peak_mb", unknown),
            tree.megabytes,
            row.get("memory_mb", unknown) / row["memory_estimate_mb"],
            row.get("memory_mb", unknown) / tree.megabytes,
        ],
    )
    different = [name for name, row in rows.items() if not row["same_tree"]]
    print(f"\ntrees with other nodes or slots than the peer's: {', '.join(different) or 'none'}")


def main(arguments: list[str] | None = None) -> None:
    given = arguments or []
    names = [word for word in given if not word.startswith("--")]
    if "--memory" in given:
        print(memory_of(names[0]))
        return
    try:
        figures = run(names or None, quick="--quick" in given, flop_target="--flop" in given)
    except InputError as error:
        sys.exit(str(error))
    report(figures)


if __name__ == "__main__":
    main(sys.argv[1:])
