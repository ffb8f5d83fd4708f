"""Cards, boards and hands as text and as numbers.

A card is ``rank * suits + suit`` with rank 0 the lowest; in the 52-card deck suits are ``cdhs``,
so ``2c`` is 0 and ``As`` is 51. A two-card hand ``{lo < hi}`` has index ``hi * (hi - 1) / 2 + lo``.
Hands of one card are the card itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError

RANKS = "23456789TJQKA"
SUITS = "cdhs"


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck: the letters of its ranks, lowest first, and of its suits.

    >>> Deck("JQK", "hs").parse("Kh Js")
    (4, 1)
    """

    ranks: str = RANKS
    suits: str = SUITS

    def __post_init__(self) -> None:
        order = [RANKS.find(letter) for letter in self.ranks]
        if not order or min(order) < 0 or sorted(set(order)) != order:
            raise InputError(f"ranks {self.ranks!r}: expected letters of {RANKS}, lowest first")
        order = [SUITS.find(letter) for letter in self.suits]
        if not order or min(order) < 0 or sorted(set(order)) != order:
            raise InputError(f"suits {self.suits!r}: expected letters of {SUITS}, in that order")

    def __len__(self) -> int:
        return len(self.ranks) * len(self.suits)

    def card(self, text: str) -> int:
        """The card that a two-letter text names.

        >>> Deck().card("As")
        51
        """
        if len(text) == 2:
            rank, suit = self.ranks.find(text[0]), self.suits.find(text[1])
            if rank >= 0 and suit >= 0:
                return rank * len(self.suits) + suit
        raise InputError(
            f"card {text!r}: expected a rank of {self.ranks} and a suit of {self.suits}, "
            f"as in {self.format([len(self) - 1])!r}"
        )

    def parse(self, text: str) -> tuple[int, ...]:
        """Cards in the order written, with or without spaces; each card at most once.

        >>> Deck().parse("Td9d 6h")
        (33, 29, 18)
        """
        packed = "".join(text.split())
        if len(packed) % 2:
            raise InputError(f"cards {text!r}: expected two letters a card, as in 'Td9d6h'")
        cards = tuple(self.card(packed[i : i + 2]) for i in range(0, len(packed), 2))
        for i, card in enumerate(cards):
            if card in cards[:i]:
                raise InputError(f"cards {text!r}: {self.format([card])} stands twice")
        return cards

    def format(self, cards: Iterable[int]) -> str:
        """The text of some cards, without spaces.

        >>> Deck().format([33, 29, 18])
        'Td9d6h'
        """
        suits = len(self.suits)
        return "".join(self.ranks[c // suits] + self.suits[c % suits] for c in cards)

    def disjoint(self, *groups: Sequence[int]) -> None:
        """Refuse groups of cards that share one."""
        seen: set[int] = set()
        for group in groups:
            for card in group:
                if card in seen:
                    raise InputError(f"card {self.format([card])} is dealt twice")
                seen.add(card)


STANDARD = Deck()


def hand_index(a: int, b: int) -> int:
    """The index of the two-card hand {a, b}, in either order.

    >>> hand_index(STANDARD.card("As"), STANDARD.card("Ah"))
    1325
    """
    lo, hi = (a, b) if a < b else (b, a)
    return hi * (hi - 1) // 2 + lo


@lru_cache(maxsize=16)
def hand_cards(deck_size: int = 52, cards: int = 2) -> npt.NDArray[np.int16]:
    """The cards of every hand by hand index, lower card first: int16 [H, cards]."""
    if cards == 1:
        table = np.arange(deck_size, dtype=np.int16)[:, None]
    elif cards == 2:
        hi, lo = np.tril_indices(deck_size, -1)
        table = np.stack([lo, hi], axis=1).astype(np.int16)
    else:
        raise InputError(f"hands of {cards} cards: expected 1 or 2")
    assert len(table) == comb(deck_size, cards)
    table.flags.writeable = False
    return table


def blocked(cards: Iterable[int], deck_size: int = 52, hole: int = 2) -> npt.NDArray[np.bool_]:
    """Which hands hold one of ``cards``: bool [H]."""
    held = np.isin(hand_cards(deck_size, hole), np.asarray(list(cards), dtype=np.int16))
    return np.asarray(held.any(axis=1))
