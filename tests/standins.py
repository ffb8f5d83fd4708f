"""A value network for boards of any round, small and quick: it stands in for a trained one.

Hands have random features; what they are worth depends on the features of both ranges, the board
and the pot. It is smooth, zero-sum, trainable, and knows nothing of poker.
"""

from dataclasses import dataclass

import torch
from torch import nn

from deepstack.values.inputs import DEFINITIONS
from deepstack.values.layers import Body, zero_sum
from deepstack.values.model import ARCHITECTURES, ValueNetwork, build_network

NAME = "standin"


@dataclass(frozen=True, slots=True)
class StandInSettings:
    width: int = 6


class StandIn(Body):
    inputs = NAME

    def __init__(self, settings, inputs):
        super().__init__()
        width = settings.width
        self.hands = nn.Embedding(inputs.game.hands, width)
        self.cards = nn.Embedding(len(inputs.game.deck), width)
        self.mix = nn.Linear(3 * width + 1, 2 * width)

    def forward(self, situations):
        ranges, tables, place = situations.ranges, situations.tables, situations.place
        features = self.hands(tables.hands)[place]  # [N, H, width]
        pooled = torch.bmm(ranges, features).flatten(1)
        board = self.cards(tables.boards).sum(1)[place]
        seen = torch.cat([pooled, board, situations.pot_fraction[:, None]], 1)
        context = torch.tanh(self.mix(seen)).view(len(ranges), 2, -1)
        return zero_sum(torch.bmm(context, features.transpose(1, 2)) / 4, ranges)


def register():
    """Make the stand-in known beside the architectures of the package."""
    ARCHITECTURES[NAME] = (StandIn, StandInSettings)
    # situations themselves are all it sees
    DEFINITIONS[NAME] = (1, lambda game, boards, hands: {})


def stand_in(stage: str, seed: int = 1) -> ValueNetwork:
    """A stand-in with random weights for a stage."""
    register()
    return build_network(stage, NAME, seed=seed).eval().requires_grad_(False)
