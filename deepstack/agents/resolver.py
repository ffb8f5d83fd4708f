"""The re-solving player: continual re-solving as an agent, for any two-player game.

Before each of its decisions a lookahead is solved from what the player carries; its strategy at a
state is a function of the public history alone, whatever was asked before. Decisions of the lines
asked last are remembered, so a hand costs one solve a decision.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import hand_index
from deepstack.game.definition import Game
from deepstack.game.state import Action, State
from deepstack.resolve.continual import Carried, Decision, Resolver, Settings
from deepstack.resolve.lookahead import MakeLeaves, Solve
from deepstack.run.errors import InputError
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import Raises, limit_raises
from deepstack.tree.menus import MenuSpec, load_menu

REMEMBERED = 64  # decisions
MOST_ROUNDS = 2  # of a no-limit game that is solved to the end


class ResolverAgent:
    """Solves again before each decision.

    Args:
        game: a two-player game.
        seed: of its randomness.
        bets: the menu of its lookaheads; in limit games the one legal raise.
        algorithm: the update rule, and ``rule`` changes to it.
        iterations: of every solve, one number or one a betting round.
        omitted: iterations left out of the averages, likewise.
        network: value network at the end of a betting round: a name or path, ``auto`` for the one
            that ships with the game, or null to solve to the end of the game.
        gadget, carry, gift, mix, warm, snapshots: as of ``deepstack.resolve.continual.Settings``.
    """

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        *,
        bets: MenuSpec = "fcpa",
        algorithm: str = "dcfr_plus",
        rule: Mapping[str, Any] | None = None,
        iterations: int | Sequence[int] = 150,
        omitted: int | Sequence[int] = 0,
        network: str | None = "auto",
        gadget: str = "cfrd",
        carry: str = "mean",
        gift: bool = False,
        mix: float = 0.0,
        warm: float = 0.0,
        snapshots: int = 100,
    ) -> None:
        if game.players != 2:
            raise InputError(f"game {game.name} has {game.players} players: expected 2")
        self.game, self.seed = game, seed
        raises = limit_raises if game.limit else load_menu(bets).raises
        leaves = _leaves(game, network)
        if leaves is None and not game.limit and game.rounds > MOST_ROUNDS:
            raise InputError(
                f"resolver for {game.name}: no value networks ship for all its rounds, and "
                f"lookaheads to the end are too large; expected a game of {MOST_ROUNDS} rounds"
            )
        solves = []
        for round_ in range(game.rounds):
            delay = _by_round(omitted, round_)
            update = update_rule(algorithm, **{**(rule or {}), "delay": delay})
            solves.append(Solve(raises, update, _by_round(iterations, round_), leaves))
        self.settings = Settings(
            tuple(solves),
            gadget=gadget,
            values=carry,
            gift=gift,
            mix=mix,
            warm=warm,
            snapshots=snapshots,
        )
        self._resolvers = [Resolver(game, seat, self.settings) for seat in (0, 1)]
        self._decided: OrderedDict[tuple[int, str], Decision] = OrderedDict()
        self._hand = 0

    def new_hand(self, seat: int, hand: int) -> None:
        self._hand = hand

    def act(self, state: State) -> Action:
        actions, probabilities = self.probabilities(state)
        assert state.actor is not None
        row = probabilities[_hand_index(self.game, state.hands[state.actor])].astype(np.float64)
        key = f"{self.seed} {self._hand} {state.with_hands(((), ()))} {state.board}"
        words = np.frombuffer(hashlib.sha256(key.encode()).digest(), np.uint32)
        choice = np.random.default_rng(words).choice(len(actions), p=row / row.sum())
        return actions[int(choice)]

    def probabilities(self, state: State) -> tuple[list[Action], npt.NDArray[np.float32]]:
        """Actions and their probability for every hand; a blocked hand's row is uniform."""
        decision = self.decide(state)
        table = decision.probabilities.astype(np.float32)
        table[~table.any(axis=1)] = 1.0 / len(decision.actions)
        return list(decision.actions), table

    def decide(self, state: State) -> Decision:
        """Our decision at a state, from the public history."""
        state = state.with_hands(((), ()))
        if state.actor is None:
            raise InputError(f"state {state}: nobody is to act")
        resolver = self._resolvers[state.actor]
        carried = resolver.start()
        for before, action in resolver.history(state):
            carried = self._remembered(resolver, carried, before).after(action)
        return self._remembered(resolver, carried, state)

    def _remembered(self, resolver: Resolver, carried: Carried, state: State) -> Decision:
        key = (resolver.seat, f"{state} {state.board}")
        if key not in self._decided:
            self._decided[key] = resolver.decide(carried, state)
            if len(self._decided) > REMEMBERED:
                self._decided.popitem(last=False)
        self._decided.move_to_end(key)
        return self._decided[key]


def _by_round(numbers: int | Sequence[int], round_: int) -> int:
    if isinstance(numbers, int):
        return numbers
    return int(list(numbers)[min(round_, len(numbers) - 1)])


def _hand_index(game: Game, cards: Sequence[int]) -> int:
    """The index of a hand, by the convention of the project."""
    if len(cards) != game.hole_cards:
        raise InputError(f"hand {game.deck.format(cards)!r}: expected {game.hole_cards} cards")
    return int(cards[0]) if len(cards) == 1 else hand_index(cards[0], cards[1])


def _leaves(game: Game, network: str | None) -> MakeLeaves | None:
    """What makes the evaluator of a lookahead; None to solve to the end."""
    if network is None:
        return None
    from deepstack.values.checkpoint import load_network
    from deepstack.values.fast import FastMlp
    from deepstack.values.leaves import NetworkLeaves
    from deepstack.values.networks import shipped

    if network == "auto":
        names = [name for name, card in shipped().items() if card.game == game.name]
        if not names or game.rounds > MOST_ROUNDS:
            return None
        network = names[0]
    fast = FastMlp(load_network(network))

    def make(state: State, raises: Raises) -> NetworkLeaves:
        return NetworkLeaves(fast, game)

    return make
