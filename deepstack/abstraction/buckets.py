"""Buckets of hold'em hands: many hands that play alike share a number, round by round.

Every round is bucketed afresh (imperfect recall). Before the flop the 169 classes of hands are kept
apart; on the flop and the turn hands are clustered by the earth mover's distance of their strength
histograms, on the river by their strength against opponent clusters (k-means "KE" and "KO" of
M. Johanson, thesis 2016, section 5.4). Clusters are learned from a sample of boards; afterwards
only their centroids are kept, and the buckets of any board are found on demand.

Buckets of a round are numbered from the weakest to the strongest by the mean strength of their
centroids. Hands that differ by the names of suits share a bucket.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.abstraction.features import (
    BINS,
    canonical_board,
    cluster_strengths,
    strength_features,
)
from deepstack.abstraction.kmeans import kmeans, nearest
from deepstack.cards.isomorphism import Indexer
from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import HANDS
from deepstack.run.errors import InputError
from deepstack.run.files import replacing
from deepstack.run.progress import Progress

VERSION = 1  # of stored abstractions; changes when the same centroids would give other buckets
BOARD_CARDS = (0, 3, 4, 5)
SIZES = (169, 500, 500, 500)
CLASSES = 169
OPPONENT_CLUSTERS = 8
METRICS = ("", "emd", "emd", "l2")
HOLD_EM = Indexer((2, 3, 1, 1))
KEPT = 20_000
"""Boards, up to suits, whose buckets are kept: all flops and turns."""
UNBUCKETED = -1
"""The bucket of a hand that the board blocks."""

Buckets = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """Buckets of all rounds.

    Attributes:
        centroids: float64 [K, D] of the flop, the turn (histograms) and the river (strengths
            against clusters).
        clusters: int64 [1326] the opponent cluster of every hand.
    """

    centroids: tuple[npt.NDArray[np.float64], ...]
    clusters: npt.NDArray[np.int64]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many buckets each round has."""
        return (CLASSES, *(len(rows) for rows in self.centroids))

    @property
    def bins(self) -> int:
        return self.centroids[0].shape[1]


def hand_buckets(abstraction: Abstraction, board: Sequence[int]) -> Buckets:
    """The bucket of every hand on a board of 0, 3, 4 or 5 cards: int16 [1326].

    Blocked hands have ``UNBUCKETED`` = -1. With 500 buckets a flop takes some 30 ms, a turn or a
    river 15; boards up to the names of suits are kept.
    """
    cards, image = canonical_board(board)
    kept = _class_buckets(abstraction, cards)
    return kept if image is None else kept[image]


def canonical_buckets(abstraction: Abstraction, round: int, index: npt.ArrayLike) -> Buckets:
    """The buckets of canonical hands: indices [...] of ``Indexer((2, 3, 1, 1))`` to int16 [...]."""
    cards = HOLD_EM.unindex(index, round)
    rows = cards.reshape(-1, cards.shape[-1])
    lo, hi = np.sort(rows[:, :2], axis=1).T
    hands = hi * (hi - 1) // 2 + lo
    boards, place = np.unique(np.sort(rows[:, 2:], axis=1), axis=0, return_inverse=True)
    result = np.empty(len(rows), np.int16)
    order = np.argsort(place.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(place.reshape(-1), minlength=len(boards)))
    for board, chosen in zip(boards, np.split(order, ends[:-1]), strict=True):
        result[chosen] = hand_buckets(abstraction, board.tolist())[hands[chosen]]
    return result.reshape(cards.shape[:-1])


def bucket_table(abstraction: Abstraction, round: int) -> Buckets:
    """The buckets of all canonical hands before the flop or on it: int16 [169] or [1286792].

    Later rounds have tens of millions of hands and more; ask for theirs by board or by index.
    """
    if round not in (0, 1):
        raise InputError(f"round {round}: expected 0 or 1, whose hands fit a table")
    return canonical_buckets(abstraction, round, np.arange(HOLD_EM.size(round)))


def opponent_clusters(
    rng: np.random.Generator, count: int = OPPONENT_CLUSTERS, restarts: int = 10
) -> npt.NDArray[np.int64]:
    """Hands before the flop clustered by the earth mover's distance: int64 [1326], weakest first.

    Counting the strength of all hands on all boards takes some seconds.
    """
    features = strength_features(())
    classes = hand_classes().class_of_hand
    first = np.unique(classes, return_index=True)[1]
    found = kmeans(
        features.histogram[first],
        count,
        rng,
        metric="emd",
        weights=np.bincount(classes),
        restarts=restarts,
    )
    order = np.argsort(_mean_strength(found.centroids, "emd"), kind="stable")
    return np.argsort(order)[found.labels][classes].astype(np.int64)


