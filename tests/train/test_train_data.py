"""Batches: what is in them, their order, and how processes share them."""

from __future__ import annotations

import numpy as np
import pytest
from solved_leduc import write_data

from data_gen.storage import Dataset
from deepstack.run.errors import InputError
from deepstack.values.inputs import make_inputs
from train.data import Batches, Solved, SolvedData

INPUTS = make_inputs("hands", "leduc_start")
SETTINGS = {
    "batch": 20,
    "validation": 0.2,
    "validation_most": 1000,
    "samples": None,
    "memory": 1e9,
    "seed": 1,
    "least_steps": 1,
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return Dataset(write_data(tmp_path_factory.mktemp("data") / "leduc"))


def pots(batches):
    return np.concatenate([batch.situations.pot_fraction.numpy() for batch in batches])


def test_a_batch_holds_the_samples_that_were_asked_for(dataset):
    solved = Solved(dataset, memory=1e9)
    numbers = np.array([250, 3, 120])
    batch = Batches(solved, numbers, INPUTS, size=3, stack=1200).batch(numbers)
    samples = dataset.take(numbers)
    np.testing.assert_allclose(batch.situations.ranges.numpy(), samples.ranges, rtol=1e-6)
    np.testing.assert_allclose(batch.values.numpy(), samples.values)
    np.testing.assert_allclose(batch.situations.pot_fraction.numpy() * 2400, samples.pot, rtol=1e-6)
    tables = batch.situations.tables
    assert (tables.boards[batch.situations.place].numpy() == samples.board).all()


@pytest.mark.parametrize("memory", [1e9, 0.0])
def test_a_pass_goes_over_every_sample_once(dataset, memory):
    solved, numbers = Solved(dataset, memory), np.arange(300)
    batches = Batches(solved, numbers, INPUTS, size=30, stack=1200, seed=1)
    assert len(batches) == 10
    np.testing.assert_allclose(np.sort(pots(batches) * 2400), np.sort(solved.pots), rtol=1e-6)


@pytest.mark.parametrize("memory", [1e9, 0.0])
def test_the_order_depends_on_the_seed_and_the_epoch(dataset, memory):
    solved, numbers = Solved(dataset, memory), np.arange(300)

    def order(seed, epoch):
        batches = Batches(solved, numbers, INPUTS, size=30, stack=1200, seed=seed)
        batches.epoch = epoch
        return pots(batches).tolist()

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_processes_share_a_pass_without_overlap(dataset):
    solved, numbers = Solved(dataset, 1e9), np.arange(300)
    parts = [
        pots(Batches(solved, numbers, INPUTS, size=15, stack=1200, seed=1, share=(rank, 2)))
        for rank in (0, 1)
    ]
    together = np.sort(np.concatenate(parts) * 2400)
    np.testing.assert_allclose(together, np.sort(solved.pots), rtol=1e-6)


def test_held_out_samples_are_not_trained_on(dataset):
    data = SolvedData(dataset, INPUTS, **SETTINGS)
    assert not set(data.train_numbers) & set(data.held_out)
    assert len(data.train_numbers) + len(data.held_out) == 300
    assert 20 < len(data.held_out) < 120


def test_small_data_are_gone_over_several_times_between_validations(dataset):
    data = SolvedData(dataset, INPUTS, **{**SETTINGS, "least_steps": 40})
    assert data.steps >= 40
    assert data.steps % data.passes == 0


def test_more_samples_than_there_are_is_an_error(dataset):
    with pytest.raises(InputError, match="samples=5000: the data have"):
        SolvedData(dataset, INPUTS, **{**SETTINGS, "samples": 5000})


def test_data_without_a_part_to_validate_is_an_error(dataset):
    with pytest.raises(InputError, match="expected some of both"):
        SolvedData(dataset, INPUTS, **{**SETTINGS, "validation": 0.0})
