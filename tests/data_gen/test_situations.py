"""Random situations: boards, pots, the recursive draw of ranges, the order of hands."""

import numpy as np
import pytest

from data_gen.places import Place, live_hands
from data_gen.random_ranges import split_range_plain
from data_gen.range_kernels import split_ranges
from data_gen.situations import check_mixture, draw_situations
from data_gen.strengths import hand_strengths, preflop_strengths
from deepstack.cards.notation import STANDARD, hand_index
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.tree.menus import load_menu

HUNL, LEDUC = load_game("hunl"), load_game("nolimit_leduc")
PUBLISHED = [[100, 200], [200, 400], [400, 2000], [2000, 6000], [6000, 19951]]
RANDOM = {"random": 1.0}
FCPA = load_menu("fcpa")


def draw(game, round_, count, pots, seed, **options):
    place = Place(game, round_, False, FCPA)
    return draw_situations(place, count, pots, RANDOM, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("hands", [2, 3, 5, 6, 1081])
def test_the_kernel_splits_as_it_is_written(hands):
    rng = np.random.default_rng(1)
    order = np.array([rng.permutation(hands) for _ in range(4)])
    draws = rng.random((4, hands - 1))
    found = np.empty((4, hands))
    split_ranges(order, draws, found)
    plain = [split_range_plain(row.tolist(), draw) for row, draw in zip(order, draws, strict=True)]
    np.testing.assert_allclose(found, plain, rtol=1e-12)


def test_ranges_have_sum_one_and_all_live_hands():
    situations = draw(HUNL, 3, 20, PUBLISHED, 2)
    assert situations.ranges.shape == (20, 2, 1081)
    assert situations.ranges.min() > 0
    np.testing.assert_allclose(situations.ranges.sum(axis=2), 1.0, rtol=1e-12)


def test_the_weaker_half_has_a_uniform_share():
    """The first split of R(S, 1) gives the weaker half a share that is uniform in (0, 1)."""
    situations = draw(HUNL, 3, 300, PUBLISHED, 3)
    shares = []
    for board, ranges in zip(situations.boards, situations.ranges, strict=True):
        strengths = hand_strengths(HUNL, board)
        # without the hands as strong as the middle one, whose order is random
        below = strengths < np.sort(strengths)[540]
        above = strengths > np.sort(strengths)[540]
        shares += [r[below].sum() / (r[below].sum() + r[above].sum()) for r in ranges]
    deciles = np.quantile(shares, [0.1, 0.5, 0.9])
    # three standard deviations of a quantile of 600 uniform draws
    np.testing.assert_allclose(deciles, [0.1, 0.5, 0.9], atol=0.07)


def test_the_two_ranges_are_drawn_apart():
    situations = draw(HUNL, 3, 50, PUBLISHED, 4)
    first, second = situations.ranges.transpose(1, 0, 2)
    assert not np.isclose(first, second).all(axis=1).any()


def test_boards_are_uniform_and_pots_lie_in_the_intervals():
    situations = draw(LEDUC, 1, 6000, [[100, 1200]], 5)
    counts = np.bincount(situations.boards[:, 0], minlength=6)
    # four standard deviations of a count of 6,000 draws with probability 1/6
    np.testing.assert_allclose(counts, 1000, atol=4 * np.sqrt(6000 * 5 / 36))
    assert situations.contributions.min() >= 100
    assert situations.contributions.max() < 1200


def test_intervals_are_equally_likely():
    situations = draw(HUNL, 3, 2000, PUBLISHED, 6)
    edges = [low for low, _ in PUBLISHED] + [PUBLISHED[-1][1]]
    counts, _ = np.histogram(situations.contributions, edges)
    np.testing.assert_allclose(counts, 400, atol=4 * np.sqrt(2000 * 0.2 * 0.8))


def test_boards_are_ascending_and_without_repeats():
    situations = draw(HUNL, 1, 100, PUBLISHED, 7)
    assert situations.ranges.shape[2] == 1176
    assert (np.diff(situations.boards.astype(int), axis=1) > 0).all()


def test_the_same_seed_draws_the_same():
    one, two = (draw(HUNL, 3, 5, PUBLISHED, 8) for _ in range(2))
    np.testing.assert_array_equal(one.ranges, two.ranges)
    np.testing.assert_array_equal(one.boards, two.boards)


def test_situations_in_a_row_share_a_board():
    situations = draw(HUNL, 2, 10, PUBLISHED, 9, per_board=4)
    boards = situations.boards
    assert len(np.unique(boards, axis=0)) == 3
    assert (boards[:4] == boards[0]).all()
    assert (boards[8:] == boards[8]).all()
    assert len(np.unique(situations.contributions)) > 3
    assert not np.isclose(situations.ranges[0], situations.ranges[1]).all()


def test_strength_on_the_river_is_that_of_the_showdown():
    board = np.array(STANDARD.parse("Td9d6hQc2s"))
    found = hand_strengths(HUNL, board)
    np.testing.assert_array_equal(found, board_strengths(board)[live_hands(HUNL, board)])


def test_strength_before_the_river_is_the_mean_percentile_over_rivers():
    board = STANDARD.parse("Td9d6hQc")
    hand = STANDARD.parse("AsKh")
    percentiles = []
    for river in set(range(52)) - set(board) - set(hand):
        strengths = board_strengths([*board, river])
        live = strengths[strengths > 0]
        mine = strengths[hand_index(*hand)]
        percentiles.append(((live < mine).sum() + (live <= mine).sum()) / (2 * len(live)))
    place = np.flatnonzero(live_hands(HUNL, np.array(board)) == hand_index(*hand))[0]
    assert hand_strengths(HUNL, np.array(board))[place] == pytest.approx(np.mean(percentiles))


def test_before_the_flop_aces_are_the_strongest_and_suits_do_not_matter():
    strengths = preflop_strengths()
    aces = [hand_index(*STANDARD.parse(text)) for text in ("AsAh", "AcAd")]
    assert strengths[aces[0]] == strengths[aces[1]] == strengths.max()


@pytest.mark.parametrize(
    ("pots", "ranges", "message"),
    [
        ([], RANDOM, "pots="),
        ([[200, 100]], RANDOM, r"pots=\[200, 100\]"),
        ([[100, 30000]], RANDOM, "expected .* high <= 20000"),
        ([[100, 2.5]], RANDOM, "pots="),
        ([[100, 200]], {"wild": 1.0}, "range family 'wild': expected one of random"),
        ([[100, 200]], {"random": -1}, "ranges.random=-1"),
        ([[100, 200]], {"random": 0}, "expected a positive weight"),
    ],
)
def test_what_cannot_be_drawn_is_refused(pots, ranges, message):
    with pytest.raises(InputError, match=message):
        check_mixture(pots, ranges, 20000)
