"""k-means with the earth mover's distance for histograms, or with the Euclidean distance.

The earth mover's distance of two histograms over the same equal bins is the sum of absolute
differences of their running sums, in units of bins (M. Johanson, thesis 2016, section 5.4); so
histograms become running sums, and the mean of running sums is the running sum of the mean.
Seeds are drawn by k-means++ (Arthur and Vassilvitskii, 2007). A point is compared with all
centroids only if the triangle inequality does not rule that out (Hamerly, "Making k-means even
faster", 2010), which needs two bounds a point and changes no result.

Under the earth mover's distance means are not the best centroids, so the cost may rise a little
near the end; a run stops when labels stay or after a number of iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.abstraction.kmeans_kernels import (
    L1,
    L2,
    add_up,
    assign_all,
    assign_bounded,
    half_gaps,
    move_bounds,
    own_distances,
    shrink_to,
)
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress

METRICS = {"emd": L1, "l2": L2}
ITERATIONS = 100

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]


class Clusters(NamedTuple):
    """What k-means found.

    Attributes:
        centroids: float64 [K, D], histograms or vectors as the points are.
        labels: int32 [n] the cluster of every point.
        cost: weighted sum of squared distances to the nearest centroids.
        iterations: how often the centroids moved.
        compared: points that were compared with all centroids, over the iterations.
    """

    centroids: Floats
    labels: Labels
    cost: float
    iterations: int
    compared: int


def kmeans(
    points: npt.ArrayLike,
    k: int,
    rng: np.random.Generator,
    *,
    metric: str = "emd",
    weights: npt.ArrayLike | None = None,
    iterations: int = ITERATIONS,
    restarts: int = 1,
    settled: float = 0.0,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster points; of several runs the cheapest.

    Args:
        points: [n, D] histograms that sum to 1 (``emd``) or vectors (``l2``).
        k: the number of clusters, at most that of different points.
        rng: draws the first centroids; the same state gives the same clusters.
        metric: ``emd`` or ``l2``.
        weights: [n] not negative; 1 each unless given.
        iterations: at most so many moves of the centroids a run.
        restarts: runs from other seeds.
        settled: a run ends when at most this share of the points changes its cluster.
        progress: counts iterations.
    """
    embedded = embed(points, metric)
    mass = _weights(weights, len(embedded))
    if k < 1 or iterations < 0 or restarts < 1:
        raise InputError(
            f"k-means with {k} clusters, {iterations} iterations, {restarts} restarts: "
            "expected at least 1, 0 and 1"
        )
    runs = [
        _run(embedded, mass, k, rng, METRICS[metric], iterations, settled, progress)
        for _ in range(restarts)
    ]
    best = min(runs, key=lambda run: run.cost)
    return best._replace(centroids=_unembed(best.centroids, metric))


def nearest(points: npt.ArrayLike, centroids: npt.ArrayLike, metric: str) -> Labels:
    """The nearest centroid [K, D] of every point [n, D]: int32 [n]; the first of equally near."""
    rows, targets = embed(points, metric), embed(centroids, metric)
    if rows.shape[1] != targets.shape[1]:
        raise InputError(
            f"points of {rows.shape[1]} coordinates: expected {targets.shape[1]}, as of centroids"
        )
    labels = np.empty(len(rows), np.int32)
    assign_all(rows, targets, METRICS[metric], labels, *np.empty((2, len(rows))))
    return labels


def distances_plain(points: npt.ArrayLike, centroids: npt.ArrayLike, metric: str) -> Floats:
    """Distances of all points [n, D] to all centroids [K, D]: float64 [n, K]."""
    gaps = embed(points, metric)[:, None] - embed(centroids, metric)[None]
    return np.abs(gaps).sum(axis=2) if metric == "emd" else np.sqrt((gaps**2).sum(axis=2))


def kmeans_plain(
    points: npt.ArrayLike,
    centroids: npt.ArrayLike,
    metric: str,
    weights: npt.ArrayLike | None = None,
    iterations: int = ITERATIONS,
) -> tuple[Floats, Labels]:
    """Centroids and labels after plain moves from given centroids, every one with some points."""
    rows, means = np.asarray(points, np.float64), np.array(centroids, np.float64)
    mass = _weights(weights, len(rows))
    labels = distances_plain(rows, means, metric).argmin(axis=1)
    for _ in range(iterations):
        for c in range(len(means)):
            means[c] = np.average(rows[labels == c], axis=0, weights=mass[labels == c])
        before, labels = labels, distances_plain(rows, means, metric).argmin(axis=1)
        if (labels == before).all():
            break
    return means, labels.astype(np.int32)


