"""Matches: closed forms, duplicate deals, reproducibility."""

import numpy as np
import pytest

from deepstack.evaluate.deals import deal, seatings
from deepstack.evaluate.match import PIECE, play_match
from deepstack.evaluate.statistics import mean_estimate
from deepstack.game.definition import load_game
from deepstack.game.text import parse_log_line
from deepstack.run.errors import InputError
from deepstack.run.executors import Processes

HUNL = load_game("hunl")


def rates(game, agents, hands, **options):
    result = play_match(load_game(game), agents, hands, **options)
    return dict(zip(result.labels, result.win_rates(), strict=True))


@pytest.mark.parametrize("game", ["hunl", "limit_holdem"])
def test_always_fold_loses_750_to_always_raise(game):
    # half a big blind from the small blind, a whole one from the big blind: exact in every set
    result = rates(game, ["fold", "raise"], 200)
    assert result["fold"].mean == -750
    assert result["fold"].ci95 == 0
    assert result["raise"].mean == 750


@pytest.mark.parametrize("game", ["hunl", "limit_holdem"])
def test_always_fold_loses_250_to_always_call(game):
    # from the big blind it checks to a showdown that is worth nothing on average
    result = rates(game, ["fold", "call"], 20_000, seed=2)["fold"]
    assert result.ci95 < 20
    assert abs(result.mean + 250) < result.ci95 * 2


def test_always_call_against_itself_is_even():
    result = rates("hunl", ["call", "call"], 2000)
    assert result["call"].mean == 0
    assert result["call_2"].mean == 0
    single = rates("hunl", ["call", "call"], 4000, duplicate=False)["call"]
    assert abs(single.mean) < 2 * single.ci95


def test_always_fold_loses_500_three_handed():
    # Abou Risk and Szafron (2010): mean of the blinds, 5 and 10 of 10, over three seats
    result = rates("limit_holdem_3p", ["fold", "raise", "raise"], 600)
    assert result["fold"].mean == -500


def test_hands_of_a_duplicate_set_share_their_cards():
    first, second = deal(HUNL, 7, 10, True), deal(HUNL, 7, 11, True)
    assert (first.hands, first.board) == (second.hands, second.board)
    assert {first.seating, second.seating} == {(0, 1), (1, 0)}
    assert deal(HUNL, 7, 12, True).hands != first.hands
    assert deal(HUNL, 8, 10, True).hands != first.hands


def test_every_seating_of_three_players_is_played():
    assert len(set(seatings(3, True))) == 6
    assert seatings(3, False) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_deals_are_uniform():
    counts = np.zeros(52)
    for hand in range(4000):
        dealt = deal(HUNL, 1, hand, False)
        cards = [*sum(dealt.hands, ()), *dealt.board]
        assert len(set(cards)) == 9
        counts[cards] += 1
    expected = 4000 * 9 / 52
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert chi2 < 100  # 51 degrees of freedom: one in 20,000


def test_the_result_does_not_depend_on_the_executor():
    hands = 2 * (PIECE + 10)
    here = play_match(HUNL, ["random", "probe"], hands, seed=4)
    there = play_match(HUNL, ["random", "probe"], hands, seed=4, executor=Processes(2))
    assert here.log == there.log
    np.testing.assert_array_equal(here.chips, there.chips)


def test_aivat_changes_nothing_about_the_match():
    plain = play_match(HUNL, ["random", "probe"], 60, seed=4)
    both = play_match(HUNL, ["random", "probe"], 60, seed=4, aivat="equity", executor=Processes(2))
    assert both.log == plain.log
    np.testing.assert_array_equal(both.chips, plain.chips)
    assert plain.aivat_rates() == [None, None]
    assert set(plain.figures()["agents"]["probe"]) == {"mbb_per_game", "ci95"}
    figures = both.figures()["agents"]["probe"]
    assert set(figures) == {"mbb_per_game", "ci95", "aivat_mbb_per_game", "aivat_ci95"}
    assert figures["aivat_ci95"] < figures["ci95"]


def test_the_log_holds_every_hand():
    result = play_match(HUNL, ["random", "call"], 40, seed=1)
    totals = {"random": 0.0, "call": 0.0}
    for number, line in enumerate(result.log):
        hand, state, names = parse_log_line(HUNL, line)
        assert hand == number
        for name, chips in zip(names, state.payoffs(), strict=True):
            totals[name] += chips
    assert result.log_text().splitlines()[-1].startswith("SCORE:")
    assert totals["random"] == result.chips[..., 0].sum() == -totals["call"]


@pytest.mark.parametrize(
    ("agents", "hands", "message"),
    [
        (["call"], 10, "1 agents: hunl has 2 seats"),
        (["call", "call"], 11, "hands=11: expected a positive multiple of 2"),
        (["call", "call"], 0, "hands=0"),
        (["call", "nobody"], 10, "agent 'nobody'"),
    ],
)
def test_a_wrong_match_is_refused(agents, hands, message):
    with pytest.raises(InputError, match=message):
        play_match(HUNL, agents, hands)


def test_interval_of_a_mean():
    samples = np.random.default_rng(0).normal(3, 2, 10_000)
    estimate = mean_estimate(samples)
    assert abs(estimate.mean - 3) < 0.06
    assert abs(estimate.ci95 - 1.96 * 2 / 100) < 0.002
    assert mean_estimate(np.array([1.0])).ci95 is None
