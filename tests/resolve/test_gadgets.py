"""Gadgets and subgames where everything can be computed: Leduc hold'em."""

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.gadgets import Cfrd, Fixed, MaxMargin, Mixture
from deepstack.resolve.subgames import (
    copy_strategy,
    entered_by,
    opponent_values,
    subgame_engine,
    subgames,
)
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises

RULE = update_rule("cfr_plus")


def leduc(seed=None, iterations=0):
    """Leduc with boards apart; with a seed, both players follow random strategies."""
    game = load_game("leduc")
    engine = Engine(
        initial_state(game), np.ones((2, 6)), limit_raises, RULE, dtype=np.float64, merge=False
    )
    if seed is not None:
        engine.tables.average[:] = np.random.default_rng(seed).random(len(engine.tables.average))
    engine.run(iterations)
    return engine


def resolved(whole, make, iterations, seats=(0, 1)):
    """The whole strategy with every subgame of the second round solved again for some seats."""
    result = leduc()
    result.tables.average[:] = whole.tables.average
    for part in subgames(whole):
        for seat in seats:
            if part.reach[seat].any():
                ranges = np.ones_like(part.reach)
                ranges[seat] = part.reach[seat]
                engine = subgame_engine(part, ranges, limit_raises, RULE)
                engine.run(iterations, make(part, 1 - seat))
                copy_strategy(engine, result, part, (seat,), back=True)
    return result


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("opponent", [0, 1])
def test_values_of_subgames_add_up_to_the_value_of_the_game(seed, opponent):
    """With our whole strategy fixed, what the opponent's best response wins is a maximum over the
    trunk of its values in the subgames (Burch, lemma 19): a trunk whose leaves carry those values
    has the same best response value."""
    whole = leduc(seed)
    values = {
        (part.line, part.board): opponent_values(
            whole, part, opponent, limit_raises, RULE, best=True
        )
        for part in subgames(whole)
    }

    class Carried:
        def values(self, leaves, reach):
            result = np.zeros_like(reach)
            stage = whole.board_tree[1]
            for (line, board), worth in values.items():
                result[opponent, 0, line, stage.place_in_parent[board]] += worth / 4
            return result

    trunk = Engine(
        whole.root, np.ones((2, 6)), limit_raises, RULE, dtype=np.float64, merge=False,
        last_round=0, evaluator=Carried(),
    )  # fmt: skip
    trunk.tables.average[:] = whole.tables.average[: len(trunk.tables.average)]
    expected = whole.root_values(BEST)[opponent]
    assert trunk.root_values(BEST)[opponent] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_constraints_that_our_old_strategy_keeps_are_kept_by_the_new_one(seed):
    """Safe re-solving: no hand of the opponent gains more than the error of the solve."""
    whole = leduc(seed)
    for number, part in enumerate(subgames(whole)):
        if number % 7:
            continue
        promised = opponent_values(whole, part, 1, limit_raises, RULE, best=True)
        ranges = np.ones_like(part.reach)
        ranges[0] = part.reach[0]
        engine = subgame_engine(part, ranges, limit_raises, RULE)
        engine.run(2000, Cfrd(1, promised, np.ones(5)))
        excess = engine.root_values(BEST)[1] - promised
        assert excess.max() < 0.002 * part.reach[0].sum()


@pytest.mark.parametrize("seed", range(3))
def test_re_solving_is_paid_at_most_what_it_exceeds_its_promises(seed):
    """Burch, lemmas 22 to 25 and theorem 18: whatever the solve, good or bad, exploitability rises
    by at most the excess over best-response constraints, summed over hands and subgames."""
    whole = leduc(seed)
    before = whole.root_values(BEST).sum(axis=1)
    make = lambda part, o: Cfrd(  # noqa: E731
        o, opponent_values(whole, part, o, limit_raises, RULE, best=True), np.ones(5)
    )
    for iterations in (1, 20):
        after = resolved(whole, make, iterations, seats=(0,))
        excess = 0.0
        for part in subgames(whole):
            old = opponent_values(whole, part, 1, limit_raises, RULE, best=True)
            new = opponent_values(after, part, 1, limit_raises, RULE, best=True)
            excess += np.maximum(new - old, 0.0).sum() / 4  # a board has chance 1/4
        assert after.root_values(BEST).sum(axis=1)[1] <= before[1] + excess + 1e-9


def random_constraints(whole, part, rng):
    """Best-response values of seat 1 with errors to both sides, beside the values themselves."""
    exact = opponent_values(whole, part, 1, limit_raises, RULE, best=True)
    return exact, exact + rng.normal(0, 0.2, 5) * part.reach[0].sum()


def gadget_value(constraints, values):
    """What the opponent wins in the gadget game against a strategy that leaves it ``values``."""
    return np.maximum(constraints, values).sum()


