"""Ranges that lookaheads meet: they are ranges, belong to their board and pot, and differ."""

import numpy as np
import pytest

from data_gen.places import Place, live_hands, round_start
from data_gen.play import DRAWS, CheckedDown, leaf_queries, play_ranges, random_root
from data_gen.situations import draw_situations
from deepstack.cards.notation import STANDARD, blocked
from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_margins
from deepstack.solver.leaves import Leaves
from deepstack.tree.menus import load_menu
from deepstack.values.equity import equity_matrix

HUNL, FCPA = load_game("hunl"), load_menu("fcpa")
PUBLISHED = [[100, 200], [200, 400], [400, 2000], [2000, 6000], [6000, 19951]]
TURN = np.array(STANDARD.parse("6h9dTdQc"))


@pytest.mark.parametrize(
    ("round_", "end", "hands"),
    [(3, False, 1081), (2, True, 1128), (2, False, 1128), (1, True, 1176), (0, True, 1326)],
)
def test_situations_are_whole(round_, end, hands):
    place, rng = Place(HUNL, round_, end, FCPA), np.random.default_rng(1)
    found = draw_situations(place, 20, PUBLISHED, {"play": 1.0}, rng, 10 if end else 1)
    assert found.ranges.shape == (20, 2, hands)
    assert found.ranges.min() >= 0
    np.testing.assert_allclose(found.ranges.sum(axis=2), 1.0, rtol=1e-12)
    assert (np.diff(found.boards.astype(int), axis=1) > 0).all()
    assert found.contributions.min() >= 100
    assert found.contributions.max() < 20000
    assert len(np.unique(found.ranges.round(12), axis=0)) > 15


def test_at_the_end_of_a_round_boards_stay():
    boards = np.repeat([TURN], 3, axis=0)
    chips = np.array([500, 500, 500])
    place = Place(HUNL, 2, True, FCPA)
    after, _, _ = play_ranges(place, boards, chips, np.random.default_rng(2))
    np.testing.assert_array_equal(after, boards)


def test_at_the_start_of_a_round_situations_of_a_lookahead_share_the_board_before():
    rng = np.random.default_rng(3)
    boards = np.sort([rng.permutation(52)[:5] for _ in range(DRAWS)])
    place = Place(HUNL, 3, False, FCPA)
    after, _, _ = play_ranges(place, boards, np.full(DRAWS, 300), rng)
    shared = set.intersection(*(set(board.tolist()) for board in after))
    assert len(shared) == 4
    assert len(np.unique(after, axis=0)) > 2


def test_hands_are_dropped_in_a_lookahead():
    """Ranges that are played have hands that are never held; random ones do not."""
    place, rng = Place(HUNL, 2, True, FCPA), np.random.default_rng(4)
    found = draw_situations(place, 64, PUBLISHED, {"play": 1.0}, rng, 8)
    assert 0.1 < (found.ranges == 0).mean() < 0.9


def test_families_are_mixed_and_tagged():
    place, rng = Place(HUNL, 2, True, FCPA), np.random.default_rng(5)
    found = draw_situations(place, 80, PUBLISHED, {"random": 0.5, "play": 0.5}, rng, 8)
    assert set(found.source.tolist()) == {0, 1}
    held = (found.ranges > 0).all(axis=(1, 2))
    assert held[found.source == 0].all()
    assert not held[found.source == 1].all()


def test_the_same_seed_plays_the_same():
    place = Place(HUNL, 3, False, FCPA)
    one, two = (
        draw_situations(place, 9, PUBLISHED, {"play": 1.0}, np.random.default_rng(6))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.ranges, two.ranges)
    np.testing.assert_array_equal(one.boards, two.boards)


def test_queries_are_of_leaves_with_chips_behind():
    place = Place(HUNL, 2, True, FCPA)
    for seed in range(6):
        queries = leaf_queries(place, 2, TURN, 9000, 5, np.random.default_rng(seed))
        assert len(queries) == 5
        for query in queries:
            assert query.leaf.spent[0] == query.leaf.spent[1] < 20000
            assert query.leaf.round == 3
            assert (query.ranges.sum(axis=1) > 0).all()


def test_a_root_is_a_state_of_the_round():
    rng = np.random.default_rng(7)
    start = round_start(HUNL, 2, TURN, 300)
    roots = [random_root(start, FCPA.raises, rng) for _ in range(100)]
    assert all(root.round == 2 and root.actor is not None for root in roots)
    assert len({root.betting[-1] for root in roots}) > 4


def test_checking_down_is_worth_the_equity():
    hands = live_hands(HUNL, TURN)
    state = round_start(HUNL, 2, TURN, 700)
    leaves = Leaves((state, state), TURN[None], hands[None])
    reach = np.random.default_rng(8).random((2, 1, 2, len(hands))).astype(np.float32)
    found = CheckedDown(allin_margins(tuple(TURN.tolist()), HUNL)).values(leaves, reach)
    matrix = equity_matrix(HUNL, tuple(TURN.tolist()))[np.ix_(hands, hands)]
    expected = 700 * reach[::-1, 0] @ matrix.T
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-4, atol=1)


def test_a_dealt_card_is_in_no_range():
    place, rng = Place(HUNL, 3, False, FCPA), np.random.default_rng(9)
    found = draw_situations(place, 12, PUBLISHED, {"play": 1.0}, rng)
    for board in found.boards:
        assert (~blocked(board.tolist())).sum() == found.ranges.shape[2]


def test_before_the_first_round_nobody_plays():
    with pytest.raises(InputError, match="no round before the first"):
        play_ranges(
            Place(HUNL, 0, False, FCPA),
            np.zeros((1, 0), int),
            np.array([100]),
            np.random.default_rng(0),
        )


def test_before_the_flop_lookaheads_begin_with_the_blinds():
    queries = leaf_queries(
        Place(HUNL, 0, True, FCPA), 0, np.zeros(0, int), 5000, 4, np.random.default_rng(1)
    )
    assert all(query.leaf.game is initial_state(HUNL).game for query in queries)
    assert min(query.leaf.pot for query in queries) < 10000
