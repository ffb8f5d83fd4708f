"""Cards, boards and hands as text and as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepstack.cards.notation import (
    RANKS,
    STANDARD,
    SUITS,
    Deck,
    blocked,
    hand_cards,
    hand_index,
)
from deepstack.run.errors import InputError

LEDUC = Deck("JQK", "hs")

decks = st.builds(
    Deck,
    st.sets(st.sampled_from(range(13)), min_size=1).map(
        lambda s: "".join(RANKS[i] for i in sorted(s))
    ),
    st.sets(st.sampled_from(range(4)), min_size=1).map(
        lambda s: "".join(SUITS[i] for i in sorted(s))
    ),
)
# Mostly letters that occur in cards, so that legal and nearly legal texts are frequent.
card_like = st.text(alphabet=RANKS + SUITS + " akqjt1CDHS", max_size=14)


def test_the_deck_starts_with_the_deuce_of_clubs_and_ends_with_the_ace_of_spades():
    assert STANDARD.parse("2c2d2h2s3c") == (0, 1, 2, 3, 4)
    assert STANDARD.card("As") == 51
    assert len(STANDARD) == 52


def test_small_decks_number_their_own_ranks_and_suits():
    assert [LEDUC.card(text) for text in ("Jh", "Js", "Qh", "Qs", "Kh", "Ks")] == list(range(6))


def test_cards_keep_the_order_in_which_they_are_written():
    assert STANDARD.format(STANDARD.parse("Td 9d6h\n As")) == "Td9d6hAs"
    assert STANDARD.parse("") == ()


@pytest.mark.parametrize("text", ["", "A", "AS", "as", "1c", "10c", "Ax", "Asx", " As"])
def test_what_is_not_a_card_is_named(text):
    with pytest.raises(InputError, match="expected a rank of") as caught:
        STANDARD.card(text)
    assert repr(text) in str(caught.value)


def test_a_card_of_another_deck_is_refused():
    with pytest.raises(InputError, match=r"'Ah'.*JQK.*hs.*'Ks'"):
        LEDUC.card("Ah")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("Td9", "two letters a card"), ("Td9d Td", "Td stands twice"), ("TdXx", "card 'Xx'")],
)
def test_boards_that_are_wrong_say_why(text, complaint):
    with pytest.raises(InputError, match=complaint):
        STANDARD.parse(text)


@pytest.mark.parametrize("ranks", ["", "KQ", "QQ", "J1", "jq"])
def test_decks_with_unknown_or_unordered_ranks_are_refused(ranks):
    with pytest.raises(InputError, match="ranks"):
        Deck(ranks, "cd")


@pytest.mark.parametrize("suits", ["", "dc", "cc", "x", "C"])
def test_decks_with_unknown_or_unordered_suits_are_refused(suits):
    with pytest.raises(InputError, match="suits"):
        Deck("JQK", suits)


def test_groups_that_share_a_card_are_refused():
    STANDARD.disjoint(STANDARD.parse("AsKs"), STANDARD.parse("QsJsTs"))
    with pytest.raises(InputError, match="Ks is dealt twice"):
        STANDARD.disjoint(STANDARD.parse("AsKs"), STANDARD.parse("QsKsTs"))


@given(st.one_of(st.text(), card_like))
def test_any_text_parses_to_distinct_cards_or_is_refused(text):
    try:
        cards = STANDARD.parse(text)
    except InputError:
        return
    assert len(set(cards)) == len(cards)
    assert STANDARD.format(cards) == "".join(text.split())


@given(st.data(), decks)
def test_cards_survive_the_round_trip_through_text(data, deck):
    cards = data.draw(st.lists(st.sampled_from(range(len(deck))), unique=True))
    assert deck.parse(deck.format(cards)) == tuple(cards)


@pytest.mark.parametrize("deck_size", [6, 24, 52])
def test_hand_cards_inverts_hand_index(deck_size):
    table = hand_cards(deck_size)
    assert table.shape == (deck_size * (deck_size - 1) // 2, 2)
    assert (table[:, 0] < table[:, 1]).all()
    for index, (lo, hi) in enumerate(table.tolist()):
        assert hand_index(lo, hi) == hand_index(hi, lo) == index


def test_one_card_hands_are_the_card():
    assert hand_cards(6, 1).tolist() == [[0], [1], [2], [3], [4], [5]]


def test_hands_of_three_cards_are_refused():
    with pytest.raises(InputError, match="3 cards"):
        hand_cards(52, 3)


@pytest.mark.parametrize(("cards", "left"), [("", 1326), ("As", 1275), ("Td9d6h", 1176)])
def test_blocked_hands_are_those_that_hold_a_card(cards, left):
    mask = blocked(STANDARD.parse(cards))
    assert mask.shape == (1326,)
    assert np.count_nonzero(~mask) == left


def test_blocked_works_on_one_card_hands():
    assert blocked([2], deck_size=6, hole=1).tolist() == [False, False, True, False, False, False]
