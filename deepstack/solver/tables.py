"""A node of a solution as text: hands in groups, and the 13 × 13 grid of starting hands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.ranges import HANDS, format_grid, hand_classes
from deepstack.cards.strength import CLASSES, board_strengths, hand_class
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State
from deepstack.run.errors import InputError
from deepstack.solver.inspection import NodeView
from deepstack.solver.places import action_token

FEW = 24  # hands that are listed one by one
SHAPES = ("pairs", "suited", "offsuit")
KINDS = {"bet": RAISE, "fold": FOLD, "call": CALL, "check": CALL}


def is_holdem(game: Game) -> bool:
    """Whether hands are two cards of the 52-card deck."""
    return game.hands == HANDS and game.hole_cards == 2


def hand_groups(
    game: Game, board: tuple[int, ...]
) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Names of groups of hands, the strongest first, and the group of every hand [H]; -1: blocked.

    Few hands stand for themselves. Hands of two cards are grouped by what they make on the board,
    before it by their shape, and hands of one card by rank.
    """
    deck, held = game.deck, hand_cards(len(game.deck), game.hole_cards)
    groups: npt.NDArray[np.integer]
    names: tuple[str, ...]
    if game.hands <= FEW:
        groups = np.arange(game.hands)
        names = tuple(deck.format(hand[::-1]) for hand in held)
    elif is_holdem(game) and len(board) >= 3:
        groups, names = hand_class(board_strengths(board)), CLASSES
    elif game.hole_cards == 2:
        ranks, suits = np.divmod(held, len(deck.suits))
        pair, suited = (ranks[:, 0] == ranks[:, 1]), (suits[:, 0] == suits[:, 1])
        groups, names = np.where(pair, 2, np.where(suited, 1, 0)), SHAPES[::-1]
    else:
        groups, names = held[:, 0] // len(deck.suits), tuple(deck.ranks)
    ordered = len(names) - 1 - groups.astype(np.int64)
    ordered[blocked(board, len(deck), game.hole_cards)] = -1
    return names[::-1], ordered


def strategy_table(view: NodeView) -> str:
    """Who acts, and for every group of hands: its size and share, the actions, and its value."""
    game, actor = view.state.game, view.actor
    names, groups = hand_groups(game, view.state.board)
    weights = view.weights[actor]
    total = weights.sum()
    if not total > 0:
        return "the solved strategies never come here"
    digits = 2 if view.state.pot >= 100 else 4
    rows: list[list[str]] = []
    for name, members in [
        *((name, groups == number) for number, name in enumerate(names)),
        ("all", groups >= 0),
    ]:
        held = np.where(members, weights, 0.0)
        mass = held.sum()
        if not mass > 0:
            continue
        played = held @ view.strategy / mass
        value = held @ view.evs[actor] / mass
        hands = int((members & (view.ranges[actor] > 0)).sum())
        percents = [f"{100 * x:.1f}" for x in (mass / total, *played)]
        rows.append([name, f"{hands:,}", *percents, f"{value:.{digits}f}"])
    heads = ["", "hands", "share %", *(f"{label} %" for label in view.labels), "EV"]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = []
    for row in (heads, *rows):
        first, *others = row
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:{widths[0]}}", *cells]).rstrip())
    return "\n".join(lines)


def choose_actions(
    state: State, actions: Sequence[Action], labels: Sequence[str], word: str, chip: int = 1
) -> tuple[str, list[int]]:
    """Which of a node's actions a word means, and their name.

    ``bet`` means bets and raises of all sizes; ``fold`` and ``call`` are the others, and one size
    is written as in betting text (``b200``).
    """
    asked = word.strip().lower()
    if asked in KINDS:
        chosen = [n for n, action in enumerate(actions) if action.kind == KINDS[asked]]
        name = labels[chosen[0]] if len(chosen) == 1 else asked
        return f"{name} (any size)" if len(chosen) > 1 else name, chosen
    tokens = [action_token(state, action, chip) for action in actions]
    if asked not in tokens:
        sizes = [token for token in tokens if token[0] == "b"]
        raise InputError(f"action {word!r}: expected one of {', '.join([*KINDS, *sizes])}")
    at = tokens.index(asked)
    return labels[at], [at]


def class_frequencies(view: NodeView) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """By class of starting hands: how often each action is taken [169, A], and the class's mean
    weight in the range [169]; zeros for classes that are not held."""
    class_of_hand = hand_classes().class_of_hand
    weights = view.weights[view.actor]
    mass = np.bincount(class_of_hand, weights, minlength=169)
    columns = [
        np.bincount(class_of_hand, weights * column, minlength=169) for column in view.strategy.T
    ]
    played = np.stack(columns, axis=1) / np.where(mass > 0, mass, 1.0)[:, None]
    live = ~blocked(view.state.board)
    counts = np.bincount(class_of_hand, live, minlength=169)
    held = np.bincount(class_of_hand, view.ranges[view.actor], minlength=169)
    return played, np.where(mass > 0, held / np.maximum(counts, 1), 0.0)


def strategy_grid(view: NodeView, chosen: Sequence[int]) -> str:
    """The 13 × 13 grid of how often some actions are taken, in per cent."""
    played, _ = class_frequencies(view)
    return format_grid(played[:, list(chosen)].sum(axis=1).reshape(13, 13))
