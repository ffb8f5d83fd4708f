"""The re-solving player in small games."""

import numpy as np
import pytest

from deepstack.agents.build import make_agent
from deepstack.agents.protocol import StrategyAgent
from deepstack.agents.resolver import ResolverAgent
from deepstack.game.definition import load_game
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError

KUHN, LEDUC, NOLIMIT = (load_game(name) for name in ("kuhn", "leduc", "nolimit_leduc"))


def player(game, **settings):
    return ResolverAgent(game, 1, **{"iterations": 30, "network": None, **settings})


def test_it_is_an_agent_that_states_its_strategy():
    agent = make_agent({"agent": "resolver", "iterations": 20, "network": None}, LEDUC, seed=3)
    assert isinstance(agent, StrategyAgent)
    actions, table = agent.probabilities(parse_state(LEDUC, "r"))
    assert [str(action) for action in actions] == ["f", "c", "r5"]
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-6)


def test_the_order_of_questions_does_not_matter():
    lines = [("", None), ("rr", None), ("rc/cr", "|/Qh"), ("crc/", "|/Kh")]
    one, other = player(LEDUC), player(LEDUC)
    first = [one.probabilities(parse_state(LEDUC, *line))[1] for line in lines]
    second = [other.probabilities(parse_state(LEDUC, *line))[1] for line in reversed(lines)]
    for a, b in zip(first, reversed(second), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seat", [0, 1])
def test_its_actions_are_legal_and_repeatable(seat):
    state = parse_state(NOLIMIT, "" if seat == 0 else "r300", "Kh|" if seat == 0 else "|Jh")
    played = []
    for _ in range(2):
        agent = player(NOLIMIT)
        actions = []
        for hand in range(20):
            agent.new_hand(seat, hand)
            actions.append(agent.act(state))
        played.append(actions)
    assert played[0] == played[1]
    assert all(action in state.legal for action in played[0])
    assert len(set(played[0])) > 1  # it mixes


def test_kuhn_too():
    actions, table = player(KUHN, iterations=300).probabilities(parse_state(KUHN, "r"))
    fold = [str(action) for action in actions].index("f")
    np.testing.assert_allclose(table[[0, 2], fold], [1, 0], atol=0.02)  # jack folds, king calls


def test_three_players_are_refused():
    with pytest.raises(InputError, match="has 3 players: expected 2"):
        ResolverAgent(load_game("leduc_3p"))


def test_a_hand_that_is_over_is_refused():
    with pytest.raises(InputError, match="nobody is to act"):
        player(LEDUC).probabilities(parse_state(LEDUC, "rf"))


def test_an_action_it_would_not_consider_is_refused():
    state = parse_state(NOLIMIT, "r250r1200")
    with pytest.raises(InputError, match="it was not in the lookahead"):
        player(NOLIMIT).probabilities(state)


def test_a_game_without_a_network_that_is_too_large_is_refused():
    with pytest.raises(InputError, match="resolver for hunl: no value networks ship"):
        ResolverAgent(load_game("hunl"))
