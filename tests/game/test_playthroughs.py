"""Whole hands as text, step by step: a change of the rules shows as a change of a file.

Every file of ``playthroughs`` begins with a game, the cards and the actions of one hand; the rest
is what the rules make of them. To add a hand, write those lines; to write the rest of all files
anew: ``python tests/game/test_playthroughs.py``. The idea is open_spiel's.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import State, initial_state
from deepstack.game.text import (
    format_betting,
    format_cards,
    format_chips,
    parse_action,
    parse_cards,
)

FILES = sorted((Path(__file__).parent / "playthroughs").glob("*.txt"))


def describe(state: State) -> Iterator[str]:
    """The state and what may happen next."""
    yield f"{format_betting(state)}:{format_cards(state)}"
    yield f"  pot {state.pot}, put in {' '.join(map(str, state.spent))}"
    if state.is_over:
        yield f"  pays {' '.join(map(format_chips, state.payoffs()))}"
    elif state.cards_owed:
        yield f"  owes {state.cards_owed} cards"
    else:
        fold, raise_to = state.legal
        words = ["fold"] * fold + [f"call {state.to_call}"]
        if raise_to is not None:
            words.append(f"raise to {raise_to[0]}–{raise_to[1]}")
        yield f"  seat {state.actor}: {', '.join(words)}"


def playthrough(text: str) -> str:
    """The file that a game, cards and actions at the head of a text make."""
    head = text.partition("\n\n")[0].splitlines()
    fields = dict(line.split(": ", 1) for line in head)
    game = load_game(fields["game"])
    hands, board = parse_cards(game, fields["cards"])
    actions = iter(fields["actions"].split())
    state = initial_state(game, hands)
    lines = [*head, ""]
    while not state.is_over:
        lines += describe(state)
        if state.cards_owed:
            known = len(state.board)
            state = state.deal(board[known : known + state.cards_owed])
        else:
            word = next(actions)
            lines.append(f"> {word}")
            state = state.apply(parse_action(word, state))
    lines += describe(state)
    assert not list(actions), "the hand is over before its actions are"
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_rules_are_what_they_were(path):
    text = path.read_text(encoding="utf-8")
    assert playthrough(text) == text


def test_there_are_hands_to_compare():
    assert len(FILES) >= 7


if __name__ == "__main__":
    for path in FILES:
        path.write_text(playthrough(path.read_text(encoding="utf-8")), encoding="utf-8")
