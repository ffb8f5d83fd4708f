"""Making data sets: resuming, extending, killing, workers that die."""

import importlib.util
import json
import multiprocessing
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from data_gen.generation import Order, generating, make_shard
from data_gen.storage import Dataset, shard_name
from deepstack.run.errors import InputError
from deepstack.run.executors import InProcess, OnRay, Processes

SMALL = {
    "name": "leduc_start",
    "game": "nolimit_leduc",
    "bets": "fcpa",
    "pots": [[100, 1200]],
    "ranges": {"random": 1.0},
    "algorithm": "dcfr_plus",
    "rule": {},
    "target": [[0, 0.01]],
    "iterations": 200,
    "dtype": "float32",
    "shard": 5,
}
SEED = 3


def run(folder, samples, executor=None, config=SMALL, seed=SEED):
    with generating(folder, config, seed, samples) as generation:
        made = []
        generation.run(executor or InProcess(), made.append)
    return made


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A data set of 102 samples in 21 shards."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(folder, 102)
    return folder


def test_a_data_set_has_all_samples_and_verifies(undisturbed):
    data = Dataset(undisturbed)
    data.verify()
    assert (len(data), len(data.manifest.shards), data.manifest.shards_total) == (102, 21, 21)
    assert data.manifest.exploitability["mean"] <= 0.01
    assert data.manifest.menu == "100%, a"
    assert data.manifest.sources == ["random"]


def test_a_shard_depends_on_seed_and_number_alone():
    pieces = [
        make_shard(SMALL, seed, Order(number, 5)).data
        for seed, number in ((1, 0), (1, 0), (1, 1), (2, 0))
    ]
    assert pieces[0] == pieces[1]
    assert len(set(pieces)) == 3


def test_killed_ten_times_the_data_are_those_of_an_undisturbed_run(tmp_path, undisturbed):
    """SIGKILL at random moments, in the middle of solving and of writing."""
    rng = np.random.default_rng(1)
    fork = multiprocessing.get_context("fork")  # starts at once, which leaves time to be killed
    for _ in range(10):
        child = fork.Process(target=run, args=(tmp_path, 102))
        child.start()
        time.sleep(rng.uniform(0.005, 0.06))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    run(tmp_path, 102)
    assert contents(tmp_path) == contents(undisturbed)


def test_what_is_done_is_not_made_again(tmp_path):
    run(tmp_path, 20)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")}
    assert run(tmp_path, 20) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")} == times


def test_a_shard_that_was_written_but_not_listed_is_taken_in(tmp_path):
    run(tmp_path, 20)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["shards"] = manifest["shards"][:2]
    path.write_text(json.dumps(manifest))
    assert run(tmp_path, 20) == []
    assert len(Dataset(tmp_path)) == 20


def test_what_a_killed_run_left_aside_is_removed(tmp_path):
    (tmp_path / ".shard-000001.1234abcd.safetensors").write_bytes(b"half")
    run(tmp_path, 5)
    assert not list(tmp_path.glob(".shard-*"))


def test_a_damaged_shard_that_is_not_listed_is_made_again(tmp_path, undisturbed):
    (tmp_path / shard_name(0)).write_bytes((undisturbed / shard_name(0)).read_bytes()[:-3])
    run(tmp_path, 102)
    assert contents(tmp_path) == contents(undisturbed)


def test_a_shard_of_other_data_is_not_taken_in(tmp_path, undisturbed):
    other = make_shard(SMALL, SEED + 1, Order(0, 5)).data
    (tmp_path / shard_name(0)).write_bytes(other)
    run(tmp_path, 102)
    assert contents(tmp_path) == contents(undisturbed)


def test_a_shard_that_was_lost_is_made_again(tmp_path, undisturbed):
    run(tmp_path, 102)
    (tmp_path / shard_name(4)).unlink()
    assert run(tmp_path, 102) == [5]
    assert contents(tmp_path) == contents(undisturbed)


def test_more_samples_continue_the_data_set(tmp_path, undisturbed):
    run(tmp_path, 33)
    run(tmp_path, 102)
    assert contents(tmp_path) == contents(undisturbed)


def test_fewer_samples_take_nothing_away(tmp_path):
    run(tmp_path, 20)
    assert run(tmp_path, 7) == []
    assert len(Dataset(tmp_path)) == 20


@pytest.mark.parametrize(
    ("config", "seed", "message"),
    [
        (SMALL, SEED + 1, f"made with seed {SEED}, expected that or another folder"),
        (SMALL | {"bets": "fc"}, SEED, "made with bets fcpa, .*, not fc"),
    ],
)
def test_data_of_another_configuration_are_not_mixed(tmp_path, config, seed, message):
    run(tmp_path, 5)
    with pytest.raises(InputError, match=message):
        run(tmp_path, 10, config=config, seed=seed)


def test_two_runs_cannot_write_to_one_folder(tmp_path):
    with (
        generating(tmp_path, SMALL, SEED, 5),
        pytest.raises(InputError, match="another run is writing"),
    ):
        run(tmp_path, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "moon"}, "stage 'moon': expected one of river_start"),
        ({"game": "leduc"}, "expected a no-limit game"),
        ({"target": [[1, 0.1]]}, "depths ascending from 0"),
        ({"target": "0.5%"}, "target=0.5%: expected"),
        ({"iterations": 0}, "iterations=0: expected at least 1"),
        ({"dtype": "int8"}, "dtype 'int8': expected one of float16"),
        ({"shard": 0}, "shard=0"),
        ({"algorithm": "magic"}, "algorithm 'magic'"),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_made(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path / "data", 5, config=SMALL | changes)
    assert not (tmp_path / "data").exists()


# ---- workers


def die_once(task, marker, seed):
    """The task, by a worker that is killed the first time."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return task(seed)
    os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """An executor of which one worker is killed in its first task."""

    def __init__(self, executor, marker):
        self.executor, self.marker = executor, str(marker)

    def map(self, task, seeds):
        return self.executor.map(partial(die_once, task, self.marker), seeds)


def test_shards_of_a_process_that_died_are_made_again(tmp_path, undisturbed):
    marker = tmp_path / "died"
    run(tmp_path / "data", 102, Dying(Processes(2), marker))
    assert marker.exists()
    assert contents(tmp_path / "data") == contents(undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_shards_of_a_ray_worker_that_died_are_made_again(tmp_path, undisturbed):
    import ray
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    marker = tmp_path / "died"
    try:
        run(tmp_path / "data", 102, Dying(OnRay(2), marker))
    finally:
        ray.shutdown()
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert marker.exists()
    assert contents(tmp_path / "data") == contents(undisturbed)
