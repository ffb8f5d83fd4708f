"""A family of ranges that re-solving meets: what lookaheads ask their leaves.

A lookahead of one betting round is solved from a random state with random ranges, half of the time
with a CFR-D gadget for one of the players, as re-solving does. The two players' reach at a random
leaf in a random iteration are the ranges of a situation, with the chips that lie there: at the end
of the lookahead's round, or at the start of the next one after a random deal. Such ranges have
sharp edges, hands that are never held, and two sides that answer each other.

Leaves are valued as if both players checked to the end: exact equity, one small product an
iteration, which is what keeps the family cheap. Several situations come from one lookahead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from data_gen.places import Place, live_count, live_hands, round_start
from data_gen.random_ranges import random_ranges
from deepstack.game.definition import Game
from deepstack.game.state import CALL, RAISE, Action, State, initial_state
from deepstack.resolve.gadgets import Cfrd
from deepstack.run.errors import InputError
from deepstack.solver.batched_equity import Margins, allin_margins, allin_values
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import Leaves
from deepstack.solver.rules import DCFR
from deepstack.tree.betting import Raises, build_betting

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]

DRAWS = 8
"""Situations from one lookahead, at most."""
ITERATIONS = 24
STAY = 0.5
"""Chance that the root of a lookahead is the state reached so far, at every step from the start of
the round."""
GADGET = 0.5
"""Share of the lookaheads that are solved with a gadget."""
SPREAD = 0.2
"""Of the gadget's constraints around the values of checking down, in pots."""
RULE = replace(DCFR, alternating=False)
"""Both players at once: one question for the leaves an iteration."""
LEAST = 1e-12
"""Least mass of a range that is worth a situation."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a leaf was asked: the betting that led to it and both ranges [2, H], not normalised."""

    leaf: State
    ranges: npt.NDArray[np.float64]


class CheckedDown:
    """Leaves as if both players checked to the end, on one board; a leaf evaluator."""

    def __init__(self, margins: Margins) -> None:
        self.margins = margins

    def values(self, leaves: Leaves, reach: Floats) -> Floats:
        """[2, 1, L, H] in chips; hands in ascending order."""
        chips = np.array([min(state.spent) for state in leaves.states], reach.dtype)
        rows = np.ascontiguousarray(reach[::-1].reshape(-1, 1, reach.shape[-1]))
        out = np.empty_like(rows)
        allin_values(self.margins.counts[None], self.margins.run_outs, rows, out)
        return out.reshape(reach.shape) * chips[:, None]


