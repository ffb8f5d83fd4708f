"""The end of a betting round from the start of the next: the mean over the cards to come.

For a hand h at the end of a round, with both ranges of sum 1 and values in pots,

    V(h) = chance · Σ over deals c that leave h possible of m(c) · V_c(h),

where m(c) is the opponent's mass that c leaves possible, V_c the value at the start of the next
round for the two ranges without the hands that c rules out, each normalised again, and chance is
that of a deal given two hands: 1/44 for a river, 1/45 for a turn, 1/17,296 for a flop.

``mean_values`` works on tensors of any device, in pieces; ``mean_values_plain`` is what it means.
Where there are too many deals, a random selection estimates the mean without bias.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepstack.cards.notation import blocked, hand_cards
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.values.inputs import Inputs, Situations, Tables, check_boards, live_hands

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]
StartValues = Callable[[Situations], Tensor]
"""Values [N, 2, H] in pots at the start of a round, as those of a ``ValueNetwork``."""

EVALUATIONS = 64
"""Situations that are evaluated together on the CPU: what they need stays in the caches."""
DEVICE_EVALUATIONS = 4096
"""The same on other devices."""


class Deals(NamedTuple):
    """What may come next on B boards with H live hands: C deals each, that leave H' hands.

    Attributes:
        tables: of the B · C boards after the deals, board by board.
        place: int64 [B, C, H'] every hand after a deal as a place among the H before it.
        back: int64 [B, C, H] every hand before a deal as a place among the H' after it, and H'
            where the deal takes a card of it.
        weight: float32 [B, H] by which the sum over the deals becomes the mean.
    """

    tables: Tables
    place: Tensor
    back: Tensor
    weight: Tensor


def next_deals(
    inputs: Inputs,
    boards: npt.ArrayLike,
    device: torch.device | str = "cpu",
    *,
    most: int | None = None,
    rng: np.random.Generator | None = None,
) -> Deals:
    """The deals after boards [B, cards], for a network of the next round with these inputs.

    Args:
        inputs: of the network at the start of the next round.
        boards: at the end of a round.
        device: of the result.
        most: if there are more deals than so many, ``rng`` selects that many for every board. The
            deals selected that leave a hand possible are then a uniform selection of all of them,
            so that every hand's mean over its own is unbiased.
        rng: needed with ``most``.
    """
    game = inputs.game
    given = np.asarray(boards)
    given = given if given.size else given.astype(np.int64)  # a list without cards has no kind
    before = given.shape[1] if given.ndim == 2 else -1
    rounds = [game.board_size(r) for r in range(game.rounds)]
    if inputs.cards not in rounds[1:] or before != rounds[rounds.index(inputs.cards) - 1]:
        raise InputError(
            f"boards of shape {given.shape}: expected those of the round before one with "
            f"{inputs.cards} cards"
        )
    given = check_boards(game, before, given)
    count, left = inputs.cards - before, len(game.deck) - before
    dealt = _selected(combinations_of(left, count), len(given), most, rng)  # [B, C, count]
    after = _boards_after(game, given, dealt)  # [B, C, cards]
    size = after.shape[:2]
    tables = inputs.tables(after.reshape(-1, inputs.cards))
    hands, hands_after = live_hands(game, given), tables.hands.numpy().reshape(*size, -1)
    place = np.empty_like(hands_after)
    back = np.full((*size, hands.shape[1]), hands_after.shape[2], np.int64)
    for b in range(len(given)):
        number = np.zeros(game.hands, np.int64)
        number[hands[b]] = np.arange(hands.shape[1])
        place[b] = number[hands_after[b]]
        np.put_along_axis(back[b], place[b], np.arange(hands_after.shape[2])[None], axis=1)
    possible = (back < hands_after.shape[2]).sum(axis=1)
    whole = comb(left - game.hole_cards, count) / comb(left - 2 * game.hole_cards, count)
    weight = np.divide(whole, possible, out=np.zeros(possible.shape), where=possible > 0)
    arrays = (place, back, weight.astype(np.float32))
    return Deals(tables.to(device), *(torch.from_numpy(array).to(device) for array in arrays))


def combinations_of(left: int, count: int) -> Ints:
    """All ways to deal so many of the cards that are left, as places among them: [C, count]."""
    return np.array(list(combinations(range(left), count)), np.int64)


def _selected(every: Ints, boards: int, most: int | None, rng: np.random.Generator | None) -> Ints:
    """[boards, C, count]: all deals, or some for each board."""
    if most is None or len(every) <= most:
        return np.broadcast_to(every, (boards, *every.shape))
    if most < 1 or rng is None:
        raise InputError(f"deals {most}: expected at least 1, and a generator to select them")
    chosen = [np.sort(rng.choice(len(every), most, replace=False)) for _ in range(boards)]
    return every[np.array(chosen, np.int64).reshape(boards, most)]


def _boards_after(game: Game, boards: Ints, dealt: Ints) -> Ints:
    """Boards [B, C, cards + count] after deals [B, C, count] of places among the cards left."""
    lies = np.zeros((len(boards), len(game.deck)), bool)
    np.put_along_axis(lies, boards, True, axis=1)
    left = np.nonzero(~lies)[1].reshape(len(boards), -1)
    rows = np.arange(len(boards))[:, None, None]
    shown = np.broadcast_to(boards[:, None], (*dealt.shape[:2], boards.shape[1]))
    return np.concatenate([shown, left[rows, dealt]], axis=2)


def normalised(reach: Tensor) -> tuple[Tensor, Tensor]:
    """Ranges [..., H] of sum 1 from reach [..., H], and the reach's mass [...].

    Where nobody comes with any hand, the range is uniform: any will do.
    """
    mass = reach.sum(-1)
    some = mass > 0
    share = torch.where(some, 1 / mass.clamp(min=1e-30), 0.0)
    even = torch.where(some, 0.0, 1.0 / reach.shape[-1])
    return torch.addcmul(even[..., None], reach, share[..., None]), mass


def in_pieces(
    values: StartValues, situations: Situations, evaluations: int | None = None
) -> Tensor:
    """Values [N, 2, H] of situations, so many at a time."""
    count = len(situations.ranges)
    size = _piece(situations.ranges, evaluations)
    if count <= size:
        return values(situations)
    found = torch.empty_like(situations.ranges)
    for first in range(0, count, size):
        rows = slice(first, first + size)
        place, fraction = situations.place[rows], situations.pot_fraction[rows]
        part = Situations(situations.ranges[rows], fraction, place, situations.tables)
        found[rows] = values(part)
    return found


def _piece(ranges: Tensor, evaluations: int | None) -> int:
    if evaluations is not None:
        return max(1, evaluations)
    return EVALUATIONS if ranges.device.type == "cpu" else DEVICE_EVALUATIONS


def mean_values(
    values: StartValues,
    deals: Deals,
    board: Tensor,
    pot_fraction: Tensor,
    ranges: Tensor,
    *,
    evaluations: int | None = None,
) -> Tensor:
    """Values [N, 2, H] in pots at the end of a round: the mean over deals of those after them.

    Args:
        values: at the start of the next round; asked about N · C situations.
        deals: that may come.
        board: int64 [N] the board of each situation, as its place in the deals.
        pot_fraction: float32 [N] the pot as a share of both stacks.
        ranges: float32 [N, 2, H], each of sum 1, over the live hands in ascending order.
        evaluations: how many situations are asked about at a time.
    """
    _, count, after = deals.place.shape
    size = _piece(ranges, evaluations)
    # as many situations at a time as go with all their deals, or one with some of its deals
    group, step = max(1, size // count), min(count, size)
    total = torch.zeros_like(ranges)
    for first in range(0, len(ranges), group):
        rows = slice(first, first + group)
        here, which = ranges[rows], board[rows]
        for begin in range(0, count, step):
            part = slice(begin, begin + step)
            place = deals.place[which, part]  # [n, c, H']
            n, c = place.shape[:2]
            given = here[:, None].expand(-1, c, -1, -1)
            given = given.gather(3, place[:, :, None].expand(-1, -1, 2, -1))
            after_deal, mass = normalised(given)  # [n, c, 2, H'], [n, c, 2]
            numbers = which[:, None] * count + torch.arange(begin, begin + c, device=which.device)
            said = values(
                Situations(
                    after_deal.reshape(n * c, 2, after),
                    pot_fraction[rows, None].expand(-1, c).reshape(-1),
                    numbers.reshape(-1),
                    deals.tables,
                )
            ).reshape(n, c, 2, after)
            said = torch.nn.functional.pad(said * mass.flip(2)[..., None], (0, 1))
            back = deals.back[which, part][:, :, None].expand(-1, -1, 2, -1)
            total[rows] += said.gather(3, back).sum(1)
    return total * deals.weight[board][:, None]


def mean_values_plain(
    values: Callable[[tuple[int, ...], Floats], Floats],
    game: Game,
    board: tuple[int, ...],
    count: int,
    ranges: Floats,
) -> npt.NDArray[np.float64]:
    """The meaning of ``mean_values``, card by card and hand by hand: [2, hands of the game].

    Args:
        values: [2, hands] in pots on a board, for ranges [2, hands] of sum 1.
        board: at the end of a round; ``count`` cards are dealt next.
        ranges: [2, hands] of sum 1.
    """
    deck, held = range(len(game.deck)), hand_cards(len(game.deck), game.hole_cards)
    left = [card for card in deck if card not in board]
    chance = 1 / comb(len(left) - 2 * game.hole_cards, count)
    total = np.zeros((2, game.hands))
    for cards in combinations(left, count):
        dead = blocked((*board, *cards), len(game.deck), game.hole_cards)
        without = np.where(dead, 0.0, np.asarray(ranges, np.float64))
        mass = without.sum(axis=1)
        said = values((*board, *cards), without / mass[:, None])
        for player in (0, 1):
            for hand in range(game.hands):
                if not {*cards, *board} & {int(card) for card in held[hand]}:
                    total[player, hand] += chance * mass[1 - player] * said[player, hand]
    return total
