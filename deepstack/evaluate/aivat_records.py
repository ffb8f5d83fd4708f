"""Hands with what the players said they would do: the probabilities they used, for all hands.

Variance reduction needs the strategy that was played, not one that is computed again later. So a
match asks every agent that states its strategy (``StrategyAgent``) at each of its decisions, before
it acts, and keeps the answer with the action in a ``HandRecord``. An agent that plays at somebody
else's table keeps its own ``StrategyLog``, to be joined with the dealer's log afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from deepstack.agents.protocol import Agent, StrategyAgent
from deepstack.agents.rules import Triple
from deepstack.evaluate.deals import Deal
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.game.text import format_betting, parse_log_line
from deepstack.run.errors import InputError
from deepstack.run.files import replacing

FOLDS, CALLS = -1, 0
"""How an action is written in arrays; a raise is its total."""


class Strategy(NamedTuple):
    """What a player does with every hand at one decision.

    Attributes:
        totals: int64 [A] the actions: FOLDS, CALLS, or the total of a raise.
        table: [H, A] probabilities, or [1, A] where they are the same for all hands.
    """

    totals: npt.NDArray[np.int64]
    table: npt.NDArray[np.floating]

    def place(self, action: Action) -> int:
        """Where an action stands."""
        (found,) = np.nonzero(self.totals == action_code(action))
        if len(found) != 1:
            raise InputError(f"action {action}: it is not one of those that the strategy states")
        return int(found[0])

    def probabilities(self) -> npt.NDArray[np.float64]:
        """The table with rows that sum to 1; rows of blocked hands, which may be empty, stay so."""
        table = self.table.astype(np.float64)
        total = table.sum(axis=1, keepdims=True)
        return np.divide(table, total, out=table, where=total > 0)


class Step(NamedTuple):
    """An action, with the actor's strategy where it is known, or cards that were dealt."""

    state: State
    action: Action | None
    strategy: Strategy | None = None
    cards: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A hand from the blinds to the end, and by seat whether the strategy is known."""

    steps: Sequence[Step]
    final: State
    known: tuple[bool, ...]


def action_code(action: Action) -> int:
    """An action as a number.

    >>> [action_code(Action(*a)) for a in (("f",), ("c",), ("r", 300))]
    [-1, 0, 300]
    """
    return action.to if action.kind == RAISE else FOLDS if action.kind == FOLD else CALLS


def action_of(code: int) -> Action:
    """The action of a number."""
    return Action(RAISE, int(code)) if code > 0 else Action(FOLD if code == FOLDS else CALL)


def is_known(agent: Agent) -> bool:
    """Whether an agent states its strategy."""
    return isinstance(agent, StrategyAgent)


def stated_strategy(agent: StrategyAgent, state: State) -> Strategy:
    """What an agent would do with every hand at a state, of which it sees the public part."""
    if isinstance(agent, Triple):
        return _card_blind(agent, state)
    actions, table = agent.probabilities(public_part(state))
    totals = np.array([action_code(action) for action in actions], np.int64)
    return Strategy(totals, table[:1] if table.strides[0] == 0 else table)


def _card_blind(agent: Triple, state: State) -> Strategy:
    """A rule-based player's strategy without an object for each of thousands of raises."""
    legal = state.legal
    fold, call, raise_ = agent.kinds(legal)
    kinds = np.array([FOLDS, CALLS]), np.array([fold, call])
    if not raise_:
        return Strategy(kinds[0], kinds[1][None])
    low, high = agent._raise_range(state, legal)
    totals = np.arange(low, high + 1)
    even = np.full(len(totals), raise_ / len(totals))
    return Strategy(np.concatenate([kinds[0], totals]), np.concatenate([kinds[1], even])[None])


def public_part(state: State) -> State:
    """The state without private cards."""
    return replace(state, hands=((),) * state.game.players)


