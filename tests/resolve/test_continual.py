"""Continual re-solving in games whose whole strategy can be assembled and best-responded to."""

from itertools import product

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_state
from deepstack.resolve.assemble import decisions, empty_game, fill_strategy
from deepstack.resolve.continual import GADGETS, VALUES, Resolver, Settings
from deepstack.run.errors import InputError
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises
from deepstack.tree.menus import load_menu

KUHN, LEDUC = load_game("kuhn"), load_game("leduc")
CFR_PLUS = update_rule("cfr_plus")


def exploitability(game, settings):
    resolvers = [Resolver(game, seat, settings) for seat in (0, 1)]
    whole = empty_game(resolvers[0])
    for resolver in resolvers:
        fill_strategy(whole, resolver)
    return whole.exploitability()


@pytest.mark.parametrize(("gadget", "values"), list(product(GADGETS, VALUES)))
def test_kuhn_is_played_almost_perfectly(gadget, values):
    found = exploitability(KUHN, Settings(limit_raises, CFR_PLUS, 300, gadget, values))
    assert found < 0.002


def test_more_iterations_are_less_exploitable():
    few, many = (exploitability(LEDUC, Settings(limit_raises, CFR_PLUS, n)) for n in (10, 60))
    assert many < few / 3
    assert many < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("gadget", "values"), list(product(GADGETS, VALUES)))
def test_leduc_at_a_thousand_iterations_is_within_a_hundredth_of_a_chip(gadget, values):
    assert exploitability(LEDUC, Settings(limit_raises, CFR_PLUS, 1000, gadget, values)) < 0.01


def test_every_decision_of_a_seat_is_asked_for():
    resolver = Resolver(KUHN, 0, Settings(limit_raises, CFR_PLUS, 1))
    assert decisions(empty_game(resolver), 0) == 2
    leduc = empty_game(Resolver(LEDUC, 0, Settings(limit_raises, CFR_PLUS, 1)))
    assert decisions(leduc, 0) + decisions(leduc, 1) == 6 + 6 * 30


def test_a_decision_is_a_function_of_the_public_history():
    resolver = Resolver(LEDUC, 1, Settings(limit_raises, CFR_PLUS, 50))
    state = initial_state(LEDUC).apply(Action("c"))
    first = resolver.decide(resolver.start(), state)
    raised = state.apply(first.actions[-1])
    resolver.decide(first.after(first.actions[-1]), raised.apply(Action("r", 5)))
    again = resolver.decide(resolver.start(), state)
    np.testing.assert_array_equal(first.probabilities, again.probabilities)


def test_an_unforeseen_bet_is_the_root_of_the_next_lookahead():
    game = load_game("nolimit_leduc")
    settings = Settings(load_menu("100%").raises, CFR_PLUS, 200)
    resolver = Resolver(game, 1, settings)
    for total in (200, 250, 350, 700, 1200):
        state = parse_state(game, f"r{total}")
        decision = resolver.decide(resolver.start(), state)
        assert decision.actions[:2] == (Action("f"), Action("c"))
        np.testing.assert_allclose(decision.probabilities.sum(axis=1), 1.0)
        kings = decision.probabilities[4:, 0]
        jacks = decision.probabilities[:2, 0]
        assert kings.max() < 0.05 < jacks.min() + 0.06  # kings do not fold


def test_ranges_follow_our_own_actions():
    resolver = Resolver(LEDUC, 0, Settings(limit_raises, CFR_PLUS, 100))
    first = resolver.decide(resolver.start(), initial_state(LEDUC))
    carried = first.after(Action("c"))
    np.testing.assert_allclose(carried.reach, first.probabilities[:, 0])
    state = carried.since.apply(Action("c")).deal((5,))
    second = resolver.decide(carried, state)
    assert second.carried.reach[5] == 0.0
    assert not second.probabilities[5].any()


@pytest.mark.parametrize(
    ("betting", "cards", "message"),
    [
        ("", None, "seat 2 is not to act"),
        ("rf", None, "the hand is over"),
        ("c", None, "does not follow"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(betting, cards, message):
    resolver = Resolver(LEDUC, 1, Settings(limit_raises, CFR_PLUS, 5))
    carried = resolver.start()
    if message == "does not follow":
        state = parse_state(LEDUC, "r")
        carried = resolver.decide(carried, state).after(Action("c"))
    with pytest.raises(InputError, match=message):
        resolver.decide(carried, parse_state(LEDUC, betting, cards))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gadget": "hope"}, "gadget 'hope': expected one of cfrd, max_margin"),
        ({"values": "mine"}, "values 'mine': expected one of best, average"),
        ({"iterations": 0}, "iterations 0: expected at least 1"),
    ],
)
def test_wrong_settings_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Settings(**{"raises": limit_raises, "rule": CFR_PLUS, "iterations": 10, **changes})
