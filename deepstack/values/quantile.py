"""The network for complete boards: convolutions along the axis of mixture quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from deepstack.values.inputs import Inputs, Situations
from deepstack.values.layers import Body, Payoffs, QuantileBlock, behind, depth, tail, zero_sum
from deepstack.values.order import order_sums


@dataclass(frozen=True, slots=True)
class QuantileSettings:
    """Bins of the quantile axis, channels, residual blocks and the width of their kernels.

    ``fine`` is the share of the axis that is spread logarithmically towards the strongest hands:
    with deep stacks it matters whether one hand in a hundred or in a thousand is better. ``stakes``
    are the amounts from half a pot to all-in for which hands are played out.
    """

    bins: int = 64
    channels: int = 64
    blocks: int = 8
    kernel: int = 3
    stakes: int = 8
    fine: float = 0.5


FINEST = 0.001
"""Shares of the strongest hands below which the logarithmic part of the axis becomes linear."""


class QuantileConv(Body):
    """Residual dilated convolutions along mixture quantiles, read off at every hand's own.

    A hand's value is u(q) · (mass it leaves possible) + a(q) · (mass it beats minus mass it loses
    to) with both masses exact, so card removal and showdowns are built in and the network says how
    the betting bends them. Most of u is made of payoffs (``Payoffs``), which the layers half way
    see too, as a first guess to be improved.
    """

    inputs = "order"
    features = 9
    edges: Tensor

    def __init__(self, settings: QuantileSettings, inputs: Inputs) -> None:
        super().__init__()
        bins, channels = settings.bins, settings.channels
        self.bins, self.fine = bins, settings.fine
        self.register_buffer("edges", self._edges(), persistent=False)
        self.entry = nn.Conv1d(2 * self.features + 2, channels, 1)
        self.blocks = nn.ModuleList(
            QuantileBlock(channels, settings.kernel, 2 ** (block % 6))
            for block in range(settings.blocks)
        )
        self.guess = Payoffs(channels, settings.stakes, bins)
        self.guessed = nn.Conv1d(4 * settings.stakes, channels, 1)
        self.payoffs = Payoffs(channels, settings.stakes, bins)
        self.head = nn.Conv1d(channels, 4, 1)
        for layer in (self.guessed, self.head):
            nn.init.zeros_(layer.weight)

    def forward(self, situations: Situations) -> Tensor:
        with torch.no_grad():
            sums = order_sums(situations, self.edges)
            # places of hands between the centres of bins
            at = (self.along(sums.quantile) * self.bins - 0.5).clamp(0, self.bins - 1)
            low = at.long().clamp(max=self.bins - 2)
            share = (at - low)[:, None]
            low = low[:, None].expand(-1, 4, -1)
        said = self.say(sums.below, situations.pot_fraction)
        read = torch.lerp(said.gather(2, low), said.gather(2, low + 1), share)
        values = read[:, :2] * sums.mass + read[:, 2:] * sums.lead
        return zero_sum(values, situations.ranges, sums.mass)

    def say(self, below: Tensor, pot_fraction: Tensor) -> Tensor:
        """What places are worth [N, 4, bins]: u of both players, then a, from mass below edges."""
        with torch.no_grad():
            seen = self.see(below, pot_fraction)
            held = below[:, :, 1:] - below[:, :, :-1]
            most = 0.5 + behind(pot_fraction)
        x = self.entry(seen)
        for number, block in enumerate(self.blocks):
            if number == len(self.blocks) // 2:
                guess = self.guess(x, held, most).flatten(1, 2)
                x = x + self.guessed(guess.sign() * guess.abs().log1p())
            x = block(x)
        said = self.head(x)
        return torch.cat([said[:, :2] + self.payoffs(x, held, most).sum(2), said[:, 2:]], 1)

    def along(self, quantile: Tensor) -> Tensor:
        """Where on the axis, from 0 to 1, a quantile is."""
        above = torch.log1p((1 - quantile).clamp(min=0) / FINEST) / math.log1p(1 / FINEST)
        return (1 - self.fine) * quantile + self.fine * (1 - above)

    def _edges(self) -> Tensor:
        """Quantiles [bins + 1] at equal steps along the axis."""
        quantiles = 1 - torch.logspace(0, -7, 20_001, dtype=torch.float64)
        quantiles = torch.cat([quantiles, torch.linspace(0, 1, 20_001, dtype=torch.float64)])
        quantiles = quantiles.sort().values
        steps = np.linspace(0, 1, self.bins + 1)
        edges = np.interp(steps, self.along(quantiles).numpy(), quantiles.numpy())
        edges[0], edges[-1] = 0, 1
        return torch.from_numpy(edges).float()

    def see(self, below: Tensor, pot_fraction: Tensor) -> Tensor:
        """What the first layer sees [N, 2 · features + 2, bins], from mass below edges."""
        mass = below[:, :, 1:] - below[:, :, :-1]
        own = (below[:, :, 1:] + below[:, :, :-1]) / 2
        opponent = own.flip(1)
        stack = behind(pot_fraction)[:, None, None]
        share = mass / mass.sum(1, keepdim=True).clamp(min=1e-12)
        seen = [share, own, opponent]
        # fine differences at the ends of the ranges count when stacks are deep
        seen += [tail(1 - opponent), tail(1 - own), tail(opponent), tail(own)]
        seen += [((1 - opponent) * stack).clamp(max=20).log1p()]
        seen += [(opponent * stack).clamp(max=20).log1p()]
        pot = torch.stack([pot_fraction, depth(pot_fraction)], 1)[:, :, None]
        return torch.cat([*seen, pot.expand(-1, -1, self.bins)], 1)
