"""Where situations are: a betting round at its start or end, which hands live, its first state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.definition import Game
from deepstack.game.state import CALL, Action, State, initial_state
from deepstack.tree.menus import Menu

Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Place:
    """A kind of situation.

    Attributes:
        game, round: which betting round.
        end: at its end, with the next cards still to come, and not at its start.
        menu: the bets of lookaheads that lead here.
    """

    game: Game
    round: int
    end: bool
    menu: Menu


def live_count(game: Game, board_cards: int) -> int:
    """Hands that hold no card of a board of so many cards."""
    return int((~blocked(range(board_cards), len(game.deck), game.hole_cards)).sum())


def live_hands(game: Game, board: Ints) -> npt.NDArray[np.int64]:
    """Hand indices [H] without a card of the board, ascending."""
    cards = [int(card) for card in board]
    return np.flatnonzero(~blocked(cards, len(game.deck), game.hole_cards))


def round_start(game: Game, round_: int, board: Sequence[int] | npt.NDArray, chips: int) -> State:
    """The state at the start of a round when each player has put in so many chips.

    How they came to be there plays no part in what follows, so the betting before is written as
    checks and calls.
    """
    return replace(
        _checked_down(game, round_),
        board=tuple(int(card) for card in board),
        spent=(chips,) * game.players,
        min_raise_to=chips + game.min_bet,
    )


@lru_cache(maxsize=32)
def _checked_down(game: Game, round_: int) -> State:
    """The start of a round after checks and calls, on some board."""
    state = initial_state(game)
    while state.round < round_ or state.cards_owed:
        if state.cards_owed:
            seen = len(state.board)
            state = state.deal(tuple(range(seen, seen + state.cards_owed)))
        else:
            state = state.apply(Action(CALL))
    return state
