"""Ranges as text: what every token means, what is refused, and the exact round trip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.cards.notation import STANDARD, blocked, hand_cards, hand_index
from deepstack.cards.ranges import (
    format_grid,
    format_range,
    hand_classes,
    parse_range,
    range_grid,
)
from deepstack.run.errors import InputError

weights32 = st.floats(0, 1, width=32)
boards = st.lists(st.sampled_from(range(52)), max_size=5, unique=True).map(tuple)
# Letters of the grammar, so that legal and nearly legal texts are frequent.
range_like = st.text(alphabet="AKQT72so+-:,.015e hcdrandm", max_size=16)


def weight_of(range_, hand):
    return range_[hand_index(*STANDARD.parse(hand))]


def same_range(a, b):
    """Both texts name the same hands with the same weights."""
    return np.array_equal(parse_range(a), parse_range(b))


@pytest.mark.parametrize(
    ("token", "hands"),
    [("AA", 6), ("AKs", 4), ("AKo", 12), ("AK", 16), ("AsKh", 1), ("random", 1326)],
)
def test_a_token_names_as_many_hands_as_it_should(token, hands):
    range_ = parse_range(token)
    assert range_.dtype == np.float32
    assert np.count_nonzero(range_ == 1) == hands
    assert np.count_nonzero(range_) == hands


@pytest.mark.parametrize(
    ("token", "spelled_out"),
    [
        ("77+", "77,88,99,TT,JJ,QQ,KK,AA"),
        ("AA+", "AA"),
        ("ATo+", "ATo,AJo,AQo,AKo"),
        ("K9s+", "K9s,KTs,KJs,KQs"),
        ("Q9+", "Q9s,QTs,QJs,Q9o,QTo,QJo"),
        ("76s+", "76s,87s,98s,T9s,JTs,QJs,KQs,AKs"),
        ("KQs+", "KQs,AKs"),
        ("AKs+", "AKs"),
        ("75s+", "75s,76s"),
        ("QQ-88", "QQ,JJ,TT,99,88"),
        ("88-QQ", "QQ,JJ,TT,99,88"),
        ("A5s-A2s", "A5s,A4s,A3s,A2s"),
        ("A2s-A5s", "A5s,A4s,A3s,A2s"),
        ("KTs-K7s", "KTs,K9s,K8s,K7s"),
        ("JTs-76s", "JTs,T9s,98s,87s,76s"),
        ("T8o-64o", "T8o,97o,86o,75o,64o"),
        ("A5-A4", "A5s,A5o,A4s,A4o"),
        ("AKs-AQs", "AKs,AQs"),
        ("AKs-AKs", "AKs"),
        ("AK", "AKs,AKo"),
        ("aKs,tt,j9o", "AKs,TT,J9o"),
        ("67s", "76s"),
        (" A A , A s K h : 0 . 5 ", "AA,AsKh:0.5"),
        ("KhAs", "AsKh"),
        ("ahkh", "AhKh"),
        ("AKo:.5,QQ:1.", "AKo:0.5,QQ"),
        ("AKo:5e-1", "AKo:0.5"),
        ("AKs:0.0,AA", "AA"),
    ],
)
def test_short_tokens_mean_what_is_spelled_out(token, spelled_out):
    assert same_range(token, spelled_out)


def test_the_example_of_the_grammar():
    range_ = parse_range("AA,KQs,AKo:0.5,QQ-88,76s+,A5s-A2s,AsKh")
    expected = {"AhAd": 1, "KdQd": 1, "KdQh": 0, "AdKh": 0.5, "AsKh": 1, "JhJc": 1, "KcKd": 0}
    expected |= {"9h8h": 1, "6s5s": 0, "Ad3d": 1, "Ad6d": 0}
    assert {hand: weight_of(range_, hand) for hand in expected} == expected


def test_a_later_token_wins():
    range_ = parse_range("AA:0.25,random:0.5,AsAh,AdAc:0")
    assert weight_of(range_, "AsAh") == 1
    assert weight_of(range_, "AdAc") == 0
    assert weight_of(range_, "AsAc") == 0.5


def test_hands_blocked_by_the_board_are_zero():
    board = STANDARD.parse("AsTd9d")
    range_ = parse_range("AA,AKo:0.5,random:0.1", board)
    assert not range_[blocked(board)].any()
    assert np.count_nonzero(range_) == 1176


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("", ""),
        ("AA,", ""),
        ("AA,,KK", ""),
        ("AA KK", "AAKK"),
        ("AA,KX", "KX"),
        ("A", "A"),
        ("As", "As"),
        ("AsK", "AsK"),
        ("ASKH", "ASKH"),
        ("AKS", "AKS"),
        ("AAs", "AAs"),
        ("AsAs", "AsAs"),
        ("AsKh+", "AsKh+"),
        ("AKs++", "AKs++"),
        ("+", "+"),
        ("QQ-", "QQ-"),
        ("-88", "-88"),
        ("QQ-99-88", "QQ-99-88"),
        ("QQ+-88", "QQ+-88"),
        ("AKs-QJo", "AKs-QJo"),
        ("A5-A2s", "A5-A2s"),
        ("AA-AK", "AA-AK"),
        ("A5s-K2s", "A5s-K2s"),
        ("KK:0.5,AKs:2", "AKs:2"),
        ("AKs:-0.1", "AKs:-0.1"),
        ("AKs:", "AKs:"),
        ("AKs:nan", "AKs:nan"),
        ("AKs:inf", "AKs:inf"),
        ("AKs:1e999", "AKs:1e999"),
        ("AKs:1_0", "AKs:1_0"),
        ("AKs:0.5:0.5", "AKs:0.5:0.5"),
        ("AKs:½", "AKs:½"),
        (":0.5", ":0.5"),
        ("Random", "Random"),
        ("AK\N{KELVIN SIGN}", "AK\N{KELVIN SIGN}"),
    ],
)
def test_a_bad_token_is_named_with_what_was_expected(text, token):
    with pytest.raises(InputError, match="expected") as caught:
        parse_range(text)
    assert f"range token {token!r}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_range_without_hands_is_refused():
    with pytest.raises(InputError, match="no hand is left, expected"):
        parse_range("AA:0")
    with pytest.raises(InputError, match="no hand is left beside the board AsAhAd"):
        parse_range("AA", STANDARD.parse("AsAhAd"))


@given(st.one_of(st.text(), range_like), boards)
def test_any_text_parses_to_a_range_or_is_refused(text, board):
    try:
        range_ = parse_range(text, board)
    except InputError:
        return
    assert range_.shape == (1326,)
    assert ((range_ >= 0) & (range_ <= 1)).all()
    assert not range_[blocked(board)].any()
    assert np.array_equal(parse_range(format_range(range_, board), board), range_)


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("random", "random"),
        ("random:0.3", "random:0.3"),
        ("random,AA:0,KK:0", "QQ-22,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32"),
        ("AA", "AA"),
        ("AA,KK", "KK+"),
        ("KK,QQ:0.5,JJ:0.5", "KK,QQ-JJ:0.5"),
        ("AKs,AKo", "AK"),
        ("AKs,AKo:0.5", "AKs,AKo:0.5"),
        ("ATs+,AKo", "ATs+,AKo"),
        ("AT+", "AT+"),
        ("A5s-A2s,KTo-K7o", "A5s-A2s,KTo-K7o"),
        ("76s+", "AKs-76s"),
        ("JTs-76s,T8s-64s", "JTs-76s,T8s-64s"),
        ("KQs,76s,75s", "KQs,75s+"),
        ("A2s+,K9s+,QTs+,JTs-98s", "A2s+,K9s+,QTs+,JTs-98s"),
        ("AsKh,KdAd:0.25", "AdKd:0.25,AsKh"),
        ("AsAh,AsAd,AsAc,AhAd,AhAc,AdAc", "AA"),
        ("AKs:0.1,AcKc:0.3", "AsKs:0.1,AhKh:0.1,AdKd:0.1,AcKc:0.3"),
    ],
)
def test_ranges_are_written_compactly(text, compact):
    range_ = parse_range(text)
    written = format_range(range_)
    assert sorted(written.split(",")) == sorted(compact.split(","))
    assert np.array_equal(parse_range(written), range_)


def test_on_a_board_only_unblocked_hands_count():
    board = STANDARD.parse("AsTd9d6h")
    for text in ("random", "QQ+,AK,KQs:0.5", "AKs-76s"):
        assert format_range(parse_range(text, board), board) == text


@settings(max_examples=60)
@given(st.dictionaries(st.integers(0, 1325), weights32, min_size=1, max_size=60))
def test_sparse_ranges_survive_the_round_trip_bit_for_bit(weights):
    range_ = np.zeros(1326, dtype=np.float32)
    range_[list(weights)] = list(weights.values())
    if range_.any():
        again = parse_range(format_range(range_))
        assert again.tobytes() == (range_ + np.float32(0)).tobytes()


@settings(max_examples=60)
@given(
    st.lists(weights32, min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
    st.integers(0, 20),
    boards,
)
def test_ranges_of_whole_classes_survive_the_round_trip(levels, seed, holes, board):
    rng = np.random.default_rng(seed)
    by_class = rng.choice(np.array([0, 1, *levels], dtype=np.float32), size=169)
    range_ = by_class[hand_classes().class_of_hand]
    range_[rng.choice(1326, size=holes)] = 0.5
    range_[blocked(board)] = 0
    if range_.any():
        assert np.array_equal(parse_range(format_range(range_)), range_)
        assert np.array_equal(parse_range(format_range(range_, board), board), range_)


def test_dense_random_ranges_survive_the_round_trip():
    rng = np.random.default_rng(0)
    for scale in (0, -20, -140):
        # exponents down to the subnormal numbers
        range_ = np.ldexp(rng.random(1326), rng.integers(scale, 1, 1326)).astype(np.float32)
        assert np.array_equal(parse_range(format_range(range_)), range_)


def test_weights_are_written_with_the_fewest_digits():
    range_ = np.zeros(1326, dtype=np.float32)
    range_[0] = 0.1
    assert format_range(range_) == "2d2c:0.1"


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        (np.zeros(1326), "at least one hand"),
        (np.ones(1325), "shape"),
        (np.full(1326, 1.5), "range weight 1.5 of 2d2c"),
        (np.full(1326, -0.5), "range weight -0.5"),
        (np.full(1326, np.nan), "range weight nan"),
    ],
)
def test_what_is_not_a_range_is_not_written(weights, complaint):
    with pytest.raises(InputError, match=complaint):
        format_range(weights)


def test_a_range_that_ignores_its_board_is_not_written():
    with pytest.raises(InputError, match=r"of 2d2c.*0 for blocked hands"):
        format_range(np.ones(1326), STANDARD.parse("2c3c4c"))


def test_there_are_169_classes_of_the_known_sizes():
    classes = hand_classes()
    assert len(set(classes.names)) == 169
    sizes = dict(zip(classes.names, classes.sizes.tolist(), strict=True))
    assert (sizes["77"], sizes["T9s"], sizes["T9o"]) == (6, 4, 12)
    assert np.bincount(classes.sizes).tolist() == [0, 0, 0, 0, 78, 0, 13, 0, 0, 0, 0, 0, 78]


def test_class_names_and_members_agree_with_parsing():
    classes = hand_classes()
    for index, name in enumerate(classes.names):
        assert np.array_equal(parse_range(name) > 0, classes.class_of_hand == index)


def test_the_grid_has_suited_hands_above_the_diagonal():
    names = np.array(hand_classes().names).reshape(13, 13)
    assert names[0, :3].tolist() == ["AA", "AKs", "AQs"]
    assert names[:3, 0].tolist() == ["AA", "AKo", "AQo"]
    assert names[12, 12] == "22"


def test_the_grid_holds_the_mean_of_every_class():
    grid = range_grid(parse_range("AA,AKs:0.5,AsKh"))
    assert grid.shape == (13, 13)
    assert (grid[0, 0], grid[0, 1], grid[1, 0]) == (1, 0.5, 1 / 12)
    assert np.count_nonzero(grid) == 3


def test_on_a_board_the_mean_is_over_the_hands_left():
    board = STANDARD.parse("AsAhAd")
    grid = range_grid(parse_range("random", board), board)
    assert grid[0, 0] == 0  # no two aces are left
    assert np.count_nonzero(grid == 1) == 168


def test_the_grid_as_text():
    lines = format_grid(range_grid(parse_range("AA,AKs:0.5,22"))).splitlines()
    assert len(lines) == 14
    assert lines[0].split() == list("AKQJT98765432")
    assert lines[1].split() == ["A", "100", "50", *"." * 11]
    assert lines[13].split() == ["2", *"." * 12, "100"]
    assert len({len(line) for line in lines}) == 1


def test_hand_tables_are_shared_and_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        hand_classes().class_of_hand[0] = 1
    assert hand_cards().shape[0] == hand_classes().class_of_hand.shape[0]
