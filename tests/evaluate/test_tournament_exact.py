"""Exact expected values: against the solver's, against closed forms, and between seats."""

from __future__ import annotations

import numpy as np
import pytest

import deepstack
from deepstack.agents.build import make_agent
from deepstack.evaluate.tournament_exact import expected_values, head_to_head, share_pots
from deepstack.game.definition import load_game
from deepstack.game.state import share_pot
from deepstack.run.errors import InputError


def said(game, *names):
    return [make_agent(name, game).probabilities for name in names]


def test_a_solution_is_worth_what_the_solver_says():
    game = load_game("leduc")
    solution = deepstack.solve("leduc", iterations=50)
    values = expected_values(game, [solution.strategy, solution.strategy])
    np.testing.assert_allclose(values, solution.values, atol=1e-5)  # the solver has float32 chips


def test_kuhn_is_worth_an_eighteenth_to_the_second_player():
    # H. W. Kuhn, 1950
    solution = deepstack.solve("kuhn", iterations=2000)
    values = expected_values(load_game("kuhn"), [solution.strategy, solution.strategy])
    np.testing.assert_allclose(values, [-1 / 18, 1 / 18], atol=1e-3)


def test_always_raise_takes_the_antes_of_always_fold():
    game = load_game("leduc")
    np.testing.assert_allclose(head_to_head(game, said(game, "fold", "raise")), [-1, 1])


def test_always_call_is_even_with_itself():
    game = load_game("kuhn_3p")
    np.testing.assert_allclose(expected_values(game, said(game, *["call"] * 3)), 0, atol=1e-12)


def test_equal_players_are_even_over_all_seats():
    game = load_game("kuhn_3p")
    won = head_to_head(game, said(game, "equity", "equity", "random"))
    assert won[0] == pytest.approx(won[1])
    assert won.sum() == pytest.approx(0)


def test_pots_are_shared_as_in_a_single_hand():
    rng = np.random.default_rng(0)
    for _ in range(200):
        spent = tuple(int(chips) for chips in rng.integers(1, 4, 3))
        folded = tuple(bool(out) for out in rng.random(3) < 0.4)
        if all(folded):
            continue
        strengths = rng.integers(0, 3, (3, 5))
        shares = share_pots(spent, folded, strengths)
        for deal in range(5):
            expected = share_pot(spent, folded, strengths[:, deal].tolist())
            np.testing.assert_allclose(shares[:, deal], expected)


def test_games_that_are_too_large_are_refused():
    game = load_game("hunl")
    with pytest.raises(InputError, match="hunl: expected at most 5,000 deals"):
        expected_values(game, said(game, "call", "call"))
    with pytest.raises(InputError, match="1 strategies: leduc has 2 seats"):
        expected_values(load_game("leduc"), said(load_game("leduc"), "call"))
