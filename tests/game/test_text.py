"""States as the competition writes them: betting strings, cards, MATCHSTATE and log lines."""

import re

import pytest
from game_strategies import any_game, drawn_hand
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.game.definition import load_game
from deepstack.game.state import CALL, FOLD, RAISE, Action, initial_state
from deepstack.game.text import (
    MatchState,
    format_betting,
    format_cards,
    format_chips,
    format_log_line,
    parse_action,
    parse_cards,
    parse_log_line,
    parse_match_state,
    parse_state,
)
from deepstack.run.errors import InputError

HUNL = load_game("hunl")
LIMIT = load_game("limit_holdem")
LEDUC = load_game("leduc")
ALL_IN_BEFORE_THE_FLOP = "r20000c///"


@pytest.mark.parametrize(
    "message",
    [
        "MATCHSTATE:1:31::|JdTc",
        "MATCHSTATE:1:31:r300:|JdTc",
        "MATCHSTATE:1:31:r300r900:|JdTc",
        "MATCHSTATE:1:31:r300r900c/:|JdTc/6dJc9c",
        "MATCHSTATE:1:31:r300r900c/r1800r3600r9000:|JdTc/6dJc9c",
        "MATCHSTATE:1:31:r300r900c/r1800r3600r9000c/:|JdTc/6dJc9c/Kh",
        "MATCHSTATE:1:31:r300r900c/r1800r3600r9000c/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc",
        "MATCHSTATE:0:0:r20000c///:AsKs|QdQh/2c7d9h/Js/Qc",
        "MATCHSTATE:0:0:cc/r20000c//:AsKs|QdQh/2c7d9h/Js/Qc",
        "MATCHSTATE:0:0:f:AsKs|",
        "MATCHSTATE:0:0:cc/r20000f:AsKs|/2c7d9h",
        "MATCHSTATE:0:999999999999999999:c:|",
    ],
)
def test_no_limit_messages_stay_as_they_are(message):
    assert str(parse_match_state(HUNL, message)) == message


@pytest.mark.parametrize(
    "message",
    [
        "MATCHSTATE:0:0::TdAs|",
        "MATCHSTATE:0:0:rrc/:TdAs|/2c8c3h",
        "MATCHSTATE:0:0:rrc/rc/crc/:TdAs|/2c8c3h/9c/Kh",
        "MATCHSTATE:0:0:rrc/rc/crc/cc:TdAs|8hTc/2c8c3h/9c/Kh",
    ],
)
def test_limit_messages_have_raises_without_sizes(message):
    assert str(parse_match_state(LIMIT, message)) == message


def test_three_players_have_three_hands():
    message = "MATCHSTATE:2:7:rfc/cc/:||6d6h/2s3s4s/Tc"
    state = parse_match_state(load_game("limit_holdem_3p"), message).state
    assert state.folded == (True, False, False)
    assert str(MatchState(2, 7, state)) == message


def test_a_message_says_what_the_player_may_do():
    seen = parse_match_state(HUNL, "MATCHSTATE:0:5:cr300c/cr600:JdTc|/6dJc9c")
    assert (seen.seat, seen.hand) == (0, 5)
    assert seen.state.hands == (HUNL.deck.parse("JdTc"), ())
    assert seen.state.actor == 0
    assert seen.state.to_call == 300
    assert seen.state.legal.raise_to == (900, 20_000)


def test_an_all_in_before_the_flop_leaves_three_rounds_without_betting():
    state = initial_state(HUNL).apply(Action(RAISE, 20_000)).apply(Action(CALL))
    assert format_betting(state) == ALL_IN_BEFORE_THE_FLOP
    assert parse_state(HUNL, ALL_IN_BEFORE_THE_FLOP) == state


def test_an_all_in_on_the_flop_leaves_two():
    cards = "|/2c7d9h/Js/Qc"
    assert format_betting(parse_state(HUNL, "cc/r20000c//", cards)) == "cc/r20000c//"


def test_games_without_a_board_have_betting_and_hands_only():
    kuhn = load_game("kuhn")
    assert str(parse_match_state(kuhn, "MATCHSTATE:0:0:crc:Js|Ks")) == "MATCHSTATE:0:0:crc:Js|Ks"


