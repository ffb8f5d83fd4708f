"""Batches of solved situations for training and validation.

Samples that fit into the memory allowed are held as they are stored (half precision). Otherwise
they are read through memory maps in blocks of neighbours: blocks come in random order and samples
are shuffled over a window of many blocks. Either way a batch is made of whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import lightning
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from data_gen.storage import Dataset
from deepstack.run.errors import InputError
from deepstack.values.inputs import Inputs, Situations, Tables

Ints = npt.NDArray[np.int64]

BLOCK = 250
"""Neighbouring samples that are read together where the data do not fit into memory."""
FEW_BOARDS = 1024
"""Up to so many different boards, their tables are made once and shared by all batches."""


class Batch(NamedTuple):
    """Situations and what was solved: ``values`` float32 [N, 2, H] in fractions of the pot.

    ``source`` uint8 [N] is the family of each situation's ranges, by its number in the manifest.
    """

    situations: Situations
    values: Tensor
    source: Tensor


class Solved:
    """The samples of a data set, in memory if they fit.

    Args:
        dataset: on the disk.
        memory: bytes that may be held.
    """

    def __init__(self, dataset: Dataset, memory: float) -> None:
        self.dataset = dataset
        self.boards: npt.NDArray[np.uint8] = dataset.columns("board")
        self.pots: npt.NDArray[np.float32] = dataset.columns("pot")
        self.sources: npt.NDArray[np.uint8] = dataset.columns("source")
        sample = dataset.mapped(0)
        size = sum(sample[name][:1].nbytes for name in ("ranges", "values"))
        self.held = size * len(dataset) <= memory
        if self.held:
            self._ranges = dataset.columns("ranges")
            self._values = dataset.columns("values")

    @cached_property
    def few_boards(self) -> npt.NDArray[np.uint8] | None:
        """The different boards [B, C] in order, or None if there are many."""
        if len(np.unique(self.boards[: 4 * FEW_BOARDS], axis=0)) > FEW_BOARDS:
            return None
        distinct = np.unique(self.boards, axis=0)
        return distinct if len(distinct) <= FEW_BOARDS else None

    def take(self, at: Ints) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Ranges of sum 1 and values of samples [N], both float32 [N, 2, H]."""
        if not self.held:
            samples = self.dataset.take(at)
            return (
                np.asarray(samples.ranges, np.float32),
                np.asarray(samples.values, np.float32),
            )
        ranges = self._ranges[at].astype(np.float32)
        ranges /= ranges.sum(axis=2, keepdims=True)
        return ranges, self._values[at].astype(np.float32)


