"""Continual re-solving: before each decision, solve again from where we are (Burch 2017, ch. 6).

Carried from decision to decision are our own range and, for every hand of the opponent, the value
that our last solution left it. Nothing else is remembered, in particular no strategy:

- *our action*: our range is multiplied by its probability, hand by hand; the opponent's values are
  those after the action;
- *the opponent's action*: nothing changes, so an unforeseen bet is simply part of the next root;
- *a card*: the opponent's values are those of the last solution for that card.

A decision is one gadget solve below the present state (``deepstack.resolve.lookahead``). Values are
in the unit of our range as it is carried, so no factor has to be kept: multiplying the range by any
number multiplies the values. An estimate of the opponent's range is carried too; it feeds the
mixture gadget and the warm start, never the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.definition import Game
from deepstack.game.state import Action, State, initial_state
from deepstack.resolve.gadgets import Cfrd, MaxMargin, Mixture, warm_start
from deepstack.resolve.lookahead import VALUES, Lookahead, Solve
from deepstack.run.errors import InputError
from deepstack.solver.leaves import RootGadget
from deepstack.tree.betting import DECISION

Floats = npt.NDArray[np.float64]

GADGETS: dict[str, Callable[[int, Floats, Floats], Cfrd | MaxMargin]] = {
    "cfrd": Cfrd,
    "max_margin": MaxMargin,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How decisions are solved.

    Attributes:
        rounds: by betting round; the last one serves all later rounds.
        gadget: ``cfrd`` or ``max_margin``.
        values: the opponent's values that are carried: ``best``, ``average`` or ``mean``
            (``deepstack.resolve.lookahead``).
        gift: when the opponent ended a round by calling, add what the call gave up to its values.
        mix: probability with which the estimated range is forced on the opponent (coin flip).
        warm: weight of the estimated range in the gadget's first iteration, where we act for the
            first time in a round; 0: no warm start.
        snapshots: ranges kept at every leaf for the values of the next cards.
        dtype: of the tables.
    """

    rounds: tuple[Solve, ...]
    gadget: str = "cfrd"
    values: str = "best"
    gift: bool = False
    mix: float = 0.0
    warm: float = 0.0
    snapshots: int = 32
    dtype: npt.DTypeLike = np.float64

    def __post_init__(self) -> None:
        for name, value, known in (
            ("gadget", self.gadget, GADGETS),
            ("values", self.values, VALUES),
        ):
            if value not in known:
                raise InputError(f"{name} {value!r}: expected one of {', '.join(known)}")
        if not self.rounds:
            raise InputError("rounds: expected how at least one betting round is solved")
        for name, number in (("mix", self.mix), ("warm", self.warm)):
            if not 0 <= number <= 1:
                raise InputError(f"{name} {number}: expected 0 to 1")
        if self.snapshots < 1:
            raise InputError(f"snapshots {self.snapshots}: expected at least 1")

    def of(self, state: State) -> Solve:
        """How a decision in a state is solved."""
        return self.rounds[min(state.round, len(self.rounds) - 1)]


@dataclass(frozen=True, slots=True)
class Carried:
    """What is known after our last action, or at the start of a hand.

    Attributes:
        seat: ours.
        since: the state after our last action, or the start.
        reach: [hands] our range there.
        estimate: [hands] the opponent's estimated range there.
        solution: the solve our last action came from; None before the first.
        slot: the root's slot that was our action.
    """

    seat: int
    since: State
    reach: Floats
    estimate: Floats
    solution: Lookahead | None = None
    slot: int = -1


@dataclass(frozen=True, slots=True)
class Decision:
    """A solved decision: probabilities [hands, A] of every action with every hand."""

    state: State
    actions: tuple[Action, ...]
    probabilities: Floats
    carried: Carried
    solution: Lookahead

    def after(self, action: Action) -> Carried:
        """What is carried on when we have taken an action."""
        if action not in self.actions:
            raise InputError(f"action {action} at {self.state}: it was not in the lookahead")
        slot = self.actions.index(action)
        return Carried(
            self.carried.seat,
            self.state.apply(action),
            self.carried.reach * self.probabilities[:, slot],
            self.carried.estimate,
            self.solution,
            slot,
        )


