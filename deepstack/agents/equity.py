"""A player of equity and pot odds: simple, exact in what it counts, and blind to betting patterns.

Its strength is the exact equity of its hand against one uniform hand, over all cards to come. It
calls when that is more than the pot asks for, bets strong hands, and now and then a weak one; near
a threshold it mixes. It states its probabilities for every hand.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from deepstack.abstraction.features import mean_strengths
from deepstack.cards.notation import blocked, hand_index
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import allin_margins

KEPT = 4_000  # boards of games other than hold'em, or none of its cards

Floats = npt.NDArray[np.float64]


def hand_equities(game: Game, board: tuple[int, ...]) -> Floats:
    """Chance of every hand to win against one uniform hand, ties half: float64 [H], read-only.

    Exact, over all cards to come and all hands that go with the board and with one's own; 0 for
    hands that the board blocks.
    """
    final = game.board_size(game.rounds - 1)
    holdem = game.showdown == "five-card" and game.hole_cards == 2
    # with five cards to come there is a shipped table of margins, and counting takes seconds
    if holdem and final - len(board) < 5:
        return mean_strengths(board, final)
    return _by_margins(game, board)


@lru_cache(maxsize=KEPT)
def _by_margins(game: Game, board: tuple[int, ...]) -> Floats:
    """Equities from wins minus losses of every hand against every other."""
    margins = allin_margins(board, game)
    live = ~blocked(board, len(game.deck), game.hole_cards)
    left = len(game.deck) - len(board) - game.hole_cards
    opponents = left if game.hole_cards == 1 else left * (left - 1) // 2
    equities = np.zeros(game.hands)
    mean = margins.counts.sum(axis=1, dtype=np.int64) / (margins.run_outs * opponents)
    equities[live] = (1.0 + mean) / 2.0
    equities.flags.writeable = False
    return equities


class Equity:
    """Calls by pot odds, bets by strength.

    With equity e against one opponent, n opponents still in, and ``respect`` taken off e for every
    raise of the betting round (whoever raises, or raises again, seldom holds a uniform hand):

    - it stays in if eⁿ is at least the share of the pot that a call would be (as if opponents were
      independent, which is exact for one);
    - it raises if e is at least ``bet_from``;
    - with nothing to call it bets a ``bluff`` share of the hands that would check.

    Args:
        game: a game with one or two private cards.
        seed: the seed of its randomness.
        bet_from: the equity from which it raises, 0 to 1.
        mix: width in equity over which a threshold goes from never to always; 0 for a step.
        bluff: chance to bet a hand that would check.
        respect: equity taken off for every raise of the round.
        size: of a no-limit raise, in pots after a call (the nearest legal total).
    """

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        *,
        bet_from: float = 0.6,
        mix: float = 0.1,
        bluff: float = 0.1,
        respect: float = 0.05,
        size: float = 1.0,
    ) -> None:
        for name, value in (("bet_from", bet_from), ("bluff", bluff)):
            if not 0 <= value <= 1:
                raise InputError(f"equity player with {name} {value}: expected 0 to 1")
        for name, value in (("mix", mix), ("respect", respect), ("size", size)):
            if value < 0:
                raise InputError(f"equity player with {name} {value}: expected 0 or more")
        if game.hole_cards > 2:
            raise InputError(f"equity player in {game.name}: expected hands of 1 or 2 cards")
        self.game, self.seed = game, seed
        self.bet_from, self.mix, self.bluff = float(bet_from), float(mix), float(bluff)
        self.respect, self.size = float(respect), float(size)
        self._rng = np.random.default_rng(seed)

    def new_hand(self, seat: int, hand: int) -> None:
        self._rng = np.random.default_rng([self.seed, hand])

    def act(self, state: State) -> Action:
        assert state.actor is not None
        cards = state.hands[state.actor]
        if len(cards) != self.game.hole_cards:
            raise InputError(f"state {state}: expected to see the cards of the player to act")
        hand = int(cards[0]) if len(cards) == 1 else hand_index(cards[0], cards[1])
        equity = hand_equities(self.game, state.board)[hand : hand + 1]
        actions, row = self._strategy(state, equity)
        place = int(np.searchsorted(np.cumsum(row[0]), self._rng.random(), side="right"))
        return actions[min(place, len(actions) - 1)]

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        """Actions and their probability for every hand; a blocked hand's row is a weak hand's."""
        actions, table = self._strategy(state, hand_equities(self.game, state.board))
        return actions, table.astype(np.float32)

    def _strategy(self, state: State, equity: Floats) -> tuple[list[Action], Floats]:
        """Actions and their probabilities [n, A] for hands with these equities [n]."""
        assert state.actor is not None
        legal, seat = state.legal, state.actor
        raised = sum(action.kind == RAISE for action in state.betting[-1])
        believed = np.clip(equity - self.respect * raised, 0.0, 1.0)
        opponents = self.game.players - 1 - sum(state.folded)
        to_call = state.to_call
        stays = np.ones(len(equity))
        if to_call:
            stays = self._ramp(believed**opponents - to_call / (state.pot + to_call))
        raises = np.zeros(len(equity))
        if legal.raise_to is not None:
            raises = self._ramp(believed - self.bet_from) * stays
            if not to_call:
                raises += self.bluff * (1.0 - raises)
        actions, columns = [Action(CALL)], [stays - raises]
        if legal.fold:
            actions.insert(0, Action(FOLD))
            columns.insert(0, 1.0 - stays)
        if legal.raise_to is not None:
            low, high = legal.raise_to
            most = state.spent[seat] + to_call
            wanted = most + round(self.size * (state.pot + to_call))
            actions.append(Action(RAISE, min(max(wanted, low), high)))
            columns.append(raises)
        return actions, np.stack(columns, axis=1)

    def _ramp(self, above: Floats) -> Floats:
        """Chance to go on when so much above a threshold."""
        if self.mix == 0.0:
            return (above >= 0).astype(np.float64)
        return np.clip(above / self.mix + 0.5, 0.0, 1.0)
