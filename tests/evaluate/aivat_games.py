"""Strategies and estimates without sense, for small games."""

from __future__ import annotations

import hashlib

import numpy as np

from deepstack.evaluate.aivat_records import Strategy, action_of, public_part
from deepstack.evaluate.value_sources import PairValues
from deepstack.evaluate.value_sources_margins import index_of
from deepstack.game.state import Action, State


def draws(seed: int, state: State) -> np.random.Generator:
    """A generator for a public state."""
    key = f"{seed} {state.betting} {sorted(state.board)}"
    return np.random.default_rng(np.frombuffer(hashlib.sha256(key.encode()).digest(), np.uint32))


def random_strategy(seed: int, never: float = 0.0):
    """Random probabilities at every state of a limit game; some actions are never taken."""

    def strategy(state: State) -> Strategy:
        fold, raise_to = state.legal
        totals = np.array([-1] * fold + [0] + ([] if raise_to is None else [raise_to[0]]))
        rng = draws(seed, state)
        table = rng.random((state.game.hands, len(totals)))
        table[rng.random(table.shape) < never] = 0.0
        table[~table.any(axis=1)] = 1.0
        return Strategy(totals, table)

    return strategy


def by_seat(*strategies):
    """One strategy a seat."""
    return lambda state: strategies[state.actor](state)


class TableAgent:
    """Plays by a strategy and states it."""

    def __init__(self, strategy, seed: int = 0) -> None:
        self.strategy, self.seed = strategy, seed

    def new_hand(self, seat: int, hand: int) -> None:
        self._rng = np.random.default_rng([self.seed, hand])

    def act(self, state: State) -> Action:
        actions, table = self.probabilities(state)
        row = table[index_of(state.game, state.hands[state.actor])]
        return actions[int(self._rng.choice(len(actions), p=row))]

    def probabilities(self, state: State):
        said = self.strategy(public_part(state))
        return [action_of(code) for code in said.totals], said.probabilities()


class AbsurdValues(PairValues):
    """Estimates that have nothing to do with the game."""

    def __init__(self, seed: int, size: float = 1000.0) -> None:
        self.seed, self.size = seed, size

    def pairs(self, state: State) -> np.ndarray:
        hands = state.game.hands
        return draws(self.seed, state).normal(3.0, self.size, (hands, hands))
