"""``deepstack networks``: the value networks that come with the package."""

from __future__ import annotations

from dataclasses import asdict

from omegaconf import DictConfig

from deepstack.values.networks import shipped

FIGURES = ("validation_huber", "validation_mae", "validation_weighted_mae")


def run(config: DictConfig) -> dict:
    cards = shipped()
    if not cards:
        print("no network is shipped; python -m train makes one, python -m train.promote ships it")
    for name, card in cards.items():
        print(f"{name}: {card.architecture}, {card.parameters:,} parameters")
        print(f"  game     {card.game}, stacks of {card.stack:,}")
        print(f"  inputs   {card.inputs}, version {card.inputs_version}")
        origin = card.origin
        if origin is not None:
            print(f"  trained  on {origin.samples:,} situations, {origin.epochs:g} epochs")
            figures = [
                f"{key} {origin.figures[key]:.5f}" for key in FIGURES if key in origin.figures
            ]
            print(f"  error    {', '.join(figures)} ({origin.validation_samples:,} held out)")
    return {name: asdict(card) for name, card in cards.items()}
