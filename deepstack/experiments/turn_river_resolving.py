"""What solving the river again costs in hold'em: random turns, solved once and solved again.

A turn spot with its rivers is solved to the end: the one-shot solution. Then, for every betting
line of the turn and every river card, each seat solves the river again from what it would carry:
its own range and the value of a best response that the turn's solution leaves every hand of the
opponent. The new river strategies take the old ones' place, and both whole strategies are measured
by the same exact best response. The leaf is the true river, so the difference is the re-solving's.

Spots are drawn with a seed: four cards, a stack of 1 to 10 pots (uniform in its logarithm), and two
ranges by R(S, p) of DeepStack's supplement over hands in order of their expected strength. Every
spot is kept in a file of its own under ``spots_in``, so a run that was stopped goes on.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig

from deepstack.cards.notation import STANDARD, blocked
from deepstack.cards.strength import board_strengths
from deepstack.game.spots import Spot
from deepstack.resolve.gadgets import Cfrd
from deepstack.resolve.subgames import copy_strategy, dealt, entered_by, subgames
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically
from deepstack.run.progress import Progress
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.rules import DEFAULT, UpdateRule, update_rule
from deepstack.solver.stopping import Stop, parse_target, run_until
from deepstack.tree.betting import Raises
from deepstack.tree.menus import load_menu

UNIT = "rivers"
RIVERS = 48
POT = 1000  # chips, so that rounding of bets to whole chips does not show
Floats = npt.NDArray[np.float64]


def steps(config: DictConfig) -> int:
    """River cards of all spots."""
    return RIVERS * int(config.spots)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Mean and worst cost of re-solving in per cent of the pot, and a row for every spot."""
    if config.spots < 1:
        raise InputError(f"spots={config.spots}: expected at least 1")
    settings = {str(key): value for key, value in config.items() if key not in NOT_OF_A_SPOT}
    rows = []
    for number in range(config.spots):
        file = Path(config.spots_in) / f"{number}.json"
        row = _kept(file, settings)
        if row is None:
            row = measure(number, config, progress)
            kept = {"settings": settings, "row": row}
            write_atomically(file, json.dumps(kept, indent=2) + "\n")
        else:
            progress.update(RIVERS)
        rows.append(row)
    costs = [row["cost"] for row in rows]
    return {
        "mean_cost": float(np.mean(costs)),
        "worst_cost": float(np.max(costs)),
        "spots": rows,
    }


NOT_OF_A_SPOT = ("spots", "result", "method", "spots_in")


def _kept(file: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The row of a spot that was measured before with the same settings."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = isinstance(kept, dict) and kept.get("settings") == settings
    return kept["row"] if same else None


def measure(number: int, config: DictConfig, progress: Progress | None = None) -> dict[str, Any]:
    """Solve one spot and solve its rivers again; exploitability in per cent of the pot."""
    spot = random_spot(np.random.default_rng([config.seed, number]))
    raises = load_menu(str(config.bets)).raises
    started = time.perf_counter()
    whole = solve_turn(spot, raises, str(config.target), int(config.iterations))
    solved = time.perf_counter()
    one_shot = whole.exploitability()
    named = config.river_algorithm
    rule = DEFAULT if named is None else update_rule(str(named))
    resolve_rivers(whole, raises, rule, int(config.river_iterations), progress)
    resolved = whole.exploitability()
    return {
        "board": STANDARD.format(spot.cards),
        "stack_to_pot": float(spot.stack) / float(spot.pot),
        "iterations": whole.iterations,
        "one_shot": 100 * one_shot / POT,
        "resolved": 100 * resolved / POT,
        "cost": 100 * (resolved - one_shot) / POT,
        "seconds": round(time.perf_counter() - started, 2),
        "seconds_of_the_turn": round(solved - started, 2),
    }


def random_spot(rng: np.random.Generator) -> Spot:
    """A turn with a stack of 1 to 10 pots and two random ranges."""
    board = tuple(int(card) for card in rng.choice(len(STANDARD), 4, replace=False))
    stack = round(POT * 10 ** float(rng.uniform(0.0, 1.0)))
    order = by_strength(board)
    return Spot(board, POT, stack, random_range(order, rng), random_range(order, rng))


def by_strength(board: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Hands [H] that a turn board leaves, from the weakest on, by mean rank over the rivers."""
    rivers = np.setdiff1d(np.arange(len(STANDARD)), board)
    boards = np.concatenate([np.tile(board, (len(rivers), 1)), rivers[:, None]], axis=1)
    strengths = board_strengths(boards).astype(np.float64)  # [48, 1326], blocked hands 0
    ordered = np.sort(strengths, axis=1)
    ranks = np.zeros(strengths.shape[1])
    for row, sorted_row in zip(strengths, ordered, strict=True):
        left, right = (np.searchsorted(sorted_row, row, side) for side in ("left", "right"))
        ranks += np.where(row > 0, left + right, 0)  # ties share a rank
    live = np.flatnonzero(~blocked(board))
    return live[np.argsort(ranks[live], kind="stable")]


def random_range(order: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """R(S, 1): probability is split at random between the weaker and the stronger half, and so on.

    ``order`` [H] are hands in order of strength; the range [1326] sums to 1.
    """
    weights = np.zeros(1326)
    pieces = [(0, len(order), 1.0)]
    while pieces:
        begin, end, mass = pieces.pop()
        if end - begin == 1:
            weights[order[begin]] = mass
            continue
        middle, weaker = (begin + end) // 2, float(rng.uniform(0.0, mass))
        pieces += [(middle, end, mass - weaker), (begin, middle, weaker)]
    return weights


def solve_turn(spot: Spot, raises: Raises, target: str, iterations: int) -> Engine:
    """The spot with its rivers, boards apart, solved to a target."""
    whole = Engine(spot.state(), spot.ranges(), raises, DEFAULT, merge=False)
    stop = Stop(iterations=iterations, target=parse_target(target, POT))
    measure = whole.exploitability
    run_until(stop, whole.run, measure, done=0, seconds=0.0, on_check=lambda check: None)
    return whole


def resolve_rivers(
    whole: Engine,
    raises: Raises,
    rule: UpdateRule,
    iterations: int,
    progress: Progress | None = None,
) -> None:
    """Solve every river of a solved turn again, for one seat and then the other.

    The new strategies take the place of the old ones in the whole tree, after all that is carried
    out of the old ones was read.
    """
    parts = sorted(subgames(whole), key=lambda part: part.board)
    promised = {
        (part.line, part.board, seat): whole.line_values(part.line, part.board, 1 - seat, BEST)
        for part in parts
        for seat in (0, 1)
    }
    done = 0
    for part in parts:
        if progress is not None:
            progress.update(part.board - done)
            done = part.board
        for seat in (0, 1):
            mass = part.reach[seat].sum()
            if mass <= 0:
                continue  # we never come here, and owe nothing
            # a range of sum 1, so that rare lines do not run out of float32's exponents
            engine = entered_by(part, seat, raises, rule, scale=1 / mass, dtype=np.float32)
            values = promised[part.line, part.board, seat] / mass
            live = dealt(whole, part, 1 - seat)
            engine.run(iterations, Cfrd(1 - seat, values, live))
            copy_strategy(engine, whole, part, (seat,), back=True)
    if progress is not None:
        progress.update(RIVERS - done)
