"""Imaginary observations: what a strategy is worth, from hands that it or another one played.

M. Bowling, M. Johanson, N. Burch, D. Szafron, "Strategy evaluation in extensive games with
importance sampling" (2008); M. Johanson, thesis 2016, chapter 7. A hand z was played by a player
with the known strategy σ̂; a strategy σ of the same player is evaluated (*on-policy*: the same one).
From the one hand that was observed, others are imagined that the opponent could not have told from
it, each weighted by how likely σ plays it over how likely σ̂ lets it be imagined:

- ``basic``: the observed hand alone. On-policy, the chips that were won;
- ``early_folds``: wherever the player acted, it might have ended the hand: by a fold, or by a call
  after which no more bets are possible;
- ``all_cards``: the player might have held any other hand;
- ``combined``: both.

Each may take for the value of a hand, instead of the chips, an unbiased estimate with less luck in
it (``…_bet_call``): bet-call DIVAT, which subtracts for all cards by how much they changed the
equity, as if one bet and one call were made in every betting round to come. In games without limit
that is the equity of what is in the pot.

Unbiased where σ̂ takes every action that σ takes with every hand. The opponent's cards must be known
from the dealer's log, shown or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.agents.protocol import StrategyAgent
from deepstack.evaluate.aivat_records import (
    HandRecord,
    Step,
    Strategy,
    StrategyLog,
    action_code,
    public_part,
    records_of_log,
    stated_strategy,
)
from deepstack.evaluate.value_sources import Equity
from deepstack.evaluate.value_sources_margins import (
    Floats,
    apart,
    dot,
    index_of,
    live_hands,
    margins_of,
)
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, Action, State
from deepstack.run.errors import InputError


class Estimator(NamedTuple):
    """Which hands are imagined, and whether their value is that of bet-call DIVAT."""

    all_cards: bool
    early_folds: bool
    bet_call: bool


ESTIMATORS = {
    name + suffix: Estimator(cards, folds, bool(suffix))
    for suffix in ("", "_bet_call")
    for name, cards, folds in (
        ("basic", False, False),
        ("early_folds", False, True),
        ("all_cards", True, False),
        ("combined", True, True),
    )
}

Evaluated = Callable[[State], Strategy]
"""The strategy that is evaluated, at a public state."""


def imaginary_values(
    record: HandRecord,
    seat: int,
    estimators: Sequence[str] = tuple(ESTIMATORS),
    evaluated: Evaluated | None = None,
) -> Floats:
    """Estimates [estimators] of what a seat wins, in chips, from one hand of a two-player game.

    Args:
        record: the hand, with the strategy that the seat played.
        seat: whose strategy is evaluated.
        estimators: names of ``ESTIMATORS``.
        evaluated: the strategy that is evaluated; the one that was played unless given.
    """
    for name in estimators:
        if name not in ESTIMATORS:
            raise InputError(f"estimator {name!r}: expected one of {', '.join(ESTIMATORS)}")
    imagined = Imagined(record, seat)
    kinds = [ESTIMATORS[name] for name in estimators]
    values = np.zeros(len(kinds))
    for step in record.steps:
        if step.action is None:
            imagined.deal(step)
        elif step.state.actor == seat:
            values += imagined.act(step, evaluated, kinds)
    return values + imagined.end(kinds)


class Imagined:
    """The hands that a player could hold along an observed hand, against one hand.

    Attributes:
        played, wanted: [H] probability of acting as observed by the strategy that played and by
            the one that is evaluated.
        luck: [H] what bet-call DIVAT takes off for the cards so far.
    """

    def __init__(self, record: HandRecord, seat: int) -> None:
        final, game = record.final, record.final.game
        if game.players != 2:
            raise InputError(f"imaginary observations in {game.name}: expected a game of 2 players")
        other = final.hands[1 - seat]
        if not record.known[seat]:
            raise InputError(f"hand {final}: the strategy of seat {seat} is not known")
        if not final.hands[seat] or not other:
            raise InputError(
                f"hand {final}: expected the cards of both players, as the dealer's log has them"
            )
        self.final, self.seat, self.game = final, seat, game
        self.hand, self.other = index_of(game, final.hands[seat]), index_of(game, other)
        self.apart = apart(game, self.other)
        self.baseline = Equity(game, bets=True)
        self.board: tuple[int, ...] = ()
        self.played, self.wanted = np.ones(game.hands), np.ones(game.hands)
        self._margins: dict[int, Floats] = {}
        chips = game.big_blind + self.baseline.ahead[0]
        self.luck = -chips * self.margins()
        self.ended = False

    def margins(self) -> Floats:
        """Margins [H] against the opponent's hand on the present board."""
        size = len(self.board)
        if size not in self._margins:
            self._margins[size] = margins_of(self.game).against_hand(self.board, self.other)
        return self._margins[size]

    def possible(self) -> npt.NDArray[np.bool_]:
        """The hands [H] that the opponent's hand and the board leave."""
        return self.apart & live_hands(self.game, self.board)

    def deal(self, step: Step) -> None:
        """Board cards come."""
        before = self.margins()
        self.board += step.cards
        chips = min(step.state.spent) + self.baseline.ahead[step.state.round]
        if step.state.pending == 0:
            chips = float(min(step.state.spent))  # all-in: no more bets
        self.luck = self.luck + chips * (before - self.margins())

    def act(self, step: Step, evaluated: Evaluated | None, kinds: Sequence[Estimator]) -> Floats:
        """The player acts: what ending the hand here adds to the estimates [estimators]."""
        state, strategy, action = step.state, step.strategy, step.action
        assert strategy is not None
        assert action is not None
        wanted = strategy if evaluated is None else evaluated(public_part(state))
        added = np.zeros(len(kinds))
        if any(kind.early_folds for kind in kinds):
            for ending, chips in self._endings(state):
                chance = self.wanted * chances_of(wanted, ending, self.game)
                added += self._estimates(kinds, True, chance, chips)
                self.ended |= ending == action
        self.played = self.played * chances_of(strategy, action, self.game)
        self.wanted = self.wanted * chances_of(wanted, action, self.game)
        if self.played[self.hand] <= 0:
            raise InputError(
                f"state {state}: seat {self.seat} acted as its stated strategy never does; "
                "expected the probabilities that it used"
            )
        return added

    def _endings(self, state: State) -> list[tuple[Action, Floats]]:
        """The player's actions that end the betting, and what they win with every hand [H]."""
        endings = []
        if state.legal.fold:
            lost = np.full(self.game.hands, -float(state.spent[self.seat]))
            endings.append((Action(FOLD), lost))
        called = public_part(state).apply(Action(CALL))
        if called.is_over or (called.actor is None and called.pending == 0):
            endings.append((Action(CALL), min(called.spent) * self.margins()))
        return endings

    def end(self, kinds: Sequence[Estimator]) -> Floats:
        """What the observed end of the hand adds to the estimates [estimators]."""
        final = self.final
        if final.folded_out:
            chips = np.full(self.game.hands, final.payoffs()[self.seat])
        else:
            chips = min(final.spent) * self.margins()
        return self._estimates(kinds, False, self.wanted, chips)

    def _estimates(
        self, kinds: Sequence[Estimator], ending: bool, chance: Floats, chips: Floats
    ) -> Floats:
        """Weighted values [estimators] of hands that end here, for those that count them.

        An end that the player chose is counted where it was possible, not again where it happened.
        """
        possible, h = self.possible().astype(np.float64), self.hand
        result = np.zeros(len(kinds))
        for number, kind in enumerate(kinds):
            counted = kind.early_folds if ending else not (kind.early_folds and self.ended)
            if not counted:
                continue
            values = chips + self.luck if kind.bet_call else chips
            if kind.all_cards:
                result[number] = dot(possible * chance, values) / dot(possible, self.played)
            else:
                result[number] = chance[h] * values[h] / self.played[h]
        return result


