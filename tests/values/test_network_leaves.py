"""Leaves valued by networks: units, card removal, all-ins, one board and many."""

import numpy as np
import pytest
from standins import stand_in

from deepstack.cards.notation import STANDARD, blocked, hand_index
from deepstack.game.spots import Spot
from deepstack.game.state import initial_state
from deepstack.run.errors import InputError
from deepstack.solver.batched import BatchedEngine
from deepstack.solver.cfr_kernels import AVERAGE
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import Leaves
from deepstack.solver.rules import DEFAULT
from deepstack.tree.betting import build_betting
from deepstack.tree.menus import load_menu
from deepstack.values.chance import mean_values_plain
from deepstack.values.equity import equity_matrix
from deepstack.values.inputs import live_hands
from deepstack.values.network_leaves import (
    BatchedEndLeaves,
    BatchedStartLeaves,
    EndLeaves,
    StartLeaves,
)

RAISES = load_menu("fcpa").raises
BOARD = STANDARD.parse("Td9d6hQc")
ROOT = Spot(BOARD, 200, 900).state()
GAME = ROOT.game
STACKS = sum(GAME.stacks)
HANDS = live_hands(GAME, np.array([BOARD], np.int64))[0]
CLOSE = 2e-5
"""Of a pot: float32."""


@pytest.fixture(scope="module")
def leaves():
    """The leaves of a turn, hands in a random order."""
    states = tuple(build_betting(ROOT, RAISES, ROOT.round).leaves)
    shuffled = np.random.default_rng(0).permutation(HANDS)
    return Leaves(states, np.array([BOARD], np.int64), shuffled[None])


@pytest.fixture(scope="module")
def reach(leaves):
    rng = np.random.default_rng(1)
    return rng.random((2, 1, len(leaves.states), len(HANDS))) ** 4 * 0.01


@pytest.fixture(scope="module")
def end():
    return EndLeaves(stand_in("turn_end"), stand_in("river_start", 2))


@pytest.fixture(scope="module")
def start():
    return StartLeaves(stand_in("river_start", 2))


def has_chips(state):
    return max(state.spent) < min(GAME.stacks)


def over_all_hands(hands, vectors):
    full = np.zeros((*vectors.shape[:-1], GAME.hands))
    full[..., hands] = vectors
    return full


def in_pots(network, board, ranges, fraction):
    """What a network says for ranges [2, hands of the game]."""
    tables = network.tables([list(board)])
    hands = tables.hands[0].numpy()
    said = network.evaluate(tables, [0], [fraction], ranges[None][..., hands])[0]
    return over_all_hands(hands, said)


def test_an_end_network_is_asked_about_normalised_ranges(leaves, reach, end):
    found = end.values(leaves, reach)
    assert found.shape == reach.shape
    for number, state in enumerate(leaves.states):
        if not has_chips(state):
            continue
        full = over_all_hands(leaves.hands[0], reach[:, 0, number])
        mass = full.sum(axis=1)
        said = in_pots(end.network, BOARD, full / mass[:, None], state.pot / STACKS)
        expected = said * state.pot * mass[::-1, None]
        scale = state.pot * mass.max()
        np.testing.assert_allclose(
            found[:, 0, number], expected[:, leaves.hands[0]], atol=CLOSE * scale
        )


def test_a_start_network_is_averaged_over_the_next_cards(leaves, reach, start):
    number, state = next((n, s) for n, s in enumerate(leaves.states) if has_chips(s))
    found = start.values(leaves, reach)[:, 0, number]
    full = over_all_hands(leaves.hands[0], reach[:, 0, number])
    mass = full.sum(axis=1)

    def values(board, ranges):
        return in_pots(start.network, board, ranges, state.pot / STACKS)

    mean = mean_values_plain(values, GAME, BOARD, 1, full / mass[:, None])
    expected = mean * state.pot * mass[::-1, None]
    scale = state.pot * mass.max()
    np.testing.assert_allclose(found, expected[:, leaves.hands[0]], atol=CLOSE * scale)


@pytest.mark.parametrize("kind", ["start", "end"])
def test_a_called_all_in_is_worth_its_equity(leaves, reach, kind, request):
    found = request.getfixturevalue(kind).values(leaves, reach)
    all_in = [n for n, state in enumerate(leaves.states) if not has_chips(state)]
    assert all_in
    matrix = equity_matrix(GAME, BOARD)[np.ix_(leaves.hands[0], leaves.hands[0])]
    for number in all_in:
        for player in (0, 1):
            expected = matrix @ reach[1 - player, 0, number] * min(GAME.stacks)
            scale = min(GAME.stacks) * reach[1 - player, 0, number].sum()
            np.testing.assert_allclose(found[player, 0, number], expected, atol=CLOSE * scale)


@pytest.mark.parametrize("kind", ["start", "end"])
def test_what_one_wins_the_other_loses(leaves, reach, kind, request):
    found = request.getfixturevalue(kind).values(leaves, reach)
    won = (found * reach).sum(axis=(0, 3))[0]
    scale = [
        state.pot * reach[0, 0, n].sum() * reach[1, 0, n].sum()
        for n, state in enumerate(leaves.states)
    ]
    np.testing.assert_allclose(won / scale, 0.0, atol=CLOSE)


