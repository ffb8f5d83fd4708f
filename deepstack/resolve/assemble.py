"""The whole strategy of a re-solving agent, and its exact exploitability, in games small enough.

Every public state is visited, the agent is asked for its strategy there with what it would carry,
and the answers fill the tables of the whole game's tree, whose best response is exact.
"""

from __future__ import annotations

import numpy as np

from deepstack.game.state import State
from deepstack.resolve.continual import Carried, Resolver, Settings
from deepstack.run.progress import Progress
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR
from deepstack.tree.betting import DECISION, NEXT, Raises


def empty_game(resolver: Resolver, raises: Raises | None = None) -> Engine:
    """The tree of the resolver's game, boards apart, with bets of ``raises`` (default: its own)."""
    game = resolver.game
    menu = _menu(resolver.settings)
    offered = menu if raises is None else raises
    root = resolver.start().since
    ranges = np.ones((2, game.hands))
    return Engine(root, ranges, offered, CFR, dtype=np.float64, merge=False)


def best_response_value(
    resolver: Resolver, raises: Raises | None = None, progress: Progress | None = None
) -> float:
    """What a best response wins against a resolver, in chips a game.

    The responder may make the bets of ``raises`` too (default: only those of the resolver's menu);
    the resolver makes its own.
    """
    own, responder = _menu(resolver.settings), 1 - resolver.seat

    def offered(state: State, raised: int) -> tuple[int, ...]:
        totals = own(state, raised)
        if raises is None or state.actor != responder:
            return totals
        return tuple(sorted({*totals, *raises(state, raised)}))

    whole = empty_game(resolver, offered)
    fill_strategy(whole, resolver, progress)
    values = whole.root_values(BEST)[responder]
    return float((values * whole.ranges[responder, : len(values)]).sum() / whole.mass)


def grid_raises(step: int) -> Raises:
    """Every raise total that is a multiple of so many chips."""

    def raises(state: State, raised: int) -> tuple[int, ...]:
        bounds = state.legal.raise_to
        if bounds is None:
            return ()
        return tuple(range(-(-bounds[0] // step) * step, bounds[1] + 1, step))

    return raises


def _menu(settings: Settings) -> Raises:
    """The menus of all rounds as one."""
    return lambda state, raised: settings.of(state).raises(state, raised)


def decisions(whole: Engine, seat: int) -> int:
    """How many public states of the tree are a seat's to act in."""
    pairs = zip(whole.betting_tree.stages, whole.boards.boards, strict=True)
    return sum(
        int(boards) * sum(node.player == seat for node in stage.nodes) for stage, boards in pairs
    )


def fill_strategy(whole: Engine, resolver: Resolver, progress: Progress | None = None) -> None:
    """Put a resolver's strategy into the average tables of the whole tree."""
    seat = resolver.seat

    def visit(stage: int, number: int, board: int, state: State, carried: Carried) -> None:
        node = whole.betting_tree.stages[stage].nodes[number]
        decision = resolver.decide(carried, state) if node.player == seat else None
        if decision is not None:
            rows = whole.table_rows(stage, number, board)
            table = whole.tables.average[rows].reshape(len(node.slots), -1)
            hands = whole.board_tree[stage].hands[board]
            table[:, : len(hands)] = 0.0
            for column, action in enumerate(decision.actions):
                place = [slot.action for slot in node.slots].index(action)
                table[place, : len(hands)] = decision.probabilities[hands, column]
            if progress is not None:
                progress.update(1)
        for slot in node.slots:
            if decision is not None and slot.action not in decision.actions:
                continue
            onward = carried if decision is None else decision.after(slot.action)
            if slot.kind == DECISION:
                visit(stage, slot.target, board, state.apply(slot.action), onward)
            elif slot.kind == NEXT:
                deal(stage + 1, slot.target, board, state.apply(slot.action), onward)

    def deal(stage: int, number: int, parent: int, state: State, carried: Carried) -> None:
        line = whole.betting_tree.stages[stage].lines[number]
        if line.kind != DECISION:
            return
        first = whole.board_tree[stage - 1].first_child
        for board in range(int(first[parent]), int(first[parent + 1])):
            cards = whole.board_tree[stage].cards[board]
            dealt = tuple(int(card) for card in cards[len(state.board) :])
            visit(stage, line.target, board, state.deal(dealt), carried)

    visit(0, 0, 0, whole.root.with_hands(((), ())), resolver.start())
