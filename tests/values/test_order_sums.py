"""Exact sums in order of strength, against plain pairwise sums."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from deepstack.cards.notation import STANDARD, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.values.inputs import Situations, make_inputs
from deepstack.values.order import order_sums

BOARDS = np.array([STANDARD.parse(text) for text in ("Td9d6hQc2s", "2c2d2h7s7d", "AsKsQsJsTs")])
EDGES = np.linspace(0, 1, 17)
CLOSE = 1e-12  # sums of 1,081 float64 numbers below 1


@pytest.fixture(scope="module")
def situations():
    rng = np.random.default_rng(5)
    ranges = rng.random((3, 2, 1081)) ** 8
    ranges[0, 1, 100:900] = 0.0
    ranges /= ranges.sum(axis=2, keepdims=True)
    tables = make_inputs("order", "river_start").tables(BOARDS)
    return Situations(torch.from_numpy(ranges), torch.full((3,), 0.1), torch.arange(3), tables)


def plain(situations):
    """Mass and lead [N, 2, H] and quantiles [N, H] by going over all pairs of hands."""
    mass, lead, quantile = [], [], []
    for n, board in enumerate(BOARDS):
        hands = situations.tables.hands[n].numpy()
        cards, strength = hand_cards()[hands], board_strengths(board)[hands].astype(int)
        apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        sign = np.sign(strength[:, None] - strength[None])
        ranges = situations.ranges[n].numpy()
        mass.append([apart @ ranges[1 - p] for p in (0, 1)])
        lead.append([(apart * sign) @ ranges[1 - p] for p in (0, 1)])
        quantile.append(((sign > 0) + (sign == 0) / 2) @ ranges.sum(axis=0) / 2)
    return np.array(mass), np.array(lead), np.array(quantile)


def test_mass_lead_and_quantile_are_those_of_all_pairs(situations):
    sums = order_sums(situations, torch.from_numpy(EDGES))
    mass, lead, quantile = plain(situations)
    np.testing.assert_allclose(sums.mass.numpy(), mass, atol=CLOSE)
    np.testing.assert_allclose(sums.lead.numpy(), lead, atol=CLOSE)
    np.testing.assert_allclose(sums.quantile.numpy(), quantile, atol=CLOSE)


def test_mass_below_quantiles_adds_up_to_the_quantiles(situations):
    below = order_sums(situations, torch.from_numpy(EDGES)).below.numpy()
    np.testing.assert_allclose(below.mean(axis=1), np.tile(EDGES, (3, 1)), atol=1e-9)
    assert (np.diff(below, axis=2) >= -CLOSE).all()


def test_where_all_hands_tie_mass_is_spread_evenly(situations):
    below = order_sums(situations, torch.from_numpy(EDGES)).below.numpy()
    np.testing.assert_allclose(below[2], np.tile(EDGES, (2, 1)), atol=1e-9)


def test_both_players_leave_each_other_the_same_joint_mass(situations):
    sums = order_sums(situations, torch.from_numpy(EDGES))
    joint = (sums.mass * situations.ranges).sum(2)
    torch.testing.assert_close(joint[:, 0], joint[:, 1])
    lead = (sums.lead * situations.ranges).sum(2)
    torch.testing.assert_close(lead[:, 0], -lead[:, 1])
