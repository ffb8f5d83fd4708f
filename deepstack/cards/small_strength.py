"""Who wins a showdown in small games: rules for hands of one to four cards.

*Pairs* is the rule of Kuhn and Leduc poker: equal ranks beat unequal ones, then ranks decide.
*Three cards* is the rule of Rhode Island hold'em (J. Shi and M. L. Littman, "Abstraction methods
for game theoretic poker", 2001), in the order of how rare the classes are in three cards:
straight flush, three of a kind, straight, flush, pair, high card.

Both give integers, higher is stronger and equal means tie, and both count a hand with its board.
The numbers only compare within one rule, deck and number of cards. Small games have a few
thousand hands, so this is plain NumPy.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import RANKS, STANDARD, Deck
from deepstack.run.errors import InputError

THREE_CARD_CLASSES = (
    "high card",
    "pair",
    "flush",
    "straight",
    "three of a kind",
    "straight flush",
)
_BASE = len(RANKS)


def pair_strengths(cards: npt.ArrayLike, deck: Deck = STANDARD) -> npt.NDArray[np.int64]:
    """Strengths by equal ranks, then by rank: integers [..., 1 to 4] to int64 [...].

    Four alike beat three, three beat two pairs, two pairs beat one and a pair beats none; suits
    do not matter and there are no straights.

    >>> leduc = Deck("JQK", "hs")
    >>> hands = [leduc.parse(text) for text in ("JhQs", "KhQs", "QhQs")]
    >>> pair_strengths(hands, leduc).argsort()
    array([0, 1, 2])
    """
    array = _cards(cards, deck, (1, 4))
    ranks = array // len(deck.suits)
    alike = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    # The sum over cards of how many are alike orders the shapes: 16 for four, then 10 (3 + 1),
    # 8 (2 + 2), 6 (2 + 1 + 1) and 4; in three cards 9, 5, 3 and in two 4, 2.
    return _number(alike.sum(axis=-1), _largest_groups_first(ranks, alike))


def three_card_strengths(cards: npt.ArrayLike, deck: Deck = STANDARD) -> npt.NDArray[np.int64]:
    """Strengths in Rhode Island hold'em: integers [..., 3] to int64 [...].

    The ace is high or low in a straight: AKQ is the best one, 32A the worst.

    >>> hands = [STANDARD.parse(text) for text in ("KcKdAh", "2c9cJc", "Ac2d3h", "5c5d5h")]
    >>> [THREE_CARD_CLASSES[c] for c in three_card_class(three_card_strengths(hands))]
    ['pair', 'flush', 'straight', 'three of a kind']
    """
    array = _cards(cards, deck, (3, 3))
    suits = array % len(deck.suits)
    # Ranks of the full deck, so that a straight does not run over ranks that are left out.
    ranks = np.array([RANKS.index(letter) for letter in deck.ranks])[array // len(deck.suits)]
    alike = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    order = _largest_groups_first(ranks, alike)

    low_ace = (order == (12, 1, 0)).all(axis=-1)
    order[low_ace] = (1, 0, -1)
    flush = (suits == suits[..., :1]).all(axis=-1)
    straight = (order[..., 0] - order[..., 1] == 1) & (order[..., 1] - order[..., 2] == 1)
    names = ("straight flush", "three of a kind", "straight", "flush", "pair")
    tests = (straight & flush, alike[..., 0] == 3, straight, flush, alike.max(axis=-1) == 2)
    kind = np.select(tests, [THREE_CARD_CLASSES.index(name) for name in names], 0)
    return _number(kind, order)


def three_card_class(strengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The class of three-card strengths, as places in ``THREE_CARD_CLASSES``."""
    return np.asarray(strengths) // _BASE**3


def _largest_groups_first(
    ranks: npt.NDArray[np.int64], alike: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Ranks [..., k] in the order in which they break ties: larger groups, then higher ranks."""
    return np.sort(alike * _BASE + ranks, axis=-1)[..., ::-1] % _BASE


def _number(kind: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The class, then the ranks, as digits of one number; [...] and [..., k] to [...]."""
    for i in range(order.shape[-1]):
        kind = kind * _BASE + order[..., i]
    return kind


def _cards(cards: npt.ArrayLike, deck: Deck, count: tuple[int, int]) -> npt.NDArray[np.int64]:
    array = np.asarray(cards)
    low, high = count
    if array.ndim == 0 or not low <= array.shape[-1] <= high:
        shape = "x".join(map(str, array.shape)) or "a single number"
        expected = f"{low} to {high}" if low < high else str(low)
        raise InputError(f"cards of shape {shape}: expected hands of {expected} cards")
    if array.dtype.kind not in "iu":
        raise InputError(f"cards of type {array.dtype}: expected integers")
    wrong = (array < 0) | (array >= len(deck))
    if wrong.any():
        raise InputError(
            f"card {array[wrong][0]}: expected 0 to {len(deck) - 1}, a deck of {len(deck)} cards"
        )
    array = array.astype(np.int64)
    ordered = np.sort(array, axis=-1)
    twice = ordered[..., 1:] == ordered[..., :-1]
    if twice.any():
        card = ordered[..., 1:][twice][0]
        raise InputError(f"a hand holds {deck.format([card])} twice")
    return array
