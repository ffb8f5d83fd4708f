"""A person at the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from deepstack.cards.notation import Deck
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.game.text import format_betting
from deepstack.run.errors import InputError

SYMBOLS = {"c": ("♣", "green"), "d": ("♦", "blue"), "h": ("♥", "red"), "s": ("♠", "white")}
HELP = """f fold · c check or call · a all-in · p pot · h half the pot · 75% of the pot
b 600 bet or raise by 600 on top of the call · r 900 raise to a total of 900 this round · q quit"""


class Quit(Exception):
    """The person has had enough."""


def cards_text(deck: Deck, cards: Sequence[int]) -> Text:
    """Cards in the colours of their suits."""
    text = Text()
    for card in cards:
        name = deck.format([card])
        symbol, colour = SYMBOLS[name[1]]
        text.append(f"{name[0]}{symbol} ", style=f"bold {colour}")
    return text


def pot_bet(state: State, fraction: float) -> int:
    """The total, over the hand, of a bet of this fraction of the pot after calling."""
    return max(state.spent) + round(fraction * (state.pot + state.to_call))


def parse_words(words: str, state: State) -> Action:
    """The action that a person's words mean; illegal ones are refused with the bounds."""
    assert state.actor is not None
    typed = words.strip().lower()
    legal, stack = state.legal, state.game.stacks[state.actor]
    before = max(state.spent)
    match = re.fullmatch(r"(b|r)\s*([0-9]{1,9})|([0-9]{1,4})\s*%", typed)
    if typed in ("f", "fold"):
        action = Action(FOLD)
    elif typed in ("c", "k", "call", "check"):
        action = Action(CALL)
    elif typed in ("r", "b", "raise", "bet") and state.game.limit:
        action = Action(RAISE, legal.raise_to[0] if legal.raise_to else 0)
    elif typed in ("a", "all-in", "allin"):
        action = Action(RAISE, stack) if legal.raise_to else Action(CALL)
    elif typed in ("p", "pot", "h", "half"):
        action = Action(RAISE, pot_bet(state, 1.0 if typed[0] == "p" else 0.5))
    elif match and match[3]:
        action = Action(RAISE, pot_bet(state, int(match[3]) / 100))
    elif match and match[1] == "b":
        action = Action(RAISE, before + int(match[2]))
    elif match:
        action = Action(RAISE, round_start(state) + int(match[2]))
    else:
        raise InputError(f"{words.strip()!r} is not an action.\n{HELP}")
    if action not in legal:
        raise InputError(f"{words.strip()!r} is not legal here: {describe_legal(state)}")
    return action


def round_start(state: State) -> int:
    """What every player still in had put in when the betting round began."""
    if state.round == 0:
        return 0
    replay = [action.to for actions in state.betting[:-1] for action in actions]
    return max([*replay, *state.game.blinds])


def describe_legal(state: State) -> str:
    """What may be done, in a person's words."""
    legal, start = state.legal, round_start(state)
    words = ["fold"] * legal.fold
    words.append(f"call {state.to_call}" if state.to_call else "check")
    if legal.raise_to:
        low, high = (total - start for total in legal.raise_to)
        verb = "raise" if max(state.spent) > start else "bet"
        words.append(f"{verb} to {low}" + ("" if low == high else f"–{high}"))
    return ", ".join(words)


class Human:
    """Shows the table, asks, and asks again until the answer is a legal action."""

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        *,
        console: Console | None = None,
        read: Callable[[str], str] = input,
    ) -> None:
        self.game = game
        self.console = console or Console()
        self._read = read

    def new_hand(self, seat: int, hand: int) -> None:
        self.console.rule(f"hand {hand + 1}, seat {seat + 1}")

    def act(self, state: State) -> Action:
        assert state.actor is not None
        self._show(state, state.actor)
        while True:
            try:
                words = self._read(f"{describe_legal(state)} > ")
            except EOFError:
                raise Quit from None
            if words.strip().lower() in ("q", "quit", "exit"):
                raise Quit
            try:
                return parse_words(words, state)
            except InputError as error:
                self.console.print(str(error), style="yellow", highlight=False)

    def _show(self, state: State, seat: int) -> None:
        line = Text("you ") + cards_text(self.game.deck, state.hands[seat])
        if state.board:
            line += Text("  board ") + cards_text(self.game.deck, state.board)
        line.append(f"  pot {state.pot}")
        if not self.game.limit:
            behind = zip(self.game.stacks, state.spent, strict=True)
            line.append("  behind " + " / ".join(str(stack - spent) for stack, spent in behind))
        line.append(f"  {format_betting(state)}", style="dim")
        self.console.print(line)
