"""Continual re-solving: before each decision, solve again from where we are (Burch 2017, ch. 6).

Carried from decision to decision are our own range and, for every hand of the opponent, the value
that our last solution left it. Nothing else is remembered, in particular no strategy:

- *our action*: our range is multiplied by its probability, hand by hand; the opponent's values are
  those after the action;
- *the opponent's action*: nothing changes, so an unforeseen bet is simply part of the next root;
- *a card*: the opponent's values are those of the last solution for that card.

A decision is one gadget solve below the present state. Values are in the unit of our range as it is
carried, so no factor has to be kept: multiplying the range by any number multiplies the values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.definition import Game
from deepstack.game.state import Action, State, initial_state
from deepstack.resolve.gadgets import Cfrd, MaxMargin
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE, BEST
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import RootGadget
from deepstack.solver.rules import UpdateRule
from deepstack.tree.betting import DECISION, NEXT, Raises

Floats = npt.NDArray[np.float64]

GADGETS: dict[str, Callable[[int, Floats, Floats], RootGadget]] = {
    "cfrd": Cfrd,
    "max_margin": MaxMargin,
}
VALUES = {"best": BEST, "average": AVERAGE}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a decision is solved.

    Attributes:
        raises: the raise totals of the lookahead.
        rule: how regrets and averages move.
        iterations: of every solve.
        gadget: ``cfrd`` or ``max_margin``.
        values: the opponent's values to carry: of its ``best`` response to our average strategy,
            or of its own ``average`` strategy.
    """

    raises: Raises
    rule: UpdateRule
    iterations: int
    gadget: str = "cfrd"
    values: str = "best"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("gadget", self.gadget, GADGETS),
            ("values", self.values, VALUES),
        ):
            if value not in known:
                raise InputError(f"{name} {value!r}: expected one of {', '.join(known)}")
        if self.iterations < 1:
            raise InputError(f"iterations {self.iterations}: expected at least 1")


@dataclass(frozen=True, slots=True)
class Carried:
    """What is known after our last action, or at the start of a hand.

    Attributes:
        seat: ours.
        since: the state after our last action, or the start.
        reach: [hands] our range there.
        solution: the solve our last action came from; None before the first.
        slot: the root's slot that was our action.
    """

    seat: int
    since: State
    reach: Floats
    solution: Engine | None = None
    slot: int = -1


@dataclass(frozen=True, slots=True)
class Decision:
    """A solved decision: probabilities [hands, A] of every action with every hand."""

    state: State
    actions: tuple[Action, ...]
    probabilities: Floats
    carried: Carried
    solution: Engine

    def after(self, action: Action) -> Carried:
        """What is carried on when we have taken an action."""
        if action not in self.actions:
            raise InputError(f"action {action} at {self.state}: it was not in the lookahead")
        slot = self.actions.index(action)
        return Carried(
            self.carried.seat,
            self.state.apply(action),
            self.carried.reach * self.probabilities[:, slot],
            self.solution,
            slot,
        )


class Resolver:
    """Continual re-solving for one seat. A pure function of the public history."""

    def __init__(self, game: Game, seat: int, settings: Settings) -> None:
        if game.players != 2 or seat not in (0, 1):
            raise InputError(f"seat {seat} of {game.name}: expected seat 0 or 1 of two players")
        self.game, self.seat, self.settings = game, seat, settings
        self._first: Engine | None = None

    def start(self) -> Carried:
        """The beginning of a hand: every hand alike."""
        return Carried(self.seat, initial_state(self.game), np.ones(self.game.hands))

    def decide(self, carried: Carried, state: State) -> Decision:
        """Solve our decision at a state that is reached from what is carried."""
        state = state.with_hands(((), ()))
        self._check(carried, state)
        reach = np.where(self._dead(state), 0.0, carried.reach)
        if carried.solution is None and state == carried.since:
            engine = self._root()
        else:
            engine = self._solve(state, reach, self._constraints(carried, state))
        rows = engine.table_rows(0, 0, 0)
        hands, width = int(engine.boards.hands[0]), int(engine.boards.width[0])
        weights = engine.tables.average[rows].reshape(-1, width)[:, :hands].T
        actions = tuple(slot.action for slot in engine.betting_tree.stages[0].nodes[0].slots)
        total = weights.sum(axis=1, keepdims=True)
        uniform = np.full_like(weights, 1.0 / len(actions))
        full = np.zeros((self.game.hands, len(actions)))
        full[engine.board_tree[0].hands[0]] = np.divide(
            weights, total, out=uniform, where=total > 0
        )
        return Decision(state, actions, full, replace(carried, reach=reach), engine)

    def _dead(self, state: State) -> npt.NDArray[np.bool_]:
        return blocked(state.board, len(self.game.deck), self.game.hole_cards)

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

    def _root(self) -> Engine:
        """The whole game from its start, solved once."""
        if self._first is None:
            everything = np.ones((2, self.game.hands))
            self._first = self._engine(initial_state(self.game), everything)
            self._first.run(self.settings.iterations)
        return self._first

    def _engine(self, state: State, ranges: Floats) -> Engine:
        settings = self.settings
        return Engine(state, ranges, settings.raises, settings.rule, dtype=np.float64, merge=False)

    def _solve(self, state: State, reach: Floats, constraints: Floats) -> Engine:
        ranges = np.ones((2, self.game.hands))
        if reach.any():  # else we are where we never go, and any range will do
            ranges[self.seat] = reach
        engine = self._engine(state, ranges)
        live = np.ones(int(engine.boards.hands[0]))
        promised = constraints[engine.board_tree[0].hands[0]]
        gadget = GADGETS[self.settings.gadget](1 - self.seat, promised, live)
        engine.run(self.settings.iterations, gadget)
        return engine

    def _constraints(self, carried: Carried, state: State) -> Floats:
        """What the opponent's hands [hands] were left with, for the board of a state."""
        opponent, mode = 1 - self.seat, VALUES[self.settings.values]
        if carried.solution is None:
            # the opponent opens the hand: its values before it acts
            engine = self._root()
            values = engine.root_values(mode)[opponent]
            if state.board == engine.root.board:
                return _over_hands(engine, 0, 0, values)
            raise InputError(f"state {state}: a round has passed without a decision of ours")
        engine, slot = carried.solution, carried.slot
        if state.board == engine.root.board:
            return _over_hands(engine, 0, 0, engine.slot_values(slot, opponent, mode))
        line = _line_after(engine, slot)
        cards = [tuple(int(card) for card in row) for row in engine.board_tree[1].cards]
        if line is None or state.board not in cards:
            raise InputError(f"state {state}: a round has passed without a decision of ours")
        board = cards.index(state.board)
        return _over_hands(engine, 1, board, engine.line_values(line, board, opponent, mode))


def _over_hands(engine: Engine, stage: int, board: int, values: Floats) -> Floats:
    full = np.zeros(engine.game.hands)
    full[engine.board_tree[stage].hands[board]] = values
    return full


def _line_after(engine: Engine, slot: int) -> int | None:
    """The line of the next stage after our action, called by the opponent if it was a bet."""
    nodes = engine.betting_tree.stages[0].nodes
    taken = nodes[0].slots[slot]
    if taken.kind == DECISION:
        taken = next(s for s in nodes[taken.target].slots if s.action.kind == "c")
    return taken.target if taken.kind == NEXT else None
