"""Small games with random strategies, every hand of them with its probability."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import permutations

import numpy as np

from deepstack.evaluate.aivat_records import HandRecord, Strategy, action_of, replayed
from deepstack.evaluate.value_sources import PairValues
from deepstack.evaluate.value_sources_margins import index_of
from deepstack.game.definition import Game
from deepstack.game.state import State, initial_state


def draws(seed: int, state: State) -> np.random.Generator:
    """A generator for a public state."""
    key = f"{seed} {state.betting} {sorted(state.board)}"
    return np.random.default_rng(np.frombuffer(hashlib.sha256(key.encode()).digest(), np.uint32))


def legal_codes(state: State) -> np.ndarray:
    fold, raise_to = state.legal
    return np.array([-1] * fold + [0] + ([] if raise_to is None else [raise_to[0]]))


class RandomPlayer:
    """Random probabilities at every public state; some actions are never taken."""

    def __init__(self, seed: int, never: float = 0.15) -> None:
        self.seed, self.never = seed, never

    def strategy(self, state: State) -> Strategy:
        totals, rng = legal_codes(state), draws(self.seed, state)
        table = rng.random((state.game.hands, len(totals)))
        table[rng.random(table.shape) < self.never] = 0.0
        table[~table.any(axis=1)] = 1.0
        return Strategy(totals, table)


class AbsurdValues(PairValues):
    """Estimates that have nothing to do with the game."""

    def __init__(self, seed: int, size: float = 1000.0) -> None:
        self.seed, self.size = seed, size

    def pairs(self, state: State) -> np.ndarray:
        hands = state.game.hands
        return draws(self.seed, state).normal(3.0, self.size, (hands, hands))


def all_hands(game: Game, players) -> Iterator[tuple[State, float]]:
    """Every finished hand with its probability; ``players`` have a ``strategy``, by seat."""
    hole, board = game.hole_cards, game.board_size(game.rounds - 1)
    deals = list(permutations(range(len(game.deck)), game.players * hole + board))
    for cards in deals:
        hands = tuple(cards[p * hole : (p + 1) * hole] for p in range(game.players))
        start = initial_state(game, hands)
        yield from _onward(start, cards[game.players * hole :], players, 1.0 / len(deals))


def _onward(state, board, players, chance):
    if state.is_over:
        yield state, chance
    elif state.actor is None:
        known = len(state.board)
        cards = board[known : known + state.cards_owed]
        yield from _onward(state.deal(cards), board, players, chance)
    else:
        strategy = players[state.actor].strategy(state)
        row = strategy.probabilities()[index_of(state.game, state.hands[state.actor])]
        for code, probability in zip(strategy.totals, row, strict=True):
            if probability > 0:
                after = state.apply(action_of(code))
                yield from _onward(after, board, players, chance * probability)


def record(final: State, players, known) -> HandRecord:
    """The record of a finished hand, of which the strategies of some seats are known."""

    def strategy(state: State) -> Strategy | None:
        return players[state.actor].strategy(state) if known[state.actor] else None

    made = replayed(final, strategy)
    return HandRecord(made.steps, made.final, tuple(known))
