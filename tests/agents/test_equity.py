"""The equity player: exact equities, pot odds, and a strategy that it states and keeps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from deepstack.agents import StrategyAgent
from deepstack.agents.build import make_agent
from deepstack.agents.equity import Equity, hand_equities
from deepstack.cards.notation import STANDARD, hand_index
from deepstack.evaluate.match import play_match
from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_match_state
from deepstack.run.errors import InputError

TWO_SEATS = "hunl limit_holdem kuhn leduc nolimit_leduc holdem_2_4"
HUNL, LEDUC, KUHN = load_game("hunl"), load_game("leduc"), load_game("kuhn")


def hand(text: str) -> int:
    return hand_index(*STANDARD.parse(text))


def said(agent: Equity, state, row: int) -> dict[str, float]:
    actions, table = agent.probabilities(state)
    return {a.kind: float(p) for a, p in zip(actions, table[row], strict=True)}


@pytest.mark.parametrize(
    ("cards", "equity"),
    [("4c4d", 0.570228), ("6c6d", 0.632847), ("JhTh", 0.575279), ("AhAd", 0.852037),
     ("7c2d", 0.345836)],
)  # fmt: skip
def test_equities_before_the_flop(cards, equity):
    # exact E[HS], recomputed for Johanson 2016, figure 5.2
    assert hand_equities(HUNL, ())[hand(cards)] == pytest.approx(equity, abs=1e-6)


def test_equities_in_kuhn_and_leduc():
    np.testing.assert_allclose(hand_equities(KUHN, ()), [0, 0.5, 1])
    # with a jack on the board the other jack wins, queens only tie, kings lose to the jack
    jacks = hand_equities(LEDUC, (0,))
    assert jacks[0] == 0
    np.testing.assert_allclose(jacks[1:], [1, 0.125, 0.125, 0.625, 0.625])


def test_equities_of_leduc_before_the_board_are_means_over_it():
    cards = range(6)
    expected = np.zeros(6)
    for mine in cards:
        boards = [hand_equities(LEDUC, (board,))[mine] for board in cards if board != mine]
        expected[mine] = np.mean(boards)
    np.testing.assert_allclose(hand_equities(LEDUC, ()), expected)


def test_equities_of_a_game_that_ends_on_the_flop():
    # averaged over all flops, both players' equities sum to one
    game = load_game("holdem_2_4")
    assert hand_equities(game, ()).mean() == pytest.approx(0.5)
    assert hand_equities(game, STANDARD.parse("AhKd7c"))[hand("AsAd")] > 0.99


@pytest.mark.parametrize("name", [*TWO_SEATS.split(), "kuhn_3p", "leduc_3p", "limit_holdem_3p"])
def test_it_states_a_distribution_over_legal_actions(name):
    game = load_game(name)
    agent = make_agent("equity", game)
    assert isinstance(agent, StrategyAgent)
    state = initial_state(game)
    for _ in range(3):
        if state.actor is None:
            break
        actions, table = agent.probabilities(state)
        assert all(action in state.legal for action in actions)
        assert table.shape == (game.hands, len(actions))
        assert table.dtype == np.float32
        assert table.min() >= 0
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-6)
        state = state.apply(actions[-1])


def test_it_calls_exactly_when_the_pot_pays_for_it():
    # 20,000 to win 20,100 with a call of 19,900: the share of a call is 0.4975
    agent = Equity(HUNL, mix=0.0, respect=0.0)
    state = initial_state(HUNL).apply(Action("r", 20000))
    equities = hand_equities(HUNL, ())
    _, table = agent.probabilities(state)
    np.testing.assert_array_equal(table[:, 1] == 1, equities >= 19900 / 40000)


def test_strong_hands_bet_and_some_weak_ones():
    state = parse_match_state(HUNL, "MATCHSTATE:0:1:cc/:|/AhKd7c").state
    agent = Equity(HUNL, bluff=0.1)
    assert said(agent, state, hand("AsAd"))["r"] == 1
    assert said(agent, state, hand("3s2d")) == pytest.approx({"c": 0.9, "r": 0.1})


def test_a_raise_is_the_nearest_legal_total_to_its_size():
    state = initial_state(HUNL)
    for size, total in ((1.0, 300), (0.0, 200), (2.0, 500), (1e6, 20000)):
        assert Equity(HUNL, size=size).probabilities(state)[0][-1] == Action("r", total)


def test_raises_command_respect():
    state = initial_state(HUNL).apply(Action("r", 300))
    row = hand("Kc7d")
    bold, wary = Equity(HUNL, respect=0.0), Equity(HUNL, respect=0.3)
    assert said(bold, state, row)["f"] < said(wary, state, row)["f"]


def test_more_opponents_make_it_fold_more():
    game = load_game("limit_holdem_3p")
    state = initial_state(game).apply(Action("r", 20))  # small blind to act, two opponents
    alone = state.apply(Action("f"))  # big blind to act, one opponent
    agent, row = Equity(game, respect=0.0), hand("9c3d")
    assert said(agent, state, row)["f"] > said(agent, alone, row)["f"]


def test_actions_are_drawn_with_the_stated_probabilities():
    agent = Equity(LEDUC, seed=5, bluff=0.3)
    state = initial_state(LEDUC)
    draws, row = 2000, 0
    counts: Counter = Counter()
    for number in range(draws):
        agent.new_hand(0, number)
        counts[agent.act(state.with_hands(((row,), ()))).kind] += 1
    for kind, p in said(agent, state, row).items():
        # five standard deviations of a binomial count
        assert abs(counts[kind] - draws * p) <= 5 * np.sqrt(draws * p * (1 - p)) + 1e-9


@pytest.mark.parametrize("opponent", ["call", "raise", "random", "probe"])
def test_it_beats_players_who_ignore_their_cards(opponent):
    rate = play_match(LEDUC, ["equity", opponent], 1000, seed=1).win_rates()[0]
    assert rate.mean > rate.ci95


def test_equities_do_not_depend_on_the_order_of_the_board():
    for order in combinations(STANDARD.parse("AhKd7c"), 3):
        np.testing.assert_array_equal(hand_equities(HUNL, order), hand_equities(HUNL, order[::-1]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bet_from": 2}, "equity player with bet_from 2: expected 0 to 1"),
        ({"mix": -1}, "equity player with mix -1: expected 0 or more"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(InputError, match=message):
        make_agent({"agent": "equity", **settings}, HUNL)
