"""Means with intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Z95 = 1.959963984540054  # half-width of the central 95 % of a normal distribution


class Estimate(NamedTuple):
    """A mean and the half-width of its 95 % interval; the width is None for a single sample."""

    mean: float
    ci95: float | None

    def __str__(self) -> str:
        width = "?" if self.ci95 is None else f"{self.ci95:.0f}"
        return f"{self.mean:+.0f} ± {width} mbb/g"


def mean_estimate(samples: npt.NDArray[np.float64]) -> Estimate:
    """The mean of independent samples [n] with its normal 95 % interval.

    >>> mean_estimate(np.array([1.0, 3.0, 2.0, 2.0]))
    Estimate(mean=2.0, ci95=0.8001519...)
    """
    n = len(samples)
    if n < 2:
        return Estimate(float(samples.mean()), None)
    return Estimate(float(samples.mean()), float(Z95 * samples.std(ddof=1) / np.sqrt(n)))
