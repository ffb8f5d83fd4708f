"""Roll-outs: the chance to win when both players check and call until the showdown.

``WpRollout`` of V. Lisý and M. Bowling, "Equilibrium Approximation Quality of Current No-Limit
Poker Bots" (2017), figure 1. All ways to deal the rest of the board are counted. For one hand of
the responder the result is a vector over the opponent's hands that does not depend on their range,
so one roll-out serves every range that is considered on a board: with ``e = equities(...)`` the
chance to win against a range is ``range @ e / range.sum()``.

Hold'em after the flop is enumerated by a kernel (under a millisecond on the flop), hold'em before
the flop is looked up in the table that the solver ships, small games are enumerated plainly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import STANDARD, hand_cards, hand_index
from deepstack.cards.strength import strength_tables
from deepstack.evaluate.rollout_kernels import count_half_wins
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_margins
from deepstack.values.equity import equity_matrix

Floats = npt.NDArray[np.float64]
MOST_BOARDS = 25_000  # run-outs of one roll-out


def equities(game: Game, hand: Sequence[int], board: Sequence[int]) -> Floats:
    """Chance to win, a tie being half a win, against every hand: float64 [H].

    Args:
        game: a two-player game with one or two private cards.
        hand: the private cards of the responder.
        board: the public cards of a betting round of the game.

    Zero for hands that share a card with the responder or with the board.
    """
    cards = tuple(int(card) for card in board)
    hold_em = game.showdown == "five-card" and game.hole_cards == 2 and game.deck == STANDARD
    size = game.board_size(game.rounds - 1)
    if hold_em and 3 <= size <= 5 and comb(50 - len(cards), size - len(cards)) <= MOST_BOARDS:
        return _counted(size, hand, cards)
    if hold_em and not cards and size == 5:
        return _from_margins(hand)
    return _small(game, hand, cards)


def equities_plain(game: Game, hand: Sequence[int], board: Sequence[int]) -> Floats:
    """``equities``, board by board and hand by hand."""
    deck, size = range(len(game.deck)), game.board_size(game.rounds - 1)
    own, result = tuple(hand), np.zeros(game.hands)
    for h, other in enumerate(hand_cards(len(game.deck), game.hole_cards).tolist()):
        if {*other} & {*own, *board}:
            continue
        left = [card for card in deck if card not in (*own, *board, *other)]
        shares = []
        for rest in combinations(left, size - len(board)):
            full = (*board, *rest)
            mine, theirs = strengths_of(game, np.array([(*own, *full), (*other, *full)]))
            shares.append((float(mine > theirs) + float(mine >= theirs)) / 2)
        result[h] = np.mean(shares)
    return result


@lru_cache(maxsize=16)
def live_hands(deck: int, hole: int) -> npt.NDArray[np.bool_]:
    """Which hands are without a card: bool [deck, H], shared and read-only."""
    held = hand_cards(deck, hole)
    table = (held[None, :, :] != np.arange(deck)[:, None, None]).all(axis=2)
    table.flags.writeable = False
    return table


def possible(game: Game, cards: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which hands hold none of some cards: bool [H]."""
    live = live_hands(len(game.deck), game.hole_cards)
    return np.asarray(live[list(cards)].all(axis=0))


def _counted(size: int, hand: Sequence[int], board: tuple[int, ...]) -> Floats:
    """Hold'em by the kernel."""
    missing = size - len(board)
    seen = [*hand, *board]
    left = np.delete(np.arange(52, dtype=np.uint8), seen)
    runs = left[_choices(len(left), missing)]  # [n, missing]
    boards = np.empty((len(runs), size), np.uint8)
    boards[:, : len(board)] = board
    boards[:, len(board) :] = runs
    counts = np.zeros(comb(52, 2), np.int32)
    count_half_wins(strength_tables(), boards, hand_index(hand[0], hand[1]), counts)
    free = comb(len(left) - 2, missing)  # boards that leave the opponent its two cards
    result = (counts - 2 * (len(boards) - free)) / (2.0 * free)
    return np.where(live_hands(52, 2)[seen].all(axis=0), result, 0.0)


@lru_cache(maxsize=64)
def _choices(n: int, k: int) -> npt.NDArray[np.intp]:
    """All ways to choose k of n, as places [comb(n, k), k]."""
    return np.array(list(combinations(range(n), k)), np.intp).reshape(comb(n, k), k)


def _from_margins(hand: Sequence[int]) -> Floats:
    """Hold'em before the flop: wins minus losses are counted in the solver's table."""
    margins = allin_margins(())
    row = margins.counts[hand_index(hand[0], hand[1])] / (2.0 * margins.run_outs) + 0.5
    return np.where(live_hands(52, 2)[list(hand)].all(axis=0), row, 0.0)


def _small(game: Game, hand: Sequence[int], board: tuple[int, ...]) -> Floats:
    """Other games, from the matrix of all hands."""
    if len(hand) != game.hole_cards:
        raise InputError(f"hand {game.deck.format(hand)!r}: expected {game.hole_cards} cards")
    own = hand[0] if game.hole_cards == 1 else hand_index(hand[0], hand[1])
    row = equity_matrix(game, board)[own].astype(np.float64) / 2 + 0.5
    return np.where(possible(game, (*hand, *board)), row, 0.0)
