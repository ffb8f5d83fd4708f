"""Numba kernels of the best response to a player who ignores their cards.

What they compute is defined by the ``_plain`` functions of ``card_blind.py``. All of them release
the interpreter, so that threads can work on different boards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel

BLOCKED = -1  # the count of a hand that shares a card with the board
LANES = 128  # hands that a betting program handles at a time: its stack stays in the cache
DIGIT = 7  # bits of a strength that one pass of the radix sort looks at; strengths are below 2**14

LEAF, SCALE, ADD, MAX, STORE = range(5)


class Program(NamedTuple):
    """A round of betting for a stack machine, I instructions that each work on all hands.

    ``LEAF`` pushes offset + factor · inputs[column]. ``SCALE`` multiplies the top by factor.
    ``ADD`` pops a value and adds it, times factor, to the one below; ``MAX`` pops a value and
    leaves the greater of the two. ``STORE`` pops a value into outputs[column].
    """

    op: npt.NDArray[np.int64]  # [I]
    column: npt.NDArray[np.int64]  # [I]
    offset: npt.NDArray[np.float64]  # [I]
    factor: npt.NDArray[np.float64]  # [I]
    outputs: int
    depth: int  # the most values that the stack holds


@kernel
def run_program(program, inputs, outputs):
    """Run a program on float64 [columns, H] ``inputs`` into float64 [columns, H] ``outputs``."""
    hands = inputs.shape[1]
    stack = np.empty((program.depth, LANES))
    for start in range(0, hands, LANES):
        n = min(LANES, hands - start)
        height = 0
        for i in range(program.op.size):
            op, column = program.op[i], program.column[i]
            offset, factor = program.offset[i], program.factor[i]
            if op == LEAF:
                height += 1
                top, source = stack[height - 1], inputs[column, start : start + n]
                for h in range(n):
                    top[h] = offset + factor * source[h]
            elif op == SCALE:
                top = stack[height - 1]
                for h in range(n):
                    top[h] *= factor
            elif op == STORE:
                top, result = stack[height - 1], outputs[column, start : start + n]
                for h in range(n):
                    result[h] = top[h]
                height -= 1
            else:
                height -= 1
                top, popped = stack[height - 1], stack[height]
                if op == ADD:
                    for h in range(n):
                        top[h] += factor * popped[h]
                else:
                    for h in range(n):
                        top[h] = top[h] if top[h] > popped[h] else popped[h]


@kernel
def _sort_hands(strengths, half, order):
    """Unblocked hands of int16 [H] ``strengths`` into ``order``, weakest first; how many.

    A radix sort of two digits; half: int16 [H], scratch.
    """
    low = np.zeros((1 << DIGIT) + 1, np.int64)
    high = np.zeros((1 << DIGIT) + 1, np.int64)
    mask = (1 << DIGIT) - 1
    for h in range(strengths.size):
        s = strengths[h]
        if s > 0:
            low[(s & mask) + 1] += 1
            high[(s >> DIGIT) + 1] += 1
    for digit in range(mask):
        low[digit + 1] += low[digit]
        high[digit + 1] += high[digit]
    n = 0
    for h in range(strengths.size):
        s = strengths[h]
        if s > 0:
            half[low[s & mask]] = h
            low[s & mask] += 1
            n += 1
    for i in range(n):
        digit = strengths[half[i]] >> DIGIT
        order[high[digit]] = half[i]
        high[digit] += 1
    return n


@kernel
def showdown_counts(strengths, cards, deck, out):
    """``showdown_counts_plain``: int16 [n, H] strengths to int16 [H, n] ``out``.

    cards: int16 [H, hole], hole 1 or 2, of a deck of ``deck`` cards.

    One sweep over hands from the weakest up. Of the hands seen so far, those that share a card
    with a hand are the ones that hold its first card and the ones that hold its second; only the
    hand itself holds both.
    """
    boards, hands = strengths.shape
    hole = cards.shape[1]
    half, order = np.empty(hands, np.int16), np.empty(hands, np.int16)
    seen_with = np.empty(deck, np.int64)
    out[:] = BLOCKED
    for b in range(boards):
        of = strengths[b]
        n = _sort_hands(of, half, order)
        seen_with[:] = 0
        first = 0
        while first < n:
            last = first
            while last < n and of[order[last]] == of[order[first]]:
                last += 1
            for i in range(first, last):
                h = order[i]
                weaker = first
                for c in range(hole):
                    weaker -= seen_with[cards[h, c]]
                out[h, b] = weaker
            for i in range(first, last):
                for c in range(hole):
                    seen_with[cards[order[i], c]] += 1
            for i in range(first, last):
                h = order[i]
                not_stronger = last + hole - 1  # the hand itself counts 1 - hole below
                for c in range(hole):
                    not_stronger -= seen_with[cards[h, c]]
                out[h, b] += not_stronger
            first = last


@kernel
def sum_table(counts, weights, table, out):
    """``sum_table_plain``: int16 [H, n] counts and float64 [n] weights to float64 [columns, H].

    table: float64 [counts, columns], so that what a count looks up is contiguous.
    """
    hands, boards = counts.shape
    columns = table.shape[1]
    total = np.empty(columns)
    for h in range(hands):
        total[:] = 0.0
        for b in range(boards):
            count = counts[h, b]
            if count != BLOCKED:
                row, weight = table[count], weights[b]
                for j in range(columns):
                    total[j] += weight * row[j]
        for j in range(columns):
            out[j, h] = total[j]
