"""A small network at all leaves of a lookahead at once, without a call of NumPy or torch.

``deepstack.values.leaves.NetworkLeaves`` has the plain form of this module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel

Array = npt.NDArray[Any]


class SmallNet(NamedTuple):
    """The weights of a ``FastMlp``: float32, layers of one width W, h hands."""

    see: Array  # [boards × 2h, W] from ranges to the first layer
    own: Array  # [boards × 2h, 4h] from ranges to what the outputs are multiplied with
    slopes: Array  # [layers, W]
    hidden: Array  # [layers - 1, W, W]
    hidden_bias: Array  # [layers - 1, W]
    head: Array  # [W, 4h]
    head_bias: Array  # [4h]
    slots: Array  # [boards, 4h] where in the last layer a hand's numbers are


@kernel
def _affine(x, weights, bias, out):
    out[:] = bias
    for i in range(len(x)):
        xi = x[i]
        row = weights[i]
        for j in range(len(out)):
            out[j] += xi * row[j]


@kernel
def evaluate_row(net, ranges, board, bias, live, x, y, last, own, values):
    """One situation: ranges [2h] that sum to one each, to values [2h] in pots."""
    size = len(ranges)
    x[:] = bias
    own[:] = 0
    for k in range(size):
        r = ranges[k]
        if r == 0:
            continue
        row, other = net.see[board * size + k], net.own[board * size + k]
        for j in range(len(x)):
            x[j] += r * row[j]
        for j in range(2 * size):
            own[j] += r * other[j]
    layers = len(net.slopes)
    for layer in range(layers):
        for j in range(len(x)):
            if x[j] < 0:
                x[j] *= net.slopes[layer, j]
        if layer + 1 < layers:
            _affine(x, net.hidden[layer], net.hidden_bias[layer], y)
            x[:] = y
    _affine(x, net.head, net.head_bias, last)
    surplus, both = np.float32(0), np.float32(0)
    hands = size // 2
    for k in range(size):
        here = live[k % hands]
        value = own[k] * last[net.slots[board, k]]
        value += own[size + k] * last[net.slots[board, size + k]]
        mass = own[k] * here
        values[k] = value
        surplus += value * ranges[k]
        both += mass * ranges[k]
        own[k] = mass
    share = surplus / both
    for k in range(size):
        values[k] = (values[k] - share * own[k]) * live[k % hands]


@kernel
def leaf_values(
    net, reach, hands, playing, all_in, equity, chips, cards, live, chance, pots, bias, floor, out
):
    """Values [2, 1, L, H] for reach [2, 1, L, H]; the plan of a lookahead as arrays.

    ``cards`` [C] next cards, ``live`` [C, h]; ``pots`` [playing], ``bias`` [playing × C, W].
    """
    size, count = live.shape[1], len(hands)
    x, y = np.empty(bias.shape[1], np.float32), np.empty(bias.shape[1], np.float32)
    last, own = np.empty(4 * size, np.float32), np.empty(4 * size, np.float32)
    ranges, values = np.empty(2 * size, np.float32), np.empty(2 * size, np.float32)
    given, total, mass = np.zeros((2, size)), np.zeros((2, size)), np.zeros(2)
    for i in range(len(all_in)):
        leaf = all_in[i]
        for p in range(2):
            for h in range(count):
                value = 0.0
                for g in range(count):
                    value += reach[1 - p, 0, leaf, g] * equity[hands[g], hands[h]]
                out[p, 0, leaf, h] = value * chips[i, 0]
    for i in range(len(playing)):
        leaf = playing[i]
        for p in range(2):
            for h in range(count):
                given[p, hands[h]] = reach[p, 0, leaf, h]
        total[:] = 0
        for c in range(len(cards)):
            possible = live[c].sum()
            for p in range(2):
                mass[p] = (given[p] * live[c]).sum()
                scale = (1 - floor) / mass[p] if mass[p] > 0 else 0.0
                even = (floor if mass[p] > 0 else 1.0) / possible
                for h in range(size):
                    ranges[p * size + h] = (given[p, h] * scale + even) * live[c, h]
            place = i * len(cards) + c
            evaluate_row(net, ranges, cards[c], bias[place], live[c], x, y, last, own, values)
            for p in range(2):
                factor = chance * pots[i] * mass[1 - p]
                for h in range(size):
                    total[p, h] += factor * values[p * size + h] * live[c, h]
        for p in range(2):
            for h in range(count):
                out[p, 0, leaf, h] = total[p, hands[h]]
