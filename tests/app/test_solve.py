"""``deepstack solve`` and ``deepstack exploit``, as typed."""

import os
import shlex
import signal
import threading
from pathlib import Path

import pytest

from deepstack.app.config import load_config
from deepstack.app.main import main
from deepstack.run.results import read_result
from deepstack.solver import memory

RIVER = "deepstack solve board=Td9d6hQc2s pot=200 stack=900"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(line):
    words = shlex.split(line)
    assert words[0] == "deepstack"
    return main(words[1:])


def figures(line):
    assert run(line) == 0
    return read_result("result.json").figures


@pytest.mark.parametrize(
    "algorithm", ["cfr", "cfr_plus", "linear", "dcfr", "pcfr_plus", "dcfr_plus"]
)
def test_the_contract_of_a_game(algorithm, capsys):
    found = figures(f"deepstack solve game=leduc algorithm={algorithm} iterations=100 target=0.001")
    assert {"exploitability", "value", "iterations", "seconds"} <= set(found)
    assert found["iterations"] == 100
    assert 0.001 < found["exploitability"] < 0.2
    assert found["value"] == pytest.approx([-0.0856, 0.0856], abs=0.1)
    said = capsys.readouterr().out
    assert "96 decisions" in said
    assert "Kh" in said
    assert "bet 2 %" in said


def test_the_contract_of_a_spot(capsys):
    found = figures(
        'deepstack solve board=Td9d6hQc2s pot=200 stack=900 bets="100%, a" ranges.oop=random '
        "ranges.ip=random iterations=2000 target=0.1% threads=1"
    )
    assert found["exploitability_pot"] <= 0.001
    assert found["ev_oop"] == pytest.approx(93.0849, abs=0.4)  # solved further by another solver
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(200, abs=1e-3)
    assert found["slots"] == 34_592
    seconds = found["ns_per_slot"] * found["slots"] * found["iterations"] / 1e9
    assert seconds == pytest.approx(found["seconds"])
    assert 0 < found["memory_mb"] < 10
    said = capsys.readouterr().out
    assert said.startswith("board Td9d6hQc2s, pot 200, stack 900, bets 100%, a")
    assert "12 decisions, 0 chances, 10 folds, 11 showdowns; 34,592 slots" in said
    assert "straight" in said
    assert "bet (any size): per cent of the time" in said
    assert "\nA " in said  # the first row of the grid


def test_the_contract_of_a_state(capsys):
    line = 'deepstack solve state="MATCHSTATE:0:0:cr300c/cc/cc/r600:|/Td9d6h/Qc/2s" bets=a'
    found = figures(f"{line} ranges.oop=AA,KQs ranges.ip=22+ target=1%")
    assert found["exploitability_pot"] <= 0.01
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(900, abs=0.01)
    assert "ip to act" in capsys.readouterr().out


def test_what_is_typed_arrives(capsys):
    found = figures(f'{RIVER} bets="50%, a" ranges.oop=77 ranges.ip=AA,KQs:0.5,22+ iterations=1')
    assert found["iterations"] == 1
    said = capsys.readouterr().out
    assert "oop 77 (6 hands)" in said
    assert "bets 50%, a" in said
    for bets in ("fcpa", "'33%, a | a'", "250"):
        assert run(f"{RIVER} bets={bets} iterations=1") == 0
    assert "bets 250" in capsys.readouterr().out


def test_a_setting_may_have_the_name_of_a_config_group():
    assert load_config("acpc_join", ["agent=random", "port=3"]).agent == "random"
    assert load_config("solve", ["bets=50%, 100%, a"]).bets == "50%, 100%, a"


def test_rules_can_be_changed(capsys):
    line = "deepstack solve game=kuhn iterations=5 algorithm=dcfr"
    assert run(f"{line} rule.gamma=3 rule.restart=4 rule.fresh=true") == 0
    assert "dcfr (gamma 3, restart 4, fresh True)" in capsys.readouterr().out


def test_a_node_of_choice(capsys):
    line = f'{RIVER} bets="100%, a" iterations=20 show.betting="c b200" show.action=fold'
    assert run(line) == 0
    said = capsys.readouterr().out
    assert "oop to act, Td9d6hQc2s, pot 400" in said
    assert "raise to 800 %" in said
    assert "fold: per cent of the time" in said


def test_saved_loaded_resumed_exploited(capsys):
    first = figures(f"{RIVER} bets=a iterations=30 save=runs/river.solution")
    shown = figures("deepstack solve load=runs/river.solution")
    assert shown == first
    more = figures("deepstack solve load=runs/river.solution iterations=30 save=more.solution")
    assert more["iterations"] == 60
    assert more["exploitability"] < first["exploitability"]
    at_once = figures(f"{RIVER} bets=a iterations=60")
    assert more["exploitability"] == at_once["exploitability"]
    capsys.readouterr()
    found = figures("deepstack exploit solution=more.solution")
    assert found["exploitability"] == pytest.approx(more["exploitability"])
    assert found["exploitability_pot"] == pytest.approx(more["exploitability"] / 200)
    assert found["value"] == pytest.approx(more["value"])
    assert sum(found["best_response"]) / 2 == pytest.approx(found["exploitability"])
    assert all(
        best >= value for best, value in zip(found["best_response"], found["value"], strict=True)
    )
    assert "best response" in capsys.readouterr().out


