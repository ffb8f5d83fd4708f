"""Leaf evaluators: what they say in the mean over the next cards is what they say for each."""

from functools import partial

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.run.errors import InputError
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import Leaves
from deepstack.solver.rules import CFR_PLUS
from deepstack.tree.betting import build_betting, limit_raises
from deepstack.tree.menus import load_menu
from deepstack.values.equity import equity_matrix
from deepstack.values.fast import FastMlp
from deepstack.values.leaves import EquityLeaves, NetworkLeaves, NoisyLeaves, deals
from deepstack.values.model import build_network
from deepstack.values.solved import SolvedLeaves

LEDUC, NOLIMIT = load_game("leduc"), load_game("nolimit_leduc")
FCPA = load_menu("fcpa").raises


def some_network():
    return FastMlp(build_network("leduc_start", "mlp", {"hidden": 24, "layers": 2}, seed=5))


EVALUATORS = {
    "equity": lambda state: EquityLeaves(),
    "network": lambda state: NetworkLeaves(some_network(), NOLIMIT),
    "noisy": lambda state: NoisyLeaves(EquityLeaves(), 30.0, 4),
    "solved": lambda state: SolvedLeaves(state, FCPA, iterations=150),
}


def leaves_and_reach(seed):
    root = initial_state(NOLIMIT)
    states = tuple(build_betting(root, FCPA, 0).leaves)
    leaves = Leaves(states, np.zeros((1, 0), np.int64), np.arange(6)[None])
    rng = np.random.default_rng(seed)
    return root, leaves, rng.uniform(0.05, 1, (2, 1, len(states), 6))


@pytest.mark.parametrize("name", list(EVALUATORS))
def test_the_mean_over_cards_is_the_mean_of_the_cards(name):
    root, leaves, reach = leaves_and_reach(1)
    evaluator = EVALUATORS[name](root)
    found = evaluator.values(leaves, reach)
    next_cards = deals(NOLIMIT, ())
    expected = np.zeros_like(found)
    for number, state in enumerate(leaves.states):
        for board, live in zip(next_cards.boards, next_cards.live, strict=True):
            given = reach[:, :, number] * live
            start = state.deal(board)
            if start.actor is None:  # a called all-in
                values = EquityLeaves().card_values(start, given)
                if name == "noisy":
                    values = evaluator.card_values(start, given)
            else:
                values = evaluator.card_values(start, given)
            expected[:, :, number] += next_cards.chance * values * live
    # chips: networks see float32, and there are two ways to solve to 150 iterations
    tolerance = {"solved": 3.0, "network": 1e-2}.get(name, 1e-9)
    np.testing.assert_allclose(found, expected, atol=tolerance)


def test_the_kernel_of_a_network_is_its_plain_form():
    _, leaves, reach = leaves_and_reach(6)
    reach[1, 0, 3] = 0  # somebody never comes
    reach[0, 0, 1, 1:] = 0  # or with one hand only
    evaluator = NetworkLeaves(some_network(), NOLIMIT)
    fast, plain = evaluator.values(leaves, reach), evaluator.plain_values(leaves, reach)
    np.testing.assert_allclose(fast, plain, rtol=1e-4, atol=1e-2)  # float32, chips


@pytest.mark.parametrize("name", list(EVALUATORS))
def test_values_grow_with_the_opponents_reach(name):
    """Twice the reach of both players is twice the value of each."""
    root, leaves, reach = leaves_and_reach(2)
    once = EVALUATORS[name](root).values(leaves, reach)
    twice = EVALUATORS[name](root).values(leaves, 2 * reach)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-5, atol=1e-3)


