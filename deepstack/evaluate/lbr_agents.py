"""The opponent of local best response: an agent that is asked what it would do with every hand.

Three kinds of agent answer differently:

- one that states its strategy (``StrategyAgent``) is asked for a table over hands and actions, and
  the answer is remembered by the public state;
- one that draws a translation of bets it does not know (``SampledAgent``) is asked several times
  and its answers are averaged; the action that is played comes from a fresh draw;
- a rule-based one that does not look at its cards (``Triple``) is asked for one number, so that
  thousands of bet sizes cost nothing and its range never changes.

An agent may offer ``responses(states)``, a list of what ``probabilities`` says of every state: the
answers to all bets that are considered are then obtained by one call.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from deepstack.agents.build import AgentSpec, make_agent
from deepstack.agents.protocol import Agent, StrategyAgent
from deepstack.agents.rules import Triple
from deepstack.cards.notation import hand_index
from deepstack.game.definition import Game
from deepstack.game.state import FOLD, Action, Legal, State
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.float64]
Weights = Floats | float
"""A number for every hand of the agent [H], or one for all of them."""
Stated = tuple[list[Action], npt.NDArray[np.floating]]
"""Actions, and their probability for every hand [H, A]."""

REMEMBERED = 64 << 20  # bytes of answers
EVERY_ACTION = "every_action"


@runtime_checkable
class SampledAgent(Agent, Protocol):
    """An agent whose strategy is a mixture over draws, such as a sampled translation of bets."""

    def sample_probabilities(self, state: State, rng: np.random.Generator) -> Stated:
        """What ``StrategyAgent.probabilities`` says, for one draw."""


class Opponent(Protocol):
    """What local best response needs to know. States are public: they show no private cards."""

    def new_hand(self, seat: int, hand: int) -> None:
        """A hand begins, with the agent in a seat."""

    def folds(self, states: Sequence[State]) -> list[Weights]:
        """The probability of folding with every hand, for each state."""

    def play(
        self, state: State, hand: Sequence[int], rng: np.random.Generator
    ) -> tuple[Action, Weights]:
        """The action of the agent with its hand, and the probability of it with every hand."""


class CardBlind:
    """A rule-based agent, which does not look at its cards."""

    def __init__(self, agent: Triple) -> None:
        self.agent = agent

    def new_hand(self, seat: int, hand: int) -> None:
        self.agent.new_hand(seat, hand)

    def folds(self, states: Sequence[State]) -> list[Weights]:
        return [self.agent.kinds(state.legal)[0] for state in states]

    def play(
        self, state: State, hand: Sequence[int], rng: np.random.Generator
    ) -> tuple[Action, Weights]:
        # every hand would do the same with the same probability, whatever it is
        return self.agent.act(state), 1.0


class Answering:
    """An agent that states its strategy, with a memory of what it said."""

    def __init__(self, agent: StrategyAgent) -> None:
        self.agent = agent
        self._said: OrderedDict[object, Stated] = OrderedDict()
        self._bytes = 0

    def new_hand(self, seat: int, hand: int) -> None:
        self.agent.new_hand(seat, hand)

    def strategies(self, states: Sequence[State]) -> list[Stated]:
        """The strategy of the agent in each state."""
        keys = [(state.board, state.betting) for state in states]
        unknown = {k: s for k, s in zip(keys, states, strict=True) if k not in self._said}
        answers = dict(zip(unknown, self._ask(list(unknown.values())), strict=True))
        for key in keys:
            if key in self._said:
                self._said.move_to_end(key)
                answers[key] = self._said[key]
        for key in unknown:
            self._remember(key, answers[key])
        return [answers[key] for key in keys]

    def folds(self, states: Sequence[State]) -> list[Weights]:
        return [_column(stated, Action(FOLD)) for stated in self.strategies(states)]

    def play(
        self, state: State, hand: Sequence[int], rng: np.random.Generator
    ) -> tuple[Action, Weights]:
        stated = self.strategies([state])[0]
        action = _draw(stated, hand, rng)
        return action, _column(stated, action)

    def _ask(self, states: list[State]) -> list[Stated]:
        together = getattr(self.agent, "responses", None)
        if together is not None and len(states) > 1:
            return list(together(states))
        return [self.agent.probabilities(state) for state in states]

    def _remember(self, key: object, stated: Stated) -> None:
        self._said[key] = stated
        self._bytes += stated[1].size * stated[1].itemsize
        while self._bytes > REMEMBERED:
            _, (_, table) = self._said.popitem(last=False)
            self._bytes -= table.size * table.itemsize


class Sampling:
    """An agent whose strategy is a mixture over draws, estimated by the mean of some."""

    def __init__(self, agent: SampledAgent, samples: int, seed: int) -> None:
        if samples < 1:
            raise InputError(f"samples={samples}: expected at least 1")
        self.agent, self.samples, self.seed = agent, samples, seed

    def new_hand(self, seat: int, hand: int) -> None:
        self.agent.new_hand(seat, hand)

    def strategy(self, state: State) -> Stated:
        """The mean over draws, a function of the public state."""
        key = f"{self.seed} {state} {state.board}".encode()
        rng = np.random.default_rng(np.frombuffer(hashlib.sha256(key).digest(), np.uint32))
        return _mean([self.agent.sample_probabilities(state, rng) for _ in range(self.samples)])

    def folds(self, states: Sequence[State]) -> list[Weights]:
        return [_column(self.strategy(state), Action(FOLD)) for state in states]

    def play(
        self, state: State, hand: Sequence[int], rng: np.random.Generator
    ) -> tuple[Action, Weights]:
        fresh = self.agent.sample_probabilities(state, rng)
        action = _draw(fresh, hand, rng)
        # With the fresh draw in it the estimate never rules out what was just done.
        known, drawn = _column(self.strategy(state), action), _column(fresh, action)
        return action, (self.samples * known + drawn) / (self.samples + 1)


class EveryAction(Triple):
    """Uniform over all legal actions, every total of a raise being one: nearly always a raise.

    One reading of "a random legal action" of Lisý and Bowling (2017), who do not say which they
    mean; another first chooses to fold, call or raise (``deepstack.agents.rules.Uniform``).
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, seed, call=1.0)

    def kinds(self, legal: Legal) -> tuple[float, float, float]:
        raises = 0 if legal.raise_to is None else 1 + legal.raise_to[1] - legal.raise_to[0]
        share = 1.0 / (1 + legal.fold + raises)
        return share * legal.fold, share, share * raises


