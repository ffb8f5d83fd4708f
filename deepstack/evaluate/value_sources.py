"""Estimates of what states are worth, for the corrections of AIVAT in two-player games.

Any estimate leaves AIVAT unbiased; a good one takes more luck out. A source answers three
questions, always with chips that seat 0 wins over the whole hand, in the mean over the hands of a
belief (``aivat_beliefs``):

- ``after_actions``: after each action of a player whose strategy is known;
- ``after_cards``: after the board cards that were dealt, and in the mean over all that could have
  been. At one chance node one function values them all, or the correction would be biased;
- ``after_deal``: after the private cards that a player with an unknown strategy was dealt, and in
  the mean over all it could have been dealt.

Sources, by the name that configurations use:

- ``equity``: cards are dealt to the end and no more bets are made; a bet counts as far as it is
  called when bluffs break even. Its mean over cards is itself, so nothing is enumerated;
- ``bet_call``: the same, with one bet and one call in every betting round to come of a limit game;
- ``self_play``: the values of a solution of the game against itself, for small limit games;
- ``network``: the value networks that ship with the game, at the start of the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import comb
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deepstack.evaluate.aivat_beliefs import Belief, Player
from deepstack.evaluate.aivat_records import (
    CALLS,
    FOLDS,
    Strategy,
    action_code,
    action_of,
    public_part,
)
from deepstack.evaluate.value_sources_margins import Floats, apart, dot, live_hands, margins_of
from deepstack.game.definition import Game
from deepstack.game.state import CALL, Action, State
from deepstack.run.errors import InputError
from deepstack.solver.leaves import Leaves, RoundEvaluator

SOURCES = ("equity", "bet_call", "self_play", "network")
MOST_ASKED = 60  # cards or actions that a network is asked about at once
MOST_BOARDS = 100  # of a game that is small enough for ``self_play``
SELF_PLAY_ITERATIONS = 2000


class ValueSource(Protocol):
    """Where estimates come from. Two numbers are (mean over what could be, what came)."""

    def after_actions(self, belief: Belief, state: State, strategy: Strategy) -> Floats:
        """The values [A] after each action; of one that no hand takes, any finite number."""
        ...

    def after_cards(self, before: Belief, after: Belief, state: State) -> tuple[float, float]:
        """Of board cards: the beliefs before and after them, and the state that owes them."""
        ...

    def after_deal(self, belief: Belief, state: State, seat: int) -> tuple[float, float]:
        """Of the hand of a seat, which the belief knows, at the start."""
        ...


# ---- equity


class Equity:
    """Values as if no more bets were made; with ``bets``, one a round of a limit game."""

    def __init__(self, game: Game, bets: bool = False) -> None:
        sizes = game.raise_size if bets and game.limit else (0,) * game.rounds
        # chips that the betting rounds from each one on add
        self.ahead = [float(sum(sizes[first:])) for first in range(game.rounds + 1)]

    def after_actions(self, belief: Belief, state: State, strategy: Strategy) -> Floats:
        chips = called_chips(state, strategy.totals) + self.ahead[state.round + 1]
        return betting_values(
            state, strategy.totals, chips * action_margins(belief, state, strategy)
        )

    def after_cards(self, before: Belief, after: Belief, state: State) -> tuple[float, float]:
        chips = min(state.spent) + self.ahead[state.round]  # the round that the cards open
        return chips * before.margin, chips * after.margin

    def after_deal(self, belief: Belief, state: State, seat: int) -> tuple[float, float]:
        # zero in the mean: over all pairs of hands nobody is ahead
        return 0.0, (max(state.spent) + self.ahead[0]) * belief.margin


def action_margins(belief: Belief, state: State, strategy: Strategy) -> Floats:
    """Seat 0's margins [A] (``Belief.margin``) among the hands that take each action."""
    seat, table = state.actor, strategy.table
    assert seat is not None
    if len(table) == 1:
        return np.full(len(strategy.totals), belief.margin)
    played = strategy.probabilities()
    won = dot(belief.reach(seat) * belief.margins(seat), played) / belief.mass
    chances = belief.chances(seat, played)
    margins = np.divide(won, chances, out=np.zeros_like(won), where=chances > 0)
    return margins if seat == 0 else -margins


def called_chips(state: State, totals: npt.NDArray[np.int64]) -> Floats:
    """What each player has put in after each action [A] and, after a raise, a call."""
    seat = state.actor
    assert seat is not None
    stacks = state.game.stacks
    called = min(state.spent[1 - seat], stacks[seat])
    return np.where(totals > CALLS, np.minimum(totals, stacks[1 - seat]), called).astype(float)


def betting_values(state: State, totals: npt.NDArray[np.int64], called: Floats) -> Floats:
    """Values [A] of actions from their values ``called`` [A], after a raise that was called.

    A fold is worth what it is. A raise is called as often as it takes for a bluff to break even
    (the minimum defence frequency), which keeps the value of a large one in proportion to the pot;
    what it wins otherwise is left out, since players who hardly ever fold, or always do, would make
    noise of it.
    """
    seat = state.actor
    assert seat is not None
    sign, theirs = 1.0 if seat == 0 else -1.0, float(state.spent[1 - seat])
    raises = totals > CALLS
    calls = np.ones(len(totals))
    calls[raises] = np.minimum(2 * theirs / (totals[raises] + theirs), 1.0)
    values = called * calls
    values[totals == FOLDS] = -sign * state.spent[seat]
    return values