def test_actions_are_read_in_the_state_they_answer():
    assert parse_action("f", initial_state(HUNL)) == Action(FOLD)
    assert parse_action("r300", initial_state(HUNL)) == Action(RAISE, 300)
    assert parse_action("r", initial_state(LIMIT)) == Action(RAISE, 20)
    assert parse_action("c", initial_state(LIMIT)) == Action(CALL)


@pytest.mark.parametrize(
    ("game", "text", "complaint"),
    [
        (HUNL, "", "action '': expected f, c or r"),
        (HUNL, "x", "action 'x'"),
        (HUNL, "cc", "action 'cc'"),
        (HUNL, "r", "needs its total, as in r300"),
        (HUNL, "r0", "action 'r0'"),
        (HUNL, "r0300", "action 'r0300'"),
        (HUNL, "r-300", "action 'r-300'"),
        (HUNL, "r3e2", "action 'r3e2'"),
        (HUNL, "r99999999999", "action 'r99999999999'"),
        (HUNL, "r٣٠٠", "expected f, c or r"),
        (HUNL, "c\n", "expected f, c or r"),
        (LIMIT, "r20", "a raise of a limit game has no size"),
    ],
)
def test_what_is_no_action_is_refused(game, text, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_action(text, initial_state(game))


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("", "expected MATCHSTATE:seat:hand:betting:cards"),
        ("MATCHSTATE:0:0:", "expected MATCHSTATE:seat:hand:betting:cards"),
        ("MATCHSTATE:0:0::AsKs|:c", "expected MATCHSTATE:seat:hand:betting:cards"),
        ("matchstate:0:0::AsKs|", "expected MATCHSTATE"),
        (" MATCHSTATE:0:0::AsKs|", "expected MATCHSTATE"),
        ("MATCHSTATE:2:0::AsKs|", "seat '2': expected 0 to 1"),
        ("MATCHSTATE:-1:0::AsKs|", "seat '-1': expected 0 to 1"),
        ("MATCHSTATE::0::AsKs|", "seat '': expected 0 to 1"),
        ("MATCHSTATE:00:0::AsKs|", "seat '00'"),
        ("MATCHSTATE:0:x::AsKs|", "hand 'x': expected a number"),
        ("MATCHSTATE:0:007::AsKs|", "hand '007'"),
        ("MATCHSTATE:0:0:b300:AsKs|", "unknown action at 'b300'"),
        ("MATCHSTATE:0:0:r300 c:AsKs|", "unknown action at ' c'"),
        ("MATCHSTATE:0:0:r:AsKs|", "needs its total"),
        ("MATCHSTATE:0:0:r150:AsKs|", "action r150 is not legal"),
        ("MATCHSTATE:0:0:r30000:AsKs|", "r200 to r20000"),
        ("MATCHSTATE:0:0:cf:AsKs|", "action f is not legal"),
        ("MATCHSTATE:0:0:cc:AsKs|", "expected 1 '/', found 0"),
        ("MATCHSTATE:0:0:c/:AsKs|", "expected 0 '/', found 1"),
        ("MATCHSTATE:0:0:ccc/:AsKs|/2c7d9h", "a '/' is missing or misplaced"),
        ("MATCHSTATE:0:0:/cc:AsKs|", "a '/' is missing or misplaced"),
        ("MATCHSTATE:0:0:cc/c:AsKs|", "board cards are missing"),
        ("MATCHSTATE:0:0:ff:AsKs|", "the hand is over"),
        ("MATCHSTATE:0:0:f/:AsKs|", "expected 0 '/', found 1"),
        ("MATCHSTATE:0:0:r20000c:AsKs|", "expected 3 '/', found 0"),
        ("MATCHSTATE:0:0:r20000c////:AsKs|", "expected 3 '/', found 4"),
        ("MATCHSTATE:0:0::AsKs", "expected 2 hands, found 1"),
        ("MATCHSTATE:0:0::AsKs||", "expected 2 hands, found 3"),
        ("MATCHSTATE:0:0::As|", "hand 'As': expected 2 cards or none"),
        ("MATCHSTATE:0:0::AsKsQs|", "expected 2 cards or none"),
        ("MATCHSTATE:0:0::AsAs|", "As stands twice"),
        ("MATCHSTATE:0:0::AsKs|KsQs", "Ks is dealt twice"),
        ("MATCHSTATE:0:0::AsKz|", "card 'Kz'"),
        ("MATCHSTATE:0:0::As Ks|", "expected no spaces"),
        ("MATCHSTATE:0:0::AsKs|\n", "expected no spaces"),
        ("MATCHSTATE:0:0::AsKs|/2c7d9h", "board cards '2c7d9h' are not dealt yet"),
        ("MATCHSTATE:0:0:cc/:AsKs|/", "expected 3 board cards, found ''"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2c7d", "expected 3 board cards, found '2c7d'"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2c7dAs", "As is dealt twice"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2c7d9h/Js", "board cards 'Js' are not dealt yet"),
        ("MATCHSTATE:0:0:cc/:AsKs|/2c7d9h/Js/Qc/3d", "at most 3 rounds of board cards"),
        ("MATCHSTATE:0:0:r20000c///:AsKs|/2c7d9h", "not dealt yet"),  # all five or none
    ],
)
def test_messages_that_are_wrong_say_why(message, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_match_state(HUNL, message)


def test_betting_may_be_read_without_cards_in_the_first_round():
    assert parse_state(HUNL, "r300").spent == (100, 300)


def test_hands_that_are_unknown_are_empty():
    assert parse_cards(HUNL, "|") == (((), ()), ())
    assert parse_cards(LEDUC, "Kh|/Qs") == (((4,), ()), (3,))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (-20_000, "-20000"), (2.5, "2.5"), (1 / 3, "0.333333")],
)
def test_chips_have_no_trailing_zeros(value, text):
    assert format_chips(value) == text


