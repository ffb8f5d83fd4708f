"""Local best response: its rule, its bets, and that a run may be cut and killed anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from lbr_players import Arbitrary, CoinFlip, Together

from deepstack.agents.rules import Triple
from deepstack.evaluate import lbr
from deepstack.evaluate.deals import Deal
from deepstack.evaluate.lbr import (
    call_utility,
    forget,
    lbr_task,
    local_best_response,
    play_hand,
    raise_utility,
    run_lbr,
)
from deepstack.evaluate.lbr_agents import Answering, Sampling, as_opponent
from deepstack.evaluate.lbr_bets import considered_raises, load_bets
from deepstack.evaluate.rollouts import equities, possible
from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.run.executors import InProcess, Processes

HUNL, LEDUC = load_game("hunl"), load_game("leduc")


# ---- bets


def test_sets_by_round_and_active_rounds():
    bets = load_bets("c;c;fcpa;fc", HUNL)
    assert bets[:2] == (None, None)
    assert bets == load_bets("fc; fc; fcpa; fc", HUNL, "3-4")
    assert load_bets("fcpa", HUNL, 4)[2:] == load_bets("c;c;c;p,a", HUNL)[2:]
    assert load_bets(["c", "fc"], LEDUC) == load_bets("c;fc", LEDUC)


def test_the_56_bets():
    """0.05 · 1.15^k of the pot; below the minimum the minimum, above the stack all-in."""
    bets = load_bets("56bets", HUNL)
    opening = parse_state(HUNL, "cr500c/", "|/7h8h2c")
    totals = considered_raises(bets, opening)
    sizes = [round(1000 * 0.05 * 1.15**k) for k in range(55)]
    assert totals == tuple(sorted({500 + min(max(s, 100), 19500) for s in [*sizes, 19500]}))
    assert totals[0] == 600
    assert totals[-1] == 20000
    assert considered_raises(load_bets("56bets", HUNL, "3-4"), opening) == ()


@pytest.mark.parametrize(
    ("bets", "rounds", "message"),
    [
        ("fcpa", "0-4", "rounds=0-4: expected betting rounds of hunl such as 1-4 or 4"),
        ("fcpa", "4-3", "rounds=4-3"),
        ("fcpa", "2-5", "rounds=2-5"),
        ("c;c;c;c;fc", None, "5 sets, expected 1 to 4"),
        ("57bets", None, "bets '57bets'"),
    ],
)
def test_wrong_bets_and_rounds(bets, rounds, message):
    with pytest.raises(InputError, match=message):
        load_bets(bets, HUNL, rounds)


# ---- the rule


def test_utilities_by_hand():
    """Leduc, jack of hearts against a bet of 2 into antes of 1: queens and kings win."""
    state = parse_state(LEDUC, "r", "|")
    reach = possible(LEDUC, (0,)).astype(float)
    equity = np.array([0.0, 0.5, 0.25, 0.25, 0.0, 0.0])
    assert call_utility(state, reach, equity) == pytest.approx(0.2 * 4 - 0.8 * 2)
    # The agent folds its queens: left are a jack and two kings, wp = 1/6.
    fold = np.array([0, 0, 1, 1, 0, 0.0])
    value = 0.4 * 4 + 0.6 * (1 / 6 * (4 + 2) - 5 / 6 * (2 + 2))
    assert raise_utility(state, 5, reach, equity, fold) == pytest.approx(value)
    assert raise_utility(state, 5, reach, equity, 1.0) == 4.0


class FoldsTo:
    """Folds every hand to one size of bet and none to others."""

    def __init__(self, total):
        self.total = total

    def folds(self, states):
        return [float(max(state.spent) == self.total) for state in states]


@pytest.mark.parametrize(
    ("equity", "folds_to", "action"),
    [
        (0.1, 300, "r300"),  # a bluff that works
        (0.9, 300, "r20000"),
        (0.9, 20000, "r300"),
        (0.3, 0, "c"),
        (0.1, 0, "f"),  # 0.1 · 150 < 0.9 · 50
    ],
)
def test_the_best_action_is_taken(equity, folds_to, action):
    reach, chances = np.ones(HUNL.hands), np.full(HUNL.hands, equity)
    bets = load_bets("fcpa", HUNL)
    taken = local_best_response(initial_state(HUNL), bets, reach, chances, FoldsTo(folds_to))
    assert str(taken) == action


def test_nothing_is_folded_that_is_free():
    state = parse_state(HUNL, "cc/", "|/7h8h2c")
    reach, chances = np.ones(HUNL.hands), np.zeros(HUNL.hands)
    assert local_best_response(state, load_bets("fc", HUNL), reach, chances, FoldsTo(0)) == (
        Action("c")
    )


def test_a_hand_counts_what_is_expected():
    """Aces go all-in against a caller before the flop and win their share of two stacks."""
    aces, other = (51, 50), (0, 5)
    dealt = Deal((other, aces), (10, 20, 30, 40, 45), (1, 0))
    opponent = as_opponent(Triple(HUNL, call=1))
    won = play_hand(HUNL, opponent, load_bets("fcpa", HUNL), dealt, 1)
    share = equities(HUNL, aces, ()).sum() / 1225
    assert won == pytest.approx((2 * share - 1) * 20000)


def test_the_range_follows_the_agent():
    """After an agent has shown what it holds, nothing else is in its range."""

    class Honest(Arbitrary):
        def probabilities(self, state):
            actions = self.actions(state)
            table = np.zeros((LEDUC.hands, len(actions)), np.float32)
            table[:4, actions.index(Action("c"))] = 1.0
            table[4:, -1] = 1.0  # kings raise while they may
            return actions, table

    king, jack = (4,), (0,)
    dealt = Deal((jack, king), (2,), (0, 1))
    bets = load_bets("fc", LEDUC)
    opponent = as_opponent(Honest(LEDUC))
    # A bet of the first player is a king, so the jack folds and loses its ante.
    assert play_hand(LEDUC, opponent, bets, dealt, 0) == -1.0
    queen = Deal((jack, (3,)), (2,), (0, 1))
    # A check is no king: the other jack ties, queens win; with a queen on the board all of them.
    assert play_hand(LEDUC, opponent, bets, queen, 0) == pytest.approx(-0.5)


@pytest.mark.parametrize("setting", ["fcpa", "c;c;fcpa;fcpa", "56bets", "c;56bets;fc;fc"])
def test_always_fold_loses_its_blinds(setting):
    """750 mbb/g wherever the responder may bet before the showdown (Burch 2017, table 6.1)."""
    result = run_lbr(lbr_task(HUNL, "fold", load_bets(setting, HUNL)), 20)
    assert result.win_rate == (750.0, 0.0)
    assert result.by_seat == [500.0, 1000.0]


def test_always_call_by_rounds():
    """Waiting pays against a caller: 34 BB/h with all rounds, 49 on turn and river (table 2)."""
    rates = [
        run_lbr(lbr_task(HUNL, "call", load_bets("fcpa", HUNL, r)), 500).win_rate
        for r in ("1-4", "3-4")
    ]
    for rate, published in zip(rates, (34_000, 49_000), strict=True):
        assert abs(rate.mean - published) < 2 * rate.ci95
    assert rates[1].mean > rates[0].mean


# ---- agents


def test_answers_are_remembered_and_asked_together():
    game = load_game("nolimit_leduc")
    agent = Together(game)
    answering = Answering(agent)
    states = [initial_state(game).apply(Action("r", total)) for total in (300, 1200, 300)]
    first = answering.folds(states)
    assert (agent.calls, agent.asked) == (1, 2)
    second = answering.folds(states[::-1])
    assert (agent.calls, agent.asked) == (1, 2)
    for a, b in zip(first, second[::-1], strict=True):
        assert (a == b).all()
    plain = Answering(Arbitrary(game)).folds(states)
    assert all((a == b).all() for a, b in zip(first, plain, strict=True))


def test_sampled_translation():
    """The strategy is a mean over draws; the action that is played comes from a fresh one."""
    game = load_game("nolimit_leduc")
    opponent = as_opponent(CoinFlip(game), samples=400)
    assert isinstance(opponent, Sampling)
    state = initial_state(game).apply(Action("r", 300))
    (folds,) = opponent.folds([state])
    assert folds == pytest.approx(0.5, abs=0.1)
    assert (opponent.folds([state])[0] == folds).all()
    rng = np.random.default_rng(0)
    played = [opponent.play(state, (0,), rng) for _ in range(50)]
    assert {str(action) for action, _ in played} == {"f", "c"}
    for action, likelihood in played:
        fold = folds if action.kind == "f" else 1 - folds
        assert likelihood == pytest.approx((400 * fold + 1) / 401)


# ---- the run


class Recording:
    """Plays in process, remembers what it played and gives up after some pieces."""

    def __init__(self, pieces=None):
        self.pieces, self.played = pieces, []

    def map(self, task, seeds):
        for seed in seeds:
            if self.pieces is not None and len(self.played) == self.pieces:
                raise KeyboardInterrupt
            self.played.append(seed)
            yield from InProcess().map(task, [seed])


@pytest.fixture(scope="module")
def probe_task():
    spec = {"agent": "probe", "size": "uniform"}
    game = load_game("nolimit_leduc")
    return lbr_task(game, spec, load_bets("fcpa", game), seed=3)


@pytest.fixture(scope="module")
def undisturbed(probe_task):
    return run_lbr(probe_task, 120, chunk=120)


@pytest.mark.parametrize("chunk", [2, 50])
def test_the_figure_does_not_depend_on_the_cut(probe_task, undisturbed, chunk):
    assert (run_lbr(probe_task, 120, chunk=chunk).chips == undisturbed.chips).all()


def test_the_figure_does_not_depend_on_the_processes(probe_task, undisturbed):
    found = run_lbr(probe_task, 120, chunk=20, executor=Processes(2))
    assert (found.chips == undisturbed.chips).all()


@pytest.mark.parametrize("saved_every", [0.0, 1e9])
def test_an_interrupted_run_goes_on(probe_task, undisturbed, tmp_path, monkeypatch, saved_every):
    monkeypatch.setattr(lbr, "SAVED_EVERY", saved_every)
    for pieces in (2, 1):
        with pytest.raises(KeyboardInterrupt):
            run_lbr(probe_task, 120, chunk=20, work=tmp_path, executor=Recording(pieces))
    rest = Recording()
    found = run_lbr(probe_task, 120, chunk=30, work=tmp_path, executor=rest)
    assert rest.played == [(30, 45), (45, 60)]
    assert (found.chips == undisturbed.chips).all()
    assert found.seconds > 0
    again = Recording()
    assert run_lbr(probe_task, 60, work=tmp_path, executor=again).hands == 60
    assert again.played == []
    forget(probe_task, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_another_run_does_not_go_on_from_it(probe_task, tmp_path):
    run_lbr(probe_task, 20, work=tmp_path)
    other, played = lbr_task(probe_task.game, "probe", probe_task.bets, seed=4), Recording()
    run_lbr(other, 20, work=tmp_path, executor=played)
    assert played.played == [(0, 10)]


def test_a_broken_file_is_refused(probe_task, tmp_path):
    (tmp_path / f"{probe_task.name}.npz").write_bytes(b"PK broken")
    with pytest.raises(InputError, match="expected the hands of an earlier run"):
        run_lbr(probe_task, 20, work=tmp_path)


def test_a_narrow_interval_ends_the_run_at_the_same_hand(probe_task, tmp_path, monkeypatch):
    monkeypatch.setattr(lbr, "LEAST_SETS", 20)
    monkeypatch.setattr(lbr, "CHECKED_EVERY", 5)
    ends = [run_lbr(probe_task, 2000, chunk=c, half_width=900.0) for c in (2, 34, 400)]
    assert len({end.hands for end in ends}) == 1
    assert 40 < ends[0].hands < 2000
    assert ends[0].win_rate.ci95 <= 900.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hands": 3}, "hands=3: expected a positive multiple of 2"),
        ({"hands": 4, "chunk": 3}, "chunk=3"),
        ({"hands": 4, "half_width": 0}, "half_width=0"),
        ({"hands": 4, "half_width": "narrow"}, "half_width=narrow"),
    ],
)
def test_wrong_settings(probe_task, settings, message):
    with pytest.raises(InputError, match=message):
        run_lbr(probe_task, **settings)


@pytest.mark.parametrize(
    ("game", "agent", "samples", "message"),
    [
        ("kuhn_3p", "call", 10, "kuhn_3p has 3 players: expected 2"),
        ("leduc", "human", 10, "agent Human: expected one that states its probabilities"),
        ("leduc", "call", 0, "samples=0: expected at least 1"),
    ],
)
def test_wrong_tasks(game, agent, samples, message):
    rules = load_game(game)
    with pytest.raises(InputError, match=message):
        lbr_task(rules, agent, load_bets("fc", rules), samples=samples)
