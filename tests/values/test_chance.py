"""The mean over the next cards: tensors against enumeration, card removal, selections of deals."""

from math import comb

import numpy as np
import pytest
import torch
from standins import stand_in

from deepstack.cards.notation import STANDARD, blocked, hand_index
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.values.chance import mean_values, mean_values_plain, next_deals, normalised
from deepstack.values.inputs import live_hands
from deepstack.values.model import build_network
from deepstack.values.river_means import mean_over_rivers, turn_tables

HUNL, LEDUC = load_game("hunl"), load_game("nolimit_leduc")
TURN, FLOP = STANDARD.parse("Td9d6hQc"), STANDARD.parse("Td9d6h")
FLOAT32 = 3e-5


def random_ranges(board, count, seed, game=HUNL, sparse=0.0):
    """[count, 2, live hands] of sum 1; a share of the hands is not held."""
    rng = np.random.default_rng(seed)
    hands = live_hands(game, np.array([board], np.int64).reshape(1, -1))[0]
    ranges = rng.random((count, 2, len(hands))) ** 6
    ranges[rng.random(ranges.shape) < sparse] = 0.0
    return hands, ranges / ranges.sum(axis=2, keepdims=True)


def over_all_hands(hands, vectors, game=HUNL):
    full = np.zeros((*vectors.shape[:-1], game.hands))
    full[..., hands] = vectors
    return full


def mean(network, board, ranges, pots, **options):
    deals = next_deals(network.inputs, [list(board)], **options)
    with torch.inference_mode():
        found = mean_values(
            network,
            deals,
            torch.zeros(len(ranges), dtype=torch.long),
            torch.tensor(pots, dtype=torch.float32),
            torch.tensor(ranges, dtype=torch.float32),
        )
    return found.numpy()


def plain(network, board, count, ranges, pot):
    """The same by enumeration; ranges [2, hands of the game]."""
    game = network.inputs.game

    def values(after, given):
        tables = network.tables([list(after)])
        live = tables.hands[0].numpy()
        said = network.evaluate(tables, [0], [pot], given[None][..., live])[0]
        return over_all_hands(live, said, game)

    return mean_values_plain(values, game, board, count, ranges)


@pytest.fixture(scope="module")
def river():
    return stand_in("river_start")


@pytest.mark.parametrize("sparse", [0.0, 0.98])
def test_the_mean_over_rivers_is_that_of_enumeration(river, sparse):
    hands, ranges = random_ranges(TURN, 2, 1, sparse=sparse)
    found = mean(river, TURN, ranges, [0.3, 0.3])
    for n in (0, 1):
        expected = plain(river, TURN, 1, over_all_hands(hands, ranges[n]), 0.3)[:, hands]
        np.testing.assert_allclose(found[n], expected, atol=FLOAT32)


def test_the_mean_over_turns_is_that_of_enumeration():
    network = stand_in("turn_start")
    hands, ranges = random_ranges(FLOP, 1, 2)
    expected = plain(network, FLOP, 1, over_all_hands(hands, ranges[0]), 0.1)[:, hands]
    np.testing.assert_allclose(mean(network, FLOP, ranges, [0.1])[0], expected, atol=FLOAT32)


def test_the_mean_over_the_cards_of_leduc_is_that_of_enumeration():
    network = stand_in("leduc_start")
    hands, ranges = random_ranges((), 1, 3, LEDUC)
    expected = plain(network, (), 1, over_all_hands(hands, ranges[0], LEDUC), 0.2)[:, hands]
    np.testing.assert_allclose(mean(network, (), ranges, [0.2])[0], expected, atol=FLOAT32)


def opponent_mass(situations):
    """Worth one pot whoever the opponent is: the opponent's mass that a hand leaves possible."""
    held = torch.from_numpy(HUNL_CARDS)[situations.tables.hands[situations.place]]
    ranges = situations.ranges.flip(1)
    values = torch.empty_like(ranges)
    for n in range(len(ranges)):
        for player in (0, 1):
            sums = torch.zeros(52)
            for column in (0, 1):
                sums.index_add_(0, held[n, :, column], ranges[n, player])
            own = ranges[n, player]
            values[n, player] = own.sum() - sums[held[n]].sum(1) + own
    return values


HUNL_CARDS = np.array([(lo, hi) for hi in range(52) for lo in range(hi)], np.int64)


@pytest.mark.parametrize(
    ("board", "stage", "most"),
    [(TURN, "river_start", None), (FLOP, "turn_start", None), ((), "flop_start", 60)],
)
def test_card_removal_of_the_deal_cancels(board, stage, most):
    """A pot for everybody at the next round is a pot for everybody now, whatever is dealt.

    Before the flop some flops are selected: each pair of hands then counts as often as flops leave
    it possible, which is right on average only.
    """
    _, ranges = random_ranges(board, 1, 4)
    inputs = stand_in(stage).inputs
    deals = next_deals(inputs, [list(board)], most=most, rng=np.random.default_rng(5))
    found = mean_values(
        opponent_mass,
        deals,
        torch.zeros(1, dtype=torch.long),
        torch.tensor([0.1]),
        torch.tensor(ranges, dtype=torch.float32),
    )
    cards = HUNL_CARDS[live_hands(HUNL, np.array([board], np.int64).reshape(1, -1))[0]]
    apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    expected = ranges[0, ::-1] @ apart
    tolerance = FLOAT32 if most is None else 0.1
    np.testing.assert_allclose(found[0].numpy(), expected, atol=tolerance)


