"""Bet menus: which bets and raises a public tree offers, in a small language.

A menu is text such as ``50%, 100%, a``. Folding and calling are always offered where they are
legal; the tokens of a menu add bets and raises:

    f c             accepted, and add nothing; ``fc`` alone is the menu without bets
    h p 2p          half the pot, the pot, two pots
    50%  33.3%      a share of the pot
    2.5x            a raise to 2.5 times the bet faced in this round; before the flop the big blind
                    counts as a bet. Not offered as an opening bet: there is nothing to multiply
    250             a bet of 250 chips, or a raise to 250 chips, counted in this round
    min             the smallest legal bet or raise
    geometric 3     the share of the pot that, bet and called on this and two more rounds, puts
                    the stacks in exactly with the last; ``geometric`` alone counts the betting
                    rounds that remain
    a               all-in
    a@150%          all-in, if that is at most 150 % of the pot
    force 20%       not a bet: whatever leaves less than 20 % of the pot behind, once called,
                    becomes all-in
    r               the raise of a limit game

Tokens stand between commas or spaces; letters may be written together (``fcpa``). In a limit game
every token that is a bet means the one legal raise.

Sizes. A bet of x % is x % of the pot. A raise of x % is a raise *to* the bet faced plus x % of the
pot after calling: total = max(spent) + x % · (pot + to call), halves rounded up. A size below the
legal minimum becomes the minimum, a size at or above the stack becomes all-in, and equal sizes
count once. All-in is for the effective stack: chips that no opponent can match stay behind.

Different menus. ``|`` stands between raise numbers (``50%, a | 100%, a | a``: the first bet, the
first raise, all later ones), ``/`` between players (``oop: 50%, a / ip: a``, or ``0: … / 1: …`` by
seat; out of position is who acts first on the last round), and ``;`` between the betting rounds of
the game (``fc; fcpa; 50%, a``). The last raise number and the last round repeat, so one entry
serves all. In configuration files the same is a mapping: ``rounds: [entry, …]`` or round names
(``preflop``, ``flop``, ``turn``, ``river``; a round without a name is like the one before it), with
players as a mapping inside an entry or around the whole.

``2.5x`` and ``250`` need to know what lay in the pot when the round began, and read it from the
betting of the state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import resources
from math import floor
from typing import Any

from deepstack.game.state import RAISE, State
from deepstack.run.errors import InputError

MenuSpec = str | Mapping[Any, Any]

POT, TIMES, CHIPS, MIN, GEOMETRIC, ALL_IN, FORCE, LIMIT = (
    "%", "x", "chips", "min", "geometric", "a", "force", "r",
)  # fmt: skip
_KINDS = (MIN, CHIPS, TIMES, POT, GEOMETRIC, ALL_IN, LIMIT, FORCE)  # the order in menus

ROUND_NAMES = ("preflop", "flop", "turn", "river")
POSITIONS = ("oop", "ip")
EVERYONE = ("",)

UNDERSTOOD = (
    "f, c, h, p, 2p, 50%, 2.5x, 250 (chips), min, geometric, geometric 3, a, a@150%, force 20%, r"
)

_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_FORMS = {
    POT: re.compile(rf"({_NUMBER})%"),
    TIMES: re.compile(rf"({_NUMBER})x"),
    CHIPS: re.compile(r"([0-9]{1,9})"),
    MIN: re.compile(r"min()"),
    GEOMETRIC: re.compile(r"geometric(?: ([0-9]))?"),
    ALL_IN: re.compile(rf"a@({_NUMBER})%"),
    FORCE: re.compile(rf"force ({_NUMBER})%"),
}
_LETTER = re.compile(rf"[fchpar]|{_NUMBER}p")
_LETTERS = re.compile(rf"(?:{_LETTER.pattern})+")
_WORD = re.compile(r"(?:geometric|force)\s+[0-9.]+%?(?!\S)|\S+")
_LABEL = re.compile(r"\s*(oop|ip|[0-9])\s*:")


@dataclass(frozen=True, slots=True)
class Bet:
    """One token of a menu: its kind and its number, 0 where it has none.

    The number has the unit of the token: 50 in ``50%``, 2.5 in ``2.5x``, 3 in ``geometric 3``.
    """

    kind: str
    number: Decimal = Decimal(0)

    def __str__(self) -> str:
        number = f"{self.number.normalize():f}"
        if self.kind in (POT, TIMES):
            return number + self.kind
        if self.kind == CHIPS:
            return number
        if not self.number:
            return self.kind
        form = {GEOMETRIC: "geometric {}", ALL_IN: "a@{}%", FORCE: "force {}%"}[self.kind]
        return form.format(number)


Ladder = tuple[tuple[Bet, ...], ...]  # [raise number]; the last one repeats


@dataclass(frozen=True, slots=True)
class RoundMenu:
    """The menu of one betting round: ``ladders[player][raise number]`` are the bets.

    ``players`` names whose ladders they are: everyone's, those of the positions, or of the seats.
    """

    players: tuple[str, ...]
    ladders: tuple[Ladder, ...]


@dataclass(frozen=True, slots=True)
class Menu:
    """The bets and raises of a tree, by betting round; the last round repeats.

    Menus that offer the same are equal, however they were written and named.
    """

    rounds: tuple[RoundMenu, ...]
    name: str = field(default="", compare=False)

    def bets(self, state: State, raise_number: int) -> tuple[Bet, ...]:
        """The tokens that hold for the player to act."""
        menu = self.rounds[min(state.round, len(self.rounds) - 1)]
        ladder = menu.ladders[_player(menu, state)]
        return ladder[min(raise_number, len(ladder) - 1)]

    def raises(self, state: State, raise_number: int) -> tuple[int, ...]:
        """Totals that the player to act may bet or raise to, ascending; none where it is illegal.

        ``raise_number`` says how many bets and raises this betting round has seen since the root
        of the tree. Totals count the chips of the whole hand, as in ``Action("r", total)``.

        >>> from deepstack.game.definition import load_game
        >>> from deepstack.game.text import parse_state
        >>> hunl = load_game("hunl")
        >>> load_menu("fcpa").raises(parse_state(hunl, "", "|"), 0)
        (300, 20000)
        >>> load_menu("min, 50%, 3x").raises(parse_state(hunl, "r300", "|"), 1)
        (500, 600, 900)
        """
        legal = state.legal.raise_to
        tokens = self.bets(state, raise_number)
        bets = [bet for bet in tokens if bet.kind != FORCE]
        if legal is None or not bets:
            return ()
        low, high = legal
        if state.game.limit:
            return (high,)
        all_in = max(low, min(high, _largest_opponent_stack(state)))
        thresholds = [bet.number for bet in tokens if bet.kind == FORCE]
        totals = set()
        for bet in bets:
            size = _total(bet, state, low, all_in)
            if size is None:
                continue
            total = min(max(size, low), all_in)
            forced = any(_leaves_less(state, total, all_in, share) for share in thresholds)
            totals.add(all_in if forced else total)
        return tuple(sorted(totals))

    def __str__(self) -> str:
        return format_menu(self)


def _player(menu: RoundMenu, state: State) -> int:
    """Which of the menu's ladders belongs to the player to act."""
    game, seat = state.game, state.actor
    assert seat is not None
    if menu.players == EVERYONE:
        return 0
    if len(menu.players) != game.players:
        names = ", ".join(menu.players)
        raise InputError(f"menu for {names}: game {game.name} has {game.players} players")
    if menu.players == POSITIONS:
        return 0 if seat == game.first_player[-1] else 1
    return seat