def play_ranges(
    place: Place, boards: Ints, contributions: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """Boards [N, C], chips each player has put in [N] and ranges [N, 2, H] from lookaheads.

    At the end of a round boards stay as they are given, at the start the cards just dealt are
    drawn anew. Chips are those at the leaf of a lookahead that began with no more than given.
    """
    game, round_ = place.game, place.round if place.end else place.round - 1
    if round_ < 0:
        raise InputError("range family 'play': there is no round before the first")
    boards, chips = boards.copy(), contributions.copy()
    ranges = np.empty((len(boards), 2, live_count(game, boards.shape[1])))
    for rows in _groups(boards, place.end):
        board = boards[rows[0]]
        if not place.end:
            board = np.sort(rng.permutation(board)[: game.board_size(round_)])
        # pots grow in a lookahead, so it begins with smaller ones than those wanted
        least = max(game.blinds)
        begun = int(least * (max(chips[rows[0]], least) / least) ** rng.random())
        queries = leaf_queries(place, round_, board, begun, len(rows), rng)
        for row, query in zip(rows, queries, strict=True):
            chips[row] = min(query.leaf.spent)
            if place.end:
                ranges[row] = query.ranges
            else:
                boards[row], ranges[row] = _deal(game, board, boards.shape[1], query, rng)
    return boards, chips, ranges / ranges.sum(axis=2, keepdims=True)


def _groups(boards: Ints, same_board: bool) -> list[npt.NDArray[np.int64]]:
    """Rows that share a lookahead."""
    rows = np.arange(len(boards))
    parts = [rows]
    if same_board:
        parts = np.split(rows, np.flatnonzero((boards[1:] != boards[:-1]).any(axis=1)) + 1)
    return [part[i : i + DRAWS] for part in parts for i in range(0, len(part), DRAWS)]


def leaf_queries(
    place: Place, round_: int, board: Ints, chips: int, count: int, rng: np.random.Generator
) -> list[Query]:
    """What the leaves of a lookahead were asked, in some of its iterations.

    Args:
        place: its game and menu.
        round_, board: of the lookahead.
        chips: each player has put in at the start of its round.
        count: how many queries.
    """
    game, raises = place.game, place.menu.raises
    cards = tuple(int(card) for card in board)
    start = initial_state(game) if round_ == 0 else round_start(game, round_, cards, chips)
    root = random_root(start, raises, rng)
    tree = build_betting(root, raises, round_)
    if not any(_plays_on(leaf) for leaf in tree.leaves):
        root = start
        tree = build_betting(root, raises, round_)
    margins = allin_margins(cards, game)
    full = np.zeros((2, game.hands))
    hands = live_hands(game, board)
    full[:, hands] = random_ranges(game, board[None], rng)[0]
    engine = Engine(
        root,
        full,
        raises,
        RULE,
        merge=False,
        last_round=round_,
        evaluator=CheckedDown(margins),
    )
    assert (engine.board_tree[0].hands[0] == hands).all()
    wanted = np.sort(rng.integers(ITERATIONS, size=count)).tolist()
    leaves = np.flatnonzero([_plays_on(leaf) for leaf in tree.leaves])
    found: list[Query] = []
    asked = 0

    def watch(player: int, reach: Floats) -> None:
        nonlocal asked
        for _ in range(wanted.count(asked)):
            mass = reach[:, 0, leaves].sum(axis=2).min(axis=0)
            possible = leaves[mass > LEAST]
            # checking is always possible; only float32 can make nothing of it
            leaf = int(rng.choice(possible if len(possible) else leaves))
            ranges = reach[:, 0, leaf].astype(np.float64)
            ranges[ranges.sum(axis=1) <= LEAST] = 1.0
            found.append(Query(tree.leaves[leaf], ranges))
        asked += 1

    engine.watch = watch
    gadget = None
    if rng.random() < GADGET:
        gadget = _gadget(root, int(rng.integers(2)), full[:, hands], margins, rng)
    engine.run(wanted[-1] + 1, gadget)
    rng.shuffle(found)
    return found


def random_root(start: State, raises: Raises, rng: np.random.Generator) -> State:
    """A state of the round that begins with ``start``, after some random actions."""
    state, raised = start, 0
    while rng.random() > STAY:
        totals = [Action(RAISE, to) for to in raises(state, raised)]
        actions = [Action(CALL), *totals]
        chosen = actions[int(rng.integers(len(actions)))]
        after = state.apply(chosen)
        if after.actor is None or after.round != start.round:
            break
        state, raised = after, raised + (chosen.kind == RAISE)
    return state


def _plays_on(leaf: State) -> bool:
    """Chips are left to bet."""
    return max(leaf.spent) < min(leaf.game.stacks)


def _gadget(
    root: State, player: int, ranges: Floats, margins: Margins, rng: np.random.Generator
) -> Cfrd:
    """A gadget for a player, constrained to about what checking down is worth."""
    opponent = np.ascontiguousarray(ranges[1 - player], np.float64)[None, None]
    values = np.empty_like(opponent)
    allin_values(margins.counts[None], margins.run_outs, opponent, values)
    shift = rng.normal(0.0, SPREAD) * root.pot * opponent.sum()
    constraints = values[0, 0] * min(root.spent) + shift
    return Cfrd(player, constraints, np.ones(len(constraints)))


def _deal(
    game: Game, board: Ints, size: int, query: Query, rng: np.random.Generator
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """A board of ``size`` cards after a random deal, and the ranges [2, H] that it leaves."""
    left = np.setdiff1d(np.arange(len(game.deck)), board)
    hands = live_hands(game, board)
    full = np.zeros((2, game.hands))
    full[:, hands] = query.ranges
    while True:
        dealt = rng.choice(left, size - len(board), replace=False)
        after = np.sort(np.concatenate([board, dealt]))
        ranges = full[:, live_hands(game, after)]
        if (ranges.sum(axis=1) > LEAST * query.ranges.sum(axis=1)).all():
            return after, ranges
