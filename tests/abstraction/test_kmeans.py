"""k-means: the same as its plain form, whatever the bounds leave out."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.abstraction.kmeans import (
    METRICS,
    distances_plain,
    embed,
    kmeans,
    kmeans_plain,
    nearest,
    seed_centroids,
)
from deepstack.run.errors import InputError


def histograms(count: int, bins: int = 12, seed: int = 0) -> np.ndarray:
    """Histograms around a few shapes, so that there is something to find."""
    rng = np.random.default_rng(seed)
    shapes = rng.dirichlet(np.ones(bins), 6)
    return np.stack([rng.dirichlet(40 * shapes[i % 6] + 0.01) for i in range(count)])


def test_the_earth_movers_distance_moves_mass_over_bins():
    points = [[1, 0, 0, 0], [0, 0, 0, 1], [0.5, 0, 0, 0.5]]
    np.testing.assert_allclose(
        distances_plain(points, points, "emd"), [[0, 3, 1.5], [3, 0, 1.5], [1.5, 1.5, 0]]
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_change_no_result(metric, weighted):
    points, k, iterations = histograms(600), 7, 8
    weights = np.random.default_rng(2).random(600) if weighted else np.ones(600)
    first = seed_centroids(
        embed(points, metric), weights, k, np.random.default_rng(1), METRICS[metric]
    )
    seeds = np.diff(first, axis=1, prepend=0.0) if metric == "emd" else first
    found = kmeans(
        points, k, np.random.default_rng(1), metric=metric, weights=weights, iterations=iterations
    )
    centroids, labels = kmeans_plain(points, seeds, metric, weights, iterations)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose(found.centroids, centroids, atol=1e-9)
    own = distances_plain(points, centroids, metric).min(axis=1)
    assert found.cost == pytest.approx(weights @ own**2)


def test_bounds_leave_most_comparisons_out():
    points = histograms(3000)
    found = kmeans(points, 6, np.random.default_rng(0), metric="l2", iterations=20)
    assert found.iterations > 3
    assert found.compared < 0.7 * len(points) * (found.iterations + 1)


def test_the_same_seed_gives_the_same_clusters():
    one, other, third = (
        kmeans(histograms(300), 5, np.random.default_rng(seed), restarts=2) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.centroids, other.centroids)
    assert not np.array_equal(one.centroids, third.centroids)


def test_restarts_keep_the_cheapest_run():
    points = histograms(400)
    rng = np.random.default_rng(9)
    single = [kmeans(points, 8, rng).cost for _ in range(4)]
    assert kmeans(points, 8, np.random.default_rng(9), restarts=4).cost == min(single)


def test_as_many_clusters_as_points_cost_nothing():
    points = histograms(20)
    found = kmeans(points, 20, np.random.default_rng(0))
    assert found.cost == pytest.approx(0, abs=1e-12)
    assert len(set(found.labels.tolist())) == 20


def test_a_weight_counts_like_copies_of_a_point():
    points, rng = histograms(60), np.random.default_rng
    weights = rng(5).integers(1, 4, 60)
    copies = np.repeat(points, weights, axis=0)
    one = kmeans(points, 1, rng(0), weights=weights)
    other = kmeans(copies, 1, rng(0))
    np.testing.assert_allclose(one.centroids, other.centroids, atol=1e-12)
    assert one.cost == pytest.approx(other.cost)


def test_points_without_weight_found_no_cluster():
    points = histograms(30)
    weights = np.zeros(30)
    weights[:4] = 1
    found = kmeans(points, 4, np.random.default_rng(0), weights=weights)
    assert sorted(found.labels[:4].tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("metric", METRICS)
def test_nearest_centroids_are_those_of_plain_distances(metric):
    points, centroids = histograms(200), histograms(9, seed=1)
    expected = distances_plain(points, centroids, metric).argmin(axis=1)
    np.testing.assert_array_equal(nearest(points, centroids, metric), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k-means with 0 clusters"),
        ({"k": 41}, "41 clusters: expected at most 40, the different points"),
        ({"k": 3, "metric": "cosine"}, "metric 'cosine': expected one of emd, l2"),
        ({"k": 3, "weights": [1.0]}, r"weights of shape \(1,\): expected \[40\]"),
        ({"k": 3, "points": np.full((4, 2), np.nan)}, "expected finite numbers"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    points = settings.pop("points", histograms(40))
    with pytest.raises(InputError, match=message):
        kmeans(points, rng=np.random.default_rng(0), **settings)
