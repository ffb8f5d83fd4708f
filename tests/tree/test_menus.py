"""Bet menus: what every token asks for, how menus differ, and the sizes of reference trees."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from deepstack.game.definition import Game, load_game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.tree.menus import (
    ALL_IN,
    FORCE,
    POT,
    Bet,
    Menu,
    format_menu,
    geometric_bet,
    load_menu,
    menu_names,
    parse_menu,
)

HUNL = load_game("hunl")
BOARD = (0, 5, 10, 15, 20)
FLOP = "|/2c3d4h"


def hunl(betting: str, cards: str = "|") -> State:
    return parse_state(HUNL, betting, cards)


def dealt(state: State) -> State:
    """The state once the cards it owes are dealt."""
    known = len(state.board)
    return state.deal(BOARD[known : known + state.cards_owed]) if state.cards_owed else state


def spot_game(*stacks: int) -> Game:
    """Hold'em with a smallest bet of one chip, in which seat 0 acts first on every round."""
    return replace(HUNL, name="spot", stacks=stacks, blinds=(1, 1), first_player=(0, 0, 0, 0))


def played_to(state: State, pot: int, round_: int) -> State:
    """The start of a later round with a pot: one raise that is called, then checks."""
    state = state.apply(Action(RAISE, pot // 2))
    while state.round < round_ or state.cards_owed:
        state = dealt(state) if state.cards_owed else state.apply(Action(CALL))
    return state


def spot(pot: int, stack: int, round_: int = 3) -> State:
    """The start of a round with a pot and that many chips behind for both."""
    return played_to(initial_state(spot_game(pot // 2 + stack, pot // 2 + stack)), pot, round_)


def raised(state: State, *totals: int) -> State:
    for total in totals:
        state = state.apply(Action(RAISE, total))
    return state


def offered(menu: Menu | str, state: State) -> tuple[int, ...]:
    """The raises of a menu in a state, with the round as the root of the tree."""
    menu = parse_menu(menu) if isinstance(menu, str) else menu
    return menu.raises(state, sum(action.kind == RAISE for action in state.betting[-1]))


# Sizes, computed by hand.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fc", ()),
        ("p", (300,)),  # 100 + (150 + 50)
        ("h", (200,)),  # 100 + 200 / 2
        ("2p", (500,)),
        ("50%, 100%, a", (200, 300, 20000)),
        ("a, 100%, 50%, p", (200, 300, 20000)),  # ascending, each once
        ("2.5x", (250,)),  # the big blind is the bet faced
        ("300", (300,)),
        ("min", (200,)),
        ("33%", (200,)),  # 166 is below the minimum
        ("99999%", (20000,)),  # more than the stack
    ],
)
def test_first_raise_before_the_flop(text, expected):
    assert offered(text, hunl("")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", (900,)),  # 300 + (400 + 200)
        ("h", (600,)),
        ("3x", (900,)),
        ("800", (800,)),
        ("min", (500,)),
    ],
)
def test_second_raise_before_the_flop(text, expected):
    assert offered(text, hunl("r300")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", (900,)),  # 300 + 600
        ("33.3%", (500,)),  # 300 + 199.8
        ("10%", (400,)),  # 60 is below the big blind
        ("2.5x", ()),  # nothing to multiply
        ("250", (550,)),
        ("min, a", (400, 20000)),
    ],
)
def test_bet_on_the_flop(text, expected):
    assert offered(text, hunl("r300c/", FLOP)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", (2100,)),  # 700 + (1000 + 400)
        ("2.5x", (1300,)),  # 300 + 2.5 · 400
        ("1000", (1300,)),
        ("min", (1100,)),
        ("1.5x", (1100,)),  # 900 is below the minimum
    ],
)
def test_raise_on_the_flop(text, expected):
    assert offered(text, hunl("r300c/r700", FLOP)) == expected


def test_pot_200_and_stack_900():
    state = spot(200, 900)
    assert state.spent == (100, 100)
    assert offered("50%, 100%, a", state) == (200, 300, 1000)
    assert offered("50%, 100%, a", raised(state, 300)) == (600, 900, 1000)
    assert offered("50%, 100%, a", raised(state, 300, 900)) == (1000,)
    assert offered("50%, 100%, a", raised(state, 1000)) == ()


