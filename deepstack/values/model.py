"""Value networks: what both players' hands are worth in a situation, in fractions of the pot.

All architectures have one interface: situations of ``values.inputs`` in, counterfactual values
[N, 2, H] over the live hands of each board out. Around each stands the outer layer of the published
network, which makes the game zero-sum: with ranges that sum to 1, what the two players win together
is taken from both in equal parts.

- ``mlp``: a plain network on whole ranges, for games with few hands;
- ``paper``: ranges in buckets, seven hidden layers of 500 with PReLU (DeepStack, 2017);
- ``quantile_conv``: convolutions along the axis of mixture quantiles, for complete boards;
- ``next_conv``: the same before the river, read off at where hands will stand after the next card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from deepstack.run.errors import InputError
from deepstack.values.inputs import Inputs, Situations, Tables, make_inputs
from deepstack.values.layers import Body, depth, hidden_layers, zero_sum
from deepstack.values.next_conv import NextConv, NextSettings
from deepstack.values.quantile import QuantileConv, QuantileSettings

Settings = Mapping[str, Any]


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
        self.layers = hidden_layers(width, settings.hidden, settings.layers)
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
        self.layers = hidden_layers(2 * self.buckets + 1, settings.hidden, settings.layers)
        self.head = nn.Linear(settings.hidden, 2 * self.buckets)

    def forward(self, situations: Situations) -> Tensor:
        ranges = situations.ranges
        bucket = (situations.part("percentile") * self.buckets).long()
        bucket = bucket.clamp(0, self.buckets - 1)[:, None].expand(-1, 2, -1)
        summed = ranges.new_zeros(len(ranges), 2, self.buckets).scatter_add(2, bucket, ranges)
        seen = torch.cat([summed.flatten(1), situations.pot_fraction[:, None]], 1)
        said = self.head(self.layers(seen)).view(-1, 2, self.buckets)
        return zero_sum(said.gather(2, bucket), ranges)


ARCHITECTURES: dict[str, tuple[type[Body], type]] = {
    "mlp": (Mlp, MlpSettings),
    "paper": (Paper, PaperSettings),
    "quantile_conv": (QuantileConv, QuantileSettings),
    "next_conv": (NextConv, NextSettings),
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
