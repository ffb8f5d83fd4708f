"""Constraints of a subgame that is solved again: what each hand of the opponent may be worth there.

Our strategy σ is fixed, S is a subgame of the second betting round (a line of betting on one
board), and for every hand h of the opponent a gadget needs a value c(h). N. Burch's thesis (2017)
knows four kinds:

- ``best_response`` (§5.2.4): the counterfactual value v_S(h) of a best response to σ;
- ``self_play`` (§5.4.2): the value under the opponent's own average strategy;
- ``non_subtree`` (§6.1.2): the best response that does not play into S;
- ``opponent_optimal`` (§6.1.2, lemma 27): the best response at the opponent's information set
  before S, over all actions, the one taken included, as DeepStack carries it.

**From an information set to its subgames.** The last two are values at the opponent's last
information set I before S, where it took action a. Write v(I·b)(h) for the best-response value of
action b there, and

    g(h) = max over b of v(I·b)(h) − v(I·a)(h),

with b over all actions (opponent_optimal: g ≥ 0, what the opponent gave up by taking a) or over
those that are not a (non_subtree: negative where a was its only best action). The value of I·a is a
sum over all that can follow before the opponent acts again: our responses, weighted by our reach,
and the boards, weighted by chance,

    v(I·a)(h) = Σ over S below I·a of w_S · v_S(h) + (our folds, and what follows our raises),

w_S the chance of the board given both hands. So if every v_S may rise by x_S, I·a rises by
Σ w_S · x_S, and x_S has to be chosen so that this is at most g. Here every S gets its share of the
opponent's way through I·a: with m_I(h) our reach at I summed over the hands that leave h possible,
and m_S(h) the same at S (after our response, without our hands that hold a card of the board),

    c_S(h) = v_S(h) + g(h) · m_S(h) / m_I(h).

The shares add up: Σ over boards of w_S · m_S(h) is our reach after the response, without cards, and
over all our responses that is m_I(h). What falls to our folds and raises is not used.

- *The opponent closed the round* by calling: no response of ours lies between, and with values a
  unit of our reach, every board gets the same g.
- *We closed the round*: the action of the opponent came before ours, and S has the part of g that
  goes with our call.
- *The opponent has not acted before S*: there is nothing it could have done instead; g is zero.

**What is promised.** With opponent_optimal constraints that are kept, no action at I is worth more
than its best one was, so every I keeps its value, and exploitability does not rise (lemma 27), even
if all subgames are solved again at once. Non-subtree constraints may ask for more than can be had;
what a gadget then makes small is the excess summed over hands. For a single S that is the
exploitability below I itself (the thesis's sketch of a proof), but it may move from one hand to
another, and with several subgames solved at once nothing is promised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import hand_cards
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE, BEST
from deepstack.solver.engine import Engine
from deepstack.tree.betting import DECISION, FOLDED

Floats = npt.NDArray[np.float64]

KINDS = ("best_response", "self_play", "non_subtree", "opponent_optimal")


class Choice(NamedTuple):
    """The opponent's last information set before a line, over the root's live hands.

    Attributes:
        taken: [H] best-response values of the action that leads to the line.
        instead: [H] of the best of the other actions.
        mass: [H] our reach there, summed over the hands that leave each hand possible.
    """

    taken: Floats
    instead: Floats
    mass: Floats


def constraint_values(
    whole: Engine, opponent: int, kind: str = "best_response"
) -> dict[tuple[int, int], Floats]:
    """Constraints of every subgame with decisions after the root's round: (line, board) → [H].

    Values of the board's live hands, in chips, weighted by our reach on the line and not by the
    chance of the board (as ``Engine.line_values``), against our average strategy in ``whole``, a
    tree whose boards are kept apart.
    """
    if kind not in KINDS:
        raise InputError(f"constraints {kind!r}: expected one of {', '.join(KINDS)}")
    if whole.merged or len(whole.board_tree) < 2:
        raise InputError("constraints: expected a tree of two rounds, without merged boards")
    mode = AVERAGE if kind == "self_play" else BEST
    lines = whole.betting_tree.stages[1].lines
    values = {
        (line, board): whole.line_values(line, board, opponent, mode)
        for line in range(len(lines))
        for board in range(whole.board_tree[1].boards)
    }
    if kind in ("non_subtree", "opponent_optimal"):
        chosen = last_choices(whole, opponent, values)
        for (line, board), shares in reach_shares(whole, opponent, chosen).items():
            choice = chosen[line]
            if choice is None:
                continue
            slack = choice.instead - choice.taken
            if kind == "opponent_optimal":
                slack = np.maximum(slack, 0.0)
            place = whole.board_tree[1].place_in_parent[board]
            values[line, board] = values[line, board] + slack[place] * shares
    return {key: worth for key, worth in values.items() if lines[key[0]].kind == DECISION}


def last_choices(
    whole: Engine, opponent: int, values: dict[tuple[int, int], Floats]
) -> list[Choice | None]:
    """For every line of the second stage, the opponent's last choice before it, if it had one.

    ``values`` are the best-response values of all lines on all boards.
    """
    stage, after = whole.betting_tree.stages[0], whole.board_tree[1]
    hands = int(whole.boards.hands[0])
    held = _held(whole, 0, 0)
    onward = np.zeros((len(whole.betting_tree.stages[1].lines), hands))
    for (line, board), worth in values.items():
        onward[line, after.place_in_parent[board]] += after.weight[board] * worth
    chosen: list[Choice | None] = [None] * len(onward)

    def descend(number: int, reach: Floats) -> tuple[Floats, list[int]]:
        """A node's value [H], and the lines below it that no choice of the opponent comes before.

        ``reach`` [H] is ours.
        """
        node = stage.nodes[number]
        theirs = node.player == opponent
        found, open_lines = [], []
        for slot, probability in zip(node.slots, _average(whole, number), strict=True):
            ours = reach if theirs else reach * probability
            if slot.kind == DECISION:
                value, lines = descend(slot.target, ours)
            elif slot.kind == FOLDED:
                sign = -1.0 if theirs else 1.0
                value, lines = sign * slot.chips * unblocked(held, ours), []
            else:
                value, lines = onward[slot.target], [slot.target]
            found.append(value)
            open_lines.append(lines)
        if not theirs:
            return np.sum(found, axis=0), [line for lines in open_lines for line in lines]
        mass = unblocked(held, reach)
        for taken, lines in enumerate(open_lines):
            others = [value for other, value in enumerate(found) if other != taken]
            for line in lines if others else []:
                chosen[line] = Choice(found[taken], np.max(others, axis=0), mass)
        return np.max(found, axis=0), []

    descend(0, whole.ranges[1 - opponent, :hands].astype(np.float64))
    return chosen


def reach_shares(
    whole: Engine, opponent: int, chosen: list[Choice | None]
) -> dict[tuple[int, int], Floats]:
    """m_S(h) / m_I(h) [H] of every line and board, where the opponent had a choice before."""
    after = whole.board_tree[1]
    reach = whole.line_reach(AVERAGE)[1 - opponent]
    shares = {}
    for line, choice in enumerate(chosen):
        if choice is None:
            continue
        for board in range(after.boards):
            place = after.place_in_parent[board]
            mass = unblocked(_held(whole, 1, board), reach[line, place])
            base = choice.mass[place]
            shares[line, board] = np.divide(mass, base, out=np.zeros_like(mass), where=base > 0)
    return shares


def unblocked(held: npt.NDArray[np.int64], weights: Floats) -> Floats:
    """For hands of the cards ``held`` [H, 1 or 2], the weight [H] of the hands that share none.

    >>> unblocked(np.array([[0], [1], [2]]), np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 5.0, 3.0]
    """
    sums = np.zeros(int(held.max()) + 1)
    for column in held.T:
        np.add.at(sums, column, weights)
    own = weights if held.shape[1] == 2 else 0.0
    # differences of sums: what is left of nothing is rounding
    return np.maximum(weights.sum() - sums[held].sum(axis=1) + own, 0.0)


def _held(whole: Engine, stage: int, board: int) -> npt.NDArray[np.int64]:
    """The cards [H, 1 or 2] of a board's live hands."""
    game = whole.game
    held = hand_cards(len(game.deck), game.hole_cards).astype(np.int64)
    return held[whole.board_tree[stage].hands[board]]


def _average(whole: Engine, node: int) -> Floats:
    """The average strategy [A, H] of a node of the root's round."""
    hands, width = int(whole.boards.hands[0]), int(whole.boards.width[0])
    rows = whole.tables.average[whole.table_rows(0, node, 0)].reshape(-1, width)[:, :hands]
    weights = rows.astype(np.float64)
    total = weights.sum(axis=0)
    return np.divide(weights, total, out=np.full_like(weights, 1 / len(weights)), where=total > 0)
