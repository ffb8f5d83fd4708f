"""Where something is in a solved tree: the node of a betting and the board of some cards.

Betting is text from the root of the tree on. ``f`` folds, ``c`` (or ``k``) calls or checks,
``b200`` bets or raises to 200 chips counted in this betting round, as players say it, ``r300`` to
300 chips counted over the whole hand, as the competition writes it, and ``a`` goes all-in. A size
may be left out where the tree has only one. Spaces, commas and ``/`` between rounds may be written.

Boards that differ by a relabelling of suits may have been merged. Then the board of some cards is
the one that stands for its class, and hands have to be relabelled on the way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from deepstack.cards.boards import hand_permutation, relabel
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.game.text import format_chips
from deepstack.run.errors import InputError
from deepstack.tree.betting import DECISION, NEXT, BettingTree, Node
from deepstack.tree.boards import BoardStage

Ints = npt.NDArray[np.int64]

_TOKEN = re.compile(r"[fcka]|[br](\d+(?:\.\d+)?)?|[/\s,]")


@dataclass(frozen=True, slots=True)
class Place:
    """A decision node on a board.

    Attributes:
        stage: the betting round, counted from the root's.
        node: the node, counted in its stage.
        boards: the board of every stage from the root's to this one.
        image: [H] which hand each hand becomes on the board that stands for the one asked for.
        state: the state, with the board that was asked for.
    """

    stage: int
    node: int
    boards: tuple[int, ...]
    image: npt.NDArray[np.intp]
    state: State


def round_start(state: State) -> int:
    """What a player in the hand had put in when the present betting round began.

    Blinds that differ are bets of the first round, equal ones are antes that came before it.
    """
    if state.round == 0 and len(set(state.game.blinds)) > 1:
        return 0
    earlier = [a.to for actions in state.betting[:-1] for a in actions if a.kind == RAISE]
    return max([*earlier, *state.game.blinds])


def is_all_in(state: State, action: Action) -> bool:
    """Whether a raise is for the effective stack: more could not be called."""
    if action.kind != RAISE or state.actor is None:
        return False
    stacks = state.game.stacks
    others = [stack for seat, stack in enumerate(stacks) if seat != state.actor]
    return action.to >= min(stacks[state.actor], max(others))


def action_token(state: State, action: Action, chip: int = 1) -> str:
    """An action as it is written in betting text: ``f``, ``c``, ``b200``."""
    if action.kind != RAISE:
        return action.kind
    return "b" + format_chips((action.to - round_start(state)) / chip)


def action_label(state: State, action: Action, chip: int = 1) -> str:
    """An action in words, with amounts in chips of this betting round.

    >>> from deepstack.game.definition import load_game
    >>> from deepstack.game.text import parse_state
    >>> state = parse_state(load_game("hunl"), "r300c/r600", "|/Td9d6h")
    >>> [action_label(state, Action(*a)) for a in (("f",), ("c",), ("r", 1500), ("r", 20000))]
    ['fold', 'call 300', 'raise to 1200', 'all-in 19700']
    """
    if action.kind == FOLD:
        return "fold"
    if action.kind == CALL:
        return f"call {format_chips(state.to_call / chip)}" if state.to_call else "check"
    start = round_start(state)
    amount = format_chips((action.to - start) / chip)
    if is_all_in(state, action):
        return f"all-in {amount}"
    return f"raise to {amount}" if max(state.spent) > start else f"bet {amount}"


def find_node(tree: BettingTree, betting: str, chip: int = 1) -> tuple[int, int]:
    """Stage and node of a betting text."""
    walk = _Walk(tree, betting)
    position = 0
    while position < len(betting):
        match = _TOKEN.match(betting, position)
        if not match:
            raise InputError(
                f"betting {betting!r}: unknown action at {betting[position:][:8]!r}, expected "
                "f, c, a, b and chips of the round, or r and chips of the hand"
            )
        position = match.end()
        if match[0] == "/":
            walk.separate()
        elif match[0] in "fckabr" or match[1]:
            walk.go(_chosen(walk.at, match, chip, betting))
    return walk.end()


def find_state(tree: BettingTree, state: State) -> tuple[int, int]:
    """Stage and node of a state below the root."""
    root = tree.root
    before, after = root.betting, state.betting
    known = len(before) - 1
    if (
        state.game != root.game
        or after[:known] != before[:known]
        or len(after) <= known
        or after[known][: len(before[known])] != before[known]
    ):
        raise InputError(f"state {state}: expected one that follows the root, {root}")
    walk = _Walk(tree, str(state))
    for action in (
        *after[known][len(before[known]) :],
        *(a for r in after[known + 1 :] for a in r),
    ):
        slots = [slot.action for slot in walk.at.slots]
        if action not in slots:
            raise _not_offered(str(state), str(action), walk.at, 1)
        walk.go(slots.index(action))
    return walk.end()


class _Walk:
    """A way down a betting tree, for error messages under the name of a text."""

    def __init__(self, tree: BettingTree, text: str) -> None:
        self.tree, self.text = tree, text
        self.stage, self.node = 0, tree.stages[0].lines[0].target
        self.over = tree.stages[0].lines[0].kind != DECISION
        self.separated = 0

    @property
    def at(self) -> Node:
        if self.over:
            raise InputError(f"betting {self.text!r}: nobody is left to act")
        return self.tree.stages[self.stage].nodes[self.node]

    def go(self, choice: int) -> None:
        slot = self.at.slots[choice]
        if slot.kind == DECISION:
            self.node = slot.target
            return
        self.over = True
        if slot.kind == NEXT and self.stage + 1 < len(self.tree.stages):
            line = self.tree.stages[self.stage + 1].lines[slot.target]
            if line.kind == DECISION:
                self.stage, self.node, self.over = self.stage + 1, line.target, False

    def separate(self) -> None:
        self.separated += 1
        if self.separated != self.stage and not self.over:
            raise InputError(f"betting {self.text!r}: a '/' is misplaced")

    def end(self) -> tuple[int, int]:
        assert self.at is not None
        return self.stage, self.node


def _chosen(node: Node, match: re.Match[str], chip: int, text: str) -> int:
    """The place of a token's action among the slots of a node."""
    state, token = node.state, match[0]
    actions = [slot.action for slot in node.slots]
    raises = [n for n, action in enumerate(actions) if action.kind == RAISE]
    if token in "fck":
        kind = FOLD if token == "f" else CALL
        fitting = [n for n, action in enumerate(actions) if action.kind == kind]
    elif token == "a":
        fitting = [n for n in raises if is_all_in(state, actions[n])]
    elif match[1] is None:
        fitting = raises if len(raises) == 1 else []
    else:
        total = Fraction(match[1]) * chip + (round_start(state) if token[0] == "b" else 0)
        fitting = [n for n in raises if actions[n].to == total]
    if not fitting:
        raise _not_offered(text, token, node, chip)
    return fitting[-1]