class Batches(IterableDataset):
    """Batches of some samples of a data set; every pass in a new order if ``seed`` is given.

    Args:
        solved: where the samples come from.
        numbers: [n] which ones.
        inputs: what the network sees.
        size: samples in a batch.
        stack: chips each player starts with.
        passes: how often one iteration goes over the samples.
        seed: of the order; None keeps it as it is.
        share: (rank, of how many) processes that train together.
    """

    def __init__(
        self,
        solved: Solved,
        numbers: Ints,
        inputs: Inputs,
        *,
        size: int,
        stack: int,
        passes: int = 1,
        seed: int | None = None,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        self.solved, self.numbers, self.inputs = solved, numbers, inputs
        self.size, self.stack, self.passes = min(size, len(numbers)), stack, passes
        self.seed, self.share = seed, share
        self.epoch = 0
        """The order of an iteration depends on it and the seed alone."""
        few = solved.few_boards
        self._shared: Tables | None = None if few is None else inputs.tables(few)

    def __len__(self) -> int:
        """Batches of one process; in training the last incomplete one of a pass is left out."""
        whole = len(self.numbers) / self.size
        batches = int(whole) if self.seed is not None else ceil(whole)
        return self.passes * (batches // self.share[1] if self.seed is not None else batches)

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        rank, world = self.share if self.seed is not None else (0, 1)
        mine, of = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for number in range(self.passes):
            order = self._order((self.epoch, number))
            batches = len(self) // self.passes
            for batch in range(mine, batches, of):
                begin = (batch * world + rank) * self.size
                yield self.batch(order[begin : begin + self.size])

    @cached_property
    def _groups(self) -> list[Ints]:
        """Samples in groups of neighbours on one board, which are cheaper together."""
        boards = self.solved.boards[self.numbers]
        new = (boards[1:] != boards[:-1]).any(axis=1)
        return np.split(self.numbers, np.nonzero(new)[0] + 1)

    def _order(self, key: tuple[int, int]) -> Ints:
        if self.seed is None:
            return self.numbers
        rng = np.random.default_rng((self.seed, *key))
        if self.solved.held:
            return np.concatenate([self._groups[i] for i in rng.permutation(len(self._groups))])
        blocks = [self.numbers[i : i + BLOCK] for i in range(0, len(self.numbers), BLOCK)]
        ordered = [blocks[block] for block in rng.permutation(len(blocks))]
        window = max(1, 40 * self.size // BLOCK)
        mixed = [
            rng.permutation(np.concatenate(ordered[i : i + window]))
            for i in range(0, len(ordered), window)
        ]
        return np.concatenate(mixed)

    def batch(self, at: Ints) -> Batch:
        """The samples of some numbers [N]."""
        ranges, values = self.solved.take(at)
        boards = self.solved.boards[at]
        few = self.solved.few_boards
        if few is None or self._shared is None:
            distinct, place = np.unique(boards, axis=0, return_inverse=True)
            tables, place = self.inputs.tables(distinct), place.reshape(-1).astype(np.int64)
        else:
            tables, place = self._shared, _places(few, boards)
        situations = Situations(
            torch.from_numpy(ranges),
            torch.from_numpy(self.solved.pots[at] / np.float32(2 * self.stack)),
            torch.from_numpy(place),
            tables,
        )
        source = torch.from_numpy(self.solved.sources[at])
        return Batch(situations, torch.from_numpy(values), source)


def _places(distinct: npt.NDArray[np.uint8], boards: npt.NDArray[np.uint8]) -> Ints:
    """Rows of boards [N, C] in a sorted list of different ones [B, C]."""
    weights = 64 ** np.arange(boards.shape[1], dtype=np.int64)[::-1]
    found = np.searchsorted(distinct.astype(np.int64) @ weights, boards.astype(np.int64) @ weights)
    return found.astype(np.int64)


class SolvedData(lightning.LightningDataModule):
    """A data set, split by held-out boards.

    Args:
        dataset: solved situations.
        inputs: what the network sees.
        batch: samples in a batch, over all processes.
        validation: share of the boards held out.
        validation_most: at most so many samples of them are measured.
        samples: train with so many at most.
        memory: bytes of samples that may be held.
        seed: of the order.
        least_steps: go over small data sets several times between validations, for so many steps.
        workers: processes that prepare batches; 0 does it in the training process.
    """

    def __init__(
        self,
        dataset: Dataset,
        inputs: Inputs,
        *,
        batch: int,
        validation: float,
        validation_most: int,
        samples: int | None,
        memory: float,
        seed: int,
        least_steps: int,
        workers: int = 0,
    ) -> None:
        super().__init__()
        train, held_out = dataset.split(validation)
        if samples is not None:
            if samples > len(train):
                raise InputError(f"samples={samples}: the data have {len(train)} to train with")
            train = train[:samples]
        if len(held_out) > validation_most and dataset.parts > 1:
            # of every data set its share
            held_out = held_out[np.linspace(0, len(held_out) - 1, validation_most).astype(int)]
        held_out = held_out[:validation_most]
        if not len(train) or not len(held_out):
            raise InputError(
                f"data {str(dataset.path)!r}: {len(train)} samples to train with and "
                f"{len(held_out)} to validate: expected some of both"
            )
        self.train_numbers, self.held_out = train, held_out
        self.solved = Solved(dataset, memory)
        self.inputs, self.batch, self.seed, self.workers = inputs, batch, seed, workers
        self.stack, self.sources = dataset.manifest.stack, dataset.manifest.sources
        self.passes = ceil(least_steps / max(1, len(train) // min(batch, len(train))))

    @property
    def samples(self) -> int:
        return len(self.train_numbers)

    @property
    def steps(self) -> int:
        """Steps between two validations, in one process."""
        return len(self._train_batches())

    def _train_batches(self) -> Batches:
        share = (0, 1)
        if self.trainer is not None:
            share = (self.trainer.global_rank, self.trainer.world_size)
        return Batches(
            self.solved,
            self.train_numbers,
            self.inputs,
            size=max(1, self.batch // share[1]),
            stack=self.stack,
            passes=self.passes,
            seed=self.seed,
            share=share,
        )

    def train_dataloader(self) -> DataLoader[Any]:
        self._batches = self._train_batches()
        self.begin_epoch(0 if self.trainer is None else self.trainer.current_epoch)
        return self._loader(self._batches)

    def begin_epoch(self, epoch: int) -> None:
        """Give the batches the order of an epoch."""
        self._batches.epoch = epoch

    def val_dataloader(self) -> DataLoader[Any]:
        return self._loader(self.validation_batches())

    def validation_batches(self) -> Batches:
        """Held-out situations in order."""
        size = max(64, min(self.batch, 1024))
        return Batches(self.solved, self.held_out, self.inputs, size=size, stack=self.stack)

    def _loader(self, batches: Batches) -> DataLoader[Any]:
        return DataLoader(batches, batch_size=None, num_workers=self.workers)
