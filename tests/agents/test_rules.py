"""The rule-based players: what they do, and that what they say is what they do."""

from collections import Counter

import numpy as np
import pytest

from deepstack.agents import StrategyAgent
from deepstack.agents.build import agent_labels, agent_names, agent_seeds, make_agent
from deepstack.agents.rules import Triple, Uniform
from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.run.errors import InputError

HUNL = load_game("hunl")
LIMIT = load_game("limit_holdem")


def test_always_fold_checks_when_there_is_nothing_to_call():
    agent = make_agent("fold", HUNL)
    state = initial_state(HUNL)
    assert agent.act(state) == Action("f")
    assert agent.act(state.apply(Action("c"))) == Action("c")


def test_always_raise_calls_past_the_cap():
    agent = make_agent("raise", LIMIT)
    state = initial_state(LIMIT)
    for _ in range(3):
        state = state.apply(agent.act(state))
    assert [action.kind for action in state.betting[0]] == ["r", "r", "r"]
    assert agent.act(state) == Action("c")


@pytest.mark.parametrize(("size", "to"), [("min", 200), ("pot", 300), ("all-in", 20000)])
def test_raise_sizes(size, to):
    assert Triple(HUNL, raise_=1, size=size).act(initial_state(HUNL)) == Action("r", to)


@pytest.mark.parametrize("name", sorted(set(agent_names()) - {"human", "resolver"}))
@pytest.mark.parametrize("game", [HUNL, LIMIT], ids=lambda game: game.name)
def test_probabilities_are_a_distribution_over_legal_actions(name, game):
    agent = make_agent(name, game)
    assert isinstance(agent, StrategyAgent)
    state = initial_state(game)
    for action in (None, Action("c")):
        state = state if action is None else state.apply(action)
        actions, probabilities = agent.probabilities(state)
        assert all(a in state.legal for a in actions)
        assert len(set(actions)) == len(actions)
        assert probabilities.shape == (game.hands, len(actions))
        assert probabilities.dtype == np.float32
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("name", ["triple", "random", "probe"])
def test_actions_are_drawn_with_the_stated_probabilities(name):
    agent = make_agent(name, LIMIT, seed=5)
    state = initial_state(LIMIT)
    actions, probabilities = agent.probabilities(state)
    draws = 3000
    counts: Counter = Counter()
    for hand in range(draws):
        agent.new_hand(1, hand)
        counts[agent.act(state)] += 1
    for action, p in zip(actions, probabilities[0].tolist(), strict=True):
        # five standard deviations of a binomial count
        assert abs(counts[action] - draws * p) <= 5 * np.sqrt(draws * p * (1 - p)) + 1e-9


def test_uniform_raises_are_uniform_over_all_totals():
    state = initial_state(HUNL)
    actions, probabilities = Uniform(HUNL).probabilities(state)
    raises = [p for a, p in zip(actions, probabilities[0], strict=True) if a.kind == "r"]
    assert len(raises) == 20000 - 200 + 1
    np.testing.assert_allclose(raises, 1 / 3 / len(raises), rtol=1e-5)


def test_an_agent_replays_a_hand_the_same_way():
    agent = make_agent("random", HUNL, seed=3)
    state = initial_state(HUNL)

    def first_actions():
        result = []
        for hand in range(20):
            agent.new_hand(1, hand)
            result.append(agent.act(state))
        return result

    assert first_actions() == first_actions()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("alice", "agent 'alice': expected one of call, equity, fold"),
        ({"fold": 1}, "agent None: expected one of"),
        ({"agent": "triple", "fold": 0.9}, "triple .*: expected three probabilities"),
        ({"agent": "raise", "size": "huge"}, "raise size 'huge': expected one of uniform"),
        ({"agent": "call", "luck": 1}, "agent call: .*luck"),
    ],
)
def test_a_wrong_specification_is_named(spec, message):
    with pytest.raises(InputError, match=message):
        make_agent(spec, HUNL)


def test_labels_and_seeds_are_distinct():
    assert agent_labels(["call", {"agent": "call"}, "fold"]) == ["call", "call_2", "fold"]
    assert len(set(agent_seeds(0, 3))) == 3
    with pytest.raises(InputError, match="seed -1: expected 0 or more"):
        agent_seeds(-1, 2)
