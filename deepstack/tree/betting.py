"""The betting of a public tree: what the players may do, apart from the cards.

Within a betting round nothing but the board distinguishes one public state from another with the
same actions, so a public tree is the product of two small things: the *betting tree* of this module
and the *board tree* of ``tree.boards``. A **stage** is a betting round of the tree. It begins with
one or more **lines** (the betting sequences of earlier stages that lead into it), each the root of
some decision nodes. An action of a node is a **slot**; a slot leads to another node of the stage,
or ends it: by a fold, by a showdown, or by going on to a line of the next stage. At a depth limit
the last stage goes on to **leaves**, to be valued by somebody else.

A line without decisions is an all-in that was called: the cards are dealt to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.run.errors import InputError

Raises = Callable[[State, int], tuple[int, ...]]
"""What a menu offers: raise totals in a state, given the raises already made in the round."""

DECISION, FOLDED, SHOWDOWN, NEXT = range(4)


@dataclass(slots=True)
class Slot:
    """An action of a node and where it leads.

    ``target`` is the node of the stage (DECISION), or the line of the next stage or the leaf
    (NEXT). ``chips`` is what the loser of a fold or showdown has put in.
    """

    action: Action
    kind: int
    target: int = -1
    chips: float = 0.0


@dataclass(slots=True)
class Node:
    """A decision: who acts, after which betting, with which slots."""

    state: State
    line: int
    raises: int
    slots: list[Slot] = field(default_factory=list)

    @property
    def player(self) -> int:
        assert self.state.actor is not None
        return self.state.actor


@dataclass(slots=True)
class Line:
    """The start of a stage: after which betting, and what it leads to.

    ``kind`` is DECISION (``target`` a node), or for an all-in NEXT (``target`` a line) or SHOWDOWN.
    """

    state: State
    kind: int
    target: int = -1
    chips: float = 0.0


@dataclass(slots=True)
class Stage:
    """A betting round of the tree. Parents stand before their children."""

    round: int
    lines: list[Line] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    @property
    def slots(self) -> int:
        return sum(len(node.slots) for node in self.nodes)


@dataclass(slots=True)
class BettingTree:
    """Stages from the root's round on; ``leaves`` are the states at a depth limit."""

    root: State
    stages: list[Stage]
    leaves: list[State]


def build_betting(root: State, raises: Raises, last_round: int | None = None) -> BettingTree:
    """The betting tree below a state.

    Args:
        root: a state of a two-player game in which somebody is to act.
        raises: which raise totals are offered; folds and calls always are where legal.
        last_round: the last betting round to include; what continues beyond it is a leaf.
    """
    game = root.game
    if game.players != 2:
        raise InputError(f"game {game.name} has {game.players} players: expected 2")
    if root.actor is None:
        raise InputError(f"state {root}: expected a state in which a player is to act")
    last = game.rounds - 1 if last_round is None else last_round
    if not root.round <= last < game.rounds:
        raise InputError(f"last round {last}: expected {root.round} to {game.rounds - 1}")
    starts = [root.with_hands(((),) * game.players)]
    stages = []
    for round_ in range(root.round, last + 1):
        stage = Stage(round_)
        onward: list[State] = []
        for start in starts:
            onward += _grow_line(stage, _in_round(start, round_), raises, len(onward))
        stages.append(stage)
        starts = onward
    return BettingTree(root, stages, leaves=starts)


def _grow_line(stage: Stage, start: State, raises: Raises, first: int) -> list[State]:
    """Add a line and its nodes, breadth first; what goes on to the next stage, counted from
    ``first``."""
    final = stage.round == start.game.rounds - 1
    if start.actor is None:  # an all-in that was called
        if final:
            stage.lines.append(Line(start, SHOWDOWN, chips=float(min(start.spent))))
            return []
        stage.lines.append(Line(start, NEXT, first))
        return [start]
    onward: list[State] = []
    raised = sum(action.kind == RAISE for action in start.betting[-1])
    queue = [Node(start, len(stage.lines), raised)]
    stage.lines.append(Line(start, DECISION, len(stage.nodes)))
    stage.nodes += queue
    for node in queue:
        for action in _actions(node, raises):
            after = node.state.apply(action)
            slot = Slot(action, DECISION)
            if action.kind == FOLD:
                slot.kind, slot.chips = FOLDED, float(node.state.spent[node.player])
            elif after.actor is not None and after.round == stage.round:
                child = Node(after, node.line, node.raises + (action.kind == RAISE))
                slot.target = len(stage.nodes)
                stage.nodes.append(child)
                queue.append(child)
            elif final:
                slot.kind, slot.chips = SHOWDOWN, float(min(after.spent))
            else:
                slot.kind, slot.target = NEXT, first + len(onward)
                onward.append(after)
            node.slots.append(slot)
    return onward


def _actions(node: Node, raises: Raises) -> list[Action]:
    folds = [Action(FOLD)] if node.state.legal.fold else []
    raised = [Action(RAISE, to) for to in raises(node.state, node.raises)]
    return [*folds, Action(CALL), *raised]


def _in_round(state: State, round_: int) -> State:
    """The betting of a round whatever its cards: where cards are owed, the lowest are dealt."""
    if state.cards_owed == 0 or state.round != round_:
        return state
    left = [card for card in range(len(state.game.deck)) if card not in state.board]
    return state.deal(tuple(left[: state.cards_owed]))


def limit_raises(state: State, raise_number: int) -> tuple[int, ...]:
    """The raise of a limit game, where it is legal."""
    bounds = state.legal.raise_to
    return () if bounds is None else (bounds[0],)