def chances_of(strategy: Strategy, action: Action, game: Game) -> Floats:
    """The probability [H] of an action with every hand; zero of one that is not stated."""
    (found,) = np.nonzero(strategy.totals == action_code(action))
    if not len(found):
        return np.zeros(game.hands)
    return np.broadcast_to(strategy.probabilities()[:, found[0]], (game.hands,))


def imaginary_of_log(
    game: Game,
    lines: Iterable[str],
    name: str,
    played: StrategyAgent | StrategyLog,
    *,
    evaluated: StrategyAgent | None = None,
    estimators: Sequence[str] = tuple(ESTIMATORS),
) -> dict[str, Floats]:
    """Estimates from the log of a dealer, in chips: [hands] by estimator.

    Args:
        game: a two-player game.
        lines: ``STATE:`` lines with the cards of both players.
        name: the player whose strategy is known.
        played: what it said it would do, or the agent itself, which is asked again.
        evaluated: the strategy that is evaluated; the one that was played unless given.
        estimators: names of ``ESTIMATORS``.
    """
    asked = None if evaluated is None else lambda state: stated_strategy(evaluated, state)
    rows = [
        imaginary_values(record, names.index(name), estimators, asked)
        for record, names in records_of_log(game, lines, {name: played})
        if name in names
    ]
    columns = np.array(rows).reshape(-1, len(estimators)).T
    return dict(zip(estimators, columns, strict=True))
