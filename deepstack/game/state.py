"""States of a game: who may do what, what it costs, and what the hand pays.

States are immutable. ``apply`` answers an action with the next state, ``deal`` answers cards that
chance owes with the next state. Cards may be unknown (an empty hand), so the same states serve a
dealer who sees everything, a player who sees one hand, and a solver that sees none.

The rules are those of the competition's dealer (ACPC): a raise names the total that the player
will have put in over the whole hand; the minimum raise is the largest bet or raise of the round
(at the start of a round, the big blind); an all-in below the minimum is allowed; nobody may raise
when no opponent could still respond; folding is legal only when there is something to call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from deepstack.game.definition import Game
from deepstack.game.showdown import showdown_strengths
from deepstack.run.errors import InputError

FOLD, CALL, RAISE = "f", "c", "r"


class Action(NamedTuple):
    """Fold ``f``, check or call ``c``, or bet or raise ``r`` to a total of ``to`` chips.

    ``to`` counts everything the player has put in since the hand began, as in the competition's
    no-limit protocol; it is 0 for folds and calls.
    """

    kind: str
    to: int = 0

    def __str__(self) -> str:
        return f"r{self.to}" if self.kind == RAISE else self.kind


class Legal(NamedTuple):
    """What the player to act may do: call always; raise to any total in [low, high], or None."""

    fold: bool
    raise_to: tuple[int, int] | None

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, Action):
            return False
        if action.kind == RAISE:
            return self.raise_to is not None and self.raise_to[0] <= action.to <= self.raise_to[1]
        return action.to == 0 and (action.kind == CALL or (action.kind == FOLD and self.fold))


@dataclass(frozen=True, slots=True)
class State:
    """A point of a hand, between actions.

    Attributes:
        game: the rules.
        hands: private cards by seat, ``()`` where unknown.
        board: public cards dealt so far.
        betting: actions by round, up to the current one.
        spent: chips put in by seat, over the whole hand.
        folded: which seats have folded.
        min_raise_to: smallest legal total of a raise in a no-limit game.
        pending: how many players must still act before the round closes.
        actor: the seat to act, or None when cards are owed or the hand is over.
    """

    game: Game
    hands: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    betting: tuple[tuple[Action, ...], ...]
    spent: tuple[int, ...]
    folded: tuple[bool, ...]
    min_raise_to: int
    pending: int
    actor: int | None

    @property
    def round(self) -> int:
        """The betting round, from 0; after an all-in call, the last one."""
        return len(self.betting) - 1

    @property
    def pot(self) -> int:
        return sum(self.spent)

    @property
    def to_call(self) -> int:
        """What a call costs the player to act; 0 when nobody is to act."""
        if self.actor is None:
            return 0
        return min(max(self.spent), self.game.stacks[self.actor]) - self.spent[self.actor]

    @property
    def folded_out(self) -> bool:
        """All but one player have folded."""
        return sum(self.folded) == self.game.players - 1

    @property
    def cards_owed(self) -> int:
        """How many board cards chance must deal before anything else happens."""
        if self.folded_out:
            return 0
        return self.game.board_size(self.round) - len(self.board)

    @property
    def is_over(self) -> bool:
        return self.actor is None and self.cards_owed == 0

    @property
    def legal(self) -> Legal:
        """The actions of the player to act."""
        seat = self.actor
        if seat is None:
            raise InputError(f"state {self}: nobody is to act")
        return Legal(self.to_call > 0, self._raise_bounds(seat))

    def _raise_bounds(self, seat: int) -> tuple[int, int] | None:
        game, most = self.game, max(self.spent)
        raises = sum(action.kind == RAISE for action in self.betting[-1])
        stack = game.stacks[seat]
        if raises >= game.max_raises[self.round] or most >= stack:
            return None
        if sum(_can_act(self)) <= 1:
            return None
        if game.limit:
            total = min(most + game.raise_size[self.round], stack)
            return total, total
        return min(self.min_raise_to, stack), stack

    def apply(self, action: Action) -> State:
        """The state after the player to act has acted."""
        if action not in self.legal:
            raise InputError(f"action {action} is not legal after {self}: {_menu(self)}")
        return self._after(action)

    def _after(self, action: Action) -> State:
        """The state after an action that is known to be legal."""
        seat = self.actor
        assert seat is not None
        spent, folded = list(self.spent), self.folded
        min_raise_to = self.min_raise_to
        if action.kind == FOLD:
            folded = (*folded[:seat], True, *folded[seat + 1 :])
        elif action.kind == CALL:
            spent[seat] += self.to_call
        else:
            min_raise_to = max(min_raise_to, 2 * action.to - max(spent))
            spent[seat] = action.to
        after = replace(
            self,
            betting=(*self.betting[:-1], (*self.betting[-1], action)),
            spent=tuple(spent),
            folded=folded,
            min_raise_to=min_raise_to,
            pending=self.pending - 1,
            actor=None,
        )
        acting = _can_act(after)
        if action.kind == RAISE:
            after = replace(after, pending=sum(acting) - acting[seat])
        if after.folded_out:
            return after
        if after.pending > 0:
            return replace(after, actor=_next_actor(acting, seat + 1))
        return _close_round(after, sum(acting))

    def deal(self, cards: tuple[int, ...]) -> State:
        """The state after chance has dealt the board cards it owes."""
        cards = tuple(int(card) for card in cards)
        owed = self.cards_owed
        if len(cards) != owed or owed == 0:
            text = self.game.deck.format(cards)
            raise InputError(f"{len(cards)} board cards {text!r} after {self}: {owed} are owed")
        self.game.deck.disjoint(self.board, cards, *self.hands)
        return _open_round(replace(self, board=self.board + cards))

    def with_hands(self, hands: tuple[tuple[int, ...], ...]) -> State:
        """The same state with other knowledge of the private cards."""
        if len(hands) != self.game.players:
            raise InputError(f"{len(hands)} hands: expected {self.game.players}")
        for hand in hands:
            if len(hand) not in (0, self.game.hole_cards):
                text = self.game.deck.format(hand)
                raise InputError(f"hand {text!r}: expected {self.game.hole_cards} cards or none")
        self.game.deck.disjoint(self.board, *hands)
        return replace(self, hands=hands)

    def seen_by(self, seat: int) -> State:
        """What a player sees: their own cards and the board."""
        return replace(self, hands=tuple(h if p == seat else () for p, h in enumerate(self.hands)))

    def payoffs(self) -> tuple[float, ...]:
        """Chips won or lost by each seat; they sum to zero.

        A pot that does not divide is split exactly, into fractions of a chip.
        """
        if not self.is_over:
            raise InputError(f"state {self}: the hand is not over")
        if self.folded_out:
            strengths = [0 if folded else 1 for folded in self.folded]
        else:
            if any(not hand for hand, out in zip(self.hands, self.folded, strict=True) if not out):
                raise InputError(f"state {self}: a hand that reached the showdown is unknown")
            strengths = showdown_strengths(self.game, self.hands, self.board, self.folded)
        return share_pot(self.spent, self.folded, strengths)

    def __str__(self) -> str:
        from deepstack.game.text import format_betting

        return f"{self.game.name} {format_betting(self)!r}"


def _can_act(state: State) -> list[bool]:
    """Which players have not folded and have chips behind."""
    stacks = state.game.stacks
    return [
        not out and spent < stack
        for out, spent, stack in zip(state.folded, state.spent, stacks, strict=True)
    ]


def _next_actor(acting: list[bool], start: int) -> int:
    players = len(acting)
    return next(p % players for p in range(start, start + players) if acting[p % players])


def _close_round(state: State, acting: int) -> State:
    """Go on to the next round, or straight to the last one when no more betting is possible."""
    last = state.game.rounds - 1
    steps = min(1, last - state.round) if acting > 1 else last - state.round
    if steps == 0:
        return state
    state = replace(
        state,
        betting=state.betting + ((),) * steps,
        min_raise_to=max(state.spent) + state.game.min_bet,
        pending=acting if acting > 1 else 0,
    )
    return state if state.cards_owed else _open_round(state)


def _open_round(state: State) -> State:
    """Name the first player of a round whose cards lie on the table."""
    if state.pending == 0:
        return state
    first = state.game.first_player[state.round]
    return replace(state, actor=_next_actor(_can_act(state), first))


def initial_state(game: Game, hands: tuple[tuple[int, ...], ...] | None = None) -> State:
    """The start of a hand: blinds are in, nobody has acted, no board card is dealt."""
    state = State(
        game=game,
        hands=((),) * game.players,
        board=(),
        betting=((),),
        spent=game.blinds,
        folded=(False,) * game.players,
        min_raise_to=game.big_blind + game.min_bet,
        pending=0,
        actor=None,
    )
    if hands is not None:
        state = state.with_hands(hands)
    acting = _can_act(state)
    owes = any(
        can and spent < game.big_blind for can, spent in zip(acting, game.blinds, strict=True)
    )
    if sum(acting) > 1 or owes:
        state = replace(state, pending=sum(acting))
    elif game.rounds > 1:
        return _close_round(state, sum(acting))
    return state if state.cards_owed else _open_round(state)


def share_pot(
    spent: tuple[int, ...], folded: tuple[bool, ...], strengths: list[int]
) -> tuple[float, ...]:
    """Chips won or lost by each seat, side pots included; they sum to zero.

    Every layer of the pot goes to the strongest players still in who paid for it; a layer that
    only folded players paid for goes to the strongest of all who are in.

    >>> share_pot((50, 100, 100), (False, False, False), [9, 5, 5])
    (100.0, -50.0, -50.0)
    >>> share_pot((10, 25, 25), (True, False, False), [0, 7, 7])
    (-10.0, 5.0, 5.0)
    """
    seats = range(len(spent))
    won = [-float(chips) for chips in spent]
    below = 0
    for level in sorted(set(spent)):
        paid = [p for p in seats if spent[p] >= level]
        entitled = [p for p in paid if not folded[p]] or [p for p in seats if not folded[p]]
        best = max(strengths[p] for p in entitled)
        winners = [p for p in entitled if strengths[p] == best]
        for p in winners:
            won[p] += (level - below) * len(paid) / len(winners)
        below = level
    return tuple(won)


def _menu(state: State) -> str:
    """What the player to act may do, as text for an error."""
    fold, raise_to = state.legal
    words = ["f"] * fold + ["c"]
    if raise_to is not None:
        low, high = raise_to
        words.append(f"r{low}" if low == high else f"r{low} to r{high}")
    return "expected " + ", ".join(words)
