"""Push or fold: a solved strategy of heads-up no-limit hold'em that is one row a decision.

The small blind goes all-in or folds, the big blind calls or folds: a game of two decisions with
1,326 hands each, solved by CFR+ on the table of equities before the flop. It is played against
anybody: a bet of any size is answered as if it were all-in, a check by going all-in or checking.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from deepstack.evaluate.value_sources_margins import beside, dot, index_of, margins_of
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=4)
def solve_push_fold(game: Game, iterations: int) -> tuple[Floats, Floats]:
    """How often every hand goes all-in from the small blind, and calls one from the big blind.

    Two vectors [H], averages of CFR+ weighted by the iteration.
    """
    if game.players != 2 or game.limit or game.hands != 1326:
        raise InputError(f"push or fold in {game.name}: expected heads-up no-limit hold'em")
    small, big = sorted(float(blind) for blind in game.blinds)
    stack = float(min(game.stacks))
    margins, everyone = margins_of(game), beside(game, np.ones(game.hands))
    pushes, calls = np.full(game.hands, 0.5), np.full(game.hands, 0.5)
    regrets, totals = np.zeros((2, 2, game.hands)), np.zeros((2, game.hands))
    for iteration in range(1, iterations + 1):
        folded = beside(game, 1 - calls)
        push = big * folded + stack * margins.against_range((), calls)
        pushes = _matched(regrets[0], push, -small * everyone, pushes)
        call = stack * margins.against_range((), pushes)
        calls = _matched(regrets[1], call, -big * beside(game, pushes), calls)
        totals += iteration * np.stack([pushes, calls])
    pushes, calls = 2 * totals / (iterations * (iterations + 1))
    return pushes, calls


def _matched(regrets: Floats, go: Floats, stop: Floats, chance: Floats) -> Floats:
    """One update of CFR+: regrets [2, H] of going on and of stopping; the new chance to go on."""
    value = chance * go + (1 - chance) * stop
    regrets += np.stack([go, stop]) - value
    np.maximum(regrets, 0.0, out=regrets)
    total = regrets.sum(axis=0)
    return np.where(total > 0, regrets[0] / np.where(total > 0, total, 1.0), 0.5)


class PushFold:
    """Goes all-in or folds, by the solved table."""

    def __init__(self, game: Game, seed: int = 0, *, iterations: int = 300) -> None:
        self.game, self.seed = game, seed
        self.pushes, self.calls = solve_push_fold(game, iterations)
        self._rng = np.random.default_rng(seed)

    def new_hand(self, seat: int, hand: int) -> None:
        self._rng = np.random.default_rng([self.seed, hand])

    def act(self, state: State) -> Action:
        actions, table = self.probabilities(state)
        assert state.actor is not None
        row = table[index_of(self.game, state.hands[state.actor])].astype(np.float64)
        return actions[int(self._rng.choice(len(actions), p=row / row.sum()))]

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        """Actions and their probability for every hand [H, 2], or [H, 1] if there is no choice."""
        legal = state.legal
        opening = state.betting == ((),)
        go = self.pushes if opening or not state.to_call else self.calls
        all_in = Action(CALL) if legal.raise_to is None else Action(RAISE, legal.raise_to[1])
        stop = Action(FOLD) if legal.fold else Action(CALL)
        if all_in == stop:
            return [stop], np.ones((self.game.hands, 1), np.float32)
        return [stop, all_in], np.stack([1 - go, go], axis=1).astype(np.float32)


def gain(game: Game, iterations: int) -> float:
    """What the small blind wins on average when both play the solution, in chips."""
    pushes, calls = solve_push_fold(game, iterations)
    small, big = sorted(float(blind) for blind in game.blinds)
    push = big * beside(game, 1 - calls)
    push = push + min(game.stacks) * margins_of(game).against_range((), calls)
    everyone = beside(game, np.ones(game.hands))
    return float((dot(pushes, push) - small * dot(1 - pushes, everyone)) / everyone.sum())