def _largest_opponent_stack(state: State) -> int:
    stacks = zip(state.game.stacks, state.folded, strict=True)
    return max(stack for p, (stack, out) in enumerate(stacks) if p != state.actor and not out)


def _half_up(number: Decimal, chips: int, unit: int = 1) -> int:
    """number / unit · chips, exactly, with halves rounded up.

    >>> _half_up(Decimal("33.5"), 100, unit=100), _half_up(Decimal("33.4"), 100, unit=100)
    (34, 33)
    """
    numerator, denominator = number.as_integer_ratio()
    denominator *= unit
    return (2 * numerator * chips + denominator) // (2 * denominator)


def _total(bet: Bet, state: State, low: int, all_in: int) -> int | None:
    """The total that a token asks for, before it is fitted to the legal ones; None: not offered."""
    most, pot = max(state.spent), state.pot + state.to_call
    if bet.kind == POT:
        return most + _half_up(bet.number, pot, unit=100)
    if bet.kind == MIN:
        return low
    if bet.kind == ALL_IN:
        offered = not bet.number or (all_in - most) * 100 <= bet.number * pot
        return all_in if offered else None
    if bet.kind == GEOMETRIC:
        streets = int(bet.number) or state.game.rounds - state.round
        return most + geometric_bet(pot, all_in - most, streets)
    if bet.kind == CHIPS:
        return _round_start(state, bet) + int(bet.number)
    if bet.kind == TIMES:
        start = _round_start(state, bet)
        return start + _half_up(bet.number, most - start) if most > start else None
    raise InputError(
        f"menu token {bet}: the raise of a limit game, but {state.game.name} is no-limit: "
        "expected sizes such as 50%, a"
    )