# ---- sources that value one state at a time


class EachState:
    """A source that asks ``value`` about every state that could come: for games that allow it."""

    def value(self, belief: Belief, state: State) -> float:
        """Chips that seat 0 wins from a state on, in the mean over the belief's hands."""
        raise NotImplementedError

    def after_actions(self, belief: Belief, state: State, strategy: Strategy) -> Floats:
        seat = state.actor
        assert seat is not None
        played = strategy.probabilities()
        chances = belief.chances(seat, played)
        return np.array(
            [
                self.value(belief.acted(seat, column), state.apply(action_of(total)))
                if chance > 0
                else 0.0
                for total, column, chance in zip(strategy.totals, played.T, chances, strict=True)
            ]
        )

    def after_cards(self, before: Belief, after: Belief, state: State) -> tuple[float, float]:
        state, known, mean = public_part(state), len(before.board), 0.0
        for cards, chance in next_cards(before, state):
            mean += chance * self.value(before.dealt(cards), state.deal(cards))
        cards = tuple(sorted(after.board[known:]))  # as the others were, in case the order matters
        return mean, self.value(before.dealt(cards), state.deal(cards))

    def after_deal(self, belief: Belief, state: State, seat: int) -> tuple[float, float]:
        def with_hand(hand: int) -> Belief:
            players = list(belief.players)
            players[seat] = Player(hand=hand)
            return Belief(belief.game, belief.board, (players[0], players[1]))

        mean = np.mean([self.value(with_hand(h), state) for h in range(belief.game.hands)])
        return float(mean), self.value(belief, state)


def next_cards(belief: Belief, state: State) -> Iterator[tuple[tuple[int, ...], float]]:
    """The board cards that may come, in ascending order, and how likely they are."""
    game, owed = state.game, state.cards_owed
    left = [card for card in range(len(game.deck)) if card not in belief.board]
    ways = comb(len(left) - 2 * game.hole_cards, owed)  # for any two hands
    for cards in combinations(left, owed):
        mass = belief.dealt(cards).mass
        if mass > 0:
            yield cards, mass / belief.mass / ways


class PairValues(EachState):
    """A source that knows what every pair of hands is worth."""

    def pairs(self, state: State) -> Floats:
        """Chips that seat 0 wins [H of seat 0, H of seat 1] from a state on."""
        raise NotImplementedError

    def value(self, belief: Belief, state: State) -> float:
        first, second = belief.ranges
        return float(first @ (self.pairs(state) * _apart(belief.game)) @ second) / belief.mass


@cache
def _apart(game: Game) -> npt.NDArray[np.bool_]:
    """Which pairs of hands share no card [H, H]."""
    return np.stack([apart(game, hand) for hand in range(game.hands)])


class SelfPlay(PairValues):
    """What pairs of hands are worth when both players go on by given strategies.

    Args:
        strategy: the strategy at a public state, without private cards.
    """

    def __init__(self, strategy: Callable[[State], Strategy]) -> None:
        self.strategy = strategy
        self._known: dict[tuple, Floats] = {}

    def pairs(self, state: State) -> Floats:
        """Blocked hands, and pairs that share a card, have values without meaning."""
        key = state.betting, tuple(sorted(state.board)), len(state.board)
        if key not in self._known:
            self._known[key] = self._pairs(replace(state, hands=((), ())))
        return self._known[key]

    def _pairs(self, state: State) -> Floats:
        game = state.game
        if state.folded_out:
            return np.full((game.hands, game.hands), state.payoffs()[0])
        if state.is_over:
            return min(state.spent) * showdown_signs(game, state.board)
        if state.actor is None:
            left = [card for card in range(len(game.deck)) if card not in state.board]
            ways = comb(len(left) - 2 * game.hole_cards, state.cards_owed)
            total = np.zeros((game.hands, game.hands))
            for cards in combinations(left, state.cards_owed):
                live = live_hands(game, cards)
                total += np.outer(live, live) * self.pairs(state.deal(cards))
            return total / ways
        strategy = self.strategy(state)
        played = np.broadcast_to(strategy.probabilities(), (game.hands, len(strategy.totals)))
        values = np.zeros((game.hands, game.hands))
        for code, column in zip(strategy.totals, played.T, strict=True):
            if column.any():
                after = self.pairs(state.apply(action_of(code)))
                values += (column[:, None] if state.actor == 0 else column) * after
        return values


def showdown_signs(game: Game, board: tuple[int, ...]) -> Floats:
    """1 where seat 0 wins, -1 where seat 1 does [H, H], on a full board."""
    margins = margins_of(game)
    return np.stack([margins.against_hand(board, hand) for hand in range(game.hands)], axis=1)


