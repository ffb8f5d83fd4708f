"""Game definitions: the competition's .game files, as data."""

import os
import re
from dataclasses import replace

import pytest
from game_strategies import any_game
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deepstack.cards.notation import Deck
from deepstack.game.definition import (
    NO_CAP,
    NO_STACK,
    Game,
    format_game,
    load_game,
    parse_game,
    shipped_games,
)
from deepstack.run.errors import InputError

# A definition as people write them: comments, blank lines, any case, any spacing.
WRITTEN = """\
# three players, three streets
gamedef
NoLimit
numplayers=3
numRounds =  3
STACK = 500 600 700   # by seat

blind = 5 10 0
firstPlayer = 3 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1
end gamedef
"""


def hunl_with(line: str = "", without: str = "") -> str:
    """The text of HUNL with a line more, or one that replaces the line of the same property."""
    gone = without or line.partition("=")[0].strip()
    lines = format_game(load_game("hunl")).splitlines()
    kept = [old for old in lines if old.partition("=")[0].strip() != gone]
    return "\n".join([*kept[:-1], *[line] * bool(line), kept[-1]])


def test_the_shipped_games_are_those_of_the_literature():
    assert shipped_games() == [
        "holdem_2_1",
        "holdem_2_4",
        "hunl",
        "kuhn",
        "kuhn_3p",
        "leduc",
        "leduc_3p",
        "limit_holdem",
        "limit_holdem_3p",
        "nolimit_leduc",
        "rhode_island",
    ]


def test_hunl_is_that_of_the_competition():
    game = load_game("hunl")
    assert not game.limit
    assert game.stacks == (20_000, 20_000)
    assert game.blinds == (100, 50)
    assert game.first_player == (1, 0, 0, 0)  # the dealer, then always the big blind
    assert (game.big_blind, game.min_bet, game.hands, game.rounds) == (100, 100, 1326, 4)
    assert [game.board_size(round_) for round_ in range(4)] == [0, 3, 4, 5]


def test_three_player_limit_holdem_is_that_of_the_competition():
    game = load_game("limit_holdem_3p")
    assert game.limit
    assert game.blinds == (5, 10, 0)
    assert game.raise_size == (10, 10, 20, 20)
    assert game.first_player == (2, 0, 0, 0)  # the dealer, then always the small blind
    assert game.max_raises == (3, 4, 4, 4)  # the big blind counts as the first bet


@pytest.mark.parametrize(
    ("name", "deck", "hands"),
    [
        ("kuhn", Deck("JQK", "s"), 3),
        ("kuhn_3p", Deck("TJQK", "s"), 4),
        ("leduc", Deck("JQK", "hs"), 6),
        ("leduc_3p", Deck("TJQK", "hs"), 8),
        ("rhode_island", Deck(), 52),
    ],
)
def test_small_games_have_small_decks(name, deck, hands):
    game = load_game(name)
    assert game.deck == deck
    assert game.hands == hands


def test_comments_case_and_spacing_do_not_matter():
    assert parse_game(WRITTEN, "written") == Game(
        name="written",
        limit=False,
        players=3,
        stacks=(500, 600, 700),
        blinds=(5, 10, 0),
        raise_size=(),
        first_player=(2, 0, 0),
        max_raises=(NO_CAP,) * 3,
        deck=Deck(),
        hole_cards=2,
        board_cards=(0, 3, 1),
    )


def test_what_a_file_leaves_out_has_the_defaults_of_the_competition():
    text = format_game(load_game("limit_holdem"))
    for key in ("firstPlayer", "maxRaises"):
        text = re.sub(rf"{key} = .*\n", "", text)
    game = parse_game(text)
    assert game.stacks == (NO_STACK, NO_STACK)
    assert game.first_player == (0, 0, 0, 0)
    assert game.max_raises == (NO_CAP,) * 4
    assert game.showdown == "five-card"


def test_a_short_deck_without_letters_has_the_highest_ranks_and_the_last_suits():
    text = format_game(load_game("leduc")).replace("ranks = JQK\n", "")
    assert parse_game(text).deck == Deck("QKA", "hs")


