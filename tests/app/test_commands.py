"""Every command line that the README shows, as typed, and what the programs answer."""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from deepstack.app.main import COMMANDS, main
from deepstack.run.results import read_result

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
SHOWN = [
    line.split("#")[0].strip()
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("deepstack ")
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(line):
    words = shlex.split(line)
    assert words[0] == "deepstack"
    return main(words[1:])


@pytest.fixture(scope="module")
def readers_folder(tmp_path_factory):
    """Where a reader types one command of the README after the other."""
    return tmp_path_factory.mktemp("reader")


@pytest.mark.parametrize("line", SHOWN)
def test_readme_commands(line, readers_folder, monkeypatch):
    monkeypatch.chdir(readers_folder)
    assert run(line) == 0
    result = read_result("result.json")
    assert result.command == " ".join(shlex.split(line))
    assert result.figures


def test_readme_python():
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "README.md", "exec"), {})


def test_match_contract(capsys):
    assert run("deepstack match agents=[fold,raise] hands=100 seed=3 duplicate=true") == 0
    content = json.loads(Path("result.json").read_text())
    assert set(content) == {"command", "config", "seed", "versions", "seconds", "figures"}
    assert content["seed"] == 3
    assert content["figures"]["hands"] == 100
    fold = content["figures"]["agents"]["fold"]
    assert fold == {
        "mbb_per_game": -750.0,
        "ci95": 0.0,
        "aivat_mbb_per_game": -750.0,
        "aivat_ci95": 0.0,
    }
    assert "fold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "infosets", "canonical"),
    [("kuhn", "12", "12"), ("leduc", "936", "288"), ("rhode_island", "52128128", "3937128")],
)
def test_size_contract(game, infosets, canonical):
    assert run(f"deepstack size game={game} result=out/size.json") == 0
    figures = read_result("out/size.json").figures
    assert figures["infosets"] == infosets
    assert figures["infosets_canonical"] == canonical
    assert {"decision_states", "infoset_actions_canonical"} <= set(figures)
    assert not Path("result.json").exists()


def test_size_of_a_game_file():
    Path("my game.game").write_text((ROOT / "deepstack/game/games/kuhn.game").read_text())
    assert run('deepstack size "game=my game.game"') == 0
    assert read_result("result.json").figures["infosets"] == "12"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("deepstack mach", "command 'mach': expected one of size, match"),
        ("deepstack acpc", "command 'acpc': expected one of"),
        ("deepstack match hnds=3", "did you mean hands?"),
        ("deepstack match 100", "argument '100': expected key=value"),
        ("deepstack match agents=[call,nobody]", "agent 'nobody'"),
        ("deepstack match agents=call", "agents=call: expected a list"),
        ("deepstack match hands=many", "hands=many: expected a whole number"),
        ("deepstack match seed=-1", "seed -1: expected 0 or more"),
        ("deepstack match executor=moon", "executor 'moon'"),
        ("deepstack size game=chess", "game 'chess': expected a .game file or one of"),
        ("deepstack size game=none.game", "game file none.game: cannot be read"),
        ("deepstack acpc join", "port is not given"),
        ("deepstack acpc join localhost 1 connect=0", "cannot connect"),
    ],
)
def test_a_mistake_is_one_clear_line(line, message, capsys):
    assert run(line) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not Path("result.json").exists()


def test_help_lists_every_setting(capsys):
    assert run("deepstack --help") == 0
    listing = capsys.readouterr().out
    for name in COMMANDS:
        assert name in listing
        assert run(f"deepstack {name} --help") == 0
        assert "result:" in capsys.readouterr().out


def test_play_until_quit(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nc\nc\nc\nf\nc\nq\n"))
    assert run("deepstack play opponent=call seed=1") == 0
    assert "hand 1" in capsys.readouterr().out
    assert read_result("result.json").seed == 1


def test_dealer_and_players_over_the_command_line():
    program = [sys.executable, "-m", "deepstack"]
    words = ["acpc", "deal", "game=leduc", "hands=20", "names=[alice,bob]", "log=match.log"]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, text=True) as dealer:
        players = []
        for name in ("alice", "bob"):
            line = dealer.stdout.readline().strip()
            assert line.startswith(f"{name}: deepstack acpc join 127.0.0.1 ")
            players.append(subprocess.Popen([*program, *line.split()[2:], f"result={name}.json"]))
        assert [player.wait(30) for player in players] == [0, 0]
        dealer.stdout.read()
    assert dealer.returncode == 0
    assert read_result("result.json").figures["hands"] == 20
    assert read_result("alice.json").figures["hands"] == 20
    assert len(Path("match.log").read_text().splitlines()) == 21
