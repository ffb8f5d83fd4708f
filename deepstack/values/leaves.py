"""Leaf evaluators: what stands for the rest of the game at the end of a betting round.

All of them answer in the mean over the next cards (``values``) and for given cards
(``card_values``); see ``deepstack.solver.leaves``. Ranges are not normalised, values are chips.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked
from deepstack.game.definition import Game
from deepstack.game.state import State
from deepstack.solver.leaves import Leaves, RoundEvaluator
from deepstack.solver.simd import padded
from deepstack.values.equity import equity_matrix
from deepstack.values.fast import FastMlp
from deepstack.values.fast_kernels import leaf_values

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


FLOOR = 1e-6
"""How much of a range is spread over all hands, so that two ranges can always coexist."""


class NetworkLeaves:
    """A start-of-round network, asked for every next card and averaged: the published form.

    For small games with one board card: every next card is asked at once, over all hands of the
    game. A called all-in is valued by its equity. ``plain_values`` says the same as ``values``.
    """

    def __init__(self, network: FastMlp, game: Game) -> None:
        self.network, self.game = network, game
        self._net = network.arrays()
        self._last: tuple[Leaves, _Plan] | None = None

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        plan, out = self._plan(leaves), np.empty(reach.shape)
        leaf_values(
            self._net,
            np.ascontiguousarray(reach, np.float64),
            plan.hands,
            plan.playing,
            plan.all_in,
            plan.equity,
            plan.chips,
            plan.cards,
            plan.live,
            plan.chance,
            plan.pots,
            plan.bias,
            FLOOR,
            out,
        )
        return out

    def plain_values(self, leaves: Leaves, reach: Floats) -> Floats:
        """``values`` by whole arrays."""
        plan, game = self._plan(leaves), self.game
        result = np.empty(reach.shape)
        full = np.zeros((2, reach.shape[2], game.hands))
        full[:, :, plan.hands] = reach[:, 0]
        all_in = full[::-1, plan.all_in] @ plan.equity * plan.chips
        result[:, 0, plan.all_in] = all_in[:, :, plan.hands]
        cards, count = plan.cards, len(plan.playing)
        if not count:
            return result
        given = full[:, plan.playing, None] * plan.live  # [2, L, C, hands]
        pots = np.repeat(plan.pots, len(cards))
        ask = self.network.bind(np.tile(cards, count), pots / sum(game.stacks))
        even = np.tile(plan.live / plan.live.sum(axis=1, keepdims=True), (count, 1))
        answer = _ask(ask, given.reshape(2, -1, game.hands), even, pots)
        means = (answer.reshape(given.shape) * plan.live).sum(axis=2) * plan.chance
        result[:, 0, plan.playing] = means[:, :, plan.hands]
        return result

    def card_values(self, state: State, reach: Floats) -> Floats:
        if state.actor is None:
            return EquityLeaves().card_values(state, reach)
        count, game = reach.shape[1], self.game
        cards, pots = np.full(count, state.board[-1]), np.full(count, float(state.pot))
        live = 1.0 - blocked(state.board, len(game.deck), game.hole_cards)
        ask = self.network.bind(cards, pots / sum(game.stacks))
        even = np.tile(live / live.sum(), (count, 1))
        return _ask(ask, np.asarray(reach, np.float64) * live, even, pots) * live

    def _plan(self, leaves: Leaves) -> _Plan:
        if self._last is None or self._last[0] is not leaves:
            self._last = (leaves, _plan(self.network, self.game, leaves))
        return self._last[1]


def _ask(ask: Callable[..., Floats], reach: Floats, even: Floats, pots: Floats) -> Floats:
    """Chips [2, N, hands] for ranges [2, N, hands] that are not normalised."""
    mass = reach.sum(axis=2)
    some = mass > 0  # where nobody comes with this range, any will do
    scale = np.where(some, 1 - FLOOR, 0.0) / np.where(some, mass, 1.0)
    ranges = reach * scale[..., None]
    ranges += np.where(some, FLOOR, 1.0)[..., None] * even
    values = ask(ranges.transpose(1, 0, 2).astype(np.float32))
    return values.transpose(1, 0, 2) * (pots * mass[::-1])[..., None]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What does not change between the questions of one lookahead."""

    hands: npt.NDArray[np.int64]
    playing: npt.NDArray[np.int64]
    all_in: npt.NDArray[np.int64]
    equity: Floats  # [hands, hands] of the opponent's hands for ours
    chips: Floats  # [all-ins, 1]
    cards: npt.NDArray[np.int64]  # [C]
    live: Floats  # [C, hands]
    chance: float
    pots: Floats  # [playing]
    bias: Floats  # [playing × C, width]


def _plan(network: FastMlp, game: Game, leaves: Leaves) -> _Plan:
    states, board = leaves.states, tuple(int(card) for card in leaves.boards[0])
    behind = np.array([min(game.stacks) > max(state.spent) for state in states])
    playing, all_in = np.nonzero(behind)[0], np.nonzero(~behind)[0]
    next_cards = deals(game, board)
    cards = np.array([after[-1] for after in next_cards.boards])
    pots = np.array([float(states[i].pot) for i in playing])
    shares = np.repeat(pots, len(cards)) / sum(game.stacks)
    added = network.biases(np.tile(cards, len(playing)), shares)
    bias = np.zeros((len(added), padded(added.shape[1])), np.float32)
    bias[:, : added.shape[1]] = added
    return _Plan(
        np.ascontiguousarray(leaves.hands[0]),
        playing,
        all_in,
        np.ascontiguousarray(equity_matrix(game, board).T, np.float64),
        np.array([float(min(states[i].spent)) for i in all_in]).reshape(-1, 1),
        cards,
        next_cards.live,
        next_cards.chance,
        pots,
        bias,
    )
