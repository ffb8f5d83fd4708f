"""The strength of poker hands: higher is stronger, equal means tie.

A strength is a number from 1 to 7462, the place of the best five cards among all five-card hands
of the 52-card deck, so strengths of five, six and seven cards compare with each other.
:func:`strength_plain` says what that means in plain Python; :func:`strength` and
:func:`board_strengths` compute it for arrays, with the kernels in ``strength_kernels`` and the
tables in ``strength_tables``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import STANDARD
from deepstack.cards.strength_kernels import (
    BLOCKED,
    HANDS,
    STRENGTHS_KERNELS,
    boards_kernel,
)
from deepstack.cards.strength_tables import (
    CLASSES,
    STRONGEST,
    five_card_value,
    numbering,
    strength_tables,
)
from deepstack.run.errors import InputError

__all__ = [
    "BLOCKED",
    "CLASSES",
    "HANDS",
    "STRONGEST",
    "board_strengths",
    "hand_class",
    "strength",
    "strength_plain",
    "strength_tables",
]

# Strengths come in runs of one class; how many different hands each class of CLASSES has.
CLASS_SIZES = (1277, 2860, 858, 858, 10, 1277, 156, 156, 10)
_FIRST_OF_CLASS = np.cumsum((1, *CLASS_SIZES[:-1]))


def strength_plain(cards: Sequence[int]) -> int:
    """The strength of 5, 6 or 7 different cards: the best five, judged by counting.

    >>> strength_plain(STANDARD.parse("AsKsQsJsTs 2c2d"))
    7462
    """
    return numbering()[
        max(
            five_card_value(
                (card // 4 for card in five), suited=len({card % 4 for card in five}) == 1
            )
            for five in combinations(cards, 5)
        )
    ]


def strength(
    cards: npt.ArrayLike, *, check: bool = True, out: npt.NDArray[np.int16] | None = None
) -> npt.NDArray[np.int16]:
    """Strengths of hands of 5, 6 or 7 cards: integers [..., k] to int16 [...].

    Fastest for a contiguous uint8 array. ``check=False`` trusts that no hand holds a card twice
    (its strength would then be meaningless) and is faster by half; numbers that are no cards
    are refused either way. ``out`` takes the result, a contiguous int16 array [...].

    >>> strength([STANDARD.parse("AsAh Kd7c4s3h2d"), STANDARD.parse("KsKh AdTc9s8h7d")])
    array([4095, 3898], dtype=int16)
    """
    array = _cards(cards, (5, 6, 7), "a hand")
    rows = array.reshape(-1, array.shape[-1])
    result = _result(out, array.shape[:-1])
    kernel = STRENGTHS_KERNELS[rows.shape[1], check]
    if kernel(strength_tables(), rows, result.reshape(-1)):
        _refuse(rows, "a hand")
    return result if result.ndim else result[()]


def board_strengths(
    boards: npt.ArrayLike, *, out: npt.NDArray[np.int16] | None = None
) -> npt.NDArray[np.int16]:
    """Strengths of all two-card hands on boards of 3, 4 or 5 cards: [..., k] to int16 [..., 1326].

    Hands are in the order of their index. A hand that shares a card with the board has strength
    ``BLOCKED`` = 0, below every other. ``out`` takes the result, a contiguous int16 array.

    >>> strengths = board_strengths(STANDARD.parse("AsKsQsJsTs"))
    >>> set(strengths.tolist()) == {BLOCKED, STRONGEST}
    True
    """
    array = _cards(boards, (3, 4, 5), "a board")
    rows = array.reshape(-1, array.shape[-1])
    result = _result(out, (*array.shape[:-1], HANDS))
    if not boards_kernel(strength_tables(), rows, result.reshape(-1, HANDS)):
        _refuse(rows, "a board")
    return result


def hand_class(strengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The class of strengths, as places in ``CLASSES``; -1 for BLOCKED.

    >>> CLASSES[hand_class(strength(STANDARD.parse("2c2d2h 7s7d")))]
    'full house'
    """
    return np.searchsorted(_FIRST_OF_CLASS, strengths, side="right") - 1


def _cards(cards: npt.ArrayLike, counts: tuple[int, ...], what: str) -> npt.NDArray[np.uint8]:
    """The cards as a contiguous uint8 array whose last axis is one of ``counts`` long.

    Numbers that uint8 holds are left for the kernels to refuse.
    """
    array: npt.NDArray[Any] = np.asarray(cards)
    expected = f"{counts[0]} to {counts[-1]}"
    if array.ndim == 0 or array.shape[-1] not in counts:
        shape = "x".join(map(str, array.shape)) or "a single number"
        raise InputError(f"cards of shape {shape}: expected {what} of {expected} cards")
    if array.dtype.kind not in "iu":
        raise InputError(f"cards of type {array.dtype}: expected integers")
    if array.dtype != np.uint8:
        if array.size and (array.min() < 0 or array.max() > 51):
            _refuse(array.reshape(-1, array.shape[-1]), what)
        array = array.astype(np.uint8)
    return np.ascontiguousarray(array)


def _result(out: npt.NDArray[np.int16] | None, shape: tuple[int, ...]) -> npt.NDArray[np.int16]:
    if out is None:
        return np.empty(shape, np.int16)
    if out.shape != shape or out.dtype != np.int16 or not out.flags.c_contiguous:
        raise InputError(
            f"out is {out.dtype} {list(out.shape)}: expected contiguous int16 {list(shape)}"
        )
    return out


def _refuse(rows: npt.NDArray[Any], what: str) -> None:
    """Raise the error that names what is wrong with the first bad row of [n, k]."""
    unknown = (rows < 0) | (rows > 51)
    if unknown.any():
        raise InputError(f"card {rows[unknown][0]}: expected 0 (2c) to 51 (As)")
    ordered = np.sort(rows, axis=1)
    first = rows[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)][0].tolist()
    twice = next(card for card in first if first.count(card) > 1)
    raise InputError(f"{what} {STANDARD.format(first)}: {STANDARD.format([twice])} stands twice")