@pytest.mark.parametrize(
    ("game", "line"),
    [
        (HUNL, "STATE:0:f:AsKs|QdQh:50|-50:ann|bob"),
        (HUNL, "STATE:30:r300c/cc/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc:-20000|20000:ann|bob"),
        (LIMIT, "STATE:7:crrc/cc/cc/cc:TdAs|8hTc/2c8c3h/9c/Kh:-30|30:ann|bob"),
        (LEDUC, "STATE:1:cc/crc:Kh|Ks/Qs:0|0:ann|bob"),
    ],
)
def test_log_lines_stay_as_they_are(game, line):
    hand, state, names = parse_log_line(game, line)
    assert names == ("ann", "bob")
    assert format_log_line(hand, state, names) == line
    assert parse_log_line(game, line + "\r\n") == (hand, state, names)


def test_names_in_logs_keep_their_spaces():
    line = "STATE:0:f:AsKs|QdQh:50|-50: ann the 1st | bob "
    assert parse_log_line(HUNL, line)[2] == (" ann the 1st ", " bob ")


def test_odd_chips_stand_in_logs_as_fractions():
    game = load_game("limit_holdem_3p")
    line = "STATE:0:cfc/cc/cc/cc:2s3s|AsKh|AhKs/2c7d9h/Js/Qc:-5|2.5|2.5:a|b|c"
    assert parse_log_line(game, line)[1].payoffs() == (-5, 2.5, 2.5)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "expected STATE:hand:betting:cards:values:names"),
        ("SCORE:50|-50:ann|bob", "expected STATE:hand:betting:cards:values:names"),
        ("STATE:0:f:AsKs|QdQh:50|-50", "expected STATE:hand:betting:cards:values:names"),
        ("STATE:x:f:AsKs|QdQh:50|-50:ann|bob", "expected STATE:hand"),
        ("STATE:0:f:AsKs|QdQh:50|-50:ann", "expected a finished hand of 2"),
        ("STATE:0:f:AsKs|QdQh:50|-50:ann|bob|cat", "expected a finished hand of 2"),
        ("STATE:0:c:AsKs|QdQh:50|-50:ann|bob", "expected a finished hand of 2"),
        ("STATE:0:f:AsKs|QdQh:-50|50:ann|bob", "values -50|50, but the hand pays 50|-50"),
        ("STATE:0:f:AsKs|QdQh:50.0|-50:ann|bob", "values 50.0|-50, but"),
        ("STATE:0:r20000c///:AsKs|/2c7d9h/Js/Qc:20000|-20000:ann|bob", "unknown"),
    ],
)
def test_log_lines_that_are_wrong_say_why(line, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_log_line(HUNL, line)


# --- laws of all games ---------------------------------------------------------------------------


@given(st.data(), any_game())
@settings(deadline=None)
def test_every_state_of_a_hand_survives_the_round_trip_through_text(data, game):
    for state in drawn_hand(data, game):
        assert parse_state(game, format_betting(state), format_cards(state)) == state


@given(st.data(), any_game(), st.integers(0, 10**18 - 1))
@settings(deadline=None)
def test_every_message_survives_the_round_trip(data, game, hand):
    for state in drawn_hand(data, game):
        for seat in range(game.players):
            message = MatchState(seat, hand, state.seen_by(seat))
            assert parse_match_state(game, str(message)) == message


# Names hold anything but what separates the fields and the lines of a log.
names_in_logs = st.text(st.characters(exclude_characters=":|\r\n", codec="utf-8"), max_size=8)


@given(st.data(), any_game(), st.integers(0, 10**18 - 1))
@settings(deadline=None)
def test_every_log_line_survives_the_round_trip(data, game, hand):
    *_, final = drawn_hand(data, game)
    count = game.players
    names = data.draw(st.lists(names_in_logs, min_size=count, max_size=count))
    line = format_log_line(hand, final, names)
    assert parse_log_line(game, line) == (hand, final, tuple(names))
    assert format_log_line(*parse_log_line(game, line)) == line


@given(st.data(), any_game())
@settings(deadline=None)
def test_actions_survive_the_round_trip(data, game):
    before = None
    for state in drawn_hand(data, game):
        if before is not None and before.actor is not None:
            action = next(actions for actions in reversed(state.betting) if actions)[-1]
            text = action.kind if game.limit else str(action)
            assert parse_action(text, before) == action
        before = state


letters = st.text("MATCHSE:0123456789fcr/|AKQJTcdhs. \n\r\0-", max_size=4)


@st.composite
def nearly(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A legal text with a few letters put in, put in place of others, or left out."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 4))
        new = draw(st.one_of(letters, st.just(text[place : place + 8]), st.text(max_size=2)))
        text = text[:place] + new + text[place + gone :]
    return text


@st.composite
def legal_lines(draw: st.DrawFn, log: bool) -> tuple:
    """A game and a line of one of its hands."""
    game = draw(any_game())
    states = list(drawn_hand(draw(st.data()), game))
    if log:
        return game, format_log_line(3, states[-1], [f"player {n}" for n in range(game.players)])
    state, seat = draw(st.sampled_from(states)), draw(st.integers(0, game.players - 1))
    return game, str(MatchState(seat, 12, state.seen_by(seat)))


@given(st.data(), legal_lines(log=False))
@settings(deadline=None, max_examples=400)
def test_any_text_is_a_message_or_is_refused(data, legal):
    game, line = legal
    text = data.draw(st.one_of(st.text(), nearly(st.just(line))))
    try:
        message = parse_match_state(game, text)
    except InputError:
        return
    assert str(message) == text


@given(st.data(), legal_lines(log=True))
@settings(deadline=None, max_examples=200)
def test_any_text_is_a_log_line_or_is_refused(data, legal):
    game, line = legal
    text = data.draw(st.one_of(st.text(), nearly(st.just(line))))
    try:
        hand, state, names = parse_log_line(game, text)
    except InputError:
        return
    assert format_log_line(hand, state, names) == text.rstrip("\r\n")


@given(st.data(), any_game())
@settings(deadline=None, max_examples=200)
def test_any_text_is_betting_or_is_refused(data, game):
    text = data.draw(st.one_of(st.text(), st.text("fcr/0123456789", max_size=12)))
    try:
        state = parse_state(game, text)
    except InputError:
        return
    assert format_betting(state) == text


@given(st.data(), any_game())
@settings(deadline=None, max_examples=200)
def test_any_text_is_cards_or_is_refused(data, game):
    some = "".join(game.deck.ranks + game.deck.suits)
    text = data.draw(st.one_of(st.text(), st.text(some + "|/ ", max_size=16)))
    try:
        hands, board = parse_cards(game, text)
    except InputError:
        return
    assert len(hands) == game.players
    shown = [card for hand in hands for card in hand] + list(board)
    assert len(set(shown)) == len(shown)
    assert game.deck.format(shown) == text.replace("|", "").replace("/", "")


@given(st.data(), any_game())
@settings(deadline=None)
def test_any_text_is_an_action_or_is_refused(data, game):
    text = data.draw(st.one_of(st.text(), st.text("fcr0123456789", max_size=6)))
    try:
        action = parse_action(text, initial_state(game))
    except InputError:
        return
    assert (action.kind if game.limit else str(action)) == text