def make_opponent(spec: AgentSpec, game: Game, seed: int = 0, samples: int = 10) -> Opponent:
    """The agent of a specification as local best response sees it.

    Beside names of ``conf/agent`` a specification may be ``every_action``, for ``EveryAction``.
    ``samples`` is how many draws estimate the strategy of an agent that samples a translation.
    """
    agent = EveryAction(game, seed) if spec == EVERY_ACTION else make_agent(spec, game, seed)
    return as_opponent(agent, seed, samples)


def as_opponent(agent: Agent, seed: int = 0, samples: int = 10) -> Opponent:
    """An agent as local best response sees it."""
    if isinstance(agent, Triple):
        return CardBlind(agent)
    if isinstance(agent, SampledAgent):
        return Sampling(agent, samples, seed)
    if isinstance(agent, StrategyAgent):
        return Answering(agent)
    name = type(agent).__name__
    raise InputError(f"agent {name}: expected one that states its probabilities for every hand")


def _column(stated: Stated, action: Action) -> Floats:
    """The probability of an action with every hand [H]; 0 where it is not among the actions."""
    actions, table = stated
    if action not in actions:
        return np.zeros(len(table))
    return table[:, actions.index(action)].astype(np.float64)


def _draw(stated: Stated, hand: Sequence[int], rng: np.random.Generator) -> Action:
    """An action by the probabilities of a hand."""
    actions, table = stated
    index = int(hand[0]) if len(hand) == 1 else hand_index(hand[0], hand[1])
    row = table[index].astype(np.float64)
    if len(row) != len(actions) or not np.isfinite(row).all() or row.min() < 0 or row.sum() <= 0:
        raise InputError(f"probabilities {row.tolist()}: expected one for each of {actions}")
    return actions[int(rng.choice(len(actions), p=row / row.sum()))]


def _mean(draws: Sequence[Stated]) -> Stated:
    """The mean of several tables over the union of their actions."""
    actions = list(dict.fromkeys(action for drawn, _ in draws for action in drawn))
    total = np.zeros((len(draws[0][1]), len(actions)))
    for drawn, table in draws:
        total[:, [actions.index(action) for action in drawn]] += table
    return actions, total / len(draws)
