"""Value networks: what both players' hands are worth in a situation, in fractions of the pot.

All architectures have one interface: situations of ``values.inputs`` in, counterfactual values
[N, 2, H] over the live hands of each board out. Around each stands the outer layer of the published
network, which makes the game zero-sum: with ranges that sum to 1, what the two players win together
is taken from both in equal parts.

- ``mlp``: a plain network on whole ranges, for games with few hands;
- ``paper``: ranges in buckets, seven hidden layers of 500 with PReLU (DeepStack, 2017);
- ``quantile_conv``: convolutions along the axis of mixture quantiles (``values.order``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from deepstack.run.errors import InputError
from deepstack.values.inputs import Inputs, Situations, Tables, make_inputs
from deepstack.values.order import order_sums

Settings = Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class MlpSettings:
    """Hidden layers and their width."""

    hidden: int = 128
    layers: int = 3


class Mlp(Body):
    """Both ranges over all hands, the board and the pot, through a few hidden layers.

    Beside the ranges the network sees, for every hand, the opponent's mass that it leaves possible
    and how much more of it it beats than it loses to; a hand's value is u · (the first) + a · (the
    second), with u and a from the network.
    """

    inputs = "hands"

    def __init__(self, settings: MlpSettings, inputs: Inputs) -> None:
        super().__init__()
        self.hands = inputs.game.hands
        width = 6 * self.hands + len(inputs.game.deck) + 2
        self.layers = _hidden_layers(width, settings.hidden, settings.layers)
        self.head = nn.Linear(settings.hidden, 4 * self.hands)

    def forward(self, situations: Situations) -> Tensor:
        ranges = situations.ranges
        slots = situations.part("slot")[:, None].expand(-1, 2, -1)
        whole = ranges.new_zeros(len(ranges), 2, self.hands).scatter(2, slots, ranges)
        opponent = whole.flip(1)
        mass = opponent @ situations.part("apart")  # symmetric
        lead = -opponent @ situations.part("beats")  # antisymmetric
        pot = situations.pot_fraction
        seen = [whole.flatten(1), mass.flatten(1), lead.flatten(1), situations.part("cards")]
        seen += [pot[:, None], depth(pot)[:, None]]
        said = self.head(self.layers(torch.cat(seen, 1))).view(-1, 2, 2, self.hands)
        values = said[:, 0] * mass + said[:, 1] * lead
        return zero_sum(values.gather(2, slots), ranges, mass.gather(2, slots))


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """Buckets of hands, hidden layers and their width."""

    buckets: int = 1000
    hidden: int = 500
    layers: int = 7


class Paper(Body):
    """The published network: bucket ranges and the pot in, bucket values out."""

    inputs = "buckets"

    def __init__(self, settings: PaperSettings, inputs: Inputs) -> None:
        super().__init__()
        self.buckets = settings.buckets
        self.layers = _hidden_layers(2 * self.buckets + 1, settings.hidden, settings.layers)
        self.head = nn.Linear(settings.hidden, 2 * self.buckets)

    def forward(self, situations: Situations) -> Tensor:
        ranges = situations.ranges
        bucket = (situations.part("percentile") * self.buckets).long()
        bucket = bucket.clamp(0, self.buckets - 1)[:, None].expand(-1, 2, -1)
        summed = ranges.new_zeros(len(ranges), 2, self.buckets).scatter_add(2, bucket, ranges)
        seen = torch.cat([summed.flatten(1), situations.pot_fraction[:, None]], 1)
        said = self.head(self.layers(seen)).view(-1, 2, self.buckets)
        return zero_sum(said.gather(2, bucket), ranges)


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
            seen = self.see(sums.below, situations.pot_fraction)
            held = sums.below[:, :, 1:] - sums.below[:, :, :-1]
            most = 0.5 + behind(situations.pot_fraction)
            # places of hands between the centres of bins
            at = (self.along(sums.quantile) * self.bins - 0.5).clamp(0, self.bins - 1)
            low = at.long().clamp(max=self.bins - 2)
            share = (at - low)[:, None]
            low = low[:, None].expand(-1, 4, -1)
        x = self.entry(seen)
        for number, block in enumerate(self.blocks):
            if number == len(self.blocks) // 2:
                guess = self.guess(x, held, most).flatten(1, 2)
                x = x + self.guessed(guess.sign() * guess.abs().log1p())
            x = block(x)
        said = self.head(x)
        said = torch.cat([said[:, :2] + self.payoffs(x, held, most).sum(2), said[:, 2:]], 1)
        read = torch.lerp(said.gather(2, low), said.gather(2, low + 1), share)
        values = read[:, :2] * sums.mass + read[:, 2:] * sums.lead
        return zero_sum(values, situations.ranges, sums.mass)

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
        seen += [_tail(1 - opponent), _tail(1 - own), _tail(opponent), _tail(own)]
        seen += [((1 - opponent) * stack).clamp(max=20).log1p()]
        seen += [(opponent * stack).clamp(max=20).log1p()]
        pot = torch.stack([pot_fraction, depth(pot_fraction)], 1)[:, :, None]
        return torch.cat([*seen, pot.expand(-1, -1, self.bins)], 1)


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


def _tail(share: Tensor) -> Tensor:
    """A small share on a logarithmic scale, of order 1."""
    return -torch.log(share.clamp(min=0) + 1e-4) / 4


def _hidden_layers(width: int, hidden: int, layers: int) -> nn.Sequential:
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, hidden), nn.PReLU(hidden)]
        width = hidden
    return nn.Sequential(*parts)


ARCHITECTURES: dict[str, tuple[type[Body], type]] = {
    "mlp": (Mlp, MlpSettings),
    "paper": (Paper, PaperSettings),
    "quantile_conv": (QuantileConv, QuantileSettings),
}


class ValueNetwork(nn.Module):
    """A network for one stage: its architecture, settings and inputs, and the module itself.

    Made by ``build_network`` or ``checkpoint.load_network``.
    """

    def __init__(self, stage: str, architecture: str, settings: Settings) -> None:
        super().__init__()
        if architecture not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise InputError(f"architecture {architecture!r}: expected one of {known}")
        make, kind = ARCHITECTURES[architecture]
        known_settings = [entry.name for entry in fields(kind)]
        unknown = [name for name in settings if name not in known_settings]
        if unknown:
            raise InputError(
                f"setting {unknown[0]!r} of {architecture}: expected {', '.join(known_settings)}"
            )
        chosen = kind(**settings)
        for name, value in asdict(chosen).items():
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            share = isinstance(value, int | float) and 0 <= value <= 1
            if kind.__annotations__[name] == "float" and not share:
                raise InputError(f"{name}={value} of {architecture}: expected 0 to 1")
            if kind.__annotations__[name] == "int" and not whole:
                raise InputError(f"{name}={value} of {architecture}: expected a whole number")
        self.stage, self.architecture = stage, architecture
        self.settings: dict[str, Any] = asdict(chosen)
        self.inputs = make_inputs(make.inputs, stage)
        self.body = make(chosen, self.inputs)

    @property
    def device(self) -> torch.device:
        """Where the weights are; situations and tables must be there too."""
        return next(self.parameters()).device

    def tables(self, boards: npt.ArrayLike) -> Tables:
        """The tables of boards [B, C], on the network's device; keep them with the boards."""
        return self.inputs.tables(boards, self.device)

    def forward(self, situations: Situations) -> Tensor:
        """Values [N, 2, H] in fractions of the pot, weighted by the opponent's range of sum 1."""
        return self.body(situations)

    @torch.inference_mode()
    def evaluate(
        self,
        tables: Tables,
        place: npt.ArrayLike,
        pot_fraction: npt.ArrayLike,
        ranges: npt.ArrayLike,
    ) -> npt.NDArray[np.float32]:
        """Values float32 [N, 2, H] for arrays; see ``Situations`` for the arguments."""
        device = self.device
        given = Situations(
            torch.as_tensor(np.asarray(ranges, np.float32), device=device),
            torch.as_tensor(np.asarray(pot_fraction, np.float32), device=device),
            torch.as_tensor(np.asarray(place, np.int64), device=device),
            tables,
        )
        return self(given).cpu().numpy()


def build_network(
    stage: str, architecture: str, settings: Settings | None = None, seed: int | None = None
) -> ValueNetwork:
    """A network with random weights; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return ValueNetwork(stage, architecture, settings or {})
