"""Rates of convergence in the matrix games of Burch's thesis (2017), tables 4.1 and 4.2."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from omegaconf import DictConfig

from deepstack.experiments.curves import Curve, Floats, iterations_of, recorded, slopes, thin
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress
from deepstack.tabular.matrix import (
    CFR,
    CFR_PLUS,
    OPTIMISTIC,
    History,
    Rule,
    blotto,
    pennies,
    random_matrix,
    rock_paper_scissors,
)
from deepstack.tabular.matrix import run as play

UNIT = "iterations"
RULES = {"cfr": CFR, "cfr_plus": CFR_PLUS, "optimistic": OPTIMISTIC}
GAMES: dict[str, Callable[[], Floats]] = {
    "pennies": pennies,
    "rps": rock_paper_scissors,
    "blotto": blotto,
}
RANDOM = "random"


def steps(config: DictConfig) -> int:
    """Iterations of all rules in all games."""
    copies = {RANDOM: config.random.games}
    counts = [iterations_of(config, game) * copies.get(game, 1) for game in config.games]
    return len(config.rules) * sum(counts)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Slopes and curves by game and rule, in units of the matrix."""
    games = {}
    for name in config.games:
        iterations = iterations_of(config, name)
        matrices = make_games(name, config.random, config.seed)
        found = {}
        for label in config.rules:
            progress.update(0, game=name, rule=label)
            started = time.perf_counter()
            curve = follow(matrices, named_rule(label), iterations, config.threads, progress)
            found[label] = {
                "slopes": slopes(curve, shown=config.shown.get(name)),
                "curve": thin(curve),
                "seconds": round(time.perf_counter() - started, 1),
            }
        games[name] = {
            "iterations": iterations,
            "shown": min(int(config.shown.get(name, iterations)), iterations),
            "copies": len(matrices),
            "rules": found,
        }
    return {"games": games}


def named_rule(name: str) -> Rule:
    if name not in RULES:
        raise InputError(f"rule {name!r}: expected one of {', '.join(RULES)}")
    return RULES[name]


def make_games(name: str, random: DictConfig, seed: int) -> list[Floats]:
    """One game, or a number of random ones."""
    if name == RANDOM:
        rng = np.random.default_rng(seed)
        return [random_matrix(rng, random.size) for _ in range(random.games)]
    if name not in GAMES:
        raise InputError(f"matrix game {name!r}: expected one of {', '.join([*GAMES, RANDOM])}")
    return [GAMES[name]()]


def follow(
    matrices: list[Floats], rule: Rule, iterations: int, threads: int, progress: Progress
) -> Curve:
    """Self-play of a rule: the mean of its exploitabilities over the games."""
    points = recorded(iterations, every=1)

    def one(matrix: Floats) -> History:
        return play(matrix, rule, iterations, points.tolist())

    average, current = np.zeros(len(points)), np.zeros(len(points))
    with ThreadPoolExecutor(threads) as pool:  # the kernel lets go of the interpreter's lock
        for history in pool.map(one, matrices):
            average += history.average / len(matrices)
            current += history.current / len(matrices)
            progress.update(iterations)
    return Curve(points, average, current)
