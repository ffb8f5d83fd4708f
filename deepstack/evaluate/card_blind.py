"""Exact exploitability of players who ignore their cards, in limit games as large as hold'em.

M. Johanson, thesis 2016, table 2.1: always-fold, always-call, always-raise and half call, half
raise in heads-up limit hold'em. A best response to an arbitrary strategy there takes 76 days of
one processor. But the hands of a player who does not look at them stay equally likely whatever
they do, so a best response is a dynamic program over the responder's hand, the board and the pot:

1. After the last card a hand is one number, *k* = 2 · (hands it beats) + (hands it ties), of the
   hands the opponent can hold. What a start of the last round is worth is a function of its pot
   and k: a table.
2. A start of an earlier round is worth what its betting makes of the values of the rounds it can
   lead to, and those are means over the cards that can come.

Betting comes from the states of the game itself. Where a round starts it has a *line* for every
agent, every seat of the responder and every pot that the agent can let happen; the betting of all
lines of a round is compiled into one program that runs for all hands at once. All agents share
the cards, which take most of the time. Boards that differ by a relabelling of suits are visited
once: what a class of cards adds for a hand is its weight times the mean over relabelled hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.agents.rules import Triple
from deepstack.cards.boards import (
    canonical_boards,
    hand_permutation,
    next_cards,
    suit_permutations_fixing,
)
from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.evaluate.card_blind_kernels import (
    ADD,
    BLOCKED,
    LEAF,
    MAX,
    SCALE,
    STORE,
    Program,
    run_program,
    showdown_counts,
    sum_table,
)
from deepstack.game.definition import Game
from deepstack.game.showdown import strengths_of
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state, share_pot
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int16]
Each = Callable[[Callable[[Ints], Floats], Iterable[Ints]], Iterable[Floats]]
CardBlindAgent = Triple | tuple[float, float, float]


class Exploitability(NamedTuple):
    """What a best response wins a hand: chips by the seat it sits in, and the big blind."""

    by_seat: tuple[float, float]
    big_blind: int

    @property
    def chips(self) -> float:
        """The mean of both seats."""
        return sum(self.by_seat) / 2

    @property
    def mbb_by_seat(self) -> tuple[float, float]:
        """In thousandths of a big blind."""
        first, second = (1000 * chips / self.big_blind for chips in self.by_seat)
        return first, second

    @property
    def mbb(self) -> float:
        """The mean of both seats in thousandths of a big blind."""
        return 1000 * self.chips / self.big_blind


def card_blind_exploitability(
    game: Game, agent: CardBlindAgent, *, progress: Progress | None = None, threads: int = 1
) -> Exploitability:
    """What a best response wins from an agent that ignores its cards.

    Args:
        game: a limit game of two players with one or two private cards.
        agent: a rule-based player of the game, or its (fold, call, raise) probabilities.
        progress: counts ``count_steps(game)`` boards.
        threads: how many boards are looked at at a time.

    >>> from deepstack.game.definition import load_game
    >>> card_blind_exploitability(load_game("kuhn"), (1.0, 0.0, 0.0)).by_seat
    (1.0, 1.0)
    """
    return card_blind_exploitabilities(game, [agent], progress=progress, threads=threads)[0]


def card_blind_exploitabilities(
    game: Game,
    agents: Sequence[CardBlindAgent],
    *,
    progress: Progress | None = None,
    threads: int = 1,
) -> list[Exploitability]:
    """``card_blind_exploitability`` of several agents, in little more than the time of one."""
    if game.players != 2 or not game.limit:
        kind = "limit" if game.limit else "no-limit"
        raise InputError(
            f"game {game.name} is a {kind} game of {game.players} players: "
            "expected a limit game of 2"
        )
    if threads < 1:
        raise InputError(f"threads {threads}: expected at least 1")
    if not agents:
        return []
    plan = _plan(game, [_triple(game, agent) for agent in agents])
    pool = ThreadPoolExecutor(threads)

    def in_threads(task: Callable[[Ints], Floats], deals: Iterable[Ints]) -> Iterator[Floats]:
        for values in pool.map(task, deals):
            yield values
            if progress:
                progress.update(1)

    try:
        group = suit_permutations_fixing(ranks=len(game.deck.ranks), suits=len(game.deck.suits))
        values = _mean_over_deals(plan, (), group, 0, in_threads)
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for boards not begun
    seats = values.mean(axis=1).reshape(len(agents), 2).tolist()
    return [Exploitability((first, second), game.big_blind) for first, second in seats]


def count_steps(game: Game) -> int:
    """How many steps ``progress`` counts: boards of the first deal, if more are dealt after it.

    >>> from deepstack.game.definition import load_game
    >>> count_steps(load_game("limit_holdem"))
    1755
    """
    group = suit_permutations_fixing(ranks=len(game.deck.ranks), suits=len(game.deck.suits))
    dealt = [n for n in game.board_cards[:-1] if n]
    return len(_deals(game, (), group, dealt[0])[0]) if dealt else 1


def _triple(game: Game, agent: CardBlindAgent) -> Triple:
    if isinstance(agent, Triple):
        if agent.game != game:
            raise InputError(f"agent of game {agent.game.name}: expected one of {game.name}")
        return agent
    try:
        fold, call, raise_ = agent
    except (TypeError, ValueError):
        raise InputError(f"triple {agent}: expected three probabilities that sum to 1") from None
    return Triple(game, fold=fold, call=call, raise_=raise_)


# ---- betting


class Line(NamedTuple):
    """Where a round starts: for one agent, one seat of the responder, after some betting."""

    agent: int
    seat: int
    state: State


class _Compiler:
    """Writes the instructions of one round and collects the lines that follow it."""

    def __init__(self, agents: Sequence[Triple], round_: int) -> None:
        self.agents, self.round = agents, round_
        self.rows: list[tuple[int, int, float, float]] = []
        self.following: dict[tuple[int, int, tuple[int, ...]], tuple[int, Line]] = {}
        self.height = self.depth = 0

    def emit(self, op: int, column: int = 0, offset: float = 0.0, factor: float = 1.0) -> None:
        self.height += {LEAF: 1, SCALE: 0, ADD: -1, MAX: -1, STORE: -1}[op]
        self.depth = max(self.depth, self.height)
        self.rows.append((op, column, offset, factor))

    def value(self, line: Line) -> None:
        """Push what the line's state is worth to the responder."""
        state, agent, seat = line.state, self.agents[line.agent], line.seat
        if state.folded_out:
            self.emit(LEAF, offset=state.payoffs()[seat], factor=0.0)
        elif state.actor is None or state.round > self.round:
            self.leaf(line)
        elif state.actor == seat:
            for i, action in enumerate(_actions(state)):
                self.value(Line(line.agent, seat, state.apply(action)))
                if i > 0:
                    self.emit(MAX)
        else:
            kinds = dict(zip((FOLD, CALL, RAISE), agent.kinds(state.legal), strict=True))
            likely = [action for action in _actions(state) if kinds[action.kind] > 0]
            for i, action in enumerate(likely):
                probability = kinds[action.kind]
                self.value(Line(line.agent, seat, state.apply(action)))
                if i > 0:
                    self.emit(ADD, factor=probability)
                elif probability != 1:
                    self.emit(SCALE, factor=probability)

    def leaf(self, line: Line) -> None:
        """Push the value of a finished round: a showdown, or a line of the next round."""
        state, seat = line.state, line.seat
        if self.round == state.game.rounds - 1:
            shares = [share_pot(state.spent, state.folded, s)[seat] for s in ([0, 1], [1, 0])]
            lost, won = min(shares), max(shares)
            # a tie pays the mean of both, so the payoff is linear in k
            self.emit(LEAF, offset=lost, factor=won - lost)
        else:
            # in a limit game the chips are all that later betting depends on
            key = line.agent, seat, state.spent
            column, _ = self.following.setdefault(key, (len(self.following), line))
            self.emit(LEAF, column=column)

    def program(self, outputs: int) -> Program:
        op, column, offset, factor = zip(*self.rows, strict=True)
        return Program(
            np.array(op, np.int64),
            np.array(column, np.int64),
            np.array(offset, np.float64),
            np.array(factor, np.float64),
            outputs,
            self.depth,
        )


