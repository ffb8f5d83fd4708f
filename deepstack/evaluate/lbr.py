"""Local best response: a lower bound on how much an agent can be exploited, by playing against it.

V. Lisý and M. Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (2017).
The responder knows the agent's strategy. It keeps the agent's exact range, by Bayes' rule from the
probabilities that the agent states, and at each of its decisions takes the best action under the
assumption that both players check and call from there on, unless the agent folds at once:

1. wp = chance to win against the range, over all run-outs; asked = what a call costs;
2. U(call) = wp · pot − (1 − wp) · asked;
3. for each bet of a chips beyond the call: fp = chance that the agent folds to it, wp′ = chance to
   win against the range that does not fold,
   U(a) = fp · pot + (1 − fp) · (wp′ · (pot + a) − (1 − wp′) · (asked + a));
4. the best of them if it is above 0, the first among equals, else fold (check where that is free).

It plays a legal strategy, so its mean winnings bound the exploitability from below, up to their
interval. Two things narrow the interval without moving the mean. Hands are *duplicate*: the same
cards are played from both seats. And a hand counts not what it paid but what is *expected*, given
the responder's cards and the line of play: at a showdown over all hands that the agent can hold
there, by its range; after a called all-in also over all cards to come.

Everything random in a hand depends on the seed and its number alone, so the hands may be played in
any pieces, in any process, and on from where an earlier run was killed.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from deepstack.agents.build import AgentSpec, agent_seeds
from deepstack.evaluate.deals import Deal, check_hands, deal
from deepstack.evaluate.lbr_agents import Opponent, make_opponent
from deepstack.evaluate.lbr_bets import BetSets, considered_raises, format_bets
from deepstack.evaluate.rollouts import equities, possible
from deepstack.evaluate.statistics import Estimate, mean_estimate
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError
from deepstack.run.executors import Executor, InProcess
from deepstack.run.files import replacing
from deepstack.run.progress import Progress

Floats = npt.NDArray[np.float64]
SAVED_EVERY = 5.0  # seconds
CHECKED_EVERY = 50  # duplicate sets between looks at the interval
LEAST_SETS = 500  # before an interval is believed


# ---- the responder


def local_best_response(
    state: State, bets: BetSets, reach: Floats, equity: Floats, opponent: Opponent
) -> Action:
    """The action of the responder, who is to act.

    Args:
        state: the public state.
        bets: what is considered, by betting round.
        reach: [H] the agent's range, zero where the responder's cards or the board forbid a hand.
        equity: [H] the responder's chance to win against each hand (``rollouts.equities``).
        opponent: the agent.
    """
    if bets[state.round] is None:  # a passive round
        return Action(CALL)
    totals = considered_raises(bets, state)
    raises = [Action(RAISE, total) for total in totals]
    folds = opponent.folds([state.apply(action) for action in raises])
    actions = [Action(CALL), *raises]
    values = [call_utility(state, reach, equity)]
    values += [
        raise_utility(state, total, reach, equity, fold)
        for total, fold in zip(totals, folds, strict=True)
    ]
    best = int(np.argmax(values))
    if values[best] <= 0:
        return Action(FOLD) if state.legal.fold else Action(CALL)
    return actions[best]


def call_utility(state: State, reach: Floats, equity: Floats) -> float:
    """What calling is worth, in chips above folding."""
    wins = float(reach @ equity) / float(reach.sum())
    return wins * state.pot - (1 - wins) * state.to_call


def raise_utility(
    state: State, total: int, reach: Floats, equity: Floats, fold: Floats | float
) -> float:
    """What raising to a total is worth, in chips above folding.

    ``fold`` is the probability that the agent folds to it, with every hand [H] or with any.
    """
    mass, pot = float(reach.sum()), state.pot
    stays = reach * (1.0 - fold)
    staying = float(stays.sum())
    folds = 1.0 - staying / mass
    if staying <= 0:
        return float(pot)
    wins, more = float(stays @ equity) / staying, total - max(state.spent)
    called = wins * (pot + more) - (1 - wins) * (state.to_call + more)
    return folds * pot + (1 - folds) * called


def play_hand(
    game: Game, opponent: Opponent, bets: BetSets, dealt: Deal, hand: int, seed: int = 0
) -> float:
    """What the responder wins in a hand, in chips, as the module says.

    The responder is agent 0 of the seating. ``seed`` and ``hand`` fix the agent's randomness.
    """
    seat = dealt.seating.index(0)
    own, other = dealt.hands[seat], dealt.hands[1 - seat]
    opponent.new_hand(1 - seat, hand)
    rng = np.random.default_rng([seed, 2, hand])
    state = initial_state(game)
    reach = possible(game, own).astype(np.float64)
    rolled: tuple[int, Floats] | None = None  # the last roll-out, and for how many board cards
    while not state.folded_out:
        over = state.actor is None and state.pending == 0
        if over or (state.actor == seat and bets[state.round] is not None):
            if rolled is None or rolled[0] != len(state.board):
                rolled = len(state.board), equities(game, own, state.board)
            if over:
                return showdown_value(state, reach, rolled[1])
            state = state.apply(local_best_response(state, bets, reach, rolled[1], opponent))
        elif state.cards_owed:
            known = len(state.board)
            state = state.deal(dealt.board[known : known + state.cards_owed])
            reach = reach * possible(game, state.board)
        elif state.actor == seat:
            state = state.apply(Action(CALL))
        else:
            action, likelihood = opponent.play(state, other, rng)
            state = state.apply(action)
            reach = reach * likelihood
            reach /= reach.sum()
    return float(state.payoffs()[seat])


def showdown_value(state: State, reach: Floats, equity: Floats) -> float:
    """What a showdown pays in expectation, when nobody can act any more.

    Chips, over the agent's range and the cards to come.
    """
    wins = float(reach @ equity) / float(reach.sum())
    return (2 * wins - 1) * min(state.spent)


# ---- the run


@dataclass(frozen=True)
class LbrTask:
    """What a worker needs to play any part of a run; calling it plays one.

    ``spec`` is the agent's specification as JSON, so that a task can be compared and kept.
    """

    game: Game
    spec: str
    bets: BetSets
    seed: int
    samples: int = 10

    def __call__(self, sets: tuple[int, int]) -> Floats:
        """Chips won by duplicate set and hand [sets, 2], for the sets from first to before last."""
        first, last = sets
        opponent = _opponent(self)
        chips = np.empty(2 * (last - first))
        for row, hand in enumerate(range(2 * first, 2 * last)):
            dealt = deal(self.game, self.seed, hand, duplicate=True)
            chips[row] = play_hand(self.game, opponent, self.bets, dealt, hand, self.seed)
        return chips.reshape(-1, 2)

    @property
    def name(self) -> str:
        """A name of the run by everything its figures depend on."""
        version = metadata.version("deepstack")
        parts = (self.game, self.spec, format_bets(self.bets), self.seed, self.samples, version)
        return "lbr-" + hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@lru_cache(maxsize=4)
def _opponent(task: LbrTask) -> Opponent:
    """The agent of a task, made once a process."""
    seed = agent_seeds(task.seed, 1)[0]
    return make_opponent(json.loads(task.spec), task.game, seed, task.samples)


@dataclass(frozen=True)
class LbrResult:
    """What a run found: chips won by set and hand [sets, 2], and how long the hands took."""

    game: Game
    chips: Floats
    seconds: float

    @property
    def hands(self) -> int:
        return self.chips.size

    @property
    def win_rate(self) -> Estimate:
        """In mbb/g; the interval is over duplicate sets."""
        return mean_estimate(self.chips.mean(axis=1) * self._milli)

    @property
    def by_seat(self) -> list[float]:
        """In mbb/g, by the seat of the responder."""
        return [float(self.chips[:, seat].mean() * self._milli) for seat in (0, 1)]

    @property
    def _milli(self) -> float:
        return 1000.0 / max(self.game.big_blind, 1)

    def figures(self) -> dict:
        rate = self.win_rate
        return {
            "mbb_per_game": rate.mean,
            "ci95": rate.ci95,
            "hands": self.hands,
            "seconds": self.seconds,
            "mbb_by_seat": self.by_seat,
        }


def lbr_task(
    game: Game, spec: AgentSpec, bets: BetSets, seed: int = 0, samples: int = 10
) -> LbrTask:
    """The task of a run; what is wrong with the agent is said now and not in a worker."""
    if game.players != 2:
        raise InputError(f"game {game.name} has {game.players} players: expected 2")
    if len(bets) != game.rounds:
        raise InputError(f"bets of {len(bets)} rounds: {game.name} has {game.rounds}")
    if samples < 1:
        raise InputError(f"samples={samples}: expected at least 1")
    task = LbrTask(game, json.dumps(spec, sort_keys=True), bets, seed, samples)
    _opponent(task)
    return task


def run_lbr(
    task: LbrTask,
    hands: int,
    *,
    chunk: int = 100,
    half_width: float | None = None,
    work: Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LbrResult:
    """Play local best response against an agent.

    Args:
        task: the game, the agent and the bets.
        hands: hands in all, an even number.
        chunk: hands that a worker plays at a time; figures do not depend on it.
        half_width: stop as soon as the 95 % interval is this narrow, mbb/g.
        work: folder where finished hands are kept while the run goes on. A run of the same task
            goes on from them; ``forget`` removes them.
        executor: where the hands are played; this process unless given.
        progress: shown the hands played and the win rate so far.
    """
    sets = check_hands(hands, 2, duplicate=True)
    if chunk < 2 or chunk % 2:
        raise InputError(f"chunk={chunk}: expected an even number of hands")
    if half_width is not None and not (isinstance(half_width, int | float) and half_width > 0):
        raise InputError(f"half_width={half_width}: expected a positive number of mbb/g")
    file = None if work is None else work / f"{task.name}.npz"
    kept, seconds = _kept(file)
    chips, done = np.empty((sets, 2)), min(len(kept), sets)
    chips[:done] = kept[:done]
    started = saved = time.monotonic()

    def so_far(count: int) -> LbrResult:
        return LbrResult(task.game, chips[:count], seconds + time.monotonic() - started)

    def save() -> None:
        if file is not None and done > len(kept):
            found = so_far(done)
            with replacing(file) as aside:
                np.savez(aside, chips=found.chips, seconds=found.seconds)

    def show(count: int) -> None:
        if progress is not None and count:
            progress.update(count, lbr=str(so_far(done).win_rate))

    show(2 * done)
    end = _narrow(so_far(done), half_width, 0)
    if end is not None:
        return so_far(end)
    pieces = [(s, min(s + chunk // 2, sets)) for s in range(done, sets, chunk // 2)]
    try:
        for part in (executor or InProcess()).map(task, pieces):
            before, done = done, done + len(part)
            chips[before:done] = part
            show(part.size)
            end = _narrow(so_far(done), half_width, before)
            if end is not None:
                break
            if time.monotonic() - saved >= SAVED_EVERY:
                save()
                saved = time.monotonic()
    finally:
        save()
    return so_far(done if end is None else end)


def forget(task: LbrTask, work: Path) -> None:
    """Remove the hands that a run has kept."""
    (work / f"{task.name}.npz").unlink(missing_ok=True)


def _kept(file: Path | None) -> tuple[Floats, float]:
    """The hands of a run before this one, and the seconds they took."""
    if file is None or not file.exists():
        return np.empty((0, 2)), 0.0
    try:
        with np.load(file) as content:
            return content["chips"].reshape(-1, 2), float(content["seconds"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise InputError(f"{file}: expected the hands of an earlier run ({error})") from None


def _narrow(found: LbrResult, half_width: float | None, before: int) -> int | None:
    """After how many sets the interval was first narrow enough, None if it is not.

    The first ``before`` sets were looked at before. Looks at fixed numbers of sets, so that where a
    run ends does not depend on its pieces.
    """
    if half_width is None:
        return None
    first = max(LEAST_SETS, before // CHECKED_EVERY * CHECKED_EVERY)
    for count in range(first, len(found.chips) + 1, CHECKED_EVERY):
        ci95 = LbrResult(found.game, found.chips[:count], 0.0).win_rate.ci95
        if ci95 is not None and ci95 <= half_width:
            return count
    return None
