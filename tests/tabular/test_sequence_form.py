"""The linear program and the plain recursions, against values known from the literature."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.tabular.sequence_form import (
    InfoSet,
    best_response_value,
    count_sequences,
    expected_value,
    exploitability,
    game_tree,
    solve_lp,
    uniform_strategy,
)

KUHN, LEDUC, NOLIMIT = (load_game(name) for name in ("kuhn", "leduc", "nolimit_leduc"))
J, Q, K = range(3)
LP_TOLERANCE = 1e-9  # chips; the programs are solved to 1e-10


def pot_or_all_in(state: State) -> tuple[int, ...]:
    """A raise by the pot after calling, or of everything."""
    return 3 * max(state.spent), state.game.stacks[0]


def random_strategy(game, seed):
    rng = np.random.default_rng(seed)
    return {key: rng.dirichlet(np.ones(len(p))) for key, p in uniform_strategy(game).items()}


# ---- the linear program


def test_kuhn_is_worth_minus_one_eighteenth():
    solution = solve_lp(KUHN)
    assert solution.values == pytest.approx((-1 / 18, 1 / 18), abs=LP_TOLERANCE)
    assert solution.sequences == (13, 13)
    assert len(solution.strategy) == 12


def test_kuhn_equilibrium_has_the_known_form():
    """Kuhn (1950): seat 1's equilibrium is unique, seat 0's has one free bluffing rate."""
    strategy = solve_lp(KUHN).strategy
    seat1 = {
        InfoSet("c", (J,), ()): (2 / 3, 1 / 3),  # check, bet
        InfoSet("c", (Q,), ()): (1, 0),
        InfoSet("c", (K,), ()): (0, 1),
        InfoSet("r", (J,), ()): (1, 0),  # fold, call
        InfoSet("r", (Q,), ()): (2 / 3, 1 / 3),
        InfoSet("r", (K,), ()): (0, 1),
    }
    for infoset, expected in seat1.items():
        assert strategy[infoset] == pytest.approx(expected, abs=1e-8), infoset
    bluff = strategy[InfoSet("", (J,), ())][1]
    assert -1e-8 <= bluff <= 1 / 3 + 1e-8
    assert strategy[InfoSet("", (K,), ())][1] == pytest.approx(3 * bluff, abs=1e-8)
    assert strategy[InfoSet("", (Q,), ())][1] == pytest.approx(0, abs=1e-8)
    call = strategy[InfoSet("cr", (Q,), ())][1]
    assert call == pytest.approx(bluff + 1 / 3, abs=1e-8)


def test_leduc_value():
    solution = solve_lp(LEDUC)
    assert solution.values[0] == pytest.approx(-0.085606424078, abs=LP_TOLERANCE)
    assert sum(solution.values) == pytest.approx(0, abs=LP_TOLERANCE)
    assert len(solution.strategy) == 936


@pytest.mark.parametrize(
    ("game", "raises"),
    [(KUHN, None), (LEDUC, None), (NOLIMIT, pot_or_all_in)],
    ids=["kuhn", "leduc", "no-limit leduc"],
)
def test_solution_is_an_equilibrium(game, raises):
    solution = solve_lp(game, raises)
    strategy = solution.strategy
    chips = game.big_blind * LP_TOLERANCE
    assert exploitability(game, strategy, strategy, raises) == pytest.approx(0, abs=chips)
    value = expected_value(game, strategy, strategy, raises)
    assert value == pytest.approx(solution.values[0], abs=chips)
    assert -value == pytest.approx(solution.values[1], abs=chips)


def test_strategies_are_probabilities():
    for infoset, probabilities in solve_lp(LEDUC).strategy.items():
        assert probabilities.min() >= 0, infoset
        assert probabilities.sum() == pytest.approx(1), infoset


def test_raises_choose_the_game():
    """Where nobody may raise, everybody checks: the value is that of the showdown."""
    solution = solve_lp(NOLIMIT, lambda state: ())
    assert solution.values == pytest.approx((0, 0), abs=LP_TOLERANCE)
    assert all(len(p) == 1 for p in solution.strategy.values())


# ---- the recursions


def test_uniform_play_in_kuhn():
    """By hand: 11/24, each best response being worth 1/2 and 5/12."""
    uniform = uniform_strategy(KUHN)
    assert best_response_value(KUHN, 0, uniform) == pytest.approx(1 / 2)
    assert best_response_value(KUHN, 1, uniform) == pytest.approx(5 / 12)
    assert exploitability(KUHN, uniform, uniform) == pytest.approx(11 / 24)


def test_best_response_to_a_caller_in_kuhn():
    """A king bets and wins 2, a queen breaks even, a jack checks and loses 1."""
    caller = {
        InfoSet(betting, (card,), ()): ((1, 0) if betting in ("", "c") else (0, 1))
        for betting, card in product(("", "c", "r", "cr"), (J, Q, K))
    }
    assert best_response_value(KUHN, 0, caller) == pytest.approx(1 / 3)
    assert best_response_value(KUHN, 1, caller) == pytest.approx(1 / 3)
    assert expected_value(KUHN, caller, caller) == pytest.approx(0)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_is_the_best_pure_strategy(seat):
    opponent = random_strategy(KUHN, 3)
    own = sorted(key for key in opponent if key.betting in (("", "cr"), ("c", "r"))[seat])
    values = []
    for choice in product(((1, 0), (0, 1)), repeat=len(own)):
        pure = dict(zip(own, choice, strict=True))
        pair = (pure, opponent) if seat == 0 else (opponent, pure)
        values.append((1, -1)[seat] * expected_value(KUHN, *pair))
    assert best_response_value(KUHN, seat, opponent) == pytest.approx(max(values))


def test_uniform_play_in_leduc():
    """The value others publish for the same game: a half-sum of 2.373611."""
    uniform = uniform_strategy(LEDUC)
    assert exploitability(LEDUC, uniform, uniform) == pytest.approx(2.3736111, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_best_response_beats_the_equilibrium_value(seed):
    strategy, value = random_strategy(LEDUC, seed), solve_lp(LEDUC).values[0]
    assert best_response_value(LEDUC, 0, strategy) > value
    assert best_response_value(LEDUC, 1, strategy) > -value


# ---- what is refused


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rhode_island", "130,320,322 sequences"),
        ("nolimit_leduc", "about 2.07e\\+16 sequences"),
        ("kuhn_3p", "3 players: expected 2"),
    ],
)
def test_large_games_are_refused(name, what):
    with pytest.raises(InputError, match=what):
        solve_lp(load_game(name))


def test_large_menus_are_refused_before_they_are_walked_to_the_end():
    with pytest.raises(InputError, match=r"at least [0-9,]+ sequences: expected at most 20,000"):
        solve_lp(NOLIMIT, lambda state: range(200, 1300, 10))


def test_count_of_sequences_is_that_of_the_tree():
    for game, raises in ((KUHN, None), (LEDUC, None), (NOLIMIT, pot_or_all_in)):
        found = 2 + sum(len(p) for p in uniform_strategy(game, raises).values())
        assert count_sequences(game, raises) == found


def test_a_strategy_with_a_gap_is_named():
    strategy = uniform_strategy(KUHN)
    del strategy[InfoSet("c", (Q,), ())]
    with pytest.raises(InputError, match="no probabilities at InfoSet"):
        best_response_value(KUHN, 0, strategy)


def test_a_strategy_of_the_wrong_shape_is_named():
    strategy = uniform_strategy(KUHN) | {InfoSet("c", (Q,), ()): np.ones(3) / 3}
    with pytest.raises(InputError, match="expected 2 probabilities"):
        expected_value(KUHN, strategy, strategy)


def test_trees_are_built_once():
    assert game_tree(KUHN) is game_tree(KUHN)