def embed(points: npt.ArrayLike, metric: str) -> Floats:
    """Points as their metric sees them: running sums of histograms, vectors as they are."""
    if metric not in METRICS:
        raise InputError(f"metric {metric!r}: expected one of {', '.join(METRICS)}")
    rows = np.asarray(points, np.float64)
    if rows.ndim != 2 or 0 in rows.shape or not np.isfinite(rows).all():
        raise InputError(f"points of shape {rows.shape}: expected finite numbers [n, D]")
    return np.ascontiguousarray(np.cumsum(rows, axis=1) if metric == "emd" else rows)


def _unembed(rows: Floats, metric: str) -> Floats:
    return np.diff(rows, axis=1, prepend=0.0) if metric == "emd" else rows


def _weights(weights: npt.ArrayLike | None, count: int) -> Floats:
    if weights is None:
        return np.ones(count)
    mass = np.ascontiguousarray(weights, np.float64)
    if mass.shape != (count,) or not (mass >= 0).all() or not 0 < mass.sum() < np.inf:
        raise InputError(f"weights of shape {mass.shape}: expected [{count}], none negative")
    return mass


def seed_centroids(
    embedded: Floats, mass: Floats, k: int, rng: np.random.Generator, metric: int
) -> Floats:
    """k-means++: points [k, D], each drawn by weight times squared distance to those before it."""
    chosen = np.empty((k, embedded.shape[1]))
    gaps = np.full(len(embedded), np.inf)
    for number in range(k):
        chance = np.cumsum(mass * gaps**2 if number else mass)
        if chance[-1] <= 0.0:
            raise InputError(f"{k} clusters: expected at most {number}, the different points")
        place = np.searchsorted(chance, rng.random() * chance[-1], side="right")
        # a draw of the whole sum would stand behind the last point that may be drawn
        place = min(int(place), int(np.searchsorted(chance, chance[-1])))
        chosen[number] = embedded[place]
        shrink_to(embedded, chosen[number], metric, gaps)
    return chosen


def _run(
    embedded: Floats,
    mass: Floats,
    k: int,
    rng: np.random.Generator,
    metric: int,
    iterations: int,
    settled: float,
    progress: Progress | None,
) -> Clusters:
    centroids = seed_centroids(embedded, mass, k, rng, metric)
    count = len(embedded)
    labels, gaps = np.empty(count, np.int32), np.empty(k)
    upper, lower = np.empty((2, count))
    assign_all(embedded, centroids, metric, labels, upper, lower)
    compared, done = count, 0
    sums, total, moved = np.empty_like(centroids), np.empty(k), np.empty(k)
    each = np.arange(k, dtype=np.int32)
    while done < iterations:
        add_up(embedded, mass, labels, sums, total)
        moved_to = centroids.copy()
        moved_to[total > 0] = sums[total > 0] / total[total > 0, None]
        _refill(embedded, mass, moved_to, labels, np.nonzero(total <= 0)[0], metric)
        own_distances(moved_to, centroids, metric, each, moved)
        centroids, done = moved_to, done + 1
        move_bounds(moved, labels, upper, lower)
        half_gaps(centroids, metric, gaps)
        changed, looked = assign_bounded(embedded, centroids, metric, gaps, labels, upper, lower)
        compared += looked
        if progress is not None:
            progress.update(1, changed=changed)
        if changed <= settled * count:
            break
    assign_all(embedded, centroids, metric, labels, upper, lower)
    return Clusters(centroids, labels, float(mass @ upper**2), done, compared)


def _refill(
    embedded: Floats,
    mass: Floats,
    centroids: Floats,
    labels: Labels,
    empty: npt.NDArray[np.intp],
    metric: int,
) -> None:
    """Give every cluster without points the point that is farthest from its own centroid."""
    if not len(empty):
        return
    far = np.empty(len(embedded))
    own_distances(embedded, centroids, metric, labels, far)
    far[mass <= 0] = -1.0
    for cluster, place in zip(empty, np.argsort(-far, kind="stable"), strict=False):
        centroids[cluster] = embedded[place]
