"""Networks on the disk: ``STAGE.safetensors`` with the weights, ``STAGE.json`` with their card.

The card says what the network is for, how it is built, which inputs it expects, and what made it:
hashes of the data and of the training configuration, sample counts, validation figures, and the
SHA-256 of the weights. Loading refuses what does not match and says why.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically
from deepstack.run.results import to_plain
from deepstack.values.inputs import stage_of
from deepstack.values.model import ARCHITECTURES, ValueNetwork

FORMAT = 1
SHIPPED = Path(__file__).resolve().parents[1] / "networks"
"""Where the networks that come with the package are."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a network.

    Attributes:
        data: hash of the data set's configuration, from its manifest.
        config: hash of the training configuration.
        samples: situations trained on.
        validation_samples: situations held out.
        epochs: passes over the data.
        figures: validation figures, by name.
    """

    data: str
    config: str
    samples: int
    validation_samples: int
    epochs: float
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """All that is known about a network; the keys of ``STAGE.json``.

    Attributes:
        stage, game, stack: what it is for; chips each player starts with.
        architecture, settings: how it is built (``values.model``).
        inputs, inputs_version: what it sees (``values.inputs``).
        parameters: how many weights.
        sha256: of the file of weights.
        origin: what made it, or None where nobody says.
        format: of the card itself.
    """

    stage: str
    game: str
    stack: int
    architecture: str
    settings: dict[str, Any]
    inputs: str
    inputs_version: int
    parameters: int
    sha256: str
    origin: Origin | None = None
    format: int = FORMAT


def save_network(
    network: ValueNetwork,
    folder: str | os.PathLike[str],
    *,
    stack: int,
    origin: Origin | None = None,
    name: str | None = None,
) -> Card:
    """Write ``NAME.safetensors`` and ``NAME.json``; the name is the stage unless given.

    The card is written last, so that a network without one is not finished.
    """
    weights = {key: tensor.cpu().contiguous() for key, tensor in network.state_dict().items()}
    data = save(weights)
    inputs = network.inputs
    card = Card(
        stage=network.stage,
        game=inputs.game.name,
        stack=stack,
        architecture=network.architecture,
        settings=network.settings,
        inputs=inputs.name,
        inputs_version=inputs.version,
        parameters=sum(tensor.numel() for tensor in weights.values()),
        sha256=hashlib.sha256(data).hexdigest(),
        origin=origin,
    )
    place = Path(folder) / (name or network.stage)
    write_atomically(place.with_name(place.name + ".safetensors"), data)
    text = json.dumps(to_plain(asdict(card), "card"), indent=1, allow_nan=False)
    write_atomically(place.with_name(place.name + ".json"), text + "\n")
    return card


def network_path(where: str | os.PathLike[str]) -> Path:
    """The file of weights that a stage or a path means: a shipped network, or a file on the disk.

    A path may name the weights, the card, or both without their ending.
    """
    path = Path(where)
    if path.suffix in (".safetensors", ".json"):
        path = path.with_suffix(".safetensors")
    elif path.name == str(where) and not path.with_name(f"{where}.safetensors").exists():
        path = SHIPPED / f"{where}.safetensors"
        if not path.exists():
            stage_of(str(where))
            raise InputError(f"network {str(where)!r}: none is shipped for this stage")
    else:
        path = path.with_name(path.name + ".safetensors")
    return path


def read_card(where: str | os.PathLike[str]) -> Card:
    """The card of a network by stage or path; an InputError says what is wrong with it."""
    path = network_path(where).with_suffix(".json")
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"network card {path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise InputError(f"network card {path}: expected a whole JSON file ({error})") from None
    known = {entry.name for entry in fields(Card)}
    if not isinstance(content, dict) or set(content) != known:
        found = set(content) if isinstance(content, dict) else set()
        raise InputError(
            f"network card {path}: differs from a card in {', '.join(sorted(found ^ known))}"
        )
    if content["format"] != FORMAT:
        raise InputError(f"network card {path}: format {content['format']}, expected {FORMAT}")
    if content["origin"] is not None:
        try:
            content["origin"] = Origin(**content["origin"])
        except TypeError as error:
            raise InputError(f"network card {path}: origin: {error}") from None
    return Card(**content)


def load_network(where: str | os.PathLike[str], device: torch.device | str = "cpu") -> ValueNetwork:
    """The network of a stage (shipped) or of a path, ready to evaluate on a device.

    A card that does not belong to this version of the code, or weights that do not belong to their
    card, are refused with the reason.
    """
    path = network_path(where)
    card = read_card(path)
    name = f"network {path}"
    stage = stage_of(card.stage)
    if card.architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise InputError(f"{name}: architecture {card.architecture!r}, expected one of {known}")
    network = ValueNetwork(card.stage, card.architecture, card.settings)
    inputs = network.inputs
    if (card.inputs, card.inputs_version) != (inputs.name, inputs.version):
        raise InputError(
            f"{name}: inputs {card.inputs} version {card.inputs_version}, expected {inputs.name} "
            f"version {inputs.version}"
        )
    if card.game != load_game(stage.game).name:
        raise InputError(f"{name}: game {card.game!r}, expected {stage.game!r}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror})") from None
    found = hashlib.sha256(data).hexdigest()
    if found != card.sha256:
        raise InputError(
            f"{name}: altered or truncated, checksum {found[:12]}…, expected {card.sha256[:12]}…"
        )
    try:
        network.load_state_dict(load(data))
    except (SafetensorError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{name}: weights do not fit {card.architecture} ({reason})") from None
    return network.to(device).eval().requires_grad_(False)
