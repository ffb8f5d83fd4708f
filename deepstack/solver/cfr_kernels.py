"""Counterfactual regret minimisation on a public tree, in vector form (Burch 2017, Alg. 3).

A *visit* of a board of a stage updates one player (or both at once). The opponent's strategy turns
into reach rows on the way down, folds and showdowns are evaluated for all rows together, the boards
below are visited in turn, and values come back up, where the updated player's regrets move. Only
hand vectors of the boards on the way from the root are held.

While a player's reach is computed anyway, because it is the opponent of the updated player, it also
goes into that player's average strategy: in alternating updates player 0's strategy of iteration
t + 1 is met by player 1's update in iteration t, so it is averaged there, with its own weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deepstack.run.jit import kernel
from deepstack.solver.simd import (
    LANES,
    transpose,
    vadd,
    vdiv,
    vload,
    vmax,
    vmul,
    vpositive,
    vsplat,
    vstore,
    vsub,
)
from deepstack.solver.terminal_kernels import fold_values, showdown_values, sum_cards

Array = npt.NDArray[Any]

# What a visit does with the nodes of the updated player: move their regrets; take the best action
# against the opponent's average or current strategy; follow their own average or current strategy
# against the same of the opponent; or nothing (only the way down).
UPDATE, BEST, BEST_OF_CURRENT, AVERAGE, CURRENT, NOTHING = range(6)
# Which way a visit goes: with leaves, all boards are left on the way down, then valued, then met
# again on the way up.
BOTH, DOWN, UP = range(3)


class Tables(NamedTuple):
    """What is learned: one row a slot and board."""

    regret: Array
    average: Array
    prediction: Array  # empty unless the rule predicts
    frozen: Array  # [boards × nodes of each stage] nodes whose strategy is locked; or empty
    at_slot: Array  # [stages] into regret, average, prediction
    at_node: Array  # [stages] into frozen


class Work(NamedTuple):
    """Rows of the visit under way, by updated player and stage.

    The players share their rows unless both are updated at once. All boards of a stage share them
    too (a step of 0), unless the tree has leaves.
    """

    rows: Array
    at_rows: Array  # [2, stages]
    step: Array  # [stages]
    lanes: Array
    sums: Array
    cursor: Array  # [2, stages] the board being visited, and where its siblings end


class Step(NamedTuple):
    """One traversal."""

    mode: int
    way: int
    positive: float  # factor of positive regrets before the update
    negative: float
    keep: float  # factor of the average before it is added to
    add: float  # weight of this strategy in the average
    averaging: bool  # accumulate the opponent's average
    floor: bool
    predictive: bool
    fresh: bool


@njit(nogil=True)
def _positive_part(tables, at, h, predictive):
    x = vload(tables.regret, at + h)
    if predictive:
        x = vadd(x, vload(tables.prediction, at + h))
    return vmax(x, vsplat(tables.regret, 0.0))


@kernel
def _is_frozen(tree, tables, stage, board, n):
    """Whether the strategy of a node is locked; it is then kept as the node's regrets."""
    if len(tables.frozen) == 0:
        return False
    first = tree.first_node[stage]
    nodes = tree.first_node[stage + 1] - first
    return tables.frozen[tables.at_node[stage] + board * nodes + n - first]


@kernel
def _descend(tree, tables, work, step, stage, board, width, at_slot, at_rows, opponent):
    """Reach rows of the opponent's slots, and their share in the opponent's average strategy."""
    reach, average = work.rows, tables.average
    first_slot = tree.first_slot[tree.first_node[stage]]
    keep, add = vsplat(reach, step.keep), vsplat(reach, step.add)
    predictive = step.predictive
    for n in range(tree.first_node[stage], tree.first_node[stage + 1]):
        if tree.player[n] != opponent:
            continue
        begin, end = tree.first_slot[n], tree.first_slot[n + 1]
        follow_average = step.mode == BEST or step.mode == AVERAGE
        follow_average &= not _is_frozen(tree, tables, stage, board, n)
        above = at_rows + tree.node_row[opponent, n] * width
        uniform = vsplat(reach, 1.0 / (end - begin))
        for h in range(0, width, LANES):
            total = vsplat(reach, 0.0)
            for s in range(begin, end):
                at = at_slot + (s - first_slot) * width
                if follow_average:
                    total = vadd(total, vload(average, at + h))
                else:
                    total = vadd(total, _positive_part(tables, at, h, predictive))
            mine = vload(reach, above + h)
            share = vdiv(mine, vpositive(total, total, vsplat(reach, 1.0)))
            even = vmul(mine, uniform)
            for s in range(begin, end):
                at = at_slot + (s - first_slot) * width
                if follow_average:
                    x = vload(average, at + h)
                else:
                    x = _positive_part(tables, at, h, predictive)
                x = vpositive(total, vmul(x, share), even)
                vstore(reach, at_rows + tree.slot_row[s] * width + h, x)
                if step.averaging:
                    sofar = vmul(keep, vload(average, at + h))
                    vstore(average, at + h, vadd(sofar, vmul(add, x)))


