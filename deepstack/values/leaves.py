"""Leaf evaluators: what stands for the rest of the game at the end of a betting round.

All of them answer in the mean over the next cards (``values``) and for given cards
(``card_values``); see ``deepstack.solver.leaves``. Ranges are not normalised, values are chips.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.definition import Game
from deepstack.game.state import State
from deepstack.solver.leaves import Leaves, RoundEvaluator
from deepstack.values.equity import equity_matrix

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Deals:
    """The cards that may come next on a board, over all hands of the game.

    Attributes:
        boards: the boards after the deal, C of them.
        live: [C, hands] 1 where a hand is possible on the board, else 0.
        chance: of each of them, given two hands that allow it.
    """

    boards: tuple[tuple[int, ...], ...]
    live: Floats
    chance: float


def deals(game: Game, board: tuple[int, ...]) -> Deals:
    """All ways to deal the cards of the next round."""
    count = next(n for r in range(game.rounds) if (n := game.board_size(r) - len(board)) > 0)
    left = [card for card in range(len(game.deck)) if card not in board]
    boards = tuple((*board, *cards) for cards in combinations(left, count))
    dead = np.stack([blocked(after, len(game.deck), game.hole_cards) for after in boards])
    chance = 1.0 / comb(len(left) - 2 * game.hole_cards, count)
    return Deals(boards, 1.0 - dead, chance)


class EquityLeaves:
    """Leaves as if both players checked to the end."""

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        result = np.zeros_like(reach)
        chips = [min(state.spent) for state in leaves.states]
        for b, (board, hands) in enumerate(zip(leaves.boards, leaves.hands, strict=True)):
            cards = tuple(int(card) for card in board)
            matrix = equity_matrix(leaves.states[0].game, cards)[np.ix_(hands, hands)]
            for player in (0, 1):
                result[player, b] = reach[1 - player, b] @ matrix.T * np.array(chips)[:, None]
        return result

    def card_values(self, state: State, reach: Floats) -> Floats:
        matrix = equity_matrix(state.game, state.board)
        return np.stack([reach[1 - p] @ matrix.T * min(state.spent) for p in (0, 1)])


class NoisyLeaves:
    """Another evaluator with an error added: a fixed function of the public state and the hand.

    An error is uniform in [-ε, ε] chips for the opponent's range normalised to one, so it is
    multiplied by the opponent's mass as values are.
    """

    def __init__(self, inner: RoundEvaluator, size: float, seed: int) -> None:
        self.inner, self.size, self.seed = inner, size, seed
        self._errors: npt.NDArray[np.float64] | None = None

    def error(self, state: State) -> npt.NDArray[np.float64]:
        """[2, hands] at the start of a round; a hash of the public history draws it."""
        key = f"{self.seed} {state.with_hands(((), ()))} {state.board}"
        digest = hashlib.sha256(key.encode()).digest()
        rng = np.random.default_rng(np.frombuffer(digest, np.uint32))
        return self.size * rng.uniform(-1, 1, (2, state.game.hands))

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        """The inner values and the mean error over the next cards."""
        game = leaves.states[0].game
        root = tuple(int(card) for card in leaves.boards[0])
        next_cards = deals(game, root)
        if self._errors is None:
            errors = [
                [self.error(state.deal(after[len(root) :])) for after in next_cards.boards]
                for state in leaves.states
            ]
            self._errors = np.array(errors)  # [L, C, 2, hands]
        live = next_cards.live[:, leaves.hands[0]]  # [C, H]
        result = np.array(self.inner.values(leaves, reach), np.float64)
        for player in (0, 1):
            mass = reach[1 - player, 0] @ live.T  # [L, C]
            error = self._errors[:, :, player][..., leaves.hands[0]] * live
            result[player, 0] += next_cards.chance * np.einsum("lc,lch->lh", mass, error)
        return result

    def card_values(self, state: State, reach: Floats) -> Floats:
        result = np.array(self.inner.card_values(state, reach), np.float64)
        error, dead = (
            self.error(state),
            blocked(state.board, len(state.game.deck), state.game.hole_cards),
        )
        for player in (0, 1):
            mass = reach[1 - player].sum(axis=1, keepdims=True)
            result[player] += mass * np.where(dead, 0.0, error[player])
        return result


Evaluate = Callable[[Floats, npt.NDArray[np.int64], Floats], Floats]
"""Values [N, 2, hands] in pots of situations: ranges [N, 2, hands] that sum to one each, a number
for the board's last card [N], and the pot [N] as a fraction of both stacks."""


