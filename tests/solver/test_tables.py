"""A node as text and as a picture."""

import numpy as np
import pytest

import deepstack
from deepstack.cards.notation import STANDARD, hand_index
from deepstack.game.definition import load_game
from deepstack.game.spots import Spot
from deepstack.run.errors import InputError
from deepstack.solver.plots import plot_convergence, plot_strategy
from deepstack.solver.tables import (
    choose_actions,
    class_frequencies,
    hand_groups,
    strategy_grid,
    strategy_table,
)


@pytest.fixture(scope="module")
def river():
    spot = Spot("Td9d6hQc2s", pot=200, stack=900, oop="AA,KJ,87s:0.5,QQ", ip="22+")
    return deepstack.solve(spot, bets="100%, a", iterations=20)


def test_few_hands_stand_for_themselves():
    names, groups = hand_groups(load_game("kuhn"), ())
    assert [names[group] for group in groups] == ["Js", "Qs", "Ks"]
    assert names[0] == "Ks"  # the strongest first
    leduc = load_game("leduc")
    _, groups = hand_groups(leduc, leduc.deck.parse("Kh"))
    assert groups.tolist() == [5, 4, 3, 2, -1, 0]


def test_hands_are_grouped_by_what_they_make():
    names, groups = hand_groups(load_game("hunl"), STANDARD.parse("Td9d6hQc2s"))
    made = {text: groups[hand_index(*STANDARD.parse(text))] for text in ("KsJs", "QsQh", "AsKs")}
    assert {text: names[group] for text, group in made.items()} == {
        "KsJs": "straight",
        "QsQh": "three of a kind",
        "AsKs": "high card",
    }
    assert groups[hand_index(*STANDARD.parse("TdAs"))] == -1
    names, groups = hand_groups(load_game("hunl"), ())
    assert [names[groups[hand_index(*STANDARD.parse(h))]] for h in ("AsAh", "AsKs", "AsKh")] == [
        "pairs",
        "suited",
        "offsuit",
    ]
    assert hand_groups(load_game("rhode_island"), ())[0][0] == "A"


def test_a_table_has_a_row_for_every_group_that_is_held(river):
    lines = strategy_table(river.node()).splitlines()
    assert lines[0].split("  ")[-1].strip() == "EV"
    # 87s makes a straight with T96
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "straight",
        "three of a kind",
        "pair",
        "all",
    ]
    assert lines[-1].split()[1:3] == ["29", "100.0"]


def test_an_unreached_node_has_no_table():
    solution = deepstack.solve(
        Spot("Td9d6hQc2s", pot=200, stack=900, oop="32", ip="QQ"), bets="a", iterations=3
    )
    solution.lock("", [1, 0])
    assert strategy_table(solution.node("a")) == "the solved strategies never come here"


def test_the_grid_follows_the_range(river):
    view = river.node()
    played, held = class_frequencies(view)
    names = deepstack.solver.tables.hand_classes().names
    by_name = dict(zip(names, held.tolist(), strict=True))
    assert by_name["AA"] == 1.0
    assert by_name["87s"] == pytest.approx(0.5)
    assert by_name["72o"] == 0.0
    assert played.sum(axis=1)[held > 0] == pytest.approx(1.0, abs=1e-5)
    grid = strategy_grid(view, [0, 1, 2]).splitlines()
    assert grid[1].split() == ["A", "100", *"." * 12]


def test_actions_of_a_grid(river):
    view = river.node("b200")
    given = view.state, view.actions, view.labels
    assert choose_actions(*given, "fold") == ("fold", [0])
    assert choose_actions(*given, "call") == ("call 200", [1])
    assert choose_actions(*given, "bet") == ("bet (any size)", [2, 3])
    assert choose_actions(*given, "b800") == ("raise to 800", [2])
    with pytest.raises(InputError, match="expected one of bet, fold, call, check, b800, b900"):
        choose_actions(*given, "b799")


def test_pictures_refuse_what_they_cannot_show(tmp_path):
    kuhn = deepstack.solve("kuhn", iterations=0)
    with pytest.raises(InputError, match="the grid is for two cards of 52"):
        plot_strategy(kuhn.node(), tmp_path / "grid.png")
    with pytest.raises(InputError, match="nothing to plot"):
        plot_convergence(kuhn.history, tmp_path / "curve.png", kuhn.pot)
    assert not list(tmp_path.iterdir())
    assert np.isfinite(kuhn.exploitability)
