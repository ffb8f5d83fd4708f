"""The loop over shards: what is missing is made somewhere and written here.

A shard is a pure function of configuration, seed and its number, made by a worker and returned as
the bytes of its file. Only the process that holds the folder's lock writes, each file aside and
then renamed, so a run may be killed at any moment: what is there is whole, and the next run makes
what is missing and nothing else. Workers need no access to the folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from data_gen.stages import read_settings
from data_gen.storage import (
    MANIFEST,
    WHERE,
    Dataset,
    Manifest,
    Shard,
    about_shard,
    configuration_hash,
    encode_shard,
    read_manifest,
    shard_name,
    write_manifest,
)
from deepstack.run.errors import InputError
from deepstack.run.executors import Executor
from deepstack.run.files import write_atomically
from deepstack.tree.menus import format_menu

LOCK = ".lock"
RESTARTS = 3
"""How often in a row workers may die before a shard is finished."""

Config = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """A shard to make: its number and how many samples."""

    number: int
    count: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A shard that was made: its order, the bytes of its file, exploitability [N]."""

    order: Order
    data: bytes
    exploitability: npt.NDArray[np.float32]


def make_shard(config: Config, seed: int, order: Order) -> Piece:
    """Make a shard: the task of a worker."""
    settings = read_settings(config)
    rng = np.random.default_rng([seed, order.number])
    samples = settings.stage.generate(settings, rng, order.count)
    identity = configuration_hash(config, seed)
    data = encode_shard(samples, order.number, identity, settings.dtype)
    return Piece(order, data, samples.exploitability)


class Generation:
    """A data set that is being made; use it inside ``generating``.

    Attributes:
        folder: of the data set.
        settings, config, seed: what its samples depend on.
        manifest: as it stands on the disk.
        exploitability: of every sample done, by shard number.
    """

    def __init__(self, folder: Path, config: Config, seed: int, samples: int) -> None:
        self.folder, self.config, self.seed = folder, config, seed
        self.settings = read_settings(config)
        self.manifest = self._start(samples)
        self.exploitability: dict[int, npt.NDArray[np.float32]] = {}
        self._adopt()

    def orders(self) -> list[Order]:
        """The shards still to make, in order."""
        done = {_number(shard): shard.count for shard in self.manifest.shards}
        wanted = _orders(self.manifest.samples, self.settings.shard)
        return [order for order in wanted if done.get(order.number, 0) < order.count]

    def run(self, executor: Executor, on_piece: Callable[[int], None] = lambda count: None) -> None:
        """Make what is missing; ``on_piece`` is told how many samples each new shard has.

        Where a worker process dies, its shards are made again.
        """
        task, failures = partial(make_shard, self.config, self.seed), 0
        while orders := self.orders():
            try:
                for piece in executor.map(task, orders):
                    self._keep(piece)
                    failures = 0
                    on_piece(piece.order.count)
            except BrokenExecutor:
                failures += 1
                if failures > RESTARTS:
                    raise

    def summary(self) -> dict[str, float] | None:
        """Mean and 95th percentile of the exploitability reached, shares of the pot."""
        parts = [self.exploitability[number] for number in sorted(self.exploitability)]
        known = [part for part in parts if not np.isnan(part).all()]
        if not known:
            return None
        every = np.concatenate(known).astype(np.float64)
        return {"mean": float(np.nanmean(every)), "p95": float(np.nanquantile(every, 0.95))}

    def bytes(self) -> int:
        """Size of the shards on the disk."""
        return sum((self.folder / shard.name).stat().st_size for shard in self.manifest.shards)

    def _start(self, samples: int) -> Manifest:
        """The manifest of the folder, or a new one; refuses data of another configuration."""
        settings, identity = self.settings, configuration_hash(self.config, self.seed)
        if (self.folder / MANIFEST).exists():
            old = read_manifest(self.folder)
            if old.hash != identity:
                raise InputError(f"data {str(self.folder)!r}: {self._difference(old)}")
            samples = max(samples, old.samples)
            return replace(old, samples=samples, shards_total=len(_orders(samples, settings.shard)))
        return Manifest(
            stage=settings.stage.name,
            game=self.config["game"],
            stack=min(settings.game.stacks),
            hash=identity,
            config=self.config,
            seed=self.seed,
            samples=samples,
            samples_per_shard=settings.shard,
            shards_total=len(_orders(samples, settings.shard)),
            menu=format_menu(settings.menu),
            target=self.config.get("target"),
            sources=list(settings.families),
            dtype=settings.dtype,
        )

    def _difference(self, old: Manifest) -> str:
        """How the data in the folder differ from those asked for."""
        if old.seed != self.seed:
            return f"made with seed {old.seed}, expected that or another folder, not {self.seed}"
        for key in sorted({*old.config, *self.config} - {*WHERE}):
            before, now = old.config.get(key), self.config.get(key)
            if before != now:
                return f"made with {key} {before}, expected that or another folder, not {now}"
        return "made by another version of the program, expected another folder"

    def _adopt(self) -> None:
        """Take in shards that were written and not yet listed; remove what was left aside."""
        for pattern in (".shard-*", ".manifest.*"):
            for leftover in self.folder.glob(pattern):
                leftover.unlink(missing_ok=True)
        listed = {_number(shard): shard for shard in self.manifest.shards}
        for order in _orders(self.manifest.samples, self.settings.shard):
            path = self.folder / shard_name(order.number)
            known = listed.get(order.number)
            if known is not None and path.exists():
                continue
            listed.pop(order.number, None)
            about = about_shard(path) if path.exists() else None
            if about is None or about["hash"] != self.manifest.hash:
                continue
            data = path.read_bytes()
            listed[order.number] = _shard(order.number, about["count"], data)
        self._list(listed.values())
        data_set = Dataset(self.folder)
        for number, shard in enumerate(self.manifest.shards):
            # a copy, so that no map keeps the file of a shard that will be replaced
            part = np.array(data_set.mapped(number)["exploitability"])
            self.exploitability[_number(shard)] = part
        self._list(self.manifest.shards)

    def _keep(self, piece: Piece) -> None:
        number, count = piece.order.number, piece.order.count
        write_atomically(self.folder / shard_name(number), piece.data)
        self.exploitability[number] = piece.exploitability
        others = [shard for shard in self.manifest.shards if _number(shard) != number]
        self._list([*others, _shard(number, count, piece.data)])

    def _list(self, shards: Any) -> None:
        ordered = sorted(shards, key=lambda shard: shard.name)
        self.manifest = replace(self.manifest, shards=ordered, exploitability=self.summary())
        write_manifest(self.folder, self.manifest)


