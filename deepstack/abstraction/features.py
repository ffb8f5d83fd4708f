"""What a hand is worth on a board, as features: E[HS], E[HS²], histograms, opponent clusters.

The *strength* HS of a hand on a complete board is the chance to beat a uniform hand of the
opponent, ties half (M. Johanson, thesis 2016, section 5.2). Before the last card features are over
all run-outs: the mean E[HS], which is the equity against a uniform hand; the mean square E[HS²],
which favours hands that may yet become strong; the histogram of HS, whose earth mover's distance
tells draws from made hands; and the equities against clusters of the opponent's hands before the
flop (opponent cluster hand strength, OCHS).

Everything is counted in whole numbers, so hands that differ by the names of suits have exactly the
same features. Boards are of hold'em: no card, a flop, a turn or a river; ``final`` says how many
cards a complete board has (five; three in games that end after the flop).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.abstraction.feature_kernels import add_cluster_strengths, add_strengths
from deepstack.cards.boards import canonical_boards, hand_permutation
from deepstack.cards.notation import STANDARD, hand_cards
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import HANDS, STRONGEST, board_strengths
from deepstack.run.errors import InputError

BINS = 50
"""Equal bins of a histogram of strength; earth mover's distances are in units of bins."""
KEPT = 64
"""Boards, up to suits, whose features are kept; half a megabyte each with histograms."""
KEPT_MEANS = 4_000
"""Boards, up to suits, whose mean strengths are kept: all flops, and as many turns."""
CHUNK = 2_000  # boards whose strengths are in memory at once

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Strengths(NamedTuple):
    """Features of all hands on a board; zeros for hands that the board blocks. Read-only.

    Attributes:
        mean: float64 [1326] E[HS], from 0 to 1.
        square: float64 [1326] E[HS²].
        histogram: float64 [1326, bins] shares of the run-outs by strength; a row sums to 1.
    """

    mean: Floats
    square: Floats
    histogram: Floats


def strength_features(board: Sequence[int], bins: int = BINS, final: int = 5) -> Strengths:
    """The features of all hands on a board.

    A river takes some microseconds, a turn about a millisecond, a flop some 20 ms and no board at
    all some seconds; boards that differ by the names of suits are counted once and kept.

    >>> strengths = strength_features(STANDARD.parse("Ah Kd 7c 4s 2h")).mean
    >>> round(float(strengths[1324]) * 990)  # AdAs loses to 16 hands, the straights of 5 and 3
    974
    """
    if bins < 1:
        raise InputError(f"{bins} bins: expected at least 1")
    cards, image = canonical_board(board, final)
    kept = _strength_features(cards, bins, final)
    return kept if image is None else Strengths(*(_frozen(part[image]) for part in kept))


def mean_strengths(board: Sequence[int], final: int = 5) -> Floats:
    """E[HS] of all hands on a board, as of ``strength_features``: float64 [1326], read-only.

    Kept for many boards, for players who ask hand after hand.
    """
    cards, image = canonical_board(board, final)
    kept = _mean_strengths(cards, final)
    return kept if image is None else _frozen(kept[image])


def cluster_strengths(board: Sequence[int], cluster: npt.ArrayLike, final: int = 5) -> Floats:
    """Equity of all hands against a uniform hand of each of K clusters: float64 [1326, K].

    Args:
        board: the public cards.
        cluster: the cluster of every hand, whole numbers [1326] from 0 to K − 1, the same for
            hands that differ by the names of suits.
        final: the number of cards of a complete board.

    A hand that no hand of a cluster goes with has its equity against all hands there. Zeros for
    hands that the board blocks.
    """
    of_hand = np.asarray(cluster)
    if of_hand.shape != (HANDS,) or of_hand.dtype.kind not in "iu" or of_hand.min() < 0:
        raise InputError(f"clusters of shape {of_hand.shape}: expected whole numbers [{HANDS}]")
    classes = hand_classes().class_of_hand
    one = np.zeros(int(classes.max()) + 1, np.int64)
    one[classes] = of_hand
    if (one[classes] != of_hand).any():
        raise InputError("clusters: expected the same for hands that differ by the names of suits")
    cards, image = canonical_board(board, final)
    kept = _cluster_strengths(cards, tuple(one.tolist()), final)
    return kept if image is None else _frozen(kept[image])


def strength_features_plain(board: Sequence[int], hand: int, bins: int, final: int = 5) -> tuple:
    """``strength_features`` of one hand by plain counting: (mean, square, histogram [bins])."""
    held = hand_cards()
    mine, scores = set(held[hand].tolist()), []
    left = [c for c in range(len(STANDARD)) if c not in mine and c not in board]
    for rest in combinations(left, final - len(board)):
        strengths = board_strengths([*board, *rest])
        others = [
            int(strengths[o])
            for o, (lo, hi) in enumerate(held.tolist())
            if lo not in mine and hi not in mine and strengths[o] > 0
        ]
        own = int(strengths[hand])
        wins, ties = sum(o < own for o in others), sum(o == own for o in others)
        scores.append((wins + ties / 2) / len(others))
    values = np.array(scores)
    places = np.minimum((values * bins + 1e-9).astype(int), bins - 1)
    histogram = np.bincount(places, minlength=bins) / len(values)
    return values.mean(), (values**2).mean(), histogram


