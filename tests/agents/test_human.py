"""A person's words at the table."""

import io

import pytest
from rich.console import Console

from deepstack.agents.human import Human, Quit, describe_legal, parse_words
from deepstack.game.definition import load_game
from deepstack.game.state import Action, initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError

HUNL = load_game("hunl")
START = initial_state(HUNL)
FLOP = parse_state(HUNL, "cr300c/", "|/Td9d6h")  # 300 each, the big blind is to act


@pytest.mark.parametrize(
    ("words", "state", "action"),
    [
        ("f", START, Action("f")),
        ("Call", START, Action("c")),
        ("k", FLOP, Action("c")),
        ("p", START, Action("r", 300)),
        ("r 900", START, Action("r", 900)),
        ("b200", START, Action("r", 300)),
        ("p", FLOP, Action("r", 900)),
        ("h", FLOP, Action("r", 600)),
        ("75%", FLOP, Action("r", 750)),
        ("r 400", FLOP, Action("r", 700)),
        ("a", FLOP, Action("r", 20000)),
    ],
)
def test_words_mean_actions(words, state, action):
    assert parse_words(words, state) == action


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "'' is not an action"),
        ("hello", "'hello' is not an action"),
        ("f", "'f' is not legal here: check, bet to 100–19700"),
        ("b 1", "'b 1' is not legal here"),
        ("b 99999", "'b 99999' is not legal here"),
    ],
)
def test_other_words_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        parse_words(words, FLOP)


def test_legal_actions_in_words():
    assert describe_legal(START) == "fold, call 50, raise to 200–20000"
    assert describe_legal(FLOP) == "check, bet to 100–19700"


def test_asks_until_the_answer_is_legal_and_quits():
    answers = iter(["what?", "r1", "c", "q"])
    screen = io.StringIO()
    human = Human(HUNL, console=Console(file=screen), read=lambda prompt: next(answers))
    human.new_hand(1, 0)
    state = initial_state(HUNL, ((), HUNL.deck.parse("AsKh")))
    assert human.act(state) == Action("c")
    assert "A♠ K♥" in screen.getvalue()
    with pytest.raises(Quit):
        human.act(state)
