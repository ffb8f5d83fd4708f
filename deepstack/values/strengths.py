"""The order of hands on a board: at the showdown, or before it by their mean place over run-outs.

Before the last card a hand's place among the others is averaged over all boards to come, which is
its expected strength against a uniform hand but for card removal. Boards that differ in the names
of suits are worked out once and kept.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from deepstack.cards.boards import hand_permutation
from deepstack.cards.notation import hand_cards
from deepstack.cards.ranges import hand_classes
from deepstack.cards.strength import HANDS, STRONGEST, board_strengths, strength_tables
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.run.errors import InputError
from deepstack.values.strength_order_kernels import add_places

Ints = npt.NDArray[np.int64]

PREFLOP_BOARDS = 5000
"""Boards over which places before the flop are averaged."""
KEPT = 20_000
"""Boards, up to suits, whose order is kept: all flops and turns."""


def strength_keys(game: Game, boards: Ints, hands: Ints) -> Ints:
    """Whole numbers [B, H] of live hands [B, H] that grow with strength; equal means tie."""
    if boards.shape[1] == game.board_size(game.rounds - 1):
        return full_strengths(game, boards, hands)
    if not _is_holdem(game) or boards.shape[1] not in (0, 3, 4):
        raise InputError(
            f"boards of {boards.shape[1]} cards in {game.name}: the order of hands before the last "
            "card is known for hold'em"
        )
    if boards.shape[1] == 0:
        return np.broadcast_to(_preflop_order(), (len(boards), HANDS)).astype(np.int64)
    suits, images = _relabellings()
    rank, suit = np.divmod(boards, 4)
    relabelled = np.sort(rank * 4 + suits[:, suit], axis=2)  # [24, B, C]
    numbers = relabelled @ (64 ** np.arange(boards.shape[1])[::-1])
    chosen = numbers.argmin(axis=0)
    result = np.empty(hands.shape, np.int64)
    for row, relabelling in enumerate(chosen.tolist()):
        order = _mean_order(tuple(relabelled[relabelling, row].tolist()))
        result[row] = order[images[relabelling, hands[row]]]
    return result


def full_strengths(game: Game, boards: Ints, hands: Ints) -> Ints:
    """Strengths [B, H] of live hands on boards that are complete."""
    if boards.shape[1] != game.board_size(game.rounds - 1):
        raise InputError(
            f"boards of {boards.shape[1]} cards: expected complete boards of "
            f"{game.board_size(game.rounds - 1)} cards"
        )
    if _is_holdem(game) and boards.shape[1] == 5:
        return np.take_along_axis(board_strengths(boards), hands, axis=1).astype(np.int64)
    held = hand_cards(len(game.deck), game.hole_cards)[hands].astype(np.int64)
    cards = np.broadcast_to(boards[:, None], (*hands.shape, boards.shape[1]))
    return strengths_of(game, np.concatenate([held, cards], axis=2))


def _is_holdem(game: Game) -> bool:
    return game.showdown == "five-card" and game.hands == HANDS and game.hole_cards == 2


@lru_cache(maxsize=1)
def _relabellings() -> tuple[Ints, Ints]:
    """What suits become [24, 4], and what hands become [24, 1326]."""
    suits = np.array(list(permutations(range(4))), np.int64)
    return suits, np.stack([hand_permutation(names) for names in suits]).astype(np.int64)


@lru_cache(maxsize=KEPT)
def _mean_order(board: tuple[int, ...]) -> npt.NDArray[np.uint16]:
    """Places [1326] of hands in the order of their mean place over all run-outs; ties share one."""
    left = [card for card in range(52) if card not in board]
    run_outs = np.array(list(combinations(left, 5 - len(board))), np.uint8)
    boards = np.concatenate(
        [np.tile(np.array(board, np.uint8), (len(run_outs), 1)), run_outs], axis=1
    )
    return _dense(_places(boards))


@lru_cache(maxsize=1)
def _preflop_order() -> npt.NDArray[np.uint16]:
    """Places [1326] of hands before the flop: by the mean of their class over many boards."""
    rng = np.random.default_rng(0)
    boards = rng.permuted(np.tile(np.arange(52, dtype=np.uint8), (PREFLOP_BOARDS, 1)), axis=1)
    boards = np.ascontiguousarray(boards[:, :5])
    live = np.ones((PREFLOP_BOARDS, HANDS), bool)
    cards = hand_cards()
    for column in boards.T:
        live &= (cards[None, :, 0] != column[:, None]) & (cards[None, :, 1] != column[:, None])
    classes = hand_classes().class_of_hand
    means = np.bincount(classes, _places(boards)) / np.bincount(classes, live.sum(axis=0))
    return _dense(means[classes])


def _places(boards: npt.NDArray[np.uint8]) -> Ints:
    """Sums of places [1326] over complete boards [B, 5]; see ``add_places``."""
    total = np.zeros(HANDS, np.int64)
    add_places(strength_tables(), boards, STRONGEST, total)
    return total


def _dense(numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.uint16]:
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.uint16)