@kernel
def _evaluate_terminals(tree, boards, work, stage, board, width, at_rows, opponent):
    """Reach rows that meet a fold or a showdown turn into its values, sixteen at a time."""
    rows, lanes, sums = work.rows, work.lanes, work.sums
    hands, cards, per_card = boards.hands[stage], boards.cards[stage], boards.per_card[stage]
    at_hand = boards.at_hand[stage] + board * width
    at_live = boards.at_live[stage] + board * cards
    at_list = boards.at_list[stage] + board * cards * per_card
    show_end, fold_begin = tree.show_end[opponent, stage], tree.fold_begin[opponent, stage]
    scratch = at_rows + tree.fold_rows[stage] * width
    for row in range(0, tree.fold_end[opponent, stage], LANES):
        here = at_rows + row * width
        for h in range(0, width, LANES):
            transpose(rows, here + h, width, lanes, h * LANES, LANES)
        sum_cards(
            lanes, sums, boards.live, boards.lists, at_live, at_list, cards, per_card, boards.share
        )
        own = scratch + max(row - fold_begin, 0) * width  # rows of the folds beside showdowns
        if row < show_end:
            out = rows[own : own + width * LANES]
            showdown_values(
                lanes,
                out,
                sums,
                boards.live,
                boards.lists,
                boards.ties,
                at_live,
                at_list,
                cards,
                per_card,
                boards.group_end[at_hand : at_hand + hands],
                hands,
            )
            out[hands * LANES :] = 0.0
            for h in range(0, width, LANES):
                transpose(out, h * LANES, LANES, rows, here + h, width)
        if row >= fold_begin:
            fold_values(lanes, lanes, sums, boards.card1, boards.card2, at_hand, hands, boards.own)
            into = own if row < show_end else here
            for h in range(0, width, LANES):
                transpose(lanes, h * LANES, LANES, rows, into + h, width)


