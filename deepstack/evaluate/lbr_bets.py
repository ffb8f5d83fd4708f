"""What local best response may do: bet sets, one for every betting round.

A set is a name or a menu (``deepstack.tree.menus``): ``fc`` folds and calls only, ``fcpa`` adds the
pot and all-in, ``56bets`` adds all-in and the 55 shares 0.05 · 1.15^k of the pot, k = 0 … 54 (Lisý
and Bowling 2017; a share that is not legal becomes the smallest bet or all-in). ``c`` alone
is check and call without a thought: no fold, no bet. One set serves all rounds; several stand
between semicolons, ``c;c;fcpa;fcpa``, and the last one repeats.

Rounds are counted from 1 here, as in the paper: ``3-4`` is turn and river of hold'em. In a round
that is not *active* the responder checks and calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from deepstack.game.definition import Game
from deepstack.game.state import RAISE, State
from deepstack.run.errors import InputError
from deepstack.tree.menus import Menu, format_menu, load_menu

BetSpec = str | Sequence[str] | Mapping[Any, Any]
BetSets = tuple[Menu | None, ...]
"""By betting round: the bets that are considered beside fold and call; None: check and call."""

PASSIVE = "c"
GEOMETRIC = "56bets"


@lru_cache(maxsize=1)
def fifty_six_bets() -> Menu:
    """All-in and 55 shares of the pot, from 5 % to about 95 pots.

    >>> len(fifty_six_bets().rounds[0].ladders[0][0])
    56
    """
    # as exact as menus write numbers: to less than a chip wherever a bet is below the stack
    shares = [f"{5 * 1.15**k:.6f}%" for k in range(55)]
    return load_menu(", ".join([*shares, "a"]))


def load_bets(spec: BetSpec, game: Game, rounds: str | int | None = None) -> BetSets:
    """The bet sets of a game's betting rounds.

    Args:
        spec: a set, sets between semicolons, a list of sets, or a mapping as menus have it.
        game: whose rounds they are.
        rounds: the active ones, ``3-4`` or ``4``; all unless given.

    >>> from deepstack.game.definition import load_game
    >>> [str(menu) for menu in load_bets("c;fc;fcpa", load_game("hunl"), "2-4")]
    ['None', 'fc', '100%, a', '100%, a']
    """
    first, last = parse_rounds(rounds, game)
    if isinstance(spec, Mapping):
        sets: list[Menu | None] = [load_menu(spec)] * game.rounds
    else:
        parts = spec.split(";") if isinstance(spec, str) else [str(part) for part in spec]
        if not 1 <= len(parts) <= game.rounds:
            raise InputError(
                f"bets {spec!r}: {len(parts)} sets, expected 1 to {game.rounds}, one a round"
            )
        named = [_named(part) for part in parts]
        sets = named + [named[-1]] * (game.rounds - len(named))
    return tuple(menu if first <= r <= last else None for r, menu in enumerate(sets))


def parse_rounds(rounds: str | int | None, game: Game) -> tuple[int, int]:
    """The first and the last active round, counted from 0.

    >>> from deepstack.game.definition import load_game
    >>> parse_rounds("3-4", load_game("hunl"))
    (2, 3)
    """
    if rounds is None:
        return 0, game.rounds - 1
    match = re.fullmatch(r"\s*(\d+)\s*(?:[-–]\s*(\d+)\s*)?", str(rounds))
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last <= game.rounds:
        raise InputError(
            f"rounds={rounds}: expected betting rounds of {game.name} such as "
            f"1-{game.rounds} or {game.rounds}"
        )
    return first - 1, last - 1


def considered_raises(bets: BetSets, state: State) -> tuple[int, ...]:
    """The totals that the player to act considers betting or raising to, ascending."""
    menu = bets[state.round]
    if menu is None:
        return ()
    return menu.raises(state, sum(action.kind == RAISE for action in state.betting[-1]))


def format_bets(bets: BetSets) -> str:
    """The sets as text that ``load_bets`` reads, where they do not tell players apart.

    >>> from deepstack.game.definition import load_game
    >>> format_bets(load_bets("fcpa", load_game("hunl"), "3-4"))
    'c;c;100%, a;100%, a'
    """
    return ";".join(PASSIVE if menu is None else format_menu(menu) for menu in bets)


def _named(text: str) -> Menu | None:
    """The menu of one set; None for ``c``."""
    name = text.strip().lower()
    if name == PASSIVE:
        return None
    if name == GEOMETRIC:
        return fifty_six_bets()
    try:
        return load_menu(text)
    except InputError as error:
        raise InputError(f"bets {text.strip()!r}: {error}; or c, {GEOMETRIC}") from None
