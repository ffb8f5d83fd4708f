"""Rivers of a solved turn, solved again: the spots that are drawn, and what it costs."""

import json

import numpy as np
import pytest
from omegaconf import OmegaConf

from deepstack.cards.notation import STANDARD, blocked
from deepstack.experiments import turn_river_resolving
from deepstack.experiments.turn_river_resolving import (
    POT,
    by_strength,
    measure,
    random_range,
    random_spot,
    resolve_rivers,
    solve_turn,
)
from deepstack.run.progress import track
from deepstack.solver.rules import DEFAULT
from deepstack.tree.menus import load_menu

BOARD = STANDARD.parse("Td9d6hQc")
CONFIG = {
    "seed": 1,
    "spots": 2,
    "bets": "fcpa",
    "target": "1%",
    "iterations": 100,
    "river_algorithm": None,
    "river_iterations": 50,
}


def hand(text):
    low, high = sorted(STANDARD.parse(text))
    return high * (high - 1) // 2 + low


def test_hands_are_ordered_by_strength_over_the_rivers():
    order = by_strength(BOARD)
    assert len(order) == 48 * 47 // 2
    assert sorted(order) == np.flatnonzero(~blocked(BOARD)).tolist()
    place = {int(index): number for number, index in enumerate(order)}
    names = ["KhJh", "QdQh", "TcTh", "AcQd", "Ad2d", "3c2h"]  # a straight, sets, a pair, a draw
    places = [place[hand(name)] for name in names]
    assert places == sorted(places, reverse=True)


def test_a_random_range_is_spread_over_all_hands_of_the_board():
    rng = np.random.default_rng(0)
    order = by_strength(BOARD)
    ranges = np.array([random_range(order, rng) for _ in range(200)])
    assert ranges.sum(axis=1) == pytest.approx(1.0)
    assert (ranges[:, blocked(BOARD)] == 0).all()
    assert (ranges[:, order] > 0).all()
    weaker = ranges[:, order[: len(order) // 2]].sum(axis=1)
    assert weaker.mean() == pytest.approx(0.5, abs=0.1)  # uniform from 0 to 1
    assert weaker.std() == pytest.approx(12**-0.5, abs=0.05)


def test_spots_follow_their_seed_and_have_stacks_of_one_to_ten_pots():
    spots = [random_spot(np.random.default_rng([1, number])) for number in range(30)]
    again = random_spot(np.random.default_rng([1, 7]))
    assert again.cards == spots[7].cards
    assert (again.ranges() == spots[7].ranges()).all()
    stacks = [spot.stack / POT for spot in spots]
    assert 1 <= min(stacks) < 2
    assert 7 < max(stacks) <= 10
    assert len({spot.cards for spot in spots}) == 30


def test_solving_the_rivers_again_costs_little():
    """A spot with one bet on each street, at a few hundred iterations."""
    rng = np.random.default_rng(3)
    spot = turn_river_resolving.Spot(
        BOARD, POT, POT, *(random_range(by_strength(BOARD), rng) for _ in range(2))
    )
    raises = load_menu("fcpa").raises
    whole = solve_turn(spot, raises, "0.2%", 400)
    before, table = whole.exploitability(), whole.tables.average.copy()
    assert before < 0.002 * POT
    resolve_rivers(whole, raises, DEFAULT, 200)
    turn = int(whole.tables.at_slot[1])
    assert (whole.tables.average[:turn] == table[:turn]).all()
    assert (whole.tables.average[turn:] != table[turn:]).any()
    assert whole.exploitability() - before < 0.001 * POT  # the bar is five times this


def test_a_stopped_run_goes_on(tmp_path, monkeypatch):
    config = OmegaConf.create({**CONFIG, "spots_in": str(tmp_path)})
    asked = []

    def told(number, config, progress):
        asked.append(number)
        return {"cost": float(number)}

    monkeypatch.setattr(turn_river_resolving, "measure", told)
    with track(None, "test", "rivers", quiet=True) as progress:
        found = turn_river_resolving.run(config, progress)
        assert (found["mean_cost"], found["worst_cost"]) == (0.5, 1.0)
        (tmp_path / "1.json").write_text("{")
        assert turn_river_resolving.run(config, progress) == found
        assert asked == [0, 1, 1]
        config.river_iterations = 60
        turn_river_resolving.run(config, progress)
        assert asked == [0, 1, 1, 0, 1]
    assert json.loads((tmp_path / "0.json").read_text())["settings"]["river_iterations"] == 60


def test_a_row_says_what_was_solved():
    config = OmegaConf.create({**CONFIG, "target": "20%", "river_iterations": 1})
    row = measure(0, config)
    spot = random_spot(np.random.default_rng([1, 0]))
    assert STANDARD.parse(row["board"]) == spot.cards
    assert row["stack_to_pot"] == spot.stack / POT
    assert row["cost"] == pytest.approx(row["resolved"] - row["one_shot"])
