"""The engine's plain twin: the same iterations, written for reading.

Recursion over the betting tree and the boards, NumPy vectors over all hands of the game, showdowns
and folds by O(H²) matrices, every board by itself. It defines what the kernels must compute and is
held together with them by ``tests/solver/test_engine.py``; it is for small games and river spots.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards
from deepstack.game.showdown import strengths_of
from deepstack.game.state import State
from deepstack.solver.rules import UpdateRule
from deepstack.tree.betting import DECISION, FOLDED, SHOWDOWN, BettingTree, Raises, build_betting

Floats = npt.NDArray[np.float64]
Key = tuple[int, int, tuple[int, ...]]  # stage, node, board


class PlainEngine:
    """Regrets and averages by (stage, node, board), each [H, A]."""

    def __init__(
        self, root: State, ranges: npt.ArrayLike, raises: Raises, rule: UpdateRule
    ) -> None:
        self.game, self.rule = root.game, rule
        self.board = root.board
        self.tree: BettingTree = build_betting(root, raises)
        self.ranges = np.array(ranges, dtype=np.float64)
        held = hand_cards(len(self.game.deck), self.game.hole_cards)
        self.apart = ~(held[:, None, :, None] == held[None, :, None, :]).any(axis=(2, 3))
        self.ranges[:, self._blocked(self.board)] = 0.0
        self.mass = float(self.ranges[0] @ self.apart @ self.ranges[1])
        self.regret: dict[Key, Floats] = {}
        self.average: dict[Key, Floats] = {}
        self.prediction: dict[Key, Floats] = {}
        self.iterations = 0
        self._wins: dict[tuple[int, ...], Floats] = {}

    def _blocked(self, board: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        return blocked(board, len(self.game.deck), self.game.hole_cards)

    def wins(self, board: tuple[int, ...]) -> Floats:
        """[H, H] +1 where the row's hand wins, -1 where it loses, 0 for ties and clashes."""
        if board not in self._wins:
            held = hand_cards(len(self.game.deck), self.game.hole_cards).astype(np.int64)
            live = ~self._blocked(board)
            cards = [held[live], np.tile(np.array(board, np.int64), (int(live.sum()), 1))]
            strengths = np.zeros(len(held), np.int64)
            strengths[live] = strengths_of(self.game, np.concatenate(cards, axis=1))
            sign = np.sign(strengths[:, None] - strengths[None, :])
            self._wins[board] = sign * self.apart * live[:, None] * live[None, :]
        return self._wins[board]

    # ---- strategies

    def current(self, key: Key, actions: int) -> Floats:
        """The regret-matching strategy [H, A]."""
        regret = self.regret.get(key, np.zeros((self.game.hands, actions)))
        if self.rule.predictive:
            regret = regret + self.prediction.get(key, 0.0)
        return _normalised(np.maximum(regret, 0.0))

    def average_strategy(self, key: Key, actions: int) -> Floats:
        return _normalised(self.average.get(key, np.zeros((self.game.hands, actions))))

    # ---- iterations

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iterations += 1
            up, down, keep, add = self.rule.schedule(self.iterations, 1)[0]
            for players in ((0,), (1,)) if self.rule.alternating else ((0, 1),):
                for player in players:
                    self._accumulate(player, keep, add)
                self.update(players, up, down)

    def update(self, players: Iterable[int], up: float, down: float) -> None:
        """Move the regrets of some players, each against the strategies before the update."""
        before = dict(self.regret), dict(self.prediction)
        moved = []
        for player in players:
            self.regret, self.prediction = dict(before[0]), dict(before[1])
            self._update(player, up, down)
            mine = [key for key in self.regret if self._node(key).player == player]
            moved.append(({k: self.regret[k] for k in mine}, {k: self.prediction[k] for k in mine}))
        self.regret, self.prediction = dict(before[0]), dict(before[1])
        for regret, prediction in moved:
            self.regret.update(regret)
            self.prediction.update(prediction)

    def _node(self, key: Key):  # type: ignore[no-untyped-def]
        return self.tree.stages[key[0]].nodes[key[1]]

    def _accumulate(self, player: int, keep: float, add: float) -> None:
        """Add the player's current strategy, weighted by its own reach, to the average."""

        def visit(key: Key, reach: Floats) -> None:
            node = self._node(key)
            actions = len(node.slots)
            mine = node.player == player
            strategy = self.current(key, actions) if mine else np.ones((len(reach), actions))
            if mine:
                so_far = self.average.get(key, np.zeros((len(reach), actions)))
                self.average[key] = keep * so_far + add * reach[:, None] * strategy
            for a, slot in enumerate(node.slots):
                self._descend(key, slot, reach * strategy[:, a], visit)

        visit((0, 0, self.board), self.ranges[player])

    def _descend(self, key: Key, slot, reach, visit) -> None:  # type: ignore[no-untyped-def]
        """Call ``visit`` on what a slot leads to, on every board."""
        stage, _, board = key
        if slot.kind == DECISION:
            visit((stage, slot.target, board), reach)
        elif slot.kind not in (FOLDED, SHOWDOWN):
            line = self.tree.stages[stage + 1].lines[slot.target]
            for below, _ in self._deals(stage + 1, board):
                live = np.where(self._blocked(below), 0.0, reach)
                if line.kind == DECISION:
                    visit((stage + 1, line.target, below), live)

    def _deals(self, stage: int, board: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
        """The boards of the next round and the probability of each, given both hands."""
        count = self.game.board_cards[self.tree.stages[stage].round]
        left = [card for card in range(len(self.game.deck)) if card not in board]
        chance = 1.0 / comb(len(left) - 2 * self.game.hole_cards, count)
        return [(board + deal, chance) for deal in combinations(left, count)]

    def _update(self, player: int, up: float, down: float) -> None:
        def act(key: Key, children: list[Floats], strategy: Floats) -> Floats:
            values = np.stack(children, axis=1)
            mean = (strategy * values).sum(axis=1)
            gain = values - mean[:, None]
            regret = self.regret.get(key, np.zeros_like(gain))
            regret = np.where(regret > 0, up, down) * regret + gain
            self.regret[key] = np.maximum(regret, 0.0) if self.rule.floor else regret
            self.prediction[key] = gain
            if self.rule.fresh:
                return (self.current(key, len(children)) * values).sum(axis=1)
            return mean

        self._values(player, self.current, act)

    # ---- values

    def _values(self, player, strategy_of, act) -> Floats:  # type: ignore[no-untyped-def]
        """Counterfactual values [H] at the root, the opponent following ``strategy_of``.

        ``act(key, children, strategy)`` gives the value of the player's own nodes.
        """

        def node_value(key: Key, reach: Floats) -> Floats:
            node = self._node(key)
            strategy = strategy_of(key, len(node.slots))
            mine = node.player == player
            children = [
                slot_value(key, slot, reach if mine else reach * strategy[:, a], mine)
                for a, slot in enumerate(node.slots)
            ]
            return act(key, children, strategy) if mine else np.sum(children, axis=0)

        def slot_value(key: Key, slot, reach: Floats, mine: bool) -> Floats:  # type: ignore[no-untyped-def]
            stage, _, board = key
            if slot.kind == DECISION:
                return node_value((stage, slot.target, board), reach)
            if slot.kind == FOLDED:
                return (-slot.chips if mine else slot.chips) * (self.apart @ reach)
            if slot.kind == SHOWDOWN:
                return slot.chips * (self.wins(board) @ reach)
            return line_value(stage + 1, slot.target, board, reach)

        def line_value(stage: int, number: int, board: tuple[int, ...], reach: Floats) -> Floats:
            line = self.tree.stages[stage].lines[number]
            total = np.zeros(len(reach))
            for below, chance in self._deals(stage, board):
                dead = self._blocked(below)
                live = np.where(dead, 0.0, reach)
                if line.kind == DECISION:
                    value = node_value((stage, line.target, below), live)
                elif line.kind == SHOWDOWN:
                    value = line.chips * (self.wins(below) @ live)
                else:
                    value = line_value(stage + 1, line.target, below, live)
                total += chance * np.where(dead, 0.0, value)
            return total

        value = node_value((0, 0, self.board), self.ranges[1 - player])
        return np.where(self._blocked(self.board), 0.0, value)

    def exploitability(self) -> float:
        """Half the sum of what best responses to the average strategies win, in chips."""

        def best(key: Key, children: list[Floats], strategy: Floats) -> Floats:
            return np.max(children, axis=0)

        won = [self.ranges[p] @ self._values(p, self.average_strategy, best) for p in (0, 1)]
        return float(sum(won) / self.mass / 2)

    def expected_values(self) -> Floats:
        """Chips won by each seat [2] when both play their average strategies."""

        def follow(key: Key, children: list[Floats], strategy: Floats) -> Floats:
            return (strategy * np.stack(children, axis=1)).sum(axis=1)

        won = [self.ranges[p] @ self._values(p, self.average_strategy, follow) for p in (0, 1)]
        return np.array(won) / self.mass


def _normalised(weights: Floats) -> Floats:
    """Rows that sum to 1; uniform where nothing is positive."""
    total = weights.sum(axis=1, keepdims=True)
    uniform = np.full_like(weights, 1.0 / weights.shape[1])
    return np.divide(weights, total, out=uniform, where=total > 0)
