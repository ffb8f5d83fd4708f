"""States as the competition writes them: betting strings, cards, MATCHSTATE and log lines.

``MATCHSTATE:seat:hand:betting:cards`` is what a player is sent; ``STATE:hand:betting:cards:values:
names`` is a line of a log. Betting is one text a round, joined by ``/``: ``f``, ``c`` and ``r``,
with the total after a no-limit raise (``r300``). Cards are the hands joined by ``|``, then the
board by rounds, each after a ``/``. Both directions are exact: what is parsed formats to itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError

_ACTION = re.compile(r"[fc]|r([1-9][0-9]{0,9})?")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def format_betting(state: State) -> str:
    """The actions so far: ``cr300c/cc/`` in a no-limit game, ``crc/cc/`` in a limit game."""
    limit = state.game.limit
    return "/".join(
        "".join(action.kind if limit else str(action) for action in actions)
        for actions in state.betting
    )


def format_cards(state: State) -> str:
    """The cards that are known: ``AsKs|/Td9d6h/Qc``."""
    deck, game = state.game.deck, state.game
    parts = ["|".join(deck.format(hand) for hand in state.hands)]
    for round_ in range(game.rounds):
        start, end = game.board_size(round_) - game.board_cards[round_], game.board_size(round_)
        if start < end <= len(state.board):
            parts.append(deck.format(state.board[start:end]))
    return "/".join(parts)


def parse_action(text: str, state: State) -> Action:
    """An action as text, in the state it answers; in limit games ``r`` has no size."""
    match = _ACTION.fullmatch(text)
    if not match:
        raise InputError(f"action {text!r}: expected f, c or r")
    return _action(match, state)


def _action(match: re.Match[str], state: State) -> Action:
    kind, size = match[0][0], match[1]
    if kind in (FOLD, CALL):
        return Action(kind)
    if state.game.limit:
        if size is not None:
            raise InputError(f"action {match[0]!r}: a raise of a limit game has no size")
        bounds = state.legal.raise_to
        return Action(RAISE, bounds[0] if bounds else 0)
    if size is None:
        raise InputError("action 'r': a raise of a no-limit game needs its total, as in r300")
    return Action(RAISE, int(size))


def _tokens(text: str, whole: str) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(text):
        match = _ACTION.match(text, position)
        if not match:
            raise InputError(f"betting {whole!r}: unknown action at {text[position:][:8]!r}")
        yield match
        position = match.end()


def parse_cards(game: Game, text: str) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """The hands by seat and the board of a text such as ``AsKs|/Td9d6h/Qc``."""
    if any(letter.isspace() for letter in text):
        raise InputError(f"cards {text!r}: expected no spaces")
    first, *rounds = text.split("/")
    hands = tuple(game.deck.parse(hand) for hand in first.split("|"))
    if len(hands) != game.players:
        raise InputError(f"cards {text!r}: expected {game.players} hands, found {len(hands)}")
    sizes = [size for size in game.board_cards if size]
    if len(rounds) > len(sizes):
        raise InputError(f"cards {text!r}: expected at most {len(sizes)} rounds of board cards")
    board: tuple[int, ...] = ()
    for size, dealt in zip(sizes, rounds, strict=False):
        cards = game.deck.parse(dealt)
        if len(cards) != size:
            raise InputError(f"cards {text!r}: expected {size} board cards, found {dealt!r}")
        board += cards
    game.deck.disjoint(board, *hands)
    return hands, board


def parse_state(game: Game, betting: str, cards: str | None = None) -> State:
    """The state that a betting string and its cards describe.

    Without cards every hand and the board stay unknown, which is possible only in the first round
    and in games without a board.
    """
    hands, board = parse_cards(game, "|" * (game.players - 1) if cards is None else cards)
    state = initial_state(game, hands)

    def dealt(state: State) -> State:
        owed, known = state.cards_owed, len(state.board)
        if owed and len(board) >= known + owed:
            return state.deal(board[known : known + owed])
        return state

    state = dealt(state)
    rounds = betting.split("/")
    for number, text in enumerate(rounds):
        for match in _tokens(text, betting):
            if state.round != number:
                raise InputError(f"betting {betting!r}: a '/' is missing or misplaced")
            if state.actor is None:
                why = "board cards are missing" if state.cards_owed else "the hand is over"
                raise InputError(f"betting {betting!r}: no action is possible, {why}")
            state = dealt(state.apply(_action(match, state)))
    if state.round != len(rounds) - 1:
        raise InputError(
            f"betting {betting!r}: expected {state.round} '/', found {len(rounds) - 1}"
        )
    if len(state.board) != len(board):
        extra = game.deck.format(board[len(state.board) :])
        raise InputError(f"board cards {extra!r} are not dealt yet after betting {betting!r}")
    return state


@dataclass(frozen=True, slots=True)
class MatchState:
    """What the competition's dealer tells one player."""

    seat: int
    hand: int
    state: State

    def __str__(self) -> str:
        state = self.state
        return f"MATCHSTATE:{self.seat}:{self.hand}:{format_betting(state)}:{format_cards(state)}"


def parse_match_state(game: Game, text: str) -> MatchState:
    """A MATCHSTATE line, without its line end.

    >>> from deepstack.game.definition import load_game
    >>> str(parse_match_state(load_game("hunl"), "MATCHSTATE:1:7:cr300c/:|AsKs/Td9d6h"))
    'MATCHSTATE:1:7:cr300c/:|AsKs/Td9d6h'
    """
    fields = text.split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise InputError(f"message {text[:80]!r}: expected MATCHSTATE:seat:hand:betting:cards")
    seat, hand = fields[1], fields[2]
    if not _NUMBER.fullmatch(seat) or int(seat) >= game.players:
        raise InputError(f"message {text[:80]!r}: seat {seat!r}: expected 0 to {game.players - 1}")
    if not _NUMBER.fullmatch(hand):
        raise InputError(f"message {text[:80]!r}: hand {hand!r}: expected a number")
    return MatchState(int(seat), int(hand), parse_state(game, fields[3], fields[4]))


def format_chips(value: float) -> str:
    """Chips as the logs have them: no trailing zeros.

    >>> format_chips(-50.0), format_chips(12.5)
    ('-50', '12.5')
    """
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def format_log_line(hand: int, state: State, names: Sequence[str]) -> str:
    """The line of a log for a finished hand; names and values are by seat."""
    values = "|".join(format_chips(value) for value in state.payoffs())
    return f"STATE:{hand}:{format_betting(state)}:{format_cards(state)}:{values}:{'|'.join(names)}"


def parse_log_line(game: Game, text: str) -> tuple[int, State, tuple[str, ...]]:
    """The hand number, final state and names by seat of a STATE line."""
    fields = text.rstrip("\r\n").split(":")
    if len(fields) != 6 or fields[0] != "STATE" or not _NUMBER.fullmatch(fields[1]):
        raise InputError(f"log line {text[:80]!r}: expected STATE:hand:betting:cards:values:names")
    state = parse_state(game, fields[2], fields[3])
    names = tuple(fields[5].split("|"))
    if len(names) != game.players or not state.is_over:
        raise InputError(f"log line {text[:80]!r}: expected a finished hand of {game.players}")
    values = "|".join(format_chips(value) for value in state.payoffs())
    if values != fields[4]:
        raise InputError(f"log line {text[:80]!r}: values {fields[4]}, but the hand pays {values}")
    return int(fields[1]), state, names
