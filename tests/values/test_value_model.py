"""Architectures behind one interface: zero-sum values, equivariance, devices, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from deepstack.cards.notation import STANDARD, hand_cards
from deepstack.run.errors import InputError
from deepstack.values.inputs import Situations
from deepstack.values.layers import Payoffs, zero_sum
from deepstack.values.model import build_network

SMALL = {
    "paper": {"buckets": 20, "hidden": 12, "layers": 2},
    "quantile_conv": {"bins": 16, "channels": 8, "blocks": 2},
    "next_conv": {"knots": 16, "channels": 8, "blocks": 2},
}
STAGES = {"paper": "river_start", "quantile_conv": "river_start", "next_conv": "turn_end"}
BOARDS = np.array([STANDARD.parse(text) for text in ("Td9d6hQc2s", "2c2d2h7s7d")])
FLOAT32 = 2e-6


def boards_of(architecture):
    return BOARDS if STAGES[architecture] == "river_start" else BOARDS[:, :4]


def hands_of(architecture):
    return 1081 if STAGES[architecture] == "river_start" else 1128


def stirred(stage, architecture, settings):
    """A network whose last layers are not zero, as they are at the start of training."""
    network = build_network(stage, architecture, settings, seed=1)
    generator = torch.Generator().manual_seed(2)
    for weights in network.parameters():
        weights.data += 0.2 * torch.randn(weights.shape, generator=generator)
    return network


def random_ranges(count, hands, seed=1):
    ranges = np.random.default_rng(seed).random((count, 2, hands)) ** 6
    return (ranges / ranges.sum(axis=2, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("architecture", SMALL)
def test_what_one_player_wins_the_other_loses(architecture):
    network = stirred(STAGES[architecture], architecture, SMALL[architecture])
    ranges = random_ranges(4, hands_of(architecture))
    place, pots = np.array([0, 1, 1, 0]), np.array([0.01, 0.1, 0.5, 0.9])
    values = network.evaluate(network.tables(boards_of(architecture)), place, pots, ranges)
    assert values.shape == ranges.shape
    assert values.std() > 0.01
    np.testing.assert_allclose((values * ranges).sum(axis=(1, 2)), 0.0, atol=FLOAT32)


@pytest.mark.parametrize("architecture", SMALL)
def test_relabelling_suits_relabels_values(architecture):
    network = stirred(STAGES[architecture], architecture, SMALL[architecture])
    board = boards_of(architecture)[:1]
    suits = np.array([2, 0, 3, 1])
    cards = np.arange(52) // 4 * 4 + suits[np.arange(52) % 4]
    here, there = network.tables(board), network.tables(cards[board])
    moved = np.sort(cards[hand_cards()[here.hands[0].numpy()]], axis=1)
    index = moved[:, 1] * (moved[:, 1] - 1) // 2 + moved[:, 0]
    to = np.searchsorted(there.hands[0].numpy(), index)
    ranges = random_ranges(1, hands_of(architecture))
    other = np.empty_like(ranges)
    other[:, :, to] = ranges
    pot = np.array([0.05])
    values = network.evaluate(here, [0], pot, ranges)
    found = network.evaluate(there, [0], pot, other)[:, :, to]
    np.testing.assert_allclose(found, values, atol=2e-5)


def test_leduc_boards_of_one_rank_have_the_same_values():
    network = stirred("leduc_start", "mlp", {"hidden": 10, "layers": 2})
    tables = network.tables(np.array([[2], [3]]))  # Qh and Qs
    ranges = random_ranges(1, 5)
    # live hands are Jh Js Qs Kh Ks, and Jh Js Qh Kh Ks: suits change places
    other = ranges[:, :, [1, 0, 2, 4, 3]]
    values = network.evaluate(tables, [0], [0.3], ranges)
    found = network.evaluate(tables, [1], [0.3], other)
    np.testing.assert_allclose(found[:, :, [1, 0, 2, 4, 3]], values, atol=FLOAT32)


@pytest.mark.parametrize("architecture", ["quantile_conv", "next_conv"])
def test_values_do_not_depend_on_the_rest_of_a_batch(architecture):
    network = stirred(STAGES[architecture], architecture, SMALL[architecture])
    tables = network.tables(boards_of(architecture))
    ranges = random_ranges(3, hands_of(architecture))
    together = network.evaluate(tables, [0, 1, 0], [0.1, 0.2, 0.3], ranges)
    alone = network.evaluate(tables, [1], [0.2], ranges[1:2])
    np.testing.assert_allclose(together[1:2], alone, atol=1e-5)


def test_zero_sum_takes_half_of_the_surplus_from_each():
    values = torch.tensor([[[1.0, 3.0], [0.0, 0.0]]])
    ranges = torch.tensor([[[0.5, 0.5], [0.25, 0.75]]])
    torch.testing.assert_close(zero_sum(values, ranges), torch.tensor([[[0.0, 2.0], [-1.0, -1.0]]]))


def test_zero_sum_by_weights_leaves_alone_what_weighs_nothing():
    values = torch.tensor([[[1.0, 3.0], [0.0, 0.0]]])
    ranges = torch.tensor([[[0.5, 0.5], [0.25, 0.75]]])
    weights = torch.tensor([[[0.0, 2.0], [1.0, 1.0]]])
    found = zero_sum(values, ranges, weights)
    assert found[0, 0, 0] == 1.0
    torch.testing.assert_close((found * ranges).sum(), torch.tensor(0.0))


def test_payoffs_of_players_who_always_check_are_half_a_pot_for_every_hand_beaten():
    payoffs = Payoffs(channels=3, stakes=2, bins=4)
    torch.nn.init.zeros_(payoffs.layer.weight)
    certain = torch.full((4, 2, 2), -40.0)
    certain[1] = 0.0  # neither wins nor loses by folds
    certain[0, :, 0] = certain[2, :, 0] = 40.0
    payoffs.layer.bias.data = certain.flatten()
    held = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]])
    values = payoffs(torch.zeros(1, 3, 4), held, torch.tensor([7.0])).sum(2)
    below = held.flip(1).cumsum(2) - held.flip(1)
    above = 1 - below - held.flip(1)
    torch.testing.assert_close(values, 0.5 * (below - above))


@pytest.mark.parametrize("architecture", SMALL)
def test_everything_stays_on_the_networks_device(architecture):
    """On the device without memory, anything that lived elsewhere would be an error."""
    network = build_network(STAGES[architecture], architecture, SMALL[architecture]).to("meta")
    tables = network.tables(boards_of(architecture))
    situations = Situations(
        torch.empty(3, 2, hands_of(architecture), device="meta"),
        torch.empty(3, device="meta"),
        torch.empty(3, dtype=torch.int64, device="meta"),
        tables,
    )
    assert network(situations).device.type == "meta"


def test_the_same_seed_gives_the_same_weights():
    first = build_network("leduc_start", "mlp", seed=4).state_dict()
    torch.manual_seed(99)
    second = build_network("leduc_start", "mlp", seed=4).state_dict()
    assert all((first[name] == second[name]).all() for name in first)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("river_start", "resnet", {}), "architecture 'resnet': expected one of mlp"),
        (("river_start", "paper", {"bins": 3}), "setting 'bins' of paper: expected buckets"),
        (("river_start", "paper", {"hidden": 0}), "hidden=0 of paper: expected a whole number"),
        (("river", "paper", {}), "stage 'river': expected one of"),
    ],
)
def test_networks_that_cannot_be_built_are_refused(arguments, reason):
    with pytest.raises(InputError, match=reason):
        build_network(*arguments)
