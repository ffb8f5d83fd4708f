"""Buckets: the same for hands that differ by suits, by board and by canonical index, on disk."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.abstraction.buckets import (
    BOARD_CARDS,
    HOLD_EM,
    UNBUCKETED,
    bucket_table,
    build_abstraction,
    canonical_buckets,
    hand_buckets,
    load_abstraction,
    opponent_clusters,
    save_abstraction,
)
from deepstack.cards.boards import hand_permutation, relabel
from deepstack.cards.notation import STANDARD, blocked, hand_cards, hand_index
from deepstack.cards.ranges import hand_classes
from deepstack.run.errors import InputError

CLUSTERS = (hand_classes().class_of_hand % 3).astype(np.int64)  # cheap, and as good for tests
SMALL = {"sizes": (169, 9, 8, 7), "boards": (0, 2, 4, 20), "hands": 40, "clusters": CLUSTERS}


@pytest.fixture(scope="module")
def small():
    return build_abstraction(np.random.default_rng(0), **SMALL)


def test_every_live_hand_has_a_bucket_and_no_other(small):
    assert small.sizes == (169, 9, 8, 7)
    deck = np.random.default_rng(1).permutation(52)
    for round_, cards in enumerate(BOARD_CARDS):
        board = deck[:cards].tolist()
        buckets = hand_buckets(small, board)
        out = blocked(board)
        assert buckets.shape == (1326,)
        assert (buckets[out] == UNBUCKETED).all()
        assert buckets[~out].min() >= 0
        assert buckets.max() < small.sizes[round_]


def test_before_the_flop_classes_are_kept_apart(small):
    buckets, classes = hand_buckets(small, ()), hand_classes().class_of_hand
    assert len({*zip(buckets.tolist(), classes.tolist(), strict=True)}) == 169
    assert len(set(buckets.tolist())) == 169


@pytest.mark.parametrize("board", ["AhKh7c", "AhKd7c4s", "AhKd7c4s2h"])
def test_relabelled_suits_relabel_the_buckets(small, board):
    cards, names = STANDARD.parse(board), [3, 2, 0, 1]
    there = hand_buckets(small, relabel(cards, names).tolist())
    np.testing.assert_array_equal(hand_buckets(small, cards), there[hand_permutation(names)])


def test_buckets_are_numbered_by_strength(small):
    buckets = hand_buckets(small, STANDARD.parse("AhKd7c4s2h"))
    sets, nothing = hand_index(*STANDARD.parse("AsAd")), hand_index(*STANDARD.parse("8s6d"))
    assert buckets[sets] == small.sizes[3] - 1
    assert buckets[nothing] < small.sizes[3] // 2


@pytest.mark.parametrize("round_", [0, 1, 2, 3])
def test_canonical_hands_have_the_buckets_of_their_boards(small, round_):
    deck = np.random.default_rng(4).permutation(52)
    board = deck[: BOARD_CARDS[round_]]
    buckets = hand_buckets(small, board.tolist())
    hands = np.nonzero(~blocked(board))[0][::97]
    held = hand_cards()[hands].astype(np.int64)
    cards = np.concatenate([held, np.tile(board, (len(hands), 1))], axis=1)
    index = HOLD_EM.index(cards, round_)
    np.testing.assert_array_equal(canonical_buckets(small, round_, index), buckets[hands])


def test_a_table_holds_all_canonical_hands(small):
    np.testing.assert_array_equal(bucket_table(small, 0), np.arange(169))
    with pytest.raises(InputError, match="round 2: expected 0 or 1"):
        bucket_table(small, 2)


def test_the_same_seed_builds_the_same_buckets(small):
    again = build_abstraction(np.random.default_rng(0), **SMALL)
    for one, other in zip(small.centroids, again.centroids, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_abstraction_is_read_back(small, tmp_path):
    path = tmp_path / "small.npz"
    save_abstraction(small, path)
    read = load_abstraction(path)
    board = STANDARD.parse("AhKd7c4s2h")
    np.testing.assert_array_equal(hand_buckets(read, board), hand_buckets(small, board))


def test_a_damaged_file_is_refused(small, tmp_path):
    path = tmp_path / "small.npz"
    save_abstraction(small, path)
    whole = path.read_bytes()
    for end in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"small\.npz': expected a whole file"):
            load_abstraction(path)
    np.savez(path, version=7, clusters=CLUSTERS, round_1=[[1.0]], round_2=[[1.0]], round_3=[[1.0]])
    with pytest.raises(InputError, match="has version 7: expected 1"):
        load_abstraction(path)
    np.savez(path, version=1, clusters=CLUSTERS, round_1=[[1.0]], round_2=[[1.0]], round_3=[[1.0]])
    with pytest.raises(InputError, match="its parts do not go together"):
        load_abstraction(path)


def test_wrong_sizes_are_named():
    with pytest.raises(InputError, match=r"sizes \(10, 5, 5, 5\): expected 169"):
        build_abstraction(np.random.default_rng(0), (10, 5, 5, 5), clusters=CLUSTERS)


@pytest.mark.slow
def test_opponent_clusters_go_from_weak_to_strong():
    clusters = opponent_clusters(np.random.default_rng(0))
    assert set(clusters.tolist()) == set(range(8))
    assert clusters[hand_index(*STANDARD.parse("AhAd"))] == 7
    assert clusters[hand_index(*STANDARD.parse("7c2d"))] == 0
