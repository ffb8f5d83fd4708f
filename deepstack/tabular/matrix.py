"""Matrix games and the regret minimisers that solve them: the small games of Burch's thesis.

N. Burch, "Time and Space: Why Imperfect Information Games are Hard" (2017), chapter 4. A matrix A
holds what the row player wins; the row player maximises x'Ay, the column player minimises it. All
of CFR's variants are already there in one decision a player, and every claim about their speed can
be checked in seconds.

A regret minimiser is a ``Rule``, data that one update reads:

    ΔR = v - σ·v,   R ← max(R + ΔR, floor)           v: the values of the actions, σ: as played
    σ ∝ (R + predicted ΔR)⁺                          regret matching, uniform if nothing is positive
    σ ∝ exp(rate · (R + predicted ΔR))               Hedge, if a rate is given

Regret matching (CFR) has no floor, regret matching⁺ (CFR⁺) the floor 0; the optimistic rules
predict that the last ΔR repeats. Updates alternate, the row player first: the column player
answers the row player's new strategy. The average takes each strategy as it was played, before its
update, with the weight t^averaging. (The "new strategy" values of Burch's section 4.1.5 have no
meaning here, as no value is passed up to an earlier decision.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf, isfinite, log, sqrt

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError
from deepstack.tabular.matrix_kernels import iterate

Floats = npt.NDArray[np.float64]


# ---- games


def pennies() -> Floats:
    """Matching pennies, skewed: heads pay 1, tails 4, a mismatch -2. Equilibrium (2/3, 1/3)."""
    return np.array([[1.0, -2.0], [-2.0, 4.0]])


def rock_paper_scissors() -> Floats:
    """Rock, paper, scissors with stakes RP 2, RS 1, PS 3. Equilibrium (1/2, 1/6, 1/3), value 0."""
    return np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -3.0], [-1.0, 3.0, 0.0]])


def blotto(fields: int = 3, soldiers: int = 16) -> Floats:
    """Split positive soldiers over fields in non-decreasing order; most fields won wins 1.

    Burch gives the size of the game with 3 fields and 16 soldiers, and only positive numbers have
    it:

    >>> blotto(3, 16).shape
    (21, 21)
    """
    if not 1 <= fields <= soldiers:
        raise InputError(f"blotto with {fields} fields: expected 1 to {soldiers}, the soldiers")
    numbers = range(1, soldiers - fields + 2)
    splits = [c for c in combinations_with_replacement(numbers, fields) if sum(c) == soldiers]
    armies = np.array(splits)
    won = np.sign(armies[:, None, :] - armies[None, :, :]).sum(axis=2)
    return np.sign(won).astype(np.float64)


def random_matrix(rng: np.random.Generator, n: int = 1000) -> Floats:
    """Payoffs [n, n], independent and standard normal."""
    return rng.standard_normal((n, n))


# ---- regret minimisers


@dataclass(frozen=True, slots=True)
class Rule:
    """A regret minimiser and how two of them play; the module's docstring has the formulas.

    Attributes:
        floor: the least regret that is stored: -inf, or 0 for regret matching⁺.
        optimistic: predict that the last change of regret repeats.
        rate: Hedge's rate; 0 is regret matching.
        alternating: the column player sees the row player's new strategy.
        averaging: iteration t counts t^averaging in the average: 0 is uniform, 1 linear.
    """

    floor: float = -inf
    optimistic: bool = False
    rate: float = 0.0
    alternating: bool = True
    averaging: float = 0.0


CFR = Rule()
CFR_PLUS = Rule(floor=0.0, averaging=1.0)
OPTIMISTIC = Rule(floor=0.0, optimistic=True)


def hedge(actions: int, iterations: int, spread: float = 1.0) -> Rule:
    """Hedge with the rate that suits T iterations of values within L = ``spread`` of each other.

    Freund and Schapire's β = 1 + √(2 ln|A| / T) for values in [0, 1]; regret is at most
    L (√(2 T ln|A|) + ln|A|).
    """
    return Rule(rate=log(1 + sqrt(2 * log(actions) / iterations)) / spread)


def strategy(rule: Rule, regrets: Floats, gains: Floats) -> Floats:
    """What the rule plays [A] after stored regrets [A], of which the last gains [A] were new.

    >>> strategy(CFR, np.array([3.0, -2.0, 1.0]), np.zeros(3))
    array([0.75, 0.  , 0.25])
    """
    expected = regrets + gains if rule.optimistic else regrets
    if rule.rate > 0.0:
        weights = np.exp(rule.rate * (expected - expected.max()))
    else:
        weights = np.maximum(expected, 0.0)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights))


@dataclass(frozen=True, slots=True)
class Play:
    """A regret minimiser's way through given values, all [T, A].

    Attributes:
        strategies: σ, one a step.
        gains: ΔR = v - σ·v, before any floor; they sum to the regrets.
        stored: what the rule keeps after the step: R, or Q ≥ R if it has a floor.
    """

    strategies: Floats
    gains: Floats
    stored: Floats


def play(rule: Rule, values: npt.ArrayLike) -> Play:
    """Let a rule play against values [T, A] that somebody has fixed in advance."""
    values = np.asarray(values, np.float64)
    strategies, gains, stored = (np.zeros_like(values) for _ in range(3))
    regrets, last = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    for t, value in enumerate(values):
        strategies[t] = strategy(rule, regrets, last)
        last = value - strategies[t] @ value
        regrets = np.maximum(regrets + last, rule.floor)
        gains[t], stored[t] = last, regrets
    return Play(strategies, gains, stored)


def tracking_regret(gains: npt.ArrayLike, k: int) -> float:
    """The regret of [T, A] gains for the best action in each of at most k stretches of time.

    Burch (2017), equation 4.2; k = 1 is external regret.

    >>> tracking_regret([[1, 0], [1, 0], [-2, 2]], 1), tracking_regret([[1, 0], [1, 0], [-2, 2]], 2)
    (2.0, 4.0)
    """
    gains = np.asarray(gains, np.float64)
    # best[j, a]: the most that j + 1 stretches can have gained so far, if the last one plays a
    best = np.full((k, gains.shape[1]), -inf)
    best[0] = 0.0
    for gain in gains:
        best[1:] = np.maximum(best[1:], best[:-1].max(axis=1, keepdims=True))
        best += gain
    return float(best.max())


# ---- solving


@dataclass(frozen=True, slots=True)
class History:
    """What a run has been through, at n recorded iterations, and where it ended.

    Attributes:
        iterations: [n] the recorded iterations, from 1.
        average: [n] exploitability of the average strategies after these iterations.
        current: [n] exploitability of the strategies that would be played next.
        lowest_regret: [n] the least regret of any action of either player, before the floor:
            negative where regret matching has a negative regret, or regret matching⁺ clips one.
        average_strategies: row [R] and column [C] player's average at the end.
        current_strategies: the strategies that would be played next.
        regrets: what the rule has stored for each player's actions at the end.
    """

    iterations: npt.NDArray[np.int64]
    average: Floats
    current: Floats
    lowest_regret: Floats
    average_strategies: tuple[Floats, Floats]
    current_strategies: tuple[Floats, Floats]
    regrets: tuple[Floats, Floats]


def exploitability(matrix: Floats, row: Floats, column: Floats) -> float:
    """Half the sum of what the two best responses win, in units of the matrix [R, C].

    >>> exploitability(pennies(), np.array([0.5, 0.5]), np.array([2 / 3, 1 / 3]))
    0.25
    """
    return 0.5 * float((matrix @ column).max() - (row @ matrix).min())


def run(
    matrix: npt.ArrayLike, rule: Rule, iterations: int, record: Sequence[int] | None = None
) -> History:
    """Self-play of a rule in a matrix game [R, C], recorded at some iterations (default: all)."""
    payoffs, points = _checked(matrix, rule, iterations, record)
    figures, averages, currents, regrets = iterate(
        payoffs,
        rule.floor,
        rule.optimistic,
        rule.rate,
        rule.alternating,
        rule.averaging,
        iterations,
        points,
    )
    return History(points, figures[0], figures[1], figures[2], averages, currents, regrets)


def run_plain(
    matrix: npt.ArrayLike, rule: Rule, iterations: int, record: Sequence[int] | None = None
) -> History:
    """The meaning of ``run``: slow, one step after the other, every figure from its definition."""
    payoffs, points = _checked(matrix, rule, iterations, record)
    # for each player: what each own action wins against each action of the other
    wins = (payoffs, -payoffs.T)
    regrets = [np.zeros(len(w)) for w in wins]
    sums = [np.zeros(len(w)) for w in wins]
    played = [strategy(rule, r, r) for r in regrets]
    recorded = set(points.tolist())
    figures = []
    for t in range(1, iterations + 1):
        before, lowest = list(played), inf
        for p in (0, 1):
            opponent = (played if rule.alternating else before)[1 - p]
            sums[p] += t**rule.averaging * before[p]
            values = wins[p] @ opponent
            gains = values - before[p] @ values
            lowest = min(lowest, float((regrets[p] + gains).min()))
            regrets[p] = np.maximum(regrets[p] + gains, rule.floor)
            played[p] = strategy(rule, regrets[p], gains)
        if t in recorded:
            averages = [s / s.sum() for s in sums]
            figures.append(
                (exploitability(payoffs, *averages), exploitability(payoffs, *played), lowest)
            )
    average, current, lowest_regret = np.array(figures).T
    row, column = (s / s.sum() for s in sums)
    return History(
        points,
        average,
        current,
        lowest_regret,
        average_strategies=(row, column),
        current_strategies=(played[0], played[1]),
        regrets=(regrets[0], regrets[1]),
    )


def _checked(
    matrix: npt.ArrayLike, rule: Rule, iterations: int, record: Sequence[int] | None
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The payoffs and the iterations to record, if everything a caller can get wrong is right."""
    payoffs = np.ascontiguousarray(matrix, np.float64)
    if payoffs.ndim != 2 or payoffs.size == 0 or not np.isfinite(payoffs).all():
        raise InputError(f"matrix of shape {payoffs.shape}: expected finite payoffs [R, C]")
    if not (rule.floor <= 0.0 and rule.rate >= 0.0 and isfinite(rule.rate)):
        raise InputError(f"{rule}: expected a floor of at most 0 and a finite rate of at least 0")
    if iterations < 1:
        raise InputError(f"iterations = {iterations}: expected at least 1")
    points = np.arange(1, iterations + 1) if record is None else np.unique(np.asarray(record))
    if len(points) == 0 or points[0] < 1 or points[-1] > iterations:
        raise InputError(f"record = {record}: expected iterations from 1 to {iterations}")
    return payoffs, points.astype(np.int64)
