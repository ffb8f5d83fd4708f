"""``python -m train.promote CHECKPOINT [name=STAGE]``: a trained network into the package.

CHECKPOINT is a file of Lightning's (``best.ckpt``), or a network that ``python -m train`` wrote
(``STAGE.safetensors`` or the folder of its run). What is written is loaded once, so that nothing is
promoted that cannot be used.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from deepstack.run.errors import InputError
from deepstack.values.checkpoint import (
    SHIPPED,
    Card,
    Origin,
    load_network,
    read_card,
    save_network,
)
from deepstack.values.model import ValueNetwork


def read_checkpoint(path: Path) -> tuple[ValueNetwork, int, Origin]:
    """The network of a Lightning checkpoint, the stack it is for, and what made it."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=False)
        about = content["about"]
        network = ValueNetwork(about["stage"], about["architecture"], about["settings"])
        network.load_state_dict(
            {
                name.removeprefix("network."): weights
                for name, weights in content["state_dict"].items()
            }
        )
        origin = Origin(
            data=about["data"],
            config=about["config"],
            samples=about["samples"],
            validation_samples=about["validation_samples"],
            epochs=about["epochs"],
            figures=about["figures"],
        )
    except OSError as error:
        raise InputError(f"checkpoint {path}: cannot be read ({error.strerror})") from None
    except (KeyError, RuntimeError, TypeError, EOFError, pickle.UnpicklingError) as error:
        raise InputError(
            f"checkpoint {path}: expected one that python -m train wrote ({error})"
        ) from None
    return network, about["stack"], origin


def promote(checkpoint: str | Path, name: str | None = None, folder: Path = SHIPPED) -> Card:
    """Write a trained network and its card into a folder, the package's own unless given."""
    path = Path(checkpoint)
    if path.suffix == ".ckpt":
        network, stack, origin = read_checkpoint(path)
    else:
        if path.is_dir():
            found = sorted(path.glob("*.safetensors"))
            if len(found) != 1:
                raise InputError(f"folder {path}: {len(found)} networks, expected one")
            path = found[0]
        card, network = read_card(path), load_network(path)
        if card.origin is None:
            raise InputError(f"network {path}: its card does not say what made it")
        stack, origin = card.stack, card.origin
    written = save_network(network, folder, stack=stack, origin=origin, name=name)
    load_network(folder / f"{name or network.stage}.safetensors")
    return written


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    if not words or words[-1] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    try:
        names = [word.removeprefix("name=") for word in words if word.startswith("name=")]
        paths = [word for word in words if not word.startswith("name=")]
        if len(paths) != 1 or len(names) > 1:
            raise InputError(f"arguments {' '.join(words)!r}: expected CHECKPOINT [name=STAGE]")
        card = promote(paths[0], names[0] if names else None)
    except InputError as error:
        print(f"train.promote: {error}", file=sys.stderr)
        return 2
    figures = ", ".join(
        f"{k} {v:.5f}" for k, v in (card.origin or Origin("", "", 0, 0, 0)).figures.items()
    )
    print(f"{card.stage}: {card.architecture}, {card.parameters:,} weights, {figures}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
