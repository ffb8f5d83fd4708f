"""One call that solves: a game, a state of a hand, or a spot.

import deepstack
from deepstack.game.spots import Spot

deepstack.solve("leduc", algorithm="cfr_plus", iterations=1000)
deepstack.solve("MATCHSTATE:0:0:cr300c/:|/Td9d6h", game="hunl", bets="50%, a", target="1%")
deepstack.solve(Spot("Td9d6hQc2s", pot=200, stack=900, oop="AA,KQs"), bets="100%, a")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb, factorial

import numpy as np
import numpy.typing as npt

from deepstack.cards.ranges import HANDS, parse_range
from deepstack.game.definition import Game, load_game, shipped_games
from deepstack.game.spots import POSITIONS, RangeLike, Spot
from deepstack.game.state import State, initial_state
from deepstack.game.text import parse_match_state, parse_state
from deepstack.run.errors import InputError
from deepstack.solver.engine import Engine
from deepstack.solver.memory import Memory, require_memory
from deepstack.solver.rules import DEFAULT, UpdateRule, update_rule
from deepstack.solver.solution import Solution
from deepstack.solver.stopping import Stop, parse_target
from deepstack.tree.menus import CHIPS, Menu, MenuSpec, load_menu

DEFAULT_TARGET = "0.5%"  # of the pot, for spots and states
DEFAULT_ITERATIONS = 1000  # for games
DTYPES = ("float32", "float64")

Solvable = Game | State | Spot | str
RangesLike = Mapping[str, RangeLike] | Sequence[RangeLike] | npt.ArrayLike


def solve(
    what: Solvable,
    *,
    game: Game | str | None = None,
    bets: MenuSpec | Menu | None = None,
    algorithm: str | UpdateRule | None = None,
    iterations: int | None = None,
    target: float | str | None = None,
    seconds: float | None = None,
    threads: int = 1,
    ranges: RangesLike | None = None,
    dtype: npt.DTypeLike = "float32",
    merge: bool = True,
    progress: bool = False,
) -> Solution:
    """Solve a game, a state of a hand, or a spot, until the first of the limits is reached.

    Args:
        what: a game or its name or file; a state, also in the middle of a betting round, or its
            text (``MATCHSTATE:…``, or betting or ``betting:cards`` of ``game``); or a ``Spot``.
        game: the game of a text; heads-up no-limit hold'em unless given.
        bets: the menu of bet sizes (``deepstack.tree.menus``); without it pot and all-in, and in
            limit games the raise of the rules.
        algorithm: a name of ``deepstack.solver.rules`` (``cfr``, ``cfr_plus``, ``linear``,
            ``dcfr``, ``pcfr_plus``, ``dcfr_plus``) or an update rule; without it the quickest.
        iterations: stop after so many.
        target: stop at this exploitability, in chips or as a share of the root's pot (``"0.5%"``).
        seconds: stop after this time.
        threads: threads across the boards of the round after the root's.
        ranges: two ranges, by seat or as ``{"oop": …, "ip": …}``, each a text or weights [H];
            every hand alike unless given.
        dtype: float32, or float64 where digits count.
        merge: treat boards alike that differ by a relabelling of suits, where ranges allow it.
        progress: show exploitability on the way.

    Without any limit, spots and states are solved to 0.5 % of the pot and games for 1,000
    iterations.
    """
    solution = prepare(
        what,
        game=game,
        bets=bets,
        algorithm=algorithm,
        threads=threads,
        ranges=ranges,
        dtype=dtype,
        merge=merge,
        limits=(iterations, target, seconds),
    )
    if iterations is None and target is None and seconds is None:
        iterations, target = default_stop(solution)
    return solution.resume(iterations=iterations, target=target, seconds=seconds, progress=progress)


def default_stop(solution: Solution) -> tuple[int | None, str | None]:
    """Iterations and target where neither was given."""
    whole = solution.state.betting == ((),) and solution.spot is None
    return (DEFAULT_ITERATIONS, None) if whole else (None, DEFAULT_TARGET)


def prepare(
    what: Solvable,
    *,
    game: Game | str | None = None,
    bets: MenuSpec | Menu | None = None,
    algorithm: str | UpdateRule | None = None,
    threads: int = 1,
    ranges: RangesLike | None = None,
    dtype: npt.DTypeLike = "float32",
    merge: bool = True,
    limits: tuple[int | None, float | str | None, float | None] | None = None,
) -> Solution:
    """The solution before its first iteration: its tree is built, its size and memory are known.

    Arguments are those of ``solve``; ``limits`` are its iterations, target and
    seconds, refused before anything is built if they are wrong.
    """
    spot = what if isinstance(what, Spot) else None
    if isinstance(what, Spot):
        if ranges is not None:
            raise InputError("ranges beside a spot: expected them in the spot itself")
        state, weights, chip = what.state(), what.ranges(), what.chip
    else:
        state, chip = _state(what, game), 1
        weights = parse_ranges(state, ranges)
    if limits is not None and any(limit is not None for limit in limits):
        iterations, target, seconds = limits
        Stop(iterations, parse_target(target, state.pot / chip), seconds)
    menu = default_menu(state.game) if bets is None else load_bets(bets)
    rule = update_rule(algorithm) if isinstance(algorithm, str) else algorithm or DEFAULT
    return make_solution(
        state, weights, menu, rule, spot=spot, chip=chip, dtype=dtype, merge=merge, threads=threads
    )


def make_solution(
    state: State,
    ranges: npt.ArrayLike,
    menu: Menu,
    rule: UpdateRule,
    *,
    spot: Spot | None = None,
    chip: int = 1,
    dtype: npt.DTypeLike = "float32",
    merge: bool = True,
    threads: int = 1,
) -> Solution:
    """A solution without iterations; ``menu`` counts chips, the state units of 1/``chip``."""
    name = str(np.dtype(dtype)) if not isinstance(dtype, str) else dtype
    if name not in DTYPES:
        raise InputError(f"dtype {name!r}: expected one of {', '.join(DTYPES)}")
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise InputError(f"threads={threads}: expected a whole number of at least 1")
    require_room(state)
    engine = Engine(
        state,
        ranges,
        scaled_menu(menu, chip).raises,
        rule,
        dtype=np.dtype(name),
        merge=merge,
        threads=threads,
    )
    return Solution(engine, ranges, menu, spot=spot, chip=chip)


def require_room(state: State) -> None:
    """Refuse a tree whose boards alone do not fit, before they are listed.

    A lower bound: three numbers for every hand of every board, suits merged as far as they can be.
    The engine itself counts exactly.
    """
    game, boards, needed = state.game, 1, 0
    left = len(game.deck) - len(state.board)
    for dealt in game.board_cards[state.round + 1 :]:
        boards *= comb(left, dealt)
        left -= dealt
        needed += boards * comb(left, game.hole_cards) * 3 * 8 // factorial(len(game.deck.suits))
    require_memory(Memory(tables=0, work=0, index=needed))


def _state(what: Game | State | str, game: Game | str | None) -> State:
    """The root that ``what`` means."""
    rules = load_game(game) if isinstance(game, str) else game
    if isinstance(what, State | Game):
        if rules is not None:
            raise InputError("game beside a state or game: expected it with a text only")
        return what if isinstance(what, State) else initial_state(what)
    if not isinstance(what, str):
        raise InputError(f"{what!r:.60}: expected a game, a state, their text, or a Spot")
    text = what.strip()
    if text.startswith("MATCHSTATE"):
        return parse_match_state(rules or load_game("hunl"), text).state
    if rules is None:
        if text.endswith(".game") or text.lower().replace("-", "_") in shipped_games():
            return initial_state(load_game(text))
        raise InputError(
            f"{text!r}: expected a .game file, one of {', '.join(shipped_games())}, a MATCHSTATE, "
            "or betting beside a game"
        )
    betting, colon, cards = text.partition(":")
    return parse_state(rules, betting, cards if colon else None)


def parse_ranges(state: State, ranges: RangesLike | None) -> npt.NDArray[np.float64]:
    """Weights [2, H] by seat, from two texts or vectors; out of position acts first at the end."""
    game = state.game
    if ranges is None:
        return np.ones((2, game.hands))
    if isinstance(ranges, Mapping):
        if set(ranges) != set(POSITIONS):
            raise InputError(f"ranges of {', '.join(map(str, ranges))}: expected oop and ip")
        oop, ip = (ranges[position] for position in POSITIONS)
        ranges = [oop, ip] if game.first_player[-1] == 0 else [ip, oop]
    if isinstance(ranges, str) or len(ranges) != 2:  # type: ignore[arg-type]
        raise InputError(f"ranges {ranges!r:.60}: expected one for each of the two seats")
    rows = []
    for given in ranges:  # type: ignore[union-attr]
        if not isinstance(given, str):
            rows.append(np.asarray(given, np.float64))
        elif given.strip() == "random":
            rows.append(np.ones(game.hands))
        elif game.hands == HANDS and game.hole_cards == 2:
            rows.append(parse_range(given, state.board).astype(np.float64))
        else:
            raise InputError(
                f"range {given!r}: {game.name} has {game.hands} hands, expected their weights or "
                "'random'"
            )
    if any(row.shape != (game.hands,) for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows)
        raise InputError(f"ranges of shape {shapes}: expected two of ({game.hands},)")
    return np.stack(rows)


def load_bets(bets: MenuSpec | Menu) -> Menu:
    return bets if isinstance(bets, Menu) else load_menu(bets)


def default_menu(game: Game) -> Menu:
    """The raise of the rules in limit games, pot and all-in in others."""
    return load_menu("limit" if game.limit else "fcpa")


def scaled_menu(menu: Menu, chip: int) -> Menu:
    """The menu for a game that counts ``chip`` units a chip: bets in chips grow, others do not.

    >>> print(scaled_menu(load_menu("50, 100%, a"), 2))
    100, 100%, a
    """
    if chip == 1:
        return menu
    rounds = []
    for entry in menu.rounds:
        ladders = tuple(
            tuple(
                tuple(
                    replace(bet, number=bet.number * chip) if bet.kind == CHIPS else bet
                    for bet in bets
                )
                for bets in ladder
            )
            for ladder in entry.ladders
        )
        rounds.append(replace(entry, ladders=ladders))
    return replace(menu, rounds=tuple(rounds))
