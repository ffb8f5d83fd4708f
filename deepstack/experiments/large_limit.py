"""Solving a whole limit game of millions of information sets to a given exploitability.

[2-4] hold'em is the main small benchmark of M. Johanson's thesis (2016, chapters 3 and 4), Rhode
Island hold'em the largest game of Burch's (2017, chapter 4) that one machine holds. Seconds are
those of the iterations, without the measurements on the way; memory is what the engine says it
takes, and what the process had at its peak.
"""

from __future__ import annotations

import time
from typing import Any

from omegaconf import DictConfig

from deepstack.experiments.curves import shorten
from deepstack.experiments.machine import peak_memory, processor
from deepstack.experiments.tree_slopes import make_rule, whole_game
from deepstack.game.size import game_size
from deepstack.run.progress import Progress
from deepstack.solver.stopping import Check, Stop, run_until

UNIT = "iterations"
MEGABYTE = 2**20


def steps(config: DictConfig) -> None:
    """Nobody knows how many iterations a target takes."""
    return None


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Iterations, seconds, memory, value and the way there, in chips; mbb/g where that is said."""
    rule = make_rule(config.rule)
    whole_game("kuhn", rule, config.dtype, 1).run(1)  # compiles the kernels, or loads them
    started = time.perf_counter()
    engine = whole_game(config.game, rule, config.dtype, config.threads)
    engine.exploitability()  # touches all memory, and the kernels of threads
    building = time.perf_counter() - started
    game = engine.game
    checks: list[Check] = []

    def note(check: Check) -> None:
        checks.append(check)
        progress.update(0, exploitability=f"{check.exploitability:.5f}")

    run_until(
        Stop(iterations=config.iterations, target=config.target),
        engine.run,
        engine.exploitability,
        done=0,
        seconds=0.0,
        on_check=note,
        on_run=progress.update,
    )
    waited = time.perf_counter() - started - building
    last, peak = checks[-1], peak_memory()
    return {
        "game": game.name,
        "big_blind": game.big_blind,
        "infosets_canonical": str(game_size(game).infosets_canonical),
        "exploitability": last.exploitability,
        "exploitability_mbb": 1000 * last.exploitability / game.big_blind,
        "iterations": last.iterations,
        "seconds": round(last.seconds, 2),
        "seconds_with_checks": round(waited, 2),
        "seconds_to_build": round(building, 2),
        "value": engine.expected_values(),
        "memory_mb": round(engine.memory.total / MEGABYTE, 1),
        "peak_memory_mb": None if peak is None else round(peak / MEGABYTE, 1),
        "machine": processor(),
        "threads": engine.threads,
        "curve": {
            "iterations": [check.iterations for check in checks],
            "average": shorten([check.exploitability for check in checks]),
            "seconds": [round(check.seconds, 2) for check in checks],
        },
    }
