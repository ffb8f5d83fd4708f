"""Game definitions: the competition's ``.game`` files, as data.

The format is that of the Annual Computer Poker Competition (ACPC): ``GAMEDEF``, one line a
property, ``END GAMEDEF``. Two keys of our own complete it for the small games of the literature:

- ``showdown = five-card | pairs | three-card``: how hands compare at the end. ``five-card`` (the
  default) is the best five of all cards; ``pairs`` knows only pairs and high cards (Kuhn, Leduc);
  ``three-card`` ranks the three cards of Rhode Island hold'em.
- ``ranks = JQK``: the letters of the ranks, lowest first. Without it a short deck has the highest
  ``numRanks`` ranks, as the competition's dealer deals it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from math import comb
from pathlib import Path

from deepstack.cards.notation import RANKS, SUITS, Deck
from deepstack.run.errors import InputError

SHOWDOWNS = ("five-card", "pairs", "three-card")
MAX_PLAYERS = 10
NO_CAP = 255  # raises a round where the file sets no cap, as in the competition's code
NO_STACK = 2**31 - 1  # chips of a player in a game without stacks


@dataclass(frozen=True, slots=True)
class Game:
    """A poker game. Tuples are by seat or by round; amounts are chips.

    ``raise_size`` is empty in no-limit games. ``first_player`` is counted from 0.
    """

    name: str
    limit: bool
    players: int
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    raise_size: tuple[int, ...]
    first_player: tuple[int, ...]
    max_raises: tuple[int, ...]
    deck: Deck
    hole_cards: int
    board_cards: tuple[int, ...]
    showdown: str = "five-card"

    def __post_init__(self) -> None:
        _validate(self)

    @property
    def rounds(self) -> int:
        return len(self.board_cards)

    @property
    def hands(self) -> int:
        """H, the number of private hands."""
        return comb(len(self.deck), self.hole_cards)

    @property
    def big_blind(self) -> int:
        """The largest blind or ante."""
        return max(self.blinds)

    @property
    def min_bet(self) -> int:
        """The smallest opening bet of a no-limit round."""
        return max(self.big_blind, 1)

    def board_size(self, round_: int) -> int:
        """How many board cards lie on the table in a round."""
        return sum(self.board_cards[: round_ + 1])


def _validate(game: Game) -> None:
    def require(holds: bool, message: str) -> None:
        if not holds:
            raise InputError(f"game {game.name}: {message}")

    players, rounds = game.players, len(game.board_cards)
    require(2 <= players <= MAX_PLAYERS, f"numPlayers = {players}: expected 2 to {MAX_PLAYERS}")
    require(rounds >= 1, "numBoardCards: expected one number a round")
    for key, values, count in (
        ("stack", game.stacks, players),
        ("blind", game.blinds, players),
        ("firstPlayer", game.first_player, rounds),
        ("maxRaises", game.max_raises, rounds),
        ("raiseSize", game.raise_size, rounds if game.limit else 0),
    ):
        require(len(values) == count, f"{key}: expected {count} numbers, found {len(values)}")
    for seat, (stack, blind) in enumerate(zip(game.stacks, game.blinds, strict=True)):
        require(
            0 < stack <= NO_STACK, f"stack {stack} of player {seat + 1}: expected 1 to {NO_STACK}"
        )
        require(0 <= blind <= stack, f"blind {blind} of player {seat + 1}: expected 0 to {stack}")
    for first in game.first_player:
        require(0 <= first < players, f"firstPlayer {first + 1}: expected 1 to {players}")
    for size in game.raise_size:
        require(size > 0, f"raiseSize {size}: expected a positive number")
    for cap in game.max_raises:
        require(0 <= cap <= NO_CAP, f"maxRaises {cap}: expected 0 to {NO_CAP}")
    require(game.hole_cards >= 1, f"numHoleCards = {game.hole_cards}: expected at least 1")
    require(min(game.board_cards) >= 0, "numBoardCards: expected no negative number")
    dealt = players * game.hole_cards + sum(game.board_cards)
    require(
        dealt <= len(game.deck), f"{dealt} cards are dealt from a deck of only {len(game.deck)}"
    )
    require(
        game.showdown in SHOWDOWNS,
        f"showdown {game.showdown!r}: expected one of {', '.join(SHOWDOWNS)}",
    )
    seen = game.hole_cards + sum(game.board_cards)
    if game.showdown == "five-card":
        fits = 5 <= seen <= 7 and len(game.deck) == 52
        require(fits, f"five-card showdown of {seen} cards: expected 5 to 7 of a 52-card deck")
    elif game.showdown == "three-card":
        require(seen == 3, f"three-card showdown of {seen} cards: expected 3")
    else:
        require(seen <= 4, f"pairs showdown of {seen} cards: expected 1 to 4")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split())


def _number(text: str) -> int:
    (value,) = _numbers(text)
    return value


_KEYS: dict[str, Callable[[str], object]] = {
    "numplayers": _number,
    "numrounds": _number,
    "stack": _numbers,
    "blind": _numbers,
    "raisesize": _numbers,
    "firstplayer": _numbers,
    "maxraises": _numbers,
    "numsuits": _number,
    "numranks": _number,
    "numholecards": _number,
    "numboardcards": _numbers,
    "showdown": str,
    "ranks": str,
}
_REQUIRED = (
    "numplayers", "numrounds", "blind", "numsuits", "numranks", "numholecards", "numboardcards",
)  # fmt: skip


def _fields(text: str, name: str) -> tuple[str, dict]:
    """The betting type and the properties between GAMEDEF and END GAMEDEF."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) < 2 or lines[0].upper() != "GAMEDEF" or lines[-1].upper() != "END GAMEDEF":
        raise InputError(f"game {name}: expected a file from GAMEDEF to END GAMEDEF")
    betting, fields = "", {}
    for line in lines[1:-1]:
        key, equals, value = (part.strip() for part in line.partition("="))
        key = key.lower()
        if not equals and key in ("limit", "nolimit"):
            if betting:
                raise InputError(f"game {name}: {line!r} after {betting!r}")
            betting = key
            continue
        if not equals or key not in _KEYS:
            raise InputError(f"game {name}: unknown line {line!r}")
        if key in fields:
            raise InputError(f"game {name}: {line!r} repeats a property")
        try:
            fields[key] = _KEYS[key](value)
        except ValueError:
            raise InputError(f"game {name}: {line!r}: expected whole numbers") from None
    if not betting:
        raise InputError(f"game {name}: expected a line 'limit' or 'nolimit'")
    missing = [key for key in _REQUIRED if key not in fields]
    if missing:
        raise InputError(f"game {name}: missing {', '.join(missing)}")
    return betting, fields


