"""What a called all-in is worth: exact equity of every hand against every other.

Given both hands, every run-out of the board is equally likely, so a called all-in is worth chips
times (wins − losses) / run-outs: one dense matrix a board. Wins are counted by comparing strengths
on every full board. On the turn that takes some milliseconds, on the flop about a tenth of a
second. The counts before the flop are shipped, of one hand of every class of suits;

    python -m deepstack.solver.batched_equity

makes the file again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deepstack.cards.boards import canonical_boards, hand_permutation, suit_permutations_fixing
from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import Game, load_game
from deepstack.game.showdown import strengths_of
from deepstack.run.files import replacing

PREFLOP = Path(__file__).with_name("batched_preflop.npz")
_CHUNK = 2500  # boards a pass: counts are 16-bit, and a canonical board stands for 24 at most
_TILE = 64  # rows of counts that are kept in the nearest cache

Floats = npt.NDArray[np.float32]


class Margins(NamedTuple):
    """Wins minus losses of every hand (row) against every other, counted over run-outs."""

    counts: npt.NDArray[np.signedinteger]  # [H, H], of the smallest type that holds them
    run_outs: int


def allin_equity(board: Sequence[int], game: Game | None = None) -> Floats:
    """Wins minus losses over all run-outs, divided by their number: float32 [H, H].

    Rows and columns are the hands that hold no card of the board, in order of their index; the
    matrix is zero where two hands share a card, and antisymmetric. The value of hand h, in what
    the loser has put in, is ``allin_equity(board)[h] @ reach`` of the opponent. The game is hold'em
    unless given.
    """
    margins = allin_margins(board, game)
    return (margins.counts / np.float32(margins.run_outs)).astype(np.float32, copy=False)


def allin_margins(board: Sequence[int], game: Game | None = None) -> Margins:
    """The counts behind ``allin_equity``: a quarter of its size on the turn, and exact."""
    rules = load_game("hunl") if game is None else game
    left = len(rules.deck) - len(board) - 2 * rules.hole_cards
    run_outs = comb(left, rules.board_size(rules.rounds - 1) - len(board))
    hold_em = rules.showdown == "five-card" and rules.hole_cards == 2
    if hold_em and not len(board):
        return Margins(_preflop(), run_outs)
    live = ~blocked(board, len(rules.deck), rules.hole_cards)
    strengths = _run_outs(rules, tuple(int(card) for card in board), hold_em)[:, live]
    wins = np.zeros((int(live.sum()),) * 2, np.int32)
    for first in range(0, len(strengths), _CHUNK):
        part = np.ascontiguousarray(strengths[first : first + _CHUNK])
        _count_wins(part, np.ones(len(part), np.uint16), _TILE, wins)
    counts = np.zeros(wins.shape, np.min_scalar_type(-run_outs))
    _subtract_losses(wins, hand_cards(len(rules.deck), rules.hole_cards)[live], counts)
    return Margins(counts, run_outs)


def allin_values(
    counts: npt.NDArray[np.signedinteger],
    run_outs: int,
    reach: npt.NDArray[np.floating],
    out: npt.NDArray[np.floating],
    boards: range | None = None,
) -> None:
    """Values of called all-ins for one chip, on the processor: the product with the equity.

    Reads the small counts [B, H, H] of B boards (``allin_margins``), which is what such a product
    waits for, and works on four of the T rows at a time.

    Args:
        counts: of every board.
        run_outs: of each of them.
        reach: [T, B, H] of the opponent.
        out: [T, B, H] takes the values.
        boards: which boards; all unless given.
    """
    chosen = range(len(counts)) if boards is None else boards
    share = reach.dtype.type(1.0 / run_outs)
    _apply_counts(counts, reach, share, chosen.start, chosen.stop, out)


def _run_outs(game: Game, board: tuple[int, ...], hold_em: bool) -> npt.NDArray[np.uint16]:
    """Strengths [run-outs, hands of the game] on every full board; 0 where a hand is blocked."""
    missing = game.board_size(game.rounds - 1) - len(board)
    left = [card for card in range(len(game.deck)) if card not in board]
    full = np.array([board + rest for rest in combinations(left, missing)], np.int64)
    if hold_em:
        return board_strengths(full).astype(np.uint16)
    held = hand_cards(len(game.deck), game.hole_cards)
    strengths = np.zeros((len(full), len(held)), np.uint16)
    for row, cards in zip(strengths, full, strict=True):
        live = ~blocked(cards, len(game.deck), game.hole_cards)
        shown = np.concatenate([held[live], np.tile(cards, (int(live.sum()), 1))], axis=1)
        row[live] = 1 + np.unique(strengths_of(game, shown), return_inverse=True)[1]
    return strengths


@njit(cache=True, nogil=True)
def _count_wins(strengths, weights, tile, wins):
    """Add the weights of the boards on which a hand (row) beats another (column).

    strengths uint16 [boards, H], 0 where blocked; weights uint16 [boards], with a sum below 2^16;
    wins int32 [H, H].
    """
    boards, hands = strengths.shape
    others = np.empty(hands, np.uint16)
    counts = np.empty((tile, hands), np.uint16)
    for first in range(0, hands, tile):
        last = min(first + tile, hands)
        counts[:] = 0
        for b in range(boards):
            # One less, so that blocked hands wrap round to the top, where nobody beats them.
            for o in range(hands):
                others[o] = np.uint16(strengths[b, o] - np.uint16(1))
            weight = weights[b]
            for h in range(first, last):
                if strengths[b, h] == 0:
                    continue
                mine = others[h]
                row = counts[h - first]
                for o in range(hands):
                    row[o] += weight if others[o] < mine else np.uint16(0)
        for h in range(first, last):
            for o in range(hands):
                wins[h, o] += counts[h - first, o]


@njit(cache=True, nogil=True)
def _subtract_losses(wins, held, counts):
    """Wins minus losses, left at zero where hands share a card.

    wins int32 [H, H], held [H, cards], counts [H, H].
    """
    hands, cards = held.shape
    for h in range(hands):
        for o in range(h):
            clash = False
            for c in range(cards):
                for d in range(cards):
                    clash |= held[h, c] == held[o, d]
            if not clash:
                margin = wins[h, o] - wins[o, h]
                counts[h, o], counts[o, h] = margin, -margin


# Sums may be reordered, so that sixteen hands are added at a time.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _apply_counts(counts, reach, share, begin, end, out):
    """out[t, b] = share * counts[b] @ reach[t, b] for the boards ``begin`` … ``end - 1``.

    counts [B, H, H], reach and out [T, B, H].
    """
    rows, hands = reach.shape[0], reach.shape[2]
    real = reach.dtype.type
    for b in range(begin, end):
        t = 0
        while t + 4 <= rows:
            r0, r1, r2, r3 = reach[t, b], reach[t + 1, b], reach[t + 2, b], reach[t + 3, b]
            for h in range(hands):
                row = counts[b, h]
                v0 = v1 = v2 = v3 = real(0)
                for o in range(hands):
                    x = real(row[o])
                    v0 += x * r0[o]
                    v1 += x * r1[o]
                    v2 += x * r2[o]
                    v3 += x * r3[o]
                out[t, b, h], out[t + 1, b, h] = v0 * share, v1 * share
                out[t + 2, b, h], out[t + 3, b, h] = v2 * share, v3 * share
            t += 4
        while t < rows:
            second = min(t + 1, rows - 1)  # the last row of an odd number comes twice
            r0, r1 = reach[t, b], reach[second, b]
            for h in range(hands):
                row = counts[b, h]
                v0 = v1 = real(0)
                for o in range(hands):
                    x = real(row[o])
                    v0 += x * r0[o]
                    v1 += x * r1[o]
                out[t, b, h], out[second, b, h] = v0 * share, v1 * share
            t += 2


# ---- before the flop


@cache
def _preflop() -> npt.NDArray[np.int32]:
    """The counts [1326, 1326], from those that are shipped."""
    with np.load(PREFLOP) as file:
        hands, margins = file["hands"], file["margins"]
    counts = np.zeros((margins.shape[1],) * 2, np.int32)
    for relabelling in suit_permutations_fixing(()):
        image = hand_permutation(relabelling)
        counts[image[hands][:, None], image[None, :]] = margins
    counts.flags.writeable = False  # shared by all callers
    return counts


def preflop_margins() -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]:
    """One hand of each of the 169 classes, and its wins minus losses [169, 1326] over run-outs.

    Boards that differ by a relabelling of suits are compared once; the margins of a hand are then
    summed over the relabellings of both hands. Takes about ten seconds.
    """
    relabellings = suit_permutations_fixing(())
    images = np.stack([hand_permutation(row) for row in relabellings])  # [24, 1326]
    hands = np.unique(images.min(axis=0))
    boards = canonical_boards(5)
    count = images.shape[1]
    wins = np.zeros((count, count), np.int32)
    for first in range(0, len(boards.cards), _CHUNK):
        part = slice(first, first + _CHUNK)
        strengths = board_strengths(boards.cards[part]).astype(np.uint16)
        _count_wins(strengths, boards.weights[part].astype(np.uint16), _TILE, wins)
    margin = wins - wins.T
    total = np.zeros((len(hands), count), np.int64)
    for image in images:
        total += margin[image[hands][:, None], image[None, :]]
    held = hand_cards()
    clash = (held[hands][:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
    total[clash] = 0
    return hands.astype(np.int16), (total // len(images)).astype(np.int32)


def main() -> None:
    """Make the shipped file."""
    hands, margins = preflop_margins()
    with replacing(PREFLOP) as aside:
        np.savez_compressed(aside, hands=hands, margins=margins)
    print(f"{PREFLOP.name}: {PREFLOP.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
