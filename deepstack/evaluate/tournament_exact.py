"""Head-to-head expected values without a single deal: every card, every action, weighed exactly.

Where a game is small enough, what strategies win from each other need not be measured. All public
states that the strategies reach are visited once, with every player's chance to have come there by
hand; payoffs are summed over all deals. Works for any number of players.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from math import comb, perm

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards
from deepstack.evaluate.deals import seatings
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.game.state import Action, State, initial_state
from deepstack.run.errors import InputError

MOST_DEALS = 5_000
"""Ways to deal private cards up to which a game is enumerated: Rhode Island has 2,652."""
MOST_STATES = 2_000_000
"""Public states that are visited before a game is given up as too large."""

Floats = npt.NDArray[np.float64]
Strategy = Callable[[State], tuple[Sequence[Action], npt.NDArray[np.floating]]]
"""Actions at a public state and their probabilities [H, A] for every hand of the player to act, as
``StrategyAgent.probabilities`` and ``Solution.strategy`` say them."""


def expected_values(game: Game, strategies: Sequence[Strategy]) -> Floats:
    """What every seat wins a hand on average, in chips: float64 [P].

    Args:
        game: a game with few private cards, such as Kuhn and Leduc for two or three.
        strategies: one a seat.
    """
    if len(strategies) != game.players:
        raise InputError(f"{len(strategies)} strategies: {game.name} has {game.players} seats")
    if perm(game.hands, game.players) > MOST_DEALS:
        raise InputError(
            f"game {game.name}: expected at most {MOST_DEALS:,} deals of private cards to "
            "enumerate; play a match instead"
        )
    return _Enumeration(game, strategies).values()


def head_to_head(game: Game, strategies: Sequence[Strategy]) -> Floats:
    """What every player wins a hand on average over all seatings, in chips: float64 [P]."""
    total = np.zeros(game.players)
    orders = seatings(game.players, True)
    for seating in orders:
        total[list(seating)] += expected_values(game, [strategies[player] for player in seating])
    return total / len(orders)


class _Enumeration:
    """One pass over the public states of a game."""

    def __init__(self, game: Game, strategies: Sequence[Strategy]) -> None:
        self.game, self.strategies, self.states = game, strategies, 0
        cards, hole = len(game.deck), game.hole_cards
        held = hand_cards(cards, hole)
        apart = ~(held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
        deals = [
            deal
            for deal in permutations(range(game.hands), game.players)
            if all(apart[a, b] for a, b in combinations(deal, 2))
        ]
        self.deals = np.array(deals, np.int64).T  # [P, D]
        self.strengths: dict[tuple[int, ...], npt.NDArray[np.int64]] = {}

    def values(self) -> Floats:
        reach = np.ones((self.game.players, self.game.hands))
        return self.visit(initial_state(self.game), reach) / self.deals.shape[1]

    def visit(self, state: State, reach: Floats) -> Floats:
        """Sums [P] over deals of payoffs times the players' chances ``reach`` [P, H]."""
        if not reach.any(axis=1).all():
            return np.zeros(self.game.players)
        self.states += 1
        if self.states > MOST_STATES:
            raise InputError(
                f"game {self.game.name}: more than {MOST_STATES:,} public states; "
                "expected a smaller game or fewer bet sizes"
            )
        if state.is_over:
            return self.payoffs(state, reach)
        if state.cards_owed:
            return self.chance(state, reach)
        return self.decision(state, reach)

    def decision(self, state: State, reach: Floats) -> Floats:
        seat = state.actor
        assert seat is not None
        actions, table = self.strategies[seat](state)
        total = np.zeros(self.game.players)
        for column, action in enumerate(actions):
            onward = reach.copy()
            onward[seat] *= table[:, column]
            total += self.visit(state.apply(action), onward)
        return total

    def chance(self, state: State, reach: Floats) -> Floats:
        game, owed = self.game, state.cards_owed
        left = [card for card in range(len(game.deck)) if card not in state.board]
        total = np.zeros(game.players)
        for cards in combinations(left, owed):
            onward = reach.copy()
            onward[:, blocked(cards, len(game.deck), game.hole_cards)] = 0.0
            total += self.visit(state.deal(cards), onward)
        # given all hands, the cards come from those that nobody holds
        return total / comb(len(left) - game.players * game.hole_cards, owed)

    def payoffs(self, state: State, reach: Floats) -> Floats:
        """Sums over deals at the end of a hand."""
        chance = np.ones(self.deals.shape[1])
        for seat, hands in enumerate(self.deals):
            chance *= reach[seat, hands]
        if state.folded_out:
            spent = np.array(state.spent, np.float64)
            winner = state.folded.index(False)
            won = -spent
            won[winner] += spent.sum()
            return won * chance.sum()
        shown = self.board_strengths(state.board)[self.deals]
        return share_pots(state.spent, state.folded, shown) @ chance

    def board_strengths(self, board: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Strengths [H] on a full board; 0 for hands that it blocks."""
        key = tuple(sorted(board))
        if key not in self.strengths:
            game = self.game
            held = hand_cards(len(game.deck), game.hole_cards).astype(np.int64)
            live = ~blocked(key, len(game.deck), game.hole_cards)
            rows = np.tile(np.array(key, np.int64), (int(live.sum()), 1))
            strengths = np.zeros(game.hands, np.int64)
            strengths[live] = strengths_of(game, np.concatenate([held[live], rows], axis=1))
            self.strengths[key] = strengths
        return self.strengths[key]


def share_pots(
    spent: tuple[int, ...], folded: tuple[bool, ...], strengths: npt.NDArray[np.int64]
) -> Floats:
    """``game.state.share_pot`` for many deals at once: strengths [P, D] to chips won [P, D]."""
    stake = np.array(spent)
    still_in = ~np.array(folded)
    won = np.repeat(-stake[:, None].astype(np.float64), strengths.shape[1], axis=1)
    below = 0
    for level in sorted(set(spent)):
        paid = stake >= level
        entitled = paid & still_in if (paid & still_in).any() else still_in
        masked = np.where(entitled[:, None], strengths, -1)
        winners = masked == masked.max(axis=0)
        won += winners * ((level - below) * paid.sum() / winners.sum(axis=0))
        below = level
    return won