def _actions(state: State) -> list[Action]:
    fold, raise_to = state.legal
    raises = [] if raise_to is None else [Action(RAISE, raise_to[0])]
    return [Action(FOLD)] * fold + [Action(CALL)] + raises


def _deal_any(state: State) -> State:
    """The state with the board cards it is owed; which ones, betting does not care."""
    owed, known = state.cards_owed, len(state.board)
    return state.deal(tuple(range(known, known + owed))) if owed else state


def betting_programs(game: Game, agents: Sequence[Triple]) -> list[Program]:
    """The betting of every round, the lines of agents and seats as columns.

    A program turns the values of the lines of the next round, after their means over cards are
    taken, into the values of its own lines; the last one turns the share of the pot that a hand
    wins, one column, into them. Column 2a + s of the first round is agent a with the responder in
    seat s.
    """
    start = initial_state(game)
    lines = [Line(agent, seat, start) for agent in range(len(agents)) for seat in range(2)]
    programs = []
    for round_ in range(game.rounds):
        compiler = _Compiler(agents, round_)
        for column, line in enumerate(lines):
            compiler.value(line._replace(state=_deal_any(line.state)))
            compiler.emit(STORE, column=column)
        programs.append(compiler.program(len(lines)))
        lines = [line for _, line in compiler.following.values()]
    return programs