@kernel
def _ascend(tree, tables, work, step, stage, board, width, at_slot, at_rows, player):
    """Values of the nodes from their slots; the updated player's regrets move."""
    value, regret = work.rows, tables.regret
    base, first_slot = tree.first_node[stage], tree.first_slot[tree.first_node[stage]]
    for n in range(tree.first_node[stage + 1] - 1, base - 1, -1):
        begin, end = tree.first_slot[n], tree.first_slot[n + 1]
        into = at_rows + tree.node_value[player, n] * width
        if tree.player[n] != player:
            for h in range(0, width, LANES):
                x = vsplat(value, 0.0)
                for s in range(begin, end):
                    at = at_rows + tree.source[player, s] * width
                    x = vadd(x, vmul(vsplat(value, tree.scale[player, s]), vload(value, at + h)))
                vstore(value, into + h, x)
            continue
        frozen = _is_frozen(tree, tables, stage, board, n)
        if (step.mode == BEST or step.mode == BEST_OF_CURRENT) and not frozen:
            for h in range(0, width, LANES):
                x = vsplat(value, -np.inf)
                for s in range(begin, end):
                    at = at_rows + tree.source[player, s] * width
                    scale = vsplat(value, tree.scale[player, s])
                    x = vmax(x, vmul(scale, vload(value, at + h)))
                vstore(value, into + h, x)
            continue
        moves = step.mode == UPDATE and not frozen
        follow_average = step.mode == AVERAGE and not frozen
        uniform = vsplat(value, 1.0 / (end - begin))
        up, down = vsplat(value, step.positive), vsplat(value, step.negative)
        zero = vsplat(value, 0.0)
        for h in range(0, width, LANES):
            total = zero
            for s in range(begin, end):
                at = at_slot + (s - first_slot) * width
                if follow_average:
                    total = vadd(total, vload(tables.average, at + h))
                else:
                    total = vadd(total, _positive_part(tables, at, h, step.predictive))
            share = vdiv(vsplat(value, 1.0), vpositive(total, total, vsplat(value, 1.0)))
            mean = zero
            for s in range(begin, end):
                at = at_slot + (s - first_slot) * width
                if follow_average:
                    x = vload(tables.average, at + h)
                else:
                    x = _positive_part(tables, at, h, step.predictive)
                x = vpositive(total, vmul(x, share), uniform)
                child = vload(value, at_rows + tree.source[player, s] * width + h)
                x = vmul(x, vsplat(value, tree.scale[player, s]))
                mean = vadd(mean, vmul(x, child))
            if moves:
                total = zero
                for s in range(begin, end):
                    at = at_slot + (s - first_slot) * width
                    child = vload(value, at_rows + tree.source[player, s] * width + h)
                    gain = vsub(vmul(vsplat(value, tree.scale[player, s]), child), mean)
                    x = vload(regret, at + h)
                    x = vadd(vmul(x, vpositive(x, up, down)), gain)
                    if step.floor:
                        x = vmax(x, zero)
                    vstore(regret, at + h, x)
                    if step.predictive:
                        vstore(tables.prediction, at + h, gain)
                if step.fresh:
                    for s in range(begin, end):
                        at = at_slot + (s - first_slot) * width
                        total = vadd(total, _positive_part(tables, at, h, step.predictive))
                    share = vdiv(vsplat(value, 1.0), vpositive(total, total, vsplat(value, 1.0)))
                    mean = zero
                    for s in range(begin, end):
                        at = at_slot + (s - first_slot) * width
                        x = _positive_part(tables, at, h, step.predictive)
                        x = vpositive(total, vmul(x, share), uniform)
                        child = vload(value, at_rows + tree.source[player, s] * width + h)
                        x = vmul(x, vsplat(value, tree.scale[player, s]))
                        mean = vadd(mean, vmul(x, child))
            vstore(value, into + h, mean)


@kernel
def _rows_at(work, player, stage, board):
    """Where the rows of a board begin."""
    return work.at_rows[player, stage] + board * work.step[stage]


@kernel
def _onward_at(tree, boards, work, player, stage, board):
    """Where the continuations of a board begin."""
    return _rows_at(work, player, stage, board) + tree.onward[stage] * boards.width[stage]


@kernel
def _slot_at(tree, boards, tables, stage, board):
    """Where the tables of a board begin."""
    first, last = tree.first_node[stage], tree.first_node[stage + 1]
    slots = tree.first_slot[last] - tree.first_slot[first]
    return tables.at_slot[stage] + board * slots * boards.width[stage]


@kernel
def enter(tree, boards, work, stage, board, parent, player):
    """Reach rows of the lines that begin on a board, from its parent's."""
    above, below, hands = boards.width[stage - 1], boards.width[stage], boards.hands[stage]
    at_place = boards.at_hand[stage] + board * below
    at_parent = _rows_at(work, player, stage - 1, parent)
    at_board = _rows_at(work, player, stage, board)
    for line in range(tree.first_line[stage], tree.first_line[stage + 1]):
        source = at_parent + tree.line_from[1 - player, line] * above
        target = at_board + tree.line_row[1 - player, line] * below
        for h in range(hands):
            work.rows[target + h] = work.rows[source + boards.place[at_place + h]]
        for h in range(hands, below):
            work.rows[target + h] = 0.0


@kernel
def _leave(tree, boards, work, stage, board, parent, player):
    """Values of the lines that began on a board, into its parent's continuations."""
    above, below, hands = boards.width[stage - 1], boards.width[stage], boards.hands[stage]
    at_place = boards.at_hand[stage] + board * below
    at_board = _rows_at(work, player, stage, board)
    onward = _onward_at(tree, boards, work, player, stage - 1, parent)
    weight = boards.weight[boards.at_board[stage] + board]
    first = tree.first_line[stage]
    for line in range(first, tree.first_line[stage + 1]):
        source = at_board + tree.line_source[player, line] * below
        target = onward + (line - first) * above
        scale = work.rows.dtype.type(weight * tree.line_scale[player, line])
        for h in range(hands):
            work.rows[target + boards.place[at_place + h]] += scale * work.rows[source + h]