def test_pictures_are_drawn():
    assert run(f"{RIVER} bets=a iterations=10 plots=pictures ranges.oop=22+,A2s+:0.5") == 0
    drawn = sorted(Path("pictures").iterdir())
    assert [path.name for path in drawn] == ["convergence.png", "strategy.png"]
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in drawn)
    assert run("deepstack solve game=leduc iterations=10 plots=leduc") == 0
    assert [path.name for path in Path("leduc").iterdir()] == ["convergence.png"]


def test_an_interrupt_keeps_what_is_solved(capsys):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    found = figures("deepstack solve game=kuhn iterations=1000000000 save=kuhn.solution")
    assert 0 < found["iterations"] < 1_000_000_000
    assert "stopped" in capsys.readouterr().out
    assert figures("deepstack solve load=kuhn.solution") == found


SHORT_GAME = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 1
stack = 5 20
blind = 10 5
numSuits = 1
numRanks = 3
numHoleCards = 1
numBoardCards = 0
showdown = pairs
END GAMEDEF
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("deepstack solve", "nothing to solve: expected game=, board="),
        ("deepstack solve game=leduc board=Td9d6h", "game=leduc beside board="),
        ("deepstack solve game=leduc pot=3", "pot=3 beside game="),
        ("deepstack solve board=Td9d6hQc2s pot=200", "stack is not given"),
        ("deepstack solve board=Td9d6hQcTd pot=200 stack=900", "Td stands twice"),
        ("deepstack solve board=Td9d pot=200 stack=900", "of 2 cards: expected 3, 4 or 5"),
        ("deepstack solve board=Td9d6hQc2s pot=200 stack=0", "stack=0: expected a positive"),
        ("deepstack solve board=Td9d6hQc2s pot=-1 stack=900", "pot=-1: expected a positive"),
        ("deepstack solve board=Td9d6hQc2s pot=x stack=900", "pot=x: expected a positive"),
        ("deepstack solve game=short.game", "blind 10 of player 1: expected 0 to 5"),
        (f"{RIVER} ranges.oop=TdTh", "range 'TdTh': no hand is left beside the board"),
        (f"{RIVER} ranges.oop=", "range token ''"),
        (f"{RIVER} ranges.oop=AA:0", "no hand is left"),
        (f"{RIVER} ranges.oop=AsKs ranges.ip=AsKs", "ranges cannot coexist"),
        (f"{RIVER} ranges.oop=XX", "range token 'XX'"),
        (f"{RIVER} ranges.button=AA", "setting 'ranges.button' is unknown"),
        (f"{RIVER} bets=50%,zz", "unknown token 'zz'"),
        (f"{RIVER} algorithm=magic", "algorithm 'magic': expected one of cfr, cfr_plus"),
        (f"{RIVER} rule.gamma=much", "rule.gamma=much: expected a number"),
        (f"{RIVER} rule.restart=1.5", "rule.restart=1.5: expected a whole number"),
        (f"{RIVER} rule.fresh=1", "rule.fresh=1: expected true or false"),
        (f"{RIVER} rule.delay=-1", "expected no negative number"),
        (f"{RIVER} iterations=-5", "iterations=-5: expected a whole number of at least 0"),
        (f"{RIVER} iterations=few", "iterations=few: expected a whole number"),
        (f"{RIVER} target=0.5pot", "target=0.5pot: expected a positive number of chips"),
        (f"{RIVER} seconds=-1", "seconds=-1: expected a positive number"),
        (f"{RIVER} threads=0", "threads=0: expected a whole number of at least 1"),
        (f"{RIVER} dtype=float8", "dtype 'float8': expected one of float32, float64"),
        (f"{RIVER} show.betting=b77", "'b77' is not in the tree"),
        (f"{RIVER} show.action=dance", "action 'dance': expected one of bet, fold"),
        (f"{RIVER} save=.", "save=.: expected a file"),
        (f"{RIVER} plots=foreign.solution", "plots=foreign.solution: expected a folder"),
        ("deepstack solve state=MATCHSTATE:0:0:xx:|", "unknown action at 'xx'"),
        ("deepstack solve state=cc/", "expected a state in which a player is to act"),
        ("deepstack solve load=none.solution", "solution 'none.solution': expected a readable"),
        ("deepstack solve load=foreign.solution", "expected a file that deepstack solve has saved"),
        ("deepstack solve load=none.solution bets=a", "bets=a beside load="),
        ("deepstack exploit solution=foreign.solution", "expected a file that deepstack solve has"),
        ("deepstack exploit", "solution is not given"),
    ],
)
def test_a_mistake_is_one_clear_line_and_nothing_is_written(line, message, capsys):
    Path("short.game").write_text(SHORT_GAME)
    Path("foreign.solution").write_bytes(b"PK\3\4 something else")
    before = sorted(Path().iterdir())
    assert run(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_a_truncated_solution_is_refused(capsys):
    assert run("deepstack solve game=kuhn iterations=3 save=kuhn.solution") == 0
    Path("result.json").unlink()
    whole = Path("kuhn.solution").read_bytes()
    Path("kuhn.solution").write_bytes(whole[: len(whole) // 2])
    capsys.readouterr()
    assert run("deepstack exploit solution=kuhn.solution") == 2
    assert "solution 'kuhn.solution': truncated" in capsys.readouterr().err
    assert not Path("result.json").exists()


def test_a_tree_that_does_not_fit_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    assert run("deepstack solve board=Td9d6hQc pot=200 stack=900") == 2
    assert "GB and 0.0 GB are free" in capsys.readouterr().err
    assert not Path("result.json").exists()