def test_halves_are_rounded_up():
    assert offered("33%", spot(250, 900)) == (125 + 83,)  # 82.5
    assert offered("33.19%", spot(250, 900)) == (125 + 83,)  # 82.975
    assert offered("32.99%", spot(250, 900)) == (125 + 82,)  # 82.475


def test_three_geometric_bets_end_all_in():
    assert geometric_bet(200, 2600, 3) == 200  # the pot: 200, 600, 1800, 5400
    state = spot(200, 2600, round_=1)
    for total in (300, 900, 2700):
        assert offered("geometric", state) == (total,)
        state = dealt(raised(state, total).apply(Action(CALL)))
    assert state.spent == (2700, 2700)


def test_geometric_with_a_number_counts_that_many_rounds():
    river = spot(200, 2600)
    assert offered("geometric", river) == offered("geometric 1", river) == (2700,)
    assert offered("geometric 3", river) == (300,)
    # Facing a bet of 200: pot 600 after the call, 2,400 behind, and again 600 · 3² = 5,400.
    assert offered("geometric 2", raised(river, 300)) == (900,)


def test_all_in_up_to_a_share_of_the_pot():
    state = spot(200, 900)
    assert offered("a@450%", state) == (1000,)
    assert offered("a@449.9%", state) == ()
    assert offered("a@117%", raised(state, 300)) == (1000,)  # 700 into 600
    assert offered("a@116%", raised(state, 300)) == ()
    assert offered("450%, a@100%", state) == (1000,)  # a size that is the stack stays


def test_little_left_behind_forces_all_in():
    state = spot(200, 800)  # a pot bet leaves 600 behind a pot of 600
    assert offered("100%, force 100%", state) == (300,)
    assert offered("100%, force 100.1%", state) == (900,)
    assert offered("min, 100%, force 101%", state) == (101, 900)
    assert offered("force 100%", state) == ()


def test_all_in_is_for_the_effective_stack():
    state = played_to(initial_state(spot_game(1000, 500)), 200, 3)
    assert offered("a", state) == (500,)
    assert offered("450%", state) == (500,)
    assert offered("a", state.apply(Action(CALL))) == (500,)
    assert raised(state, 500).apply(Action(CALL)).is_over


def test_sizes_that_need_the_betting_refuse_chips_set_by_hand():
    placed = replace(
        initial_state(spot_game(1000, 1000)), board=BOARD, betting=((),) * 4, spent=(100, 100),
        min_raise_to=101, actor=0,
    )  # fmt: skip
    assert offered("50%, a", placed) == (200, 1000)
    for text, state in (("100", placed), ("2x", raised(placed, 200))):
        with pytest.raises(InputError, match=r"does not explain the chips"):
            offered(text, state)


def test_antes_are_not_bets():
    leduc = initial_state(load_game("nolimit_leduc"))
    assert len(set(leduc.game.blinds)) == 1
    ante = leduc.game.blinds[0]
    assert offered("3x", leduc) == ()
    bet = raised(leduc, leduc.min_raise_to)
    assert offered("3x", bet) == (ante + 3 * (leduc.min_raise_to - ante),)


# Limit games.


@pytest.mark.parametrize("name", ["limit", "fcpa", "50%, a", "2.5x"])
def test_every_bet_is_the_raise_of_a_limit_game(name):
    state = initial_state(load_game("limit_holdem"))
    menu, seen = load_menu(name), []
    while raises := offered(menu, state):
        seen.append(raises)
        state = raised(state, *raises)
    assert seen == [(20,), (30,), (40,)]  # then the cap


@pytest.mark.parametrize("text", ["fc", "force 50%"])
def test_a_menu_without_bets_has_none_in_a_limit_game(text):
    assert offered(text, initial_state(load_game("leduc"))) == ()


def test_the_limit_raise_is_refused_in_a_no_limit_game():
    with pytest.raises(InputError, match=r"token r: .*hunl is no-limit"):
        load_menu("limit").raises(hunl(""), 0)


