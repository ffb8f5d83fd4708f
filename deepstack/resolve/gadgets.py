"""Gadgets: what the opponent may do before a subgame that is solved again.

We know our own range at the root of a subgame and, for every hand of the opponent, a value *c* that
it must not exceed. A gadget gives the opponent a choice at the root, so that a strategy for us that
is good in the gadget game keeps those promises:

- ``Cfrd`` (Burch 2017 §5.2.5): with every hand the opponent either terminates and takes c, or
  follows into the subgame;
- ``MaxMargin`` (Moravčík et al. 2016; Burch §5.4.2): the opponent picks one hand to enter with, and
  values count from c on;
- ``Mixture``: the coin flip of Burch §5.4.2, with probability p a fixed estimate of the opponent's
  range, else another gadget;
- ``Fixed``: no gadget at all, unsafe re-solving with the estimated range.

Values are counterfactual: chips, weighted by our reach and chance, for the opponent's hands [H]
that live on the root's board. A gadget learns by the same rule as the subgame (``Engine.run``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError
from deepstack.solver.gadget_kernels import Gadget
from deepstack.solver.leaves import RootGadget

Floats = npt.NDArray[np.float64]


def _moved(regret: Floats, gain: Floats, positive: float, negative: float, floor: bool) -> Floats:
    regret = np.where(regret > 0, positive, negative) * regret + gain
    return np.maximum(regret, 0.0) if floor else regret


class Cfrd:
    """Terminate for c or follow, hand by hand; ``live`` are the hands the opponent can hold."""

    def __init__(self, player: int, constraints: npt.ArrayLike, live: npt.ArrayLike) -> None:
        self.player = player
        self.constraints = np.array(constraints, np.float64)
        self.live = np.array(live, np.float64)
        if self.constraints.shape != self.live.shape or not np.isfinite(self.constraints).all():
            raise InputError("constraints: expected a finite value for every hand")
        self._terminate = np.zeros_like(self.constraints)
        self._follow = np.zeros_like(self.constraints)

    def arrays(self) -> Gadget:
        nothing = np.zeros_like(self.live)
        learned = (self._follow, self._terminate)
        return Gadget(self.player, False, 0.0, nothing, self.constraints, self.live, *learned)

    def follow(self) -> Floats:
        """The probability of following with each hand."""
        follow = np.maximum(self._follow, 0.0)
        total = follow + np.maximum(self._terminate, 0.0)
        return np.divide(follow, total, out=np.full_like(total, 0.5), where=total > 0)

    def reach(self) -> Floats:
        return self.live * self.follow()

    def observe(self, values: Floats, positive: float, negative: float, floor: bool) -> None:
        follow = self.follow()
        mean = follow * values + (1 - follow) * self.constraints
        moved = (positive, negative, floor)
        self._follow[:] = _moved(self._follow, values - mean, *moved)
        self._terminate[:] = _moved(self._terminate, self.constraints - mean, *moved)


class MaxMargin:
    """One hand to enter with; the opponent seeks the largest gain over its constraint."""

    def __init__(self, player: int, constraints: npt.ArrayLike, live: npt.ArrayLike) -> None:
        self.player = player
        self.constraints = np.array(constraints, np.float64)
        self.live = np.array(live, bool)
        self._regret = np.zeros_like(self.constraints)

    def arrays(self) -> Gadget:
        live = self.live.astype(np.float64)
        nothing = np.zeros_like(live)
        return Gadget(
            self.player, True, 0.0, nothing, self.constraints, live, self._regret, nothing
        )

    def reach(self) -> Floats:
        weights = np.where(self.live, np.maximum(self._regret, 0.0), 0.0)
        if not weights.any():
            weights = self.live.astype(np.float64)
        return weights / weights.sum()

    def observe(self, values: Floats, positive: float, negative: float, floor: bool) -> None:
        margin = np.where(self.live, values - self.constraints, 0.0)
        gain = margin - float(self.reach() @ margin)
        self._regret[:] = _moved(self._regret, gain, positive, negative, floor)


def warm_start(gadget: Cfrd | MaxMargin, chances: Floats, weight: float) -> None:
    """Begin with given chances [H] to enter, as if regrets had grown to ``weight`` chips."""
    arrays = gadget.arrays()
    arrays.follow[:] = chances * weight
    if not arrays.margin:
        arrays.terminate[:] = (1 - chances) * weight


class Mixture:
    """With probability ``p`` the estimated range, else what another gadget chooses."""

    def __init__(self, p: float, estimate: npt.ArrayLike, gadget: RootGadget) -> None:
        if not 0 <= p <= 1:
            raise InputError(f"coin-flip probability {p}: expected 0 to 1")
        self.player = gadget.player
        self.p, self.estimate, self.gadget = p, np.array(estimate, np.float64), gadget

    def arrays(self) -> Gadget:
        return self.gadget.arrays()._replace(p=float(self.p), estimate=self.estimate)

    def reach(self) -> Floats:
        return self.p * self.estimate + (1 - self.p) * self.gadget.reach()

    def observe(self, values: Floats, positive: float, negative: float, floor: bool) -> None:
        self.gadget.observe(values, positive, negative, floor)


class Fixed:
    """The opponent enters with a fixed range: unsafe re-solving."""

    def __init__(self, player: int, estimate: npt.ArrayLike) -> None:
        self.player = player
        self.estimate = np.array(estimate, np.float64)

    def arrays(self) -> Gadget:
        nothing = (np.zeros_like(self.estimate) for _ in range(4))
        return Gadget(self.player, False, 1.0, self.estimate, *nothing)

    def reach(self) -> Floats:
        return self.estimate

    def observe(self, values: Floats, positive: float, negative: float, floor: bool) -> None:
        """Nothing to learn."""
