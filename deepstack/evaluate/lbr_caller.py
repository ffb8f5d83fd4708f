"""What local best response wins from always-call in hold'em, exactly.

A caller's hands stay equally likely and no bet makes it fold, so the responder puts all its chips
in at the first active round in which it wins more than half of the time (Lisý and Bowling 2017);
until then it checks and calls. What that is worth is a mean over its hands and all boards. No code
is shared with the played hands but the strength of cards and the table before the flop.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.cards.boards import canonical_boards
from deepstack.cards.notation import STANDARD, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.evaluate.card_blind_kernels import showdown_counts
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress
from deepstack.solver.batched_equity import allin_margins

Floats = npt.NDArray[np.float64]
SHOWDOWNS = 990  # hands that an opponent can hold at the showdown


def lbr_against_caller(game: Game, progress: Progress | None = None) -> list[float]:
    """Chips a hand with all-in in the rounds from the first, second, third and fourth on.

    ``progress`` counts 1,755 flops. Takes about a minute.
    """
    if game.limit or game.board_cards != (0, 3, 1, 1) or game.deck != STANDARD:
        raise InputError(f"game {game.name}: expected no-limit hold'em of two players")
    low, high = float(game.big_blind), float(min(game.stacks))
    margins = allin_margins(())
    before = 0.5 + margins.counts.sum(axis=1) / (2.0 * margins.run_outs * 1225)
    flops, totals, mass = canonical_boards(3), np.zeros(4), 0.0
    for flop, weight in zip(flops.cards, flops.weights, strict=True):
        live, wins, values = _below_flop(flop, low, high)
        second = _all_in(wins, values[0], high)
        starts = [_all_in(before, second, high), second, *values]
        totals += weight * np.array([value[live].sum() for value in starts])
        mass += weight * live.sum()
        if progress is not None:
            progress.update(1)
    return [float(total) for total in totals / mass]


def _all_in(wins: Floats, later: Floats, high: float) -> Floats:
    """All-in where that wins more than half of the time, else what comes later."""
    return np.where(wins > 0.5, high * (2 * wins - 1), later)


def _below_flop(
    flop: npt.NDArray[np.int64], low: float, high: float
) -> tuple[npt.NDArray[np.bool_], Floats, tuple[Floats, Floats]]:
    """Of every hand on a flop [H]: whether it can be held, its chance to win, its values.

    The values are those of waiting for the turn and of waiting for the river.
    """
    left = np.delete(np.arange(52), flop)
    first, second = np.triu_indices(len(left), 1)  # the turn and the river, in either order
    run_outs = len(first)
    boards = np.empty((run_outs, 5), np.uint8)
    boards[:, :3], boards[:, 3], boards[:, 4] = flop, left[first], left[second]
    counts = np.empty((1326, run_outs), np.int16)
    showdown_counts(board_strengths(boards), hand_cards(), 52, counts)
    held = counts >= 0  # [H, run-outs]
    wins = np.where(held, counts / (2.0 * SHOWDOWNS), 0.0)
    river = np.where(held, _all_in(wins, low * (2 * wins - 1), high), 0.0)
    turns = np.zeros((run_outs, len(left)))  # which turns a run-out belongs to: both of its cards
    turns[np.arange(run_outs), first] = turns[np.arange(run_outs), second] = 1.0
    rivers = held @ turns  # [H, turns]: 46, or 0 where the hand holds the card
    known = np.maximum(rivers, 1.0)
    wait = river @ turns / known
    turn = np.where(rivers > 0, _all_in(wins @ turns / known, wait, high), 0.0)
    live = np.asarray(held.any(axis=1))
    number = np.maximum((rivers > 0).sum(axis=1), 1)
    chance = wins.sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    return live, chance, (turn.sum(axis=1) / number, wait.sum(axis=1) / number)
