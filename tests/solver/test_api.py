"""One call that solves: what it takes, when it stops, what it refuses."""

import time

import numpy as np
import pytest

import deepstack
from deepstack.game.definition import load_game
from deepstack.game.spots import Spot
from deepstack.game.state import initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.solver import memory
from deepstack.solver.api import prepare
from deepstack.solver.rules import PCFR_PLUS
from deepstack.solver.stopping import Stop, run_until

RIVER = Spot("Td9d6hQc2s", pot=200, stack=900)
# OOP's share of the pot when this river is solved to 0.0013 % of it, by another solver
RIVER_EV = 93.0849


def test_a_river_spot_reaches_its_target():
    solution = deepstack.solve(RIVER, bets="100%, a", target="0.1%")
    assert solution.exploitability <= 0.2
    assert solution.exploitability == solution.history[-1].exploitability
    # the game is zero-sum, so nobody's value is off by more than twice the exploitability
    assert solution.evs[0] == pytest.approx(RIVER_EV, abs=0.4)
    assert solution.evs.sum() == pytest.approx(200, abs=1e-3)
    assert solution.values == pytest.approx(solution.evs - 100)


def test_the_uniform_strategy_is_what_no_iteration_leaves():
    solution = deepstack.solve(RIVER, bets="100%, a", iterations=0)
    # 91.611 % of the pot, measured by another solver
    assert solution.exploitability == pytest.approx(183.222, abs=1e-2)
    assert solution.seconds == 0.0


@pytest.mark.parametrize(
    "what",
    ["kuhn", load_game("kuhn"), initial_state(load_game("kuhn"))],
    ids=["name", "game", "state"],
)
def test_kuhn_is_worth_a_chip_in_eighteen(what):
    solution = deepstack.solve(what, algorithm="cfr_plus", iterations=300)
    assert solution.values == pytest.approx([-1 / 18, 1 / 18], abs=1e-3)
    assert solution.iterations == 300


def test_states_are_texts_or_states():
    game = load_game("hunl")
    betting, cards = "cr300c/cc/cc/r600", "|/Td9d6h/Qc/2s"
    state = parse_state(game, betting, cards)
    found = [
        deepstack.solve(what, bets="a", iterations=20, **beside).values
        for what, beside in (
            (state, {}),
            (f"{betting}:{cards}", {"game": "hunl"}),
            (f"MATCHSTATE:0:3:{betting}:AsKs|/Td9d6h/Qc/2s", {}),
        )
    ]
    assert found[0] == pytest.approx(found[1], abs=0)
    assert found[0] == pytest.approx(found[2], abs=0)


def test_ranges_are_by_seat_or_by_position():
    state = RIVER.state()
    spot = Spot("Td9d6hQc2s", 200, 900, oop="77", ip="random")
    asked = ({"oop": "77", "ip": "random"}, ["77", "random"], spot.ranges())
    values = [
        deepstack.solve(state, bets="a", iterations=5, ranges=ranges).values for ranges in asked
    ]
    values.append(deepstack.solve(spot, bets="a", iterations=5).values)
    assert all((value == values[0]).all() for value in values)


def test_the_unit_of_chips_does_not_matter():
    fine = deepstack.solve(Spot("Td9d6hQc2s", 2.5, 11.25), bets="50%, a", iterations=20)
    coarse = deepstack.solve(Spot("Td9d6hQc2s", 250, 1125), bets="50%, a", iterations=20)
    assert fine.chip == 100
    assert fine.exploitability == pytest.approx(coarse.exploitability / 100)
    assert fine.values == pytest.approx(coarse.values / 100)
    assert fine.pot == 2.5


def test_an_odd_pot_is_reported_in_chips():
    solution = deepstack.solve(Spot("Td9d6hQc2s", 201, 900), bets="50, a", iterations=20)
    assert solution.pot == 201
    assert solution.evs.sum() == pytest.approx(201, abs=1e-3)
    assert solution.node().labels == ("check", "bet 50", "all-in 900")


def test_limits():
    assert deepstack.solve("kuhn", iterations=7).iterations == 7
    assert deepstack.solve("kuhn").iterations == 1000
    by_default = deepstack.solve(RIVER, bets="a")
    assert by_default.exploitability <= 1.0
    checks = [check.iterations for check in by_default.history]
    assert checks == list(range(10, by_default.iterations + 1, 10))
    either = deepstack.solve(RIVER, bets="a", iterations=5, target="0.001%")
    assert either.iterations == 5
    assert [check.iterations for check in either.history] == [5]


def test_a_limit_of_time():
    started = time.perf_counter()
    solution = prepare(RIVER, bets="a")
    solution.resume(iterations=1)  # compiled now
    started = time.perf_counter()
    solution.resume(seconds=0.2)
    waited = time.perf_counter() - started
    assert 0.1 < waited < 2.0  # a machine may be busy
    assert solution.iterations > 1
    assert solution.seconds <= waited
    assert solution.history[-1].iterations == solution.iterations


