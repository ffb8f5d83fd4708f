"""Profiles over the next card: the kernel, the plain twin, and what both mean."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from deepstack.cards.notation import STANDARD
from deepstack.run.errors import InputError
from deepstack.values.inputs import Situations, make_inputs
from deepstack.values.next_cards import profile, profile_plain

KNOTS, FINE = 12, 0.75


def situations(stage, boards, place, seed=3):
    tables = make_inputs("next", stage).tables(boards)
    hands = tables.hands.shape[1]
    rng = np.random.default_rng(seed)
    ranges = rng.random((len(place), 2, hands)) ** 4 * (rng.random((len(place), 2, hands)) < 0.4)
    ranges /= ranges.sum(axis=2, keepdims=True)
    return Situations(
        torch.as_tensor(ranges, dtype=torch.float32),
        torch.full((len(place),), 0.1),
        torch.tensor(place),
        tables,
    )


@pytest.fixture(scope="module")
def on_turns():
    boards = [STANDARD.parse(text) for text in ("Td9d6hQc", "2c2d2h7s")]
    return situations("turn_end", np.array(boards), [0, 1, 0])


def test_the_kernel_does_what_its_twin_says(on_turns):
    fast, plain = profile(on_turns, KNOTS, FINE), profile_plain(on_turns, KNOTS, FINE)
    torch.testing.assert_close(fast.lead, plain.lead, atol=1e-5, rtol=0)
    torch.testing.assert_close(fast.mass, plain.mass, atol=1e-5, rtol=0)
    # next to the top of the axis a square root makes roundings a hundred times larger
    torch.testing.assert_close(fast.places, plain.places, atol=1e-4, rtol=0)
    torch.testing.assert_close(fast.hist, plain.hist, atol=1e-3, rtol=0)


def test_a_range_that_one_card_takes_away():
    """All hands of a player hold one card: where it comes, nothing but roundings is left."""
    board = np.array([STANDARD.parse("Td9d6hQc")])
    given = situations("turn_end", board, [0])
    aces = (given.tables.parts["held"][0] == 51).any(1)
    ranges = given.ranges.clone()
    ranges[0, 1] *= aces
    ranges[0, 1] /= ranges[0, 1].sum()
    given = given._replace(ranges=ranges)
    fast, plain = profile(given, KNOTS, FINE), profile_plain(given, KNOTS, FINE)
    for here, there in zip(fast, plain, strict=True):
        assert here.isfinite().all()
        torch.testing.assert_close(here, there, atol=1e-3, rtol=0)


def test_more_situations_than_lanes_change_nothing():
    board = np.array([STANDARD.parse("Td9d6hQc")])
    many = situations("turn_end", board, [0] * 19)
    found = profile(many, KNOTS, FINE)
    last = Situations(many.ranges[18:], many.pot_fraction[18:], many.place[18:], many.tables)
    alone = profile(last, KNOTS, FINE)
    for together, single in zip(found, alone, strict=True):
        torch.testing.assert_close(together[18:], single)


def test_a_reading_is_the_mean_over_next_boards(on_turns):
    """With u(x) = x the reading is the mean place, and weights sum to one."""
    found = profile(on_turns, KNOTS, FINE)
    axis = torch.linspace(0, 1, KNOTS)
    torch.testing.assert_close(found.hist[..., 0] @ axis, found.places[:, 0], atol=1e-5, rtol=0)
    torch.testing.assert_close(found.hist[..., 0].sum(2), torch.ones(3, 1128), atol=1e-5, rtol=0)


def test_what_one_leads_the_other_trails(on_turns):
    found = profile(on_turns, KNOTS, FINE)
    worth = (found.lead * on_turns.ranges).sum(2)
    torch.testing.assert_close(worth[:, 0], -worth[:, 1], atol=1e-6, rtol=0)


def test_the_stronger_hand_stands_higher_on_a_flop():
    board = STANDARD.parse("As7d2c")
    given = situations("flop_end", np.array([board]), [0])
    places = profile(given, KNOTS, FINE).places[0, 0]
    hands = given.tables.hands[0].tolist()

    def place(text):
        low, high = sorted(STANDARD.parse(text))
        return float(places[hands.index(high * (high - 1) // 2 + low)])

    assert place("AhAd") > place("AhKd") > place("8h8d") > place("KhQd") > place("4h3d")


def test_complete_boards_are_refused():
    with pytest.raises(InputError, match="boards of 5 cards: expected 3 or 4"):
        make_inputs("next", "river_start").tables([STANDARD.parse("Td9d6hQc2s")])
