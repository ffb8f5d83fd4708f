"""``deepstack experiment`` and ``deepstack report``, as typed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from standins import stand_in

from deepstack.app.main import choices, main
from deepstack.experiments.pages import PROGRAMS
from deepstack.run.results import read_result
from deepstack.values.checkpoint import save_network


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(line):
    words = shlex.split(line)
    assert words[0] == "deepstack"
    return main(words[1:])


SMALL = {
    "slopes_matrix": "games=[pennies,random] iterations.pennies=100 iterations.random=50"
    " random.games=3 random.size=20",
    "slopes_kuhn_leduc": "iterations.kuhn=60 iterations.leduc=40",
    "slopes_rhode_island": "iterations.rhode_island=6 every=3",
    "rhode_island": "game=leduc target=0.01",
    "holdem_2_4": "game=leduc iterations=20",
    "table_2_1": "game=leduc",
    "continual_leduc": "whole.iterations=[3] whole.gadgets=[cfrd] whole.carry=[best]"
    " limited.iterations=[2] limited.gadgets=[cfrd] limited.carry=[best+gift]"
    " long.iterations=[3] leaf_iterations=2 snapshots=2",
    "theorem12": "iterations=3 leaf_iterations=2 errors=[0,1] draws=1 snapshots=2",
    "nolimit_leduc": "iterations=[3,3] leaf_iterations=2 grid=500 snapshots=2",
    "abstract_leduc": "abstract_iterations=20 iterations=[2,4] coin_flip=[0.5]",
    "cfrd_leduc": "iterations=[1,3] subgame_iterations=5 gadget_iterations=5",
    "turn_river_resolving": "spots=1 target=5% river_iterations=2",
    "leaf_shortcut": "spots=1 iterations=2 exact_target=5% held_gap=5%"
    " networks.turn_end=own/turn_end",
    "lbr_table2": "game=nolimit_leduc hands=20 executor=in_process"
    " settings='[{bets: fcpa, rounds: 2}]'",
    "variance_reduction": "game=kuhn iterations=20 push_fold_iterations=5"
    " matches='[{game: hunl, agents: [push_fold, random], hands: 40}]'",
}


def test_a_shortened_run_of_every_experiment_and_the_report():
    """All experiments on small games, then the page of what they wrote."""
    assert set(SMALL) == set(choices("experiment"))
    save_network(stand_in("turn_end"), "own", stack=20_000)
    for name, changes in SMALL.items():
        assert run(f"deepstack experiment {name} {changes}") == 0
        assert read_result(f"results/{name}.json").command.startswith(
            f"deepstack experiment {name}"
        )
    matrix = read_result("results/slopes_matrix.json").figures["games"]
    assert matrix["random"]["copies"] == 3
    assert matrix["pennies"]["rules"]["cfr"]["curve"]["iterations"][-1] == 100
    solved = read_result("results/rhode_island.json").figures
    assert solved["exploitability"] < 0.01
    assert solved["curve"]["average"][-1] == pytest.approx(solved["exploitability"], rel=1e-5)
    assert solved["value"] == pytest.approx([-0.0856, 0.0856], abs=0.01)
    assert read_result("results/holdem_2_4.json").figures["iterations"] == 20
    assert read_result("results/table_2_1.json").figures["agents"]["always_fold"] == {
        "mbb_per_game": 1000.0,
        "mbb_by_seat": [1000.0, 1000.0],
    }

    assert run("deepstack report") == 0
    assert read_result("result.json").figures["not_run"] == []
    page = Path("docs/results.md").read_text().replace("| not run", "")
    for name in PROGRAMS:  # made by other programs
        page = page.replace(f"`{name}`: not run", "")
    assert "not run" not in page
    assert {file.name for file in Path("docs/results").iterdir()} == {
        "slopes.png", "rules.png", "solved.png", "abstract.png", "cfrd.png", "continual.png",
        "theorem12.png", "leaf_shortcut.png", "variance.png",
    }  # fmt: skip


def test_result_can_go_elsewhere():
    line = "deepstack experiment slopes_kuhn_leduc games=[kuhn] iterations.kuhn=20"
    assert run(f"{line} result=out/x.json") == 0
    assert set(read_result("out/x.json").figures["games"]) == {"kuhn"}
    assert not Path("results").exists()


def test_help_lists_experiments_and_their_settings(capsys):
    assert run("deepstack experiment --help") == 0
    listing = capsys.readouterr().out
    for name in choices("experiment"):
        assert name in listing
        assert run(f"deepstack experiment {name} --help") == 0
        text = capsys.readouterr().out
        assert f"usage: deepstack experiment {name} [key=value …]" in text
        assert "method:" in text
        assert "@package" not in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("deepstack experiment", "experiment without a name: expected one of "),
        ("deepstack experiment moon", "experiment 'moon': expected one of "),
        ("deepstack experiment moon --help", "experiment 'moon': expected one of"),
        ("deepstack experiment table_2_1 again", "argument 'again': expected key=value"),
        ("deepstack experiment table_2_1 gme=leduc", "did you mean game?"),
        ("deepstack experiment table_2_1 method=magic", "method 'magic': expected one of"),
        ("deepstack experiment holdem_2_4 rule.algorithm=magic", "algorithm 'magic'"),
        ("deepstack experiment slopes_matrix games=[chess]", "game 'chess': expected one of pen"),
        ("deepstack experiment slopes_kuhn_leduc every=0", "every 0 of"),
        ("deepstack experiment slopes_matrix rules=[magic]", "rule 'magic'"),
        ("deepstack experiment cfrd_leduc iterations=[3,2]", "iterations [3, 2]: expected"),
        ("deepstack experiment turn_river_resolving spots=0", "spots=0: expected at least 1"),
        ("deepstack experiment leaf_shortcut depths=[1]", "depths=[1]: expected two positive"),
        ("deepstack experiment leaf_shortcut families=[moon]", "range family 'moon': expected one"),
        ("deepstack report", "results=results: expected a folder"),
        ("deepstack report results=. page=x.html", "page=x.html: expected a file that ends in .md"),
    ],
)
def test_a_mistake_is_one_clear_line(line, message, capsys):
    assert run(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not Path("results").exists()
    assert not Path("result.json").exists()
