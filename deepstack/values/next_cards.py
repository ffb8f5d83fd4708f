"""What two ranges look like on the boards after the next card: inputs of networks before the river.

On a complete board hands stand in one order, and their *mixture quantile* (``values.order``) says
nearly all. Before it every next card makes another order. A hand's **profile** is where it will
stand: the distribution, over the cards that leave it possible, of its place on the quantile axis
after the card, as weights on K knots with linear interpolation between them. For any function u on
the axis, piecewise linear between knots, Σ_k u_k profile_k(h) is exactly the mean of u over the
hand's next cards; so a network that says u once has read it off on every next board.

Beside it stand the same weights multiplied by how well the first player's range does on the card
(its lead on that board less the mean one), the mean lead itself, and mean and spread of the place.

On the CPU kernels do this (``next_kernels``); ``profile_plain`` is what it means, in tensors of any
device, and what other devices use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from deepstack.solver.simd import LANES, aligned_zeros
from deepstack.values.inputs import Situations
from deepstack.values.next_kernels import LEAST, ROOT, ROUND, SCALE, profile_lanes


class Profile(NamedTuple):
    """N situations with H live hands on an axis of K knots.

    Attributes:
        hist: float32 [N, H, K, 2] weights of knots, sum 1 over the cards that leave a hand
            possible; and these weights times the first player's lead on the card.
        lead: [N, 2, H] the opponent's mass that a hand will beat minus what it will lose to,
            in the mean over the cards; given both hands, each card is as likely as any other.
        mass: [N, 2, H] the opponent's mass that a hand leaves possible.
        places: [N, 2, H] mean and standard deviation of a hand's place on the axis, 0 to 1.
    """

    hist: Tensor
    lead: Tensor
    mass: Tensor
    places: Tensor


def profile(situations: Situations, knots: int, fine: float) -> Profile:
    """The profiles of situations with inputs ``next``, on their device."""
    if situations.ranges.device.type != "cpu":
        return profile_plain(situations, knots, fine)
    ranges = situations.ranges.numpy().astype(np.float32, copy=False)
    count, _, hands = ranges.shape
    parts = {name: part.numpy() for name, part in situations.tables.parts.items()}
    hist = np.empty((count, hands, knots, 2), np.float32)
    lead, mass, places = (np.empty((count, 2, hands), np.float32) for _ in range(3))
    board = situations.place.numpy()
    cards = parts["next_cards"].shape[1]
    scratch = aligned_zeros((4 + cards) * hands * LANES)
    lanes = aligned_zeros(2 * hands * LANES)
    by_board = np.argsort(board, kind="stable")
    starts = np.nonzero(np.diff(board[by_board], prepend=-1))[0]
    for begin, end in zip(starts, [*starts[1:], count], strict=True):
        b = board[by_board[begin]]
        for first in range(begin, end, LANES):
            rows = by_board[first : min(first + LANES, end)]
            filled = lanes.reshape(2, hands, LANES)
            filled[:, :, len(rows) :] = 0
            filled[:, :, : len(rows)] = ranges[rows].transpose(1, 2, 0)
            alone = np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows)))
            if alone:  # write where they belong
                out = [a[rows[0] : rows[-1] + 1] for a in (hist, lead, mass, places)]
            else:
                out = [
                    np.empty((len(rows), *a.shape[1:]), a.dtype) for a in (hist, lead, mass, places)
                ]
            profile_lanes(
                lanes,
                parts["held"][b],
                parts["next_cards"][b],
                parts["next_order"][b],
                parts["group_end"][b],
                np.float32(fine),
                knots,
                len(rows),
                scratch,
                *out,
            )
            if not alone:
                for array, found in zip((hist, lead, mass, places), out, strict=True):
                    array[rows] = found
    return Profile(*(torch.from_numpy(array) for array in (hist, lead, mass, places)))


def profile_plain(situations: Situations, knots: int, fine: float) -> Profile:
    """The meaning of ``profile``: card by card, hand against hand."""
    ranges = situations.ranges
    held = situations.part("held")  # [N, H, 2]
    rank, coming = situations.part("rank").long(), situations.part("next_cards")
    count, _, hands = ranges.shape
    apart = ~(held[:, :, None, :, None] == held[:, None, :, None, :]).flatten(3).any(3)
    mass = ranges.flip(1) @ apart.to(ranges.dtype)
    cards = coming.shape[1]
    hist = ranges.new_zeros(count, hands, knots, 2)
    leads, axes, worths = ranges.new_zeros(count, 2, hands), [], []
    for c in range(cards):
        here = rank[:, c]
        possible = here >= 0
        left = ranges * possible[:, None]
        whole = left.sum(2)
        share = torch.where(whole > LEAST, 1 / whole.clamp(min=LEAST), 0.0)
        mixture = (left * share[..., None] / 2).sum(1)
        groups = mixture.new_zeros(count, hands).scatter_add(1, here.clamp(min=0), mixture)
        below = groups.cumsum(1)
        quantile = (below - groups / 2).gather(1, here.clamp(min=0)).clamp(0, 1)
        bent = 1 - ((1 - quantile + ROUND).sqrt() - ROOT) * SCALE
        axis = (1 - fine) * quantile + fine * bent
        axes.append(torch.where(possible, axis, -1.0))
        sign = torch.sign(here[:, :, None] - here[:, None]).to(ranges.dtype)
        sign = sign * apart * possible[:, :, None] * possible[:, None]
        lead = (sign @ left.flip(1).transpose(1, 2)).transpose(1, 2)  # [N, 2, H]
        leads += lead
        worths.append((lead[:, 0] * left[:, 0]).sum(1) * share[:, 0] * share[:, 1])
    axis, worth = torch.stack(axes, 2), torch.stack(worths, 1)  # [N, H, C], [N, C]
    worth = worth - worth.mean(1, keepdim=True)
    at = axis.clamp(min=0) * (knots - 1)
    low = at.long().clamp(max=knots - 2)
    share = at - low
    possible = (axis >= 0).to(ranges.dtype)
    for w, weight in enumerate((possible, possible * worth[:, None])):
        hist[..., w].scatter_add_(2, low, weight * (1 - share))
        hist[..., w].scatter_add_(2, low + 1, weight * share)
    chance = 1 / (cards - 2)
    mean = (axis * possible).sum(2) * chance
    square = (axis.square() * possible).sum(2) * chance
    places = torch.stack([mean, (square - mean.square()).clamp(min=0).sqrt()], 1)
    return Profile(hist * chance, leads / (cards - 4), mass, places)
