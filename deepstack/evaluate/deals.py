"""Which cards are dealt and who sits where, hand by hand.

A match is a sequence of hands, counted from 0. With duplicate play every deal is played once for
each seating: the hands of one *duplicate set* share their cards and differ in who holds them, so
that luck of the cards cancels. Cards depend only on the seed and the number of the set; a match
can be cut anywhere.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from deepstack.game.definition import Game
from deepstack.run.errors import InputError


class Deal(NamedTuple):
    """One hand of a match: private cards by seat, the whole board, the agent in each seat."""

    hands: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    seating: tuple[int, ...]


def seatings(players: int, duplicate: bool) -> list[tuple[int, ...]]:
    """The agents by seat for consecutive hands: all permutations, or rotations without duplicate.

    >>> seatings(2, True)
    [(0, 1), (1, 0)]
    """
    if duplicate:
        return list(permutations(range(players)))
    return [tuple((seat + turn) % players for seat in range(players)) for turn in range(players)]


def set_size(players: int, duplicate: bool) -> int:
    """How many hands share one deal."""
    return len(seatings(players, duplicate)) if duplicate else 1


def check_hands(hands: int, players: int, duplicate: bool) -> int:
    """The number of duplicate sets of a match of ``hands``."""
    size = set_size(players, duplicate)
    if hands <= 0 or hands % size:
        wanted = f"a positive multiple of {size}" if size > 1 else "a positive number"
        raise InputError(f"hands={hands}: expected {wanted} (hands that share a deal: {size})")
    return hands // size


def deal(game: Game, seed: int, hand: int, duplicate: bool) -> Deal:
    """The cards and seats of a hand."""
    order = seatings(game.players, duplicate)
    number = hand // set_size(game.players, duplicate)
    rng = np.random.default_rng([seed, 0, number])
    private, public = game.players * game.hole_cards, game.board_size(game.rounds - 1)
    cards = tuple(int(c) for c in rng.permutation(len(game.deck))[: private + public])
    hole = game.hole_cards
    hands = tuple(cards[p * hole : (p + 1) * hole] for p in range(game.players))
    return Deal(hands, cards[private:], order[hand % len(order)])