# ---- counting


@lru_cache(maxsize=KEPT)
def _strength_features(board: tuple[int, ...], bins: int, final: int) -> Strengths:
    opponents = comb(len(STANDARD) - 2 - final, 2)
    counts, sums, squares = (np.zeros(HANDS, np.int64) for _ in range(3))
    binned = np.zeros((HANDS, bins), np.int64)
    for boards, weights in _complete(board, final):
        strengths = board_strengths(boards)
        add_strengths(
            strengths, weights, hand_cards(), opponents, STRONGEST, counts, sums, squares, binned
        )
    if not board:
        counts, sums, squares, binned = (_by_class(a) for a in (counts, sums, squares, binned))
    # blocked hands were counted on no board; their sums stay zero
    times = np.maximum(counts, 1).astype(np.float64)
    best = 2.0 * opponents
    return Strengths(
        _frozen(sums / (times * best)),
        _frozen(squares / (times * best * best)),
        _frozen(binned / times[:, None]),
    )


@lru_cache(maxsize=KEPT_MEANS)
def _mean_strengths(board: tuple[int, ...], final: int) -> Floats:
    return _strength_features.__wrapped__(board, 1, final).mean


@lru_cache(maxsize=KEPT)
def _cluster_strengths(
    board: tuple[int, ...], cluster_of_class: tuple[int, ...], final: int
) -> Floats:
    cluster = np.array(cluster_of_class, np.int64)[hand_classes().class_of_hand]
    scores = np.zeros((HANDS, int(cluster.max()) + 1), np.int64)
    pairs = np.zeros_like(scores)
    for boards, weights in _complete(board, final):
        strengths = board_strengths(boards)
        add_cluster_strengths(strengths, weights, hand_cards(), cluster, STRONGEST, scores, pairs)
    if not board:
        scores, pairs = _by_class(scores), _by_class(pairs)
    everyone = scores.sum(axis=1) / np.maximum(2.0 * pairs.sum(axis=1), 1.0)
    return _frozen(np.where(pairs > 0, scores / np.maximum(2.0 * pairs, 1.0), everyone[:, None]))


def _complete(board: tuple[int, ...], final: int) -> list[tuple[npt.NDArray[np.uint8], Ints]]:
    """All complete boards [B, final] after a board and their weights [B], in chunks.

    Without a board they are one of every class of suits, for the sums of classes of hands.
    """
    if board:
        left = [card for card in range(len(STANDARD)) if card not in board]
        rest = list(combinations(left, final - len(board)))
        boards = np.array([board + cards for cards in rest], np.uint8).reshape(-1, final)
        weights = np.ones(len(boards), np.int64)
    else:
        classes = canonical_boards(final)
        boards, weights = classes.cards.astype(np.uint8), np.array(classes.weights)
    starts = range(0, len(boards), CHUNK)
    return [(boards[i : i + CHUNK], weights[i : i + CHUNK]) for i in starts]


def _by_class(sums: Ints) -> Ints:
    """Sums [1326, …] of all hands of a class, for each of them."""
    classes = hand_classes().class_of_hand
    total = np.zeros((int(classes.max()) + 1, *sums.shape[1:]), np.int64)
    np.add.at(total, classes, sums)
    return total[classes]


# ---- boards up to the names of suits


@lru_cache(maxsize=1)
def _relabellings() -> tuple[Ints, Ints]:
    """What suits become [24, 4], and what hands become [24, 1326]."""
    suits = np.array(list(permutations(range(4))), np.int64)
    return suits, np.stack([hand_permutation(names) for names in suits]).astype(np.int64)


def canonical_board(board: Sequence[int], final: int = 5) -> tuple[tuple[int, ...], Ints | None]:
    """The least board up to the names of suits, and what hands become there [1326]."""
    cards = tuple(int(card) for card in board)
    if final not in (3, 4, 5) or len(cards) not in (0, 3, 4, 5) or len(cards) > final:
        raise InputError(
            f"board of {len(cards)} cards: expected 0, 3, 4 or 5 and at most {final}, of 3 to 5"
        )
    if len(set(cards)) < len(cards) or not all(0 <= card < len(STANDARD) for card in cards):
        raise InputError(f"board {list(cards)}: expected different cards from 0 to 51")
    if not cards:
        return (), None
    suits, images = _relabellings()
    rank, suit = np.divmod(np.array(cards), 4)
    relabelled = np.sort(rank * 4 + suits[:, suit], axis=1)
    chosen = int((relabelled @ (64 ** np.arange(len(cards))[::-1])).argmin())
    return tuple(relabelled[chosen].tolist()), images[chosen]


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False  # shared by all callers
    return array