def run_program_plain(program: Program, inputs: Floats) -> Floats:
    """What a program makes of its inputs: float64 [columns, H] to [outputs, H]."""
    stack: list[Floats] = []
    outputs = np.empty((program.outputs, inputs.shape[1]))
    for op, column, offset, factor in zip(*program[:4], strict=True):
        if op == LEAF:
            stack.append(offset + factor * inputs[column])
        elif op == STORE:
            outputs[column] = stack.pop()
        elif op == SCALE:
            stack[-1] = factor * stack[-1]
        else:
            popped = stack.pop()
            stack[-1] = stack[-1] + factor * popped if op == ADD else np.maximum(stack[-1], popped)
    return outputs


# ---- cards


def showdown_counts_plain(strengths: Counts, cards: npt.NDArray[np.int16]) -> Counts:
    """2 · (hands beaten) + (hands tied) among the hands that an opponent can hold.

    int16 [n, H] strengths on n boards, 0 where the board blocks a hand, and int16 [H, hole] cards
    to int16 [H, n]; ``BLOCKED`` where the board blocks the hand.

    >>> one_card = np.array([[0], [1], [2]], np.int16)
    >>> showdown_counts_plain(np.array([[1, 2, 2]], np.int16), one_card).T.tolist()
    [[0, 3, 3]]
    """
    apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))  # [H, H]
    counts = np.full(strengths.T.shape, BLOCKED, np.int16)
    for b, row in enumerate(strengths):
        possible = apart & (row > 0)
        beaten, tied = row[:, None] > row, row[:, None] == row
        count = ((2 * beaten + tied) * possible).sum(axis=1)
        counts[row > 0, b] = count[row > 0]
    return counts


def sum_table_plain(counts: Counts, weights: Floats, table: Floats) -> Floats:
    """What the table says of every count, summed over boards: to float64 [columns, H].

    counts: int16 [H, n]; weights: float64 [n] of the boards; table: float64 [counts, columns].
    Blocked hands add nothing.
    """
    held = np.where(counts == BLOCKED, 0.0, weights)  # [H, n]
    return np.einsum("hn,hnj->jh", held, table[counts])


def _strengths(game: Game, boards: Ints) -> Counts:
    """Strengths of all hands on full boards: [n, cards] to int16 [n, H], 0 where blocked."""
    if game.showdown == "five-card" and game.hole_cards == 2:
        return board_strengths(boards)
    deck, hands = len(game.deck), hand_cards(len(game.deck), game.hole_cards)
    result = np.zeros((len(boards), len(hands)), np.int16)
    for row, board in zip(result, boards, strict=True):
        free = ~blocked(board.tolist(), deck, game.hole_cards)
        shown = np.broadcast_to(board, (int(free.sum()), len(board)))
        values = strengths_of(game, np.concatenate([hands[free], shown], axis=1))
        # only the order matters, and the kernel sorts small numbers
        row[free] = 1 + np.unique(values, return_inverse=True)[1]
    return result


class _Plan(NamedTuple):
    """What every board needs: betting of all rounds but the last, and the table of the last."""

    game: Game
    programs: list[Program]
    table: Floats  # [2n + 1, columns] for the n hands an opponent can hold at the showdown