def record_hand(
    game: Game, seated: Sequence[Agent], known: Sequence[bool], dealt: Deal, hand: int
) -> HandRecord:
    """Play one hand, agents by seat, and keep what those with a known strategy say they do."""
    for seat, agent in enumerate(seated):
        agent.new_hand(seat, hand)
    state, steps = initial_state(game, dealt.hands), []
    while not state.is_over:
        if state.actor is None:
            cards = dealt.board[len(state.board) : len(state.board) + state.cards_owed]
            steps.append(Step(state, None, cards=cards))
            state = state.deal(cards)
            continue
        seat = state.actor
        agent, strategy = seated[seat], None
        if known[seat]:
            strategy = stated_strategy(cast(StrategyAgent, agent), state)
        action = agent.act(state.seen_by(seat))
        steps.append(Step(state, action, strategy))
        state = state.apply(action)
    return HandRecord(steps, state, tuple(known))


def replayed(final: State, strategy: Callable[[State], Strategy | None]) -> HandRecord:
    """The record of a hand from its final state; ``strategy`` is asked at every decision.

    A seat is known if a strategy is found at all its decisions. A seat that never acted is not,
    unless the strategy says so of other hands; what it would have done does not matter then.
    """
    state, steps = initial_state(final.game, final.hands), []
    actions = iter([action for betting in final.betting for action in betting])
    known = [True] * final.game.players
    while not state.is_over:
        if state.actor is None:
            cards = final.board[len(state.board) : len(state.board) + state.cards_owed]
            steps.append(Step(state, None, cards=cards))
            state = state.deal(cards)
            continue
        action, found = next(actions), strategy(state)
        known[state.actor] &= found is not None
        steps.append(Step(state, action, found))
        state = state.apply(action)
    return HandRecord(steps, final, tuple(known))


@dataclass
class StrategyLog:
    """What an agent said it would do, by the number of the hand and the betting so far."""

    entries: dict[str, Strategy] = field(default_factory=dict)

    def add(self, hand: int, state: State, strategy: Strategy) -> None:
        self.entries[_key(hand, state)] = strategy

    def get(self, hand: int, state: State) -> Strategy | None:
        return self.entries.get(_key(hand, state))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a NumPy archive."""
        arrays: dict[str, npt.NDArray] = {"keys": np.array(list(self.entries))}
        for number, entry in enumerate(self.entries.values()):
            arrays[f"totals_{number}"], arrays[f"table_{number}"] = entry
        with replacing(path) as aside, open(aside, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StrategyLog:
        """Read what ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                entries = {
                    str(key): Strategy(archive[f"totals_{n}"], archive[f"table_{n}"])
                    for n, key in enumerate(archive["keys"])
                }
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"strategy log {os.fspath(path)!r}: cannot be read ({error})"
            ) from None
        return cls(entries)


def _key(hand: int, state: State) -> str:
    return f"{hand}:{format_betting(state)}"


class LoggingAgent:
    """An agent that plays as another does and logs what that one says it would do."""

    def __init__(self, agent: StrategyAgent) -> None:
        self.agent, self.log = agent, StrategyLog()
        self._hand = 0

    def new_hand(self, seat: int, hand: int) -> None:
        self._hand = hand
        self.agent.new_hand(seat, hand)

    def act(self, state: State) -> Action:
        self.log.add(self._hand, state, stated_strategy(self.agent, state))
        return self.agent.act(state)

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        return self.agent.probabilities(state)


Strategies = Mapping[str, StrategyAgent | StrategyLog]
"""Strategies by the name of the player: logged, or of an agent that is asked again."""


def records_of_log(
    game: Game, lines: Iterable[str], strategies: Strategies
) -> list[tuple[HandRecord, tuple[str, ...]]]:
    """The hands of a dealer's log with the names by seat.

    Comments (``#``) and the ``SCORE:`` line are passed over. Cards that the log does not show stay
    unknown.
    """
    records = []
    for line in lines:
        if not line.strip() or line.startswith(("#", "SCORE:")):
            continue
        hand, final, names = parse_log_line(game, line)

        def asked(state: State, hand: int = hand, names: Sequence[str] = names) -> Strategy | None:
            assert state.actor is not None
            source = strategies.get(names[state.actor])
            if source is None or isinstance(source, StrategyLog):
                return None if source is None else source.get(hand, state)
            return stated_strategy(source, state)

        record = replayed(final, asked)
        known = tuple(name in strategies for name in names)
        lost = [
            n for n, k, found in zip(names, known, record.known, strict=True) if k and not found
        ]
        if lost:
            raise InputError(
                f"hand {hand}: the strategy log of {lost[0]} lacks one of its decisions"
            )
        records.append((replace(record, known=known), names))
    return records
