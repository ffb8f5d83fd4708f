"""What value networks see: situations, and tables that are pure functions of the board.

A situation is a public state at the start or the end of a betting round: a board, the pot as a
share of both stacks, and two ranges that sum to 1 each, over the board's live hands in ascending
order of hand index. What depends on the board alone (live hands, their order of strength, ties,
buckets) is kept in *tables*: made once for a list of boards on the CPU, moved to the network's
device, and shared by every situation on these boards, so that a lookahead that asks thousands of
times about the same boards pays only for gathers and products.

Four definitions of inputs, each with a version that checkpoints carry:

- ``hands``: both ranges over all hands of a small game, and which card lies on the board;
- ``buckets``: both ranges summed into buckets of hands (the published form);
- ``order``: hands in order of strength, with what exact sums over that order need; before the last
  card by expected strength (``values.strengths``);
- ``next``: before the last card, the order of hands after each next card (``values.next_tables``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game, load_game
from deepstack.run.errors import InputError
from deepstack.values.next_tables import next_parts
from deepstack.values.order_kernels import fill_order
from deepstack.values.strengths import full_strengths, strength_keys

Ints = npt.NDArray[np.int64]


class Stage(NamedTuple):
    """A kind of situation that one network is for.

    ``cards`` are the board's; at the end of a round the next cards are still to come.
    """

    game: str
    cards: int


STAGES = {
    "river_start": Stage("hunl", 5),
    "turn_end": Stage("hunl", 4),
    "turn_start": Stage("hunl", 4),
    "flop_end": Stage("hunl", 3),
    "flop_start": Stage("hunl", 3),
    "preflop_end": Stage("hunl", 0),
    "leduc_start": Stage("nolimit_leduc", 1),
}


def stage_of(name: str) -> Stage:
    """The stage of a name, or the error that lists them."""
    if name not in STAGES:
        raise InputError(f"stage {name!r}: expected one of {', '.join(STAGES)}")
    return STAGES[name]


class Tables(NamedTuple):
    """Tables of B boards, on one device.

    Attributes:
        boards: int64 [B, C] public cards.
        hands: int64 [B, H] live hands, as ascending hand indices.
        parts: what the definition of the inputs adds, by name, each [B, …].
    """

    boards: Tensor
    hands: Tensor
    parts: dict[str, Tensor]

    def to(self, device: torch.device | str) -> Tables:
        parts = {name: part.to(device) for name, part in self.parts.items()}
        return Tables(self.boards.to(device), self.hands.to(device), parts)


class Situations(NamedTuple):
    """N situations on the boards of some tables.

    Attributes:
        ranges: float32 [N, 2, H] over live hands, each summing to 1.
        pot_fraction: float32 [N] the pot as a share of both stacks, 0 to 1.
        place: int64 [N] the row of each situation's board in the tables.
        tables: the tables of the boards.
    """

    ranges: Tensor
    pot_fraction: Tensor
    place: Tensor
    tables: Tables

    def part(self, name: str) -> Tensor:
        """A part of the tables for every situation [N, …]."""
        return self.tables.parts[name][self.place]


Parts = dict[str, npt.NDArray[np.generic]]


class Inputs(NamedTuple):
    """A definition of inputs for the boards of one stage.

    Attributes:
        name: ``hands``, ``buckets``, ``order`` or ``next``.
        version: changes when the same board would give other tables.
        game: the game of the stage.
        cards: cards on its boards.
        make: boards [B, C] and their live hands [B, H] to the parts of the tables.
    """

    name: str
    version: int
    game: Game
    cards: int
    make: Callable[[Game, Ints, Ints], Parts]

    def tables(self, boards: npt.ArrayLike, device: torch.device | str = "cpu") -> Tables:
        """The tables of boards [B, C] on a device; a pure function of the boards."""
        given = check_boards(self.game, self.cards, boards)
        hands = live_hands(self.game, given)
        parts = {k: torch.from_numpy(v) for k, v in self.make(self.game, given, hands).items()}
        return Tables(torch.from_numpy(given), torch.from_numpy(hands), parts).to(device)


def make_inputs(name: str, stage: str) -> Inputs:
    """The inputs of a name for a stage."""
    if name not in DEFINITIONS:
        raise InputError(f"inputs {name!r}: expected one of {', '.join(DEFINITIONS)}")
    version, make = DEFINITIONS[name]
    where = stage_of(stage)
    return Inputs(name, version, load_game(where.game), where.cards, make)


def check_boards(game: Game, cards: int, boards: npt.ArrayLike) -> Ints:
    """Boards as int64 [B, C], or the error that says what is wrong with them."""
    array = np.asarray(boards)
    if array.ndim != 2 or array.shape[1] != cards or array.dtype.kind not in "iu":
        shape = "x".join(map(str, array.shape))
        raise InputError(f"boards {array.dtype} {shape}: expected integers [B, {cards}]")
    array = array.astype(np.int64)
    if array.size and not (array.min() >= 0 and array.max() < len(game.deck)):
        raise InputError(f"boards: expected cards from 0 to {len(game.deck) - 1}")
    ordered = np.sort(array, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InputError("boards: a card lies on a board twice")
    return array


def live_hands(game: Game, boards: Ints) -> Ints:
    """Hands that share no card with the board [B, C], ascending: int64 [B, H]."""
    held = _hands_of_card(game)
    live = np.ones((len(boards), game.hands), bool)
    for cards in boards.T:
        live &= ~held[cards]
    count = int(live[0].sum()) if len(boards) else 0
    return np.nonzero(live)[1].reshape(len(boards), count)


@lru_cache(maxsize=8)
def _hands_of_card(game: Game) -> npt.NDArray[np.bool_]:
    """Which hands hold a card: bool [cards, hands]."""
    cards = hand_cards(len(game.deck), game.hole_cards)
    return np.stack([(cards == card).any(axis=1) for card in range(len(game.deck))])


# ---- definitions


MOST_HANDS = 128
"""Games with more hands have too many pairs of them for inputs by hand."""


def hand_parts(game: Game, boards: Ints, hands: Ints) -> Parts:
    """Boards and hands with suits relabelled so that the first board card has the first suit.

    - ``slot`` int64 [B, H]: the hand that every live hand becomes;
    - ``held`` float32 [B, hands]: 1 for the hands that live ones become;
    - ``cards`` float32 [B, cards of the deck]: 1 for the cards that lie on the relabelled board;
    - ``apart`` float32 [B, hands, hands]: 1 for two hands that become live ones and share no card;
    - ``beats`` float32 [B, hands, hands]: for these, 1 if the row's hand beats the column's at a
      showdown, -1 if it loses; zeros on boards that are not complete.
    """
    if game.hands > MOST_HANDS:
        raise InputError(
            f"game {game.name}: {game.hands} hands, expected at most {MOST_HANDS} for this input"
        )
    suits, count = len(game.deck.suits), len(boards)
    suit = boards[:, :1] % suits if boards.shape[1] else np.zeros((count, 1), np.int64)

    def relabel(cards: Ints) -> Ints:
        """The suit of the first board card and the first suit change places."""
        old = cards % suits
        new = np.where(old == suit, 0, np.where(old == 0, suit, old))
        return cards - old + new

    held = hand_cards(len(game.deck), game.hole_cards)[hands].astype(np.int64)
    moved = np.sort(relabel(held.reshape(count, -1)).reshape(held.shape), axis=2)
    hi = moved[..., -1]
    slot = hi if game.hole_cards == 1 else hi * (hi - 1) // 2 + moved[..., 0]
    parts = {
        "held": np.zeros((count, game.hands), np.float32),
        "cards": np.zeros((count, len(game.deck)), np.float32),
    }
    np.put_along_axis(parts["held"], slot, 1, axis=1)
    np.put_along_axis(parts["cards"], relabel(boards), 1, axis=1)
    apart = np.zeros((count, game.hands, game.hands), np.float32)
    beats = np.zeros_like(apart)
    rows = np.arange(count)[:, None, None]
    pairs = rows, slot[:, :, None], slot[:, None, :]
    free = ~(held[:, :, None, :, None] == held[:, None, :, None, :]).any(axis=(3, 4))
    apart[pairs] = free
    if boards.shape[1] == game.board_size(game.rounds - 1):
        strengths = full_strengths(game, boards, hands)
        beats[pairs] = np.sign(strengths[:, :, None] - strengths[:, None, :]) * free
    return {"slot": slot, **parts, "apart": apart, "beats": beats}


def bucket_parts(game: Game, boards: Ints, hands: Ints) -> Parts:
    """``percentile`` float32 [B, H]: the share of other live hands that a hand beats, ties half.

    Blockers are ignored. Buckets are equal shares of it.
    """
    ordered = order_parts(game, boards, hands)
    middle = (ordered["first"].astype(np.float32) + ordered["last"].astype(np.float32)) / 2
    return {"percentile": (middle / np.float32(hands.shape[1])).astype(np.float32)}


def order_parts(game: Game, boards: Ints, hands: Ints) -> Parts:
    """Hands in order of strength, and the hands of every card in that order.

    With D cards that are not on the board:

    - ``order`` int64 [B, H]: hands (places among the live ones) from the weakest to the strongest;
    - ``first``, ``last`` int64 [B, H]: for every hand, where its tie group begins and ends in that
      order, as places in a running sum that begins with 0;
    - ``card_hands`` int64 [B, D * (D - 1)]: for every card its hands from the weakest to the
      strongest;
    - ``card_first``, ``card_last`` int64 [B, H * 2]: for every hand, where its tie group begins and
      ends among the hands of each of its two cards, as places in running sums [D, D] that begin
      with 0.
    """
    if game.hole_cards != 2:
        raise InputError(f"game {game.name}: expected hands of two cards for inputs by order")
    boards_count, count = hands.shape
    deck = len(game.deck)
    live = deck - boards.shape[1]
    lies = np.zeros((boards_count, deck), bool)
    np.put_along_axis(lies, boards, True, axis=1)
    numbers = np.cumsum(~lies, axis=1) - 1
    held = hand_cards(deck, 2)[hands].astype(np.int64)
    cards = np.take_along_axis(numbers[:, None], held.reshape(boards_count, 1, -1), axis=2)
    shapes = {
        "order": (count,),
        "first": (count,),
        "last": (count,),
        "card_hands": (live, live - 1),
        "card_first": (count, 2),
        "card_last": (count, 2),
    }
    parts = {name: np.empty((boards_count, *shape), np.int64) for name, shape in shapes.items()}
    keys = strength_keys(game, boards, hands)
    fill_order(keys, cards.reshape(held.shape), *parts.values())
    return {name: part.reshape(boards_count, -1) for name, part in parts.items()}


DEFINITIONS: dict[str, tuple[int, Callable[[Game, Ints, Ints], Parts]]] = {
    "hands": (1, hand_parts),
    "buckets": (1, bucket_parts),
    "order": (1, order_parts),
    "next": (1, next_parts),
}