def test_a_selection_of_flops_has_no_bias():
    """Averaged over many selections the mean is that over all deals, hand by hand."""
    network = stand_in("leduc_start")
    _, ranges = random_ranges((), 1, 6, LEDUC)
    expected = mean(network, (), ranges, [0.2])[0]
    rng = np.random.default_rng(7)
    drawn = np.stack([mean(network, (), ranges, [0.2], most=3, rng=rng)[0] for _ in range(1500)])
    error = drawn.mean(axis=0) - expected
    assert np.abs(error / (drawn.std(axis=0) / np.sqrt(len(drawn)))).max() < 4.5


def test_pieces_of_any_size_give_the_same(river):
    _, ranges = random_ranges(TURN, 3, 8)
    deals = next_deals(river.inputs, [list(TURN), [0, 1, 2, 3]])
    given = (
        torch.tensor([0, 1, 0]),
        torch.tensor([0.1, 0.2, 0.3]),
        torch.tensor(ranges, dtype=torch.float32),
    )
    with torch.inference_mode():
        one, small, large = (
            mean_values(river, deals, *given, evaluations=size) for size in (1, 7, 4096)
        )
    np.testing.assert_allclose(one, small, atol=FLOAT32)
    np.testing.assert_allclose(one, large, atol=FLOAT32)


def test_a_deal_that_the_opponent_blocks_counts_nothing(river):
    """An opponent with one hand only rules out the rivers of its cards; nothing becomes nan."""
    hands, ranges = random_ranges(TURN, 1, 9)
    ranges[0, 1] = 0.0
    ranges[0, 1, np.flatnonzero(hands == hand_index(*STANDARD.parse("AsAh")))] = 1.0
    found = mean(river, TURN, ranges, [0.3])
    assert np.isfinite(found).all()
    assert np.abs(found).max() > 0


def test_zero_sum_stays_zero_sum(river):
    _, ranges = random_ranges(TURN, 4, 10)
    found = mean(river, TURN, ranges, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose((found * ranges).sum(axis=(1, 2)), 0.0, atol=FLOAT32)


def test_weights_are_the_chances_of_deals(river):
    assert torch.allclose(next_deals(river.inputs, [list(TURN)]).weight, torch.tensor(1 / 44))


def test_weights_of_a_selection_are_those_of_the_deals_a_hand_allows():
    flops = next_deals(stand_in("flop_start").inputs, [[]], most=500, rng=np.random.default_rng(0))
    selected = (flops.back < comb(49, 2)).sum(1)
    assert torch.allclose(flops.weight * selected, torch.tensor(comb(50, 3) / comb(48, 3)))


def test_hands_that_a_deal_takes_are_left_out(river):
    deals = next_deals(river.inputs, [list(TURN)])
    river_card = int(deals.tables.boards[5, -1])
    hands = live_hands(HUNL, np.array([TURN], np.int64))[0]
    np.testing.assert_array_equal(
        hands[deals.place[0, 5].numpy()], np.flatnonzero(~blocked((*TURN, river_card)))
    )


def test_ranges_that_nobody_holds_become_uniform():
    ranges, mass = normalised(torch.tensor([[0.0, 0.0], [1.0, 3.0]]))
    assert ranges.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert mass.tolist() == [0.0, 4.0]


def test_boards_of_the_wrong_round_are_refused(river):
    with pytest.raises(InputError, match="expected those of the round before one with 5 cards"):
        next_deals(river.inputs, [list(FLOP)])


def test_everything_stays_on_the_device():
    """On the device ``meta`` an operation with a tensor that stands elsewhere fails."""
    network = stand_in("river_start").to("meta")
    deals = next_deals(network.inputs, [list(TURN)], "meta")
    found = mean_values(
        network,
        deals,
        torch.zeros(3, dtype=torch.long, device="meta"),
        torch.empty(3, device="meta"),
        torch.empty(3, 2, 1128, device="meta"),
    )
    assert found.device.type == "meta"
    assert found.shape == (3, 2, 1128)


def test_the_quick_mean_over_rivers_is_the_mean():
    """Kernels and torch for one network with random weights; two boards, more than one group."""
    network = build_network(
        "river_start", "quantile_conv", {"bins": 16, "channels": 8, "blocks": 2}
    )
    generator = torch.Generator().manual_seed(7)
    for weights in network.parameters():
        weights.data += 0.2 * torch.randn(weights.shape, generator=generator)
    boards = [list(TURN), [0, 1, 2, 3]]
    ranges = torch.rand(19, 2, 1128, generator=generator) ** 4
    ranges *= torch.rand(19, 2, 1128, generator=generator) < 0.5
    ranges /= ranges.sum(2, keepdim=True)
    board = torch.tensor([0] * 17 + [1, 0])
    fraction = torch.linspace(0.01, 0.9, 19)
    with torch.inference_mode():
        expected = mean_values(network, next_deals(network.inputs, boards), board, fraction, ranges)
    found = mean_over_rivers(network, turn_tables(boards), board, fraction, ranges)
    assert float(expected.abs().max()) > 0.1
    torch.testing.assert_close(found, expected, atol=2e-4, rtol=0)