def test_iterations_come_in_pieces_that_can_be_interrupted():
    calls = []
    run_until(
        Stop(iterations=100),
        lambda count: (calls.append(count), time.sleep(0.002 * count))[0],
        lambda: 1.0,
        done=0,
        seconds=0.0,
        on_check=lambda check: None,
    )
    assert sum(calls) == 100
    calls.clear()
    run_until(
        Stop(target=0.5, seconds=0.1),
        lambda count: (calls.append(count), time.sleep(0.02 * count))[0],
        lambda: 1.0,
        done=50,
        seconds=0.0,
        on_check=lambda check: None,
    )
    assert calls[0] == 1
    assert sum(calls) <= 6


def test_an_update_rule_may_be_given():
    assert deepstack.solve("kuhn", algorithm=PCFR_PLUS, iterations=1).engine.rule is PCFR_PLUS


def test_threads_change_nothing_but_time():
    one = deepstack.solve("leduc", algorithm="cfr", iterations=20, threads=1)
    two = deepstack.solve("leduc", algorithm="cfr", iterations=20, threads=2)
    assert two.engine.threads == 2
    assert one.values == pytest.approx(two.values, abs=1e-5)


def test_progress_tells_the_exploitability(capsys):
    deepstack.solve("kuhn", iterations=10, progress=True)
    assert "10/10 iterations (100%)" in (said := capsys.readouterr().err)
    assert "exploitability" in said
    deepstack.solve("kuhn", iterations=10)
    assert not capsys.readouterr().err


def weights(*hands):
    row = np.zeros(1326)
    row[list(hands)] = 1.0
    return row


@pytest.mark.parametrize(
    ("what", "settings", "message"),
    [
        (RIVER, {"algorithm": "cfr++"}, "algorithm 'cfr++': expected one of cfr, cfr_plus"),
        (RIVER, {"bets": "50%, z"}, "unknown token 'z'"),
        (RIVER, {"iterations": -1}, "iterations=-1: expected a whole number of at least 0"),
        (RIVER, {"iterations": 2.5}, "iterations=2.5: expected a whole number"),
        (RIVER, {"seconds": 0}, "seconds=0: expected a positive number"),
        (RIVER, {"target": "half"}, "target=half: expected a positive number of chips"),
        (RIVER, {"target": "0%"}, "target=0%: expected a positive number of chips"),
        (RIVER, {"target": -1}, "target=-1: expected a positive number of chips"),
        (RIVER, {"target": float("inf")}, "target=inf: expected a positive number"),
        (RIVER, {"threads": 0}, "threads=0: expected a whole number of at least 1"),
        (RIVER, {"dtype": "float16"}, "dtype 'float16': expected one of float32, float64"),
        (RIVER, {"ranges": ["AA", "KK"]}, "ranges beside a spot"),
        (RIVER.state(), {"ranges": ["AA"]}, "expected one for each of the two seats"),
        (RIVER.state(), {"ranges": {"oop": "AA"}}, "ranges of oop: expected oop and ip"),
        (RIVER.state(), {"ranges": "AA"}, "expected one for each of the two seats"),
        (RIVER.state(), {"ranges": np.ones((2, 3))}, "ranges of shape"),
        (RIVER.state(), {"ranges": -np.ones((2, 1326))}, "expected finite weights"),
        (RIVER.state(), {"ranges": np.zeros((2, 1326))}, "no hand is possible"),
        (RIVER.state(), {"game": "hunl"}, "game beside a state"),
        ("kuhn", {"ranges": ["AA", "random"]}, "kuhn has 3 hands"),
        ("chess", {}, "'chess': expected a .game file, one of"),
        ("kuhn_3p", {}, "has 3 players: expected 2"),
        (17, {}, "17: expected a game, a state, their text, or a Spot"),
        ("r100", {"game": "hunl"}, "action r100 is not legal"),
        (Spot("Td9d6hQc2s", 200, 900, "AsKs", "AsKs"), {}, "ranges cannot coexist"),
        (Spot("Td9d6hQc2s", 200, 900, weights(1), weights(1)), {}, "ranges cannot coexist"),
    ],
)
def test_what_is_wrong_is_one_clear_error(what, settings, message):
    with pytest.raises(InputError) as caught:
        deepstack.solve(what, **settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("what", "free", "number"),
    [(RIVER, 2**19, "0.0 GB"), ("limit_holdem", 2**34, "53.5 GB"), ("hunl", 2**34, "53.5 GB")],
)
def test_what_does_not_fit_is_refused_with_the_number(monkeypatch, what, free, number):
    monkeypatch.setattr(memory, "available_memory", lambda: free)
    with pytest.raises(InputError, match=f"the tree needs {number} and"):
        deepstack.solve(what)
