"""Labels: values of solved situations, their unit, their accuracy."""

import numpy as np
import pytest

from data_gen.places import Place, live_hands, round_start
from data_gen.situations import draw_situations
from data_gen.solving import Precision, solve_one
from data_gen.storage import quantised
from deepstack.cards.notation import hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import load_game
from deepstack.solver.rules import DCFR_PLUS
from deepstack.tree.menus import load_menu

HUNL, LEDUC = load_game("hunl"), load_game("nolimit_leduc")
FCPA, CHECKS = load_menu("fcpa"), load_menu("fc")
CLOSE = Precision(((0.0, 0.002),), 3000)
RANDOM = {"random": 1.0}


def a_situation(seed, pots, game=HUNL, round_=3):
    drawn = draw_situations(
        Place(game, round_, False, FCPA), 1, pots, RANDOM, np.random.default_rng(seed)
    )
    root = round_start(game, round_, drawn.boards[0], int(drawn.contributions[0]))
    return root, quantised(drawn.ranges[0])


def test_without_bets_values_are_those_of_the_showdown():
    """cfv / pot, weighted by the opponent's range, not divided by what is not blocked."""
    root, ranges = a_situation(1, [[1000, 1001]])
    values, reached = solve_one(root, ranges, CHECKS, DCFR_PLUS, CLOSE)
    live = live_hands(HUNL, np.array(root.board))
    strengths = board_strengths(root.board)[live].astype(int)
    cards = hand_cards()[live]
    apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    equity = np.sign(strengths[:, None] - strengths[None, :]) * apart
    # half of the pot is won or lost
    np.testing.assert_allclose(values[0], equity @ ranges[1] / 2, atol=1e-6)
    np.testing.assert_allclose(values[1], equity @ ranges[0] / 2, atol=1e-6)
    assert reached == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("chips", [150, 1000, 12000])
def test_values_sum_to_zero_and_the_target_is_reached(chips):
    root, ranges = a_situation(2, [[chips, chips + 1]])
    values, reached = solve_one(root, ranges, FCPA, DCFR_PLUS, CLOSE)
    assert reached <= 0.002
    # float32 inside the solve
    assert (ranges * values).sum() == pytest.approx(0.0, abs=1e-5)


def test_nobody_loses_more_than_the_stack():
    """Chips are counted from the start of the hand: half a pot is in, half of it is behind."""
    root, ranges = a_situation(3, [[10000, 10001]])
    values, _ = solve_one(root, ranges, FCPA, DCFR_PLUS, CLOSE)
    assert 0.5 < np.abs(values).max() <= 1.0


def test_a_hand_that_nobody_holds_has_a_value_like_its_equals():
    """Hands outside a range are worth what they could win, not what a random player would."""
    root, ranges = a_situation(4, [[300, 301]])
    without = ranges.copy()
    live = live_hands(HUNL, np.array(root.board))
    strongest = int(np.argmax(board_strengths(root.board)[live]))
    without[0, strongest] = 0.0
    precise = Precision(((0.0, 1e-9),), 400)
    held, _ = solve_one(root, ranges, FCPA, DCFR_PLUS, precise)
    unheld, _ = solve_one(root, without / without.sum(1, keepdims=True), FCPA, DCFR_PLUS, precise)
    assert unheld[0, strongest] == pytest.approx(held[0, strongest], rel=0.1)


def test_the_target_depends_on_the_depth():
    precision = Precision(((0.0, 0.001), (5.0, 0.05)), 4000)
    shallow, ranges = a_situation(5, [[4000, 4001]])
    deep = round_start(HUNL, 3, shallow.board, 400)
    assert solve_one(shallow, ranges, FCPA, DCFR_PLUS, precision)[1] <= 0.001
    assert 0.001 < solve_one(deep, ranges, FCPA, DCFR_PLUS, precision)[1] <= 0.05


def test_iterations_are_limited():
    root, ranges = a_situation(6, [[100, 101]])
    _, reached = solve_one(root, ranges, FCPA, DCFR_PLUS, Precision(((0.0, 1e-9),), 12))
    assert reached > 0.01


def test_leduc_values_sum_to_zero():
    root, ranges = a_situation(7, [[100, 101]], LEDUC, 1)
    values, reached = solve_one(root, ranges, FCPA, DCFR_PLUS, CLOSE)
    assert values.shape == (2, 5)
    assert reached <= 0.002
    assert (ranges * values).sum() == pytest.approx(0.0, abs=1e-5)


def test_a_round_starts_with_the_chips_in():
    root = round_start(HUNL, 3, [0, 9, 22, 31, 47], 150)
    assert (root.round, root.actor, root.spent) == (3, 0, (150, 150))
    assert root.legal.raise_to == (250, 20000)
