"""Exact equilibria of small games by linear programming, and plain recursions to check others by.

The sequence form of D. Koller, N. Megiddo and B. von Stengel, "Fast algorithms for finding
randomized strategies in game trees" (1994). A *sequence* of a player is what the player has done
on the way to a history; in games of perfect recall it names an information set and an action
there, or nothing at all. A strategy is a plan x with one weight a sequence: the empty sequence
weighs 1, and the actions of an information set share the weight of the sequence that leads to it,
which is linear (E x = e, F y = f). With A[i, j] the chance-weighted payoff of the leaves that the
sequences i and j lead to, x'Ay is the value of the game to seat 0, and an equilibrium plan solves

    max  f'v   subject to   F'v ≤ A'x,   E x = e,   x ≥ 0

where v are the values of the opponent's information sets against x.

Everything here walks the whole tree, deal by deal, with the rules of ``game`` and nothing else:
slow, obvious, and independent of the engine that it is a reference for.

A *strategy* is a dict from ``InfoSet`` to probabilities [A], in the order of ``actions_at``: fold
if there is something to call, call, raises ascending. Since a betting string tells whose turn it
is, one dict can hold both seats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from deepstack.game.definition import Game
from deepstack.game.size import count_deals, game_size
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.game.text import format_betting
from deepstack.run.errors import InputError

Floats = npt.NDArray[np.float64]
Raises = Callable[[State], Iterable[int]]
"""The totals a player may raise to. It may look at the betting, not at cards."""

SEQUENCE_LIMIT = 20_000
"""Sequences of both players above which a game is refused: seconds in the linear program."""
HISTORY_LIMIT = 1_000_000
"""Sequences times the opponent's hands above which a game is refused: a minute of walking."""
REACHED = 1e-9
"""The weight below which a sequence counts as never played: the noise of a linear program."""


class InfoSet(NamedTuple):
    """What the player to act knows: ``format_betting``, own hand, board (each round ascending)."""

    betting: str
    hand: tuple[int, ...]
    board: tuple[int, ...]


Strategy = Mapping[InfoSet, npt.ArrayLike]


# ---- the game tree


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a hand; what seat 0 wins, in chips."""

    payoff: float


@dataclass(frozen=True, slots=True)
class Chance:
    """Cards are dealt, all in the same probability."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A player acts; the children are in the order of the actions."""

    seat: int
    infoset: InfoSet
    children: tuple[Node, ...]


Node = Leaf | Chance | Decision


def actions_at(state: State, raises: Raises | None = None) -> tuple[Action, ...]:
    """The actions of the player to act: fold if legal, call, the raises in ascending order.

    ``raises`` gives the totals of the raises that count; totals that are not legal are dropped.
    Without it every legal raise counts.

    >>> from deepstack.game.definition import load_game
    >>> state = initial_state(load_game("nolimit_leduc")).apply(Action("r", 300))
    >>> [str(action) for action in actions_at(state, lambda state: (600, 1200, 5000))]
    ['f', 'c', 'r600', 'r1200']
    """
    fold, bounds = state.legal
    low, high = bounds or (1, 0)
    wanted = range(low, high + 1) if raises is None or bounds is None else raises(state)
    totals = sorted({int(total) for total in wanted if low <= total <= high})
    return (
        *((Action(FOLD),) if fold else ()),
        Action(CALL),
        *(Action(RAISE, total) for total in totals),
    )


@lru_cache(maxsize=4)
def game_tree(game: Game, raises: Raises | None = None) -> Node:
    """Every history of a two-player game, hands dealt first, or an error if that is too many."""
    _refuse_large(game, raises)
    deck = range(len(game.deck))

    def hands() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        for first in combinations(deck, game.hole_cards):
            rest = [card for card in deck if card not in first]
            for second in combinations(rest, game.hole_cards):
                yield first, second

    def grow(state: State) -> Node:
        if state.is_over:
            return Leaf(state.payoffs()[0])
        seat = state.actor
        if seat is None:
            seen = {*state.board, *state.hands[0], *state.hands[1]}
            rest = [card for card in deck if card not in seen]
            return Chance(tuple(grow(state.deal(c)) for c in combinations(rest, state.cards_owed)))
        infoset = InfoSet(format_betting(state), state.hands[seat], state.board)
        actions = actions_at(state, raises)
        return Decision(seat, infoset, tuple(grow(state.apply(action)) for action in actions))

    return Chance(tuple(grow(initial_state(game, pair)) for pair in hands()))


