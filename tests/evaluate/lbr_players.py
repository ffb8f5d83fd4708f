"""Players that tests of local best response play against."""

from __future__ import annotations

import hashlib

import numpy as np

from deepstack.game.state import CALL, FOLD, RAISE, Action
from deepstack.tree.menus import load_menu


class Arbitrary:
    """Some strategy over a menu that depends on the hand, a function of the public history."""

    def __init__(self, game, seed=0, bets="fcpa"):
        self.game, self.seed, self.menu, self.asked = game, seed, load_menu(bets), 0

    def new_hand(self, seat, hand):
        pass

    def act(self, state):
        raise NotImplementedError("local best response asks for probabilities")

    def actions(self, state):
        raised = sum(action.kind == RAISE for action in state.betting[-1])
        totals = self.menu.raises(state, raised)
        folds = [Action(FOLD)] * state.legal.fold
        return [*folds, Action(CALL), *(Action(RAISE, total) for total in totals)]

    def probabilities(self, state):
        self.asked += 1
        actions = self.actions(state)
        key = f"{self.seed} {state} {state.board}".encode()
        rng = np.random.default_rng(np.frombuffer(hashlib.sha256(key).digest(), np.uint32))
        table = rng.dirichlet(np.full(len(actions), 0.5), self.game.hands)
        return actions, table.astype(np.float32)


class Together(Arbitrary):
    """The same, with all states of a question in one call."""

    calls = 0

    def responses(self, states):
        self.calls += 1
        return [self.probabilities(state) for state in states]


class CoinFlip(Arbitrary):
    """Draws between two pure translations: always call, or fold to any bet."""

    def sample_probabilities(self, state, rng):
        folds = state.legal.fold and rng.random() < 0.5
        action = Action(FOLD) if folds else Action(CALL)
        return [action], np.ones((self.game.hands, 1), np.float32)
