"""What others put at the ends of a tree: leaf evaluators below, gadgets above.

A leaf is a finished betting round with rounds to come. An evaluator is asked once for all leaves of
a traversal, on all boards, and answers with counterfactual values. A gadget decides with which
range its player enters the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deepstack.game.state import State
from deepstack.solver.gadget_kernels import Gadget


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a tree.

    Attributes:
        states: the betting of each of the L leaves.
        boards: [B, cards] the public cards of each board on which they occur.
        hands: [B, H] hand index of every place of a vector.
    """

    states: tuple[State, ...]
    boards: npt.NDArray[np.int64]
    hands: npt.NDArray[np.int64]


class LeafEvaluator(Protocol):
    """Values beyond a depth limit."""

    def values(self, leaves: Leaves, reach: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Counterfactual values in chips [2, B, L, H] of both players.

        Args:
            leaves: where.
            reach: [2, B, L, H] what each player's strategy and range make of reaching the leaf with
                each hand, not normalised. A player's values are weighted by the opponent's reach.
        """
        ...


class RoundEvaluator(LeafEvaluator, Protocol):
    """Values beyond the end of a betting round, in the mean over the next cards and for each."""

    def card_values(
        self, state: State, reach: npt.NDArray[np.floating]
    ) -> npt.NDArray[np.floating]:
        """Counterfactual values in chips [2, S, hands] at the start of a round.

        Args:
            state: the start of the round, its cards dealt.
            reach: [2, S, hands] S situations, over all hands of the game. The values are those
                given the cards: not multiplied by the chance of dealing them.
        """
        ...


class RootGadget(Protocol):
    """A player whose range at the root is a choice of its own (``deepstack.resolve.gadgets``)."""

    player: int

    def arrays(self) -> Gadget:
        """The gadget as the kernels see it; what they learn is learned here."""
        ...

    def reach(self) -> npt.NDArray[np.float64]:
        """The range [H] with which it enters the tree, over the root's live hands."""
        ...

    def observe(
        self, values: npt.NDArray[np.float64], positive: float, negative: float, floor: bool
    ) -> None:
        """Learn from the values [H] of entering, by the factors of the iteration's rule."""
        ...
