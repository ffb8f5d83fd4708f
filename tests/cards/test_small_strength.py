"""Showdown rules of small games: Kuhn, Leduc and Rhode Island poker."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from deepstack.cards.notation import STANDARD, Deck
from deepstack.cards.small_strength import (
    THREE_CARD_CLASSES,
    pair_strengths,
    three_card_class,
    three_card_strengths,
)
from deepstack.run.errors import InputError

Rule = Callable[..., np.ndarray]

KUHN = Deck("JQK", "s")
LEDUC = Deck("JQK", "hs")

# Of all C(52, 3) = 22,100 hands. A straight has 12 lowest ranks (A to Q) and 4**3 suits, less
# the 4 that are straight flushes; a flush C(13, 3) ranks less 12 straights in each suit.
THREE_CARD_COUNTS = {
    "straight flush": 12 * 4,
    "three of a kind": 13 * 4,
    "straight": 12 * (64 - 4),
    "flush": 4 * (286 - 12),
    "pair": 13 * 6 * 48,
    "high card": (286 - 12) * (64 - 4),
}


def in_order(rule: Rule, deck: Deck, *texts: str) -> bool:
    """Whether hands of equal length are strictly in order, weakest first."""
    strengths = rule([deck.parse(text) for text in texts], deck)
    return bool((np.diff(strengths) > 0).all())


def tie(rule: Rule, deck: Deck, one: str, other: str) -> bool:
    return bool(rule(deck.parse(one), deck) == rule(deck.parse(other), deck))


def test_kuhn_ranks_decide():
    assert in_order(pair_strengths, KUHN, "Js", "Qs", "Ks")


def test_leduc_order_of_all_hands():
    assert in_order(pair_strengths, LEDUC, "QhJs", "KhJs", "KhQs", "JhJs", "QhQs", "KhKs")


def test_leduc_showdowns():
    """On every board: a pair wins, else the higher card; equal ranks split."""
    for board in range(6):
        for a, b in combinations(sorted(set(range(6)) - {board}), 2):
            ours, theirs = pair_strengths([[a, board], [b, board]], LEDUC)
            rank_a, rank_b, shown = a // 2, b // 2, board // 2
            expected = (rank_a == shown, rank_a) > (rank_b == shown, rank_b)
            assert (ours > theirs) == expected
            assert (ours == theirs) == (rank_a == rank_b)


def test_pairs_of_three_and_four_cards():
    assert in_order(pair_strengths, STANDARD, "KcQdJh", "AcKdQh", "2c2d3h", "2c2dAh", "2c2d2h")
    assert in_order(
        pair_strengths,
        STANDARD,
        *("AcKdQhJs", "2c2dAhKs", "3c3d4h2s", "3c3d2h2s", "4c4d2h2s"),
        *("2c2d2h3s", "2c2d2hAs", "3c3d3h2s", "2c2d2h2s"),
    )
    assert tie(pair_strengths, STANDARD, "AcAd7h3s", "AhAs7d3c")


def test_pairs_ignores_suits_and_order():
    assert tie(pair_strengths, STANDARD, "2c3c4c5c", "5d3h4s2c")


def test_three_card_class_counts():
    strengths = three_card_strengths(list(combinations(range(52), 3)))
    counts = np.bincount(three_card_class(strengths), minlength=len(THREE_CARD_CLASSES))
    assert dict(zip(THREE_CARD_CLASSES, counts.tolist(), strict=True)) == THREE_CARD_COUNTS


def test_three_card_classes_in_order():
    assert in_order(
        three_card_strengths,
        STANDARD,
        *("5c3d2s", "AcKdJs", "2c2d3s", "AcAdKs", "5c3c2c", "AcKcJc"),
        *("Ac2d3s", "2c3d4s", "AcKdQs", "2c2d2s", "AcAdAs", "Ac2c3c", "AcKcQc"),
    )


def test_three_card_ace_does_not_wrap_around():
    value = three_card_strengths(STANDARD.parse("KcAd2h"))
    assert THREE_CARD_CLASSES[three_card_class(value)] == "high card"


@pytest.mark.parametrize(
    ("one", "other"),
    [("2c2dAs", "2h2sAc"), ("2c3d4s", "2h3h4c"), ("Ac9c4c", "Ad9d4d"), ("Ac3d2s", "2cAd3s")],
)
def test_three_card_ties(one, other):
    assert tie(three_card_strengths, STANDARD, one, other)


def test_three_card_straights_in_a_short_deck():
    """Ranks that the deck leaves out break a straight, and a low ace needs a two and a three."""
    deck = Deck("9JQKA", "cd")
    assert THREE_CARD_CLASSES[
        three_card_class(three_card_strengths(deck.parse("9cJdQc"), deck))
    ] == ("high card")
    assert in_order(three_card_strengths, deck, "Ac9dJc", "JcQdKc", "QcKdAc")


@pytest.mark.parametrize("rule", [pair_strengths, three_card_strengths])
@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ([0, 1, 52], "card 52: expected 0 to 51"),
        ([-1, 1, 2], "card -1: expected 0 to 51"),
        ([3, 1, 3], "a hand holds 2s twice"),
        ([0, 1, 2, 3, 4], "cards of shape 5: expected hands of"),
        (3, "cards of shape a single number: expected hands of"),
        ([0.0, 1.0, 2.0], "expected integers"),
    ],
)
def test_refused(rule, cards, message):
    with pytest.raises(InputError, match=message):
        rule(cards)


def test_shapes():
    cards = np.array(list(combinations(range(6), 2)))
    flat = pair_strengths(cards, LEDUC)
    np.testing.assert_array_equal(pair_strengths(cards.reshape(3, 5, 2), LEDUC).ravel(), flat)
