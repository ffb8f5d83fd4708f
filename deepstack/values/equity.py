"""All-in equity: what two hands are worth when the cards are dealt to the end."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.tree.boards import build_boards

MOST_BOARDS = 2_000


@lru_cache(maxsize=64)
def equity_matrix(game: Game, board: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Chance to win minus chance to lose of every hand against every other [hands, hands].

    Over all ways to deal the rest of the board; zero where the hands share a card with each other
    or with the board. For boards with few enough cards to come.
    """
    first = next(r for r in range(game.rounds) if game.board_size(r) == len(board))
    owed = game.board_size(game.rounds - 1) - len(board)
    left = len(game.deck) - len(board)
    if np.prod(left - np.arange(owed)) > MOST_BOARDS * np.prod(np.arange(owed) + 1):
        raise InputError(f"board {game.deck.format(board)!r}: too many cards to come to enumerate")
    identity = np.arange(len(game.deck.suits))[None]
    stages = build_boards(game, board, first, game.rounds - 1, identity)
    last, chance = stages[-1], np.ones(1)
    for stage in stages[1:]:
        chance = chance[stage.parent] * stage.weight
    total = np.zeros((game.hands, game.hands), np.float32)
    for hands, strengths, weight in zip(last.hands, last.strengths, chance, strict=True):
        sign = np.sign(strengths[:, None] - strengths[None, :]).astype(np.float32)
        total[np.ix_(hands, hands)] += np.float32(weight) * sign
    held = hand_cards(len(game.deck), game.hole_cards)
    shared = (held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
    total[shared] = 0.0
    total.setflags(write=False)
    return total
