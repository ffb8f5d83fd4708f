"""Numba kernels of hand features; ``features`` has their plain meaning and says what they are for.

Both take strengths of all hands on complete boards, int16 [B, H] with 0 where blocked, and count
opponents' hands that share no card with one's own. A win counts 2 and a tie 1, so sums are whole
numbers and do not depend on the order of boards or on the names of suits.
"""

from __future__ import annotations

import numpy as np

from deepstack.run.jit import kernel

BLOCKED = 0


@kernel
def sort_live(strengths, start, order):
    """Fill ``order`` with the live hands from the weakest to the strongest; how many there are.

    strengths int16 [H], start int32 [strongest + 2] (scratch), order int16 [H].
    """
    start[:] = 0
    for h in range(len(strengths)):
        start[strengths[h] + 1] += 1
    live = len(strengths) - start[BLOCKED + 1]
    start[BLOCKED + 1] = 0
    for s in range(len(start) - 1):
        start[s + 1] += start[s]
    for h in range(len(strengths)):
        s = strengths[h]
        if s != BLOCKED:
            order[start[s]] = h
            start[s] += 1
    return live


@kernel
def add_strengths(strengths, weights, held, opponents, strongest, counts, sums, squares, bins):
    """Add every board's scores k = 2 · wins + ties, each times the weight of the board.

    strengths int16 [B, H], weights int64 [B], held int16 [H, 2]; ``opponents`` is how many hands an
    opponent may hold, so that k / (2 · opponents) is the strength HS. Adds the weights to counts
    int64 [H], k to sums int64 [H], k² to squares int64 [H], and the weights to the bin of HS among
    equal ones in bins int64 [H, bins].
    """
    hands, width = strengths.shape[1], bins.shape[1]
    start = np.empty(strongest + 2, np.int32)
    order = np.empty(hands, np.int16)
    score = np.empty(hands, np.int32)
    weaker = np.empty(52, np.int32)
    bin_of = np.minimum(np.arange(2 * opponents + 1) * width // (2 * opponents), width - 1)
    for b in range(len(strengths)):
        row, weight = strengths[b], weights[b]
        live = sort_live(row, start, order)
        weaker[:] = 0
        first = 0
        while first < live:
            last = first
            while last < live and row[order[last]] == row[order[first]]:
                h = order[last]
                score[h] = first - weaker[held[h, 0]] - weaker[held[h, 1]]
                last += 1
            for i in range(first, last):
                weaker[held[order[i], 0]] += 1
                weaker[held[order[i], 1]] += 1
            for i in range(first, last):
                # one's own hand is among the equal ones, once in all and once with each card
                h = order[i]
                score[h] += last - weaker[held[h, 0]] - weaker[held[h, 1]] + 1
            first = last
        for i in range(live):
            h = order[i]
            k = np.int64(score[h])
            counts[h] += weight
            sums[h] += weight * k
            squares[h] += weight * k * k
            bins[h, bin_of[k]] += weight


@kernel
def add_cluster_strengths(strengths, weights, held, cluster, strongest, scores, pairs):
    """Add every board's scores against the hands of each of K clusters.

    strengths int16 [B, H], weights int64 [B], held int16 [H, 2], cluster int64 [H]. Adds
    2 · wins + ties to scores int64 [H, K] and the number of opponents' hands to pairs int64 [H, K],
    each times the weight of the board.
    """
    hands, clusters = scores.shape
    start = np.empty(strongest + 2, np.int32)
    order = np.empty(hands, np.int16)
    score = np.empty((hands, clusters), np.int32)
    below = np.empty(clusters, np.int32)
    weaker = np.empty((52, clusters), np.int32)
    for b in range(len(strengths)):
        row, weight = strengths[b], weights[b]
        live = sort_live(row, start, order)
        below[:] = 0
        weaker[:] = 0
        first = 0
        while first < live:
            last = first
            while last < live and row[order[last]] == row[order[first]]:
                h = order[last]
                lo, hi = held[h, 0], held[h, 1]
                for c in range(clusters):
                    score[h, c] = below[c] - weaker[lo, c] - weaker[hi, c]
                last += 1
            for i in range(first, last):
                h = order[i]
                below[cluster[h]] += 1
                weaker[held[h, 0], cluster[h]] += 1
                weaker[held[h, 1], cluster[h]] += 1
            for i in range(first, last):
                h = order[i]
                lo, hi = held[h, 0], held[h, 1]
                for c in range(clusters):
                    score[h, c] += below[c] - weaker[lo, c] - weaker[hi, c]
                score[h, cluster[h]] += 1
            first = last
        # now the counters hold all live hands
        for i in range(live):
            h = order[i]
            lo, hi = held[h, 0], held[h, 1]
            for c in range(clusters):
                scores[h, c] += weight * score[h, c]
                pairs[h, c] += weight * (below[c] - weaker[lo, c] - weaker[hi, c])
            pairs[h, cluster[h]] += weight