@contextmanager
def generating(
    folder: str | os.PathLike[str], config: Config, seed: int, samples: int
) -> Iterator[Generation]:
    """A data set to go on with, held by this process alone.

    Args:
        folder: where it is or will be.
        config: the settings of its stage (``conf/stage``); the checksum of the network that they
            name is added to them.
        seed: fixes all samples.
        samples: how many there shall be; a data set that has more keeps them.
    """
    settings = read_settings(config)
    if settings.source is not None:  # what workers find must be the same network
        config = {**config, "network_sha256": settings.source.sha256}
    if samples < 1:
        raise InputError(f"samples={samples}: expected at least 1")
    if seed < 0:
        raise InputError(f"seed={seed}: expected at least 0")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"out={path}: expected a folder ({error.strerror})") from None
    with _locked(path):
        yield Generation(path, config, seed, samples)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder; the system lets go of it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with open(folder / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"data {str(folder)!r}: another run is writing to it, expected to be alone"
            ) from None
        yield


def _orders(samples: int, size: int) -> Sequence[Order]:
    """The shards of so many samples; the last one may be smaller.

    >>> _orders(5, 2)
    [Order(number=0, count=2), Order(number=1, count=2), Order(number=2, count=1)]
    """
    starts = range(0, samples, size)
    return [Order(n, min(size, samples - start)) for n, start in enumerate(starts)]


def _number(shard: Shard) -> int:
    return int(shard.name.removeprefix("shard-").removesuffix(".safetensors"))


def _shard(number: int, count: int, data: bytes) -> Shard:
    return Shard(shard_name(number), count, hashlib.sha256(data).hexdigest())
