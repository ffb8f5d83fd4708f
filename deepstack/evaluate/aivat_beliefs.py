"""What the public history says about both hands of a two-player game.

A belief is a weight for every pair of hands that share no card: the product of a weight a hand of
each player. A player whose strategy is known starts with all hands alike and is then weighted by
the probability of what it did; a player whose strategy is not known has the hand it was dealt. So
the belief is the distribution of hands given all that the *unknown* players know, which is what
makes the corrections of AIVAT have mean zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from deepstack.evaluate.value_sources_margins import (
    Floats,
    apart,
    beside,
    dot,
    index_of,
    live_hands,
    margins_of,
)
from deepstack.game.definition import Game

FLAT = None
"""The range of a player of whom the history says nothing: every hand that the board leaves."""


class Player(NamedTuple):
    """Weights of one player's hands: a range [H], FLAT, or one hand."""

    reach: Floats | None = FLAT
    hand: int | None = None


class Belief:
    """Weights of pairs of hands on a board; never changed, what is found once is kept.

    Attributes:
        game: a game of two players.
        board: the public cards.
        players: the weights of both, by seat.
    """

    def __init__(self, game: Game, board: tuple[int, ...], players: tuple[Player, Player]) -> None:
        self.game, self.board, self.players = game, board, players
        self._beside: list[Floats | None] = [None, None]
        self._margins: list[Floats | None] = [None, None]
        self._mass: float | None = None
        self._margin: float | None = None

    @property
    def flat(self) -> bool:
        """Neither player's hand is known in any way."""
        return all(player.reach is None and player.hand is None for player in self.players)

    def reach(self, seat: int) -> Floats:
        """Weights [H] of a player's hands; blocked ones zero."""
        player = self.players[seat]
        if player.hand is not None:
            weights = np.zeros(self.game.hands)
            weights[player.hand] = 1.0
            return weights
        if player.reach is None:
            return live_hands(self.game, self.board).astype(np.float64)
        return player.reach

    @property
    def ranges(self) -> Floats:
        """Weights [2, H] of both players' hands."""
        return np.stack([self.reach(0), self.reach(1)])

    def beside(self, seat: int) -> Floats:
        """The opponent's weight [H] that shares no card with each of a player's hands."""
        found = self._beside[seat]
        if found is None:
            other = self.players[1 - seat]
            if other.hand is not None:
                found = apart(self.game, other.hand).astype(np.float64)
            elif other.reach is None:
                found = np.full(self.game.hands, float(self._ways()))
            else:
                found = beside(self.game, other.reach)
            self._beside[seat] = found
        return found

    def _ways(self, taken: int = 1) -> int:
        """How many hands the board and so many other hands leave."""
        left = len(self.game.deck) - len(self.board) - taken * self.game.hole_cards
        return comb(left, self.game.hole_cards)

    @property
    def mass(self) -> float:
        """The sum over all pairs."""
        if self._mass is None:
            if self.flat:
                self._mass = float(self._ways(0) * self._ways(1))
            else:
                seat = self._viewer
                self._mass = float(dot(self.reach(seat), self.beside(seat)))
        return self._mass

    @property
    def _viewer(self) -> int:
        """The seat from which sums over pairs are cheapest: the one opposite to one hand, or to
        all hands."""
        if self.players[0].hand is not None or self.players[0].reach is None:
            return 1 if self.players[1].hand is None else 0
        return 0

    def weights(self, seat: int) -> Floats:
        """How likely each of a player's hands is: [H], sums to 1."""
        return self.reach(seat) * self.beside(seat) / self.mass

    def margins(self, seat: int) -> Floats:
        """What each of a player's hands [H] wins from the opponent's range, for one chip.

        If no more bets are made; not divided by the weight of the opponent's range.
        """
        found = self._margins[seat]
        if found is None:
            other, margins = self.players[1 - seat], margins_of(self.game)
            if other.hand is not None:
                found = margins.against_hand(self.board, other.hand)
            elif other.reach is None:
                found = margins.against_flat(self.board)
            else:
                found = margins.against_range(self.board, other.reach)
            self._margins[seat] = found
        return found

    @property
    def margin(self) -> float:
        """What seat 0 wins on average for one chip, if no more bets are made."""
        if self._margin is None:
            if self.flat:
                self._margin = 0.0  # both hold anything: nobody is ahead
            else:
                found = [s for s in (0, 1) if self._margins[s] is not None]
                seat = found[0] if found else self._viewer
                won = float(dot(self.reach(seat), self.margins(seat))) / self.mass
                self._margin = won if seat == 0 else -won
        return self._margin

    def chances(self, seat: int, table: Floats) -> Floats:
        """How likely a player's actions [A] are, for its strategy [H, A], or [1, A] for all."""
        return table[0] if len(table) == 1 else dot(self.weights(seat), table)

    def acted(self, seat: int, chosen: Floats) -> Belief:
        """After an action that every hand [H] takes with a probability; [1]: all alike."""
        if len(chosen) == 1:
            return self
        reach = self.reach(seat) * chosen
        players = list(self.players)
        # only proportions matter; products of many probabilities would come near zero
        players[seat] = Player(reach / reach.max())
        after = Belief(self.game, self.board, (players[0], players[1]))
        after._beside[seat], after._margins[seat] = self._beside[seat], self._margins[seat]
        return after

    def dealt(self, cards: tuple[int, ...]) -> Belief:
        """After more board cards."""
        board = self.board + cards
        if self.flat:
            return Belief(self.game, board, self.players)
        live = live_hands(self.game, board)

        def left(player: Player) -> Player:
            if player.hand is not None:
                return player if live[player.hand] else Player(np.zeros(len(live)))
            return player if player.reach is None else Player(np.where(live, player.reach, 0.0))

        first, second = self.players
        return Belief(self.game, board, (left(first), left(second)))


def start_belief(game: Game, hands: Sequence[tuple[int, ...] | None]) -> Belief:
    """Before anything happened; the hands of players whose strategy is not known, else None."""
    first, second = (
        Player() if cards is None else Player(hand=index_of(game, cards)) for cards in hands
    )
    return Belief(game, (), (first, second))