def parse_game(text: str, name: str = "game") -> Game:
    """The game that a definition in the competition's format describes."""
    betting, fields = _fields(text, name)
    players, rounds = fields["numplayers"], fields["numrounds"]
    suits, ranks = fields["numsuits"], fields["numranks"]
    if not 1 <= suits <= len(SUITS) or not 1 <= ranks <= len(RANKS):
        raise InputError(f"game {name}: {ranks} ranks of {suits} suits: expected 1–13 of 1–4")
    letters = fields.get("ranks", RANKS[-ranks:])
    if len(letters) != ranks:
        raise InputError(f"game {name}: ranks = {letters}: expected {ranks} letters")
    if rounds != len(fields["numboardcards"]):
        raise InputError(f"game {name}: numBoardCards: expected {rounds} numbers")
    if not 2 <= players <= MAX_PLAYERS:
        raise InputError(f"game {name}: numPlayers = {players}: expected 2 to {MAX_PLAYERS}")
    if betting == "nolimit" and "stack" not in fields:
        raise InputError(f"game {name}: no-limit games need a line 'stack'")
    if betting == "nolimit" and "raisesize" in fields:
        raise InputError(f"game {name}: raiseSize has no meaning in a no-limit game")
    return Game(
        name=name,
        limit=betting == "limit",
        players=players,
        stacks=fields.get("stack", (NO_STACK,) * players),
        blinds=fields["blind"],
        raise_size=fields.get("raisesize", ()),
        first_player=tuple(p - 1 for p in fields.get("firstplayer", (1,) * rounds)),
        max_raises=fields.get("maxraises", (NO_CAP,) * rounds),
        deck=Deck(letters, SUITS[-suits:]),
        hole_cards=fields["numholecards"],
        board_cards=fields["numboardcards"],
        showdown=fields.get("showdown", "five-card"),
    )


def format_game(game: Game) -> str:
    """The definition as text; ``parse_game(format_game(g), g.name) == g``."""

    def row(key: str, *values: object) -> str:
        return f"{key} = {' '.join(map(str, values))}"

    lines = ["GAMEDEF", "limit" if game.limit else "nolimit", row("numPlayers", game.players)]
    lines.append(row("numRounds", game.rounds))
    if not game.limit or game.stacks != (NO_STACK,) * game.players:
        lines.append(row("stack", *game.stacks))
    lines.append(row("blind", *game.blinds))
    if game.limit:
        lines.append(row("raiseSize", *game.raise_size))
    lines.append(row("firstPlayer", *(p + 1 for p in game.first_player)))
    if game.max_raises != (NO_CAP,) * game.rounds:
        lines.append(row("maxRaises", *game.max_raises))
    lines.append(row("numSuits", len(game.deck.suits)))
    lines.append(row("numRanks", len(game.deck.ranks)))
    if game.deck.ranks != RANKS[-len(game.deck.ranks) :]:
        lines.append(row("ranks", game.deck.ranks))
    lines.append(row("numHoleCards", game.hole_cards))
    lines.append(row("numBoardCards", *game.board_cards))
    if game.showdown != "five-card":
        lines.append(row("showdown", game.showdown))
    return "\n".join([*lines, "END GAMEDEF", ""])


def shipped_games() -> list[str]:
    """The names of the games that come with the package."""
    folder = resources.files("deepstack.game") / "games"
    return sorted(f.name.removesuffix(".game") for f in folder.iterdir() if f.name[-5:] == ".game")


@lru_cache(maxsize=64)
def load_game(name: str) -> Game:
    """A shipped game by name, or the game of a ``.game`` file.

    >>> load_game("leduc").deck.ranks
    'JQK'
    """
    if name.endswith(".game"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"game file {name}: cannot be read ({error})") from None
        return parse_game(text, Path(name).stem)
    key = name.lower().replace("-", "_").replace(" ", "_")
    if key not in shipped_games():
        raise InputError(
            f"game {name!r}: expected a .game file or one of {', '.join(shipped_games())}"
        )
    text = (resources.files("deepstack.game") / "games" / f"{key}.game").read_text("utf-8")
    return parse_game(text, key)
