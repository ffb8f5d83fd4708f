"""Exact game sizes: published figures, the rules played out, and the two ways of counting."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.cards.isomorphism import Indexer, canonical_plain
from deepstack.cards.notation import Deck
from deepstack.game import definition
from deepstack.game.definition import NO_CAP, Game, load_game
from deepstack.game.size import (
    _count_partitions,
    _multiply,
    _walk_betting,
    count_deals,
    count_deals_canonical,
    game_size,
)
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError
from deepstack.run.progress import track

# M. Johanson, "Measuring the size of large no-limit poker games", 2013: the competition's games.
# (small blind, big blind, stack): decision states, information sets, canonical actions.
JOHANSON_2013 = {
    (1, 2, 400): (
        1375203442350500983963565602824903351778252845259200,
        1389094358906842392181537788403345780331801813952,
        180091019297791288982204479657796281550065385037,
    ),
    (1, 2, 1000): (
        7159379256300503000014733539416250494206634292391071646899171132778113414200,
        7231696218395692677395045408177846358424267196938605536692771479904913016,
        937575457443070937268150407671117224976700640913137221641272121424098561,
    ),
    (50, 100, 20_000): (
        int(
            "6311438754399975367624215009823494915231347550095608671617547541385430718664922340406924"
            "67854187671526019435023155654264055463548134458792123919483147215176128484600"
        ),
        int(
            "6375190661010075506903014962382443249204754187190426341443961167641365504745596740758875"
            "13367166011522983983431697050644965107911879207553424525286198175080441144"
        ),
        int(
            "8265311718990182706820341666931964132615554996328933599485292453712593413492484497051412"
            "2385645557438192782454335992412716935898684703899327697523295834972572001"
        ),
    ),
}


@pytest.mark.parametrize(
    ("name", "infosets", "canonical"),
    [
        ("kuhn", 12, 12),
        ("leduc", 936, 288),
        ("rhode_island", 52_128_128, 3_937_128),
        ("holdem_2_1", 311_880_504, 15_442_180),
        ("holdem_2_4", 1_819_282_608, 90_076_792),
        ("limit_holdem", 319_365_922_522_608, 13_803_249_787_132),
    ],
)
def test_limit_games_have_their_published_sizes(name, infosets, canonical):
    size = game_size(load_game(name))
    assert size.infosets == infosets
    assert size.infosets_canonical == canonical


def test_limit_holdem_as_in_johansons_thesis():
    size = game_size(load_game("limit_holdem"))
    assert size.decision_states == 316_207_058_696_146_800
    assert size.infoset_actions_canonical == 35_888_449_446_577
    assert size.betting_decisions == (8, 70, 630, 5670)  # table 5.2
    assert size.betting_actions == (21, 182, 1638, 14_742)


@pytest.mark.parametrize(("small", "big", "stack"), JOHANSON_2013)
def test_no_limit_holdem_is_as_large_as_johanson_counted(small, big, stack, monkeypatch):
    """All digits; he sets no cap on raises, which 500 big blinds would come to."""
    monkeypatch.setattr(definition, "NO_CAP", 1000)
    game = replace(
        load_game("hunl"), stacks=(stack,) * 2, blinds=(big, small), max_raises=(1000,) * 4
    )
    size = game_size(game)
    found = size.decision_states, size.infosets, size.infoset_actions_canonical
    assert found == JOHANSON_2013[small, big, stack]


def test_the_shipped_hunl_game_has_more_than_6e161_infosets():
    size = game_size(load_game("hunl"))
    assert size.infosets == JOHANSON_2013[50, 100, 20_000][1] > 6 * 10**161
    assert size.infosets_canonical < size.infosets < size.decision_states


def decisions_played_out(game: Game) -> tuple[list[int], list[int]]:
    """Decisions and actions by round, visiting every betting sequence one by one."""
    decisions, actions = [0] * game.rounds, [0] * game.rounds

    def visit(state: State) -> None:
        if state.cards_owed:
            state = state.deal(tuple(range(len(state.board), len(state.board) + state.cards_owed)))
        if state.actor is None:
            return
        fold, raise_to = state.legal
        low, high = raise_to or (1, 0)
        moves = [Action(RAISE, total) for total in range(low, high + 1)]
        moves += [Action(CALL)] + [Action(FOLD)] * fold
        decisions[state.round] += 1
        actions[state.round] += len(moves)
        for move in moves:
            visit(state.apply(move))

    visit(initial_state(game))
    return decisions, actions


SMALL = replace(load_game("leduc_3p"), deck=Deck("JQKA", "cdhs"))
SMALL_NO_LIMIT = replace(SMALL, limit=False, raise_size=())


@pytest.mark.parametrize(
    "game",
    [
        SMALL,
        load_game("leduc"),
        load_game("kuhn_3p"),
        replace(SMALL, stacks=(5, 3, 8), blinds=(1, 2, 0), first_player=(2, 0)),
        replace(SMALL_NO_LIMIT, stacks=(6, 6, 6), max_raises=(NO_CAP, NO_CAP)),
        replace(SMALL_NO_LIMIT, stacks=(4, 7, 5), blinds=(1, 2, 0), max_raises=(3, 2)),
        replace(SMALL_NO_LIMIT, players=2, stacks=(7, 10), blinds=(1, 2)),
        replace(SMALL_NO_LIMIT, players=2, stacks=(9, 9), blinds=(9, 1)),
    ],
    ids=lambda game: f"{game.name}-{game.stacks}",
)
def test_walking_merged_states_visits_every_sequence(game):
    assert _walk_betting(game) == decisions_played_out(game)


@st.composite
def heads_up_no_limit(draw: st.DrawFn) -> Game:
    stack = draw(st.integers(1, 20))
    rounds = draw(st.integers(1, 3))
    caps = st.one_of(st.just(NO_CAP), st.integers(0, 4))
    return replace(
        SMALL_NO_LIMIT,
        players=2,
        stacks=(stack, stack),
        blinds=draw(st.tuples(*[st.integers(0, min(stack - 1, 5))] * 2)),
        first_player=draw(st.tuples(*[st.integers(0, 1)] * rounds)),
        max_raises=draw(st.tuples(*[caps] * rounds)),
        board_cards=(0, 1, 1)[:rounds],
    )


@settings(max_examples=40, deadline=None)
@given(heads_up_no_limit())
def test_partitions_count_what_the_rules_allow(game):
    assert _count_partitions(game) == _walk_betting(game)


@pytest.mark.parametrize(("stack", "blinds"), [(30, (2, 1)), (60, (10, 5)), (130, (40, 20))])
def test_partitions_count_what_the_rules_allow_in_holdem(stack, blinds):
    game = replace(load_game("hunl"), stacks=(stack, stack), blinds=blinds)
    assert _count_partitions(game) == _walk_betting(game)


def decisions_by_chips(game: Game) -> list[int]:
    """Decisions by round as Johanson counts them, in a table over chips: no partitions, no caps."""
    stack, decisions = game.stacks[0], []
    starts = Counter({game.big_blind: 1})
    for _ in range(game.rounds):
        table = [[0] * stack for _ in range(stack)]  # ways to face [chips, minimum raise]
        for chips, ways in starts.items():
            table[chips][game.min_bet] = 2 * ways  # the two who may open
        after, count = Counter(starts), 0  # both check
        for chips in range(stack):
            may_raise = 0
            for raised in range(1, stack - chips):
                may_raise += table[chips][raised]
                table[chips + raised][raised] += may_raise
            ways = sum(table[chips])
            count += 2 * ways  # each of them, and facing the all-in that may answer it
            after[chips] += ways - 2 * starts[chips]  # a call
        decisions.append(count)
        starts = after
    return decisions


@pytest.mark.parametrize(
    "game",
    [
        load_game("nolimit_leduc"),
        replace(load_game("hunl"), stacks=(400, 400), blinds=(2, 1)),
        replace(load_game("hunl"), stacks=(800, 800), blinds=(10, 5)),
        replace(load_game("hunl"), stacks=(1200, 1200)),
    ],
    ids=lambda game: f"{game.name}-{game.stacks[0]}",
)
def test_partitions_count_what_a_table_over_chips_counts(game):
    assert _count_partitions(game)[0] == decisions_by_chips(game)


def test_power_series_multiply_exactly():
    a, b = [10**50, 0, 7, 10**80], [3, 10**60, 0, 1]
    plain = [sum(a[i] * b[n - i] for i in range(n + 1)) for n in range(4)]
    assert _multiply(a, b) == plain


def test_deals_of_holdem_by_rounds():
    groups = [(2,), (2, 3), (2, 3, 1), (2, 3, 1, 1)]
    found = [count_deals_canonical(13, 4, g) for g in groups]
    assert found == [169, 1_286_792, 55_190_538, 2_428_287_420]
    assert [count_deals_canonical(13, 4, g) for g in [(3,), (4,), (5,)]] == [1755, 16_432, 134_459]


@pytest.mark.parametrize(
    ("ranks", "suits", "groups"),
    [(3, 2, (1, 1)), (13, 4, (1, 1, 1)), (4, 3, (2, 2)), (5, 4, (2, 3, 1)), (13, 1, (2, 3))],
)
def test_deals_agree_with_the_index_of_canonical_hands(ranks, suits, groups):
    indexer = Indexer(groups, ranks, suits)
    for round_ in range(len(groups)):
        dealt = groups[: round_ + 1]
        assert count_deals_canonical(ranks, suits, dealt) == indexer.size(round_)
        assert count_deals(ranks * suits, dealt) == indexer.deals(round_)


def test_canonical_deals_are_the_distinct_ones_up_to_suits():
    deck = range(9)  # three ranks of three suits
    deals = [
        (hand, board)
        for hand in combinations(deck, 2)
        for board in combinations(deck, 2)
        if not set(hand) & set(board)
    ]
    assert count_deals(9, (2, 2)) == len(deals)
    canonical = {canonical_plain(deal, suits=3) for deal in deals}
    assert count_deals_canonical(3, 3, (2, 2)) == len(canonical)


@pytest.mark.parametrize("name", ["hunl", "limit_holdem_3p"])
def test_progress_counts_the_rounds(name):
    with track(4, "size", "rounds", quiet=True) as progress:
        game_size(load_game(name), progress)
    assert progress.done == 4


def test_games_that_are_too_large_are_refused():
    hunl = load_game("hunl")
    with pytest.raises(InputError, match=r"about 5e\+12 betting actions .* equal stacks"):
        game_size(replace(hunl, stacks=(20_000, 19_000)))
    with pytest.raises(InputError, match="stacks of 1000000 chips: expected at most 100000"):
        game_size(replace(hunl, stacks=(10**6, 10**6)))
