"""CFR-D in a game small enough to check it: the first betting round is the trunk.

N. Burch's thesis (2017), sections 5.2.3 and 5.3. The trunk runs for some iterations; at several of
them the strategies of the subgames are found again with a gadget from the mean values, and the
whole strategy is measured. The trunk goes on as if nothing had been measured.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.cfrd import CfrD, SubgameSolve
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR, update_rule
from deepstack.tabular.sequence_form import solve_lp
from deepstack.tree.betting import limit_raises

UNIT = "iterations"


def steps(config: DictConfig) -> int:
    """Iterations of the trunk."""
    return int(max(config.iterations))


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Value of seat 0 and exploitability in chips by iterations of the trunk, and bytes."""
    marks = [int(n) for n in config.iterations]
    if marks != sorted(set(marks)) or marks[0] < 1:
        raise InputError(f"iterations {marks}: expected numbers that rise")
    game, rule = load_game(str(config.game)), update_rule(str(config.algorithm))
    root, ranges = initial_state(game), np.ones((2, game.hands))
    inner = SubgameSolve(rule, int(config.subgame_iterations))
    final = SubgameSolve(rule, int(config.gadget_iterations))
    solver = CfrD(root, ranges, limit_raises, inner)
    whole = Engine(root, ranges, limit_raises, CFR, dtype=np.float64, merge=False)
    value, exploitability = {}, {}
    for before, after in pairwise([0, *marks]):
        for _ in range(before, after):
            solver.run(1)
            progress.update(1)
        solver.complete(whole, final)
        value[str(after)] = float(whole.expected_values()[0])
        exploitability[str(after)] = whole.exploitability()
    trunk, subgame = solver.bytes
    merged = Engine(root, ranges, limit_raises, CFR, dtype=np.float64)
    return {
        "game": game.name,
        "exact_value": solve_lp(game).values[0],
        "value": value,
        "exploitability": exploitability,
        "memory": {"trunk": trunk, "subgame": subgame, "whole": merged.memory.total},
    }
