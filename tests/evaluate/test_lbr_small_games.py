"""Local best response never wins more than a best response, where both are known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from lbr_players import Arbitrary

from deepstack.agents.build import make_agent
from deepstack.agents.resolver import ResolverAgent
from deepstack.evaluate.card_blind import card_blind_exploitability
from deepstack.evaluate.deals import deal
from deepstack.evaluate.lbr import play_hand
from deepstack.evaluate.lbr_agents import Answering, as_opponent
from deepstack.evaluate.lbr_bets import load_bets
from deepstack.evaluate.lbr_caller import lbr_against_caller
from deepstack.evaluate.lbr_exact import best_response, lbr_expectation
from deepstack.evaluate.statistics import mean_estimate
from deepstack.experiments.lbr_table2 import all_in_game
from deepstack.game.definition import load_game
from deepstack.resolve.assemble import best_response_value
from deepstack.resolve.continual import Resolver

ROUNDING = 1e-5  # of the pot of a hand; agents state single precision
LEDUC, NOLIMIT = load_game("leduc"), load_game("nolimit_leduc")


def agents(game):
    size = {} if game.limit else {"size": "pot"}
    for name in ("probe", "random", "raise"):
        yield name, make_agent({"agent": name, **size}, game)
    for name in ("call", "fold"):
        yield name, make_agent(name, game)
    yield "arbitrary", Arbitrary(game, 1)
    yield "resolver", ResolverAgent(game, iterations=8, snapshots=4)


@pytest.fixture(scope="module", params=[LEDUC, NOLIMIT], ids=["leduc", "nolimit_leduc"])
def known(request):
    """The game and its agents, whose answers are kept for all tests of the module."""
    game = request.param
    return game, dict(agents(game))


@pytest.mark.parametrize(
    "agent", ["call", "fold", "probe", "random", "raise", "arbitrary", "resolver"]
)
def test_no_more_than_a_best_response(known, agent):
    game, players = known
    player = players[agent]
    for setting in ("fc", "fcpa"):
        bets = load_bets(setting, game)
        for seat in (0, 1):
            local = lbr_expectation(game, player, bets, seat)
            best = best_response(game, player, bets, seat)
            assert local <= best + ROUNDING * game.big_blind


def test_against_a_caller_waiting_is_a_best_response(known):
    game, players = known
    last = load_bets("c;fcpa", game)
    exact = card_blind_exploitability(all_in_game(NOLIMIT), (0.0, 1.0, 0.0)).by_seat
    for seat in (0, 1):
        local = lbr_expectation(game, players["call"], last, seat)
        assert local == pytest.approx(best_response(game, players["call"], last, seat))
        if game is NOLIMIT:
            assert local == pytest.approx(exact[seat])


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_agrees_with_the_engine(seat):
    """The same value of a re-solving agent by the tables of the solver."""
    agent = ResolverAgent(LEDUC, iterations=5, snapshots=4)
    engine = best_response_value(Resolver(LEDUC, 1 - seat, agent.settings))
    plain = best_response(LEDUC, agent, load_bets("fcpa", LEDUC), seat)
    assert plain == pytest.approx(engine, abs=1e-5)


@pytest.mark.parametrize("game", [LEDUC, NOLIMIT], ids=["leduc", "nolimit_leduc"])
def test_hands_come_to_the_expectation(game):
    """Played hands are unbiased; four standard errors, 600 hands."""
    agent, bets = Arbitrary(game, 2), load_bets("fcpa", game)
    opponent = as_opponent(agent)
    assert isinstance(opponent, Answering)
    chips = np.array(
        [play_hand(game, opponent, bets, deal(game, 5, h, True), h, 5) for h in range(600)]
    )
    found = mean_estimate(chips.reshape(-1, 2).mean(axis=1))
    wanted = sum(lbr_expectation(game, agent, bets, seat) for seat in (0, 1)) / 2
    assert abs(found.mean - wanted) < 4 * found.ci95 / 1.96


@pytest.mark.slow
def test_a_caller_in_holdem_by_two_exact_ways():
    """Waiting for the river is a best response; table 2 has 34.0 ± 0.5 and 49.0 ± 0.4 BB/h."""
    game = load_game("hunl")
    first, _, third, last = lbr_against_caller(game)
    best = card_blind_exploitability(all_in_game(game), (0.0, 1.0, 0.0))
    assert last == pytest.approx(best.chips, rel=1e-9)
    assert abs(first / game.big_blind - 34.0) < 0.5
    assert abs(third / game.big_blind - 49.0) < 0.4


def test_the_resolver_answers_the_same_in_any_order(known):
    """A strategy is a function of the public history, whatever was asked before."""
    game, _ = known
    from deepstack.game.text import parse_state

    lines = ("", "c", "r", "cr") if game.limit else ("", "c", "r300", "r1200", "cr300")
    states = [parse_state(game, line, "|") for line in lines]
    states += [parse_state(game, "cc/", f"|/{card}") for card in ("Kh", "Js")]

    def ask(order):
        agent = ResolverAgent(game, iterations=8, snapshots=4)
        said = {i: agent.probabilities(states[i]) for i in order}
        return {**said, **{i: agent.probabilities(states[i]) for i in order[:2]}}

    forward, back = ask(range(len(states))), ask(range(len(states))[::-1])
    for i, (actions, table) in forward.items():
        assert back[i][0] == actions
        assert (back[i][1] == table).all()