@dataclass
class NetworkLeaves:
    """A start-of-round network, asked for every next card and averaged: the published form.

    For small games: every next card is asked at once, over all hands of the game. A called all-in
    is valued by its equity.
    """

    evaluate: Evaluate
    game: Game
    _equity: EquityLeaves = field(default_factory=EquityLeaves)

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        plan, game = self._plan(leaves), self.game
        result = np.empty(reach.shape)
        full = np.zeros((2, reach.shape[2], game.hands))
        full[:, :, plan.hands] = reach[:, 0]
        all_in = full[::-1, plan.all_in] @ plan.equity * plan.chips
        result[:, 0, plan.all_in] = all_in[:, :, plan.hands]
        given = full[:, plan.playing, None] * plan.live  # [2, L, C, hands]
        answer = self._ask(given.reshape(2, -1, game.hands), plan.cards, plan.pots)
        means = np.einsum("plch,ch->plh", answer.reshape(given.shape), plan.weight)
        result[:, 0, plan.playing] = means[:, :, plan.hands]
        return result

    def card_values(self, state: State, reach: Floats) -> Floats:
        if state.actor is None:
            return self._equity.card_values(state, reach)
        count = reach.shape[1]
        cards, pots = np.full(count, state.board[-1]), np.full(count, float(state.pot))
        live = ~blocked(state.board, len(self.game.deck), self.game.hole_cards)
        return self._ask(np.asarray(reach, np.float64), cards, pots) * live

    def _ask(self, reach: Floats, cards: npt.NDArray[np.int64], pots: Floats) -> Floats:
        """Chips [2, N, hands] for ranges [2, N, hands] that are not normalised."""
        mass = reach.sum(axis=2)
        ranges = reach / np.maximum(mass, 1e-30)[..., None]
        empty = mass <= 0
        if empty.any():  # nobody comes here with this range: any will do
            ranges[empty] = 1.0 / reach.shape[2]
        stacks = float(sum(self.game.stacks))
        values = self.evaluate(ranges.transpose(1, 0, 2), cards, pots / stacks)
        return values.transpose(1, 0, 2) * (pots * mass[::-1])[..., None]

    def _plan(self, leaves: Leaves) -> _Plan:
        if self._last is None or self._last[0] is not leaves:
            self._last = (leaves, _plan(self.game, leaves))
        return self._last[1]

    _last: tuple[Leaves, _Plan] | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What does not change between the questions of one lookahead."""

    hands: npt.NDArray[np.int64]
    playing: npt.NDArray[np.int64]
    all_in: npt.NDArray[np.int64]
    equity: Floats  # [hands, hands] of the opponent's hands for ours
    chips: Floats  # [all-ins, 1]
    live: Floats  # [C, hands]
    weight: Floats  # [C, hands] the chance of a card where it is possible
    cards: npt.NDArray[np.int64]  # [L × C]
    pots: Floats  # [L × C]


def _plan(game: Game, leaves: Leaves) -> _Plan:
    states, board = leaves.states, tuple(int(card) for card in leaves.boards[0])
    behind = np.array([min(game.stacks) > max(state.spent) for state in states])
    playing, all_in = np.nonzero(behind)[0], np.nonzero(~behind)[0]
    next_cards = deals(game, board)
    cards = np.array([after[-1] for after in next_cards.boards])
    pots = np.array([float(states[i].pot) for i in playing])
    chips = np.array([[float(min(states[i].spent))] for i in all_in]).reshape(-1, 1)
    return _Plan(
        leaves.hands[0],
        playing,
        all_in,
        equity_matrix(game, board).T.astype(np.float64),
        chips,
        next_cards.live,
        next_cards.chance * next_cards.live,
        np.tile(cards, len(playing)),
        np.repeat(pots, len(cards)),
    )
