"""The order of hands before the last card: mean places over run-outs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deepstack.cards.notation import STANDARD, hand_cards, hand_index
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.values.inputs import live_hands, make_inputs
from deepstack.values.strengths import strength_keys

HUNL = load_game("hunl")


def keys(text):
    boards = np.array([STANDARD.parse(text)], np.int64).reshape(1, -1)
    hands = live_hands(HUNL, boards)
    return hands[0], strength_keys(HUNL, boards, hands)[0]


def test_after_the_turn_it_is_the_mean_over_all_rivers():
    hands, found = keys("Td9d6hQc")
    board = STANDARD.parse("Td9d6hQc")
    places = np.zeros(1326)
    for card in set(range(52)) - set(board):
        strengths = board_strengths([*board, card]).astype(int)
        live = strengths > 0
        weaker = np.searchsorted(np.sort(strengths[live]), strengths, "left")
        at_most = np.searchsorted(np.sort(strengths[live]), strengths, "right")
        places += np.where(live, weaker + at_most, 0)
    assert (found == np.unique(places[hands], return_inverse=True)[1] + found.min()).all()


def test_names_of_suits_do_not_matter():
    hands, found = keys("Td9d6hQc")
    others, other = keys("Ts9s6cQh")
    suits = np.array([2, 3, 0, 1])  # clubs and hearts, diamonds and spades change places
    cards = hand_cards()[hands].astype(int)
    moved = cards // 4 * 4 + suits[cards % 4]
    places = {hand_index(*hand): key for hand, key in zip(moved.tolist(), found, strict=True)}
    assert [places[hand] for hand in others.tolist()] == other.tolist()


def test_on_the_flop_sets_stand_above_air_and_draws_between():
    hands, found = keys("Td9d6h")
    place = dict(zip(hands.tolist(), found.tolist(), strict=True))
    top, draw, air = (place[hand_index(*STANDARD.parse(text))] for text in ("TcTh", "AdKd", "3c2s"))
    assert air < draw < top


def test_before_the_flop_classes_share_a_place_and_aces_lead():
    hands, found = keys("")
    assert len(np.unique(found)) <= 169
    aces = [hand_index(a, b) for a, b in combinations(range(48, 52), 2)]
    assert (found[aces] == found.max()).all()
    assert len(hands) == 1326


@pytest.mark.parametrize("stage", ["turn_end", "flop_start", "preflop_end"])
def test_every_stage_has_an_order(stage):
    inputs = make_inputs("order", stage)
    boards = np.arange(inputs.cards, dtype=np.int64)[None] * 9
    parts = inputs.tables(boards).parts
    count = parts["order"].shape[1]
    assert (np.sort(parts["order"][0].numpy()) == np.arange(count)).all()


def test_small_games_have_no_order_before_the_last_card():
    game = load_game("leduc")
    boards = np.zeros((1, 0), np.int64)
    with pytest.raises(InputError, match="is known for hold'em"):
        strength_keys(game, boards, live_hands(game, boards))
