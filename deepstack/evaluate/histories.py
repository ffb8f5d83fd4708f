"""Hand histories in the PHH format, for the many tools that do not read competition logs.

PHH (J. Kim, "Recording and describing poker hands", 2024) writes a hand as TOML: the table, then
one line of text an action. Players are numbered as our seats are, from the small blind (heads-up:
from the big blind), so ``p1`` is seat 0. pokerkit writes and reads the format.

PHH has whole chips; a pot that does not divide leaves an odd chip to whoever replays it, while our
payoffs split it. They stand with every hand in the field ``_payoffs``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

from deepstack.game.definition import NO_STACK, Game
from deepstack.game.state import FOLD, RAISE, State, initial_state
from deepstack.game.text import format_chips, parse_log_line
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically

FILE = "hands.phhs"
MAX_LIMIT_RAISES = 4  # a round, in the limit hold'em of the format


def check_phh(game: Game) -> None:
    """Refuse a game that PHH cannot tell, and any game where pokerkit is not installed.

    The format knows Texas hold'em with the usual order of action and, with a limit, a small bet
    for two rounds and a big bet for two. With three players and stacks, who may raise after an
    all-in below the minimum differs between rulebooks and the competition, and pokerkit would
    refuse to replay such hands.
    """
    blinds = game.blinds
    opener = (max(range(game.players), key=lambda seat: (blinds[seat], seat)) + 1) % game.players
    texas = (
        game.hole_cards == 2
        and game.board_cards == (0, 3, 1, 1)
        and game.showdown == "five-card"
        and game.big_blind > 0
        and game.first_player == (opener, 0, 0, 0)
    )
    if texas and game.limit:
        small, also_small, big, also_big = game.raise_size
        texas = small == also_small and big == also_big
        texas = texas and max(game.max_raises) <= MAX_LIMIT_RAISES
    if not texas:
        raise InputError(f"hand histories of {game.name}: expected Texas hold'em of four rounds")
    if game.players > 2 and min(game.stacks) < NO_STACK:
        raise InputError(
            f"hand histories of {game.name}: expected two players, or a limit game without stacks"
        )
    if find_spec("pokerkit") is None:
        raise InputError("hand histories: expected pokerkit, as in pip install 'deepstack[phh]'")


def write_phh(folder: str | os.PathLike[str], game: Game, log_lines: Sequence[str]) -> int:
    """Write the hands of a log to ``hands.phhs`` in a folder; how many there are.

    Args:
        folder: made where it is missing.
        game: a game that ``check_phh`` lets pass.
        log_lines: ``STATE:`` lines; comments (``#``) and the ``SCORE:`` line are passed over.
    """
    check_phh(game)
    from pokerkit import HandHistory

    histories = [
        HandHistory(**_fields(game, *parse_log_line(game, line)))
        for line in log_lines
        if line.strip() and not line.startswith(("#", "SCORE:"))
    ]
    path = Path(folder) / FILE
    try:
        write_atomically(path, HandHistory.dumps_all(histories) + "\n")
    except OSError as error:
        raise InputError(f"hand histories {path}: cannot be written ({error})") from None
    return len(histories)


def _fields(game: Game, hand: int, final: State, names: Sequence[str]) -> dict[str, Any]:
    """The fields of one hand."""
    for name in names:
        if not name.isprintable() or "'''" in name:
            raise InputError(f"name {name!r} in hand {hand}: expected letters that TOML can quote")
    blinds = list(game.blinds)
    fields: dict[str, Any] = {
        "variant": "FT" if game.limit else "NT",
        "antes": [0] * game.players,
        # the format has the small blind first, wherever it sits
        "blinds_or_straddles": blinds[::-1] if game.players == 2 else blinds,
        "starting_stacks": [inf if stack == NO_STACK else stack for stack in game.stacks],
        "actions": list(_actions(final)),
        "hand": hand,
        "players": list(names),
        "user_defined_fields": {
            "_payoffs": [Decimal(format_chips(value)) for value in final.payoffs()]
        },
    }
    if game.limit:
        return {**fields, "small_bet": game.raise_size[0], "big_bet": game.raise_size[-1]}
    return {**fields, "min_bet": game.min_bet}


def _actions(final: State) -> Iterator[str]:
    """Everything that happened in a hand, as the format words it."""
    game, deck = final.game, final.game.deck
    for seat, hand in enumerate(final.hands):
        yield f"d dh p{seat + 1} {deck.format(hand) or '????'}"
    state = initial_state(game, final.hands)
    for round_, actions in enumerate(final.betting):
        if state.cards_owed and not actions:
            # an all-in was called: hands are shown, then the board is run out
            yield from _shown(final)
            yield from _boards(game, final.board, max(round_, 1), game.rounds)
            return
        if round_:
            yield from _boards(game, final.board, round_, round_ + 1)
            state = state.deal(final.board[len(state.board) : game.board_size(round_)])
        before = max(state.spent) if round_ else 0
        for action in actions:
            assert state.actor is not None
            player = f"p{state.actor + 1}"
            if action.kind == RAISE:
                # the format counts the chips of the round, we count those of the hand
                yield f"{player} cbr {action.to - before}"
            else:
                yield f"{player} {'f' if action.kind == FOLD else 'cc'}"
            state = state.apply(action)
    if not final.folded_out:
        yield from _shown(final)


def _shown(final: State) -> Iterator[str]:
    for seat, hand in enumerate(final.hands):
        if not final.folded[seat]:
            yield f"p{seat + 1} sm {final.game.deck.format(hand)}"


def _boards(game: Game, board: tuple[int, ...], first: int, end: int) -> Iterator[str]:
    """The board cards dealt from round ``first`` to the round before ``end``."""
    for round_ in range(first, end):
        cards = board[game.board_size(round_ - 1) : game.board_size(round_)]
        yield f"d db {game.deck.format(cards)}"
