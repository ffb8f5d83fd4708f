"""Exact sums over hands in order of strength, and the axis of mixture quantiles.

Up to ties and card removal a showdown depends only on how two ranges interleave in order of
strength. The *mixture quantile* of a hand is the share of both ranges together that it beats, ties
counting half; a hand that nobody holds has one too. Along that axis every pair of ranges looks
alike: equal steps hold equal mass.

Sums of an opponent's range over the hands that one's own leaves possible are exact: a running sum
over all hands minus one over the hands of each of the two cards (a hand of both cards is one's own,
ties with it, and is added back where ties count).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from deepstack.values.inputs import Situations


class Sums(NamedTuple):
    """What the order of strength makes of two ranges, for N situations with H live hands.

    Attributes:
        mass: [N, 2, H] the opponent's mass that a player's hand leaves possible.
        lead: [N, 2, H] the mass it beats minus the mass it loses to, of the hands left possible.
        quantile: [N, H] the mixture quantile of every hand.
        below: [N, 2, E] each range's mass below E given quantiles, ties spread evenly.
    """

    mass: Tensor
    lead: Tensor
    quantile: Tensor
    below: Tensor


def order_sums(situations: Situations, edges: Tensor) -> Sums:
    """The sums of situations with inputs ``order``; ``edges`` [E] are ascending quantiles."""
    ranges = situations.ranges
    count, _, hands = ranges.shape
    first, last = situations.part("first"), situations.part("last")
    running = _from_zero(_pick(ranges, situations.part("order")).cumsum(2))
    opponent = ranges.flip(1)

    card_hands = situations.part("card_hands")
    live = round((1 + (1 + 4 * card_hands.shape[1]) ** 0.5) / 2)
    by_card = _pick(opponent, card_hands).view(count, 2, live, live - 1)
    card_running = _from_zero(by_card.cumsum(3)).view(count, 2, live * live)
    card_first = _pick(card_running, situations.part("card_first")).view(count, 2, hands, 2).sum(3)
    card_last = _pick(card_running, situations.part("card_last")).view(count, 2, hands, 2).sum(3)
    # the whole of a card stands at the end of its row, which its first hand's place names
    row = situations.part("card_first").div(live, rounding_mode="floor") * live + (live - 1)
    card_total = _pick(card_running, row).view(count, 2, hands, 2).sum(3)

    low, high = _pick(running, first), _pick(running, last)
    total = running[:, :, -1:]
    wins = low.flip(1) - card_first
    losses = (total - high).flip(1) - (card_total - card_last)
    mass = total.flip(1) - card_total + opponent
    whole = total.sum(1)
    quantile = (low.sum(1) + high.sum(1)) / (2 * whole)
    return Sums(mass, wins - losses, quantile, _below(running, situations, edges))


def _below(running: Tensor, situations: Situations, edges: Tensor) -> Tensor:
    """Mass [N, 2, E] below quantiles, from running sums [N, 2, H + 1]."""
    order, hands = situations.part("order"), running.shape[2] - 1
    mixture = running.sum(1)
    wanted = edges * mixture[:, -1:]
    # the hand in whose step a quantile falls, and from it the tie group
    step = (torch.searchsorted(mixture, wanted, right=True) - 1).clamp(0, hands - 1)
    hand = order.gather(1, step)
    first = situations.part("first").gather(1, hand)
    last = situations.part("last").gather(1, hand)
    low, high = mixture.gather(1, first), mixture.gather(1, last)
    width = high - low
    share = torch.where(width > 0, (wanted - low) / width.clamp(min=1e-30), 0.5).clamp(0, 1)
    begin, end = _pick(running, first), _pick(running, last)
    return torch.lerp(begin, end, share[:, None])


def _pick(rows: Tensor, at: Tensor) -> Tensor:
    """Both players' entries [N, 2, n] of rows [N, 2, m] at places [N, n]."""
    return rows.gather(2, at[:, None].expand(-1, 2, -1))


def _from_zero(sums: Tensor) -> Tensor:
    """Running sums [..., n] with a zero before them: [..., n + 1]."""
    return torch.nn.functional.pad(sums, (1, 0))
