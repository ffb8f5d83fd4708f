"""Rule-based players: (fold, call, raise) triples that do not look at their cards.

The triples are those of Abou Risk and Szafron (2010): always-fold (1, 0, 0), always-call
(0, 1, 0), always-raise (0, 0, 1) and probe (0, ½, ½). What is not legal becomes a call: folding
with nothing to call is a check, a raise past the cap is a call.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, Legal, State
from deepstack.run.errors import InputError

SIZES = ("uniform", "min", "pot", "all-in")


class Triple:
    """Folds, calls and raises with fixed probabilities.

    Args:
        game: the game it plays.
        seed: the seed of its randomness.
        fold, call, raise_: the triple, not negative, summing to 1.
        size: which legal no-limit raise it makes: ``uniform`` over all totals, ``min``, ``pot``
            (the nearest legal total) or ``all-in``. Limit games have one size.
    """

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        *,
        fold: float = 0.0,
        call: float = 0.0,
        raise_: float = 0.0,
        size: str = "uniform",
    ) -> None:
        triple = (float(fold), float(call), float(raise_))
        if min(triple) < 0 or not math.isclose(sum(triple), 1.0, abs_tol=1e-9):
            raise InputError(f"triple {triple}: expected three probabilities that sum to 1")
        if size not in SIZES:
            raise InputError(f"raise size {size!r}: expected one of {', '.join(SIZES)}")
        self.game, self.seed, self.size = game, seed, size
        self._triple = triple
        self._rng = np.random.default_rng(seed)

    def new_hand(self, seat: int, hand: int) -> None:
        self._rng = np.random.default_rng([self.seed, hand])

    def kinds(self, legal: Legal) -> tuple[float, float, float]:
        """Probability of folding, calling and raising where only ``legal`` actions exist."""
        fold, call, raise_ = self._triple
        if not legal.fold:
            fold, call = 0.0, call + fold
        if legal.raise_to is None:
            call, raise_ = call + raise_, 0.0
        return fold, call, raise_

    def act(self, state: State) -> Action:
        legal = state.legal
        fold, call, raise_ = self.kinds(legal)
        if call == 1.0:
            return Action(CALL)
        draw = 1.0 if raise_ == 1.0 else self._rng.random()
        if draw < fold:
            return Action(FOLD)
        if draw < fold + call:
            return Action(CALL)
        low, high = self._raise_range(state, legal)
        return Action(RAISE, low if low == high else int(self._rng.integers(low, high + 1)))

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        legal = state.legal
        fold, call, raise_ = self.kinds(legal)
        actions, weights = [Action(CALL)], [call]
        if legal.fold:
            actions.insert(0, Action(FOLD))
            weights.insert(0, fold)
        if legal.raise_to is not None:
            low, high = self._raise_range(state, legal)
            actions += [Action(RAISE, to) for to in range(low, high + 1)]
            weights += [raise_ / (high + 1 - low)] * (high + 1 - low)
        row = np.array(weights, dtype=np.float32)
        return actions, np.broadcast_to(row, (self.game.hands, len(row)))

    def _raise_range(self, state: State, legal: Legal) -> tuple[int, int]:
        """The totals it draws a raise from, uniformly."""
        assert legal.raise_to is not None
        low, high = legal.raise_to
        if self.size == "uniform":
            return low, high
        most = max(state.spent)
        wanted = {"min": low, "pot": most + state.pot + state.to_call, "all-in": high}[self.size]
        to = min(max(wanted, low), high)
        return to, to


class Uniform(Triple):
    """Uniform over the legal kinds of action; a raise is uniform over the legal sizes."""

    def __init__(self, game: Game, seed: int = 0, *, size: str = "uniform") -> None:
        super().__init__(game, seed, call=1.0, size=size)

    def kinds(self, legal: Legal) -> tuple[float, float, float]:
        share = 1.0 / (1 + legal.fold + (legal.raise_to is not None))
        return share * legal.fold, share, share * (legal.raise_to is not None)
