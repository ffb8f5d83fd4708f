"""Ranges as text, in the grammar players know, and as vectors over the 1,326 hands.

A range is a list of tokens with commas between them; spaces are ignored::

    AA,KQs,AKo:0.5,QQ-88,76s+,A5s-A2s,AsKh,random

===========  ==================================================================================
``AsKh``     one hand; suits are lower-case
``QQ``       a pair; ``AKs`` suited, ``AKo`` offsuit, ``AK`` both; ranks in either case and order
``77+``      this pair and every higher one
``ATs+``     the kicker climbs to just below the high card: ``ATs,AJs,AQs,AKs``
``76s+``     adjacent ranks, whose kicker cannot climb, climb together: ``76s,87s,…,AKs``
``QQ-88``    pairs from one to the other, in either order
``A5s-A2s``  one high card, kickers from one to the other
``JTs-76s``  one gap between the ranks, from one to the other
``random``   every hand
``…:0.5``    any of these with a weight from 0 to 1; without one the weight is 1
===========  ==================================================================================

Where two tokens name the same hand the later one wins, so ``random,AA:0`` is all hands but aces.

The 169 classes of hands before the flop are numbered along the 13 × 13 grid in which players draw
ranges: rows and columns from ace to deuce, pairs on the diagonal, suited hands above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import RANKS, STANDARD, SUITS, blocked, hand_cards, hand_index
from deepstack.run.errors import InputError

HANDS = 1326
TOP = len(RANKS) - 1

# Spelled out rather than with IGNORECASE, which would also let a Kelvin sign pass for a king.
_RANK = f"[{RANKS}{RANKS[8:].lower()}]"
_CLASS = re.compile(f"({_RANK})({_RANK})([so]?)")
_HAND = re.compile(f"({_RANK})([{SUITS}])({_RANK})([{SUITS}])")
_WEIGHT = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_EXPECTED = "expected a token like AA, AKs, AKo, AK, 77+, ATs+, QQ-88, A5s-A2s, AsKh or random"

# A class without its shape: the higher rank and the lower one, equal for a pair.
RankPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HandClasses:
    """The 169 classes of two-card hands, numbered row by row along the 13 × 13 grid."""

    names: tuple[str, ...]
    """By class: ``AA``, ``AKs``, …, ``AKo``, ``KK``, …, ``22``."""
    class_of_hand: npt.NDArray[np.int16]
    """The class of every hand: int16 [1326]."""
    sizes: npt.NDArray[np.int16]
    """Hands in every class, 6, 4 or 12: int16 [169]."""


def _class_index(high: int, low: int, suited: bool) -> int:
    row, column = TOP - high, TOP - low
    return 13 * row + column if suited else 13 * column + row


@lru_cache(maxsize=1)
def hand_classes() -> HandClasses:
    """Names, members and sizes of the 169 classes.

    >>> classes = hand_classes()
    >>> classes.names[:3], classes.names[13], int(classes.sizes.sum())
    (('AA', 'AKs', 'AQs'), 'AKo', 1326)
    """
    names = [""] * 169
    for high in range(13):
        names[_class_index(high, high, False)] = _name((high, high), "")
        for low in range(high):
            names[_class_index(high, low, True)] = _name((high, low), "s")
            names[_class_index(high, low, False)] = _name((high, low), "o")
    low_card, high_card = hand_cards().T.astype(np.int64)
    row, column = TOP - high_card // 4, TOP - low_card // 4
    suited = high_card % 4 == low_card % 4
    class_of_hand = np.where(suited, 13 * row + column, 13 * column + row).astype(np.int16)
    sizes = np.bincount(class_of_hand, minlength=169).astype(np.int16)
    class_of_hand.flags.writeable = False
    sizes.flags.writeable = False
    return HandClasses(tuple(names), class_of_hand, sizes)


def parse_range(text: str, board: Iterable[int] = ()) -> npt.NDArray[np.float32]:
    """The range that a text names: float32 [1326], hands that hold a card of ``board`` zero.

    >>> r = parse_range("AA, AsKh:0.5")
    >>> float(r.sum()), float(r[hand_index(STANDARD.card("As"), STANDARD.card("Kh"))])
    (6.5, 0.5)
    """
    weights = np.zeros(HANDS, dtype=np.float32)
    for token in "".join(text.split()).split(","):
        body, colon, weight = token.partition(":")
        weights[_token_hands(token, body)] = _parse_weight(token, weight) if colon else 1.0
    cards = tuple(board)
    weights[blocked(cards)] = 0.0
    if not weights.any():
        beside = f" beside the board {STANDARD.format(cards)}" if cards else ""
        raise InputError(f"range {text!r}: no hand is left{beside}, expected at least one")
    return weights


def format_range(weights: npt.ArrayLike, board: Iterable[int] = ()) -> str:
    """A compact text of a range [1326] that ``parse_range`` reads back bit for bit.

    Whole classes of one weight are written as classes and joined to ``ATs+``, ``QQ-88`` and the
    like; the remaining hands one by one. Of a range on a ``board`` only the unblocked hands count,
    so the text needs the same board to be read back. A plus is never written after adjacent ranks,
    because programs disagree about ``76s+``.

    >>> format_range(parse_range("KK,QQ,AA,AKs,AKo,A5s,A4s,T9s:0.5,98s:0.5,7h6h"))
    'QQ+,AK,A5s-A4s,T9s-98s:0.5,7h6h'
    """
    cards = tuple(board)
    values = _checked(weights, cards)
    free = ~blocked(cards)
    # + 0.0 turns a negative zero into a plain one
    shared = values[free] + np.float32(0.0)
    if (shared == shared[0]).all():
        return "random" + _weight_mark(shared[0])

    class_of_hand = hand_classes().class_of_hand
    least = np.full(169, np.inf, dtype=np.float32)
    most = np.zeros(169, dtype=np.float32)
    np.minimum.at(least, class_of_hand[free], shared)
    np.maximum.at(most, class_of_hand[free], shared)
    # zero for classes that are empty, mixed, or entirely blocked
    whole = np.where(least == most, most, np.float32(0.0))

    pairs = _spans(whole, gaps=range(1), suited=False)
    suited = _spans(whole, gaps=range(1, 13), suited=True)
    offsuit = _spans(whole, gaps=range(1, 13), suited=False)
    tokens = [_span_text(span, "", pairs[span]) for span in pairs]
    for span, weight in suited.items():
        # the same span in both shapes is written once, without a mark
        both = offsuit.get(span) == weight
        tokens.append(_span_text(span, "" if both else "s", weight))
        if both:
            del offsuit[span]
    tokens += [_span_text(span, "o", weight) for span, weight in offsuit.items()]
    single = (values > 0) & (whole[class_of_hand] == 0)
    for hand in np.flatnonzero(single)[::-1]:
        tokens.append(STANDARD.format(hand_cards()[hand][::-1]) + _weight_mark(values[hand]))
    return ",".join(tokens)


def range_grid(weights: npt.ArrayLike, board: Iterable[int] = ()) -> npt.NDArray[np.float64]:
    """Mean weight by class over the hands that ``board`` leaves: float64 [13, 13].

    Rows and columns run from ace to deuce, suited hands above the diagonal. A class that is
    blocked entirely has mean 0.

    >>> range_grid(parse_range("AKs,AKo:0.25"))[:2, :2]
    array([[0.  , 1.  ],
           [0.25, 0.  ]])
    """
    cards = tuple(board)
    values = _checked(weights, cards, may_be_empty=True)
    class_of_hand = hand_classes().class_of_hand
    free = ~blocked(cards)
    total = np.bincount(class_of_hand[free], values[free].astype(np.float64), minlength=169)
    count = np.bincount(class_of_hand[free], minlength=169)
    return (total / np.maximum(count, 1)).reshape(13, 13)


def format_grid(grid: npt.ArrayLike) -> str:
    """A grid [13, 13] of weights from 0 to 1 as text: percentages, a dot for zero."""
    ranks = RANKS[::-1]
    lines = [" " + "".join(f"{rank:>4}" for rank in ranks)]
    for rank, row in zip(ranks, np.asarray(grid, dtype=np.float64), strict=True):
        lines.append(rank + "".join(f"{100 * x:4.0f}" if x else "   ." for x in row))
    return "\n".join(lines)


def _token_hands(token: str, body: str) -> npt.NDArray[np.bool_] | slice | int:
    """An index of the hands that a token without its weight names."""
    if body == "random":
        return slice(None)
    if match := _HAND.fullmatch(body):
        a, b = (STANDARD.card(match[i].upper() + match[i + 1]) for i in (1, 3))
        if a == b:
            raise InputError(f"range token {token!r}: expected two different cards, as in AsKh")
        return hand_index(a, b)
    pairs, mark = _token_classes(token, body)
    wanted = np.zeros(169, dtype=np.bool_)
    for high, low in pairs:
        if mark != "o":
            wanted[_class_index(high, low, True)] = True
        if mark != "s":
            wanted[_class_index(high, low, False)] = True
    return wanted[hand_classes().class_of_hand]


def _token_classes(token: str, body: str) -> tuple[list[RankPair], str]:
    """The classes of tokens like ``AK``, ``ATs+`` and ``QQ-88``, and their mark: s, o or none."""
    first, dash, second = body.partition("-")
    if dash:
        (a, mark), (b, other) = _parse_class(token, first), _parse_class(token, second)
        a, b = max(a, b), min(a, b)
        (high, low), (end_high, end_low) = a, b
        if mark != other:
            raise InputError(f"range token {token!r}: expected both ends suited or both offsuit")
        if high - low == end_high - end_low:
            return [(high - i, low - i) for i in range(high - end_high + 1)], mark
        if high == end_high and low < high and end_low < high:
            return [(high, kicker) for kicker in range(end_low, low + 1)], mark
        raise InputError(
            f"range token {token!r}: expected two pairs, two hands with one high card, or two with "
            "the same gap, as in QQ-88, A5s-A2s or JTs-76s"
        )
    (high, low), mark = _parse_class(token, body.removesuffix("+"))
    if not body.endswith("+"):
        return [(high, low)], mark
    if high - low <= 1:
        return [(high + i, low + i) for i in range(TOP - high + 1)], mark
    return [(high, kicker) for kicker in range(low, high)], mark


def _parse_class(token: str, text: str) -> tuple[RankPair, str]:
    match = _CLASS.fullmatch(text)
    if not match:
        raise InputError(f"range token {token!r}: {_EXPECTED}")
    a, b = (RANKS.index(match[i].upper()) for i in (1, 2))
    if a == b and match[3]:
        raise InputError(f"range token {token!r}: expected a pair without s or o, as in AA")
    return (max(a, b), min(a, b)), match[3]


def _parse_weight(token: str, text: str) -> np.float32:
    if not _WEIGHT.fullmatch(text) or float(text) > 1:
        raise InputError(f"range token {token!r}: expected a weight from 0 to 1, as in AKo:0.5")
    return np.float32(float(text))


def _checked(
    weights: npt.ArrayLike, board: tuple[int, ...], may_be_empty: bool = False
) -> npt.NDArray[np.float32]:
    """The weights as float32 [1326], refused where they are no range on this board."""
    values = np.asarray(weights, dtype=np.float32)
    if values.shape != (HANDS,):
        raise InputError(f"range of shape {values.shape}: expected ({HANDS},)")
    # not (…) so that nan is caught too
    wrong = ~((values >= 0) & (values <= 1))
    wrong |= blocked(board) & (values != 0)
    if wrong.any():
        hand = int(wrong.argmax())
        name = STANDARD.format(hand_cards()[hand][::-1])
        raise InputError(
            f"range weight {values[hand]} of {name}: expected 0 to 1, and 0 for blocked hands"
        )
    if not may_be_empty and not values.any():
        raise InputError("range of zeros: expected at least one hand")
    return values


def _spans(
    whole: npt.NDArray[np.float32], gaps: range, suited: bool
) -> dict[tuple[RankPair, RankPair], np.float32]:
    """Covers the classes of one shape with spans (first, last) of one weight, highest first.

    Taking spans of kickers first (``ATs+``) and taking spans of one gap first (``JTs-76s``) are
    both tried, and the one that needs fewer tokens is kept.
    """
    weights: dict[RankPair, np.float32] = {}
    for gap in gaps:
        for high in range(gap, 13):
            weight = whole[_class_index(high, high - gap, suited)]
            if weight > 0:
                weights[high, high - gap] = weight
    kickers = [[(high, low) for low in range(high - 1, -1, -1)] for high in range(TOP, 0, -1)]
    diagonals = [[(high, high - gap) for high in range(TOP, gap - 1, -1)] for gap in gaps]
    spans = min(_cover(weights, kickers + diagonals), _cover(weights, diagonals + kickers), key=len)
    return dict(sorted(spans.items(), reverse=True))


def _cover(
    weights: dict[RankPair, np.float32], lines: list[list[RankPair]]
) -> dict[tuple[RankPair, RankPair], np.float32]:
    """Takes runs of equal weight from the lines in turn; what is left spans only itself."""
    left = dict(weights)
    spans = {}
    for line in lines:
        along = [left.get(pair) for pair in line]
        for weight, group in groupby(range(len(line)), key=along.__getitem__):
            run = [line[i] for i in group]
            if weight is not None and len(run) > 1:
                spans[run[0], run[-1]] = weight
                for pair in run:
                    del left[pair]
    return spans | {(pair, pair): weight for pair, weight in left.items()}


def _span_text(span: tuple[RankPair, RankPair], mark: str, weight: np.float32) -> str:
    first, last = span
    (high, low), (last_high, _) = span
    if first == last:
        text = _name(first, mark)
    elif (high == low == TOP) or (high == last_high and low == high - 1):
        text = _name(last, mark) + "+"
    else:
        text = f"{_name(first, mark)}-{_name(last, mark)}"
    return text + _weight_mark(weight)


def _name(pair: RankPair, mark: str) -> str:
    return RANKS[pair[0]] + RANKS[pair[1]] + mark


def _weight_mark(weight: np.float32) -> str:
    """``:w`` with the fewest digits that give the same float32 back, nothing for 1."""
    if weight == 1:
        return ""
    text = str(weight)
    # The fewest digits are chosen for reading straight into float32. Reading goes through a double,
    # and rounding twice may in rare cases end one step aside; all digits of the double never do.
    return ":" + (text if np.float32(float(text)) == weight else repr(float(weight)))
