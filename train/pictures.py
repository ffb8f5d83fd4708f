"""Example situations as pictures: the ranges, and values said beside values solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from deepstack.values.inputs import check_boards
from deepstack.values.model import ValueNetwork
from deepstack.values.strengths import strength_keys
from train.data import Batch
from train.metrics import to_device

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@torch.inference_mode()
def draw_situations(network: ValueNetwork, batch: Batch) -> list[Figure]:
    """One figure a situation: both ranges above, both players' values below, weak hands left."""
    # matplotlib takes half a second to import, which runs without pictures need not pay
    from matplotlib.figure import Figure

    said = network(to_device(batch.situations, network.device)).cpu().numpy()
    solved, ranges = batch.values.numpy(), batch.situations.ranges.cpu().numpy()
    tables, game = batch.situations.tables, network.inputs.game
    boards = check_boards(game, network.inputs.cards, tables.boards.cpu().numpy())
    hands = tables.hands.cpu().numpy()
    strengths = strength_keys(game, boards, hands)
    figures = []
    for number, place in enumerate(batch.situations.place.tolist()):
        order = np.argsort(strengths[place], kind="stable")
        figure = Figure(figsize=(9, 5), layout="constrained")
        above, below = figure.subplots(2, 2, sharex=True)
        behind = (1 / float(batch.situations.pot_fraction[number]) - 1) / 2
        figure.suptitle(
            f"board {game.deck.format(boards[place]) or 'none'}, stack behind {behind:.1f} pots"
        )
        for player in (0, 1):
            above[player].plot(ranges[number, player, order], lw=0.7, color="C2")
            above[player].set_title(f"range of seat {player}", fontsize=9)
            below[player].plot(solved[number, player, order], lw=0.7, color="C0", label="solved")
            below[player].plot(said[number, player, order], lw=0.7, color="C1", label="network")
            below[player].set_title(f"value of seat {player}, pots", fontsize=9)
            below[player].set_xlabel("hands by strength", fontsize=9)
        below[0].legend(fontsize=8)
        figures.append(figure)
    return figures
