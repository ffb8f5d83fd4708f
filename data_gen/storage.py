"""The format of training data: a folder of shards and a manifest.

    data/river_start/manifest.json
    data/river_start/shard-000000.safetensors …

A shard is one safetensors file of N samples on boards of C cards with H live hands, the hands
without a board card in ascending order of their index:

    board          uint8   [N, C]     cards
    pot            float32 [N]        chips of both players in the pot
    ranges         float16 [N, 2, H]  divided by the row's maximum
    values         dtype   [N, 2, H]  cfv / pot for ranges of sum 1, card removal included
    exploitability float32 [N]        of the solve, as a share of the pot; nan where meaningless
    source         uint8   [N]        place of the ranges' family in the manifest's ``sources``

Values are stored for hands and not for a network's inputs, so inputs can change without solving
again. The manifest lists the shards that are done with their checksums; a shard stands there only
when it is whole on the disk.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from deepstack.cards.isomorphism import Indexer
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically

MANIFEST = "manifest.json"
VERSION = 1
FEW_BOARDS = 100
"""Below so many boards that differ by more than suits, a split is by sample and not by board."""
WHERE = ("network", "device")
"""Settings of a stage that say where something is and not what."""

_DTYPES = {"F16": np.float16, "F32": np.float32, "U8": np.uint8}


@dataclass(frozen=True, slots=True)
class Samples:
    """N training pairs; see the module for shapes. Ranges have sum 1, values are cfv / pot."""

    board: npt.NDArray[np.uint8]
    pot: npt.NDArray[np.float32]
    ranges: npt.NDArray[np.floating]
    values: npt.NDArray[np.floating]
    exploitability: npt.NDArray[np.float32]
    source: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.pot)


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard that is done: its file, how many samples, the SHA-256 of the file."""

    name: str
    count: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a data set is and how far it has come; the keys of ``manifest.json``.

    Attributes:
        stage, game, stack: which network it is for, in which game, chips each player starts with.
        hash, config, seed: what the samples depend on; equal hashes mean equal shards.
        samples: how many were asked for; ``shards_total`` the shards they take.
        shards: those that are done, in order of their numbers.
        menu: the bets of the solves as text, or null.
        target: exploitability aimed for, as the configuration has it, or null.
        exploitability: mean and p95 reached, shares of the pot, or null.
        sources: families of ranges by number.
        dtype: of the stored values.
    """

    stage: str
    game: str
    stack: int
    hash: str
    config: dict[str, Any]
    seed: int
    samples: int
    samples_per_shard: int
    shards_total: int
    menu: str | None
    target: Any
    sources: list[str]
    dtype: str
    exploitability: dict[str, float] | None = None
    shards: list[Shard] = field(default_factory=list)
    version: int = VERSION

    @property
    def done(self) -> int:
        """Samples on the disk."""
        return sum(shard.count for shard in self.shards)


def configuration_hash(config: Mapping[str, Any], seed: int) -> str:
    """Sixteen hexadecimal digits of all that samples depend on.

    Where a network lies and on which device it runs are no part of it; its checksum is.
    """
    kept = {key: value for key, value in config.items() if key not in WHERE}
    text = json.dumps({"config": kept, "seed": seed, "version": VERSION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shard_name(number: int) -> str:
    """
    >>> shard_name(7)
    'shard-000007.safetensors'
    """
    return f"shard-{number:06}.safetensors"


def quantised(ranges: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Ranges [..., H] as storage will give them back, so that labels belong to what is stored."""
    stored = _stored_ranges(ranges).astype(np.float64)
    return stored / stored.sum(axis=-1, keepdims=True)


def _stored_ranges(ranges: npt.NDArray[np.floating]) -> npt.NDArray[np.float16]:
    highest = ranges.max(axis=-1, keepdims=True)
    return (np.asarray(ranges, np.float64) / highest).astype(np.float16)


def encode_shard(samples: Samples, number: int, identity: str, dtype: npt.DTypeLike) -> bytes:
    """The file of a shard; the same samples give the same bytes."""
    if not np.isfinite(samples.values).all():
        raise ValueError(f"shard {number}: values that are not finite")
    arrays: dict[str, npt.NDArray[Any]] = {
        "board": samples.board.astype(np.uint8),
        "pot": samples.pot.astype(np.float32),
        "ranges": _stored_ranges(samples.ranges),
        "values": samples.values.astype(dtype),
        "exploitability": samples.exploitability.astype(np.float32),
        "source": samples.source.astype(np.uint8),
    }
    # one entry only: the format does not keep the order of several
    about = json.dumps({"hash": identity, "shard": number, "count": len(samples)})
    return save(arrays, metadata={"deepstack": about})


