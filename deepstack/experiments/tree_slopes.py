"""Rates of convergence in poker games small enough to measure after every iteration.

N. Burch, "Time and Space: Why Imperfect Information Games are Hard" (2017), chapter 4: tables 4.1
and 4.2 (CFR and CFR+, average and current strategies), 4.3 (alternating and simultaneous updates in
Leduc) and 4.4 and 4.5 (optimistic updates). As there, values passed up a tree use the strategy
after the update (section 4.1.5).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from omegaconf import DictConfig

from deepstack.experiments.curves import Curve, iterations_of, recorded, slopes, thin
from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.run.progress import Progress
from deepstack.solver.engine import Engine
from deepstack.solver.rules import UpdateRule, update_rule
from deepstack.tree.betting import limit_raises

UNIT = "iterations"


def steps(config: DictConfig) -> int:
    """Iterations of all rules in all games."""
    return len(config.rules) * sum(iterations_of(config, game) for game in config.games)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Slopes and curves by game and rule, in chips of the game."""
    games = {}
    for name in config.games:
        iterations, found = iterations_of(config, name), {}
        for label, choices in config.rules.items():
            rule = make_rule(choices)
            progress.update(0, game=name, rule=label)
            started = time.perf_counter()
            curve = follow(
                whole_game(name, rule, config.dtype, config.threads),
                iterations,
                config.every,
                progress,
            )
            found[label] = {
                "slopes": slopes(curve, config.every),
                "curve": thin(curve),
                "seconds": round(time.perf_counter() - started, 1),
            }
        games[name] = {"iterations": iterations, "rules": found}
    return {"games": games}


def make_rule(choices: DictConfig) -> UpdateRule:
    """An update rule from a configuration: ``algorithm`` and what differs from it."""
    changes = {str(key): value for key, value in choices.items() if key != "algorithm"}
    return update_rule(choices.algorithm, **changes)


def whole_game(name: str, rule: UpdateRule, dtype: str, threads: int) -> Engine:
    """The engine of a limit game from its first action, all hands equally likely."""
    game = load_game(name)
    ranges = np.ones((2, game.hands))
    return Engine(
        initial_state(game), ranges, limit_raises, rule, dtype=np.dtype(dtype), threads=threads
    )


def follow(engine: Engine, iterations: int, every: int, progress: Progress | None = None) -> Curve:
    """Run an engine from its start and measure both strategies on the way."""
    points = recorded(iterations, every)
    average, current = np.empty(len(points)), np.empty(len(points))
    for n, t in enumerate(points.tolist()):
        more = t - engine.iterations
        engine.run(more)
        average[n], current[n] = engine.exploitability(), engine.exploitability(current=True)
        if progress is not None:
            progress.update(more)
    return Curve(points, average, current)