def count_sequences(game: Game, raises: Raises | None = None) -> int:
    """How many sequences both players have together, their two empty ones included.

    With ``raises`` the betting is walked, and the walk stops where the limit is passed.

    >>> from deepstack.game.definition import load_game
    >>> count_sequences(load_game("kuhn")), count_sequences(load_game("leduc"))
    (26, 2186)
    """
    seen = [
        count_deals(len(game.deck), (game.hole_cards, *game.board_cards[: r + 1]))
        for r in range(game.rounds)
    ]
    if raises is None:
        actions = game_size(game).betting_actions
        return 2 + sum(n * deals for n, deals in zip(actions, seen, strict=True))

    count, states = 2, [initial_state(game)]
    while states and count <= SEQUENCE_LIMIT:
        state = states.pop()
        if state.cards_owed:
            size = len(state.board)
            state = state.deal(tuple(range(size, size + state.cards_owed)))
        if state.actor is not None:
            actions_here = actions_at(state, raises)
            count += len(actions_here) * seen[state.round]
            states += [state.apply(action) for action in actions_here]
    return count


def _refuse_large(game: Game, raises: Raises | None) -> None:
    if game.players != 2:
        raise InputError(f"game {game.name}: {game.players} players: expected 2")
    count = count_sequences(game, raises)
    hands = comb(len(game.deck) - game.hole_cards, game.hole_cards)
    limit = min(SEQUENCE_LIMIT, HISTORY_LIMIT // hands)
    if count > limit:
        number = f"{count:,}" if count < 10**15 else f"about {count:.3g}"
        at_least = "at least " if raises is not None else ""
        raise InputError(
            f"game {game.name}: {at_least}{number} sequences: expected at most {limit:,} for a "
            f"table of every history, with {hands} hands of the opponent"
        )


# ---- plain recursions


def expected_value(
    game: Game, strategy0: Strategy, strategy1: Strategy, raises: Raises | None = None
) -> float:
    """What seat 0 wins on average, in chips, when seats play these strategies."""
    strategies = (strategy0, strategy1)

    def value(node: Node) -> float:
        if isinstance(node, Leaf):
            return node.payoff
        if isinstance(node, Chance):
            return sum(value(child) for child in node.children) / len(node.children)
        probabilities = _probabilities(strategies[node.seat], node)
        return sum(
            p * value(child)
            for p, child in zip(probabilities, node.children, strict=True)
            if p > 0.0
        )

    return value(game_tree(game, raises))


def best_response_value(
    game: Game, seat: int, opponent: Strategy, raises: Raises | None = None
) -> float:
    """What ``seat`` wins on average, in chips, with the best answer to the opponent's strategy."""
    tree = game_tree(game, raises)
    sign = 1.0 if seat == 0 else -1.0

    # the histories of each own information set, with the reach of chance and the opponent
    histories: dict[InfoSet, list[tuple[float, Decision]]] = {}

    def collect(node: Node, reach: float) -> None:
        if isinstance(node, Chance):
            for child in node.children:
                collect(child, reach / len(node.children))
        elif isinstance(node, Decision) and node.seat == seat:
            histories.setdefault(node.infoset, []).append((reach, node))
            for child in node.children:
                collect(child, reach)
        elif isinstance(node, Decision):
            probabilities = _probabilities(opponent, node)
            for p, child in zip(probabilities, node.children, strict=True):
                collect(child, reach * p)

    best: dict[InfoSet, int] = {}

    def value(node: Node) -> float:
        if isinstance(node, Leaf):
            return sign * node.payoff
        if isinstance(node, Chance):
            return sum(value(child) for child in node.children) / len(node.children)
        if node.seat != seat:
            probabilities = _probabilities(opponent, node)
            children = zip(probabilities, node.children, strict=True)
            return sum(p * value(child) for p, child in children)
        if node.infoset not in best:
            members = histories[node.infoset]
            worth = [
                sum(reach * value(member.children[a]) for reach, member in members)
                for a in range(len(node.children))
            ]
            best[node.infoset] = int(np.argmax(worth))
        return value(node.children[best[node.infoset]])

    collect(tree, 1.0)
    return value(tree)


def exploitability(
    game: Game, strategy0: Strategy, strategy1: Strategy, raises: Raises | None = None
) -> float:
    """Half of what the two best responses win together, in chips."""
    return 0.5 * (
        best_response_value(game, 0, strategy1, raises)
        + best_response_value(game, 1, strategy0, raises)
    )


def uniform_strategy(game: Game, raises: Raises | None = None) -> dict[InfoSet, Floats]:
    """Both seats' strategy that takes every action equally often."""
    return {
        node.infoset: np.full(len(node.children), 1 / len(node.children))
        for node in _decisions(game_tree(game, raises))
    }


def _decisions(node: Node) -> Iterator[Decision]:
    """All decisions, each after those that lead to it; an information set comes many times."""
    if isinstance(node, Decision):
        yield node
    if not isinstance(node, Leaf):
        for child in node.children:
            yield from _decisions(child)


def _probabilities(strategy: Strategy, node: Decision) -> list[float]:
    if node.infoset not in strategy:
        raise InputError(f"strategy: no probabilities at {node.infoset}")
    probabilities = np.asarray(strategy[node.infoset], np.float64)
    if probabilities.shape != (len(node.children),):
        raise InputError(
            f"strategy at {node.infoset}: shape {probabilities.shape}: "
            f"expected {len(node.children)} probabilities"
        )
    return probabilities.tolist()


# ---- the linear program


@dataclass(frozen=True, slots=True)
class LpSolution:
    """An equilibrium.

    Attributes:
        values: what each seat wins on average, in chips; each from its own program, so that they
            sum to zero only as far as both are right.
        strategy: probabilities by information set, of both seats; uniform where the player's own
            earlier play never leads.
        sequences: how many sequences each seat has, the empty one included.
    """

    values: tuple[float, float]
    strategy: dict[InfoSet, Floats]
    sequences: tuple[int, int]


class _Actions(NamedTuple):
    """The sequences [first, end) of an information set, and the one that leads to it."""

    parent: int
    first: int
    end: int


@dataclass(slots=True)
class _Sequences:
    """A seat's sequences, numbered as they are met; 0 is the empty one."""

    sets: dict[InfoSet, _Actions]
    count: int = 1

    def constraints(self) -> sparse.csr_array:
        """E [1 + I, S]: the empty sequence weighs 1, each information set shares its parent."""
        matrix = sparse.lil_array((1 + len(self.sets), self.count))
        matrix[0, 0] = 1.0
        for i, (parent, first, end) in enumerate(self.sets.values(), start=1):
            matrix[i, parent] = -1.0
            matrix[i, first:end] = 1.0
        return matrix.tocsr()

    def behaviour(self, plan: Floats) -> dict[InfoSet, Floats]:
        """Probabilities at every information set from a plan [S]."""
        result = {}
        for infoset, (parent, first, end) in self.sets.items():
            weights = np.maximum(plan[first:end], 0.0)
            reached = plan[parent] > REACHED and weights.sum() > 0.0
            weights = weights if reached else np.ones(end - first)
            result[infoset] = weights / weights.sum()
        return result


def solve_lp(game: Game, raises: Raises | None = None) -> LpSolution:
    """The equilibrium of a small two-player game, by one linear program a seat.

    In a no-limit game ``raises`` says which raises there are.
    """
    payoffs, seats = _sequence_form(game_tree(game, raises))
    constraints = [seat.constraints() for seat in seats]
    value0, plan0 = _plan(payoffs, constraints[0], constraints[1])
    value1, plan1 = _plan((-payoffs.T).tocsr(), constraints[1], constraints[0])
    return LpSolution(
        values=(value0, value1),
        strategy=seats[0].behaviour(plan0) | seats[1].behaviour(plan1),
        sequences=(seats[0].count, seats[1].count),
    )


def _sequence_form(tree: Node) -> tuple[sparse.csr_array, tuple[_Sequences, _Sequences]]:
    """Seat 0's payoffs [S0, S1], weighted by chance, and the seats' sequences."""
    seats = (_Sequences({}), _Sequences({}))
    entries: dict[tuple[int, int], float] = {}

    def walk(node: Node, chance: float, last: tuple[int, int]) -> None:
        if isinstance(node, Leaf):
            entries[last] = entries.get(last, 0.0) + chance * node.payoff
        elif isinstance(node, Chance):
            for child in node.children:
                walk(child, chance / len(node.children), last)
        else:
            own = seats[node.seat]
            if node.infoset not in own.sets:
                end = own.count + len(node.children)
                own.sets[node.infoset] = _Actions(last[node.seat], own.count, end)
                own.count = end
            for sequence, child in enumerate(node.children, own.sets[node.infoset].first):
                walk(child, chance, (sequence, last[1]) if node.seat == 0 else (last[0], sequence))

    walk(tree, 1.0, (0, 0))
    keys = np.array(list(entries)).T
    shape = (seats[0].count, seats[1].count)
    return sparse.coo_array((list(entries.values()), keys), shape=shape).tocsr(), seats


def _plan(
    payoffs: sparse.csr_array, own: sparse.csr_array, other: sparse.csr_array
) -> tuple[float, Floats]:
    """The value and a best plan [S] of the player who wins ``payoffs`` [S, S']."""
    sequences, sets = own.shape[1], other.shape[0]
    cost = np.zeros(sequences + sets)
    cost[
        sequences
    ] = -1.0  # linprog minimises; the value is that of the empty sequence's constraint
    result = linprog(
        cost,
        A_ub=sparse.hstack([-payoffs.T, other.T]),
        b_ub=np.zeros(payoffs.shape[1]),
        A_eq=sparse.hstack([own, sparse.csr_array((own.shape[0], sets))]),
        b_eq=np.eye(1, own.shape[0])[0],
        bounds=[(0, None)] * sequences + [(None, None)] * sets,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise RuntimeError(f"linear program of {sequences} sequences: {result.message}")
    return -float(result.fun), result.x[:sequences]