class Resolver:
    """Continual re-solving for one seat. A pure function of the public history."""

    def __init__(self, game: Game, seat: int, settings: Settings) -> None:
        if game.players != 2 or seat not in (0, 1):
            raise InputError(f"seat {seat} of {game.name}: expected seat 0 or 1 of two players")
        self.game, self.seat, self.settings = game, seat, settings
        self._first: Lookahead | None = None

    def start(self) -> Carried:
        """The beginning of a hand: every hand alike."""
        everything = np.ones(self.game.hands)
        return Carried(self.seat, initial_state(self.game), everything, everything)

    def decide(self, carried: Carried, state: State) -> Decision:
        """Solve our decision at a state that is reached from what is carried."""
        state = state.with_hands(((), ()))
        self._check(carried, state)
        dead = blocked(state.board, len(self.game.deck), self.game.hole_cards)
        reach = np.where(dead, 0.0, carried.reach)
        estimate = np.where(dead, 0.0, self._estimate(carried, state))
        if carried.solution is None and state == carried.since:
            lookahead = self._root()
        else:
            lookahead = self._solve(carried, state, reach, estimate)
        known = replace(carried, reach=reach, estimate=estimate)
        return Decision(state, lookahead.actions, lookahead.strategy(), known, lookahead)

    def history(self, state: State) -> list[tuple[State, Action]]:
        """Our decisions before a state and what we did, by the public history alone."""
        state = state.with_hands(((), ()))
        self._check(self.start(), state)
        return [(at, action) for at, action in _history(state) if at.actor == self.seat]

    def decisions(self, state: State) -> list[Decision]:
        """Our decisions on the way to a state and at it."""
        carried, found = self.start(), []
        for before, action in self.history(state):
            found.append(self.decide(carried, before))
            carried = found[-1].after(action)
        return [*found, self.decide(carried, state)]

    def _check(self, carried: Carried, state: State) -> None:
        """Refuse a state that is not ours to act in, or that did not come from what is carried."""
        if state.is_over:
            raise InputError(f"state {state}: the hand is over")
        if state.actor != self.seat:
            raise InputError(f"state {state}: seat {self.seat + 1} is not to act")
        before, after = carried.since, state
        played = [action for actions in before.betting for action in actions]
        since = [action for actions in after.betting for action in actions]
        if since[: len(played)] != played or after.board[: len(before.board)] != before.board:
            raise InputError(f"state {state} does not follow {before}, from which we come")

    def _root(self) -> Lookahead:
        """The first decision of a game, solved once."""
        if self._first is None:
            ranges = np.ones((2, self.game.hands))
            self._first = self._lookahead(initial_state(self.game), ranges)
            self._first.run()
        return self._first

    def _lookahead(self, state: State, ranges: Floats) -> Lookahead:
        settings = self.settings
        return Lookahead(
            state,
            self.seat,
            ranges,
            settings.of(state),
            values=settings.values,
            snapshots=settings.snapshots,
            dtype=settings.dtype,
        )

    def _solve(self, carried: Carried, state: State, reach: Floats, estimate: Floats) -> Lookahead:
        settings, constraints = self.settings, self._constraints(carried, state)
        ranges = np.ones((2, self.game.hands))
        if reach.any():  # else we are where we never go, and any range will do
            ranges[self.seat] = reach
        lookahead = self._lookahead(state, ranges)
        hands = lookahead.hands
        chosen = GADGETS[settings.gadget](1 - self.seat, constraints[hands], np.ones(len(hands)))
        likely = estimate[hands] / max(float(estimate[hands].max()), 1e-30)
        if settings.warm > 0 and len(state.betting[-1]) < 2:  # our first action of the round
            weight = float(ranges[self.seat].sum()) * state.pot
            warm_start(chosen, settings.warm * likely + (1 - settings.warm) * 0.5, weight)
        gadget: RootGadget = chosen
        if settings.mix > 0:
            gadget = Mixture(settings.mix, likely, chosen)
        lookahead.run(gadget)
        return lookahead

    def _estimate(self, carried: Carried, state: State) -> Floats:
        """The opponent's range [hands] by our last solution, its last action included."""
        solution = carried.solution
        if solution is None and state == carried.since:
            return carried.estimate
        nodes = (solution or self._root()).engine.betting_tree.stages[0].nodes
        number = 0
        if solution is not None:
            taken = nodes[0].slots[carried.slot]
            number = taken.target if taken.kind == DECISION else -1
        round_ = carried.since.round
        done = len(carried.since.betting[round_])
        answer = state.betting[round_][done : done + 1]
        if number < 0 or not answer:
            return carried.estimate
        actions = [slot.action for slot in nodes[number].slots]
        if answer[0] not in actions:  # an unforeseen bet says nothing that we could know
            return carried.estimate
        chances = (solution or self._root()).strategy(number)[:, actions.index(answer[0])]
        follows = carried.estimate * chances
        return follows if follows.any() else carried.estimate

    def _constraints(self, carried: Carried, state: State) -> Floats:
        """What the opponent's hands [hands] were left with, for the board of a state."""
        if carried.solution is None:
            # the opponent opens the hand: its values before it acts
            root = self._root()
            if state.board != root.state.board:
                raise InputError(f"state {state}: a round has passed without a decision of ours")
            return root.root_values()
        solution, slot = carried.solution, carried.slot
        if state.board == solution.state.board:
            return solution.values_after(slot)
        values = solution.card_values(slot, state)
        if values is None or state.round > solution.state.round + 1:
            raise InputError(f"state {state}: a round has passed without a decision of ours")
        return values + solution.gift(slot) if self.settings.gift else values


def _history(state: State) -> Iterator[tuple[State, Action]]:
    """The public states in which somebody acted on the way to a state, and the actions."""
    at = initial_state(state.game).with_hands(((), ()))
    for actions in state.betting:
        if at.cards_owed:
            at = at.deal(state.board[len(at.board) : len(at.board) + at.cards_owed])
        for action in actions:
            yield at, action
            at = at.apply(action)
