"""Betting trees: sequences, lines, leaves."""

import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.tree.betting import DECISION, NEXT, SHOWDOWN, build_betting, limit_raises
from deepstack.tree.menus import load_menu

HUNL = load_game("hunl")


@pytest.mark.parametrize(
    ("name", "decisions"),
    [
        # Johanson 2016, table 5.2 for limit hold'em
        ("limit_holdem", [8, 70, 630, 5670]),
        ("holdem_2_4", [8, 70]),
        ("kuhn", [4]),
        ("leduc", [6, 30]),
        ("rhode_island", [8, 56, 392]),
    ],
)
def test_limit_games_have_the_published_betting_sequences(name, decisions):
    tree = build_betting(initial_state(load_game(name)), limit_raises)
    assert [len(stage.nodes) for stage in tree.stages] == decisions
    assert not tree.leaves


def test_parents_stand_before_children():
    tree = build_betting(initial_state(load_game("limit_holdem")), limit_raises)
    for stage in tree.stages:
        for number, node in enumerate(stage.nodes):
            for slot in node.slots:
                if slot.kind == DECISION:
                    assert slot.target > number


def test_a_called_all_in_is_a_line_without_decisions():
    root = parse_state(HUNL, "r10000c/", "|/Td9d6h")
    tree = build_betting(root, load_menu("a").raises)
    turn, river = tree.stages[1:]
    assert [line.kind for line in turn.lines] == [DECISION, NEXT, NEXT]
    assert sorted({line.kind for line in river.lines}) == [DECISION, SHOWDOWN]
    assert {line.chips for line in river.lines if line.kind == SHOWDOWN} == {20000.0}


def test_a_depth_limit_leaves_the_continuations():
    root = parse_state(HUNL, "cc/", "|/Td9d6h")
    tree = build_betting(root, load_menu("100%").raises, last_round=1)
    assert len(tree.stages) == 1
    assert len(tree.leaves) == sum(
        slot.kind == NEXT for node in tree.stages[0].nodes for slot in node.slots
    )
    assert all(state.spent[0] == state.spent[1] for state in tree.leaves)


def test_a_root_in_the_middle_of_a_round_keeps_what_was_done():
    root = parse_state(HUNL, "cr300", "|")
    tree = build_betting(root, load_menu("100%, a").raises)
    first = tree.stages[0].nodes[0]
    assert first.player == root.actor
    assert [str(slot.action) for slot in first.slots] == ["f", "c", "r900", "r20000"]
    assert first.raises == 1


@pytest.mark.parametrize(
    ("state", "last", "message"),
    [
        (initial_state(load_game("kuhn_3p")), None, "game kuhn_3p has 3 players: expected 2"),
        (initial_state(HUNL).apply(Action("f")), None, "a player is to act"),
        (initial_state(HUNL), 4, "last round 4: expected 0 to 3"),
    ],
)
def test_what_has_no_tree_is_refused(state, last, message):
    with pytest.raises(InputError, match=message):
        build_betting(state, load_menu("a").raises, last)
