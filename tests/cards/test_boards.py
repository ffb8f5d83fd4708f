"""Boards up to suit isomorphism, and chance nodes that deal one card of each class."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from deepstack.cards.boards import (
    canonical_boards,
    hand_permutation,
    next_cards,
    relabel,
    suit_permutations_fixing,
)
from deepstack.cards.isomorphism import Indexer, canonical_plain
from deepstack.cards.notation import STANDARD, hand_cards, hand_index
from deepstack.run.errors import InputError

# Flop, relabellings that fix it, classes of turn cards.
FLOPS = [
    ("Ah Kd 7c", 1, 49),  # rainbow
    ("Ah Kh 7c", 2, 36),  # two-tone: the two absent suits are alike
    ("Ah Kh 7h", 6, 23),  # monotone: the three absent suits are alike
    ("Ah Ad 7c", 2, 37),  # the suits of the pair are alike
    ("Ah Ad 7h", 2, 36),  # the pair is told apart by the third card
    ("Ah Ad Ac", 6, 25),  # the three suits are alike
]


@pytest.mark.parametrize(("n", "classes"), [(3, 1_755), (4, 16_432), (5, 134_459)])
def test_canonical_boards(n, classes):
    boards, weights = canonical_boards(n)
    assert boards.shape == (classes, n)
    assert weights.shape == (classes,)
    assert weights.sum() == comb(52, n)
    assert (np.diff(boards, axis=1) > 0).all()


@pytest.mark.parametrize(("n", "ranks", "suits"), [(1, 3, 2), (2, 4, 3), (3, 3, 4), (5, 2, 4)])
def test_canonical_boards_of_small_decks_are_brute_force(n, ranks, suits):
    boards, weights = canonical_boards(n, ranks, suits)
    forms = [canonical_plain([b], suits) for b in combinations(range(ranks * suits), n)]
    assert {
        canonical_plain([board], suits): weight
        for board, weight in zip(boards.tolist(), weights.tolist(), strict=True)
    } == {form: forms.count(form) for form in forms}


@pytest.mark.parametrize(("flop", "fixing", "classes"), FLOPS)
def test_suit_permutations_fixing_a_flop(flop, fixing, classes):
    cards = STANDARD.parse(flop)
    group = suit_permutations_fixing(cards)
    assert len(group) == fixing
    assert group[0].tolist() == [0, 1, 2, 3]
    assert all(set(relabel(cards, names)) == set(cards) for names in group)


@pytest.mark.parametrize(("flop", "fixing", "classes"), FLOPS)
def test_next_cards_of_a_flop(flop, fixing, classes):
    board = STANDARD.parse(flop)
    turns = next_cards(board)
    assert len(turns.cards) == classes
    assert turns.weights.sum() == 49
    group = suit_permutations_fixing(board).tolist()
    for card in range(52):
        names = turns.relabelling[card]
        if card in board:
            assert turns.class_of[card] == -1
            assert names.tolist() == [0, 1, 2, 3]
        else:
            assert names.tolist() in group
            assert relabel(card, names) == turns.cards[turns.class_of[card]]
    on_deck = turns.class_of[turns.class_of >= 0]
    assert (np.bincount(on_deck) == turns.weights).all()


def test_next_cards_over_all_flops_are_the_classes_of_flop_and_turn():
    classes = sum(len(next_cards(board).cards) for board in canonical_boards(3).cards)
    assert classes == Indexer((3, 1)).size()


def test_flop_and_turn_can_be_kept_apart():
    """Swapping clubs and diamonds keeps these four cards, but not the flop among them."""
    flop, turn = STANDARD.parse("2c 2d 3c"), STANDARD.parse("3d")
    assert len(suit_permutations_fixing((*flop, *turn))) == 4
    assert len(suit_permutations_fixing(flop, turn)) == 2


def test_merging_two_streets_deals_every_run_out_once():
    """Turn and river classes of a monotone flop, multiplied out, against all 49 · 48 deals."""
    flop = STANDARD.parse("Ah Kh 7h")
    indexer = Indexer((3, 1, 1))
    merged: dict[int, int] = {}
    turns = next_cards(flop)
    for turn, weight in zip(turns.cards.tolist(), turns.weights.tolist(), strict=True):
        group = suit_permutations_fixing(flop, [turn])
        rivers = next_cards((*flop, turn), among=group)
        for river, times in zip(rivers.cards.tolist(), rivers.weights.tolist(), strict=True):
            index = int(indexer.index([*flop, turn, river]))
            assert index not in merged
            merged[index] = weight * times
    rest = [c for c in range(52) if c not in flop]
    dealt = indexer.index([[*flop, a, b] for a in rest for b in rest if a != b])
    found, counts = np.unique(dealt, return_counts=True)
    assert merged == dict(zip(found.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize(("flop", "fixing", "classes"), FLOPS)
def test_values_of_a_card_are_those_of_its_representative_relabelled(flop, fixing, classes):
    """With a value that depends on hand and board only up to suits: the index of both."""
    board = STANDARD.parse(flop)
    indexer = Indexer((2, 3, 1))
    hands = hand_cards()

    def values(card):
        free = ~np.isin(hands, [*board, card]).any(axis=1)
        after = np.tile([*board, card], (free.sum(), 1))
        out = np.full(len(hands), -1, np.int64)
        out[free] = indexer.index(np.concatenate([hands[free], after], axis=1))
        return out

    turns = next_cards(board)
    of_class = [values(card) for card in turns.cards]
    for card in np.flatnonzero(turns.class_of >= 0):
        image = hand_permutation(turns.relabelling[card])
        assert (values(card) == of_class[turns.class_of[card]][image]).all()


def test_hand_permutation_renames_both_cards():
    names = [2, 0, 3, 1]
    image = hand_permutation(names)
    assert sorted(image) == list(range(1326))
    for hand, (lo, hi) in enumerate(hand_cards().tolist()):
        assert image[hand] == hand_index(*relabel([lo, hi], names).tolist())


def test_hand_permutations_compose():
    first, second = np.array([2, 0, 3, 1]), np.array([1, 0, 2, 3])
    after = hand_permutation(second)[hand_permutation(first)]
    assert (after == hand_permutation(second[first])).all()


def test_hand_permutation_of_one_card():
    assert hand_permutation([1, 0], ranks=3, hole=1).tolist() == [1, 0, 3, 2, 5, 4]


def test_small_deck():
    assert next_cards([], ranks=3, suits=2).weights.tolist() == [2, 2, 2]
    assert next_cards([1], ranks=3, suits=2).cards.tolist() == [0, 2, 3, 4, 5]


def test_bad_boards_and_relabellings_are_named():
    with pytest.raises(InputError, match="card 52: expected 0 to 51"):
        next_cards([0, 1, 52])
    with pytest.raises(InputError, match="card 1 stands twice"):
        suit_permutations_fixing([1, 2, 1])
    with pytest.raises(InputError, match=r"cards of type float64"):
        next_cards([0.5])
    with pytest.raises(InputError, match=r"permute 0 to 3"):
        hand_permutation([0, 1, 1, 3])
    with pytest.raises(InputError, match=r"expected rows that permute 0 to 3"):
        next_cards([0, 1, 2], among=[[0, 1]])
    with pytest.raises(InputError, match="expected a group"):
        next_cards([], among=[[1, 2, 0, 3]])
    with pytest.raises(InputError, match=r"expected all to leave board \[0\] alone"):
        next_cards([0], among=[[0, 1, 2, 3], [1, 0, 2, 3]])
    with pytest.raises(InputError, match="hands of 3 cards"):
        hand_permutation([0, 1, 2, 3], hole=3)