def test_antes_of_zero_leave_a_smallest_bet_of_one_chip():
    assert parse_game(hunl_with("blind = 0 0")).min_bet == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "from GAMEDEF to END GAMEDEF"),
        ("GAMEDEF", "from GAMEDEF to END GAMEDEF"),
        ("GAMEDEF\nEND GAMEDEF", "'limit' or 'nolimit'"),
        (WRITTEN.replace("end gamedef", ""), "from GAMEDEF to END GAMEDEF"),
        (hunl_with("limit"), "'limit' after 'nolimit'"),
        (hunl_with("potlimit"), "unknown line 'potlimit'"),
        (hunl_with("ante = 5"), "unknown line 'ante = 5'"),
        (hunl_with("numplayers = 2"), "'numplayers = 2' repeats a property"),
        (hunl_with(without="blind"), "missing blind"),
        (hunl_with(without="numSuits"), "missing numsuits"),
        (hunl_with("numSuits ="), "expected whole numbers"),
        (hunl_with("numSuits = 4 4"), "expected whole numbers"),
        (hunl_with("blind = 100 5.5"), "'blind = 100 5.5': expected whole numbers"),
        (hunl_with("stack = 20000 many"), "expected whole numbers"),
        (hunl_with(without="stack"), "no-limit games need a line 'stack'"),
        (hunl_with("raiseSize = 10 10 20 20"), "raiseSize has no meaning"),
        (hunl_with("numPlayers = 1"), "numPlayers = 1: expected 2 to 10"),
        (hunl_with("numPlayers = 11"), "numPlayers = 11: expected 2 to 10"),
        (hunl_with("numPlayers = 3"), "stack: expected 3 numbers, found 2"),
        (hunl_with("blind = 100 50 0"), "blind: expected 2 numbers, found 3"),
        (hunl_with("blind = 100 -50"), "blind -50 of player 2"),
        (hunl_with("blind = 20001 50"), "blind 20001 of player 1: expected 0 to 20000"),
        (hunl_with("stack = 0 20000"), "stack 0 of player 1"),
        (hunl_with(f"stack = 20000 {2**31}"), f"stack {2**31} of player 2"),
        (hunl_with("numRounds = 3"), "numBoardCards: expected 3 numbers"),
        (hunl_with("numRounds = 0"), "numBoardCards: expected 0 numbers"),
        (hunl_with("firstPlayer = 2 1 1"), "firstPlayer: expected 4 numbers, found 3"),
        (hunl_with("firstPlayer = 2 1 1 3"), "firstPlayer 3: expected 1 to 2"),
        (hunl_with("firstPlayer = 2 1 1 0"), "firstPlayer 0: expected 1 to 2"),
        (hunl_with("maxRaises = 3 4 4"), "maxRaises: expected 4 numbers, found 3"),
        (hunl_with("maxRaises = 3 4 4 256"), "maxRaises 256: expected 0 to 255"),
        (hunl_with("maxRaises = 3 4 4 -1"), "maxRaises -1"),
        (hunl_with("numSuits = 5"), "13 ranks of 5 suits"),
        (hunl_with("numRanks = 0"), "0 ranks of 4 suits"),
        (hunl_with("numRanks = 12"), "five-card showdown of 7 cards"),
        (hunl_with("ranks = JQK"), "ranks = JQK: expected 13 letters"),
        (hunl_with("ranks = AKQJT98765432"), "lowest first"),
        (hunl_with("numHoleCards = 0"), "numHoleCards = 0"),
        (hunl_with("numHoleCards = 24"), "53 cards are dealt from a deck of only 52"),
        (hunl_with("numHoleCards = 3"), "five-card showdown of 8 cards: expected 5 to 7"),
        (hunl_with("numBoardCards = 0 3 1 -1"), "no negative number"),
        (hunl_with("showdown = low"), "showdown 'low': expected one of five-card, pairs"),
        (hunl_with("showdown = pairs"), "pairs showdown of 7 cards: expected 1 to 4"),
        (hunl_with("showdown = three-card"), "three-card showdown of 7 cards: expected 3"),
        (
            format_game(load_game("limit_holdem")).replace("raiseSize = 10 10 20 20\n", ""),
            "raiseSize: expected 4 numbers, found 0",
        ),
        (
            format_game(load_game("limit_holdem")).replace("10 10 20 20", "10 10 20 0"),
            "raiseSize 0: expected a positive number",
        ),
    ],
)
def test_files_that_are_wrong_say_why(text, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_game(text, "mine")


def test_a_file_is_loaded_by_its_path_and_named_by_its_stem(tmp_path):
    path = tmp_path / "mine.game"
    path.write_text(WRITTEN)
    game = load_game(str(path))
    assert game.name == "mine"
    assert game.stacks == (500, 600, 700)


@pytest.mark.parametrize("name", ["HUNL", "hunl"])
def test_names_of_shipped_games_may_be_written_large(name):
    assert load_game(name).name == "hunl"


@pytest.mark.parametrize("name", ["no such game", "", "hunl.txt", "../hunl", "games/hunl"])
def test_an_unknown_name_lists_the_games(name):
    with pytest.raises(InputError, match=r"expected a \.game file or one of holdem_2_1") as caught:
        load_game(name)
    assert repr(name) in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    binary = tmp_path / "binary.game"
    binary.write_bytes(b"GAMEDEF\xff\xfe")
    folder = tmp_path / "folder.game"
    os.mkdir(folder)
    for path in (binary, folder, tmp_path / "missing.game", "\0.game"):
        with pytest.raises(InputError, match="cannot be read"):
            load_game(str(path))


def test_a_definition_cannot_be_made_illegal():
    with pytest.raises(InputError, match="blind 600 of player 1"):
        replace(parse_game(WRITTEN), blinds=(600, 10, 0))


@given(any_game())
@example(parse_game(hunl_with(f"stack = {NO_STACK} {NO_STACK}"), "deepest"))
def test_games_survive_the_round_trip_through_text(game):
    assert parse_game(format_game(game), game.name) == game


# Words and signs of game files, so that nearly legal texts are frequent.
WORDS = """\
GAMEDEF END limit nolimit = # numPlayers numRounds stack blind raiseSize firstPlayer maxRaises
numSuits numRanks numHoleCards numBoardCards showdown ranks pairs five-card JQK
0 1 2 3 4 -1 13 20000 99999999999999999999 1e3 1_0 ٣ ½
"""
words = st.sampled_from([*WORDS.split(), "\n"])


@st.composite
def nearly_games(draw: st.DrawFn) -> str:
    """The text of a game with a few words put in, put in place of others, or left out."""
    text = re.split(r"( |\n)", format_game(draw(any_game())))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        new = draw(
            st.one_of(st.just([]), st.lists(words, max_size=3), st.lists(st.text(max_size=3)))
        )
        text[place : place + draw(st.integers(0, 2))] = new
    return "".join(text)


@given(st.one_of(st.text(), st.lists(words).map(" ".join), nearly_games()))
@settings(max_examples=300)
def test_any_text_is_a_game_or_is_refused(text):
    try:
        game = parse_game(text, "any")
    except InputError:
        return
    assert parse_game(format_game(game), "any") == game
