"""Tournaments: closed forms, exact values, rankings on made-up results, stopping and going on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deepstack.agents.build import make_agent
from deepstack.app.config import load_config
from deepstack.app.tournament import choose_game, run
from deepstack.evaluate import tournament
from deepstack.evaluate.tournament import Tournament, play_tournament
from deepstack.evaluate.tournament_exact import head_to_head
from deepstack.evaluate.tournament_pieces import PieceFolder
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.run.executors import InProcess, Processes
from deepstack.run.results import to_plain

SIX = ["equity", "call", "raise", "probe", "random", "fold"]
LEDUC, KUHN_3P = load_game("leduc"), load_game("kuhn_3p")


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(tournament, "PIECE", 7)


def made_up(matches: list[tuple[int, ...]], means: list[tuple[float, ...]]) -> Tournament:
    """A two-seat tournament with these win rates, over two sets that differ by ±10."""
    milli = np.array([[np.array(row) + 10, np.array(row) - 10] for row in means], np.float64)
    labels = [chr(ord("a") + i) for i in range(1 + max(max(match) for match in matches))]
    return Tournament(LEDUC, labels, matches, milli)


# a: beats weak d heavily; b beats a and c; c beats a; d loses to everybody
RING = made_up(
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    [(-20, 20), (-10, 10), (300, -300), (5, -5), (30, -30), (40, -40)],
)


def test_bankroll_is_the_mean_over_all_opponents():
    rates = {standing.entrant: standing.rate.mean for standing in RING.ranking()}
    assert rates == pytest.approx({0: 90, 1: 55 / 3, 2: 15, 3: -370 / 3})
    assert [standing.entrant for standing in RING.ranking()] == [0, 1, 2, 3]


def test_the_run_off_ranks_again_without_the_last():
    # without d, who fed a, a is the last
    rounds = [[standing.entrant for standing in ranking] for ranking in RING.runoff()]
    assert rounds == [[0, 1, 2, 3], [1, 2, 0], [1, 2]]
    assert RING.runoff_order() == [1, 2, 0, 3]


def test_an_exact_tie_goes_to_the_bankroll_then_to_the_first_entrant():
    tied = made_up([(0, 1), (0, 2), (1, 2)], [(0, 0), (50, -50), (90, -90)])
    assert tied.runoff_order() == [1, 0, 2]  # b won more from c
    even = made_up([(0, 1)], [(0, 0)])
    assert [standing.entrant for standing in even.ranking()] == [0, 1]


def test_intervals_know_that_matches_share_their_cards():
    # what a wins from b it loses to c in every set: the mean does not vary at all
    milli = np.array([[[30.0, -30.0], [-10.0, 10.0]], [[-20.0, 20.0], [20.0, -20.0]]])
    result = Tournament(LEDUC, ["a", "b", "c"], [(0, 1), (0, 2)], milli)
    rate = result.ranking([0, 1, 2])
    first = next(standing.rate for standing in rate if standing.entrant == 0)
    assert first.mean == 5
    assert first.ci95 == 0


def test_margins_are_over_the_same_cards():
    ranking = RING.ranking()
    assert ranking[0].margin.mean == pytest.approx(90 - 55 / 3)
    # both had 10 more in the first set than in the second
    assert ranking[0].margin.ci95 == 0
    assert ranking[-1].margin is None


def test_closed_forms_in_limit_holdem():
    result = play_tournament(load_game("limit_holdem"), ["fold", "raise", "call"], 20)
    assert result.cross(0, 1) == (-750.0, 0.0)
    assert result.cross(1, 0) == (750.0, 0.0)
    assert result.cross(1, 2) == (0.0, 0.0)  # both seats of every deal cancel
    assert result.hands == 20


def test_always_fold_loses_500_three_handed():
    # Abou Risk and Szafron (2010): mean of the blinds, 5 and 10 of 10, over three seats
    result = play_tournament(load_game("limit_holdem_3p"), ["fold", "raise", "raise"], 12)
    assert result.ranking()[-1].entrant == 0
    assert result.ranking()[-1].rate.mean == -500


@pytest.mark.parametrize(("game", "hands"), [("leduc", 600), ("kuhn_3p", 600)])
def test_rates_are_those_of_exact_enumeration(game, hands):
    rules, names = load_game(game), ["equity", "probe", "random", "call"]
    result = play_tournament(rules, names, hands, seed=3)
    strategies = [make_agent(name, rules).probabilities for name in names]
    for number, match in enumerate(result.matches):
        exact = head_to_head(rules, [strategies[i] for i in match]) * 1000 / rules.big_blind
        for rate, value in zip(result.match_rates(number), exact, strict=True):
            assert abs(rate.mean - value) < 2.5 * rate.ci95 + 1e-9  # five standard errors


def test_every_match_sums_to_zero():
    result = play_tournament(KUHN_3P, SIX, 12)
    assert len(result.matches) == 20
    np.testing.assert_allclose(result.milli.sum(axis=2), 0, atol=1e-9)


def test_an_entrant_plays_its_cards_alike_in_every_match():
    # against two opponents who never act on their cards, the same hands give the same result
    specs = ["equity", "call", {"agent": "triple", "fold": 0, "call": 1, "raise_": 0}]
    result = play_tournament(LEDUC, specs, 60)
    np.testing.assert_array_equal(result.milli[0], result.milli[1])


# ---- pieces


def folder(path: Path) -> PieceFolder:
    return PieceFolder(path, {"seed": 1}, players=2)


class Stops:
    """An executor that fails after some pieces, as a killed run does."""

    def __init__(self, after: int) -> None:
        self.after = after

    def map(self, task, seeds):
        for number, outcome in enumerate(InProcess().map(task, seeds)):
            if number == self.after:
                raise KeyboardInterrupt
            yield outcome


@pytest.mark.usefixtures("small_pieces")
def test_a_stopped_tournament_goes_on_to_the_same_result(tmp_path):
    names = ["call", "random", "probe"]
    whole = play_tournament(LEDUC, names, 40, seed=1)
    for after in (2, 5):
        with pytest.raises(KeyboardInterrupt):
            play_tournament(
                LEDUC, names, 40, seed=1, executor=Stops(after), folder=folder(tmp_path)
            )
    kept = sorted(tmp_path.glob("*.npz"))
    assert len(kept) == 7  # two, then five more
    kept[0].write_bytes(kept[0].read_bytes()[:-20])  # not whole: played again
    again = play_tournament(LEDUC, names, 40, seed=1, folder=folder(tmp_path))
    np.testing.assert_array_equal(again.milli, whole.milli)


@pytest.mark.usefixtures("small_pieces")
def test_finished_pieces_are_not_played_again(tmp_path):
    names = ["call", "random"]
    whole = play_tournament(LEDUC, names, 40, folder=folder(tmp_path))
    again = play_tournament(LEDUC, names, 40, folder=folder(tmp_path), executor=Stops(0))
    np.testing.assert_array_equal(again.milli, whole.milli)


def test_the_folder_of_another_tournament_is_refused(tmp_path):
    folder(tmp_path)
    with pytest.raises(InputError, match=r"holds another tournament, with other seed: expected"):
        PieceFolder(tmp_path, {"seed": 2}, players=2)
    (tmp_path / "tournament.json").write_text("{")
    with pytest.raises(InputError, match="expected one for the pieces of a tournament"):
        folder(tmp_path)


def test_processes_play_the_same_tournament():
    names = ["equity", "random", "probe"]
    here = play_tournament(LEDUC, names, 20, seed=2)
    there = play_tournament(LEDUC, names, 20, seed=2, executor=Processes(2))
    np.testing.assert_array_equal(here.milli, there.milli)


# ---- the program


def program(*words: str) -> dict:
    return to_plain(run(load_config("tournament", words)))


@pytest.mark.parametrize(("game", "players"), [("kuhn", 2), ("kuhn", 3), ("leduc", 3)])
def test_contract(game, players, capsys):
    hands = 6 * (2 if game == "kuhn" else 1)
    figures = program(f"game={game}", f"players={players}", f"hands={hands}", "event=both")
    assert figures["game"] == (f"{game}_3p" if players == 3 else game)
    assert figures["hands"] == hands
    assert set(figures["agents"]) == set(SIX)
    assert set(figures["agents"]["equity"]) == {"mbb_per_game", "ci95"}
    assert set(figures["bankroll"]["ranks"]) == set(figures["runoff"]["ranks"]) == set(SIX)
    assert set(figures["cross_table"]["call"]) == set(SIX) - {"call"}
    assert len(figures["matches"]) == {2: 15, 3: 20}[players]
    assert len(figures["runoff"]["rounds"]) == {2: 5, 3: 4}[players]
    shown = capsys.readouterr().out
    assert "total bankroll" in shown
    assert "instant run-off" in shown


def test_an_event_shows_only_itself(capsys):
    assert "runoff" not in program("game=kuhn", "hands=2", "event=bankroll")
    assert "run-off" not in capsys.readouterr().out
    assert "bankroll" not in program("game=kuhn", "hands=2", "event=runoff")


def test_a_single_set_has_no_interval():
    figures = program("game=kuhn", "hands=2", "agents=[call,raise]")
    assert figures["agents"]["call"]["ci95"] is None
    json.dumps(figures)


def test_the_picture_is_a_picture(tmp_path):
    file = tmp_path / "cross.png"
    program("game=kuhn", "hands=4", "agents=[call,raise,equity]", f"plot={file}")
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "players", "chosen"),
    [
        (None, None, "hunl"),
        (None, 3, "limit_holdem_3p"),
        ("leduc", 3, "leduc_3p"),
        ("leduc_3p", None, "leduc_3p"),
    ],
)
def test_the_game_goes_with_the_players(name, players, chosen):
    assert choose_game(name, players).name == chosen


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["players=4"], "players=4: expected 2 or 3"),
        (["game=hunl", "players=3"], "game=hunl with players=3: expected a game that ships"),
        (["game=leduc_3p", "players=2"], "leduc_3p has 3 seats: expected players=2"),
        (["agents=[call]"], "1 agents: expected at least 2"),
        (["agents=[call,nobody]", "game=kuhn", "hands=2"], "agent 'nobody'"),
        (["hands=3"], "hands=3: expected a positive multiple of 2"),
        (["event=lottery"], "event=lottery: expected one of bankroll, runoff, both"),
        (["seed=-1", "game=kuhn"], "seed -1: expected 0 or more"),
    ],
)
def test_a_mistake_is_named(words, message):
    with pytest.raises(InputError, match=message):
        program(*words)
