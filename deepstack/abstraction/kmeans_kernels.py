"""Numba kernels of k-means; ``kmeans`` has their plain meaning and says what they are for."""

from __future__ import annotations

import numpy as np

from deepstack.run.jit import kernel

L1, L2 = 0, 1
SLACK = 1e-9
"""Share by which a bound must hold, so that rounding never decides between two centroids."""


# Sums may be reordered, so that several coordinates are added at a time.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def distance(a, b, metric):
    """The distance of two points [D]: sum of absolute differences, or Euclidean."""
    total = 0.0
    if metric == L1:
        for d in range(len(a)):
            total += abs(a[d] - b[d])
        return total
    for d in range(len(a)):
        total += (a[d] - b[d]) ** 2
    return np.sqrt(total)


@kernel
def shrink_to(points, centroid, metric, nearest):
    """Lower ``nearest`` [n] to the distances to one more centroid [D]."""
    for i in range(len(points)):
        nearest[i] = min(nearest[i], distance(points[i], centroid, metric))


@kernel
def own_distances(points, centroids, metric, labels, out):
    """The distance of every point to the centroid of its label: fills out [n]."""
    for i in range(len(points)):
        out[i] = distance(points[i], centroids[labels[i]], metric)


@kernel
def assign_all(points, centroids, metric, labels, upper, lower):
    """The nearest centroid of every point, its distance, and that of the second nearest.

    points [n, D], centroids [K, D]; fills labels int32 [n], upper and lower float64 [n]. Of equally
    near centroids the first counts.
    """
    for i in range(len(points)):
        best, second, label = np.inf, np.inf, 0
        for c in range(len(centroids)):
            d = distance(points[i], centroids[c], metric)
            if d < best:
                best, second, label = d, best, c
            elif d < second:
                second = d
        labels[i], upper[i], lower[i] = label, best, second


@kernel
def half_gaps(centroids, metric, gaps):
    """Half the distance of every centroid to the nearest other one: fills gaps [K]."""
    gaps[:] = np.inf
    for c in range(len(centroids)):
        for other in range(c):
            half = 0.5 * distance(centroids[c], centroids[other], metric)
            gaps[c], gaps[other] = min(gaps[c], half), min(gaps[other], half)


@kernel
def assign_bounded(points, centroids, metric, gaps, labels, upper, lower):
    """``assign_all``, but only for points whose bounds do not rule out another centroid.

    ``upper`` is at least the distance to the point's centroid, ``lower`` at most that to any other
    (Hamerly 2010); both are made exact where they are computed anew. Returns how many labels
    changed and how many points were compared with all centroids.
    """
    changed, compared = 0, 0
    for i in range(len(points)):
        label = labels[i]
        bound = max(gaps[label], lower[i]) * (1.0 - SLACK)
        if upper[i] < bound:
            continue
        upper[i] = distance(points[i], centroids[label], metric)
        if upper[i] < bound:
            continue
        compared += 1
        best, second, nearest = np.inf, np.inf, 0
        for c in range(len(centroids)):
            d = distance(points[i], centroids[c], metric)
            if d < best:
                best, second, nearest = d, best, c
            elif d < second:
                second = d
        upper[i], lower[i] = best, second
        if nearest != label:
            labels[i] = nearest
            changed += 1
    return changed, compared


@kernel
def add_up(points, weights, labels, sums, mass):
    """Sums [K, D] of weighted points and weights [K] of every cluster, from zero."""
    sums[:] = 0.0
    mass[:] = 0.0
    for i in range(len(points)):
        c, weight = labels[i], weights[i]
        mass[c] += weight
        for d in range(points.shape[1]):
            sums[c, d] += weight * points[i, d]


@kernel
def move_bounds(moved, labels, upper, lower):
    """Widen the bounds of all points after centroids have moved by ``moved`` [K]."""
    first = 0
    for c in range(len(moved)):
        if moved[c] > moved[first]:
            first = c
    second = 0.0
    for c in range(len(moved)):
        if c != first:
            second = max(second, moved[c])
    for i in range(len(labels)):
        upper[i] += moved[labels[i]]
        lower[i] -= second if labels[i] == first else moved[first]
