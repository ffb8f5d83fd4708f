"""Convergence curves: which iterations are recorded, what is kept of them, their slopes.

Burch (2017), section 4.3.1, records the exploitability after every iteration. Result files are
small, so slopes are found while all points are there, and of the points only those are kept that a
plot on logarithmic axes can show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig

from deepstack.evaluate.slopes import slope
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KEPT = 30  # points a decade in result files
DIGITS = 6  # of a kept point


class Curve(NamedTuple):
    """Exploitability of average and current strategies [n] after iterations [n], ascending."""

    iterations: Ints
    average: Floats
    current: Floats


def log_spaced(last: int, per_decade: int = KEPT) -> Ints:
    """Whole numbers from 1 to ``last``, both included, evenly spread on a logarithmic axis.

    >>> log_spaced(100, 3).tolist()
    [1, 2, 5, 10, 22, 46, 100]
    """
    decades = np.log10(last)
    points = np.logspace(0, decades, int(np.ceil(decades * per_decade)) + 1)
    return np.unique(np.round(points).astype(np.int64))


def recorded(last: int, every: int) -> Ints:
    """The iterations to record: every so many for the slopes, some more for the plot.

    >>> points = recorded(1000, 490).tolist()
    >>> points[:4], 490 in points, 980 in points, points[-1]
    ([1, 2, 3, 4], True, True, 1000)
    """
    if last < 1 or not 1 <= every <= last:
        raise InputError(f"every {every} of {last} iterations: expected 1 to {last}")
    return np.union1d(np.arange(every, last + 1, every), log_spaced(last))


def iterations_of(config: DictConfig, game: str) -> int:
    """How long an experiment runs in a game."""
    known = config.iterations
    if game not in known:
        raise InputError(f"game {game!r}: expected one of {', '.join(map(str, known))}")
    return int(known[game])


def lengths(last: int) -> list[int]:
    """The lengths of run that slopes are given for: powers of ten from 1,000, and the whole.

    >>> lengths(25_000)
    [1000, 10000, 25000]
    """
    return sorted({10**n for n in range(3, 19) if 10**n < last} | {last})


def slopes(
    curve: Curve, every: int = 1, shown: int | None = None
) -> dict[str, dict[str, list[float | None]]]:
    """Slopes of runs of several lengths: of all points and of the last 90 %, by strategy.

    The lengths are those of ``lengths``, and ``shown`` if the run is that long.
    Only iterations that are multiples of ``every`` count, so that all parts of a run weigh as much
    as if every iteration had been recorded.
    """
    table: dict[str, dict[str, list[float | None]]] = {}
    last = int(curve.iterations[-1])
    for length in sorted({*lengths(last), min(shown or last, last)}):
        counted = (curve.iterations <= length) & (curve.iterations % every == 0)
        times = curve.iterations[counted]
        table[str(length)] = {
            name: [_slope(times, values[counted], share) for share in (1.0, 0.9)]
            for name, values in (("average", curve.average), ("current", curve.current))
        }
    return table


def _slope(times: Ints, values: Floats, share: float) -> float | None:
    """A slope, or None of a curve without two points above all later ones."""
    try:
        return round(slope(times, values, share), 4)
    except InputError:
        return None


def thin(curve: Curve) -> dict[str, Any]:
    """What a result file keeps of a curve."""
    points = log_spaced(int(curve.iterations[-1]))
    kept = np.isin(curve.iterations, points)
    return {
        "iterations": curve.iterations[kept].tolist(),
        "average": shorten(curve.average[kept]),
        "current": shorten(curve.current[kept]),
    }


def shorten(values: npt.ArrayLike | Sequence[float], digits: int = DIGITS) -> list[float]:
    """Values with a few significant digits, for a file to be small.

    >>> shorten([0.123456789, 1234567.89], 3)
    [0.123, 1230000.0]
    """
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, np.float64)]