# The language.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fcpa", "f c p a"),
        ("fcpa", "100%, a"),
        ("FCHPA", " 50% ,100%,a "),
        ("fchp2pa", "50%, 100%, 200%, a"),
        ("0.5p", "h"),
        ("50.0%", "50%"),
        ("a, a, fc", "a"),
        ("geometric  3 a", "geometric 3, a"),
        ("fc; p; p", "fc; p"),
        ("a | p | p", "a | p"),
        ("oop: a / ip: a", "a"),
        ("IP: a / oop: p", "oop: p / ip: a"),
    ],
)
def test_two_ways_to_write_a_menu(one, other):
    assert parse_menu(one) == parse_menu(other)
    assert hash(parse_menu(one)) == hash(parse_menu(other))


def test_a_menu_is_plain_data():
    assert parse_menu("h, a").rounds[0].ladders == (
        ((Bet(POT, Decimal(50)), Bet(ALL_IN)),),
    )  # fmt: skip


def test_rounds_are_those_of_the_game_and_the_last_repeats():
    menu = parse_menu("fc; fcpa; 50%")
    assert menu.raises(hunl(""), 0) == ()
    assert menu.raises(hunl("cc/", FLOP), 0) == (300, 20000)
    assert menu.raises(hunl("cc/cc/", FLOP + "/5s"), 0) == (200,)
    assert menu.raises(hunl("cc/cc/cc/", FLOP + "/5s/7c"), 0) == (200,)


def test_raise_numbers_count_from_the_root_and_the_last_repeats():
    menu = parse_menu("50%, a | 100% | fc")
    state = hunl("r300")
    assert menu.raises(state, 0) == (600, 20000)
    assert menu.raises(state, 1) == (900,)
    assert menu.raises(state, 2) == menu.raises(state, 7) == ()


def test_players_by_position_and_by_seat():
    # In heads-up hold'em the dealer, seat 1, acts first before the flop and is in position.
    position, seat = parse_menu("oop: a / ip: p"), parse_menu("0: a / 1: p")
    for menu in (position, seat):
        assert menu.raises(hunl(""), 0) == (300,)
        assert menu.raises(hunl("c"), 0) == (20000,)
        assert menu.raises(hunl("cc/", FLOP), 0) == (20000,)
    assert spot(200, 900).actor == 0
    # Where seat 1 acts first on the last round, it is seat 1 that is out of position.
    reverse = initial_state(replace(HUNL, first_player=(0, 1, 1, 1)))
    assert reverse.actor == 0
    assert position.raises(reverse, 0) == (250,)  # 100 + 150
    assert seat.raises(reverse, 0) == (20000,)


def test_a_menu_for_two_refuses_a_game_of_three():
    with pytest.raises(InputError, match=r"limit_holdem_3p has 3 players"):
        parse_menu("oop: a / ip: p").raises(initial_state(load_game("limit_holdem_3p")), 0)


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        ({"rounds": ["fc", "p | a"]}, "fc; p | a"),
        ({"rounds": [250]}, "250"),
        ({"rounds": ["fc", {"ip": "p", "oop": "h"}]}, "fc; oop: h / ip: p"),
        ({"preflop": "fc", "flop": "p", "turn": "h", "river": "a"}, "fc; p; h; a"),
        ({"preflop": "fc", "turn": "a"}, "fc; fc; a"),
        ({"flop": "p", "river": "a"}, "p; p; p; a"),
        ({"oop": "h; p; a", "ip": "p"}, "oop: h / ip: p; p; oop: a / ip: p"),
        ({"oop": {"preflop": "fc", "flop": "p"}, "ip": "p"}, "oop: fc / ip: p; p"),
        ({0: "h", 1: "p"}, "0: h / 1: p"),
        ({"0": "h", "1": {"rounds": ["p", "a"]}}, "0: h / 1: p; 0: h / 1: a"),
    ],
)
def test_mappings_say_what_text_says(mapping, text):
    assert parse_menu(mapping) == parse_menu(text)
    assert parse_menu(OmegaConf.create(mapping)) == parse_menu(text)


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("fc", "fc"),
        ("a force 20% 2.5x geometric h 33.30% a@150% geometric 2 250 min r",
         "min, 250, 2.5x, 33.3%, 50%, geometric, geometric 2, a, a@150%, r, force 20%"),
        ("fc;p|a;0:a/1:fc", "fc; 100% | a; 0: a / 1: fc"),
    ],
)  # fmt: skip
def test_formatted_menus(text, formatted):
    assert str(parse_menu(text)) == format_menu(parse_menu(text)) == formatted
    assert parse_menu(formatted) == parse_menu(text)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("50%, x", "'x'"),
        ("fcq", "'fcq'"),
        ("-50%", "'-50%'"),
        ("1e3%", "'1e3%'"),
        ("٥%", "'٥%'"),
        ("geometric x", "'x'"),
        ("geometric 12", "'geometric 12'"),
        ("geometric 0", "'geometric 0'"),
        ("force", "'force'"),
        ("0%", "'0%'"),
        ("1x", "'1x'"),
        ("0p", "'0p'"),
        ("0", "'0'"),
        ("a@", "'a@'"),
        ("", "''"),
        ("50%,,a", "'50%,,a'"),
        ("p | ", "' '"),
        ("p;;a", "''"),
        ("oop: p", "players oop"),
        ("oop: p / oop: a", "'oop: a'"),
        ("oop: p / 1: a", "players 1, oop"),
        ("p / a", "'p'"),
        ("0: a / 2: a", "players 0, 2"),
    ],
)
def test_what_is_not_understood_is_named(text, named):
    with pytest.raises(InputError, match=r"\Amenu: ") as caught:
        parse_menu(text)
    message = str(caught.value)
    assert named in message
    assert "expected" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"rounds": []},
        {"rounds": "p"},
        {"rounds": ["p; a"]},
        {"rounds": ["p"], "flop": "a"},
        {"flop": "p", "oop": "a"},
        {"flopp": "p"},
        {"rounds": [0.5]},
        {"rounds": [None]},
        {"rounds": [True]},
        {"oop": "p"},
        {"oop": {"oop": "p", "ip": "a"}, "ip": "a"},
    ],
)
def test_mappings_that_are_refused(mapping):
    with pytest.raises(InputError, match=r"\Amenu test: .*expected"):
        parse_menu(mapping, "test")


