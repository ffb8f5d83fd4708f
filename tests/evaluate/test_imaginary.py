"""Imaginary observations: unbiased by enumeration, and the published order of deviations."""

from __future__ import annotations

import numpy as np
import pytest
from aivat_games import TableAgent, by_seat, random_strategy

from deepstack.agents.build import make_agent
from deepstack.evaluate.aivat_exact import exact_moments
from deepstack.evaluate.aivat_records import stated_strategy
from deepstack.evaluate.imaginary import ESTIMATORS, imaginary_of_log, imaginary_values
from deepstack.evaluate.match import play_match, play_sets
from deepstack.evaluate.value_sources import solved_self_play
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError

UNBIASED = 1e-9
KUHN, LEDUC, HUNL = (load_game(name) for name in ("kuhn", "leduc", "hunl"))


def moments(game, players, seat, evaluated=None):
    """Mean and deviation of every estimator, by name."""
    known = [s == seat for s in (0, 1)]

    def estimate(record):
        return imaginary_values(record, seat, evaluated=evaluated)

    mean, sd = exact_moments(game, players, known, estimate)
    return mean, dict(zip(ESTIMATORS, sd, strict=True))


def true_value(game, players, seat):
    def chips(record):
        return [record.final.payoffs()[seat]]

    mean, sd = exact_moments(game, players, (False, False), chips)
    return mean[0], sd[0]


def test_on_policy_estimates_are_unbiased_and_in_the_published_order():
    """Johanson 2016, table 7.1: basic, all cards, with bet-call DIVAT, and with early folds."""
    players = solved_self_play(LEDUC, 500).strategy
    value, chips_sd = true_value(LEDUC, players, 0)
    mean, sd = moments(LEDUC, players, 0)
    assert np.abs(mean - value).max() < UNBIASED
    assert sd["basic"] == pytest.approx(chips_sd)  # on-policy it is the chips themselves
    order = ("basic", "all_cards", "all_cards_bet_call", "combined_bet_call")
    deviations = [sd[name] for name in order]
    assert deviations == sorted(deviations, reverse=True)
    assert sd["basic_bet_call"] < sd["basic"]
    assert sd["combined_bet_call"] < 0.7 * sd["basic"]


@pytest.mark.parametrize(("game", "seat"), [(KUHN, 0), (KUHN, 1), (LEDUC, 1)])
def test_off_policy_estimates_are_unbiased(game, seat):
    """One strategy plays, another one, which never does some things, is evaluated."""
    played, other, evaluated = random_strategy(1), random_strategy(2), random_strategy(3, never=0.2)
    table = [played, other] if seat == 0 else [other, played]
    wanted = [evaluated, other] if seat == 0 else [other, evaluated]
    value, _ = true_value(game, by_seat(*wanted), seat)
    mean, sd = moments(game, by_seat(*table), seat, evaluated)
    assert np.abs(mean - value).max() < UNBIASED
    assert sd["all_cards"] < sd["basic"]
    assert sd["combined"] < sd["early_folds"] < sd["basic"]


def test_the_log_of_a_match():
    """Chips of the log by the basic estimator; all estimators agree with them on average."""
    agents = [TableAgent(random_strategy(4)), make_agent("random", LEDUC)]
    piece = play_sets(LEDUC, agents, ["table", "random"], range(500), 3, True)
    found = imaginary_of_log(LEDUC, [*piece.lines, "SCORE:0|0:x|y"], "table", agents[0])
    chips = piece.chips[..., 0].ravel()
    np.testing.assert_allclose(found["basic"], chips, atol=1e-9)
    for values in found.values():
        error = np.std(values - chips) / np.sqrt(len(chips))
        assert abs(values.mean() - chips.mean()) < 4 * error + 1e-9


def test_another_strategy_is_evaluated_from_the_log():
    result = play_match(LEDUC, ["random", "probe"], 2000, seed=5)
    played, other = make_agent("random", LEDUC), make_agent("call", LEDUC)
    names = ["basic", "combined_bet_call"]
    lines = result.log
    found = imaginary_of_log(LEDUC, lines, "random", played, evaluated=other, estimators=names)
    truth = play_match(LEDUC, ["call", "probe"], 2000, seed=6).chips[..., 0]
    for values in found.values():
        error = np.hypot(np.std(values) / np.sqrt(len(values)), np.std(truth) / np.sqrt(2000))
        assert abs(values.mean() - truth.mean()) < 4 * error


def test_no_limit_hands_with_an_all_in():
    lines = [
        "STATE:0:r20000c///:AsKs|QdQh/2c3d4h/5s/Tc:20000|-20000:a|b",
        "STATE:1:r20000f:AsKs|QdQh:-100|100:a|b",
    ]
    agent = make_agent({"agent": "random", "size": "all-in"}, HUNL)
    found = imaginary_of_log(HUNL, lines, "a", agent)
    assert found["basic"].tolist() == [20000, -100]
    # from the big blind it folds, calls: both ends are imagined, whatever it did
    margin = (found["early_folds"][0] + 50) / 10000
    assert found["early_folds"][0] == pytest.approx(found["early_folds"][1])
    assert -0.2 < margin < 0  # a coin flip that the pair wins a little more often
    assert stated_strategy(agent, _facing()).totals.tolist() == [-1, 0]


def _facing():
    from deepstack.game.text import parse_state

    return parse_state(HUNL, "r20000")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("STATE:0:r300f:AsKs|:-100|100:a|b", "expected the cards of both players"),
        ("STATE:0:r300f:|AsKs:-100|100:a|b", "expected the cards of both players"),
    ],
)
def test_cards_must_be_known(line, message):
    with pytest.raises(InputError, match=message):
        imaginary_of_log(HUNL, [line], "a", make_agent("random", HUNL))


def test_an_unknown_estimator_is_refused():
    line = "STATE:0:r300f:AsKs|QdQh:-100|100:a|b"
    with pytest.raises(InputError, match="estimator 'magic': expected one of basic, early_folds"):
        imaginary_of_log(HUNL, [line], "a", make_agent("random", HUNL), estimators=["magic"])
