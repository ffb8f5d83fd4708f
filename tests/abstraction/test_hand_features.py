"""Features of hands: against plain counting, under relabelling of suits, and published figures."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.abstraction.features import (
    cluster_strengths,
    mean_strengths,
    strength_features,
    strength_features_plain,
)
from deepstack.cards.boards import hand_permutation, relabel
from deepstack.cards.notation import STANDARD, blocked, hand_cards, hand_index
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import board_strengths
from deepstack.run.errors import InputError

HALVES = (hand_classes().class_of_hand % 2).astype(np.int64)  # two clusters, by class
ROUNDING = 1e-12


def hand(text: str) -> int:
    return hand_index(*STANDARD.parse(text))


@pytest.mark.parametrize(
    ("board", "final"), [("AhKd7c4s2h", 5), ("AhKd7c4s", 5), ("9h8h7h", 3), ("9h8h7h", 4)]
)
@pytest.mark.parametrize("cards", ["QsQd", "6h5h"])
def test_features_are_those_of_plain_counting(board, final, cards):
    cards_of_board = STANDARD.parse(board)
    found = strength_features(cards_of_board, bins=10, final=final)
    mean, square, histogram = strength_features_plain(cards_of_board, hand(cards), 10, final)
    row = hand(cards)
    assert found.mean[row] == pytest.approx(mean, abs=ROUNDING)
    assert found.square[row] == pytest.approx(square, abs=ROUNDING)
    np.testing.assert_allclose(found.histogram[row], histogram, atol=ROUNDING)


@pytest.mark.parametrize("board", ["AhKd7c", "AhKd7c4s2h"])
def test_mean_strengths_are_those_of_the_features(board):
    cards = STANDARD.parse(board)
    np.testing.assert_array_equal(mean_strengths(cards), strength_features(cards).mean)


def test_blocked_hands_have_no_features():
    board = STANDARD.parse("AhKd7c4s")
    out = blocked(board)
    found = strength_features(board)
    assert not found.mean[out].any()
    assert not found.histogram[out].any()
    np.testing.assert_allclose(found.histogram[~out].sum(axis=1), 1, atol=ROUNDING)
    assert not cluster_strengths(board, HALVES)[out].any()


def test_strength_against_clusters_is_that_of_plain_counting():
    board = STANDARD.parse("AhKd7c4s2h")
    found, strengths = cluster_strengths(board, HALVES), board_strengths(board).astype(int)
    held = hand_cards()
    for row in (hand("QsQd"), hand("Ad3d"), hand("3s3d")):
        apart = ~np.isin(held, held[row]).any(axis=1) & (strengths > 0)
        for cluster in (0, 1):
            others = strengths[apart & (cluster == HALVES)]
            wins, ties = (others < strengths[row]).sum(), (others == strengths[row]).sum()
            assert found[row, cluster] == pytest.approx((wins + ties / 2) / len(others))


def test_one_cluster_of_all_hands_gives_the_mean_strength():
    board = STANDARD.parse("AhKd7c4s")
    everyone = cluster_strengths(board, np.zeros(1326, np.int64))[:, 0]
    np.testing.assert_allclose(everyone, strength_features(board).mean, atol=ROUNDING)


def test_a_cluster_that_a_hand_blocks_counts_as_everyone():
    aces = np.zeros(1326, np.int64)
    aces[hand_classes().class_of_hand == hand_classes().class_of_hand[hand("AsAd")]] = 1
    board = STANDARD.parse("AhKd7c4s2h")
    row = hand("AsAd")  # one ace is left to the opponent
    everyone = strength_features(board).mean[row]
    assert cluster_strengths(board, aces)[row, 1] == pytest.approx(everyone)


@pytest.mark.parametrize("board", ["AhKh7c", "AhKd7c4s"])
def test_relabelled_suits_relabel_the_features_exactly(board):
    cards, names = STANDARD.parse(board), [2, 0, 3, 1]
    image = hand_permutation(names)
    there = relabel(cards, names)[::-1].tolist()
    for one, other in zip(strength_features(cards), strength_features(there), strict=True):
        np.testing.assert_array_equal(one, other[image])
    one, other = cluster_strengths(cards, HALVES), cluster_strengths(there, HALVES)
    np.testing.assert_array_equal(one, other[image])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: strength_features((1, 2)), "board of 2 cards: expected 0, 3, 4 or 5"),
        (lambda: strength_features((1, 2, 3, 4), final=3), "board of 4 cards: expected"),
        (lambda: strength_features((1, 2, 2)), "expected different cards"),
        (lambda: strength_features((1, 2, 3), bins=0), "0 bins: expected at least 1"),
        (lambda: cluster_strengths((1, 2, 3), [1]), r"clusters of shape \(1,\): expected"),
        (lambda: cluster_strengths((1, 2, 3), np.arange(1326)), "differ by the names of suits"),
    ],
)
def test_a_wrong_question_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.slow
def test_published_figures_before_the_flop():
    """Johanson 2016, figure 5.2: earth mover's distances of strength histograms, in bins."""
    features = strength_features(())
    published = {
        ("4c4d", "6c6d"): 3.101,
        ("4c4d", "JhTh"): 6.212,
        ("4c4d", "KhQh"): 5.143,
        ("6c6d", "JhTh"): 6.462,
        ("6c6d", "KhQh"): 5.286,
        ("JhTh", "KhQh"): 3.103,
    }
    for (one, other), expected in published.items():
        gap = features.histogram[hand(one)] - features.histogram[hand(other)]
        assert np.abs(np.cumsum(gap)).sum() == pytest.approx(expected, abs=0.001)
    assert features.mean[hand("AhAd")] == pytest.approx(0.852037, abs=1e-6)
    assert features.square[hand("AhAd")] == pytest.approx(0.737211, abs=1e-6)
