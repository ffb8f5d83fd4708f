"""Gadgets inside the iterations: the opponent's choice at the root of a subgame, as arrays.

``deepstack.resolve.gadgets`` says what the gadgets mean and has the plain form of this module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel

Array = npt.NDArray[Any]


class Gadget(NamedTuple):
    """A choice of one player at the root, over its live hands [H].

    With probability ``p`` the player enters with the ``estimate``, else as it learns to: hand by
    hand between ``constraints`` and following, or with ``margin`` by one choice among hands.
    """

    player: int  # -1: none
    margin: bool
    p: float
    estimate: Array
    constraints: Array
    live: Array
    follow: Array  # regret of following; with ``margin`` of picking the hand
    terminate: Array


def no_gadget() -> Gadget:
    """Both players enter with the ranges they are given."""
    return Gadget(-1, False, 0.0, *(np.zeros(0) for _ in range(5)))


@kernel
def _choice(gadget, h):
    """What the positive regrets of a hand say: the chance to follow, or the weight to pick it."""
    follow = max(gadget.follow[h], 0.0)
    if gadget.margin:
        return follow * (gadget.live[h] > 0)
    total = follow + max(gadget.terminate[h], 0.0)
    return follow / total if total > 0 else 0.5


@kernel
def gadget_reach(gadget, into):
    """The range with which the player enters, into a row of the ranges."""
    hands = len(gadget.live)
    total, living = 0.0, 0.0
    if gadget.margin:
        for h in range(hands):
            total += _choice(gadget, h)
            living += gadget.live[h] > 0
    for h in range(hands):
        if not gadget.margin:
            x = gadget.live[h] * _choice(gadget, h)
        elif total > 0:
            x = _choice(gadget, h) / total
        else:
            x = (gadget.live[h] > 0) / living
        into[h] = gadget.p * gadget.estimate[h] + (1 - gadget.p) * x


@kernel
def gadget_learn(gadget, values, positive, negative, floor):
    """Move the regrets by the values of entering [H], with the factors of the iteration."""
    if gadget.p == 1.0:
        return
    hands = len(gadget.live)
    mean = 0.0
    if gadget.margin:
        total, living = 0.0, 0.0
        for h in range(hands):
            total += _choice(gadget, h)
            living += gadget.live[h] > 0
        for h in range(hands):
            if gadget.live[h] > 0:
                share = _choice(gadget, h) / total if total > 0 else 1.0 / living
                mean += share * (values[h] - gadget.constraints[h])
    for h in range(hands):
        c, v = gadget.constraints[h], values[h]
        if gadget.margin:
            gain = (v - c if gadget.live[h] > 0 else 0.0) - mean
        else:
            chance = _choice(gadget, h)
            both = chance * v + (1 - chance) * c
            gain = v - both
            gadget.terminate[h] = _moved(gadget.terminate[h], c - both, positive, negative, floor)
        gadget.follow[h] = _moved(gadget.follow[h], gain, positive, negative, floor)


@kernel
def _moved(regret, gain, positive, negative, floor):
    moved = regret * (positive if regret > 0 else negative) + gain
    return max(moved, 0.0) if floor else moved
