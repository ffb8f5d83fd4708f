"""Parts that value networks are made of."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from deepstack.values.inputs import Situations


def zero_sum(values: Tensor, ranges: Tensor, weights: Tensor | None = None) -> Tensor:
    """Values [N, 2, H] of a zero-sum game, from values that are not.

    Half of what both players win together is taken from each; with ``weights`` [N, 2, H] it is
    taken in proportion to them (the opponent's mass that a hand leaves possible).
    """
    surplus = (values * ranges).sum((1, 2))[:, None, None] / 2
    if weights is None:
        return values - surplus
    whole = (weights * ranges).sum((1, 2))[:, None, None] / 2
    return values - surplus / whole.clamp(min=1e-6) * weights


def behind(pot_fraction: Tensor) -> Tensor:
    """Chips that each player has left, as multiples of the pot."""
    return (1 / pot_fraction.clamp(min=1e-4) - 1) / 2


def depth(pot_fraction: Tensor) -> Tensor:
    """Chips behind on a logarithmic scale of order 1."""
    return torch.log(behind(pot_fraction) + 0.05) / 2


class Body(nn.Module):
    """An architecture: a module from situations to values, with inputs of its own."""

    inputs: ClassVar[str]

    def forward(self, situations: Situations) -> Tensor:
        raise NotImplementedError


class QuantileBlock(nn.Module):
    """A dilated convolution and a term of the mean over the axis, then a mixing of channels."""

    def __init__(self, channels: int, kernel: int, dilation: int) -> None:
        super().__init__()
        padding = dilation * (kernel // 2)
        self.near = nn.Conv1d(channels, channels, kernel, padding=padding, dilation=dilation)
        self.mean = nn.Linear(channels, channels, bias=False)
        self.mix = nn.Conv1d(channels, channels, 1)
        nn.init.zeros_(self.mix.weight)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.near(x) + self.mean(x.mean(2))[:, :, None]
        return x + self.mix(torch.relu(inner))


class Payoffs(nn.Module):
    """Values of bins from probabilities, with the payoffs of betting built in.

    At the end of every line of betting both players have put in the same stake, or one gave up what
    it had put in. From the channels come, for K stakes from half a pot to all-in, how likely each
    bin of each player is to end there, as the one whose value is asked and as the opponent; then
    showdowns and folds are summed over the opponent's range. So values grow with the stack and with
    the opponent's mass as they must, and only probabilities have to be learned.
    """

    signs: Tensor
    steps: Tensor

    def __init__(self, channels: int, stakes: int, bins: int) -> None:
        super().__init__()
        self.stakes = stakes
        self.layer = nn.Conv1d(channels, 8 * stakes, 1)
        nn.init.normal_(self.layer.weight, std=0.02)
        # at first nearly everybody checks to a showdown for half a pot, and nobody folds
        bias = torch.full((4, 2, stakes), -3.0)
        bias[1] = 0.0
        bias[0, :, 0] = bias[2, :, 0] = 2.0
        self.layer.bias = nn.Parameter(bias.flatten())
        order = torch.arange(bins)
        signs = torch.sign(order[:, None] - order[None]).float()
        self.register_buffer("signs", signs.T.contiguous(), persistent=False)
        self.register_buffer("steps", torch.linspace(0, 1, stakes), persistent=False)

    def forward(self, x: Tensor, held: Tensor, most: Tensor) -> Tensor:
        """Values [N, 2, 2K, bins] in pots, showdowns and then folds.

        Args:
            x: [N, channels, bins].
            held: [N, 2, bins] mass of each range.
            most: [N] the largest stake, in pots.
        """
        said = torch.sigmoid(self.layer(x)).view(len(x), 4, 2, self.stakes, -1)
        stake = (0.5 * (2 * most[:, None]) ** self.steps)[:, None, :, None]
        opponent = (said[:, 2:] * held[:, None, :, None]).flip(2)
        showdowns = said[:, 0] * (opponent[:, 0] @ self.signs) * stake
        folds = (2 * said[:, 1] - 1) * opponent[:, 1].sum(3, keepdim=True) * stake
        return torch.cat([showdowns, folds], 2)


def tail(share: Tensor) -> Tensor:
    """A small share on a logarithmic scale, of order 1."""
    return -torch.log(share.clamp(min=0) + 1e-4) / 4


def hidden_layers(width: int, hidden: int, layers: int) -> nn.Sequential:
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, hidden), nn.PReLU(hidden)]
        width = hidden
    return nn.Sequential(*parts)
