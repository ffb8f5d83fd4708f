"""Update rules: what distinguishes the variants of counterfactual regret minimisation.

CFR, CFR+, linear, discounted and predictive CFR differ only in how regrets are discounted and
clipped, in the weight of an iteration in the average, in alternation and in prediction. An
``UpdateRule`` holds those choices; the kernels read numbers, one row an iteration.

Sources: CFR (Zinkevich et al. 2007), CFR+ (Tammelin 2014; Burch 2017 §4.1), linear and discounted
CFR (Brown and Sandholm 2019), predictive CFR+ (Farina et al. 2021), which with a uniform average is
the optimistic regret-matching+ of Burch §4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """How regrets and averages move.

    Attributes:
        name: for messages and result files.
        floor: clip accumulated regrets at zero (regret-matching+).
        alpha, beta: before iteration t, positive regrets are multiplied by s^α / (s^α + 1) with
            s = t - 1, negative ones by s^β / (s^β + 1); None: not discounted.
        gamma: iteration t has weight t^γ in the average strategy; 0 is uniform, 1 linear.
        restart: forget the average at every power of this number; 0: never.
        delay: iterations left out of the average.
        alternating: players update in turn, the second against the first one's new strategy.
        predictive: the next strategy also counts the last regrets once more, as a prediction.
        fresh: values passed up a tree use the strategy after the update (Burch §4.1.5, Alg. 5).
    """

    name: str
    floor: bool = False
    alpha: float | None = None
    beta: float | None = None
    gamma: float = 0.0
    restart: int = 0
    delay: int = 0
    alternating: bool = True
    predictive: bool = False
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.delay < 0 or self.restart < 0 or self.restart == 1 or self.gamma < 0:
            raise InputError(
                f"update rule {self.name}: delay {self.delay}, restart {self.restart}, gamma "
                f"{self.gamma}: expected no negative number, and a restart of 0 or at least 2"
            )

    def schedule(self, first: int, count: int) -> npt.NDArray[np.float64]:
        """Numbers of the iterations ``first`` … ``first + count - 1``, counted from 1: [count, 4].

        Columns: the factors of positive and of negative regrets before the update, the factor
        that keeps the average so far, and the weight of this iteration in it.
        """
        t = np.arange(first, first + count, dtype=np.float64)
        table = np.empty((count, 4))
        for column, power in enumerate((self.alpha, self.beta)):
            if power is None:
                table[:, column] = 1.0
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    grown = (t - 1) ** power
                    table[:, column] = np.where(np.isinf(grown), 1.0, grown / (grown + 1))
        # Weights grow like t^γ; the sum is kept in units of the newest weight.
        age = t - self._restarted(t)
        since = np.maximum(age - self.delay, 0.0)
        keep = np.divide(since - 1, since, out=np.zeros_like(since), where=since > 1) ** self.gamma
        table[:, 2] = np.where(since > 1, keep, 0.0)
        table[:, 3] = np.where(since > 0, 1.0, 0.0)
        return table

    def _restarted(self, t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The last iteration before ``t`` after which the average was forgotten."""
        if self.restart == 0:
            return np.zeros_like(t)
        powers = self.restart ** np.arange(0, 64 // np.log2(self.restart))
        below = np.searchsorted(powers, t, side="left")  # powers smaller than t
        return np.where(below > 0, powers[np.maximum(below - 1, 0)], 0.0)


CFR = UpdateRule("cfr")
CFR_PLUS = UpdateRule("cfr_plus", floor=True, gamma=1.0)
LINEAR = UpdateRule("linear", alpha=1.0, beta=1.0, gamma=1.0)
DCFR = UpdateRule("dcfr", alpha=1.5, beta=0.0, gamma=2.0)
PCFR_PLUS = UpdateRule("pcfr_plus", floor=True, gamma=2.0, predictive=True)
DCFR_PLUS = UpdateRule("dcfr_plus", floor=True, alpha=1.5, gamma=4.0, fresh=True)
"""Clipped and discounted regrets, values of the new strategy: half the iterations on deep rivers,
more than ``DEFAULT`` on turns."""

RULES = {rule.name: rule for rule in (CFR, CFR_PLUS, LINEAR, DCFR, PCFR_PLUS, DCFR_PLUS)}

DEFAULT = replace(DCFR, gamma=3.0, restart=4)
"""For hold'em spots: of the rules tried, the fewest iterations to 0.5 % of the pot on turns."""


def update_rule(name: str, **changes: object) -> UpdateRule:
    """A named rule, with some of its choices changed.

    >>> update_rule("cfr_plus", delay=200).delay
    200
    """
    if name not in RULES:
        raise InputError(f"algorithm {name!r}: expected one of {', '.join(RULES)}")
    try:
        return replace(RULES[name], **changes)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"algorithm {name}: {error}") from None
