"""``deepstack lbr`` as typed: its figures, its mistakes, and going on after a kill."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deepstack.app.main import main
from deepstack.run.results import read_result


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(line):
    words = shlex.split(line)
    assert words[:2] == ["deepstack", "lbr"]
    return main(words[1:])


@pytest.mark.parametrize(
    "line",
    [
        "deepstack lbr agent=fold bets=fcpa rounds=3-4 hands=20 seed=1",
        'deepstack lbr agent=fold bets="c;c;fcpa;fcpa" hands=20 seed=1',
        "deepstack lbr agent=fold bets=56bets rounds=4 hands=20 executor=local",
    ],
)
def test_contract(line, capsys):
    assert run(line) == 0
    figures = read_result("result.json").figures
    assert {"mbb_per_game", "ci95", "hands", "seconds"} <= set(figures)
    assert (figures["mbb_per_game"], figures["ci95"], figures["hands"]) == (750.0, 0.0, 20)
    assert "local best response wins +750.0 ± 0.0 mbb/g" in capsys.readouterr().out
    assert list(Path("runs/lbr").iterdir()) == []


def test_every_agent_of_the_table():
    for agent in ("call", "every_action", "{agent: probe, size: pot}"):
        assert run(f'deepstack lbr "agent={agent}" bets=fc rounds=3-4 hands=4') == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("deepstack lbr rounds=5", "rounds=5: expected betting rounds of hunl such as 1-4 or 4"),
        ("deepstack lbr bets=none", "bets 'none'"),
        ("deepstack lbr hands=3", "hands=3: expected a positive multiple of 2"),
        ("deepstack lbr agent=human", "agent Human: expected one that states its probabilities"),
        ("deepstack lbr agent=nobody", "agent 'nobody'"),
        ("deepstack lbr game=kuhn_3p", "kuhn_3p has 3 players: expected 2"),
        ("deepstack lbr seed=-1", "seed -1: expected 0 or more"),
        ("deepstack lbr executor=moon", "executor 'moon'"),
    ],
)
def test_a_mistake_is_one_clear_line(line, message, capsys):
    assert run(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not Path("result.json").exists()


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_figure():
    line = "deepstack lbr game=leduc agent=probe hands=20000 seed=2"
    program = subprocess.Popen([sys.executable, "-m", *shlex.split(line)])
    kept = Path("runs/lbr")
    while not (kept.exists() and any(f.suffix == ".npz" for f in kept.iterdir())):
        assert program.poll() is None
        time.sleep(0.05)
    program.kill()
    program.wait()
    assert not Path("result.json").exists()
    assert run(line) == 0
    resumed = read_result("result.json").figures
    assert run(f"{line} chunk=1000") == 0
    whole = read_result("result.json").figures
    for key in ("mbb_per_game", "ci95", "hands", "mbb_by_seat"):
        assert resumed[key] == whole[key]
