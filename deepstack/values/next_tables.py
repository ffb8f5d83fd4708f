"""Tables of boards before the river: the order of hands after every next card."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.values.next_kernels import fill_next_order
from deepstack.values.strengths import strength_keys

Ints = npt.NDArray[np.int64]


def next_parts(game: Game, boards: Ints, hands: Ints) -> dict[str, npt.NDArray[np.generic]]:
    """Tables of boards [B, cards] of hold'em before the last card, with C next cards.

    - ``next_cards`` int64 [B, C] cards that may come;
    - ``next_order``, ``group_end`` int16 [B, C, H']: see ``fill_next_order``;
    - ``rank`` int16 [B, C, H]: the tie group of every hand after the card, counted from the
      weakest, or -1 where the card takes a card of the hand;
    - ``held`` int64 [B, H, 2] cards of every live hand.
    """
    if boards.shape[1] not in (3, 4):
        raise InputError(
            f"boards of {boards.shape[1]} cards: expected 3 or 4 for inputs by next cards"
        )
    count, live = hands.shape
    cards, left = hand_cards(len(game.deck), 2).astype(np.int64), len(game.deck) - boards.shape[1]
    after = (left - 1) * (left - 2) // 2
    parts: dict[str, npt.NDArray[np.generic]] = {
        "next_cards": np.empty((count, left), np.int64),
        "next_order": np.empty((count, left, after), np.int16),
        "group_end": np.empty((count, left, after), np.int16),
        "rank": np.full((count, left, live), -1, np.int16),
        "held": cards[hands],
    }
    deck = np.arange(len(game.deck))
    for b, board in enumerate(boards):
        coming = np.setdiff1d(deck, board)
        parts["next_cards"][b] = coming
        following = np.concatenate([np.tile(board, (left, 1)), coming[:, None]], axis=1)
        possible = ~(cards[hands[b]][None] == coming[:, None, None]).any(axis=2)  # [C, H]
        places = np.nonzero(possible)[1].reshape(left, after)
        keys = np.full((left, live), -1, np.int64)
        found = strength_keys(game, following, hands[b][places])
        np.put_along_axis(keys, places, found, axis=1)
        order, group_end = parts["next_order"][b], parts["group_end"][b]
        fill_next_order(keys, order, group_end)
        sorted_keys = np.take_along_axis(keys, order.astype(np.int64), axis=1)
        steps = np.cumsum(np.diff(sorted_keys, axis=1, prepend=sorted_keys[:, :1]) > 0, axis=1)
        np.put_along_axis(parts["rank"][b], order.astype(np.int64), steps.astype(np.int16), axis=1)
    return parts