def test_checking_to_the_end_is_worth_the_equity():
    _, leaves, reach = leaves_and_reach(3)
    checks = load_menu("fc").raises
    for number, state in enumerate(leaves.states[:2]):
        total = np.zeros((2, 6))
        for board in deals(NOLIMIT, ()).boards:
            live = np.ones(6)
            live[list(board)] = 0
            engine = Engine(state.deal(board), reach[:, 0, number] * live, checks, CFR_PLUS,
                            dtype=np.float64, merge=False)  # fmt: skip
            engine.run(1)
            total[:, engine.board_tree[0].hands[0]] += engine.root_values(3) / 4
        found = EquityLeaves().values(leaves, reach)[:, 0, number]
        np.testing.assert_allclose(found, total, atol=1e-6 * state.pot)


def test_errors_are_a_function_of_state_and_hand():
    root, _, _ = leaves_and_reach(3)
    states = [s for s in build_betting(root, FCPA, 0).leaves if s.actor is None]
    one, same, other = (NoisyLeaves(EquityLeaves(), 2.0, seed) for seed in (1, 1, 2))
    start = states[0].deal((3,))
    np.testing.assert_array_equal(one.error(start), same.error(start))
    assert not np.allclose(one.error(start), other.error(start))
    assert not np.allclose(one.error(start), one.error(states[0].deal((2,))))
    assert np.abs(one.error(start)).max() <= 2.0


def test_equity_by_hand():
    """Leduc without a board: king against jack wins unless the jack pairs, 4 cards to come."""
    matrix = equity_matrix(LEDUC, ())
    jack, king = 0, 4
    assert matrix[king, jack] == pytest.approx((3 - 1) / 4)
    assert matrix[jack, king] == pytest.approx(-(3 - 1) / 4)
    assert matrix[king, king] == 0  # the same card
    assert matrix[king, king + 1] == 0  # always a tie
    np.testing.assert_allclose(matrix, -matrix.T)
    np.testing.assert_allclose(equity_matrix(LEDUC, (0,))[1, [2, 4]], 1.0)


def test_equity_of_a_turn_board_against_enumeration():
    hunl = load_game("hunl")
    board = hunl.deck.parse("Td9d6hQc")
    matrix = equity_matrix(hunl, tuple(board))
    np.testing.assert_allclose(matrix, -matrix.T, atol=1e-6)
    from deepstack.cards.notation import hand_index
    from deepstack.cards.strength import strength

    mine, yours = hunl.deck.parse("AsAh"), hunl.deck.parse("KdJd")
    left = [c for c in range(52) if c not in (*board, *mine, *yours)]
    won = [
        np.sign(int(strength((*mine, *board, c))) - int(strength((*yours, *board, c))))
        for c in left
    ]
    place = hand_index(*mine), hand_index(*yours)
    assert matrix[place] == pytest.approx(np.mean(won), abs=1e-6)


def test_a_board_with_too_much_to_come_is_refused():
    with pytest.raises(InputError, match="too many cards to come"):
        equity_matrix(load_game("hunl"), ())


def test_leaves_that_nobody_reaches_are_worth_nothing():
    root, leaves, reach = leaves_and_reach(4)
    reach[1] = 0
    for name in EVALUATORS:
        values = EVALUATORS[name](root).values(leaves, reach)
        np.testing.assert_allclose(values[0], 0, atol=1e-9)
        assert np.isfinite(values).all()


def test_limit_games_have_leaves_too():
    root = initial_state(LEDUC)
    make = partial(SolvedLeaves, iterations=5)
    engine = Engine(root, np.ones((2, 6)), limit_raises, CFR_PLUS, dtype=np.float64, merge=False,
                    last_round=0, evaluator=make(root, limit_raises))  # fmt: skip
    engine.run(3)
    assert np.isfinite(engine.tables.regret).all()


def test_merged_boards_need_ranges_that_are_alike_in_all_suits():
    root, leaves, reach = leaves_and_reach(7)
    evaluator = SolvedLeaves(root, FCPA, iterations=2, merge=True)
    with pytest.raises(InputError, match="alike in all suits"):
        evaluator.values(leaves, reach)
    assert np.isfinite(evaluator.values(leaves, np.repeat(reach[..., ::2], 2, axis=3))).all()
