"""Networks at the leaves of the turn: the spots that are drawn, one row, and the figures."""

import json

import numpy as np
import pytest
from omegaconf import OmegaConf
from standins import stand_in

from deepstack.cards.notation import STANDARD, blocked
from deepstack.experiments import leaf_shortcut
from deepstack.experiments.leaf_shortcut import (
    LEAVES,
    SOLVES,
    draw_spot,
    load_leaves,
    measure,
    summary,
)
from deepstack.experiments.spot_files import kept_rows
from deepstack.run.errors import InputError
from deepstack.run.progress import track
from deepstack.values.checkpoint import save_network


@pytest.fixture
def config(tmp_path):
    for stage in ("river_start", "turn_end"):
        save_network(stand_in(stage), tmp_path / "networks", stack=20_000)
    return OmegaConf.create(
        {
            "seed": 1,
            "spots": 2,
            "depths": [0.5, 1.5, 5, 20],
            "families": ["random", "play"],
            "bets": "fcpa",
            "networks": {
                stage: str(tmp_path / "networks" / stage) for stage in ("river_start", "turn_end")
            },
            "iterations": 3,
            "exact_target": "1%",
            "exact_iterations": 50,
            "held_gap": "1%",
            "held_iterations": 100,
            "spots_in": str(tmp_path / "spots"),
        }
    )


def test_depths_and_families_take_turns(config):
    spots = [draw_spot(number, config) for number in range(12)]
    assert [spot.depth for spot in spots] == [0, 1, 2] * 4
    assert [spot.family for spot in spots] == (["random"] * 3 + ["play"] * 3) * 2
    for spot in spots:
        assert config.depths[spot.depth] <= spot.stack_to_pot <= config.depths[spot.depth + 1]
        assert spot.stack_to_pot == (20_000 - spot.root.spent[0]) / spot.root.pot
        assert spot.ranges.sum(axis=1) == pytest.approx(1.0)
        assert (spot.ranges[:, blocked(spot.root.board)] == 0).all()
    assert len({spot.root.board for spot in spots}) == 12


def test_a_spot_follows_from_its_number_and_seed(config):
    first, again = draw_spot(4, config), draw_spot(4, config)
    assert first.root == again.root
    assert (first.ranges == again.ranges).all()
    config.seed = 2
    assert draw_spot(4, config).root.board != first.root.board


def test_rivers_solved_cost_little_and_networks_that_know_nothing_much(config):
    spot = draw_spot(1, config)
    with track(SOLVES, "test", "solves", quiet=True) as progress:
        row = measure(spot, config, load_leaves(config.networks), progress)
        assert progress.done == SOLVES
    assert STANDARD.parse(row["board"]) == spot.root.board
    assert row["stack_to_pot"] == spot.stack_to_pot
    assert list(row["leaves"]) == list(LEAVES)
    found = row["leaves"]
    assert 0 <= found["exact"]["exploitability"] <= 1.0
    for name in ("river_start", "turn_end"):
        assert 0 <= found[name]["gap"] <= 1.0
        assert found[name]["exploitability"] > 3.0
    json.dumps(row)


def test_a_network_of_another_stage_is_refused(config):
    config.networks.turn_end = config.networks.river_start
    with pytest.raises(InputError, match="made for river_start, expected turn_end"):
        load_leaves(config.networks)


def row(depth, *exploitabilities):
    seconds = (2.0, 10.0, 0.5)
    pairs = zip(LEAVES, zip(exploitabilities, seconds, strict=True), strict=True)
    leaves = {name: {"exploitability": e, "gap": e / 10, "seconds": s} for name, (e, s) in pairs}
    return {"depth": depth, "leaves": leaves}


def test_figures_over_spots_and_by_depth():
    found = summary([row(0, 0.1, 1.0, 1.5), row(2, 0.1, 2.0, 2.9)], [0.5, 1.5, 5, 20])
    assert [(part["from"], part["to"], part["spots"]) for part in found["depths"]] == [
        (0.5, 1.5, 1),
        (5, 20, 1),
    ]
    assert found["all"]["turn_end"] == pytest.approx(
        {"mean": 2.2, "p95": 1.5 + 0.95 * 1.4, "seconds": 0.5}
    )
    assert found["difference"]["mean"] == pytest.approx(0.7)
    assert found["time_ratio"] == pytest.approx(0.05)
    assert found["gap"] == pytest.approx({"mean": 0.185, "worst": 0.29})


def test_a_run_goes_on_unless_a_network_has_changed(config, tmp_path, monkeypatch):
    asked = []

    def told(spot, config, leaves, progress):
        asked.append(spot.depth)
        progress.update(SOLVES)
        return row(spot.depth, 0.1, 1.0, 1.5) | {"family": spot.family}

    monkeypatch.setattr(leaf_shortcut, "measure", told)
    with track(None, "test", "solves", quiet=True) as progress:
        found = leaf_shortcut.run(config, progress)
        assert asked == [0, 1]
        (tmp_path / "spots" / "1.json").unlink()
        assert leaf_shortcut.run(config, progress) == found
        assert asked == [0, 1, 1]
        assert progress.done == 4 * SOLVES
        save_network(stand_in("turn_end", seed=2), tmp_path / "networks", stack=20_000)
        leaf_shortcut.run(config, progress)
    assert asked == [0, 1, 1, 0, 1]


def test_rows_are_kept_whole_or_made_again(tmp_path):
    def rows(settings):
        return list(kept_rows(tmp_path, 2, settings, lambda number: {"number": number}))

    assert rows({"a": (1, 2)}) == [({"number": 0}, False), ({"number": 1}, False)]
    assert rows({"a": [1, 2]}) == [({"number": 0}, True), ({"number": 1}, True)]
    (tmp_path / "0.json").write_text("{")
    assert [kept for _, kept in rows({"a": (1, 2)})] == [False, True]
    assert [kept for _, kept in rows({"a": (1, 3)})] == [False, False]
    assert np.all([kept for _, kept in rows({"a": (1, 3)})])