def _not_offered(text: str, token: str, node: Node, chip: int) -> InputError:
    offered = ", ".join(action_token(node.state, slot.action, chip) for slot in node.slots)
    return InputError(f"betting {text!r}: {token!r} is not in the tree, expected {offered}")


def parse_board(game: Game, root: State, round_: int, board: object) -> tuple[int, ...]:
    """The board of a round below the root: all its cards, or those that came after the root's."""
    size, known = game.board_size(round_), root.board
    if board is None:
        cards: tuple[int, ...] = ()
    elif isinstance(board, str):
        cards = game.deck.parse(board)
    else:
        cards = tuple(int(card) for card in board)  # type: ignore[attr-defined]
    text = game.deck.format(cards)
    if len(cards) == size - len(known) and (known or not cards):
        cards = known + cards
    if len(cards) != size:
        later = f", or the {size - len(known)} after the root's" if known else ""
        raise InputError(f"board {text!r} of {len(cards)} cards: expected {size} cards{later}")
    game.deck.disjoint(cards)
    start = 0
    for number in range(root.round + 1):  # the cards of a round lie in any order
        end = game.board_size(number)
        if set(cards[start:end]) != set(known[start:end]):
            raise InputError(
                f"board {text!r}: expected it to begin with the root's, {game.deck.format(known)!r}"
            )
        start = end
    return known + cards[len(known) :]


def find_boards(
    game: Game, stages: list[BoardStage], group: Ints, cards: tuple[int, ...]
) -> tuple[tuple[int, ...], Ints]:
    """The boards from the root's to the one that stands for ``cards``, and the relabelling to it.

    ``group`` is the root's group of relabellings [g, suits] under which boards were merged.
    """
    relabelling = np.arange(len(game.deck.suits))
    boards = [0]
    known = stages[0].cards.shape[1]
    for above, stage in pairwise(stages):
        size = stage.cards.shape[1]
        images = np.sort(relabel(np.asarray(cards[known:size]), group[:, relabelling]), axis=-1)
        least = min(range(len(images)), key=lambda n: tuple(images[n]))
        relabelling = group[least][relabelling]
        group = group[(np.sort(relabel(images[least], group), axis=-1) == images[least]).all(-1)]
        first, end = above.first_child[boards[-1]], above.first_child[boards[-1] + 1]
        (found,) = np.nonzero((stage.cards[first:end, known:] == images[least]).all(axis=1))
        boards.append(int(first + found[0]))
        known = size
    return tuple(boards), relabelling


def locate(
    tree: BettingTree,
    stages: list[BoardStage],
    group: Ints,
    where: str | State,
    board: object = None,
    chip: int = 1,
) -> Place:
    """The node of a betting text or of a state, on a board (of a state: its own)."""
    root, game = tree.root, tree.root.game
    if isinstance(where, State):
        stage, node = find_state(tree, where)
        board = where.board if board is None else board
    else:
        stage, node = find_node(tree, where, chip)
    cards = parse_board(game, root, root.round + stage, board)
    boards, relabelling = find_boards(game, stages[: stage + 1], group, cards)
    image = hand_permutation(relabelling, len(game.deck.ranks), game.hole_cards)
    state = replace(tree.stages[stage].nodes[node].state, board=cards)
    return Place(stage, node, boards, image, state)
