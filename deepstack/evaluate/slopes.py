"""Rates of convergence, as Burch's thesis measures them.

N. Burch, "Time and Space: Why Imperfect Information Games are Hard" (2017), section 4.3.1. The
rate is the slope of log ε on log T by least squares: -0.5 where the exploitability ε falls as
1/√T, -1 where it falls as 1/T. So that its swings weigh less, only points count whose ε exceeds
all later ones, an observed upper bound on the exploitability at any future time. Tables 4.1, 4.4
fit all iterations, tables 4.2, 4.5 the "last 90 %", those after the first tenth.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError


def upper_envelope(exploitability: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which points [n] exceed all later ones; the last one always does.

    >>> upper_envelope([5, 2, 3, 1, 1]).tolist()
    [True, False, True, False, True]
    """
    values = np.asarray(exploitability, np.float64)
    later = np.maximum.accumulate(values[::-1])[::-1]
    return values > np.append(later[1:], -np.inf)


def slope(iterations: npt.ArrayLike, exploitability: npt.ArrayLike, last: float = 1.0) -> float:
    """The slope of log exploitability [n] on log iterations [n], ascending, by Burch's protocol.

    ``last`` is the share of the iterations that counts: 0.9 takes those beyond a tenth of the last
    one. An exploitability of zero has no logarithm and is left out.

    >>> round(slope([1, 2, 4, 8], [1, 1 / 2, 1 / 4, 1 / 8]), 12)
    -1.0
    """
    times = np.asarray(iterations, np.float64)
    values = np.asarray(exploitability, np.float64)
    if times.ndim != 1 or times.shape != values.shape:
        raise InputError(f"{values.shape} exploitabilities at {times.shape} iterations: expected n")
    if len(times) == 0 or times[0] <= 0 or (np.diff(times) <= 0).any():
        raise InputError("iterations of a slope: expected positive numbers in ascending order")
    if not np.isfinite(values).all():
        raise InputError("exploitabilities of a slope: expected finite numbers")
    if not 0.0 < last <= 1.0:
        raise InputError(f"last = {last}: expected a share in (0, 1]")
    # (1 - 0.9) * T would let iteration T / 10 itself in, by rounding
    start = np.round(times[-1] - last * times[-1], 6)
    used = upper_envelope(values) & (values > 0.0) & (times > start)
    if used.sum() < 2:
        raise InputError(f"slope of {used.sum()} points: expected at least 2 above all later ones")
    x, y = np.log(times[used]), np.log(values[used])
    x -= x.mean()
    return float(x @ (y - y.mean()) / (x @ x))
