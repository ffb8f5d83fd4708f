"""Storage: what is written comes back, what was altered is named, splits hold boards out."""

import hashlib
import json

import numpy as np
import pytest

from data_gen.storage import (
    Dataset,
    Manifest,
    Samples,
    Shard,
    encode_shard,
    quantised,
    shard_name,
    write_manifest,
)
from deepstack.run.errors import InputError

HANDS = 1081


def some_samples(count, seed):
    rng = np.random.default_rng(seed)
    return Samples(
        board=np.sort(rng.permuted(np.tile(np.arange(52), (count, 1)), axis=1)[:, :5]).astype("u1"),
        pot=rng.integers(200, 40000, count).astype(np.float32),
        ranges=quantised(rng.random((count, 2, HANDS)) ** 8),
        values=rng.normal(size=(count, 2, HANDS)),
        exploitability=rng.random(count).astype(np.float32),
        source=np.zeros(count, np.uint8),
    )


def write_data(folder, parts):
    shards = []
    for number, samples in enumerate(parts):
        data = encode_shard(samples, number, "0" * 16, np.float16)
        (folder / shard_name(number)).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        shards.append(Shard(shard_name(number), len(samples), digest))
    manifest = Manifest(
        stage="river_start",
        game="hunl",
        stack=20000,
        hash="0" * 16,
        config={},
        seed=1,
        samples=sum(map(len, parts)),
        samples_per_shard=len(parts[0]),
        shards_total=len(parts),
        menu="100%, a",
        target=[[0, 0.005]],
        sources=["random"],
        dtype="float16",
        shards=shards,
    )
    write_manifest(folder, manifest)
    return manifest


@pytest.fixture
def data(tmp_path):
    write_data(tmp_path, [some_samples(40, 1), some_samples(40, 2), some_samples(15, 3)])
    return tmp_path


def test_a_shard_comes_back(data):
    written, read = some_samples(40, 2), Dataset(data).shard(1)
    np.testing.assert_array_equal(read.board, written.board)
    np.testing.assert_array_equal(read.pot, written.pot)
    np.testing.assert_array_equal(read.exploitability, written.exploitability)
    np.testing.assert_allclose(read.ranges, written.ranges, rtol=1e-6)
    # float16 has eleven bits
    np.testing.assert_allclose(read.values, written.values, rtol=2**-11, atol=1e-7)
    assert read.ranges.dtype == read.values.dtype == np.float32


def test_the_manifest_comes_back(data):
    manifest = Dataset(data).manifest
    assert (manifest.stage, manifest.done, manifest.shards_total) == ("river_start", 95, 3)


def test_ranges_that_were_quantised_are_stored_exactly():
    ranges = quantised(np.random.default_rng(4).random((3, 2, HANDS)) ** 30)
    np.testing.assert_allclose(quantised(ranges), ranges, rtol=1e-15)


def test_samples_are_taken_in_the_order_asked_for(data):
    found = Dataset(data).take([94, 3, 41, 3])
    last, first, second = (some_samples(*part) for part in ((15, 3), (40, 1), (40, 2)))
    pots = [last.pot[14], first.pot[3], second.pot[1], first.pot[3]]
    np.testing.assert_array_equal(found.pot, pots)


def test_taking_nothing_gives_nothing(data):
    assert len(Dataset(data).take([])) == 0


@pytest.mark.parametrize("index", [-1, 95])
def test_a_sample_that_is_not_there_is_refused(data, index):
    with pytest.raises(InputError, match="there are 95"):
        Dataset(data).take([index])


def test_untouched_data_verify(data):
    Dataset(data).verify()


def test_a_flipped_bit_is_found_and_the_shard_named(data):
    path = data / shard_name(1)
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"shard-000001\.safetensors: altered or truncated"):
        Dataset(data).verify()


def test_a_truncated_shard_is_found_and_named(data):
    path = data / shard_name(2)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"shard-000002\.safetensors: altered or truncated"):
        Dataset(data).verify()
    with pytest.raises(InputError, match=r"shard-000002\.safetensors: expected a whole shard"):
        Dataset(data).shard(2)


def test_a_missing_shard_is_named(data):
    (data / shard_name(0)).unlink()
    with pytest.raises(InputError, match=r"shard-000000\.safetensors: expected a shard of 40"):
        Dataset(data).verify()


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected a folder with manifest\.json"):
        Dataset(tmp_path)


def test_a_manifest_with_a_missing_key_is_refused(data):
    content = json.loads((data / "manifest.json").read_text())
    del content["stack"]
    (data / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="differs in stack"):
        Dataset(data)


def test_a_split_is_of_all_samples_and_about_the_share(tmp_path):
    write_data(tmp_path, [some_samples(400, 5)])
    train, held_out = Dataset(tmp_path).split(0.25)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, held_out])), np.arange(400))
    # four standard deviations
    assert abs(len(held_out) - 100) < 4 * np.sqrt(400 * 0.25 * 0.75)


def test_a_split_keeps_boards_together_whatever_their_suits_are_called(tmp_path):
    one = some_samples(200, 6)
    renamed = np.sort(one.board // 4 * 4 + np.array([2, 0, 3, 1], np.uint8)[one.board % 4])
    other = Samples(renamed, one.pot, one.ranges, one.values, one.exploitability, one.source)
    write_data(tmp_path, [one, other])
    _, held_out = Dataset(tmp_path).split(0.3)
    first, second = held_out[held_out < 200], held_out[held_out >= 200] - 200
    np.testing.assert_array_equal(first, second)


def test_a_split_does_not_move_when_data_grow(tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    write_data(small, [some_samples(100, 7)])
    write_data(large, [some_samples(100, 7), some_samples(100, 8)])
    _, before = Dataset(small).split(0.2)
    _, after = Dataset(large).split(0.2)
    np.testing.assert_array_equal(before, after[after < 100])


def test_the_same_samples_give_the_same_bytes():
    one, two = (encode_shard(some_samples(5, 9), 3, "ab", np.float16) for _ in range(2))
    assert one == two


def test_values_that_are_not_finite_are_not_written():
    samples = some_samples(2, 10)
    samples.values[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="shard 4"):
        encode_shard(samples, 4, "ab", np.float16)
