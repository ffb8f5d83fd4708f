"""Local best response and best response in expectation, by visiting every public state.

For games small enough to do so, as the measure of what local best response finds: played without
end, ``run_lbr`` would come to ``lbr_expectation``, and that never exceeds ``best_response``, which
may make the same bets and plays them as well as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from deepstack.agents.protocol import StrategyAgent
from deepstack.cards.notation import hand_cards
from deepstack.evaluate.lbr import local_best_response, showdown_value
from deepstack.evaluate.lbr_agents import Answering, as_opponent
from deepstack.evaluate.lbr_bets import BetSets, considered_raises
from deepstack.evaluate.rollouts import equities, possible
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.float64]


def lbr_expectation(game: Game, agent: StrategyAgent, bets: BetSets, seat: int) -> float:
    """What local best response wins a hand from a seat, in chips."""
    opponent, answering = as_opponent(agent), Answering(agent)
    held = hand_cards(len(game.deck), game.hole_cards).tolist()

    def value(state: State, own: tuple[int, ...], equity: Floats, reach: Floats) -> float:
        """Weighted by the reach of the agent and of chance, which sum to one at the start."""
        mass = float(reach.sum())
        if state.folded_out:
            return mass * state.payoffs()[seat]
        if state.actor is None and state.pending == 0:
            return mass * showdown_value(state, reach, equity)
        if state.cards_owed:
            total = 0.0
            for after, chance in _deals(state, own):
                reached = reach * possible(game, after.board) * chance
                if reached.any():
                    total += value(after, own, equities(game, own, after.board), reached)
            return total
        if state.actor == seat:
            action = local_best_response(state, bets, reach, equity, opponent)
            return value(state.apply(action), own, equity, reach)
        return sum(
            value(state.apply(action), own, equity, reached)
            for action, reached in _taken(answering, state, reach)
        )

    total = 0.0
    for hand in held:
        reach = possible(game, hand).astype(np.float64)
        total += value(
            initial_state(game), tuple(hand), equities(game, hand, ()), reach / reach.sum()
        )
    return total / game.hands


def best_response(game: Game, agent: StrategyAgent, bets: BetSets, seat: int) -> float:
    """What a best response wins a hand from a seat, in chips.

    It may fold, call and make the bets of ``bets`` in the rounds that have some; in the others it
    checks and calls.
    """
    answering = Answering(agent)
    held = hand_cards(len(game.deck), game.hole_cards).tolist()
    apart = np.stack([possible(game, hand) for hand in held]).astype(np.float64)  # [H, H]
    rolled: dict[tuple[int, ...], Floats] = {}

    def margins(board: tuple[int, ...]) -> Floats:
        """Wins minus losses of all pairs of hands [H, H], zero where they cannot meet."""
        if board not in rolled:
            live = possible(game, board)
            rows = [2 * equities(game, hand, board) - 1 for hand in held]
            rolled[board] = np.stack(rows) * apart * live * live[:, None]
        return rolled[board]

    def value(state: State, reach: Floats) -> Floats:
        """For every hand of the responder [H], weighted by the reach of the agent and of chance."""
        if state.folded_out:
            return state.payoffs()[seat] * (apart @ reach)
        if state.actor is None and state.pending == 0:
            return min(state.spent) * (margins(state.board) @ reach)
        if state.cards_owed:
            total = np.zeros(game.hands)
            for after, chance in _deals(state, ()):
                live = possible(game, after.board)
                reached = reach * live * chance
                if reached.any():
                    total += live * value(after, reached)
            return total
        if state.actor == seat:
            return _best([value(state.apply(a), reach) for a in _options(state, bets)])
        parts = [value(state.apply(a), r) for a, r in _taken(answering, state, reach)]
        return np.sum(parts, axis=0) if parts else np.zeros(game.hands)

    pairs = float(apart.sum())
    return float(value(initial_state(game), np.ones(game.hands)).sum() / pairs)


def mean_of_seats(compute: Callable[[int], float]) -> float:
    """The mean over both seats of the responder."""
    return (compute(0) + compute(1)) / 2


def _taken(answering: Answering, state: State, reach: Floats) -> Iterator[tuple[Action, Floats]]:
    """The actions that the agent takes with some hand, and its reach [H] after each."""
    actions, table = answering.strategies([state])[0]
    for column in np.flatnonzero(table.any(axis=0)):
        reached = reach * table[:, column]
        if reached.any():
            yield actions[column], reached


def _options(state: State, bets: BetSets) -> list[Action]:
    if bets[state.round] is None:
        return [Action(CALL)]
    raises = [Action(RAISE, total) for total in considered_raises(bets, state)]
    return [Action(FOLD)] * state.legal.fold + [Action(CALL), *raises]


def _best(values: list[Floats]) -> Floats:
    return np.max(values, axis=0)


def _deals(state: State, own: tuple[int, ...]) -> Iterator[tuple[State, float]]:
    """The states after the cards that are owed, and the chance of each when both hands are known.

    Cards of the responder's hand are left out; those of the agent's are for the caller.
    """
    game = state.game
    left = [c for c in range(len(game.deck)) if c not in (*state.board, *own)]
    unseen = len(game.deck) - len(state.board) - 2 * game.hole_cards
    choices = list(combinations(range(unseen), state.cards_owed))
    if len(choices) > 10_000:
        raise InputError(f"game {game.name}: too many boards to visit every public state")
    for cards in combinations(left, state.cards_owed):
        yield state.deal(cards), 1.0 / len(choices)
