"""Folds and showdowns by sums against their O(H²) definition."""

import numpy as np
import pytest

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import load_game
from deepstack.solver.layout import lay_out_boards
from deepstack.solver.simd import LANES, aligned_zeros
from deepstack.solver.terminal_kernels import fold_values, showdown_values, sum_cards
from deepstack.tree.boards import build_boards, root_group

SPOTS = [
    ("hunl", "Td9d6hQc2s"),
    ("hunl", "AsKsQsJsTs"),  # everybody plays the board
    ("hunl", "2c2d2h2s3c"),
    ("holdem_2_4", "Td9d6h"),
    ("kuhn", ""),
    ("leduc", "Kh"),
    ("rhode_island", "AhKh"),
]
ROUNDING = {np.float32: 2e-3, np.float64: 1e-11}  # sums of a thousand reaches up to one


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "text"), SPOTS)
def test_sums_give_what_pairwise_comparison_gives(name, text, dtype):
    game = load_game(name)
    board = game.deck.parse(text)
    last = game.rounds - 1
    stages = build_boards(game, board, last, last, root_group(game, board)[:1])
    layout = lay_out_boards(game, stages)
    stage, hands = stages[0], stages[0].hands.shape[1]
    reach = np.random.default_rng(1).random((hands, LANES)).astype(dtype)
    reach[:, 3] = 0

    lanes = aligned_zeros(layout.width[0] * LANES, dtype)
    lanes[: hands * LANES] = reach.ravel()
    out = aligned_zeros(len(lanes), dtype)
    sums = aligned_zeros((len(game.deck) + 2) * LANES, dtype)
    cards, per_card = layout.cards[0], layout.per_card[0]
    sum_cards(lanes, sums, layout.live, layout.lists, 0, 0, cards, per_card, layout.share)

    held = hand_cards(len(game.deck), game.hole_cards)[stage.hands[0]]
    apart = ~(held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
    fold_values(lanes, out, sums, layout.card1, layout.card2, 0, hands, layout.own)
    got = out[: hands * LANES].reshape(hands, LANES)
    np.testing.assert_allclose(got, apart @ reach.astype(np.float64), atol=ROUNDING[dtype])

    showdown_values(
        lanes,
        out,
        sums,
        layout.live,
        layout.lists,
        layout.ties,
        0,
        0,
        cards,
        per_card,
        layout.group_end[:hands],
        hands,
    )
    strengths = stage.strengths[0]
    wins = np.sign(strengths[:, None] - strengths[None, :]) * apart
    got = out[: hands * LANES].reshape(hands, LANES)
    np.testing.assert_allclose(got, wins @ reach.astype(np.float64), atol=ROUNDING[dtype])
    assert not got[:, 3].any()
