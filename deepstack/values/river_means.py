"""The end of the turn from a network of the river, quickly on a CPU.

``values.chance.mean_values`` says what the mean over the next cards is, for any network on any
device. Half of its time on a CPU goes into sorting ranges into what the network sees on each of 48
rivers, and reading values off. Here kernels do that for sixteen situations of a board at once, and
only the convolutions are torch's. It works for ``quantile_conv`` networks of the river.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from deepstack.solver.simd import LANES, aligned_zeros
from deepstack.values.inputs import Tables, make_inputs
from deepstack.values.model import ValueNetwork
from deepstack.values.quantile import FINEST, QuantileConv
from deepstack.values.river_kernels import read_rivers, sweep_rivers

EVALUATIONS = 96
"""Rivers that are evaluated together: what they need stays in the caches."""


def fits(network: ValueNetwork) -> bool:
    """Whether a network's mean over rivers can be taken here."""
    river = network.stage == "river_start" and isinstance(network.body, QuantileConv)
    return river and network.device.type == "cpu"


def turn_tables(boards: object) -> Tables:
    """Tables of turn boards [B, 4]: the order of hands on every river."""
    return make_inputs("next", "turn_end").tables(np.asarray(boards))


@torch.inference_mode()
def mean_over_rivers(
    network: ValueNetwork, tables: Tables, board: Tensor, pot_fraction: Tensor, ranges: Tensor
) -> Tensor:
    """Values [N, 2, H] in pots at the end of the turn; see ``chance.mean_values``.

    Args:
        network: one that ``fits``.
        tables: of the boards, by ``turn_tables``.
        board: int64 [N] the board of each situation, as its row in the tables.
        pot_fraction: float32 [N] the pot as a share of both stacks.
        ranges: float32 [N, 2, H], each of sum 1, over the live hands in ascending order.
    """
    body = network.body
    assert isinstance(body, QuantileConv)
    parts = {name: part.numpy() for name, part in tables.parts.items()}
    given, rows_of = ranges.numpy().astype(np.float32, copy=False), board.numpy()
    hands, cards = given.shape[2], parts["next_cards"].shape[1]
    edges = body.edges.numpy()
    axis = (np.float32(body.bins), np.float32(body.fine), np.float32(FINEST))
    lanes, left = aligned_zeros(2 * hands * LANES), aligned_zeros(cards * 2 * LANES)
    places = aligned_zeros(cards * hands * LANES)
    leads = aligned_zeros(2 * cards * hands * LANES)
    result = np.empty_like(given)
    for b in np.unique(rows_of):
        here = np.flatnonzero(rows_of == b)
        held, coming, order, group_end = (
            parts[name][b] for name in ("held", "next_cards", "next_order", "group_end")
        )
        for first in range(0, len(here), LANES):
            rows = here[first : first + LANES]
            count = len(rows)
            filled = lanes.reshape(2, hands, LANES)
            filled[:, :, count:] = 0
            filled[:, :, :count] = given[rows].transpose(1, 2, 0)
            below = np.empty((count, cards, 2, len(edges)), np.float32)
            sweep_rivers(
                lanes,
                held,
                coming,
                order,
                group_end,
                edges,
                axis,
                count,
                places,
                leads,
                left,
                below,
            )
            fractions = pot_fraction[torch.from_numpy(rows)].repeat_interleave(cards)
            seen = torch.from_numpy(below).flatten(0, 1)
            said = [
                body.say(seen[i : i + EVALUATIONS], fractions[i : i + EVALUATIONS])
                for i in range(0, len(seen), EVALUATIONS)
            ]
            found = np.empty((count, 2, hands), np.float32)
            spoken = torch.cat(said).contiguous().numpy().reshape(-1)
            read_rivers(lanes, held, coming, order, places, leads, left, spoken, count, found)
            result[rows] = found
    return torch.from_numpy(result) / (cards - 4)