def about_shard(path: Path) -> dict[str, Any] | None:
    """What a shard says about itself (hash, shard, count), or None if the file is no whole shard.

    A shard is written aside and renamed, so one under its final name is whole unless somebody
    else changed it.
    """
    try:
        data = path.read_bytes()
        load(data)
        return json.loads(_header(data)[0]["__metadata__"]["deepstack"])
    except (OSError, SafetensorError, ValueError, KeyError):
        return None


def _header(data: bytes | memoryview | mmap.mmap) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file and where its data begin."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(bytes(data[8 : 8 + size])), 8 + size


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = json.dumps(asdict(manifest), indent=1, allow_nan=False)
    write_atomically(folder / MANIFEST, text + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a data set; an InputError says what is wrong with it."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"data {str(folder)!r}: expected a folder with {MANIFEST} ({error.strerror})"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: expected a whole JSON file ({error})") from None
    known = {entry.name for entry in fields(Manifest)}
    if not isinstance(content, dict) or set(content) != known:
        found = set(content) if isinstance(content, dict) else set()
        wrong = ", ".join(sorted(found ^ known))
        raise InputError(f"{path}: expected the manifest of a data set; differs in {wrong}")
    if content["version"] != VERSION:
        raise InputError(f"{path}: version {content['version']}, expected {VERSION}")
    shards = [Shard(**shard) for shard in content.pop("shards")]
    return Manifest(shards=shards, **content)


def join_manifests(manifests: Sequence[Manifest]) -> Manifest:
    """One manifest for data sets of one stage that are read together."""
    first = manifests[0]
    if len(manifests) == 1:
        return first
    for other in manifests[1:]:
        for name in ("stage", "game", "stack", "dtype"):
            if getattr(other, name) != getattr(first, name):
                raise InputError(
                    f"data sets of {name} {getattr(first, name)!r} and {getattr(other, name)!r}: "
                    "expected the same"
                )
    hashes = " ".join(manifest.hash for manifest in manifests)
    return replace(
        first,
        hash=hashlib.sha256(hashes.encode()).hexdigest()[:16],
        samples=sum(manifest.samples for manifest in manifests),
        shards_total=sum(manifest.shards_total for manifest in manifests),
        shards=[shard for manifest in manifests for shard in manifest.shards],
        sources=list(dict.fromkeys(name for m in manifests for name in m.sources)),
        exploitability=None,
    )


