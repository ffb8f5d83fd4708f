"""Spots: a board, a pot, a stack behind and two ranges, as players and solvers state a problem.

A spot becomes a state of heads-up no-limit hold'em: both players have put in half of the pot, and
out of position, seat 0, is to act. Chips of a game are whole numbers. A pot that is odd, or amounts
with decimals, are therefore counted in smaller units (``chip`` of them make one chip of the spot),
and whoever reports amounts divides by ``chip`` again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import STANDARD, blocked
from deepstack.cards.ranges import parse_range
from deepstack.game.definition import NO_STACK, load_game
from deepstack.game.state import CALL, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError

Amount = int | float | str | Decimal
RangeLike = str | npt.ArrayLike
"""A range as text, or as weights of the hands [H]."""

POSITIONS = ("oop", "ip")
DECIMALS = 2  # at least, where an amount is not whole: percentages of small pots need room
MOST_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Spot:
    """A situation after the flop.

    Attributes:
        board: three to five cards, as text or numbers.
        pot: chips in the middle.
        stack: chips that each player has left.
        oop: the range of the player who acts first, as text or weights [1326].
        ip: the range of the other.

    >>> Spot("Td9d6hQc2s", pot=200, stack=900).state().pot
    200
    >>> Spot("Td9d6h", pot=5.5, stack=97.25).chip
    100
    """

    board: str | Sequence[int]
    pot: Amount
    stack: Amount
    oop: RangeLike = "random"
    ip: RangeLike = "random"

    def __post_init__(self) -> None:
        self.cards  # noqa: B018 - wrong cards and amounts are refused here
        largest = (self._pot / 2 + self._stack) * self.chip
        if largest > NO_STACK:
            raise InputError(
                f"pot={self.pot} stack={self.stack}: expected at most {NO_STACK} chips in all, "
                f"counted in units of 1/{self.chip}"
            )

    @property
    def cards(self) -> tuple[int, ...]:
        """The board as numbers."""
        if isinstance(self.board, str):
            cards = STANDARD.parse(self.board)
        else:
            cards = tuple(int(card) for card in self.board)
            if any(not 0 <= card < len(STANDARD) for card in cards):
                raise InputError(f"board {cards}: expected cards from 0 to {len(STANDARD) - 1}")
            STANDARD.disjoint(*[(card,) for card in cards])
        if len(cards) not in (3, 4, 5):
            raise InputError(
                f"board {STANDARD.format(cards)!r} of {len(cards)} cards: expected 3, 4 or 5"
            )
        return cards

    @property
    def _pot(self) -> Decimal:
        return _amount("pot", self.pot)

    @property
    def _stack(self) -> Decimal:
        return _amount("stack", self.stack)

    @property
    def chip(self) -> int:
        """Units of the state that make one chip of the spot."""
        amounts = (self._pot, self._stack)
        decimals = max(max(-int(amount.as_tuple().exponent), 0) for amount in amounts)
        unit = 10 ** max(decimals, DECIMALS) if decimals else 1
        return unit if self._pot * unit % 2 == 0 else 2 * unit

    def state(self) -> State:
        """The state to solve, in units of 1/``chip``."""
        half, stack = int(self._pot * self.chip / 2), int(self._stack * self.chip)
        game = replace(load_game("hunl"), stacks=(half + stack,) * 2, blinds=(1, 1))
        state = initial_state(game)
        # Blinds of one unit, so that the smallest bet is one; then raised to half the pot.
        opening = [Action(RAISE, half), Action(CALL)] if half > 1 else [Action(CALL)] * 2
        for action in opening:
            state = state.apply(action)
        state = state.deal(self.cards[:3])
        for card in self.cards[3:]:
            state = state.apply(Action(CALL)).apply(Action(CALL)).deal((card,))
        return state

    def ranges(self) -> npt.NDArray[np.float64]:
        """Weights of every hand, out of position first: [2, 1326], zero beside the board."""
        given = zip(POSITIONS, (self.oop, self.ip), strict=True)
        return np.stack([self._range(name, value) for name, value in given])

    def _range(self, name: str, given: RangeLike) -> npt.NDArray[np.float64]:
        if isinstance(given, str):
            return parse_range(given, self.cards).astype(np.float64)
        weights = np.array(given, dtype=np.float64)
        if weights.shape != (1326,):
            raise InputError(f"range {name} of shape {weights.shape}: expected (1326,)")
        weights[blocked(self.cards)] = 0.0
        return weights


def _amount(name: str, value: Amount) -> Decimal:
    """A positive number of chips, exactly as written."""
    try:
        amount = Decimal(str(value)).normalize()
    except InvalidOperation:
        amount = Decimal("nan")
    if isinstance(value, bool) or not amount.is_finite() or amount <= 0:
        raise InputError(f"{name}={value}: expected a positive number of chips")
    if amount != round(amount, MOST_DECIMALS):
        raise InputError(f"{name}={value}: expected at most {MOST_DECIMALS} decimals")
    return amount
