"""AIVAT: unbiased whatever the estimates, by enumeration; much less luck with good ones."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from aivat_games import AbsurdValues, by_seat, draws, random_strategy

from deepstack.agents.build import make_agent
from deepstack.evaluate.aivat import aivat_of_log, aivat_value
from deepstack.evaluate.aivat_beliefs import start_belief
from deepstack.evaluate.aivat_exact import exact_moments
from deepstack.evaluate.aivat_many import seat_value
from deepstack.evaluate.aivat_records import (
    HandRecord,
    LoggingAgent,
    Step,
    Strategy,
    StrategyLog,
    action_code,
    records_of_log,
    stated_strategy,
)
from deepstack.evaluate.match import play_match, play_sets
from deepstack.evaluate.value_sources import (
    Equity,
    RoundValues,
    SelfPlay,
    shipped_network,
    solved_self_play,
)
from deepstack.game.definition import load_game
from deepstack.game.state import FOLD, RAISE, Action, initial_state
from deepstack.run.errors import InputError
from deepstack.values.leaves import EquityLeaves

UNBIASED = 1e-9  # of some chips; the absurd estimates are of the order of a thousand
KNOWN = [(True, True), (True, False), (False, True)]
KUHN, LEDUC, HUNL = (load_game(name) for name in ("kuhn", "leduc", "hunl"))
PLAYERS = by_seat(random_strategy(1, never=0.15), random_strategy(2, never=0.15))


def moments(game, known, source, players=PLAYERS):
    """Mean and deviation of chips and of AIVAT, for seat 0, over all hands of a game."""
    found = {}

    def estimate(record: HandRecord):
        # all that the estimate may depend on: what is public, and cards of unknown players
        hands = tuple(h for h, k in zip(record.final.hands, known, strict=True) if not k)
        key = record.final.betting, record.final.board, hands
        if key not in found:
            found[key] = aivat_value(record, source)
        return record.final.payoffs()[0], found[key]

    return exact_moments(game, players, known, estimate)


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("game", [KUHN, LEDUC], ids=["kuhn", "leduc"])
def test_absurd_estimates_leave_it_unbiased(game, known):
    mean, sd = moments(game, known, AbsurdValues(5))
    assert abs(mean[1] - mean[0]) < UNBIASED
    assert sd[1] > 100  # they are absurd indeed


@pytest.mark.parametrize("known", KNOWN)
def test_estimates_by_equity_and_by_networks_leave_it_unbiased(known):
    sources = [Equity(LEDUC), Equity(LEDUC, bets=True), RoundValues(LEDUC, {0: EquityLeaves()})]
    for source in sources:
        mean, sd = moments(LEDUC, known, source)
        assert abs(mean[1] - mean[0]) < UNBIASED
        assert sd[1] < sd[0]


def test_exact_estimates_of_known_players_leave_no_luck():
    mean, sd = moments(LEDUC, (True, True), SelfPlay(PLAYERS))
    assert mean[1] == pytest.approx(mean[0], abs=UNBIASED)
    assert sd[1] < 1e-6


@cache
def solved(iterations):
    return solved_self_play(LEDUC, iterations)


def test_good_estimates_take_95_per_cent_out_of_self_play():
    # the players and the estimates are two solves of different length
    players, source = solved(1000), solved(200)
    mean, sd = moments(LEDUC, (True, True), source, players.strategy)
    assert mean[1] == pytest.approx(mean[0], abs=UNBIASED)
    assert mean[0] == pytest.approx(-0.0856, abs=1e-3)  # the value of the game
    assert sd[1] < 0.05 * sd[0]


def test_one_known_player_of_two_takes_some_luck_out():
    mean, sd = moments(LEDUC, (True, False), solved(200), solved(1000).strategy)
    assert mean[1] == pytest.approx(mean[0], abs=UNBIASED)
    assert sd[1] < 0.5 * sd[0]


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_three_players_by_enumeration(seat):
    game = load_game("kuhn_3p")
    players = by_seat(*(random_strategy(s, never=0.15) for s in (1, 2, 3)))

    def absurd(state, seat, hands):
        return draws(seat, state).normal(3.0, 100.0, game.hands)

    def estimate(record):
        values = seat_value(record, seat), seat_value(record, seat, absurd)
        return record.final.payoffs()[seat], *values

    mean, sd = exact_moments(game, players, [s == seat for s in range(3)], estimate)
    assert np.abs(mean[1:] - mean[0]).max() < UNBIASED
    assert sd[1] < 0.7 * sd[0] < sd[2]


# ---- records and logs


class Secret:
    """Plays as another agent and does not say how."""

    def __init__(self, agent) -> None:
        self.new_hand, self.act = agent.new_hand, agent.act


@pytest.mark.parametrize("name", ["hunl", "leduc"])
def test_a_known_player_against_an_unknown_one(name):
    game = load_game(name)
    agents = [make_agent("probe", game, 1), Secret(make_agent("random", game, 2))]
    piece = play_sets(game, agents, ["probe", "secret"], range(20), 3, True, Equity(game))
    assert np.isfinite(piece.aivat[..., 0]).all()
    assert np.isnan(piece.aivat[..., 1]).all()


def test_the_log_of_the_dealer_and_of_the_player_give_what_the_match_gave():
    agents = [LoggingAgent(make_agent("probe", HUNL, 1)), Secret(make_agent("random", HUNL, 2))]
    names, source = ["probe", "secret"], Equity(HUNL)
    piece = play_sets(HUNL, agents, names, range(10), 3, True, source)
    logged = aivat_of_log(HUNL, piece.lines, {"probe": agents[0].log}, source)
    np.testing.assert_allclose(logged["probe"], piece.aivat[..., 0].ravel())
    asked = aivat_of_log(HUNL, piece.lines, {"probe": make_agent("probe", HUNL, 9)}, source)
    np.testing.assert_allclose(asked["probe"], logged["probe"])


def test_cards_that_were_not_shown_must_come_from_the_dealer():
    line = "STATE:0:r300f:AsKs|:-100|100:a|b"
    agent = make_agent("probe", HUNL)
    with pytest.raises(InputError, match="cards of seat 1 are not known; AIVAT needs the log"):
        aivat_of_log(HUNL, [line], {"a": agent}, Equity(HUNL))
    # with both strategies known nobody's cards matter
    both = aivat_of_log(HUNL, [line], {"a": make_agent("random", HUNL), "b": agent}, Equity(HUNL))
    assert both["a"] == -both["b"]


def test_a_log_without_one_of_the_decisions_is_refused():
    line = "STATE:0:r300f:AsKs|QdQh:-100|100:a|b"
    with pytest.raises(InputError, match="hand 0: the strategy log of a lacks one of its decis"):
        records_of_log(HUNL, [line], {"a": StrategyLog()})


def test_a_strategy_log_is_kept(tmp_path):
    log, state = StrategyLog(), initial_state(LEDUC)
    log.add(3, state, random_strategy(1)(state))
    log.save(tmp_path / "log.npz")
    found = StrategyLog.load(tmp_path / "log.npz")
    np.testing.assert_array_equal(found.get(3, state).table, log.get(3, state).table)
    assert found.get(4, state) is None
    (tmp_path / "log.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"strategy log .*: cannot be read"):
        StrategyLog.load(tmp_path / "log.npz")


def test_an_action_that_the_strategy_never_takes_is_refused():
    start = initial_state(KUHN, ((2,), (1,)))
    table = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])[::-1]
    step = Step(start, Action(RAISE, 2), Strategy(np.array([0, 2]), table))
    after = start.apply(step.action)
    answer = Step(after, Action(FOLD))
    record = HandRecord([step, answer], after.apply(answer.action), (True, False))
    with pytest.raises(InputError, match="seat 0 acted as its stated strategy never does"):
        aivat_value(record, Equity(KUHN))


def test_a_card_blind_player_is_asked_for_one_row():
    state = initial_state(HUNL)
    for name in ("random", "probe", "fold", "call"):
        agent = make_agent(name, HUNL)
        brief = stated_strategy(agent, state)
        actions, table = agent.probabilities(state)
        assert brief.table.shape == (1, len(brief.totals))
        stated = dict(zip(map(action_code, actions), table[0], strict=True))
        for total, probability in zip(brief.totals.tolist(), brief.table[0], strict=True):
            assert probability == pytest.approx(stated.get(total, 0.0), rel=1e-6)


# ---- matches


def test_always_fold_against_always_call_has_no_luck_left():
    result = play_match(HUNL, ["fold", "call"], 200, seed=2, aivat="equity")
    rate = result.aivat_rates()[0]
    assert rate.mean == pytest.approx(-250)
    assert rate.ci95 == pytest.approx(0, abs=1e-9)


def test_a_match_of_three_has_estimates_for_each():
    result = play_match(
        load_game("limit_holdem_3p"), ["fold", "raise", "raise"], 60, aivat="equity"
    )
    rates = result.aivat_rates()
    assert rates[0].mean == pytest.approx(-500)
    assert None not in rates


def test_estimates_do_not_depend_on_the_seat_of_the_names():
    result = play_match(LEDUC, ["random", "probe"], 100, seed=4, aivat="bet_call")
    np.testing.assert_allclose(result.aivat[..., 0], -result.aivat[..., 1])


def test_plain_and_estimated_means_agree_in_a_match():
    result = play_match(HUNL, ["random", "call"], 1000, seed=7, aivat="equity")
    plain, rate = result.win_rates()[0], result.aivat_rates()[0]
    assert abs(plain.mean - rate.mean) < np.hypot(plain.ci95, rate.ci95)
    assert rate.ci95 < 0.3 * plain.ci95


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("luck", "leduc", "values 'luck': expected one of equity, bet_call, self_play, network"),
        ("self_play", "hunl", "values of self-play in hunl: expected a limit game of 2"),
        ("network", "leduc", "values by network in leduc: no network ships"),
    ],
)
def test_a_wrong_source_is_refused(name, game, message):
    with pytest.raises(InputError, match=message):
        play_match(load_game(game), ["call", "call"], 2, aivat=name)


def test_the_shipped_network_gives_estimates():
    game = load_game("nolimit_leduc")
    agents = [make_agent({"agent": "probe", "size": "pot"}, game, seed) for seed in (3, 4)]
    piece = play_sets(game, agents, ["a", "b"], range(40), 1, True, shipped_network(game))
    won, aivat = piece.chips[..., 0].mean(axis=1), piece.aivat[..., 0].mean(axis=1)
    assert aivat.std() < 0.5 * won.std()
    assert abs(aivat.mean() - won.mean()) < 4 * (aivat - won).std() / np.sqrt(len(won))


def test_actions_are_valued_by_equity():
    state, strategy = initial_state(HUNL), Strategy(np.array([-1, 0, 300]), np.ones((1, 3)) / 3)
    even = start_belief(HUNL, (None, None))
    # seat 1 acts: a fold loses its 50; nobody is ahead
    np.testing.assert_allclose(Equity(HUNL).after_actions(even, state, strategy), [50.0, 0.0, 0.0])
    aces = start_belief(HUNL, (None, HUNL.deck.parse("AsAh")))
    margin = 2 * 0.8520 - 1  # the well-known equity of aces against any hand
    values = Equity(HUNL).after_actions(aces, state, strategy)
    np.testing.assert_allclose(values, [50.0, -100 * margin, -300 * margin / 2], rtol=1e-3)
