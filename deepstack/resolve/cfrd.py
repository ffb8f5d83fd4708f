"""CFR-D: a game solved in its trunk, with subgames solved when they are needed and then forgotten.

N. Burch's thesis (2017), §5.2.3, §5.3 and algorithm 6. The trunk is the root's betting round. An
iteration

1. takes the trunk's strategies by regret matching and adds them to the trunk's average;
2. for every subgame (a line of betting and a board), takes the reach of both players, solves the
   subgame from scratch, and takes as each player's value the one of a best response to the other's
   solution: at hands that do not reach the subgame the solution may be anything;
3. adds those values to their mean over all iterations;
4. passes them up the trunk and updates its regrets.

There are the trunk's tables, one mean value for each player, subgame and hand, and the tables of
one subgame at a time. The result is the trunk's average strategy and the means, from which a gadget
finds the rest of the strategy again whenever it is wanted (``CfrD.complete``): a mean of values
that were weighted by our reach in an iteration is a value weighted by the reach of our average
strategy.

The trunk learns by plain CFR, both players at once and with a uniform average: with CFR+ it gains
nothing (§5.2.3), since subgame values jump between iterations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from deepstack.cards.boards import hand_permutation
from deepstack.cards.notation import blocked
from deepstack.game.state import State
from deepstack.resolve.gadgets import Cfrd
from deepstack.resolve.subgames import copy_strategy, dealt, entered_by, subgames
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import Leaves
from deepstack.solver.memory import Memory
from deepstack.solver.ranges import joint_mass
from deepstack.solver.rules import CFR, UpdateRule
from deepstack.tree.betting import Raises
from deepstack.tree.boards import root_group

Floats = npt.NDArray[np.float64]

TRUNK_RULE = replace(CFR, name="cfr_simultaneous", alternating=False)
NEVER = 1e-9
"""Weight of every hand where both players cannot be at once; it changes no value visibly."""


@dataclass(frozen=True, slots=True)
class SubgameSolve:
    """How a subgame is solved: the rule and the iterations."""

    rule: UpdateRule
    iterations: int

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InputError(f"iterations {self.iterations}: expected at least 1 for a subgame")


class SubgameValues:
    """The leaf evaluator of a trunk: every subgame solved, valued, and forgotten.

    Boards that differ by a relabelling of suits under which the root's ranges do not change are
    solved once: the trunk's strategies are alike under it too.

    Attributes:
        boards: the cards of every board after the root's round.
        mean: [L, B, 2, hands] mean over the iterations of both players' values, in chips, weighted
            by the opponent's reach and not by the chance of the board.
        iterations: how many times the trunk has asked.
        largest: the memory of the largest subgame so far.
    """

    def __init__(
        self,
        root: State,
        ranges: npt.ArrayLike,
        raises: Raises,
        solve: SubgameSolve,
        merge: bool = True,
    ) -> None:
        self.root, self.raises, self.solve = root, raises, solve
        game, self.iterations, self.largest = root.game, 0, Memory(0, 0, 0)
        if root.round + 1 >= game.rounds:
            raise InputError(f"root {root}: expected a round to come after the trunk's")
        count, deck = game.board_cards[root.round + 1], len(game.deck)
        left = [card for card in range(deck) if card not in root.board]
        dealt_cards = list(combinations(left, count))
        self.chance = 1 / comb(deck - len(root.board) - 2 * game.hole_cards, count)
        self.boards = [(*root.board, *cards) for cards in dealt_cards]
        self.mean = np.zeros((0, len(self.boards), 2, game.hands))
        group = root_group(game, root.board, np.asarray(ranges, np.float64))
        self._classes = _classes(root, dealt_cards, group if merge else group[:1])

    def values(self, leaves: Leaves, reach: npt.NDArray[np.floating]) -> Floats:
        """[2, 1, L, H] both players' values at the leaves, for their reach there."""
        game, hands = self.root.game, leaves.hands[0]
        result = np.zeros(reach.shape)
        if self.iterations == 0:
            self.mean = np.zeros((len(leaves.states), *self.mean.shape[1:]))
        self.iterations += 1
        for leaf, state in enumerate(leaves.states):
            if state.cards_owed == 0 or state.deal(self._classes[0][0]).actor is None:
                raise InputError(f"leaf {state}: expected a betting round after it")
            ranges = np.zeros((2, game.hands))
            ranges[:, hands] = reach[:, 0, leaf]
            for cards, members in self._classes:
                worth = self._solved(state.deal(cards), ranges)
                for board, image in members:
                    moved = np.empty_like(worth)
                    moved[:, image] = worth
                    mean = self.mean[leaf, board]
                    mean += (moved - mean) / self.iterations
                    result[:, 0, leaf] += self.chance * moved[:, hands]
        return result

    def _solved(self, state: State, ranges: Floats) -> Floats:
        """Values [2, hands] of both players at the root of a subgame, entered with ``ranges``."""
        values = np.zeros_like(ranges)
        game = self.root.game
        dead = blocked(state.board, len(game.deck), game.hole_cards)
        entered = np.where(dead, 0.0, ranges)
        if not entered.any():
            return values
        if joint_mass(game, entered) <= 0:
            # No deal brings both players here, so that any strategy is a solution; still, what one
            # does says what it would be worth to the other to come.
            entered = np.where(dead, 0.0, ranges + NEVER)
        engine = Engine(state, entered, self.raises, self.solve.rule, dtype=np.float64)
        engine.run(self.solve.iterations)
        if engine.memory.total > self.largest.total:
            self.largest = engine.memory
        values[:, engine.board_tree[0].hands[0]] = engine.root_values(BEST)
        return values


