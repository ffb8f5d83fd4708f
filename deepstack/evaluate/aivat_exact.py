"""Means and deviations of estimators in small games, exactly: every hand with its probability.

This is how estimators are checked (an unbiased one has the mean of the chips) and compared without
luck of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from deepstack.evaluate.aivat_records import HandRecord, Step, Strategy, action_of, public_part
from deepstack.evaluate.value_sources_margins import Floats, index_of
from deepstack.game.definition import Game
from deepstack.game.state import State, initial_state

StateStrategy = Callable[[State], Strategy]
"""The strategy of the player to act at a public state."""


class Moments(NamedTuple):
    """Mean and standard deviation of what estimators [n] say of one hand."""

    mean: Floats
    sd: Floats


def all_records(
    game: Game, strategy: StateStrategy, known: Sequence[bool]
) -> Iterator[tuple[HandRecord, float]]:
    """Every hand of a small game, with its probability if all seats play by ``strategy``.

    The records have the strategies of the seats that are ``known``.
    """
    hole, board = game.hole_cards, game.board_size(game.rounds - 1)
    private = game.players * hole
    deals = list(permutations(range(len(game.deck)), private + board))
    asked = remembered(strategy)
    for cards in deals:
        hands = tuple(cards[p * hole : (p + 1) * hole] for p in range(game.players))
        start = initial_state(game, hands)
        for steps, final, chance in _onward(start, cards[private:], asked, known, (), 1.0):
            yield HandRecord(steps, final, tuple(known)), chance / len(deals)


def _onward(
    state: State,
    board: tuple[int, ...],
    strategy: StateStrategy,
    known: Sequence[bool],
    steps: tuple[Step, ...],
    chance: float,
) -> Iterator[tuple[tuple[Step, ...], State, float]]:
    if state.is_over:
        yield steps, state, chance
    elif state.actor is None:
        cards = board[len(state.board) : len(state.board) + state.cards_owed]
        dealt = Step(state, None, cards=cards)
        yield from _onward(state.deal(cards), board, strategy, known, (*steps, dealt), chance)
    else:
        played, seat = strategy(state), state.actor
        row = played.table[index_of(state.game, state.hands[seat])]
        for code, probability in zip(played.totals, row, strict=True):
            if probability > 0:
                step = Step(state, action_of(code), played if known[seat] else None)
                after = state.apply(action_of(code))
                weight = chance * float(probability)
                yield from _onward(after, board, strategy, known, (*steps, step), weight)


def remembered(strategy: StateStrategy) -> StateStrategy:
    """The same strategy for all hands [H, A], normalised, asked once a public state."""
    known: dict[tuple, Strategy] = {}

    def asked(state: State) -> Strategy:
        key = state.betting, state.board
        if key not in known:
            said = strategy(public_part(state))
            shape = (state.game.hands, len(said.totals))
            known[key] = Strategy(said.totals, np.broadcast_to(said.probabilities(), shape))
        return known[key]

    return asked


def exact_moments(
    game: Game,
    strategy: StateStrategy,
    known: Sequence[bool],
    estimate: Callable[[HandRecord], Sequence[float] | Floats],
) -> Moments:
    """Mean and standard deviation of estimators [n] over all hands of a small game."""
    weight, mean, square = 0.0, np.zeros(()), np.zeros(())
    for record, chance in all_records(game, strategy, known):
        value = np.asarray(estimate(record), np.float64)
        weight += chance
        mean = mean + chance * value
        square = square + chance * value**2
    assert abs(weight - 1.0) < 1e-9
    return Moments(mean, np.sqrt(np.maximum(square - mean**2, 0.0)))
