"""The network for boards before the river: one reading of the axis, taken on every next board.

Convolutions along the quantile axis of ``values.next_cards`` say what a place on it is worth; a
hand's value is the mean over its places after the next card. What the mean over cards loses, that
the betting on a card depends on the card, is put back in two ways: a second reading, of the places
weighted by how good the card is for the first player's range, and terms read at the hand's mean
place, which may grow with its spread and with its exact mean lead.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from deepstack.values.inputs import Inputs, Situations
from deepstack.values.layers import Body, Payoffs, QuantileBlock, behind, depth, tail, zero_sum
from deepstack.values.next_cards import Profile, profile


@dataclass(frozen=True, slots=True)
class NextSettings:
    """Knots of the axis, channels, residual blocks and the width of their kernels.

    ``fine`` is the share of the axis that follows a square root towards the strongest hands;
    ``stakes`` are the amounts from half a pot to all-in for which hands are played out.
    """

    knots: int = 32
    channels: int = 64
    blocks: int = 6
    kernel: int = 3
    stakes: int = 8
    fine: float = 0.75


class NextConv(Body):
    """Residual dilated convolutions along the axis, read on every next board."""

    inputs = "next"
    features = 13
    read = 3
    """Terms of each player at a hand's mean place: a constant, its spread's, its lead's."""

    def __init__(self, settings: NextSettings, inputs: Inputs) -> None:
        super().__init__()
        knots, channels = settings.knots, settings.channels
        self.knots, self.fine = knots, settings.fine
        self.entry = nn.Conv1d(2 * self.features + 2, channels, 1)
        self.blocks = nn.ModuleList(
            QuantileBlock(channels, settings.kernel, 2 ** (block % 5))
            for block in range(settings.blocks)
        )
        self.guess = Payoffs(channels, settings.stakes, knots)
        self.guessed = nn.Conv1d(4 * settings.stakes, channels, 1)
        self.payoffs = Payoffs(channels, settings.stakes, knots)
        self.head = nn.Conv1d(channels, 2 * (2 + self.read), 1)
        for layer in (self.guessed, self.head):
            nn.init.zeros_(layer.weight)

    def forward(self, situations: Situations) -> Tensor:
        with torch.no_grad():
            found = profile(situations, self.knots, self.fine)
            seen, held = self.see(situations, found)
            most = 0.5 + behind(situations.pot_fraction)
            at = found.places[:, 0] * (self.knots - 1)
            low = at.long().clamp(max=self.knots - 2)
            share = (at - low)[:, None]
            low = low[:, None].expand(-1, 2 * self.read, -1)
        x = self.entry(seen)
        for number, block in enumerate(self.blocks):
            if number == len(self.blocks) // 2:
                guess = self.guess(x, held, most).flatten(1, 2)
                x = x + self.guessed(guess.sign() * guess.abs().log1p())
            x = block(x)
        said = self.head(x)  # [N, 10, K]
        on_cards = torch.stack(
            [said[:, :2] + self.payoffs(x, held, most).sum(2), said[:, 2:4]], 3
        ).flatten(2)  # [N, 2, 2K]
        units = found.hist.flatten(2) @ on_cards.transpose(1, 2)  # [N, H, 2]
        terms = said[:, 4:]
        terms = torch.lerp(terms.gather(2, low), terms.gather(2, low + 1), share)
        plain, spread, lead = terms.split(2, 1)
        units = units.transpose(1, 2) + plain + spread * found.places[:, 1:]
        values = units * found.mass + lead * found.lead
        return zero_sum(values, situations.ranges, found.mass)

    def see(self, situations: Situations, found: Profile) -> tuple[Tensor, Tensor]:
        """What the first layer sees [N, 2 · features + 2, K], and mass held at knots [N, 2, K]."""
        ranges, pot_fraction = situations.ranges, situations.pot_fraction
        spread, lead = ranges * found.places[:, 1:], ranges * found.lead
        sums = torch.cat([ranges, spread, lead], 1) @ found.hist.flatten(2)  # [N, 6, 2K]
        plain, by_card = sums.unflatten(2, (self.knots, 2)).unbind(3)
        held, spread, lead = plain.split(2, 1)
        tilted = by_card[:, :2]
        own = held.cumsum(2) - held / 2
        opponent = own.flip(1)
        stack = behind(pot_fraction)[:, None, None]
        some = held.clamp(min=1e-6)
        share = held / held.sum(1, keepdim=True).clamp(min=1e-12)
        seen = [share, own, opponent]
        seen += [tail(1 - opponent), tail(1 - own), tail(opponent), tail(own)]
        seen += [((1 - opponent).clamp(min=0) * stack).clamp(max=20).log1p()]
        seen += [(opponent * stack).clamp(max=20).log1p()]
        seen += [tilted / some, spread / some, lead / some, held * self.knots / 4]
        pot = torch.stack([pot_fraction, depth(pot_fraction)], 1)[:, :, None]
        return torch.cat([*seen, pot.expand(-1, -1, self.knots)], 1), held
