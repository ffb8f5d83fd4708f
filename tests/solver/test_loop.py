"""What happens between traversals: gadgets, averages of values, leaves; kernels and plain forms."""

from dataclasses import replace

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.gadgets import Cfrd, Fixed, MaxMargin, Mixture, warm_start
from deepstack.solver.cfr_kernels import BEST, CURRENT
from deepstack.solver.engine import Engine
from deepstack.solver.rules import RULES, update_rule
from deepstack.tree.betting import limit_raises
from deepstack.tree.menus import load_menu
from deepstack.values.solved import solve_situations

LEDUC = load_game("leduc")
NOLIMIT = load_game("nolimit_leduc")


def leduc(rule="cfr_plus", **settings):
    ranges = np.random.default_rng(3).uniform(0.1, 1, (2, 6))
    state = initial_state(LEDUC)
    return Engine(
        state, ranges, limit_raises, update_rule(rule), dtype=np.float64, merge=False, **settings
    )


def gadgets(player):
    rng = np.random.default_rng(8)
    constraints, live = rng.normal(0, 3, 6), np.ones(6)
    live[2] = 0
    made = {
        "cfrd": Cfrd(player, constraints, live),
        "margin": MaxMargin(player, constraints, live),
        "mixture": Mixture(0.3, rng.uniform(0, 1, 6), Cfrd(player, constraints, live)),
        "margin mixture": Mixture(0.6, rng.uniform(0, 1, 6), MaxMargin(player, constraints, live)),
        "fixed": Fixed(player, rng.uniform(0, 1, 6)),
        "warm": Cfrd(player, constraints, live),
    }
    warm_start(made["warm"], rng.uniform(0, 1, 6), 5.0)
    return made


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("kind", list(gadgets(0)))
@pytest.mark.parametrize("player", [0, 1])
def test_gadgets_in_the_kernel_are_the_plain_ones(kind, player, rule):
    inside, outside = leduc(rule), leduc(rule)
    here, there = gadgets(player)[kind], gadgets(player)[kind]
    inside.run(7, here)
    outside._iterate = outside._iterate_in_threads
    outside.run(7, there)
    np.testing.assert_allclose(here.reach(), there.reach(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(inside.tables.regret, outside.tables.regret, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inside.tables.average, outside.tables.average, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alternating", [True, False])
def test_values_are_averaged_with_the_weights_of_the_strategy_they_are_against(alternating):
    """The mean of the values over iterations, one iteration at a time."""
    state, ranges = initial_state(LEDUC), np.ones((2, 6))
    rule = update_rule("dcfr", alternating=alternating, delay=2)
    engine = Engine(state, ranges, limit_raises, rule, dtype=np.float64, merge=False)
    engine.average_values()
    engine.run(9)
    single = Engine(state, ranges, limit_raises, rule, dtype=np.float64, merge=False)
    weights, values = [], {0: [], 1: []}
    schedule = rule.schedule(1, 10)

    def seen(player):
        row = single.row(player, 0, 0, int(single.tree.source[player, 0]))
        return row * float(single.tree.scale[player, 0])

    if alternating:
        single.traverse(single.step(CURRENT), 1, 1)
        values[1].append(seen(1))
    for step, first, last in single.steps(schedule):
        single.traverse(step, first, last)
        for player in range(first, last + 1):
            values[player].append(seen(player))
    later = 1.0
    for t in range(8, -1, -1):
        weights.insert(0, later * schedule[t, 3])
        later *= schedule[t, 2]
    for player in (0, 1):
        expected = np.average(values[player][:9], axis=0, weights=weights)
        np.testing.assert_allclose(engine.mean_slot_values(0, player), expected, atol=1e-12)


class Linear:
    """Values that are a fixed linear function of the opponent's reach."""

    def values(self, leaves, reach):
        size = 1 + np.arange(reach.shape[2])[:, None]
        return np.stack([reach[1] * size, -reach[0] * size])


def test_leaves_are_worth_their_mean_once_they_are_averaged():
    engine = leduc(last_round=0, evaluator=Linear())
    engine.average_values()
    engine.run(20)
    # with linear values the mean over iterations is the value at the mean reach
    averaged = engine.root_values(BEST)
    engine._averages = None
    np.testing.assert_allclose(averaged, engine.root_values(BEST), atol=1e-10)


class Fails:
    def values(self, leaves, reach):
        raise ValueError("no value for this leaf")


def test_an_error_of_the_evaluator_comes_out_as_it_was():
    engine = leduc(last_round=0, evaluator=Fails())
    with pytest.raises(ValueError, match="no value for this leaf"):
        engine.run(3)


def test_a_reset_engine_is_a_new_one():
    engine, fresh = leduc(), leduc()
    engine.run(5)
    ranges = np.random.default_rng(4).uniform(0.1, 1, (2, 6))
    engine.reset(ranges)
    fresh.set_ranges(ranges)
    engine.run(4)
    fresh.run(4)
    np.testing.assert_array_equal(engine.tables.average, fresh.tables.average)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("game", [LEDUC, NOLIMIT])
def test_the_later_rounds_solved_are_their_subgames_solved(game, merge):
    menu = limit_raises if game.limit else load_menu("fcpa").raises
    state, rule = initial_state(game), update_rule("cfr_plus")
    ranges = np.ones((2, 6))
    engine = Engine(state, ranges, menu, rule, dtype=np.float64, merge=merge)
    lines = engine.betting_tree.stages[1].lines
    ranks = np.random.default_rng(2).uniform(0.1, 1, (2, len(lines), 3))
    reach = np.repeat(ranks, 2, axis=2)  # symmetric in suits, so that boards may merge
    found = engine.solve_onward(reach, 400)
    for number, line in enumerate(lines):
        if line.state.actor is None:
            continue
        expected = np.zeros((2, 6))
        for card in range(6):
            start = replace(line.state, board=(card,))
            given = reach[:, number : number + 1].copy()
            given[:, :, card] = 0
            expected += solve_situations(start, given, menu, rule, 400)[:, 0] / 4
        np.testing.assert_allclose(found[:, number], expected, atol=0.02 * line.state.pot)
        both = (found[:, number] * reach[:, number]).sum()
        assert both == pytest.approx(0, abs=0.02 * line.state.pot * reach[:, number].sum())
