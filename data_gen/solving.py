"""Solving random situations at the start of a betting round to the end of the game.

A solve stops at a target exploitability that depends on how deep the stacks are. Iterations needed
differ by a factor of fifty over the published pots (15 with little left behind, 500 at a hundred
pots), so a fixed count would waste most of the time or leave deep situations unsolved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from data_gen.places import live_hands, round_start
from data_gen.situations import Situations
from deepstack.game.definition import Game
from deepstack.game.state import State
from deepstack.solver.cfr_kernels import AVERAGE
from deepstack.solver.engine import Engine
from deepstack.solver.rules import UpdateRule
from deepstack.tree.menus import Menu

LEAST_REACH = 1e-9
"""Least weight of a live hand, as a share of the range's largest. A hand nobody holds still has a
value, and only hands with reach have an average strategy to earn it with."""
FIRST_CHECK = 10
GROWTH = (1.1, 2.0)
"""Bounds of the factor from one check of exploitability to the next."""


@dataclass(frozen=True, slots=True)
class Precision:
    """When a solve is good enough.

    Attributes:
        target: pairs (depth, share of the pot): the exploitability aimed for from this depth on,
            where depth is chips behind divided by the pot. In ascending order, the first at 0.
        iterations: stop after so many whatever was reached.
    """

    target: tuple[tuple[float, float], ...]
    iterations: int

    def of_depth(self, depth: float) -> float:
        """The exploitability aimed for, as a share of the pot.

        >>> Precision(((0.0, 0.002), (25.0, 0.003)), 4000).of_depth(30.0)
        0.003
        """
        return [share for least, share in self.target if depth >= least][-1]


def solve_situations(
    game: Game,
    round_: int,
    situations: Situations,
    menu: Menu,
    rule: UpdateRule,
    precision: Precision,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]:
    """Solve N situations one by one.

    Returns:
        values [N, 2, H]: cfv / pot of the average strategies, live hands ascending; and the
        exploitability reached [N] as a share of the pot.
    """
    values = np.empty_like(situations.ranges)
    exploitability = np.empty(len(situations), np.float32)
    for number in range(len(situations)):
        board, contribution = situations.boards[number], int(situations.contributions[number])
        root = round_start(game, round_, board, contribution)
        solved = solve_one(root, situations.ranges[number], menu, rule, precision)
        values[number], exploitability[number] = solved
    return values, exploitability


def solve_one(
    root: State,
    ranges: npt.NDArray[np.floating],
    menu: Menu,
    rule: UpdateRule,
    precision: Precision,
) -> tuple[npt.NDArray[np.float64], float]:
    """Values [2, H] as shares of the pot and exploitability reached, for ranges [2, H]."""
    full = full_ranges(root, ranges)
    engine = Engine(root, full, menu.raises, rule, dtype=np.float32, merge=False)
    pot = float(root.pot)
    reached = run_to_target(engine, target_chips(root, precision), precision.iterations) / pot
    # the engine keeps hands in order of strength
    order = np.argsort(engine.board_tree[0].hands[0])
    return engine.root_values(AVERAGE)[:, order] / pot, reached


def full_ranges(root: State, ranges: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Ranges [2, H] of live hands as [2, hands of the game], every live hand held a little."""
    live = live_hands(root.game, np.array(root.board, np.int64))
    full = np.zeros((2, root.game.hands))
    full[:, live] = np.maximum(ranges, LEAST_REACH * ranges.max(axis=1, keepdims=True))
    return full


def target_chips(root: State, precision: Precision) -> float:
    """The exploitability aimed for below a root, in chips."""
    pot = float(root.pot)
    return precision.of_depth((root.game.stacks[0] - root.spent[0]) / pot) * pot


def run_to_target(engine: Engine, target: float, most: int) -> float:
    """Iterate to an exploitability in chips, or so many times; what was reached, in chips."""
    engine.run(min(FIRST_CHECK, most))
    while True:
        reached, done = engine.exploitability(), engine.iterations
        following = next_check(done, reached, target, most)
        if following == done:
            return reached
        engine.run(following - done)


def next_check(done: int, reached: float, target: float, most: int) -> int:
    """After how many iterations exploitability is looked at again; ``done`` if never.

    Exploitability falls about with the square of the iterations, which says when the next check,
    at the price of a bit more than an iteration, is worth it.

    Args:
        done: iterations so far.
        reached, target: exploitability, in any unit.
        most: iterations at most.
    """
    if reached <= target or done >= most:
        return done
    low, high = GROWTH
    factor = min(max((reached / target) ** 0.5, low), high)
    return min(max(int(done * factor), done + 5), most)
