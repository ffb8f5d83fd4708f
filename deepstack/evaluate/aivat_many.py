"""AIVAT with any number of players: one player's strategy is known, all cards are.

As in ``aivat``, for one seat at a time: the hands of the others are what they were dealt, and the
player could have held any hand that they and the board leave, weighted by the probability of acting
as it did. Corrected are the cards of the others, the player's own actions, and the board cards that
come while it is in.

States are valued by what every hand of the player wins if everybody who is left calls the present
bet and no more bets are made, in the mean over the cards to come. Where those are too many to be
dealt out one by one (before the turn of hold'em), there is no estimate and no correction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.evaluate.aivat_records import FOLDS, HandRecord, Step, action_of, public_part
from deepstack.evaluate.value_sources_margins import Floats, dot, index_of, live_hands
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.game.state import State, initial_state, share_pot
from deepstack.run.errors import InputError

MOST_BOARDS = 100
"""Boards that are dealt out; on the turn of hold'em there are some 40."""

Hands = tuple[tuple[int, ...], ...]
SeatValues = Callable[[State, int, Hands], Floats | None]
"""What each hand [H] of a seat is worth at a public state, in chips, against the hands of others
(its own is not looked at); None where there is no estimate. At a chance node the value must be the
mean over the cards of the values after them."""


def seat_value(record: HandRecord, seat: int, values: SeatValues | None = None) -> float:
    """The AIVAT estimate of what a seat with a known strategy wins in a hand, in chips.

    ``values`` are ``called_values`` unless given.
    """
    final, estimate = record.final, called_values if values is None else values
    game = final.game
    if not record.known[seat]:
        raise InputError(f"hand {final}: the strategy of seat {seat} is not known")
    others = [hand for other, hand in enumerate(final.hands) if other != seat]
    if () in others:
        raise InputError(f"hand {final}: AIVAT needs the cards of all players, as the dealer knows")
    taken = tuple(card for hand in others for card in hand)
    reach, total = live_hands(game, taken).astype(np.float64), 0.0
    if values is None and len(set(game.stacks)) == 1:
        dealt = called_values(initial_state(game), seat, final.hands)
        if dealt is not None:
            total -= mean_of(reach, dealt)  # over all deals, with equal stakes, nobody is ahead
    for step in record.steps:
        state = step.state
        if state.folded[seat]:
            break  # nothing that follows changes what it lost
        if step.action is None:
            before = estimate(public_part(state), seat, final.hands)
            after = np.where(live_hands(game, step.cards), reach, 0.0)
            if before is not None and state.pending:
                came = estimate(public_part(state).deal(step.cards), seat, final.hands)
                assert came is not None
                total += mean_of(reach, before) - mean_of(after, came)
            elif before is not None:
                return total + mean_of(reach, before)  # a called all-in
            reach = after
        elif state.actor == seat:
            total += _correction(step, seat, final.hands, reach, estimate)
            assert step.strategy is not None
            reach = reach * step.strategy.probabilities()[:, step.strategy.place(step.action)]
            if not reach[index_of(game, final.hands[seat])] > 0:
                raise InputError(
                    f"state {state}: seat {seat} acted as its stated strategy never does; expected "
                    "the probabilities that it used"
                )
    if final.folded[seat] or final.folded_out:
        return total + final.payoffs()[seat]
    return total + mean_of(reach, showdown_payoffs(final, seat))


def mean_of(reach: Floats, values: Floats) -> float:
    """The mean of values [H] weighted by a range [H]."""
    return float(dot(reach, values) / reach.sum())


def _correction(step: Step, seat: int, hands: Hands, reach: Floats, estimate: SeatValues) -> float:
    """What an action of the seat corrects."""
    state, strategy = public_part(step.state), step.strategy
    assert strategy is not None
    assert step.action is not None
    played = np.broadcast_to(strategy.probabilities(), (len(reach), len(strategy.totals)))
    weights = dot(reach, played)
    values = np.zeros(len(weights))
    for number in np.flatnonzero(weights > 0):
        if strategy.totals[number] == FOLDS:
            values[number] = -state.spent[seat]
            continue
        after = estimate(state.apply(action_of(strategy.totals[number])), seat, hands)
        if after is None:
            values[number] = 0.0
        else:
            values[number] = mean_of(reach * played[:, number], after)
    chances = weights / weights.sum()
    return float((chances * values).sum() - values[strategy.place(step.action)])


def called_values(state: State, seat: int, hands: Hands) -> Floats | None:
    """Values [H] as if everybody left called the present bet and no more bets were made.

    None where more than ``MOST_BOARDS`` boards may follow. Hands that are not possible have values
    without meaning.
    """
    game = state.game
    others = [h for p, h in enumerate(hands) if p != seat and not state.folded[p]]
    if not others:
        return np.full(game.hands, float(sum(state.spent) - state.spent[seat]))
    dead = [card for p, hand in enumerate(hands) if p != seat for card in hand]
    left = [c for c in range(len(game.deck)) if c not in dead and c not in state.board]
    owed = game.board_size(game.rounds - 1) - len(state.board)
    if comb(len(left), owed) > MOST_BOARDS:
        return None
    called = [
        spent if out else min(max(state.spent), stack)
        for spent, out, stack in zip(state.spent, state.folded, game.stacks, strict=True)
    ]
    against = tuple(index_of(game, hand) for hand in others)
    return sum(called) * pot_shares(game, state.board, tuple(left), against) - called[seat]


@lru_cache(maxsize=256)
def pot_shares(
    game: Game, board: tuple[int, ...], left: tuple[int, ...], against: tuple[int, ...]
) -> Floats:
    """The share [H] of the pot that hands win from others, over all ways to complete the board.

    Args:
        game: the rules.
        board: the public cards.
        left: the cards that may come.
        against: indices of the other hands.
    """
    owed = game.board_size(game.rounds - 1) - len(board)
    boards = np.array([board + cards for cards in combinations(left, owed)], np.int64)
    strengths = all_strengths(game, boards)
    shown = strengths[:, list(against)]
    best = shown.max(axis=1, keepdims=True)
    tied = 1.0 / (1 + (shown == best).sum(axis=1, keepdims=True))
    shares = np.where(strengths > best, 1.0, np.where(strengths == best, tied, 0.0))
    possible = strengths > 0
    return (shares * possible).sum(axis=0) / np.maximum(possible.sum(axis=0), 1)


def all_strengths(game: Game, boards: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger]:
    """Strengths [n, H] of all hands on full boards [n, cards]; 0 where the board blocks a hand."""
    if game.showdown == "five-card" and game.hole_cards == 2:
        return board_strengths(boards)
    held = hand_cards(len(game.deck), game.hole_cards)
    result = np.zeros((len(boards), len(held)), np.int64)
    for row, board in zip(result, boards, strict=True):
        live = ~blocked(board, len(game.deck), game.hole_cards)
        shown = np.broadcast_to(board, (int(live.sum()), len(board)))
        row[live] = 1 + strengths_of(game, np.concatenate([held[live], shown], axis=1))
    return result


def showdown_payoffs(final: State, seat: int) -> Floats:
    """What every hand [H] of a seat wins at a showdown, side pots and all."""
    game = final.game
    strengths = all_strengths(game, np.array([final.board], np.int64))[0]
    by_seat = [int(strengths[index_of(game, hand)]) for hand in final.hands]
    paid = {}
    for value in np.unique(strengths):
        by_seat[seat] = int(value)
        paid[int(value)] = share_pot(final.spent, final.folded, by_seat)[seat]
    return np.array([paid[int(value)] for value in strengths])
