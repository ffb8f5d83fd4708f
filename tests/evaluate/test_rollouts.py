"""Roll-outs against plain enumeration, other code that counts the same, and known equities."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.cards.notation import STANDARD, blocked, hand_cards, hand_index
from deepstack.evaluate.rollouts import equities, equities_plain, possible
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_equity

HUNL = load_game("hunl")
SMALL = 1e-6  # other games come from a table in single precision


@pytest.mark.parametrize("name", ["kuhn", "leduc", "nolimit_leduc"])
def test_small_games_against_enumeration(name):
    game = load_game(name)
    boards = [(), *((card,) for card in range(len(game.deck)) if game.rounds > 1)]
    for board in boards:
        for hand in hand_cards(len(game.deck), game.hole_cards).tolist():
            if hand[0] not in board:
                plain = equities_plain(game, hand, board)
                assert equities(game, hand, board) == pytest.approx(plain, abs=SMALL)


@pytest.mark.parametrize("board", ["7h8h2cKd", "7h8h2cKdQs"])
def test_holdem_against_enumeration(board):
    hand, cards = STANDARD.parse("AsKs"), STANDARD.parse(board)
    assert equities(HUNL, hand, cards) == pytest.approx(equities_plain(HUNL, hand, cards))


@pytest.mark.parametrize(("board", "hand"), [("7h8h2c", "Th9h"), ("AcAdAh", "2c3d")])
def test_the_flop_against_the_equity_of_all_ins(board, hand):
    cards, own = STANDARD.parse(board), STANDARD.parse(hand)
    live = ~blocked(cards)
    row = int(np.cumsum(live)[hand_index(*own)]) - 1
    wanted = np.zeros(HUNL.hands)
    wanted[live] = allin_equity(cards)[row] / 2 + 0.5
    wanted[~possible(HUNL, (*own, *cards))] = 0.0
    assert equities(HUNL, own, cards) == pytest.approx(wanted, abs=SMALL)


@pytest.mark.parametrize(("hand", "share"), [("AsAh", 0.852037), ("3s2h", 0.323032)])
def test_before_the_flop_against_any_two_cards(hand, share):
    """The usual tables of pre-flop odds: aces win 85.2037 %, three-two off suit 32.3032 %."""
    found = equities(HUNL, STANDARD.parse(hand), ())
    assert found.sum() / 1225 == pytest.approx(share, abs=5e-7)


def test_hands_that_cannot_meet_are_zero():
    hand, board = STANDARD.parse("AsKs"), STANDARD.parse("7h8h2c")
    found = equities(HUNL, hand, board)
    assert not found[blocked((*hand, *board))].any()
    assert (possible(HUNL, (*hand, *board)) == ~blocked((*hand, *board))).all()


def test_a_hand_of_the_wrong_size_is_refused():
    with pytest.raises(InputError, match="expected 1 cards"):
        equities(load_game("leduc"), (0, 1), ())
