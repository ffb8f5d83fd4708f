"""A small data set for tests of training: no-limit Leduc with values that are easy to learn."""

from __future__ import annotations

import hashlib

import numpy as np

from data_gen.storage import (
    Manifest,
    Samples,
    Shard,
    configuration_hash,
    encode_shard,
    shard_name,
    write_manifest,
)
from deepstack.values.inputs import make_inputs


def write_data(folder, shards=3, per_shard=100, stage="leduc_start"):
    """Showdowns without betting: a hand's value is half a pot for every hand it beats."""
    folder.mkdir(parents=True, exist_ok=True)
    config: dict = {"name": stage}
    identity = configuration_hash(config, 1)
    done = []
    inputs = make_inputs("hands", "leduc_start")
    for number in range(shards):
        rng = np.random.default_rng((1, number))
        boards = rng.integers(6, size=(per_shard, 1)).astype(np.uint8)
        ranges = rng.random((per_shard, 2, 5)) + 0.01
        ranges /= ranges.sum(axis=2, keepdims=True)
        tables = inputs.tables(np.arange(6)[:, None])
        slot = tables.parts["slot"].numpy()[boards[:, 0]]
        rows = np.arange(per_shard)[:, None, None]
        beats = tables.parts["beats"].numpy()[boards[:, 0]][rows, slot[:, :, None], slot[:, None]]
        values = 0.5 * np.einsum("nij,npj->npi", beats, ranges[:, ::-1])
        samples = Samples(
            boards,
            rng.uniform(200, 2400, per_shard).astype(np.float32),
            ranges,
            values,
            np.zeros(per_shard, np.float32),
            np.zeros(per_shard, np.uint8),
        )
        data = encode_shard(samples, number, identity, np.float32)
        (folder / shard_name(number)).write_bytes(data)
        done.append(Shard(shard_name(number), per_shard, hashlib.sha256(data).hexdigest()))
    write_manifest(
        folder,
        Manifest(
            stage=stage,
            game="nolimit_leduc",
            stack=1200,
            hash=identity,
            config=config,
            seed=1,
            samples=shards * per_shard,
            samples_per_shard=per_shard,
            shards_total=shards,
            menu=None,
            target=None,
            sources=["random"],
            dtype="float32",
            shards=done,
        ),
    )
    return folder
