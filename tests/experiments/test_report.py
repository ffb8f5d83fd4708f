"""The page of results: from files alone, the same every time, and honest about what is missing."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from deepstack.experiments import METHODS
from deepstack.experiments.curves import Curve, recorded, slopes, thin
from deepstack.experiments.pages import EXPERIMENTS, PROGRAMS, write_page
from deepstack.experiments.tables import markdown_table
from deepstack.run.results import Result, read_result

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG"
PLOTS = (
    "slopes", "rules", "solved", "abstract", "cfrd", "continual", "theorem12", "leaf_shortcut",
    "variance",
)  # fmt: skip


def result(name: str, figures: dict, **config: object) -> Result:
    return Result(
        command=f"deepstack experiment {name}",
        config=dict(config),
        seed=None,
        versions={"deepstack": "1.2.3", "commit": "abc1234", "numpy": "2.0", "torch": "9"},
        seconds=75.0,
        figures=figures,
    )


def slope_figures(*games: str) -> dict:
    points = recorded(1000, 1)
    curve = Curve(points, 1.0 / points, points**-0.25)
    rule = {"slopes": slopes(curve), "curve": thin(curve), "seconds": 1.0}
    names = ("cfr", "cfr_plus", "optimistic", "cfr_simultaneous", "cfr_plus_simultaneous")
    rules = dict.fromkeys(names, rule)
    return {"games": {game: {"iterations": 1000, "rules": rules} for game in games}}


def solved_figures() -> dict:
    return {
        "big_blind": 10,
        "infosets_canonical": "90076792",
        "exploitability": 0.009,
        "exploitability_mbb": 0.9,
        "iterations": 200,
        "seconds": 123.4,
        "seconds_with_checks": 130.0,
        "value": [-0.55, 0.55],
        "memory_mb": 2988.8,
        "peak_memory_mb": 3289.2,
        "machine": "abacus, 2 cores",
        "threads": 2,
        "curve": {
            "iterations": [10, 100, 200],
            "average": [1.0, 0.04, 0.009],
            "seconds": [6.0, 60.0, 123.4],
        },
    }


def leaf_figures() -> dict:
    kinds = {"exact": (0.04, 1.5), "river_start": (0.55, 12.0), "turn_end": (0.75, 0.9)}
    leaves = {name: {"exploitability": e, "seconds": s} for name, (e, s) in kinds.items()}
    means = {name: {"mean": e, "p95": 2 * e, "seconds": s} for name, (e, s) in kinds.items()}
    return {
        "all": {"spots": 1, **means},
        "depths": [{"from": 1.5, "to": 5.0, "spots": 1, **means}],
        "difference": {"mean": 0.2, "ci95": None},
        "time_ratio": 0.075,
        "gap": {"mean": 0.03, "worst": 0.04},
        "networks": {"turn_end": {"sha256": 64 * "a", "validation_huber": 0.0031}},
        "machine": "abacus, 2 cores",
        "spots": [{"family": "random", "stack_to_pot": 2.0, "leaves": leaves}],
    }


def variance_figures() -> dict:
    rate = {"mbb_per_game": -250.0, "ci95": 20.0}
    band = {"plain": [-300.0, -250.0], "plain_ci95": [90.0, 20.0]}
    match = {
        "game": "hunl",
        "agents": ["push_fold", {"agent": "probe", "size": "pot"}],
        "hands": 20000,
        "plain": rate,
        "aivat": {"mbb_per_game": -255.0, "ci95": 2.0},
        "difference": {"mbb_per_game": -5.0, "ci95": 19.0},
        "reduction": 0.9,
        "curve": {"hands": [2000, 20000], "aivat": [-256, -255], "aivat_ci95": [6, 2], **band},
    }
    deviations = {"basic": 3.5, "combined_bet_call": 2.25}
    return {
        "exact": {
            "game": "leduc",
            "value": -0.0856,
            "chips": 3.5,
            "aivat": {"both": {"self_play": 0.007}},
            "imaginary": {"on_policy": deviations, "off_policy": deviations},
            "bias": 3e-15,
        },
        "matches": [match],
    }


@pytest.fixture
def results() -> dict[str, Result]:
    agents = {"always_call": {"mbb_per_game": 1163.4757, "mbb_by_seat": [1163.0, 1164.0]}}
    figures = {
        "slopes_matrix": slope_figures("random", "blotto", "rps", "pennies"),
        "slopes_kuhn_leduc": slope_figures("kuhn", "leduc"),
        "holdem_2_4": solved_figures(),
        "table_2_1": {"agents": agents},
        "abstract_leduc": {
            "original": 0.3823,
            "iterations": [200, 4000],
            "curves": {"unsafe": [0.46, 0.396], "safe_opponent_optimal": [0.25, 0.279]},
            "coin_flip": {"self_play": {"0.1": 0.1405, "0.9": 0.1392}},
        },
        "cfrd_leduc": {
            "exact_value": -0.08561,
            "value": {"30": -0.11, "1000": -0.0885},
            "exploitability": {"30": 0.1355, "1000": 0.0142},
            "memory": {"trunk": 15486, "subgame": 11189, "whole": 81085},
        },
        "turn_river_resolving": {
            "mean_cost": 0.012,
            "worst_cost": 0.05,
            "spots": [
                {
                    "board": "Jh8dAd7s",
                    "stack_to_pot": 2.05,
                    "one_shot": 0.049,
                    "resolved": 0.061,
                    "cost": 0.012,
                    "seconds": 31.4,
                }
            ],
        },
        "continual_leduc": {
            "exploitability": {"cfrd": {"best": {"30": 0.1, "100": 0.02}, "average": {"30": 0.2}}},
            "limited": {"max_margin": {"mean": {"30": 0.3}}},
        },
        "theorem12": {
            "exploitability": {"0": 0.02, "0.1": 0.04, "1": 0.3},
            "least": {"0": 0.02, "0.1": 0.03, "1": 0.2},
            "most": {"0": 0.02, "0.1": 0.05, "1": 0.4},
            "bound": {"resolves": 4, "leaves": 30, "slope": 270},
        },
        "nolimit_leduc": {
            "exact_leaf": {
                "chips": 1.5,
                "percent_of_ante": 1.5,
                "grid": {"chips": 2.25, "percent_of_ante": 2.25},
            },
            "equity_leaf": {"chips": 26.9, "percent_of_ante": 26.9},
        },
        "lbr_table2": {
            "agents": {
                "call": {
                    "fcpa 3-4": {
                        "mbb_per_game": 48990.0,
                        "ci95": 372.0,
                        "hands": 1000,
                        "seconds": 60.0,
                    }
                }
            },
            "best_response_to_call": 49900.0,
            "lbr_against_call": {"fcpa 3-4": 48600.0},
        },
        "leaf_shortcut": leaf_figures(),
        "variance_reduction": variance_figures(),
    }
    config = {"rule": {"algorithm": "dcfr", "gamma": 3.0}, "dtype": "float32"}
    return {name: result(name, f, **config) for name, f in figures.items()}


def rows_of(page: str, first: str) -> list[list[str]]:
    """The cells of the table rows that begin with a word, without the marks of bold."""
    rows = [line for line in page.splitlines() if line.startswith(f"| {first} ")]
    return [[cell.strip(" *") for cell in row.strip("|").split("|")] for row in rows]


def test_figures_stand_beside_the_published_ones(results, tmp_path):
    write_page(results, tmp_path / "docs" / "results.md")
    page = (tmp_path / "docs" / "results.md").read_text()
    # slopes of 1/T and T^(-1/4), beside Burch's tables 4.1 and 4.2
    kuhn = rows_of(page, "Kuhn")[0]
    assert kuhn[:3] == ["Kuhn", "CFR", "1,000"]
    assert kuhn[3:] == ["-1.00", "-0.80", "-1.00", "-0.80", "-0.25", "-0.25", "-0.25", "-0.26"]
    assert rows_of(page, "optimistic")[0][1:3] == ["-1.00 / -1.00", "-1.00 / -1.00"]
    assert rows_of(page, "always call")[0][1:3] == ["1163.4757", "1163.48"]
    assert rows_of(page, "unsafe")[0] == ["unsafe", "0.460", "0.396", "0.39 (6,250)"]
    assert rows_of(page, "safe, opponent-optimal constraints")[0][1:] == ["0.250", "0.279", "–"]
    assert rows_of(page, "of self-play")[0][1:] == ["0.141", "0.139"]
    assert rows_of(page, "value")[-1][1:] == ["-0.1100", "-0.0885", "-0.0856"]
    assert "Memory: 15,486 bytes of the trunk" in page
    assert rows_of(page, "Jh8dAd7s")[0][1:] == ["2.05", "0.049", "0.061", "+0.012", "31.4"]
    assert "Mean cost +0.012 %, worst +0.050 %, of 1 spots; the bar is 0.5 %." in page
    assert [row[2:] for row in rows_of(page, "CFR-D")] == [["0.10000", "0.02000"], ["0.20000", "–"]]
    assert rows_of(page, "maximal margin")[0][1:] == ["mean over iterations", "0.30000"]
    assert rows_of(page, "0.1")[0][1:] == ["0.0400", "0.0300", "0.0500", "27.02"]
    solved = rows_of(page, "the second round, solved")
    assert solved[0][1:] == ["1.50", "1.50 %", "2.25", "2.25 %"]
    assert rows_of(page, "equity, as if")[0][3:] == ["–", "–"]
    assert rows_of(page, "call")[-1][1:] == ["fcpa", "3-4", "48.99 ± 0.37", "48.600", "49.0 ± 0.4"]
    assert "An exact best response wins 49.900 from *call*." in page
    turns = [row[2:] for row in rows_of(page, "1.5 to 5")]
    assert turns[-1] == ["`turn_end`", "0.75", "1.50", "0.90"]
    assert "`turn_end` costs +0.20 points more" in page
    assert "in 0.075 of its time (the bar is 0.1), over 1 spots." in page
    assert rows_of(page, "both players")[0][1:] == ["self-play of another solve", "0.0070", "99.8%"]
    assert rows_of(page, "basic")[0][1:] == ["3.5000", "5,103", "3.5000", "62,543"]
    won = rows_of(page, "push fold – probe")[0]
    assert won[2:] == ["20,000", "-250 ± 20", "-255 ± 2", "-5 ± 19", "90.0%"]
    assert rows_of(page, "update rule")[0][1] == "dcfr, gamma=3.0"
    goal = [row for row in rows_of(page, "[2-4] hold'em") if "goal" in row[1]]
    assert goal == [["[2-4] hold'em", "5 mbb/g (the goal)", "100", "60.0"]]
    for plot in PLOTS:
        assert f"(results/{plot}.png)" in page
        assert (tmp_path / "docs" / "results" / f"{plot}.png").read_bytes().startswith(PNG)


def test_every_figure_names_its_source(results, tmp_path):
    write_page(results, tmp_path / "results.md")
    page = (tmp_path / "results.md").read_text()
    for name in results:
        assert f"`results/{name}.json`: `deepstack experiment {name}`" in page
        assert f"`conf/experiment/{name}.yaml`; deepstack 1.2.3 (abc1234), numpy 2.0" in page


def test_what_is_missing_is_said(results, tmp_path):
    write_page(results, tmp_path / "some.md")
    page = (tmp_path / "some.md").read_text()
    assert rows_of(page, "`rhode_island`")[0][-1] == "not run"
    assert "`slopes_rhode_island`: not run (`deepstack experiment slopes_rhode_island`)" in page
    assert rows_of(page, "Rhode Island")[0][2:5] == ["not run", "–", "-0.89"]
    write_page({}, tmp_path / "none.md")
    page = (tmp_path / "none.md").read_text()
    assert [rows_of(page, f"`{name}`")[0][-1] for name in EXPERIMENTS] == ["not run"] * len(
        EXPERIMENTS
    )
    assert not (tmp_path / "none").exists()


def test_the_same_files_make_the_same_page(results, tmp_path):
    for folder in ("a", "b"):
        write_page(results, tmp_path / folder / "results.md")
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")]
    assert len(files) == 1 + len(PLOTS)
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_page_is_made_from_the_files_beside_it(tmp_path):
    """Whoever runs an experiment again also runs ``deepstack report``."""
    files = {name: ROOT / "results" / f"{name}.json" for name in (*EXPERIMENTS, *PROGRAMS)}
    write_page({n: read_result(f) for n, f in files.items() if f.exists()}, tmp_path / "results.md")
    assert (tmp_path / "results.md").read_text() == (ROOT / "docs" / "results.md").read_text()


def test_every_configuration_is_in_the_report():
    folder = resources.files("conf") / "experiment"
    assert {Path(file.name).stem for file in folder.iterdir()} == set(EXPERIMENTS)


def test_every_method_has_its_parts():
    import importlib

    for name in METHODS:
        method = importlib.import_module(f"deepstack.experiments.{name}")
        assert callable(method.run)
        assert callable(method.steps)
        assert isinstance(method.UNIT, str)


def test_tables_align_numbers_and_bold_numbers():
    table = markdown_table(["a", "b"], [["x", "**-1.0**"], ["yy", "2"]])
    assert table[1] == "|:----|---------:|"
    assert table[-1] == "| yy  |        2 |"
    assert np.unique([len(line) for line in table]).size == 1
