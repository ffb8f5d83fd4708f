"""What an agent is.

``Agent`` is enough to play: it is told when a hand begins and answers a state with an action.
``StrategyAgent`` can also be asked what it *would* do with every hand it could hold; local best
response, exact best response and variance reduction need that.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from deepstack.game.state import Action, State


@runtime_checkable
class Agent(Protocol):
    """A player of whole matches."""

    def new_hand(self, seat: int, hand: int) -> None:
        """A hand begins. Randomness used in it depends only on the agent's seed and ``hand``,
        so that a match can be cut into pieces, resumed and replayed."""

    def act(self, state: State) -> Action:
        """A legal action. The state shows the agent's own cards and the board, nothing else."""


@runtime_checkable
class StrategyAgent(Agent, Protocol):
    """An agent that states its strategy."""

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        """Actions and their probability for every hand of the player to act: float32 [H, A].

        A pure function of the public part of the state; each row sums to 1. The array may be a
        read-only view.
        """