def geometric_bet(pot: int, stack: int, streets: int) -> int:
    """The bet that starts a sequence of equal pot shares which ends all-in.

    Bet and called on every street, a share f multiplies the pot by 1 + 2f; after all streets it
    must be pot + 2 · stack.

    >>> geometric_bet(200, 900, 1), geometric_bet(200, 2600, 3)
    (900, 200)
    """
    if streets == 1:
        return stack
    after = pot ** (1 - 1 / streets) * (pot + 2 * stack) ** (1 / streets)
    return floor((after - pot) / 2 + 0.5)


def _leaves_less(state: State, total: int, all_in: int, share: Decimal) -> bool:
    """After the bet and a call, less than ``share`` per cent of the pot is left behind."""
    pot = state.pot + state.to_call + 2 * (total - max(state.spent))
    return (all_in - total) * 100 < share * pot


def _round_start(state: State, bet: Bet) -> int:
    """What a player in the hand had put in when the present betting round began.

    Blinds that differ are bets of the first round, equal ones are antes that came before it.
    """
    assert state.actor is not None
    blinds = state.game.blinds
    earlier = [a.to for actions in state.betting[:-1] for a in actions if a.kind == RAISE]
    raises = sum(action.kind == RAISE for action in state.betting[-1])
    start = max([*earlier, *blinds])
    # A state whose chips were set by hand has no such history: better no size than a wrong one.
    # (After two raises both players have moved on from the start, and nothing can be seen.)
    if raises < 2 and state.spent[state.actor] > start:
        raise InputError(
            f"menu token {bet} after {state}: it counts from the start of the round, and the "
            f"betting so far does not explain the chips {state.spent}"
        )
    return 0 if state.round == 0 and len(set(blinds)) > 1 else start


def _parse_token(token: str, where: str) -> list[Bet]:
    """The bets of one word: a form with a number, or letters written together."""
    bets = []
    if _LETTERS.fullmatch(token):
        for letter in _LETTER.findall(token):
            if letter in "hp":
                bets.append(Bet(POT, Decimal(50 if letter == "h" else 100)))
            elif letter[-1] == "p":
                bets.append(_positive(Bet(POT, Decimal(letter[:-1]) * 100), token, where))
            elif letter in "ar":
                bets.append(Bet(letter))
        return bets
    for kind, form in _FORMS.items():
        if match := form.fullmatch(token):
            if not match[1]:
                return [Bet(kind)]
            return [_positive(Bet(kind, Decimal(match[1])), token, where)]
    raise InputError(f"{where}: unknown token {token[:40]!r}: expected {UNDERSTOOD}")


def _positive(bet: Bet, token: str, where: str) -> Bet:
    least = 1 if bet.kind == TIMES else 0
    if bet.number <= least:
        raise InputError(f"{where}: token {token[:40]!r}: expected a number above {least}")
    return bet


def _parse_bets(text: str, where: str) -> tuple[Bet, ...]:
    """The tokens between two separators, in order and without repetition."""
    bets = set()
    for part in text.split(","):
        words = _WORD.findall(part.lower())
        if not words:
            raise InputError(f"{where}: empty place in {text[:40]!r}: expected {UNDERSTOOD}")
        for word in words:
            bets.update(_parse_token(" ".join(word.split()), where))
    return tuple(sorted(bets, key=lambda bet: (_KINDS.index(bet.kind), bet.number)))


def _without_repeats(values: list) -> tuple:
    """The values without those at the end that only repeat the one before."""
    while len(values) > 1 and values[-1] == values[-2]:
        values = values[:-1]
    return tuple(values)