def _plan(game: Game, agents: Sequence[Triple]) -> _Plan:
    programs = betting_programs(game, agents)
    seen = game.hole_cards + sum(game.board_cards)
    n = comb(len(game.deck) - seen, game.hole_cards)
    table = _run(programs.pop(), np.arange(2 * n + 1)[None] / (2 * n))
    if programs:
        # Seats often come to the same, and the table is what the time is spent on.
        table, same = np.unique(table, axis=0, return_inverse=True)
        columns, leaves = programs[-1].column, programs[-1].op == LEAF
        columns[leaves] = same.reshape(-1)[columns[leaves]]
    return _Plan(game, programs, np.ascontiguousarray(table.T))


def _run(program: Program, inputs: Floats) -> Floats:
    outputs = np.empty((program.outputs, inputs.shape[1]))
    run_program(program, inputs, outputs)
    return outputs


def _deals(game: Game, board: tuple[int, ...], group: Ints, n: int) -> tuple[Ints, Ints]:
    """The next n cards up to relabellings of ``group``, which fix the board.

    Returns cards [m, n] and weights [m].
    """
    ranks, suits = len(game.deck.ranks), len(game.deck.suits)
    if n > 0 and not board:
        return canonical_boards(n, ranks, suits)
    if n == 1 and len(group) > 1:
        cards, weights, _, _ = next_cards(board, group, ranks, suits)
        return cards[:, None], weights
    left = [card for card in range(len(game.deck)) if card not in board]
    every = np.array(list(combinations(left, n)), np.int64)
    return every, np.ones(len(every), np.int64)


def _mean_over_deals(
    plan: _Plan, board: tuple[int, ...], group: Ints, round_: int, each: Each = map
) -> Floats:
    """What the lines of a round are worth before its cards are dealt: float64 [columns, H].

    ``group`` holds the relabellings of suits that fix the cards of every earlier round. Values of
    hands that the board blocks have no meaning. ``each`` maps a task over the first deal that has
    several outcomes.
    """
    game = plan.game
    n = game.board_cards[round_]
    cards, weights = _deals(game, board, group, n)
    if round_ == game.rounds - 1:
        (total,) = each(partial(_last_round, plan, board, weights), [cards])
    elif len(cards) == 1:
        total = weights[0] * _round(plan, board, group, round_, cards[0], each)
    else:
        total = np.zeros((plan.programs[round_].outputs, game.hands))
        task = partial(_round, plan, board, group, round_)
        for weight, values in zip(weights, each(task, cards), strict=True):
            total += weight * values
    if len(group) > 1:
        ranks, hole = len(game.deck.ranks), game.hole_cards
        images = [hand_permutation(relabelling, ranks, hole) for relabelling in group]
        total = np.mean([total[:, image] for image in images], axis=0)
    return total / comb(len(game.deck) - game.hole_cards - len(board), n)


def _round(
    plan: _Plan,
    board: tuple[int, ...],
    group: Ints,
    round_: int,
    cards: Ints,
    each: Each = map,
) -> Floats:
    """What the lines of a round are worth when its cards [n] lie there; 0 for blocked hands."""
    game = plan.game
    ranks, suits = len(game.deck.ranks), len(game.deck.suits)
    if len(group) > 1:
        group = suit_permutations_fixing(cards, among=group, ranks=ranks, suits=suits)
    dealt = (*board, *cards.tolist())
    values = _run(plan.programs[round_], _mean_over_deals(plan, dealt, group, round_ + 1, each))
    values[:, blocked(dealt, len(game.deck), game.hole_cards)] = 0.0
    return values


def _last_round(plan: _Plan, board: tuple[int, ...], weights: Ints, cards: Ints) -> Floats:
    """What the lines of the last round are worth, summed over its cards [m, n] by weight."""
    game = plan.game
    deck, hole = len(game.deck), game.hole_cards
    known = np.tile(np.array(board, np.int64), (len(cards), 1))
    strengths = _strengths(game, np.concatenate([known, cards], axis=1))
    counts = np.empty(strengths.T.shape, np.int16)
    showdown_counts(strengths, hand_cards(deck, hole), deck, counts)
    total = np.empty((plan.table.shape[1], game.hands))
    sum_table(counts, weights.astype(np.float64), plan.table, total)
    return total
