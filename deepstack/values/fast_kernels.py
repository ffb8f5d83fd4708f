"""A small network at all leaves of a lookahead at once, without a call of NumPy or torch.

``deepstack.values.leaves.NetworkLeaves`` has the plain form of this module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel
from deepstack.solver.simd import LANES, vadd, vload, vmul, vsplat, vstore

Array = npt.NDArray[Any]
ROWS = 4  # of situations that share a pass over the weights


class SmallNet(NamedTuple):
    """The weights of a ``FastMlp``: float32 and flat, widths W and M padded to whole vectors.

    b boards, h hands; the layers have one width.
    """

    see: Array  # [b × 2h × W] from ranges to the first layer
    own: Array  # [b × 2h, 4h] from ranges to what the outputs are multiplied with
    slopes: Array  # [layers, W]
    hidden: Array  # [layers - 1, W × W]
    hidden_bias: Array  # [layers - 1, W]
    head: Array  # [W × M]
    head_bias: Array  # [M]
    slots: Array  # [b, 4h] where in the last layer a hand's numbers are


@kernel
def _dense(x, width, weights, bias, out, wide, first):
    """Four rows of ``x`` times a matrix [width × wide], plus a bias, from row ``first`` on."""
    a, b, c, d = (first + 0) * width, (first + 1) * width, (first + 2) * width, (first + 3) * width
    for j in range(0, wide, LANES):
        p = vload(bias, j)
        q, r, s = p, p, p
        for i in range(width):
            w = vload(weights, i * wide + j)
            p = vadd(p, vmul(vsplat(x, x[a + i]), w))
            q = vadd(q, vmul(vsplat(x, x[b + i]), w))
            r = vadd(r, vmul(vsplat(x, x[c + i]), w))
            s = vadd(s, vmul(vsplat(x, x[d + i]), w))
        vstore(out, (first + 0) * wide + j, p)
        vstore(out, (first + 1) * wide + j, q)
        vstore(out, (first + 2) * wide + j, r)
        vstore(out, (first + 3) * wide + j, s)


@kernel
def _bend(x, slopes):
    for j in range(len(x)):
        if x[j] < 0:
            x[j] *= slopes[j % len(slopes)]


@kernel
def evaluate_rows(net, ranges, boards, bias, live, values):
    """Ranges [N, 2h] that sum to one each, on boards [N], to values [N, 2h] in pots.

    ``bias`` [N, W] is what the first layer adds; ``live`` [N, h] the hands that a board allows.
    """
    count, size = ranges.shape
    width, wide = net.slopes.shape[1], len(net.head_bias)
    hands, rows = size // 2, -(-count // ROWS) * ROWS
    x, y = np.zeros(rows * width, np.float32), np.empty(rows * width, np.float32)
    last = np.empty(rows * wide, np.float32)
    own = np.zeros((count, 2 * size), np.float32)
    for n in range(count):
        x[n * width : (n + 1) * width] = bias[n]
        for k in range(size):
            share = ranges[n, k]
            if share == 0:
                continue
            place = boards[n] * size + k
            for j in range(0, width, LANES):
                more = vmul(vsplat(x, share), vload(net.see, place * width + j))
                vstore(x, n * width + j, vadd(vload(x, n * width + j), more))
            for j in range(2 * size):
                own[n, j] += share * net.own[place, j]
    layers = len(net.slopes)
    for layer in range(layers):
        _bend(x, net.slopes[layer])
        if layer + 1 < layers:
            for first in range(0, rows, ROWS):
                _dense(x, width, net.hidden[layer], net.hidden_bias[layer], y, width, first)
            x, y = y, x
    for first in range(0, rows, ROWS):
        _dense(x, width, net.head, net.head_bias, last, wide, first)
    for n in range(count):
        surplus, both, at = np.float32(0), np.float32(0), n * wide
        for k in range(size):
            value = own[n, k] * last[at + net.slots[boards[n], k]]
            value += own[n, size + k] * last[at + net.slots[boards[n], size + k]]
            own[n, k] *= live[n, k % hands]
            values[n, k] = value
            surplus += value * ranges[n, k]
            both += own[n, k] * ranges[n, k]
        for k in range(size):
            values[n, k] = (values[n, k] - surplus / both * own[n, k]) * live[n, k % hands]


@kernel
def leaf_values(
    net, reach, hands, playing, all_in, equity, chips, cards, live, chance, pots, bias, floor, out
):
    """Values [2, 1, L, H] for reach [2, 1, L, H]; the plan of a lookahead as arrays.

    ``cards`` [C] next cards, ``live`` [C, h]; ``pots`` [playing], ``bias`` [playing × C, W].
    """
    size, count = live.shape[1], len(hands)
    for i in range(len(all_in)):
        leaf = all_in[i]
        for p in range(2):
            for h in range(count):
                value = 0.0
                for g in range(count):
                    value += reach[1 - p, 0, leaf, g] * equity[hands[g], hands[h]]
                out[p, 0, leaf, h] = value * chips[i, 0]
    rows = len(playing) * len(cards)
    ranges, values = np.empty((rows, 2 * size), np.float32), np.empty((rows, 2 * size), np.float32)
    possible, boards = np.empty((rows, size), np.float32), np.empty(rows, np.int64)
    mass, given = np.empty((rows, 2)), np.zeros(size)
    for i in range(len(playing)):
        for p in range(2):
            for h in range(count):
                given[hands[h]] = reach[p, 0, playing[i], h]
            for c in range(len(cards)):
                row, total, places = i * len(cards) + c, 0.0, 0.0
                for h in range(size):
                    total += given[h] * live[c, h]
                    places += live[c, h]
                scale = (1 - floor) / total if total > 0 else 0.0
                even = (floor if total > 0 else 1.0) / places
                for h in range(size):
                    ranges[row, p * size + h] = (given[h] * scale + even) * live[c, h]
                    possible[row, h] = live[c, h]
                mass[row, p], boards[row] = total, cards[c]
    evaluate_rows(net, ranges, boards, bias, possible, values)
    for i in range(len(playing)):
        for p in range(2):
            for h in range(count):
                total = 0.0
                for c in range(len(cards)):
                    row = i * len(cards) + c
                    total += mass[row, 1 - p] * values[row, p * size + hands[h]]
                out[p, 0, playing[i], h] = total * chance * pots[i]