# The menus that are shipped.


def test_shipped_menus():
    assert menu_names() == ["deepstack", "fc", "fchpa", "fcpa", "limit"]
    for name in ("fc", "fcpa", "fchpa"):
        assert load_menu(name) == parse_menu(name)
        assert load_menu(name).name == name
    assert load_menu(" 50%, a") == parse_menu("50%, a")
    assert load_menu({"rounds": ["p"]}) == parse_menu("p")


def test_deepstack_menus_by_round():
    few, some, many = "p, a", "h, p, a", "h, p, 2p, a"
    preflop, middle, river = f"{some} | {many} | {few}", f"{some} | {few}", f"{many} | {many} | p a"
    assert load_menu("deepstack") == parse_menu(f"{preflop}; {middle}; {middle}; {river}")


def test_an_unknown_name_lists_the_menus():
    with pytest.raises(InputError, match=r"'fcpq'.*one of the menus deepstack, fc"):
        load_menu("fcpq")


# Node counts of a published solver (postflop-solver) on the same trees.


def count_nodes(state: State, menu: Menu, raise_number: int = 0) -> Counter:
    """Nodes below a state by (kind, round), where one deal stands for all."""
    if state.folded_out:
        return Counter({(FOLD, state.round): 1})
    if state.is_over:
        return Counter({("showdown", state.round): 1})
    if state.cards_owed:
        return count_nodes(dealt(state), menu)
    counts = Counter({("decision", state.round): 1})
    if state.legal.fold:
        counts += count_nodes(state.apply(Action(FOLD)), menu)
    counts += count_nodes(state.apply(Action(CALL)), menu, raise_number)
    for total in menu.raises(state, raise_number):
        counts += count_nodes(state.apply(Action(RAISE, total)), menu, raise_number + 1)
    return counts


@pytest.mark.parametrize(
    ("stack", "bets", "decisions", "folds", "showdowns"),
    [
        (900, "100%, a", 12, 10, 11),
        (900, "50%, 100%, a", 32, 30, 31),
        (19_900, "100%, a", 20, 18, 19),
        (19_900, "50%, 100%, a", 368, 366, 367),
    ],
)
def test_river_trees_have_the_reference_sizes(stack, bets, decisions, folds, showdowns):
    counts = count_nodes(spot(200, stack), parse_menu(bets))
    assert counts == {("decision", 3): decisions, (FOLD, 3): folds, ("showdown", 3): showdowns}


