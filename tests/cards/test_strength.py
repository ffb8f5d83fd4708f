"""Hand strength: figures every poker book gives, and the kernels against the plain definition."""

from itertools import chain, combinations

import numpy as np
import pytest
from numba import njit

from deepstack.cards.notation import STANDARD, blocked, hand_cards
from deepstack.cards.strength import (
    BLOCKED,
    CLASS_SIZES,
    CLASSES,
    HANDS,
    STRONGEST,
    board_strengths,
    hand_class,
    strength,
    strength_plain,
)
from deepstack.cards.strength_kernels import (
    FLUSH,
    ROW,
    START,
    U,
    fill_board_strengths,
    flush_strength,
    rank_strength,
    strength7,
    suited_bit,
)
from deepstack.cards.strength_tables import strength_tables
from deepstack.run.errors import InputError

FIVE_CARD_COUNTS = {
    "high card": 1_302_540,
    "pair": 1_098_240,
    "two pair": 123_552,
    "three of a kind": 54_912,
    "straight": 10_200,
    "flush": 5_108,
    "full house": 3_744,
    "four of a kind": 624,
    "straight flush": 40,
}
SEVEN_CARD_COUNTS = {
    "high card": 23_294_460,
    "pair": 58_627_800,
    "two pair": 31_433_400,
    "three of a kind": 6_461_620,
    "straight": 6_180_020,
    "flush": 4_047_644,
    "full house": 3_473_184,
    "four of a kind": 224_848,
    "straight flush": 41_584,
}


def deal(count: int, hands: int, seed: int, deck: str = "") -> np.ndarray:
    """Random hands of different cards, from the cards named or from all: uint8 [hands, count]."""
    cards = np.array(STANDARD.parse(deck) if deck else range(52), dtype=np.uint8)
    order = np.random.default_rng(seed).random((hands, len(cards))).argsort(axis=1)
    return cards[order[:, :count]]


def count_classes(strengths: np.ndarray, weights: np.ndarray | None = None) -> dict[str, int]:
    counts = np.bincount(hand_class(strengths), weights=weights, minlength=len(CLASSES))
    return {name: int(n) for name, n in zip(CLASSES, counts, strict=True)}


# All five-card hands.


@pytest.fixture(scope="module")
def all_five_card_strengths() -> np.ndarray:
    cards = chain.from_iterable(combinations(range(52), 5))
    return strength(np.fromiter(cards, np.uint8, 2_598_960 * 5).reshape(-1, 5))


def test_five_card_class_counts(all_five_card_strengths):
    assert count_classes(all_five_card_strengths) == FIVE_CARD_COUNTS


def test_five_card_hands_take_every_strength(all_five_card_strengths):
    np.testing.assert_array_equal(
        np.unique(all_five_card_strengths), np.arange(1, STRONGEST + 1, dtype=np.int16)
    )


# The rulebook, in words.


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("AsKsQsJsTs", "KdQdJdTd9d"),
        ("5c4c3c2cAc", "AsAhAdAcKs"),  # a straight flush to the five beats four aces
        ("6c5d4h3s2c", "5c4d3h2sAc"),  # an ace is low in a straight only if it must be
        ("5c4d3h2sAc", "AcAdAhKsQc"),
        ("2c2d2hAsAc", "AsKsQsJs9s"),  # a full house beats a flush
        ("3c3d3h2s2c", "2c2d2hAsAc"),  # the three decide a full house
        ("KcKd2h2s3c", "QcQdJhJsAc"),
        ("AcAd4h3s2c", "KcKdAhQsJc"),
        ("KcKdAh3s2c", "KhKsQhJsTc"),  # then the kickers
        ("2c2d5h4s3c", "AcKdQhJs9c"),
        ("7c5d4h3s2d AhAd", "7c5d4h3s2d KhKd"),  # best five of seven
    ],
)
def test_rulebook(better, worse):
    assert strength(STANDARD.parse(better)) > strength(STANDARD.parse(worse))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AsKd9h5c3s", "AdKc9s5h3d"),
        ("AsKsQsJsTs 2c3c", "AsKsQsJsTs 9s8s"),  # the board plays
        ("KcKdQhQsJcJd Ah", "KcKdQhQsJcAd 2h"),  # a third pair does not count
        ("2c3c4c5c9cAd Kd", "2c3c4c5c9cTd Ks"),  # nor what lies outside the flush
    ],
)
def test_ties(one, other):
    assert strength(STANDARD.parse(one)) == strength(STANDARD.parse(other))


