"""Which points of a curve are recorded, kept, and fitted."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.experiments.curves import Curve, lengths, log_spaced, recorded, shorten, slopes, thin
from deepstack.run.errors import InputError


def power_law(points: np.ndarray) -> Curve:
    return Curve(points, 2.0 / points, 3.0 / np.sqrt(points))


def test_slopes_of_power_laws_at_every_length():
    found = slopes(power_law(recorded(20_000, 10)), every=10)
    assert list(found) == ["1000", "10000", "20000"]
    for table in found.values():
        assert table["average"] == pytest.approx([-1.0, -1.0])
        assert table["current"] == pytest.approx([-0.5, -0.5])


def test_the_length_that_is_shown_is_among_the_slopes():
    curve = power_law(recorded(3000, 1))
    assert list(slopes(curve, shown=200)) == ["200", "1000", "3000"]
    assert list(slopes(curve, shown=5000)) == ["1000", "3000"]


def test_points_for_the_plot_do_not_weigh_in_slopes():
    """Early points are dense, and would draw a slope to them."""
    points = recorded(10_000, 100)
    bent = power_law(points)
    bent.average[points % 100 != 0] = 1e6
    assert slopes(bent, every=100)["10000"]["average"] == pytest.approx([-1.0, -1.0])


def test_a_curve_without_an_envelope_has_no_slope():
    points = np.arange(1, 11)
    rising = Curve(points, points.astype(float), 1.0 / points)
    assert slopes(rising)["10"]["average"] == [None, None]
    assert slopes(rising)["10"]["current"][0] == pytest.approx(-1.0)


def test_thin_keeps_the_ends_and_few_points():
    kept = thin(power_law(recorded(100_000, 1)))
    assert kept["iterations"][0] == 1
    assert kept["iterations"][-1] == 100_000
    assert len(kept["iterations"]) == len(kept["average"]) == len(kept["current"]) < 200
    assert kept["average"][-1] == 2e-5


@pytest.mark.parametrize(("last", "every"), [(0, 1), (10, 0), (10, 11)])
def test_refuses_to_record_nothing(last, every):
    with pytest.raises(InputError, match=f"every {every} of {last} iterations"):
        recorded(last, every)


def test_short_runs():
    assert log_spaced(1).tolist() == [1]
    assert recorded(1, 1).tolist() == [1]
    assert lengths(500) == [500]
    assert shorten([0.0, -1.23456789e-17]) == [0.0, -1.23457e-17]
