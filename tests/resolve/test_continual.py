"""Continual re-solving in games whose whole strategy can be assembled and best-responded to."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from deepstack.experiments.theorem12 import bound
from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_state
from deepstack.resolve.assemble import decisions, empty_game, fill_strategy
from deepstack.resolve.continual import GADGETS, Resolver, Settings
from deepstack.resolve.lookahead import VALUES, Lookahead, Solve
from deepstack.run.errors import InputError
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises
from deepstack.tree.menus import load_menu
from deepstack.values.leaves import NoisyLeaves
from deepstack.values.solved import SolvedLeaves

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
    found = exploitability(KUHN, Settings((Solve(limit_raises, CFR_PLUS, 300),), gadget, values))
    assert found < 0.002


def test_more_iterations_are_less_exploitable():
    few, many = (
        exploitability(LEDUC, Settings((Solve(limit_raises, CFR_PLUS, n),))) for n in (10, 60)
    )
    assert many < few / 3
    assert many < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("gadget", "values"), list(product(GADGETS, VALUES)))
def test_leduc_at_a_thousand_iterations_is_within_a_hundredth_of_a_chip(gadget, values):
    assert (
        exploitability(LEDUC, Settings((Solve(limit_raises, CFR_PLUS, 1000),), gadget, values))
        < 0.01
    )


def test_every_decision_of_a_seat_is_asked_for():
    resolver = Resolver(KUHN, 0, Settings((Solve(limit_raises, CFR_PLUS, 1),)))
    assert decisions(empty_game(resolver), 0) == 2
    leduc = empty_game(Resolver(LEDUC, 0, Settings((Solve(limit_raises, CFR_PLUS, 1),))))
    assert decisions(leduc, 0) + decisions(leduc, 1) == 6 + 6 * 30


def test_a_decision_is_a_function_of_the_public_history():
    resolver = Resolver(LEDUC, 1, Settings((Solve(limit_raises, CFR_PLUS, 50),)))
    state = initial_state(LEDUC).apply(Action("c"))
    first = resolver.decide(resolver.start(), state)
    raised = state.apply(first.actions[-1])
    resolver.decide(first.after(first.actions[-1]), raised.apply(Action("r", 5)))
    again = resolver.decide(resolver.start(), state)
    np.testing.assert_array_equal(first.probabilities, again.probabilities)


def test_an_unforeseen_bet_is_the_root_of_the_next_lookahead():
    game = load_game("nolimit_leduc")
    settings = Settings((Solve(load_menu("100%").raises, CFR_PLUS, 200),))
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
    resolver = Resolver(LEDUC, 0, Settings((Solve(limit_raises, CFR_PLUS, 100),)))
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
    resolver = Resolver(LEDUC, 1, Settings((Solve(limit_raises, CFR_PLUS, 5),)))
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
        ({"values": "mine"}, "values 'mine': expected one of best, average, mean"),
        ({"mix": 1.5}, "mix 1.5: expected 0 to 1"),
        ({"warm": -1}, "warm -1: expected 0 to 1"),
        ({"snapshots": 0}, "snapshots 0: expected at least 1"),
        ({"rounds": ()}, "rounds: expected how at least one betting round is solved"),
    ],
)
def test_wrong_settings_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Settings(**{"rounds": (Solve(limit_raises, CFR_PLUS, 10),), **changes})


@pytest.mark.parametrize(
    ("iterations", "delay", "message"),
    [
        (0, 0, "iterations 0: expected at least 1"),
        (10, 10, "omitted iterations 10: expected fewer than 10"),
    ],
)
def test_wrong_iterations_are_refused(iterations, delay, message):
    with pytest.raises(InputError, match=message):
        Solve(limit_raises, update_rule("cfr_plus", delay=delay), iterations)


def solved_at_the_end_of_the_round(iterations, inner=30, **settings):
    """Depth-limited on the first round, with the second one solved at every question."""
    leaves = partial(SolvedLeaves, iterations=inner, merge=True)
    rounds = (
        Solve(limit_raises, CFR_PLUS, iterations, leaves),
        Solve(limit_raises, CFR_PLUS, iterations),
    )
    return Settings(rounds, **settings)


def test_a_lookahead_may_end_with_the_betting_round():
    few, many = (exploitability(LEDUC, solved_at_the_end_of_the_round(n)) for n in (5, 60))
    assert many < few / 2
    assert many < 0.15


@pytest.mark.parametrize("factor", [2.0**-20, 0.5, 2.0**12])
@pytest.mark.parametrize("kind", list(GADGETS))
@pytest.mark.parametrize("seat", [0, 1])
def test_only_the_shape_of_our_range_matters(seat, kind, factor):
    """Multiplying our range by any number multiplies all values and changes no strategy.

    Powers of two, so that rounding cannot decide between equally good actions.
    """
    rng = np.random.default_rng(7)
    ranges, promised = np.ones((2, 6)), np.repeat(rng.normal(0, 2, 3), 2)
    ranges[seat] = np.repeat(rng.uniform(0.1, 1, 3), 2)
    state = parse_state(LEDUC, "" if seat == 0 else "c")
    solve = solved_at_the_end_of_the_round(20).rounds[0]
    found = []
    for scale in (1.0, factor):
        scaled = ranges.copy()
        scaled[seat] *= scale
        lookahead = Lookahead(state, seat, scaled, solve)
        lookahead.run(GADGETS[kind](1 - seat, promised * scale, np.ones(6)))
        start = lookahead.engine.betting_tree.stages[0].nodes[0].slots
        call = [slot.action.kind for slot in start].index("c")
        raised = call + 1
        found.append((lookahead.strategy(), lookahead.values_after(raised) / scale))
    np.testing.assert_array_equal(found[1][0], found[0][0])
    np.testing.assert_array_equal(found[1][1], found[0][1])


def test_decisions_by_the_public_history_alone():
    resolver = Resolver(LEDUC, 0, Settings((Solve(limit_raises, CFR_PLUS, 30),)))
    state = parse_state(LEDUC, "rc/c", "|/Qh")
    with pytest.raises(InputError, match="seat 1 is not to act"):
        resolver.decisions(state)
    asked = resolver.decisions(parse_state(LEDUC, "rc/cr", "|/Qh"))
    assert str(asked[0].state) == str(initial_state(LEDUC))
    first = resolver.decide(resolver.start(), initial_state(LEDUC))
    second = resolver.decide(first.after(Action("r", 3)), parse_state(LEDUC, "rc/", "|/Qh"))
    np.testing.assert_array_equal(asked[1].probabilities, second.probabilities)
    assert len(asked) == 3


def test_errors_at_the_leaves_cost_no_more_than_theorem_12_allows():
    """Exploitability rises with the size of the error, below (2 d + 1) j ε more than without."""

    def with_error(size):
        def leaves(state, raises):
            exact = SolvedLeaves(state, raises, iterations=20)
            return NoisyLeaves(exact, size, seed=3) if size else exact

        solve = Solve(limit_raises, CFR_PLUS, 40)
        return exploitability(LEDUC, Settings((replace(solve, leaves=leaves), solve)))

    exact, small, large = (with_error(size) for size in (0.0, 0.3, 3.0))
    slope = bound(LEDUC)
    assert exact < small < large
    for size, found in ((0.3, small), (3.0, large)):
        assert found <= exact + (2 * slope["resolves"] + 1) * slope["leaves"] * size


def test_the_numbers_of_theorem_12_in_leduc():
    assert bound(LEDUC) == {"resolves": 4, "leaves": 5 * 6}
