"""Errors of a network on solved situations: totals, and by pot, stack depth and hand strength."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from deepstack.values.inputs import Situations
from deepstack.values.model import ValueNetwork
from train.data import Batch

DEPTHS = (0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0)
"""Stack behind as multiples of the pot: the limits of the groups."""
POTS = (0.01, 0.02, 0.1, 0.3)
"""The pot as a share of both stacks; in hold'em the published intervals of contributions."""
FIFTHS = 5
"""Groups of hands by strength."""


def loss(said: Tensor, solved: Tensor) -> Tensor:
    """The Huber loss with δ = 1 over the live hands of both players, unweighted."""
    return huber_loss(said, solved)


@dataclass
class Errors:
    """Sums of errors over situations; ``figures`` are their means.

    All tensors have a row a situation: Huber, absolute error, absolute error weighted by the
    player's own range.
    """

    sources: list[str] = field(default_factory=list)
    """Families of ranges by number; without them errors are not told apart by family."""
    rows: list[Tensor] = field(default_factory=list)
    pots: list[Tensor] = field(default_factory=list)
    fifths: list[Tensor] = field(default_factory=list)
    families: list[Tensor] = field(default_factory=list)

    def add(
        self, situations: Situations, said: Tensor, solved: Tensor, source: Tensor | None = None
    ) -> None:
        """Take in a batch: values said and solved, both [N, 2, H], and families [N]."""
        if source is not None:
            self.families.append(source)
        off = (said - solved).abs()
        huber = huber_loss(said, solved, reduction="none")
        weighted = (off * situations.ranges).sum(2).mean(1)
        self.rows.append(torch.stack([huber.mean((1, 2)), off.mean((1, 2)), weighted], 1))
        self.pots.append(situations.pot_fraction)
        order = situations.tables.parts.get("order")
        rank = situations.tables.parts.get("rank")  # after each next card
        if order is None and rank is not None:
            order = rank.float().mean(1).argsort(1)
        if order is not None:
            sorted_ = huber.mean(1).gather(1, order[situations.place])
            groups = sorted_.tensor_split(FIFTHS, dim=1)
            self.fifths.append(torch.stack([group.mean(1) for group in groups], 1))

    def figures(self) -> dict[str, float]:
        """Means by name."""
        huber, mae, weighted = torch.cat(self.rows).double().mean(0).tolist()
        return {
            "validation_huber": huber,
            "validation_mae": mae,
            "validation_weighted_mae": weighted,
        }

    def groups(self) -> dict[str, float]:
        """Huber loss by group, such as ``depth/1-2``; groups without situations are left out."""
        huber = torch.cat(self.rows)[:, 0]
        pot = torch.cat(self.pots)
        behind = (1 / pot - 1) / 2
        found = {}
        for name, numbers, limits in (("depth", behind, DEPTHS), ("pot", pot, POTS)):
            group = torch.bucketize(numbers, torch.tensor(limits, device=numbers.device))
            for number in range(len(limits) + 1):
                inside = huber[group == number]
                if len(inside):
                    found[f"{name}/{_between(limits, number)}"] = float(inside.mean())
        if self.families:
            family = torch.cat(self.families)
            for number, name in enumerate(self.sources):
                inside = huber[family == number]
                if len(inside):
                    found[f"ranges/{name}"] = float(inside.mean())
        if self.fifths:
            for number, mean in enumerate(torch.cat(self.fifths).mean(0).tolist()):
                found[f"strength/{20 * number}-{20 * number + 20}%"] = mean
        return found


def _between(limits: tuple[float, ...], number: int) -> str:
    if number == 0:
        return f"below {limits[0]:g}"
    if number == len(limits):
        return f"from {limits[-1]:g}"
    return f"{limits[number - 1]:g}-{limits[number]:g}"


@torch.inference_mode()
def measure(network: ValueNetwork, batches: Iterable[Batch], sources: list[str]) -> Errors:
    """Errors of a network over batches, on the network's device; families by their numbers."""
    errors, device = Errors(sources), network.device
    for batch in batches:
        situations = to_device(batch.situations, device)
        solved, source = batch.values.to(device), batch.source.to(device)
        errors.add(situations, network(situations), solved, source)
    return errors


def to_device(situations: Situations, device: torch.device) -> Situations:
    moved: list[Any] = [part.to(device) for part in situations]
    return Situations(*moved)
