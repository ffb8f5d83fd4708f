"""Leduc and Kuhn beside open_spiel: the same iterations of CFR and CFR+, the same exploitability.

open_spiel's Leduc has our antes and bets (1; 2 and 4, two a round), numbers cards as we do (rank by
rank) and actions 0 fold, 1 call, 2 raise; its Kuhn has 0 pass, 1 bet. Its ``exploitability`` is
half its ``nash_conv``, the sum of what both best responses gain: our convention.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import Action, State, initial_state
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR, CFR_PLUS, UpdateRule
from deepstack.tree.betting import limit_raises

pyspiel = pytest.importorskip("pyspiel")

pytestmark = pytest.mark.oracle

NAMES = {"leduc": "leduc_poker", "kuhn": "kuhn_poker"}
SOLVERS = {CFR: "CFRSolver", CFR_PLUS: "CFRPlusSolver"}
DIGITS = 5e-5  # relative: four significant digits
LATER = 0.1  # relative: by 1,000 iterations rounding has decided some ties
SAME = 1e-10  # relative: the same strategies, evaluated by other sums

CHECKPOINTS = (10, 100, 1_000)


def solver_of(name: str, rule: UpdateRule) -> Engine:
    """The whole game in float64, every board apart."""
    game = load_game(name)
    ranges = np.ones((2, game.hands))
    root = initial_state(game)
    return Engine(root, ranges, limit_raises, rule, dtype=np.float64, merge=False)


@cache
def their_exploitabilities(name: str, rule: UpdateRule) -> dict[int, float]:
    game = pyspiel.load_game(NAMES[name])
    solver = getattr(pyspiel, SOLVERS[rule])(game)
    figures, done = {}, 0
    for iterations in CHECKPOINTS:
        for _ in range(iterations - done):
            solver.evaluate_and_update_policy()
        done = iterations
        figures[iterations] = pyspiel.exploitability(game, solver.average_policy())
    return figures


@pytest.mark.parametrize("iterations", CHECKPOINTS)
@pytest.mark.parametrize("rule", SOLVERS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", NAMES)
def test_exploitability_by_iterations(name, rule, iterations):
    solver = solver_of(name, rule)
    solver.run(iterations)
    theirs = their_exploitabilities(name, rule)[iterations]
    tolerance = DIGITS if iterations <= 100 else LATER
    assert solver.exploitability() == pytest.approx(theirs, rel=tolerance)


# ---- one strategy, evaluated by both


def our_state(name: str, history: list[int]) -> State:
    """The state after open_spiel's history, which deals the hands first."""
    game = load_game(name)
    state = initial_state(game, tuple((card,) for card in history[:2]))
    for move in history[2:]:
        if state.actor is None:
            state = state.deal((move,))
            continue
        facing = state.to_call > 0
        if name == "kuhn":
            kind = ("f" if facing else "c") if move == 0 else ("c" if facing else "r")
        else:
            kind = "fcr"[move]
        state = state.apply(Action(kind, limit_raises(state, 0)[0] if kind == "r" else 0))
    return state


def their_policy(name: str, solver: Engine) -> Any:
    """Our average strategies as a table of open_spiel's, found by walking its tree."""
    nodes = {
        node.state.betting: (stage, number)
        for stage, part in enumerate(solver.betting_tree.stages)
        for number, node in enumerate(part.nodes)
    }
    table: dict[str, list[tuple[int, float]]] = {}

    def walk(state: Any) -> None:
        if state.is_terminal():
            return
        moves = state.legal_actions()
        if not state.is_chance_node() and state.information_state_string() not in table:
            ours = our_state(name, state.history())
            assert ours.actor == state.current_player()
            stage, number = nodes[ours.betting]
            boards = solver.board_tree[stage]
            board = [tuple(cards) for cards in boards.cards.tolist()].index(ours.board)
            place = boards.hands[board].tolist().index(ours.hands[state.current_player()][0])
            rows = solver.tables.average[solver.table_rows(stage, number, board)]
            weights = rows.reshape(len(moves), -1)[:, place]
            total = weights.sum()
            shares = weights / total if total > 0 else np.full(len(moves), 1 / len(moves))
            table[state.information_state_string()] = list(zip(moves, shares.tolist(), strict=True))
        for move in moves:
            walk(state.child(move))

    walk(pyspiel.load_game(NAMES[name]).new_initial_state())
    return pyspiel.TabularPolicy(table)


@pytest.mark.parametrize("iterations", [1, 20, 200])
@pytest.mark.parametrize("rule", SOLVERS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", NAMES)
def test_exploitability_of_our_strategy(name, rule, iterations):
    solver = solver_of(name, rule)
    solver.run(iterations)
    game, policy = pyspiel.load_game(NAMES[name]), their_policy(name, solver)
    assert solver.exploitability() == pytest.approx(pyspiel.exploitability(game, policy), rel=SAME)
    values = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    assert solver.expected_values() == pytest.approx(values, rel=SAME)


def test_their_exploitability_is_half_their_nash_conv():
    game = pyspiel.load_game("leduc_poker")
    uniform = pyspiel.UniformRandomPolicy(game)
    half = pyspiel.nash_conv(game, uniform) / 2
    assert pyspiel.exploitability(game, uniform) == pytest.approx(half)
    assert solver_of("leduc", CFR).exploitability() == pytest.approx(half)
