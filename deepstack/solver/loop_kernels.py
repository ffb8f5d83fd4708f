"""Iterations of an update rule, with everything that may happen between traversals.

A gadget chooses the range with which its player enters; leaves beyond a depth limit are valued by
Python (``callback_kernels``); and where a re-solver wants them, the values of the root's actions
and of the leaves are averaged over the iterations, with the weights of the strategy they are values
against.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel
from deepstack.solver.callback_kernels import ask
from deepstack.solver.cfr_kernels import (
    BEST,
    BOTH,
    DOWN,
    NOTHING,
    UP,
    UPDATE,
    Step,
    start,
    symmetrise,
    traverse,
    visit,
)
from deepstack.solver.gadget_kernels import gadget_learn, gadget_reach

Array = npt.NDArray[Any]


class Averages(NamedTuple):
    """Values of a player averaged with the weights of the opponent's strategy; or all empty."""

    weight: Array  # [2] sum of the weights
    slots: Array  # [2, slots of the root, width]
    leaves: Array  # [2, boards of the last stage, leaves, width]


def no_averages(dtype: npt.DTypeLike) -> Averages:
    return Averages(np.zeros(0), np.zeros((2, 0, 0), dtype), np.zeros((2, 0, 0, 0), dtype))


@kernel
def accumulate(tree, boards, work, averages, player, keep, add):
    """Weigh the values of a traversal that updated ``player`` into the averages.

    Leaves are read where they were put, so this comes before the next traversal.
    """
    kind = work.rows.dtype.type
    old, new = kind(keep), kind(add)
    averages.weight[player] = keep * averages.weight[player] + add
    width = boards.width[0]
    for s in range(averages.slots.shape[1]):
        at = work.at_rows[player, 0] + tree.source[player, s] * width
        scale = new * kind(tree.scale[player, s])
        for h in range(width):
            mean = old * averages.slots[player, s, h]
            averages.slots[player, s, h] = mean + scale * work.rows[at + h]
    last = len(boards.width) - 1
    width = boards.width[last]
    for b in range(averages.leaves.shape[1]):
        at = work.at_rows[player, last] + b * work.step[last] + tree.onward[last] * width
        for leaf in range(averages.leaves.shape[2]):
            for h in range(width):
                mean = old * averages.leaves[player, b, leaf, h]
                averages.leaves[player, b, leaf, h] = mean + new * work.rows[at + h]
            at += width


@kernel
def traverse_to_leaves(tree, boards, tables, work, ranges, step, first, last, leaf_values):
    """Down on all boards, one question for the leaves' values, and up again; 1 if it failed."""
    start(tree, boards, work, ranges, 0, 1)
    for player in range(2):
        averaging = step.averaging and first <= player and player <= last
        down = Step(
            step.mode,
            DOWN,
            step.positive,
            step.negative,
            step.keep,
            step.add,
            averaging,
            step.floor,
            step.predictive,
            step.fresh,
        )
        visit(tree, boards, tables, work, down, 0, 0, 1, 0, player, player)
    if step.mode == NOTHING:
        return 0
    if ask(leaf_values, first if first == last else 2) != 0:
        return 1
    up = Step(
        step.mode,
        UP,
        step.positive,
        step.negative,
        step.keep,
        step.add,
        step.averaging,
        step.floor,
        step.predictive,
        step.fresh,
    )
    visit(tree, boards, tables, work, up, 0, 0, 1, 0, first, last)
    return 0


@kernel
def iterate(
    tree,
    boards,
    tables,
    work,
    ranges,
    schedule,
    alternating,
    floor,
    predictive,
    fresh,
    gadget,
    averages,
    leaf_values,
):
    """Iterations by the rows of a schedule [n + 1, 4] (``UpdateRule.schedule``); 1 if one failed.

    In alternating updates the last row is read only for the average of player 0, whose strategy
    of the next iteration it belongs to; it is left to the call that continues. ``leaf_values`` is
    the address to ask for the values of leaves, or 0 without leaves.
    """
    hands = boards.hands[0]
    for t in range(len(schedule) - 1):
        up, down, keep, add = schedule[t]
        for turn in range(2 if alternating else 1):
            first, last = (turn, turn) if alternating else (0, 1)
            averaging = True
            if turn == 1:
                keep, add = schedule[t + 1, 2], schedule[t + 1, 3]
                averaging = t + 2 < len(schedule)
            step = Step(UPDATE, BOTH, up, down, keep, add, averaging, floor, predictive, fresh)
            if leaf_values == 0:
                traverse(tree, boards, tables, work, ranges, step, first, last)
            else:
                failed = traverse_to_leaves(
                    tree, boards, tables, work, ranges, step, first, last, leaf_values
                )
                if failed:
                    return 1
            if averaging and len(averages.weight) > 0:
                for player in range(first, last + 1):
                    accumulate(tree, boards, work, averages, player, keep, add)
            if first <= gadget.player and gadget.player <= last:
                player = gadget.player
                at = work.at_rows[player, 0] + tree.line_source[player, 0] * boards.width[0]
                gadget_learn(gadget, work.rows[at : at + hands], up, down, floor)
                gadget_reach(gadget, ranges[player])
    return 0


@kernel
def play_on(tree, boards, tables, work, step, reach, player):
    """Traverse the stages after the root's, with reach [lines, H] of the player's opponent."""
    hands, width = boards.hands[0], boards.width[0]
    first, last = tree.first_line[1], tree.first_line[2]
    for line in range(first, last):
        at = work.at_rows[player, 0] + tree.line_from[1 - player, line] * width
        for h in range(hands):
            work.rows[at + h] = reach[line - first, h]
    onward = work.at_rows[player, 0] + tree.onward[0] * width
    work.rows[onward : onward + (last - first) * width] = 0.0
    visit(tree, boards, tables, work, step, 1, 0, boards.boards[1], 0, player, player)
    symmetrise(tree, boards, work, 0, 0, player)


@kernel
def solve_onward(
    tree, boards, tables, work, reach, schedule, floor, predictive, fresh, begin, result
):
    """Solve the stages after the root's from scratch for reach [2, lines, H].

    The values [2, lines, H] are those of best responses to the average strategies (Burch 2017,
    Alg. 6). ``begin`` is where the later stages begin in the tables.
    """
    tables.regret[begin:] = 0.0
    tables.average[begin:] = 0.0
    if predictive:
        tables.prediction[begin:] = 0.0
    for t in range(len(schedule)):
        up, down, keep, add = schedule[t]
        step = Step(UPDATE, BOTH, up, down, keep, add, True, floor, predictive, fresh)
        for player in range(2):
            play_on(tree, boards, tables, work, step, reach[1 - player], player)
    step = Step(BEST, BOTH, 1.0, 1.0, 1.0, 0.0, False, floor, predictive, fresh)
    hands, width = boards.hands[0], boards.width[0]
    for player in range(2):
        play_on(tree, boards, tables, work, step, reach[1 - player], player)
        onward = work.at_rows[player, 0] + tree.onward[0] * width
        for line in range(result.shape[1]):
            for h in range(hands):
                result[player, line, h] = work.rows[onward + line * width + h]