def test_classes_of_strengths():
    assert hand_class(BLOCKED) == -1
    assert count_classes(np.arange(1, STRONGEST + 1)) == dict(
        zip(CLASSES, CLASS_SIZES, strict=True)
    )


# The kernels mean what the plain definition says.


@pytest.mark.parametrize("count", [5, 6, 7])
@pytest.mark.parametrize(
    "deck",
    [
        "",
        "As2s3s4s5s6s7s9sTsAh3h5hKd",
        "AsAhAdAcKsKhKdKcQsQhQdQc2s2h2d2c",
        "2c3d4h5s6c7d8h9sTcJdQhKsAc",
    ],
    ids=["all", "flushes", "groups", "straights"],
)
def test_kernel_agrees_with_plain_definition(count, deck):
    cards = deal(count, 1_200, seed=count, deck=deck)
    expected = [strength_plain(hand) for hand in cards.tolist()]
    np.testing.assert_array_equal(strength(cards), expected)
    np.testing.assert_array_equal(strength(cards, check=False), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_any_integer_type_and_layout(dtype):
    cards = deal(7, 600, seed=1)
    expected = strength(cards)
    other = np.asfortranarray(cards.astype(dtype))
    np.testing.assert_array_equal(strength(other), expected)
    np.testing.assert_array_equal(strength(other.reshape(20, 30, 7)), expected.reshape(20, 30))


def test_order_of_cards_does_not_matter():
    cards = deal(7, 5_000, seed=2)
    shuffled = np.random.default_rng(3).permuted(cards, axis=1)
    np.testing.assert_array_equal(strength(cards), strength(shuffled))


def test_no_hands_and_one_hand():
    assert strength(np.empty((0, 7), np.uint8)).shape == (0,)
    assert strength(range(7)).shape == ()


def test_strength_into_given_array():
    cards = deal(6, 700, seed=4)
    out = np.empty(700, np.int16)
    assert strength(cards, out=out) is out
    np.testing.assert_array_equal(out, strength(cards))


def test_scalar_kernel_agrees():
    @njit
    def each(tables, cards):
        return [strength7(tables, h[0], h[1], h[2], h[3], h[4], h[5], h[6]) for h in cards]

    cards = deal(7, 2_000, seed=5)
    np.testing.assert_array_equal(each(strength_tables(), cards), strength(cards))


def test_tables_hold_every_key():
    """No sum of keys, not even of cards dealt twice, reads beyond the tables."""
    tables = strength_tables()
    assert len(tables.by_ranks) >= int(tables.displacements.max()) + 2**17
    assert len(tables.displacements) == 2**13


# All hands on a board.

BOARDS = [
    *("2c7dJh", "2c7cJc", "AsAhAd"),
    *("2c7dJhKs", "2c7cJcKs", "2c7cJcKc", "5c4c3c2c", "9s9h9d9c"),
    *("2c7dJhKs4d", "2c7cJcKs4d", "2c7cJcKc4d", "2c7cJcKcAc", "AsKsQsJsTs", "2c3c4c5c6c"),
    *("9s9h9d9cAs", "2c2d3c3dAs", "2d2h2s3d3h", "As5s4s3d2d", "KsQsJsTsAd"),
]


@pytest.mark.parametrize("text", BOARDS)
def test_board_strengths_are_strengths_of_hand_and_board(text):
    assert_board_strengths(STANDARD.parse(text))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_random_boards(count):
    for board in deal(count, 150, seed=count).tolist():
        assert_board_strengths(board)


def assert_board_strengths(board):
    gone = blocked(board)
    live = hand_cards()[~gone]
    result = board_strengths(board)
    cards = np.hstack([live, np.tile(np.array(board, np.int16), (len(live), 1))])
    np.testing.assert_array_equal(result[~gone], strength(cards))
    assert (result[gone] == BLOCKED).all()


def test_many_boards_at_once():
    boards = deal(5, 60, seed=6)
    expected = np.array([board_strengths(board) for board in boards])
    out = np.full((60, HANDS), -7, np.int16)
    assert board_strengths(boards, out=out) is out
    np.testing.assert_array_equal(out, expected)
    many = board_strengths(boards.reshape(3, 20, 5))
    np.testing.assert_array_equal(many, expected.reshape(3, 20, HANDS))


def test_board_kernel_writes_only_its_own_row():
    """Rows are copied whole, running into the next; the last must not run out of the array."""
    out = np.full(HANDS + ROW, -7, np.int16)
    board = np.array(STANDARD.parse("2c7cJcKs4d"), np.uint8)
    fill_board_strengths(strength_tables(), board, np.empty(ROW, np.int16), out[:HANDS])
    assert (out[HANDS:] == -7).all()
    np.testing.assert_array_equal(out[:HANDS], board_strengths(board))


# What is refused.


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("bad", [52, 63, 64, 128, 255])
def test_unknown_card_is_refused(bad, dtype, check):
    cards = deal(7, 1_000, seed=7).astype(dtype)
    cards[800, 3] = bad
    with pytest.raises(InputError, match=rf"card {bad}: expected 0 \(2c\) to 51 \(As\)"):
        strength(cards, check=check)
    with pytest.raises(InputError, match=f"card {bad}: expected"):
        board_strengths(cards[:, :5])


def test_negative_card_is_refused():
    with pytest.raises(InputError, match="card -1: expected"):
        strength([-1, 0, 1, 2, 3])


@pytest.mark.parametrize("count", [5, 6, 7])
def test_hand_with_a_card_twice_is_refused(count):
    cards = deal(count, 1_000, seed=8)
    cards[700] = STANDARD.parse("2c3c4c5c6c7c8c")[:count]
    cards[700, -1] = STANDARD.card("4c")
    with pytest.raises(InputError, match=r"a hand 2c3c4c.*4c: 4c stands twice"):
        strength(cards)


def test_board_with_a_card_twice_is_refused():
    with pytest.raises(InputError, match="a board 2c3c2c: 2c stands twice"):
        board_strengths([[1, 2, 3], [0, 4, 0]])


@pytest.mark.parametrize("cards", [[0, 1, 2, 3], list(range(8)), 5, [[]]])
def test_wrong_number_of_cards_is_refused(cards):
    with pytest.raises(InputError, match="expected a hand of 5 to 7 cards"):
        strength(np.array(cards, dtype=np.int64))
    with pytest.raises(InputError, match="expected a board of 3 to 5 cards"):
        board_strengths(np.zeros(6, np.int64))


@pytest.mark.parametrize("cards", [[0.0, 1.0, 2.0, 3.0, 4.0], ["2c"] * 5, [True] * 5])
def test_other_than_integers_is_refused(cards):
    with pytest.raises(InputError, match="expected integers"):
        strength(cards)


@pytest.mark.parametrize(
    "out", [np.empty(3, np.int16), np.empty(2, np.int32), np.empty(4, np.int16)[::2]]
)
def test_result_array_of_another_kind_is_refused(out):
    with pytest.raises(InputError, match="expected contiguous int16"):
        strength([range(7), range(7)], out=out)


# All seven-card hands.


@njit
def count_seven_card_strengths(tables):
    """How many of all seven-card hands have each strength: int64 [7463]."""
    counts = np.zeros(STRONGEST + 1, np.int64)
    key, suited = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    cards = np.arange(7)
    key[0] = START
    first = 0
    while True:
        for i in range(first, 6):
            key[i + 1] = key[i] + tables.keys[U(cards[i])]
            suited[i + 1] = suited[i] | suited_bit(U(cards[i]))
        for last in range(cards[5] + 1, 52):
            whole = key[6] + tables.keys[U(last)]
            if whole & FLUSH:
                value = flush_strength(tables, suited[6] | suited_bit(U(last)))
            else:
                value = rank_strength(tables, whole)
            counts[value] += 1
        first = 5
        while first >= 0 and cards[first] == 45 + first:
            first -= 1
        if first < 0:
            return counts
        cards[first] += 1
        for i in range(first + 1, 6):
            cards[i] = cards[i - 1] + 1


@pytest.mark.slow
def test_seven_card_class_counts():
    counts = count_seven_card_strengths(strength_tables())
    assert counts.sum() == 133_784_560
    strengths = np.flatnonzero(counts)
    assert count_classes(strengths, counts[strengths]) == SEVEN_CARD_COUNTS
    assert len(strengths) == 4_824