def solved_self_play(game: Game, iterations: int = SELF_PLAY_ITERATIONS) -> SelfPlay:
    """The self-play of a solution of a small limit game."""
    from deepstack.solver.api import solve

    boards = comb(len(game.deck), sum(game.board_cards))
    if not game.limit or game.players != 2 or boards > MOST_BOARDS:
        raise InputError(
            f"values of self-play in {game.name}: expected a limit game of 2 players with at most "
            f"{MOST_BOARDS} boards"
        )
    solution = solve(game, algorithm="cfr_plus", iterations=iterations, dtype="float64")

    def strategy(state: State) -> Strategy:
        actions, table = solution.strategy(state)
        return Strategy(np.array([action_code(action) for action in actions]), table)

    return SelfPlay(strategy)


# ---- networks


class RoundValues(Equity):
    """What evaluators of the ends of betting rounds say, networks above all.

    Actions are valued as if the round ended by calls; cards at the start of the round they open,
    one by one. Where no evaluator is asked, equity stands for it: in rounds that have none, for
    private cards, and where more can happen than can be asked about.

    Args:
        game: a two-player game.
        evaluators: by the betting round that ends.
        most: cards at a chance node, or actions at a decision, that are asked about.
    """

    def __init__(
        self, game: Game, evaluators: Mapping[int, RoundEvaluator], most: int = MOST_ASKED
    ) -> None:
        super().__init__(game)
        self.game, self.evaluators, self.most = game, evaluators, most

    def after_actions(self, belief: Belief, state: State, strategy: Strategy) -> Floats:
        seat, game = state.actor, self.game
        assert seat is not None
        chances = belief.chances(seat, strategy.probabilities())
        asked = np.flatnonzero((strategy.totals != FOLDS) & (chances > 0))
        if state.round not in self.evaluators or not 0 < len(asked) <= self.most:
            return super().after_actions(belief, state, strategy)
        hands = np.flatnonzero(live_hands(game, belief.board))
        played = np.broadcast_to(strategy.probabilities(), (game.hands, len(chances)))
        reach = np.repeat(belief.ranges[:, None, None], len(asked), axis=2)  # [2, 1, L, H]
        reach[seat, 0] *= played.T[asked]
        states = tuple(_called(state, int(total)) for total in strategy.totals[asked])
        leaves = Leaves(states, np.array([belief.board], np.int64), hands[None])
        evaluator = self.evaluators[state.round]
        said = evaluator.values(leaves, reach[..., hands])[0, 0]  # [L, H] of seat 0
        called = np.zeros(len(chances))
        called[asked] = (reach[0, 0][:, hands] * said).sum(axis=1) / (chances[asked] * belief.mass)
        return betting_values(state, strategy.totals, called)

    def after_cards(self, before: Belief, after: Belief, state: State) -> tuple[float, float]:
        evaluator = self.evaluators.get(state.round - 1)
        deals = comb(len(self.game.deck) - len(before.board), state.cards_owed)
        if evaluator is None or deals > self.most:
            return super().after_cards(before, after, state)

        def value(cards: tuple[int, ...]) -> float:
            belief, opened = before.dealt(cards), public_part(state).deal(cards)
            said = evaluator.card_values(opened, belief.ranges[:, None])[0, 0]
            return float(dot(belief.reach(0), said)) / belief.mass

        mean = sum(chance * value(cards) for cards, chance in next_cards(before, state))
        return mean, value(tuple(sorted(after.board[len(before.board) :])))


def _called(state: State, total: int) -> State:
    """The end of the round after an action, if nobody raises again."""
    after, round_ = public_part(state).apply(action_of(total)), state.round
    while after.actor is not None and after.round == round_:
        after = after.apply(Action(CALL))
    return after


def shipped_network(game: Game) -> RoundValues:
    """Values of the networks that ship with a game, those of the starts of its rounds."""
    from deepstack.values.checkpoint import load_network
    from deepstack.values.fast import FastMlp
    from deepstack.values.inputs import STAGES
    from deepstack.values.leaves import NetworkLeaves
    from deepstack.values.network_leaves import StartLeaves
    from deepstack.values.networks import shipped

    evaluators: dict[int, RoundEvaluator] = {}
    sizes = [game.board_size(round_) for round_ in range(game.rounds)]
    for name, card in shipped().items():
        if card.game != game.name or not card.stage.endswith("_start"):
            continue
        ended = sizes.index(STAGES[card.stage].cards) - 1
        if comb(len(game.deck) - sizes[ended], sizes[ended + 1] - sizes[ended]) <= MOST_ASKED:
            network = load_network(name)
            small = game.hole_cards == 1
            evaluators[ended] = (
                NetworkLeaves(FastMlp(network), game) if small else StartLeaves(network)
            )
    if not evaluators:
        raise InputError(f"values by network in {game.name}: no network ships for this game")
    return RoundValues(game, evaluators)


def make_source(name: str, game: Game) -> ValueSource:
    """The source of a name of ``SOURCES``."""
    if name == "self_play":
        return solved_self_play(game)
    if name == "network":
        return shipped_network(game)
    if name not in SOURCES:
        raise InputError(f"values {name!r}: expected one of {', '.join(SOURCES)}")
    return Equity(game, bets=name == "bet_call")