class CfrD:
    """A trunk under way.

    Args:
        root: where the trunk begins.
        ranges: [2, hands] of both seats there.
        raises: the raise totals that trees offer.
        solve: how subgames are solved.
        merge: solve boards alike once.
    """

    def __init__(
        self,
        root: State,
        ranges: npt.ArrayLike,
        raises: Raises,
        solve: SubgameSolve,
        *,
        merge: bool = True,
    ) -> None:
        self.raises = raises
        self.below = SubgameValues(root, ranges, raises, solve, merge)
        self.trunk = Engine(
            root,
            ranges,
            raises,
            TRUNK_RULE,
            dtype=np.float64,
            last_round=root.round,
            evaluator=self.below,
        )

    def run(self, iterations: int) -> None:
        """Go on for some iterations of the trunk."""
        self.trunk.run(iterations)

    @property
    def bytes(self) -> tuple[int, int]:
        """Memory of the trunk with the mean values, and of the largest subgame."""
        return self.trunk.memory.total + self.below.mean.nbytes, self.below.largest.total

    def complete(self, whole: Engine, solve: SubgameSolve) -> None:
        """Find the whole strategy again and put it into the average tables of a whole tree.

        Every subgame is solved once for each seat with the gadget of CFR-D, from the seat's average
        reach and the opponent's mean values. ``whole`` keeps its boards apart.
        """
        at = len(self.trunk.tables.average)
        whole.tables.average[:at] = self.trunk.tables.average
        numbers = {board: number for number, board in enumerate(self.below.boards)}
        for part in subgames(whole):
            means = self.below.mean[part.line, numbers[part.state.board]][:, part.hands]
            for seat in (0, 1):
                if not part.reach[seat].any():
                    continue  # we never come here, and owe nothing
                engine = entered_by(part, seat, self.raises, solve.rule)
                gadget = Cfrd(1 - seat, means[1 - seat], dealt(whole, part, 1 - seat))
                engine.run(solve.iterations, gadget)
                copy_strategy(engine, whole, part, (seat,), back=True)


def _classes(
    root: State, dealt_cards: list[tuple[int, ...]], group: npt.NDArray[np.int64]
) -> list[tuple[tuple[int, ...], list[tuple[int, npt.NDArray[np.int64]]]]]:
    """Cards to be dealt, one of every class; with its members: which board, and hands' images."""
    game = root.game
    ranks, suits = len(game.deck.ranks), len(game.deck.suits)
    numbers = {cards: number for number, cards in enumerate(dealt_cards)}
    images = [hand_permutation(row, ranks, game.hole_cards) for row in group]
    classes, known = [], set()
    for cards in dealt_cards:
        if cards in known:
            continue
        members = []
        for row, image in zip(group, images, strict=True):
            moved = tuple(sorted(card // suits * suits + int(row[card % suits]) for card in cards))
            if moved not in known:
                known.add(moved)
                members.append((numbers[moved], image))
        classes.append((cards, members))
    return classes