class Dataset:
    """A data set on the disk, read through memory maps; shards count once the manifest has them.

    Args:
        paths: its folder; several data sets of one stage are read as one after the other.
    """

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        folders = [Path(path) for path in paths]
        self.path, self.parts = folders[0], len(folders)
        manifests = [read_manifest(folder) for folder in folders]
        self.manifest = join_manifests(manifests)
        self._files: list[Path] = []
        self._sources: list[npt.NDArray[np.uint8]] = []  # of every shard: its numbers to ours
        names = self.manifest.sources
        for folder, manifest in zip(folders, manifests, strict=True):
            ours = np.array([names.index(name) for name in manifest.sources], np.uint8)
            self._files += [folder / shard.name for shard in manifest.shards]
            self._sources += [ours] * len(manifest.shards)
        counts = [shard.count for shard in self.manifest.shards]
        self._first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        self._open: dict[int, dict[str, npt.NDArray[Any]]] = {}

    def __len__(self) -> int:
        return int(self._first[-1])

    def verify(self, shards: Iterable[int] | None = None) -> None:
        """Compare checksums of all shards, or of some; an InputError names the first bad one."""
        for number in range(len(self.manifest.shards)) if shards is None else shards:
            shard = self.manifest.shards[number]
            path = self._files[number]
            try:
                with open(path, "rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise InputError(
                    f"{path}: expected a shard of {shard.count} samples ({error.strerror})"
                ) from None
            if found != shard.sha256:
                raise InputError(
                    f"{path}: altered or truncated, checksum {found[:12]}…, "
                    f"expected {shard.sha256[:12]}…"
                )

    def shard(self, number: int) -> Samples:
        """All samples of a shard."""
        arrays = self.mapped(number)
        return _samples({name: np.asarray(array) for name, array in arrays.items()})

    def take(self, indices: npt.ArrayLike) -> Samples:
        """Samples [n] by their numbers in the whole data set, in the given order."""
        wanted = np.asarray(indices, np.int64).reshape(-1)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < len(self):
            raise InputError(f"samples {wanted.min()} to {wanted.max()}: there are {len(self)}")
        numbers = np.searchsorted(self._first, wanted, "right") - 1
        if not len(self.manifest.shards):
            raise InputError(f"data {str(self.path)!r}: expected at least one shard")
        first = self.mapped(int(numbers[0]) if len(numbers) else 0)
        picked = {
            name: np.empty((len(wanted), *array.shape[1:]), array.dtype)
            for name, array in first.items()
        }
        for number in np.unique(numbers):
            rows = np.flatnonzero(numbers == number)
            inside = wanted[rows] - self._first[number]
            for name, array in self.mapped(int(number)).items():
                picked[name][rows] = array[inside]
        return _samples(picked)

    def split(self, validation: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Numbers of the samples to train with, and of those held out: about the share given.

        By board: all samples on boards that differ only in the names of suits are on the same
        side, and stay there when the data set grows. Games with few boards are split by sample.
        """
        if not 0 <= validation < 1:
            raise InputError(f"validation={validation}: expected a share of at least 0 and below 1")
        numbers = np.arange(len(self), dtype=np.int64)
        keys = self._board_keys
        held_out = _hash(numbers if keys is None else keys) < validation
        return numbers[~held_out], numbers[held_out]

    def columns(self, name: str) -> npt.NDArray[Any]:
        """One stored array of all samples, such as ``pot`` or ``exploitability``."""
        parts = [self.mapped(n)[name] for n in range(len(self.manifest.shards))]
        return np.concatenate(parts)

    @cached_property
    def _board_keys(self) -> npt.NDArray[np.int64] | None:
        """The class of every sample's board [N]; None where there are too few classes."""
        if len(self) == 0:
            return None
        boards, deck = self.columns("board"), load_game(self.manifest.game).deck
        if boards.shape[1] == 0:
            return None
        indexer = Indexer((boards.shape[1],), len(deck.ranks), len(deck.suits))
        return indexer.index(boards) if indexer.size() >= FEW_BOARDS else None

    def mapped(self, number: int) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a shard as they are stored, as memory maps."""
        if not 0 <= number < len(self.manifest.shards):
            raise InputError(f"shard {number}: there are {len(self.manifest.shards)}")
        if number not in self._open:
            shard = self.manifest.shards[number]
            arrays = _map(self._files[number])
            if len(arrays["pot"]) != shard.count:
                raise InputError(
                    f"{self._files[number]}: {len(arrays['pot'])} samples, expected {shard.count}"
                )
            arrays["source"] = self._sources[number][arrays["source"]]
            self._open[number] = arrays
        return self._open[number]


def _map(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        data = np.memmap(path, np.uint8, "r")
        header, begin = _header(data.data)
        arrays = {}
        for entry in fields(Samples):
            about = header[entry.name]
            first, last = about["data_offsets"]
            flat = data[begin + first : begin + last]
            dtype = np.dtype(_DTYPES[about["dtype"]])
            if len(flat) != math.prod(about["shape"]) * dtype.itemsize:
                raise ValueError(f"{entry.name} is cut off")
            arrays[entry.name] = flat.view(dtype).reshape(about["shape"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: expected a whole shard ({error})") from None
    return arrays


def _samples(arrays: dict[str, npt.NDArray[Any]]) -> Samples:
    """Ranges of sum 1 and values as float32."""
    ranges = arrays["ranges"].astype(np.float32)
    ranges /= ranges.sum(axis=-1, keepdims=True)
    return Samples(**{**arrays, "ranges": ranges, "values": arrays["values"].astype(np.float32)})


def _hash(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Whole numbers [N] scattered over [0, 1), the same ones always to the same place."""
    x = numbers.astype(np.uint64)
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x + np.uint64(0x9E3779B97F4A7C15)) ^ (x >> np.uint64(shift))
            x = x * np.uint64(factor)
    return (x >> np.uint64(11)).astype(np.float64) / 2.0**53