@pytest.mark.parametrize("kind", ["start", "end"])
def test_values_grow_with_the_opponents_reach_alone(leaves, reach, kind, request):
    evaluator = request.getfixturevalue(kind)
    before = evaluator.values(leaves, reach)
    after = evaluator.values(leaves, reach * np.array([3.0, 1.0])[:, None, None, None])
    np.testing.assert_allclose(after[0], before[0], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(after[1], 3 * before[1], rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("kind", ["start", "end"])
def test_where_nobody_comes_values_are_zero(leaves, reach, kind, request):
    without = reach.copy()
    without[1] = 0.0
    found = request.getfixturevalue(kind).values(leaves, without)
    assert np.isfinite(found).all()
    assert (found[0] == 0).all()
    assert np.abs(found[1]).max() > 0


def test_values_of_a_card_come_from_the_start_network(leaves, reach, end):
    leaf = next(state for state in leaves.states if has_chips(state))
    card = STANDARD.parse("Ah")
    state = leaf.deal(card)
    full = over_all_hands(leaves.hands[0], reach[:, 0, :3])  # holds the card dealt, too
    found = end.card_values(state, full)
    dead = blocked(state.board)
    assert (found[..., dead] == 0).all()
    for s in range(3):
        given = np.where(dead, 0.0, full[:, s])
        mass = given.sum(axis=1)
        said = in_pots(end.start, state.board, given / mass[:, None], state.pot / STACKS)
        expected = said * state.pot * mass[::-1, None]
        np.testing.assert_allclose(found[:, s], expected, atol=CLOSE * state.pot * mass.max())


def test_the_mean_over_cards_of_card_values_is_the_value_of_the_leaf(leaves, reach, start):
    number, leaf = next((n, s) for n, s in enumerate(leaves.states) if has_chips(s))
    full = over_all_hands(leaves.hands[0], reach[:, 0, number])[:, None]
    cards = [card for card in range(52) if card not in BOARD]
    total = sum(start.card_values(leaf.deal((card,)), full)[:, 0] for card in cards) / 44
    found = start.values(leaves, reach)[:, 0, number]
    scale = leaf.pot * full.sum(axis=2).max()
    np.testing.assert_allclose(total[:, leaves.hands[0]], found, atol=CLOSE * scale)


def test_values_of_a_card_after_an_all_in_are_the_showdown(leaves, end):
    leaf = next(state for state in leaves.states if not has_chips(state))
    state = leaf.deal(STANDARD.parse("2c"))
    reach = np.zeros((2, 1, GAME.hands))
    queens, aces = (hand_index(*STANDARD.parse(text)) for text in ("QsQh", "AsAh"))
    reach[0, 0, queens], reach[1, 0, aces] = 0.5, 1.0
    found = end.card_values(state, reach)[:, 0]
    assert found[0, queens] == min(GAME.stacks)
    assert found[1, aces] == -0.5 * min(GAME.stacks)


def test_without_a_start_network_cards_are_refused(leaves):
    leaf = next(state for state in leaves.states if has_chips(state))
    with pytest.raises(InputError, match="turn_end knows their mean only"):
        EndLeaves(stand_in("turn_end")).card_values(
            leaf.deal(STANDARD.parse("Ah")), np.ones((2, 1, GAME.hands))
        )


def test_before_the_flop_a_selection_of_flops_stands_for_all():
    root = initial_state(GAME)
    states = tuple(build_betting(root, load_menu("fc").raises, 0).leaves)
    where = Leaves(states, np.zeros((1, 0), np.int64), np.arange(GAME.hands)[None])
    reach = np.random.default_rng(2).random((2, 1, len(states), GAME.hands))
    some = StartLeaves(stand_in("flop_start"), most=50)
    found = some.values(where, reach)
    np.testing.assert_array_equal(found, some.values(where, reach))
    assert np.abs(found).max() > 0


@pytest.mark.parametrize(
    ("batched", "single"), [(BatchedEndLeaves, EndLeaves), (BatchedStartLeaves, StartLeaves)]
)
def test_many_boards_at_once_are_solved_as_one_by_one(batched, single):
    network = stand_in("turn_end" if single is EndLeaves else "river_start", 3)
    rng = np.random.default_rng(3)
    roots = [Spot(board, 200, 900).state() for board in (BOARD, STANDARD.parse("2c3d4h8s"))]
    ranges = rng.random((2, 2, GAME.hands)) ** 3
    together = BatchedEngine(roots, ranges, RAISES, DEFAULT, evaluator=batched(network))
    together.run(4)
    values = together.over_all_hands(together.root_values(AVERAGE)).numpy()
    for number, root in enumerate(roots):
        evaluator = single(network)
        alone = Engine(
            root, ranges[number], RAISES, DEFAULT, merge=False, last_round=2, evaluator=evaluator
        )
        alone.run(4)
        expected = over_all_hands(alone.board_tree[0].hands[0], alone.root_values(AVERAGE))
        scale = 1000 * ranges[number].sum(axis=1).max()
        np.testing.assert_allclose(values[number], expected, atol=1e-4 * scale)