def build_abstraction(
    rng: np.random.Generator,
    sizes: Sequence[int] = SIZES,
    *,
    boards: Sequence[int] = (0, 300, 1500, 6000),
    hands: int = 64,
    bins: int = BINS,
    clusters: npt.NDArray[np.int64] | None = None,
    iterations: int = 50,
    progress: Progress | None = None,
) -> Abstraction:
    """Learn buckets from random boards.

    Args:
        rng: draws boards, hands and first centroids.
        sizes: buckets by round; the first is 169.
        boards: boards by round that clusters are learned from.
        hands: hands that are drawn on each of them.
        bins: of the histograms.
        clusters: opponent clusters [1326]; made by ``opponent_clusters`` unless given.
        iterations: of k-means, at most.
        progress: counts boards.
    """
    if len(sizes) != 4 or sizes[0] != CLASSES or not all(1 <= size < 2**15 for size in sizes):
        raise InputError(f"sizes {tuple(sizes)}: expected {CLASSES} and three below {2**15}")
    of_hand = opponent_clusters(rng) if clusters is None else np.asarray(clusters, np.int64)
    centroids = []
    for round in (1, 2, 3):
        points = []
        for _ in range(boards[round]):
            board = rng.permutation(52)[: BOARD_CARDS[round]]
            features = _features(round, board.tolist(), bins, of_hand)
            live = np.nonzero(~blocked(board))[0]
            points.append(features[rng.choice(live, min(hands, len(live)), replace=False)])
            if progress is not None:
                progress.update(1)
        sample = np.concatenate(points) if points else np.empty((0, 1))
        found = kmeans(
            sample, sizes[round], rng, metric=METRICS[round], iterations=iterations, settled=0.001
        )
        order = np.argsort(_mean_strength(found.centroids, METRICS[round]), kind="stable")
        centroids.append(found.centroids[order])
    return Abstraction(tuple(centroids), of_hand)


def save_abstraction(abstraction: Abstraction, path: str | os.PathLike[str]) -> None:
    """Write an abstraction to an ``.npz`` file."""
    parts: dict[str, Any] = {f"round_{r}": rows for r, rows in enumerate(abstraction.centroids, 1)}
    with replacing(path) as aside, open(aside, "wb") as file:
        np.savez_compressed(file, version=np.int64(VERSION), clusters=abstraction.clusters, **parts)


def load_abstraction(path: str | os.PathLike[str]) -> Abstraction:
    """Read what ``save_abstraction`` wrote; anything else is an error that says so."""
    try:
        with np.load(path) as file:
            version = int(file["version"])
            clusters = file["clusters"]
            centroids = tuple(file[f"round_{r}"] for r in (1, 2, 3))
    except Exception as error:  # a damaged archive raises whatever its reader stumbles over
        raise InputError(f"abstraction {str(path)!r}: expected a whole file ({error})") from None
    if version != VERSION:
        raise InputError(
            f"abstraction {str(path)!r} has version {version}: expected {VERSION}; build it again"
        )
    wide = int(clusters.max()) + 1 if clusters.shape == (HANDS,) else 0
    bins = centroids[0].shape[-1]
    if [rows.shape[-1] for rows in centroids] != [bins, bins, wide]:
        raise InputError(f"abstraction {str(path)!r}: its parts do not go together")
    return Abstraction(centroids, clusters)


def _features(
    round: int, board: Sequence[int], bins: int, clusters: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """What hands are clustered by in a round [1326, D]."""
    if round == 3:
        return cluster_strengths(board, clusters)
    return strength_features(board, bins).histogram


def _mean_strength(centroids: npt.NDArray[np.float64], metric: str) -> npt.NDArray[np.float64]:
    """The mean strength of centroids [K], to number them by."""
    if metric == "l2":
        return centroids.mean(axis=1)
    bins = centroids.shape[1]
    return centroids @ ((np.arange(bins) + 0.5) / bins)


@lru_cache(maxsize=KEPT)
def _class_buckets(abstraction: Abstraction, board: tuple[int, ...]) -> Buckets:
    round = BOARD_CARDS.index(len(board))
    buckets = np.full(HANDS, UNBUCKETED, np.int16)
    if round == 0:
        buckets[:] = HOLD_EM.index(hand_cards(), 0)
    else:
        features = _features(round, board, abstraction.bins, abstraction.clusters)
        live = ~blocked(board)
        buckets[live] = nearest(features[live], abstraction.centroids[round - 1], METRICS[round])
    buckets.flags.writeable = False  # shared by all callers
    return buckets
