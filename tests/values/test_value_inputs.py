"""Tables of boards: live hands, order of strength, ties, relabelled suits."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.cards.notation import STANDARD, hand_cards, hand_index
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.values.inputs import STAGES, live_hands, make_inputs

BOARDS = np.array(
    [STANDARD.parse(text) for text in ("Td9d6hQc2s", "AsKsQsJsTs", "2c2d2h2s7d", "2c3c4c5c7c")]
)


@pytest.mark.parametrize(
    ("stage", "hands"),
    [
        ("river_start", 1081),
        ("turn_end", 1128),
        ("flop_start", 1176),
        ("preflop_end", 1326),
        ("leduc_start", 5),
    ],
)
def test_a_stage_has_as_many_live_hands_as_its_board_leaves(stage, hands):
    game, cards = load_game(STAGES[stage].game), STAGES[stage].cards
    boards = np.arange(2 * cards, dtype=np.int64).reshape(2, cards)[: 2 if cards < 5 else 1]
    assert live_hands(game, boards).shape[1] == hands


def test_live_hands_ascend_and_hold_no_card_of_the_board():
    hands = live_hands(load_game("hunl"), BOARDS)
    for board, row in zip(BOARDS, hands, strict=True):
        assert (np.diff(row) > 0).all()
        assert not np.isin(hand_cards()[row], board).any()


def test_the_order_goes_from_the_weakest_hand_to_the_strongest():
    tables = make_inputs("order", "river_start").tables(BOARDS)
    strengths = np.take_along_axis(board_strengths(BOARDS), tables.hands.numpy(), axis=1)
    ordered = np.take_along_axis(strengths, tables.parts["order"].numpy(), axis=1)
    assert (np.diff(ordered.astype(int), axis=1) >= 0).all()
    assert (np.sort(tables.parts["order"].numpy(), axis=1) == np.arange(1081)).all()


def test_tie_groups_begin_and_end_where_strengths_change():
    tables = make_inputs("order", "river_start").tables(BOARDS)
    strengths = np.take_along_axis(board_strengths(BOARDS), tables.hands.numpy(), axis=1)
    for row, first, last in zip(
        strengths, tables.parts["first"].numpy(), tables.parts["last"].numpy(), strict=True
    ):
        assert (first == (row[None] < row[:, None]).sum(axis=1)).all()
        assert (last == (row[None] <= row[:, None]).sum(axis=1)).all()


def test_on_a_royal_flush_board_all_hands_are_one_tie_group():
    tables = make_inputs("order", "river_start").tables(BOARDS[1:2])
    assert (tables.parts["first"] == 0).all()
    assert (tables.parts["last"] == 1081).all()


def test_percentiles_lie_between_zero_and_one_and_follow_strength():
    tables = make_inputs("buckets", "river_start").tables(BOARDS)
    percentile = tables.parts["percentile"].numpy()
    assert percentile.min() > 0
    assert percentile.max() < 1
    hands = tables.hands.numpy()[0]
    best = hand_index(STANDARD.card("Kd"), STANDARD.card("Jd"))
    worst = hand_index(STANDARD.card("4c"), STANDARD.card("3d"))
    assert percentile[0, hands == best][0] > 0.95
    assert percentile[0, hands == worst][0] < 0.05


def test_tables_do_not_depend_on_the_other_boards():
    inputs = make_inputs("order", "river_start")
    together, alone = inputs.tables(BOARDS), inputs.tables(BOARDS[2:3])
    for name, part in alone.parts.items():
        assert (together.parts[name][2:3] == part).all()


def test_leduc_boards_of_one_rank_look_alike():
    inputs = make_inputs("hands", "leduc_start")
    tables = inputs.tables(np.arange(6)[:, None])
    assert (tables.parts["cards"][0::2] == tables.parts["cards"][1::2]).all()
    # with Js on the board the live jack Jh takes the place that Js has with Jh on it
    assert tables.parts["slot"][0].tolist() == [1, 2, 3, 4, 5]
    assert tables.parts["slot"][1].tolist() == [1, 3, 2, 5, 4]
    assert (tables.parts["held"].sum(1) == 5).all()


@pytest.mark.parametrize(
    ("boards", "reason"),
    [
        ([[1, 2, 3]], "expected integers"),
        ([[1, 2, 3, 4, 52]], "expected cards from 0 to 51"),
        ([[1, 2, 3, 4, 4]], "twice"),
        ([[1.0, 2, 3, 4, 5]], "expected integers"),
    ],
)
def test_boards_that_are_none_are_refused(boards, reason):
    with pytest.raises(InputError, match=reason):
        make_inputs("order", "river_start").tables(boards)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="stage 'river': expected one of river_start"):
        make_inputs("order", "river")
    with pytest.raises(InputError, match="inputs 'ordered': expected one of hands"):
        make_inputs("ordered", "river_start")