@pytest.mark.parametrize("seed", range(3))
def test_a_gadget_solve_finds_the_least_gadget_value(seed):
    """Lemmas 21 and 22, whether constraints can be kept or not: no other strategy, and the old one
    in particular, has a smaller gadget value by more than the error of the solve."""
    rng = np.random.default_rng(seed)
    whole, others = leduc(seed), [leduc(100 + n) for n in range(5)]
    for other in others:  # the same trunk with other strategies in the subgames
        trunk = int(whole.tables.at_slot[1])
        other.tables.average[:trunk] = whole.tables.average[:trunk]
    for part in list(subgames(whole))[seed::7]:
        exact, constraints = random_constraints(whole, part, rng)
        engine = entered_by(part, 0, limit_raises, RULE)
        engine.run(1000, Cfrd(1, constraints, np.ones(5)))
        found = gadget_value(constraints, engine.root_values(BEST)[1])
        left = [opponent_values(o, part, 1, limit_raises, RULE, best=True) for o in others]
        least = min(gadget_value(constraints, values) for values in [exact, *left])
        assert constraints.sum() - 1e-9 <= found
        assert found <= least + 0.005 * part.reach[0].sum()


@pytest.mark.parametrize("seed", range(3))
def test_wrong_constraints_are_paid_at_most_by_their_error(seed):
    """Lemmas 23 to 25 for one subgame, exactly: exploitability rises by at most what constraints
    exceed best-response values plus what the gadget value exceeds the constraints; and a strategy
    as good in the gadget as the old one pays at most the sum of all errors."""
    rng = np.random.default_rng(seed)
    whole = leduc(seed)
    before = whole.root_values(BEST)[1].sum()
    for iterations, part in zip((1, 10, 300, 300), list(subgames(whole))[seed::8], strict=False):
        exact, constraints = random_constraints(whole, part, rng)
        engine = entered_by(part, 0, limit_raises, RULE)
        engine.run(iterations, Cfrd(1, constraints, np.ones(5)))
        after = leduc(seed)
        copy_strategy(engine, after, part, (0,), back=True)
        over = np.maximum(constraints - exact, 0.0).sum()
        excess = gadget_value(constraints, engine.root_values(BEST)[1]) - constraints.sum()
        rise = 4 * (after.root_values(BEST)[1].sum() - before)  # a board has chance 1/4
        assert rise <= over + excess + 1e-9
        if iterations == 300:
            assert rise <= np.abs(constraints - exact).sum() + 0.005 * part.reach[0].sum()


def test_underestimated_constraints_cost_at_most_what_they_are_off():
    """Theorem 11: constraints too low by ε in all raise exploitability by at most ε and the error
    of the solve."""
    whole = leduc(iterations=300)
    base = whole.exploitability()
    rng = np.random.default_rng(0)
    total = 0.0

    def make(part, opponent):
        nonlocal total
        error = rng.uniform(0, 0.02, 5) * part.reach[1 - opponent].sum()
        total += error.sum() / 4
        promised = opponent_values(whole, part, opponent, limit_raises, RULE, best=True)
        return Cfrd(opponent, promised - error, np.ones(5))

    after = resolved(whole, make, 500)
    solving = 0.02
    assert after.exploitability() <= base + total / whole.mass / 2 + solving


def test_terminating_is_worth_the_constraint():
    gadget = Cfrd(1, [1.0, 5.0, -2.0], np.ones(3))
    for _ in range(50):
        gadget.observe(np.array([2.0, 3.0, -2.0]), 1.0, 1.0, True)
    follow = gadget.follow()
    assert follow[0] > 0.99  # two chips inside against one
    assert follow[1] < 0.01  # three inside against five
    assert gadget.reach().tolist() == follow.tolist()


def test_max_margin_enters_where_it_gains_most():
    gadget = MaxMargin(0, [0.0, 0.0, 0.0], [True, True, False])
    assert gadget.reach().tolist() == [0.5, 0.5, 0.0]
    for _ in range(50):
        gadget.observe(np.array([1.0, 2.0, 9.0]), 1.0, 1.0, True)
    assert gadget.reach() == pytest.approx([0, 1, 0], abs=1e-9)


def test_a_mixture_lies_between_estimate_and_gadget():
    safe = Cfrd(0, [0.0, 0.0], np.ones(2))
    gadget = Mixture(0.25, [1.0, 0.0], safe)
    assert gadget.player == 0
    assert gadget.reach() == pytest.approx([0.25 + 0.75 * 0.5, 0.75 * 0.5])
    assert Fixed(1, [0.3, 0.7]).reach().tolist() == [0.3, 0.7]


def test_wrong_gadgets_are_refused():
    with pytest.raises(InputError, match="constraints: expected a finite value"):
        Cfrd(0, [np.nan, 1.0], np.ones(2))
    with pytest.raises(InputError, match=r"coin-flip probability 2: expected 0 to 1"):
        Mixture(2, [1.0], Cfrd(0, [0.0], [1.0]))
    with pytest.raises(InputError, match="without merged boards"):
        list(
            subgames(Engine(initial_state(load_game("leduc")), np.ones((2, 6)), limit_raises, RULE))
        )
