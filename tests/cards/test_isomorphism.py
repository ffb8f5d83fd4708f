"""The hand index against its plain definition, brute force and published counts."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.cards.isomorphism import (
    Indexer,
    canonical_plain,
    configurations,
    sizes_ignoring_suits,
    tables,
)
from deepstack.run.errors import InputError

HOLDEM = Indexer((2, 3, 1, 1))
RHODE_ISLAND = Indexer((1, 1, 1))
LEDUC = Indexer((1, 1), ranks=3, suits=2)

# Small enough to enumerate: rounds, ranks, suits.
SMALL = [
    ((2, 1), 4, 3),
    ((1, 1, 1), 4, 3),
    ((2, 2), 4, 3),
    ((3, 2), 2, 4),
    ((2, 1, 1), 3, 4),
    ((4,), 3, 4),
    ((1, 1), 3, 2),
    ((2, 2), 6, 1),
    ((3, 3), 3, 2),
    ((5, 3), 2, 4),
]


def raw_deals(rounds, deck):
    """Every deal, each round sorted, as a list of tuples of rounds."""
    deals: list[tuple[tuple[int, ...], ...]] = [()]
    for n in rounds:
        deals = [
            (*deal, chosen)
            for deal in deals
            for chosen in combinations(sorted(set(range(deck)).difference(*deal)), n)
        ]
    return deals


def by_round(cards, rounds):
    """A flat hand as a tuple of rounds."""
    ends = np.cumsum((0, *rounds))
    return tuple(tuple(int(c) for c in cards[a:b]) for a, b in pairwise(ends))


def random_deals(rng, n, k, deck=52):
    return np.argsort(rng.random((n, deck)), axis=1)[:, :k]


def random_lookalikes(rng, cards, rounds):
    """The same hands of the 52-card deck with suits renamed and each round shuffled."""
    names = np.argsort(rng.random((len(cards), 4)), axis=1)
    renamed = cards // 4 * 4 + np.take_along_axis(names, cards % 4, axis=1)
    # Sorting by round plus a random fraction shuffles within rounds only.
    order = np.repeat(np.arange(len(rounds)), rounds) + rng.random(cards.shape)
    return np.take_along_axis(renamed, np.argsort(order, axis=1), axis=1)


def test_holdem_counts():
    sizes = [HOLDEM.size(r) for r in range(4)]
    assert sizes == [169, 1_286_792, 55_190_538, 2_428_287_420]


def test_rhode_island_counts():
    assert [RHODE_ISLAND.size(r) for r in range(3)] == [13, 325, 9_997]


def test_leduc_counts():
    """Renaming suits leaves suited and unsuited apart: 3 pairs and twice 6 unpaired."""
    assert [LEDUC.size(r) for r in range(2)] == [3, 15]


def test_leduc_without_suits_has_288_information_sets():
    """Six decisions a round, and five ways through the first."""
    first, second = sizes_ignoring_suits((1, 1), ranks=3, suits=2)
    assert (first, second) == (3, 9)
    assert first * 6 + second * 5 * 6 == 288


@pytest.mark.parametrize(("rounds", "ranks", "suits"), SMALL)
def test_sizes_ignoring_suits_are_brute_force(rounds, ranks, suits):
    deals = raw_deals(rounds, ranks * suits)
    by_rank = {tuple(tuple(c // suits for c in cards) for cards in deal) for deal in deals}
    assert sizes_ignoring_suits(rounds, ranks, suits)[-1] == len(by_rank)


@pytest.mark.parametrize(("rounds", "ranks", "suits"), SMALL)
def test_small_decks_are_brute_force(rounds, ranks, suits):
    """Indices are dense, split deals as the plain form does, and weigh what they should."""
    indexer = Indexer(rounds, ranks, suits)
    deals = raw_deals(rounds, ranks * suits)
    assert indexer.deals() == len(deals)

    indices = indexer.index([[card for cards in deal for card in cards] for deal in deals])
    plain = [canonical_plain(deal, suits) for deal in deals]
    assert len(set(zip(indices.tolist(), plain, strict=True))) == len(set(plain))
    found, orbits = np.unique(indices, return_counts=True)
    assert found.tolist() == list(range(len(set(plain)))) == list(range(indexer.size()))
    assert indexer.weight(found).tolist() == orbits.tolist()

    hands = indexer.unindex(found)
    assert indexer.index(hands).tolist() == found.tolist()
    form = dict(zip(indices.tolist(), plain, strict=True))
    assert [canonical_plain(by_round(h, rounds), suits) for h in hands] == [form[i] for i in found]


@settings(max_examples=40, deadline=None)
@given(
    rounds=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    ranks=st.integers(1, 5),
    suits=st.integers(1, 4),
)
def test_any_deck_and_rounds(rounds, ranks, suits):
    if sum(rounds) > ranks * suits:
        with pytest.raises(InputError, match="rounds"):
            Indexer(tuple(rounds), ranks, suits)
        return
    indexer = Indexer(tuple(rounds), ranks, suits)
    some = np.arange(0, indexer.size(), max(1, indexer.size() // 1000))
    assert (indexer.index(indexer.unindex(some)) == some).all()
    if indexer.size() < 100_000:
        assert indexer.weight(np.arange(indexer.size())).sum() == indexer.deals()


@pytest.mark.parametrize("round", range(4))
def test_unindex_inverts_index(round):
    rng = np.random.default_rng(round)
    indices = rng.integers(HOLDEM.size(round), size=1_000_000)
    hands = HOLDEM.unindex(indices, round)
    assert (HOLDEM.index(hands, round) == indices).all()


@pytest.mark.parametrize("round", range(4))
def test_first_and_last_index(round):
    ends = [0, HOLDEM.size(round) - 1]
    assert HOLDEM.index(HOLDEM.unindex(ends, round), round).tolist() == ends


@pytest.mark.parametrize("round", range(4))
def test_renamed_suits_and_order_within_rounds_do_not_matter(round):
    rng = np.random.default_rng(round)
    rounds = HOLDEM.rounds[: round + 1]
    cards = random_deals(rng, 100_000, sum(rounds))
    indices = HOLDEM.index(cards, round)
    assert (HOLDEM.index(random_lookalikes(rng, cards, rounds), round) == indices).all()


@pytest.mark.parametrize(
    "indexer", [HOLDEM, RHODE_ISLAND, Indexer((2, 3)), Indexer((2, 5))], ids=str
)
def test_index_agrees_with_plain_form(indexer):
    """On some hands, their lookalikes, and hands with one card changed."""
    rng = np.random.default_rng(7)
    rounds = indexer.rounds
    cards = random_deals(rng, 300, sum(rounds) + 1)
    changed = np.concatenate([cards[:, 1:], cards[:, :1]], axis=1)[:, : sum(rounds)]
    cards = cards[:, : sum(rounds)]
    hands = np.concatenate([cards, random_lookalikes(rng, cards, rounds), changed])
    indices = indexer.index(hands)
    plain = [canonical_plain(by_round(hand, rounds)) for hand in hands]
    pairs = set(zip(indices.tolist(), plain, strict=True))
    assert len(pairs) == len(set(plain)) == len(set(indices.tolist()))
    canonical = indexer.canonical(hands)
    assert [canonical_plain(by_round(hand, rounds)) for hand in canonical] == plain


def test_canonical_hand_is_sorted_by_round_and_stands_for_itself():
    rng = np.random.default_rng(3)
    hands = HOLDEM.canonical(random_deals(rng, 10_000, 7))
    assert (hands[:, 0] < hands[:, 1]).all()
    assert (np.diff(hands[:, 2:5], axis=1) > 0).all()
    assert (HOLDEM.canonical(hands) == hands).all()


@pytest.mark.parametrize("round", range(4))
def test_weight_is_the_number_of_distinct_relabellings(round):
    rng = np.random.default_rng(round)
    indices = rng.integers(HOLDEM.size(round), size=500)
    rounds = HOLDEM.rounds[: round + 1]
    names = np.array([p for p in np.ndindex(4, 4, 4, 4) if len(set(p)) == 4])
    for index, hand in zip(indices, HOLDEM.unindex(indices, round), strict=True):
        images = hand // 4 * 4 + names[:, hand % 4]
        forms = {tuple(tuple(sorted(r)) for r in by_round(image, rounds)) for image in images}
        assert HOLDEM.weight(index, round) == len(forms)


def test_deals_are_the_raw_counts():
    deals = [HOLDEM.deals(r) for r in range(4)]
    preflop, flop = comb(52, 2), comb(52, 2) * comb(50, 3)
    assert deals == [preflop, flop, flop * 47, flop * 47 * 46]


@pytest.mark.parametrize("round", [0, 1])
def test_weights_sum_to_the_raw_count(round):
    assert HOLDEM.weight(np.arange(HOLDEM.size(round)), round).sum() == HOLDEM.deals(round)


@pytest.mark.parametrize("round", [2, 3])
def test_weights_sum_to_the_raw_count_by_configuration(round):
    """Exact without visiting every index.

    A suit whose shape no other suit shares does not change the weight, whatever its number, so
    it is enough to vary the numbers of the suits that share one.
    """
    t = tables(HOLDEM.rounds[: round + 1], 13, 4)
    total = hands = 0
    for config, offset in enumerate(t.config_offset[:-1]):
        varied = np.array([offset])
        alone = 1
        for slot in range(4):
            size = int(t.config_size[config, slot])
            if t.config_run[config, slot] == 1:
                alone *= size
            elif t.config_place[config, slot] == 1:
                digit = np.arange(size) * t.config_stride[config, slot]
                varied = (varied[:, None] + digit).reshape(-1)
        hands += alone * len(varied)
        total += alone * int(HOLDEM.weight(varied, round).sum())
    assert hands == HOLDEM.size(round)
    assert total == HOLDEM.deals(round)


@pytest.mark.slow
@pytest.mark.parametrize("round", [2, 3])
def test_weights_sum_to_the_raw_count_one_by_one(round):
    size, step = HOLDEM.size(round), 1 << 22
    total = 0
    for start in range(0, size, step):
        total += int(HOLDEM.weight(np.arange(start, min(size, start + step)), round).sum())
    assert total == HOLDEM.deals(round)


@pytest.mark.slow
def test_every_turn_index_is_its_own():
    size, step = HOLDEM.size(2), 1 << 22
    for start in range(0, size, step):
        indices = np.arange(start, min(size, start + step))
        assert (HOLDEM.index(HOLDEM.unindex(indices, 2), 2) == indices).all()


def test_configurations_use_all_cards_and_ascend():
    for config in configurations((2, 3, 1), 4):
        assert tuple(map(sum, zip(*config, strict=True))) == (2, 3, 1)
        assert list(config) == sorted(config)


def test_shapes_and_types():
    cards = random_deals(np.random.default_rng(0), 60, 7)
    indices = HOLDEM.index(cards.reshape(3, 4, 5, 7))
    assert indices.shape == (3, 4, 5)
    assert indices.dtype == np.int64
    assert HOLDEM.unindex(indices).shape == (3, 4, 5, 7)
    assert HOLDEM.weight(indices).shape == (3, 4, 5)
    assert HOLDEM.index(cards[0]) == indices[0, 0, 0]
    assert HOLDEM.unindex(int(indices[0, 0, 0])).shape == (7,)
    assert (HOLDEM.index(cards.astype(np.int8)) == indices.reshape(-1)).all()
    assert (HOLDEM.index(np.asfortranarray(cards)) == indices.reshape(-1)).all()
    assert HOLDEM.index(np.empty((0, 7), int)).shape == (0,)
    assert HOLDEM.unindex([]).shape == (0, 7)
    assert HOLDEM.weight([]).shape == (0,)


def test_big_input_is_cut_into_blocks_without_a_seam():
    indices = np.arange(20_001)
    assert (HOLDEM.index(HOLDEM.unindex(indices)) == indices).all()


@pytest.mark.parametrize(
    ("cards", "round", "message"),
    [
        ([0, 52], 0, r"card 52: expected 0 to 51"),
        ([-1, 3], 0, r"card -1: expected 0 to 51"),
        ([2**40, 3], 0, r"card 1099511627776: expected 0 to 51"),
        ([7, 7], 0, r"cards \[7, 7\]: card 7 stands twice"),
        ([0, 1, 2, 3, 1], 1, r"card 1 stands twice"),
        ([[0, 1], [5, 5]], 0, r"cards \[5, 5\]"),
        ([0, 1, 2], 0, r"shape \(3,\): expected 2 in the last axis for rounds \(2,\)"),
        (3, 0, r"shape \(\): expected 2"),
        ([0.0, 1.0], 0, r"cards of type float64: expected integers"),
        ([[0, 1], [2]], 0, r"expected an array of integers"),
        (["As", "Kd"], 0, r"expected integers"),
        ([0, 1], 4, r"round 4: expected 0 to 3"),
        ([0, 1], -5, r"round -5: expected 0 to 3"),
    ],
)
def test_bad_cards_are_named(cards, round, message):
    with pytest.raises(InputError, match=message):
        HOLDEM.index(cards, round)


def test_bad_card_in_a_later_block_is_named():
    cards = np.tile(np.arange(7), (20_000, 1))
    cards[17_000, 6] = 3
    with pytest.raises(InputError, match=r"cards \[0, 1, 2, 3, 4, 5, 3\]: card 3 stands twice"):
        HOLDEM.index(cards)


@pytest.mark.parametrize("method", [HOLDEM.unindex, HOLDEM.weight])
@pytest.mark.parametrize(
    ("index", "message"),
    [
        (169, r"index 169: expected 0 to 168"),
        ([5, -1], r"index -1: expected 0 to 168"),
        (np.array([2**63], np.uint64), r"index 9223372036854775808"),
        (0.5, r"index of type float64"),
    ],
)
def test_bad_index_is_named(method, index, message):
    with pytest.raises(InputError, match=message):
        method(index, 0)


@pytest.mark.parametrize(
    ("rounds", "ranks", "suits", "message"),
    [
        ((), 13, 4, r"rounds \(\): expected"),
        ((2, 0), 13, 4, r"rounds \(2, 0\): expected at least one card"),
        ((4, 3), 3, 2, r"at most 6 in all"),
        ((1,) * 9, 13, 4, r"rounds .* too many"),
        ((9, 9, 1), 13, 4, r"deals, expected fewer"),
        ((1,), 14, 4, r"deck of 14 ranks"),
        ((1,), 13, 5, r"and 5 suits"),
        ((1,), 0, 4, r"deck of 0 ranks"),
    ],
)
def test_impossible_indexers_are_refused(rounds, ranks, suits, message):
    with pytest.raises(InputError, match=message):
        Indexer(rounds, ranks, suits)
