"""The small network in NumPy says what it says in torch."""

from __future__ import annotations

import numpy as np
import pytest

from deepstack.run.errors import InputError
from deepstack.values.fast import FastMlp
from deepstack.values.model import build_network

FLOAT32 = 2e-6  # two orders of summation of numbers of order 1


@pytest.fixture(scope="module")
def network():
    return build_network("leduc_start", "mlp", {"hidden": 20, "layers": 2}, seed=3)


def situations(count, rng):
    boards = rng.integers(6, size=count)
    ranges = rng.random((count, 2, 6)) ** 3
    ranges[np.arange(count), :, boards] = 0.0
    ranges /= ranges.sum(axis=2, keepdims=True)
    return ranges.astype(np.float32), boards, rng.uniform(0.08, 1.0, count).astype(np.float32)


def test_it_agrees_with_torch_on_every_board(network):
    ranges, boards, pots = situations(60, np.random.default_rng(1))
    tables = network.tables(np.arange(6)[:, None])
    hands = tables.hands.numpy()[boards]
    live = np.take_along_axis(ranges, hands[:, None], axis=2)
    expected = network.evaluate(tables, boards, pots, live)
    found = FastMlp(network).evaluate(ranges, boards, pots)
    np.testing.assert_allclose(
        np.take_along_axis(found, hands[:, None], axis=2), expected, atol=FLOAT32
    )
    assert (found[np.arange(60), :, boards] == 0).all()


def test_rows_that_are_bound_answer_for_new_ranges(network):
    rng = np.random.default_rng(2)
    first, boards, pots = situations(12, rng)
    fast = FastMlp(network)
    ask = fast.bind(boards, pots)
    ask(first)
    second, _, _ = situations(12, np.random.default_rng(3))
    second[:] = np.where(first > 0, second + 0.01, 0.0)
    second /= second.sum(axis=2, keepdims=True)
    assert (ask(second) == fast.evaluate(second, boards, pots)).all()


def test_players_win_what_the_other_loses(network):
    ranges, boards, pots = situations(30, np.random.default_rng(4))
    values = FastMlp(network).evaluate(ranges, boards, pots)
    np.testing.assert_allclose((values * ranges).sum(axis=(1, 2)), 0.0, atol=FLOAT32)


def test_other_architectures_are_refused():
    with pytest.raises(InputError, match="expected an mlp"):
        FastMlp(build_network("river_start", "quantile_conv", {"channels": 4, "blocks": 1}))
