"""Margins and beliefs: the sweeps say what sums over all pairs of hands say."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.cards.notation import hand_cards
from deepstack.evaluate.aivat_beliefs import start_belief
from deepstack.evaluate.value_sources_margins import (
    apart,
    beside,
    index_of,
    live_hands,
    margins_of,
)
from deepstack.game.definition import load_game
from deepstack.solver.batched_equity import allin_margins

HUNL = load_game("hunl")
EXACT = 1e-9  # of sums of a thousand weights below 1


def pairs(game, board):
    """Margins [H, H] of all pairs of hands."""
    margins, live = allin_margins(board, game), live_hands(game, board)
    matrix = np.zeros((game.hands, game.hands))
    matrix[np.ix_(live, live)] = margins.counts / margins.run_outs
    return matrix


@pytest.mark.parametrize("cards", ["Td9d6h", "Td9d6hQc", "Td9d6hQc2s", "8c8d8h8s2c"])
def test_sweeps_are_sums_over_pairs(cards):
    board = HUNL.deck.parse(cards)
    reach = np.random.default_rng(1).random(HUNL.hands)
    reach[~live_hands(HUNL, board)] = 0.0
    matrix, margins = pairs(HUNL, board), margins_of(HUNL)
    live = live_hands(HUNL, board)
    np.testing.assert_allclose(
        margins.against_range(board, reach)[live], (matrix @ reach)[live], atol=EXACT
    )
    np.testing.assert_allclose(
        margins.against_flat(board)[live], matrix.sum(axis=1)[live], atol=EXACT
    )
    hand = index_of(HUNL, HUNL.deck.parse("AsKs"))
    np.testing.assert_allclose(
        margins.against_hand(board, hand)[live], matrix[:, hand][live], atol=EXACT
    )


def test_the_order_of_the_board_does_not_matter():
    board = HUNL.deck.parse("Td9d6hQc")
    margins = margins_of(HUNL)
    np.testing.assert_array_equal(margins.against_flat(board), margins.against_flat(board[::-1]))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rhode_island", "hunl"])
def test_before_any_card_nobody_is_ahead(name):
    game = load_game(name)
    assert abs(margins_of(game).against_flat(()).sum()) < 1e-6


def test_a_margin_is_the_mean_over_the_next_cards():
    """What makes equity an estimate that needs no enumeration at chance nodes."""
    board = HUNL.deck.parse("Td9d6hQc")
    reach = np.random.default_rng(2).random((2, HUNL.hands)) * live_hands(HUNL, board)
    belief = start_belief(HUNL, (None, None)).dealt(board)
    belief = belief.acted(0, reach[0]).acted(1, reach[1])
    total = 0.0
    for card in set(range(52)) - set(board):
        after = belief.dealt((card,))
        total += after.margin * after.mass / belief.mass / 44
    assert total == pytest.approx(belief.margin, abs=EXACT)


def test_beliefs_by_all_pairs():
    game, rng = load_game("leduc"), np.random.default_rng(3)
    free = np.stack([apart(game, hand) for hand in range(game.hands)])
    first, second = rng.random((2, game.hands))
    belief = start_belief(game, (None, None)).acted(0, first).acted(1, second).dealt((2,))
    live = live_hands(game, (2,))
    weights = np.outer(first * live, second * live) * free
    table = rng.random((game.hands, 3))
    table /= table.sum(axis=1, keepdims=True)
    chances = weights.sum(axis=1) @ table / weights.sum()
    np.testing.assert_allclose(belief.chances(0, table), chances)
    margin = (weights * pairs(game, (2,))).sum() / weights.sum()
    assert belief.margin == pytest.approx(margin)


def test_hands_beside_a_hand():
    weights = np.random.default_rng(4).random(HUNL.hands)
    held = hand_cards()
    found = beside(HUNL, weights)
    for hand in (0, 17, 1325):
        clash = (held[:, :, None] == held[hand]).any(axis=(1, 2))
        assert found[hand] == pytest.approx(weights[~clash].sum())
