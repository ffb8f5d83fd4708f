"""Constraints of every kind, in Leduc hold'em with random strategies."""

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.constraints import (
    KINDS,
    constraint_values,
    last_choices,
    reach_shares,
    unblocked,
)
from deepstack.resolve.gadgets import Cfrd
from deepstack.resolve.subgames import copy_strategy, opponent_values, subgame_engine, subgames
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises

RULE = update_rule("cfr_plus")
EXACT = 1e-10  # float64 sums in another order


def leduc(seed=None, **changes):
    """Leduc with boards apart; with a seed, both players follow random strategies."""
    arguments = {"dtype": np.float64, "merge": False} | changes
    engine = Engine(
        initial_state(load_game("leduc")), np.ones((2, 6)), limit_raises, RULE, **arguments
    )
    if seed is not None:
        # cubed, so that some actions are rare
        engine.tables.average[:] = (
            np.random.default_rng(seed).random(len(engine.tables.average)) ** 3
        )
    return engine


def root_value(whole, opponent, values):
    """The opponent's best-response values [6] at the root if its subgames were worth ``values``."""
    stage = whole.board_tree[1]

    class Given:
        def values(self, leaves, reach):
            result = np.zeros_like(reach)
            for (line, board), worth in values.items():
                place = stage.place_in_parent[board]
                result[opponent, 0, line, place] += stage.weight[board] * worth
            return result

    trunk = leduc(last_round=0, evaluator=Given())
    trunk.tables.average[:] = whole.tables.average[: len(trunk.tables.average)]
    return trunk.root_values(BEST)[opponent]


@pytest.mark.parametrize("opponent", [0, 1])
def test_best_response_and_self_play_are_values_of_the_subgames(opponent):
    whole = leduc(1)
    for kind in ("best_response", "self_play"):
        found = constraint_values(whole, opponent, kind)
        for part in subgames(whole):
            alone = opponent_values(
                whole, part, opponent, limit_raises, RULE, best=kind == "best_response"
            )
            assert found[part.line, part.board] == pytest.approx(alone, abs=EXACT)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("opponent", [0, 1])
def test_subgames_worth_their_opponent_optimal_constraints_leave_the_root_its_value(seed, opponent):
    """Lemma 27, exactly: the slack of every choice is used up and no choice becomes better."""
    whole = leduc(seed)
    best = constraint_values(whole, opponent, "best_response")
    optimal = constraint_values(whole, opponent, "opponent_optimal")
    assert all((optimal[key] >= best[key] - EXACT).all() for key in best)
    assert any((optimal[key] > best[key] + 0.1).any() for key in best)
    expected = whole.root_values(BEST)[opponent]
    assert root_value(whole, opponent, optimal) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("opponent", [0, 1])
def test_non_subtree_constraints_are_the_opponent_optimal_ones_where_it_erred(opponent):
    whole = leduc(2)
    best, optimal, instead = (
        constraint_values(whole, opponent, kind)
        for kind in ("best_response", "opponent_optimal", "non_subtree")
    )
    below = 0
    for key in best:
        erred = optimal[key] > best[key] + EXACT
        assert instead[key][erred] == pytest.approx(optimal[key][erred])
        assert (instead[key] <= optimal[key] + EXACT).all()
        below += int((instead[key] < best[key] - EXACT).sum())
    assert below > 0


@pytest.mark.parametrize("opponent", [0, 1])
def test_shares_add_up_to_our_probability_of_playing_on(opponent):
    """The boards after a call of the opponent have all of its slack; those after ours as much as
    we call."""
    whole = leduc(3)
    values = {
        (line, board): whole.line_values(line, board, opponent, BEST)
        for line in range(5)
        for board in range(6)
    }
    stage = whole.board_tree[1]
    total = np.zeros((5, 6))
    for (line, board), share in reach_shares(
        whole, opponent, last_choices(whole, opponent, values)
    ).items():
        total[line, stage.place_in_parent[board]] += stage.weight[board] * share
    for line, state in enumerate(line.state for line in whole.betting_tree.stages[1].lines):
        closer = len(state.betting[0]) % 2 == 0  # seat 1 acts second
        if closer == opponent:
            assert total[line] == pytest.approx(1.0)
        else:
            assert (total[line] > 0).all()
            assert (total[line] < 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_re_solving_with_opponent_optimal_constraints_is_safe(seed):
    """Lemma 27 for all subgames at once: exploitability does not rise by more than the excess over
    the constraints, which a few hundred iterations make small."""
    whole, after = leduc(seed), leduc(seed)
    excess = 0.0
    promised = [constraint_values(whole, opponent, "opponent_optimal") for opponent in (0, 1)]
    for part in subgames(whole):
        for seat in (0, 1):
            ranges = np.ones_like(part.reach)
            ranges[seat] = part.reach[seat]
            engine = subgame_engine(part, ranges, limit_raises, RULE)
            allowed = promised[1 - seat][part.line, part.board]
            engine.run(100, Cfrd(1 - seat, allowed, np.ones(5)))
            copy_strategy(engine, after, part, (seat,), back=True)
            over = engine.root_values(BEST)[1 - seat] - allowed
            excess += np.maximum(over, 0.0).sum() / 4  # a board has chance 1/4
    excess /= whole.mass * 2
    assert excess < 0.02
    assert after.exploitability() <= whole.exploitability() + excess + EXACT


def test_hands_that_leave_two_cards_possible():
    held = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [1, 3]])
    weights = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    apart = ~(held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
    assert unblocked(held, weights) == pytest.approx(apart @ weights)


def test_wrong_kinds_are_refused():
    assert len(KINDS) == 4
    with pytest.raises(InputError, match="constraints 'magic': expected one of best_response, "):
        constraint_values(leduc(), 0, "magic")
    with pytest.raises(InputError, match="without merged boards"):
        constraint_values(leduc(merge=True), 0)
