"""Margins: what hands win from a range when the cards are dealt to the end, one chip each.

The margin of a hand against another is its chance to win minus its chance to lose over all ways to
complete the board. Against a range it is the sum over the hands of the range that share no card
with it, weighted by the range: a counterfactual value for one chip.

On the flop of hold'em that is a sweep over 1,176 sorted boards, on the turn over 48; the boards of
the last few questions are kept. Before the flop, and in games of few hands, all pairs of hands are
in one matrix.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards, hand_index
from deepstack.cards.strength import board_strengths
from deepstack.evaluate.value_sources_kernels import (
    add_margins,
    add_margins_against,
    order_hands,
)
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_margins

Floats = npt.NDArray[np.float64]
Board = tuple[int, ...]

BOARDS_KEPT = 6  # boards whose run-outs are kept in order; one flop takes 6 MB
MARGINS_KEPT = 32


def index_of(game: Game, cards: tuple[int, ...]) -> int:
    """The index of a hand."""
    if len(cards) != game.hole_cards:
        raise InputError(f"hand {game.deck.format(cards)!r}: expected {game.hole_cards} cards")
    return int(cards[0]) if len(cards) == 1 else hand_index(cards[0], cards[1])


@lru_cache(maxsize=256)
def live_hands(game: Game, board: Board) -> npt.NDArray[np.bool_]:
    """Which hands hold no card of the board: bool [H], read-only."""
    live = ~blocked(board, len(game.deck), game.hole_cards)
    live.flags.writeable = False
    return live


@lru_cache(maxsize=4096)
def apart(game: Game, hand: int) -> npt.NDArray[np.bool_]:
    """Which hands share no card with one: bool [H], read-only."""
    return live_hands(game, tuple(hand_cards(len(game.deck), game.hole_cards)[hand].tolist()))


def beside(game: Game, weights: Floats) -> Floats:
    """Weight of the hands that share no card with each hand: [H] to [H].

    >>> from deepstack.game.definition import load_game
    >>> beside(load_game("kuhn"), np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 5.0, 3.0]
    """
    held = hand_cards(len(game.deck), game.hole_cards)
    if game.hole_cards == 1:
        return weights.sum() - weights
    by_card = np.bincount(held.ravel(), np.repeat(weights, 2), minlength=len(game.deck))
    return weights.sum() - by_card[held[:, 0]] - by_card[held[:, 1]] + weights


def dot(weights: Floats, values: Floats) -> Floats:
    """The sum [...] over hands of weights [H] times values [H, ...].

    Not by BLAS, whose threads cost more than such small sums where several matches run at once.
    """
    return np.einsum("h,h...->...", weights, values)


class Margins:
    """Margins in one game; ``margins_of`` keeps one instance a game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._last = game.board_size(game.rounds - 1)
        self._swept = game.showdown == "five-card" and game.hole_cards == 2
        self._run_outs = lru_cache(BOARDS_KEPT)(self._make_run_outs)
        self._order = lru_cache(BOARDS_KEPT)(self._make_order)
        self._matrix = lru_cache(MARGINS_KEPT)(self._make_matrix)
        self._flat = lru_cache(MARGINS_KEPT)(self._against_flat)

    def against_range(self, board: Board, reach: Floats) -> Floats:
        """Margins [H] of all hands against a range [H] whose blocked hands are zero."""
        return self._against(tuple(sorted(board)), reach)

    def against_flat(self, board: Board) -> Floats:
        """Margins [H] against every hand that the board leaves, each with weight 1; read-only."""
        return self._flat(tuple(sorted(board)))

    def against_hand(self, board: Board, hand: int) -> Floats:
        """Margins [H] against one hand; zero where both share a card."""
        board = tuple(sorted(board))
        if not self._in_one_sweep(board):
            return self._matrix(board)[:, hand].copy()
        won = np.zeros(self.game.hands, np.int32)
        add_margins_against(self._run_outs(board), hand, won)
        won[~apart(self.game, hand)] = 0
        return won / self._count(board)

    def _against(self, board: Board, reach: Floats) -> Floats:
        if not self._in_one_sweep(board):
            return dot(reach, self._matrix(board).T)
        order, counts = self._order(board)
        won = np.zeros(self.game.hands)
        cards = hand_cards(len(self.game.deck), self.game.hole_cards)
        add_margins(self._run_outs(board), order, counts, cards, np.asarray(reach, float), won)
        return won / self._count(board)

    def _against_flat(self, board: Board) -> Floats:
        margins = self._against(board, live_hands(self.game, board).astype(np.float64))
        margins.flags.writeable = False
        return margins

    def _in_one_sweep(self, board: Board) -> bool:
        """Boards of hold'em are swept; before the flop there are too many, and a table ships."""
        return self._swept and self._last - len(board) < 5

    def _count(self, board: Board) -> int:
        """How many run-outs two given hands leave."""
        game = self.game
        return comb(len(game.deck) - len(board) - 2 * game.hole_cards, self._last - len(board))

    def _make_run_outs(self, board: Board) -> npt.NDArray[np.int16]:
        left = [card for card in range(len(self.game.deck)) if card not in board]
        full = [board + cards for cards in combinations(left, self._last - len(board))]
        return board_strengths(np.array(full, np.uint8))

    def _make_order(self, board: Board) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]:
        strengths = self._run_outs(board)
        order = np.zeros(strengths.shape, np.int16)
        counts = np.zeros(len(strengths), np.int32)
        order_hands(strengths, order, counts)
        return order, counts

    def _make_matrix(self, board: Board) -> Floats:
        """Margins [H, H] of all pairs of hands."""
        margins = allin_margins(board, self.game)
        live = live_hands(self.game, board)
        matrix = np.zeros((self.game.hands, self.game.hands))
        matrix[np.ix_(live, live)] = margins.counts
        return matrix / margins.run_outs


@lru_cache(maxsize=8)
def margins_of(game: Game) -> Margins:
    """The margins of a game."""
    return Margins(game)