@kernel
def symmetrise(tree, boards, work, stage, board, player):
    """Add the images of the continuations under the board's group: the boards left out."""
    at = boards.at_board[stage] + board
    begin, end = boards.first_symmetry[at], boards.first_symmetry[at + 1]
    if end - begin == 1:
        return
    hands, width = boards.hands[stage], boards.width[stage]
    onward = _onward_at(tree, boards, work, player, stage, board)
    for line in range(tree.first_line[stage + 2] - tree.first_line[stage + 1]):
        row = onward + line * width
        for h in range(hands):
            total = work.rows.dtype.type(0)
            for g in range(begin, end):
                image = boards.symmetry[boards.at_symmetry[stage] + g * hands + h]
                total += work.rows[row + image]
            work.lanes[h] = total
        for h in range(hands):
            work.rows[row + h] = work.lanes[h]


@kernel
def go_down(tree, boards, tables, work, step, stage, board, player):
    """The way down on one board: reach rows of the updated player's opponent."""
    width = boards.width[stage]
    at_slot = _slot_at(tree, boards, tables, stage, board)
    at_rows = _rows_at(work, player, stage, board)
    _descend(tree, tables, work, step, stage, board, width, at_slot, at_rows, 1 - player)
    lines = tree.first_line[stage + 2] - tree.first_line[stage + 1]
    onward = _onward_at(tree, boards, work, player, stage, board)
    work.rows[onward : onward + lines * width] = 0.0


@kernel
def go_up(tree, boards, tables, work, step, stage, board, player):
    """The way up on one board, once its continuations are in place: values and regrets."""
    width = boards.width[stage]
    at_rows = _rows_at(work, player, stage, board)
    if stage + 1 < len(boards.width):
        symmetrise(tree, boards, work, stage, board, player)
    _evaluate_terminals(tree, boards, work, stage, board, width, at_rows, 1 - player)
    at_slot = _slot_at(tree, boards, tables, stage, board)
    _ascend(tree, tables, work, step, stage, board, width, at_slot, at_rows, player)


@kernel
def visit(tree, boards, tables, work, step, stage, begin, end, parent, first_player, last_player):
    """Boards ``begin`` … ``end - 1`` of a stage, children of ``parent``, and all below them.

    Depth first, by hand: numba cannot keep compiled recursive functions on disk.
    """
    cursor, limit = work.cursor[0], work.cursor[1]
    depth, cursor[stage], limit[stage] = stage, begin, end
    last_stage = len(boards.width) - 1
    while True:
        if cursor[depth] == limit[depth]:
            if depth == stage:
                return
            depth -= 1
        else:
            board = cursor[depth]
            if step.way != UP:
                for player in range(first_player, last_player + 1):
                    if depth > 0:
                        above = parent if depth == stage else cursor[depth - 1]
                        enter(tree, boards, work, depth, board, above, player)
                    go_down(tree, boards, tables, work, step, depth, board, player)
            if depth < last_stage:
                at = boards.at_board[depth] + board
                depth += 1
                cursor[depth], limit[depth] = boards.first_child[at], boards.first_child[at + 1]
                continue
        board = cursor[depth]
        if step.way != DOWN and step.mode != NOTHING:
            for player in range(first_player, last_player + 1):
                go_up(tree, boards, tables, work, step, depth, board, player)
                if depth > 0:
                    above = parent if depth == stage else cursor[depth - 1]
                    _leave(tree, boards, work, depth, board, above, player)
        cursor[depth] += 1


@kernel
def start(tree, boards, work, ranges, first_player, last_player):
    """Put the ranges [2, width] of the opponents of the updated players into the root's rows."""
    width = boards.width[0]
    for player in range(first_player, last_player + 1):
        at = work.at_rows[player, 0] + tree.line_row[1 - player, 0] * width
        work.rows[at : at + width] = ranges[1 - player]


@kernel
def traverse(tree, boards, tables, work, ranges, step, first_player, last_player):
    """The whole tree, once."""
    start(tree, boards, work, ranges, first_player, last_player)
    visit(tree, boards, tables, work, step, 0, 0, 1, 0, first_player, last_player)