@pytest.mark.parametrize(
    ("stack", "bets", "decisions", "folds", "showdowns"),
    [
        (900, "100%, a", 1_740, 1_258, 1_776),
        (900, "50%, 100%, a", 6_560, 5_118, 6_576),
        (19_900, "100%, a", 4_820, 3_954, 4_848),
    ],
)
def test_turn_trees_have_the_reference_sizes(stack, bets, decisions, folds, showdowns):
    counts = count_nodes(spot(200, stack, round_=2), parse_menu(bets))
    rivers = 48

    def total(kind: str) -> int:
        return counts[kind, 2] + rivers * counts[kind, 3]

    assert (total("decision"), total(FOLD), total("showdown")) == (decisions, folds, showdowns)


# Properties.

numbers = st.decimals(Decimal("0.01"), 400, places=2).map(lambda number: f"{number:f}")
tokens = st.one_of(
    st.sampled_from(["f", "c", "h", "p", "2p", "a", "min", "geometric", "fc", "fchpa"]),
    numbers.map(lambda n: f"{n}%"),
    st.decimals(Decimal("1.01"), 20, places=2).map(lambda n: f"{n:f}x"),
    st.integers(1, 30_000).map(str),
    st.integers(1, 9).map(lambda n: f"geometric {n}"),
    numbers.map(lambda n: f"a@{n}%"),
    numbers.map(lambda n: f"force {n}%"),
)
entries = st.lists(tokens, min_size=1, max_size=5).map(", ".join)
ladders = st.lists(entries, min_size=1, max_size=3).map(" | ".join)
rounds = st.one_of(
    ladders,
    st.tuples(ladders, ladders).map(lambda pair: f"oop: {pair[0]} / ip: {pair[1]}"),
    st.tuples(ladders, ladders).map(lambda pair: f"0: {pair[0]} / 1: {pair[1]}"),
)
menus = st.lists(rounds, min_size=1, max_size=4).map("; ".join)
# Letters of the grammar, so that legal and nearly legal texts are frequent.
menu_like = st.text(alphabet="fchparx%.:;|/,@ 0125 minoeg", max_size=14)


def drawn_states(data: st.DataObject, game: Game) -> Iterator[State]:
    """States of a random hand in which somebody is to act."""
    state = initial_state(game)
    for _ in range(data.draw(st.integers(0, 12))):
        if state.actor is None:
            return
        yield state
        kinds = [Action(CALL)]
        if bounds := state.legal.raise_to:
            low, high = bounds
            kinds += [Action(RAISE, data.draw(st.integers(low, min(high, 4 * low)))), kinds[0]]
        state = dealt(state.apply(data.draw(st.sampled_from(kinds))))


@given(menus, st.data())
def test_raises_are_legal_ascending_and_distinct(text, data):
    menu = parse_menu(text)
    stacks = st.integers(100, 20_000)
    game = data.draw(st.one_of(st.just(HUNL), st.builds(spot_game, stacks, stacks)))
    for state in drawn_states(data, game):
        raises = menu.raises(state, data.draw(st.integers(0, 4)))
        assert list(raises) == sorted(set(raises))
        assert all(Action(RAISE, total) in state.legal for total in raises)
        if state.legal.raise_to is None:
            assert raises == ()


@given(menus)
def test_formatted_menus_parse_to_themselves(text):
    menu = parse_menu(text)
    assert parse_menu(format_menu(menu)) == menu
    assert format_menu(parse_menu(format_menu(menu))) == format_menu(menu)


@given(st.one_of(st.text(), menu_like))
@settings(max_examples=300)
def test_any_text_parses_or_is_refused(text):
    try:
        menu = load_menu(text)
    except InputError:
        return
    assert parse_menu(str(menu)) == menu


@given(ladders, st.data())
def test_a_menu_offers_what_its_tokens_offer(text, data):
    """Without thresholds, the raises of a menu are the union of those of its tokens."""
    menu = parse_menu(text)
    for state in drawn_states(data, HUNL):
        number = data.draw(st.integers(0, 3))
        bets = menu.bets(state, number)
        if any(bet.kind == FORCE for bet in bets):
            continue
        alone = {total for bet in bets for total in parse_menu(str(bet)).raises(state, number)}
        assert set(menu.raises(state, number)) == alone
