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
from typing import Protocol

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


class SmallNetwork(Protocol):
    """A start-of-round network of a small game (``deepstack.values.fast``)."""

    def bind(
        self, board: npt.ArrayLike, pot_fraction: npt.ArrayLike
    ) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]:
        """For N rows with a board card and a pot, as a share of both stacks: ranges
        [N, 2, hands] that sum to one each, to values [N, 2, hands] in pots."""
        ...


FLOOR = 1e-6
"""How much of a range is spread over all hands, so that two ranges can always coexist."""


@dataclass
class NetworkLeaves:
    """A start-of-round network, asked for every next card and averaged: the published form.

    For small games with one board card: every next card is asked at once, over all hands of the
    game. A called all-in is valued by its equity.
    """

    network: SmallNetwork
    game: Game

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        plan, game = self._plan(leaves), self.game
        result = np.empty(reach.shape)
        full = np.zeros((2, reach.shape[2], game.hands))
        full[:, :, plan.hands] = reach[:, 0]
        all_in = full[::-1, plan.all_in] @ plan.equity * plan.chips
        result[:, 0, plan.all_in] = all_in[:, :, plan.hands]
        if not len(plan.playing):
            return result
        given = full[:, plan.playing, None] * plan.live  # [2, L, C, hands]
        answer = _ask(plan.ask, given.reshape(2, -1, game.hands), plan.even, plan.pots)
        means = np.einsum("plch,ch->plh", answer.reshape(given.shape), plan.weight)
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

    _last: tuple[Leaves, _Plan] | None = None


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
    live: Floats  # [C, hands]
    weight: Floats  # [C, hands] the chance of a card where it is possible
    ask: Callable[..., Floats]
    even: Floats  # [L × C, hands] every hand that a board allows, alike
    pots: Floats  # [L × C]


def _nothing(ranges: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    raise AssertionError("no leaf with chips behind was asked about")


def _plan(network: SmallNetwork, game: Game, leaves: Leaves) -> _Plan:
    states, board = leaves.states, tuple(int(card) for card in leaves.boards[0])
    behind = np.array([min(game.stacks) > max(state.spent) for state in states])
    playing, all_in = np.nonzero(behind)[0], np.nonzero(~behind)[0]
    next_cards = deals(game, board)
    cards = np.array([after[-1] for after in next_cards.boards])
    pots = np.array([float(states[i].pot) for i in playing])
    ask = _nothing
    if len(playing):
        shares = np.repeat(pots, len(cards)) / sum(game.stacks)
        ask = network.bind(np.tile(cards, len(playing)), shares)
    chips = np.array([[float(min(states[i].spent))] for i in all_in]).reshape(-1, 1)
    return _Plan(
        leaves.hands[0],
        playing,
        all_in,
        equity_matrix(game, board).T.astype(np.float64),
        chips,
        next_cards.live,
        next_cards.chance * next_cards.live,
        ask,
        np.tile(next_cards.live / next_cards.live.sum(axis=1, keepdims=True), (len(playing), 1)),
        np.repeat(pots, len(cards)),
    )