def _text(value: object, where: str) -> str:
    """The text of an entry; YAML reads a lone ``250`` as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{where}: {value!r:.60}: expected text such as '50%, 100%, a'")
    return str(value)


def _parse_ladder(entry: object, where: str) -> Ladder:
    parts = _text(entry, where).split("|")
    return _without_repeats([_parse_bets(part, where) for part in parts])


def _by_player(ladders: Mapping[str, Ladder], where: str) -> RoundMenu:
    """One round from the ladders of all players."""
    seats = tuple(str(seat) for seat in range(len(ladders)))
    players = POSITIONS if set(ladders) == set(POSITIONS) else seats
    if set(ladders) != set(players) or len(players) < 2:
        given = ", ".join(sorted(ladders))
        raise InputError(f"{where}: players {given[:40]}: expected oop and ip, or 0 and 1")
    if len(set(ladders.values())) == 1:
        return RoundMenu(EVERYONE, (ladders[players[0]],))
    return RoundMenu(players, tuple(ladders[player] for player in players))


def _parse_round(entry: object, where: str) -> RoundMenu:
    """One betting round: text, or texts by player."""
    if isinstance(entry, Mapping):
        ladders = {str(key): _parse_ladder(value, where) for key, value in entry.items()}
        return _by_player(ladders, where)
    if isinstance(entry, str) and ("/" in entry or ":" in entry):
        ladders = {}
        for part in entry.split("/"):
            label = _LABEL.match(part.lower())
            if label is None or label[1] in ladders:
                raise InputError(f"{where}: {part.strip()[:40]!r}: expected 'oop: … / ip: …'")
            ladders[label[1]] = _parse_ladder(part[label.end() :], where)
        return _by_player(ladders, where)
    return RoundMenu(EVERYONE, (_parse_ladder(entry, where),))


def _parse_rounds(spec: object, where: str) -> list[RoundMenu]:
    """All betting rounds: text, a list or names of rounds, or one of these by player."""
    if not isinstance(spec, Mapping) or not spec:
        return [_parse_round(part, where) for part in _text(spec, where).split(";")]
    entries = {str(key): value for key, value in spec.items()}
    if set(entries) == {"rounds"}:
        listed = entries["rounds"]
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            raise InputError(f"{where}: rounds {listed!r:.60}: expected a list of menus")
        return [_parse_round(entry, where) for entry in listed]
    named = [name for name in ROUND_NAMES if name in entries]
    if len(named) == len(entries):
        filled, entry = [], entries[named[0]]
        for name in ROUND_NAMES:
            entry = entries.get(name, entry)
            filled.append(_parse_round(entry, where))
        return filled
    if named or not set(entries) <= {*POSITIONS, *map(str, range(10))}:
        keys = ", ".join(sorted(entries))
        raise InputError(
            f"{where}: keys {keys[:60]}: expected rounds, {', '.join(ROUND_NAMES)}, or oop and ip"
        )
    by_player = {player: _parse_rounds(value, where) for player, value in entries.items()}
    if any(menu.players != EVERYONE for rounds in by_player.values() for menu in rounds):
        raise InputError(f"{where}: players inside players: expected menus without oop and ip")

    def ladders(number: int) -> dict[str, Ladder]:
        return {p: rs[min(number, len(rs) - 1)].ladders[0] for p, rs in by_player.items()}

    longest = max(len(rounds) for rounds in by_player.values())
    return [_by_player(ladders(number), where) for number in range(longest)]


def parse_menu(spec: MenuSpec, name: str = "") -> Menu:
    """The menu of a text or a mapping; the module describes the language.

    >>> parse_menu("f c p a") == parse_menu("fcpa") == parse_menu("100%, a")
    True
    >>> print(parse_menu({"oop": "50%, a; h | a", "ip": "a"}))
    oop: 50%, a / ip: a; oop: 50% | a / ip: a
    """
    where = f"menu {name}" if name else "menu"
    return Menu(_without_repeats(_parse_rounds(spec, where)), name)


def format_menu(menu: Menu) -> str:
    """The menu as text; ``parse_menu(format_menu(m)) == m``.

    >>> format_menu(load_menu("fchpa"))
    '50%, 100%, a'
    """

    def ladder_text(ladder: Ladder) -> str:
        return " | ".join(", ".join(map(str, bets)) or "fc" for bets in ladder)

    def round_text(menu: RoundMenu) -> str:
        texts = [ladder_text(ladder) for ladder in menu.ladders]
        if menu.players == EVERYONE:
            return texts[0]
        return " / ".join(f"{p}: {text}" for p, text in zip(menu.players, texts, strict=True))

    return "; ".join(map(round_text, menu.rounds))


def menu_names() -> list[str]:
    """The names that ``conf/bets`` offers."""
    files = (resources.files("conf") / "bets").iterdir()
    return sorted(f.name.removesuffix(".yaml") for f in files if f.name.endswith(".yaml"))


def load_menu(name_or_text: MenuSpec) -> Menu:
    """A menu of ``conf/bets`` by its name, or the menu that a text or mapping describes."""
    if not isinstance(name_or_text, str):
        return parse_menu(name_or_text)
    name, names = name_or_text.strip(), menu_names()
    if name in names:
        from omegaconf import OmegaConf

        text = (resources.files("conf") / "bets" / f"{name}.yaml").read_text("utf-8")
        spec = OmegaConf.to_container(OmegaConf.create(text))
        assert isinstance(spec, dict)
        return parse_menu(spec, name)
    try:
        return parse_menu(name_or_text)
    except InputError as error:
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            raise InputError(f"{error}; or one of the menus {', '.join(names)}") from None
        raise
