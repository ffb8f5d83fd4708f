"""Leaves valued by the rest of the game, solved.

A function of the ranges, as a value network is: every question solves all that lies beyond the
leaves from scratch. (Going on from the last question's solution would be quicker and converge too,
but then the values of the iterations are not those that the next lookahead meets: a hand that the
opponent did not bring in some iteration is not defended against by a solution from scratch.)
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import Leaves
from deepstack.solver.rules import DCFR_PLUS, UpdateRule
from deepstack.tree.betting import Raises

LEAST = 1e-9
"""Least weight of a hand as a share of the largest: ranges must be able to coexist."""


class SolvedLeaves:
    """The later rounds of a lookahead, with the menu of the lookahead, solved at every question.

    Args:
        root: the lookahead's root.
        raises: the menu.
        iterations: of every solve.
        rule: of every solve.
        merge: treat boards alike that differ by a relabelling of suits; all ranges of the
            lookahead must then be symmetric.
    """

    def __init__(
        self,
        root: State,
        raises: Raises,
        *,
        iterations: int = 100,
        rule: UpdateRule = DCFR_PLUS,
        merge: bool = False,
    ) -> None:
        self.root, self.raises, self.rule = root, raises, rule
        self.iterations = iterations
        ranges = np.ones((2, root.game.hands))
        self._later = Engine(root, ranges, raises, rule, dtype=np.float64, merge=merge)

    def values(self, leaves: Leaves, reach: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """[2, 1, L, H] of best responses to the solution of the later rounds."""
        if self._later.merged and not self._symmetric(reach[:, 0]):
            raise InputError(
                "leaves with merged boards: expected ranges that are alike in all suits"
            )
        return self._later.solve_onward(reach[:, 0], self.iterations)[:, None]

    def _symmetric(self, reach: npt.NDArray[np.floating]) -> bool:
        """Whether reach [2, L, H] is the same for hands that differ by a relabelling of suits."""
        images = self._later.board_tree[0].symmetries[0]  # [g, H] places
        near = 1e-3 * float(reach.max())  # rounding may part what is alike
        return all(np.allclose(reach[..., image], reach, rtol=1e-3, atol=near) for image in images)

    def card_values(self, state: State, reach: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """[2, S, hands] of S situations at the start of a round."""
        return solve_situations(state, reach, self.raises, self.rule, self.iterations)


def solved_leaves(**settings: object) -> partial[SolvedLeaves]:
    """What makes the evaluator of a lookahead, with some settings (``SolvedLeaves``)."""
    return partial(SolvedLeaves, **settings)  # type: ignore[arg-type]


def solve_situations(
    state: State,
    reach: npt.NDArray[np.floating],
    raises: Raises,
    rule: UpdateRule,
    iterations: int,
) -> npt.NDArray[np.float64]:
    """Counterfactual values [2, S, hands] of situations with ranges [2, S, hands], solved.

    Of best responses to the solution (Burch 2017, Alg. 6): the average strategy of a hand that its
    player never holds says nothing.
    """
    values = np.zeros(reach.shape)
    dead = blocked(state.board, len(state.game.deck), state.game.hole_cards)
    engine: Engine | None = None
    for s in range(reach.shape[1]):
        ranges = np.where(dead, 0.0, reach[:, s])
        ranges[~ranges.any(axis=1)] = 1.0  # nobody comes here with this range: any will do
        ranges = np.where(dead, 0.0, np.maximum(ranges, LEAST * ranges.max(axis=1)[:, None]))
        if engine is None:
            engine = Engine(state, ranges, raises, rule, dtype=np.float64, merge=False)
        else:
            engine.reset(ranges)
        engine.run(iterations)
        found = engine.root_values(BEST)
        for player in (0, 1):
            if np.where(dead, 0.0, reach[1 - player, s]).any():
                values[player, s, engine.board_tree[0].hands[0]] = found[player]
    return values
