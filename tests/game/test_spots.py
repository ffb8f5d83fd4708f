"""Spots become states, in whole units."""

import numpy as np
import pytest

from deepstack.cards.notation import STANDARD, blocked
from deepstack.game.spots import Spot
from deepstack.game.text import format_betting
from deepstack.run.errors import InputError


@pytest.mark.parametrize(
    ("board", "betting"),
    [("Td9d6h", "r100c/"), ("Td9d6hQc", "r100c/cc/"), ("Td9d6hQc2s", "r100c/cc/cc/")],
)
def test_a_spot_is_a_state(board, betting):
    state = Spot(board, pot=200, stack=900).state()
    assert format_betting(state) == betting
    assert state.board == STANDARD.parse(board)
    assert state.spent == (100, 100)
    assert state.game.stacks == (1000, 1000)
    assert state.actor == 0  # out of position
    assert state.legal.raise_to == (101, 1000)  # any bet from one chip on


@pytest.mark.parametrize(
    ("pot", "stack", "chip", "spent", "stacks"),
    [
        (200, 900, 1, 100, 1000),
        (2, 1, 1, 1, 2),
        (201, 900, 2, 201, 2001),
        (1, 1, 2, 1, 3),
        (200.0, "900", 1, 100, 1000),
        (5.5, 97.25, 100, 275, 10000),
        (0.1, 1, 100, 5, 105),
        (0.005, 1, 2000, 5, 2005),
    ],
)
def test_amounts_are_counted_in_whole_units(pot, stack, chip, spent, stacks):
    spot = Spot("Td9d6hQc2s", pot, stack)
    state = spot.state()
    assert spot.chip == chip
    assert state.spent == (spent, spent)
    assert state.game.stacks == (stacks, stacks)


def test_ranges_are_texts_or_weights_and_never_hold_the_board():
    board = STANDARD.parse("Td9d6hQc2s")
    spot = Spot(board, 200, 900, oop="TT:0.5", ip=np.ones(1326))
    oop, ip = spot.ranges()
    assert oop.sum() == pytest.approx(1.5)  # three of six pairs of tens
    assert ip.sum() == 1081
    assert not spot.ranges()[:, blocked(board)].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"board": "Td9d6hQcTd"}, "Td stands twice"),
        ({"board": (3, 3, 4)}, "is dealt twice"),
        ({"board": (3, 4, 52)}, "expected cards from 0 to 51"),
        ({"board": "Td9d"}, "of 2 cards: expected 3, 4 or 5"),
        ({"board": "Td9d6hQc2s3s"}, "of 6 cards: expected 3, 4 or 5"),
        ({"board": "Td9d6x"}, "card '6x'"),
        ({"pot": 0}, "pot=0: expected a positive number"),
        ({"pot": -10}, "pot=-10: expected a positive number"),
        ({"pot": "much"}, "pot=much: expected a positive number"),
        ({"pot": float("nan")}, "pot=nan: expected a positive number"),
        ({"pot": True}, "pot=True: expected a positive number"),
        ({"pot": 0.00000001}, "expected at most 6 decimals"),
        ({"stack": 0}, "stack=0: expected a positive number"),
        ({"stack": 1e12}, "expected at most 2147483647 chips"),
    ],
)
def test_a_wrong_spot_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Spot(**{"board": "Td9d6hQc2s", "pot": 200, "stack": 900, **change})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("TdTh", "no hand is left beside the board"),
        ("", "range token ''"),
        ("QQQ", "range token 'QQQ'"),
        (np.ones(1325), r"shape \(1325,\): expected \(1326,\)"),
    ],
)
def test_a_wrong_range_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Spot("Td9d6hQc2s", 200, 900, oop=given).ranges()
