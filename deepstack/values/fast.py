"""The ``mlp`` architecture in plain NumPy, for lookaheads that ask about a few rows very often.

On a handful of rows a call of torch costs more than the arithmetic. Here everything that depends on
the board or the pot alone is folded into the first layer: what the network sees of the ranges is
linear in them on any one board, so the relabelling of suits, the sums over the opponent's hands and
the board itself become one matrix, with a block of rows for every board.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from deepstack.run.errors import InputError
from deepstack.solver.simd import padded
from deepstack.values.fast_kernels import SmallNet
from deepstack.values.layers import depth
from deepstack.values.model import Mlp, ValueNetwork

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class FastMlp:
    """An ``mlp`` network of a game with one board card, over all hands of the game.

    ``evaluate`` answers for any rows; ``bind`` prepares rows whose boards and pots stay the same,
    as those of the leaves of a lookahead do.
    """

    def __init__(self, network: ValueNetwork) -> None:
        body = network.body
        if not isinstance(body, Mlp) or network.inputs.cards != 1:
            raise InputError(
                f"{network.architecture} for {network.stage}: expected an mlp for one board card"
            )
        self.hands = hands = body.hands
        self.boards = boards = len(network.inputs.game.deck)
        parts = network.inputs.tables(np.arange(boards)[:, None]).parts
        parts = {name: part.double() for name, part in parts.items()}
        linear = [m for m in [*body.layers, body.head] if isinstance(m, nn.Linear)]
        first = linear[0].weight.detach().cpu().double()
        relabel = self._relabelling(network)
        # rows: (board, seat, hand), then boards; columns: what the first layer or the end needs
        see = torch.zeros(boards, 2 * hands, first.shape[0], dtype=torch.float64)
        own = torch.zeros(boards, 2 * hands, 4 * hands, dtype=torch.float64)
        for board in range(boards):
            apart, beats = parts["apart"][board], -parts["beats"][board]
            swap = torch.kron(torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double(), torch.eye(hands))
            both = torch.eye(2, dtype=torch.float64)
            mass, lead = swap @ torch.kron(both, apart), swap @ torch.kron(both, beats)
            turn = torch.kron(both, torch.eye(hands, dtype=torch.float64)[relabel[board]])
            see[board] = (
                turn @ torch.cat([torch.eye(2 * hands), mass, lead], 1) @ first[:, : 6 * hands].T
            )
            own[board] = turn @ torch.cat([mass @ turn.T, lead @ turn.T], 1)
        self._see = _array(see.reshape(boards * 2 * hands, -1))
        self._own = _array(own.reshape(boards * 2 * hands, -1))
        on_board = parts["cards"] @ first[:, 6 * hands : 6 * hands + boards].T
        self._board_bias = _array(on_board + linear[0].bias.detach().cpu().double())
        self._pot, self._depth = _array(first[:, -2]), _array(first[:, -1])
        self._layers = [(_array(m.weight.T), _array(m.bias)) for m in linear[1:]]
        self._slopes = [_array(m.weight) for m in body.layers if isinstance(m, nn.PReLU)]
        self._relabel = relabel.numpy()
        self._live = 1 - np.eye(boards, hands, dtype=np.float32)

    @staticmethod
    def _relabelling(network: ValueNetwork) -> torch.Tensor:
        """[boards, hands] the hand that every hand becomes, blocked ones too."""
        deck = network.inputs.game.deck
        cards, suits = np.arange(len(deck)), len(deck.suits)
        suit, board_suit = cards % suits, (cards % suits)[:, None]
        new = np.where(suit == board_suit, 0, np.where(suit == 0, board_suit, suit))
        return torch.from_numpy(cards - suit + new)

    def arrays(self) -> SmallNet:
        """The weights as the kernels take them."""
        width, count = padded(self._see.shape[1]), len(self._layers) - 1
        hidden = np.zeros((count, width * width), np.float32)
        hidden_bias = np.zeros((count, width), np.float32)
        for number, (weight, bias) in enumerate(self._layers[:-1]):
            hidden[number] = _padded(weight, width, width).ravel()
            hidden_bias[number, : len(bias)] = bias
        slopes = np.zeros((len(self._slopes), width), np.float32)
        for number, slope in enumerate(self._slopes):
            slopes[number, : self._see.shape[1]] = slope
        parts = [self._relabel + self.hands * part for part in range(4)]
        head, head_bias = self._layers[-1]
        wide = padded(len(head_bias))
        return SmallNet(
            see=_padded(self._see, len(self._see), width).ravel(),
            own=self._own,
            slopes=slopes,
            hidden=hidden,
            hidden_bias=hidden_bias,
            head=_padded(head, width, wide).ravel(),
            head_bias=_padded(head_bias[None], 1, wide)[0],
            slots=np.ascontiguousarray(np.concatenate(parts, axis=1)),
        )

    def biases(self, board: npt.ArrayLike, pot_fraction: npt.ArrayLike) -> Floats:
        """[N, width] what the first layer adds for boards [N] and pots [N]."""
        boards, pots = np.asarray(board, np.int64), np.asarray(pot_fraction, np.float32)
        deep = depth(torch.from_numpy(pots)).numpy()
        return self._board_bias[boards] + np.outer(pots, self._pot) + np.outer(deep, self._depth)

    def evaluate(
        self, ranges: npt.ArrayLike, board: npt.ArrayLike, pot_fraction: npt.ArrayLike
    ) -> Floats:
        """Values [N, 2, hands] in fractions of the pot; zero for the hand on the board.

        Args:
            ranges: [N, 2, hands], each summing to 1, zero for the hand on the board.
            board: [N] the card on the board.
            pot_fraction: [N] the pot as a share of both stacks.
        """
        return self.bind(board, pot_fraction)(np.asarray(ranges, np.float32))

    def bind(self, board: npt.ArrayLike, pot_fraction: npt.ArrayLike) -> Callable[[Floats], Floats]:
        """``evaluate`` for rows with these boards [N] and pots [N]: ranges in, values out."""
        boards = np.asarray(board, np.int64)
        pots = np.asarray(pot_fraction, np.float32)
        count, hands = len(boards), self.hands
        bias = self.biases(boards, pots)
        rows = np.arange(count)
        seen = np.zeros((count, self.boards, 2 * hands), np.float32)
        flat = seen.reshape(count, -1)
        # where in the last layer's row [u of both seats, a of both seats] each hand's numbers are
        slots = self._relabel[boards]
        at = np.concatenate([slots + hands * part for part in range(4)], axis=1)
        at += rows[:, None] * 4 * hands
        live = np.tile(self._live[boards], (1, 2))
        slopes, layers = self._slopes, self._layers

        def evaluate(ranges: Floats) -> Floats:
            mine = ranges.reshape(count, 2 * hands)
            seen[rows, boards] = mine
            x = flat @ self._see
            x += bias
            for slope, (weight, offset) in zip(slopes, layers, strict=True):
                x = np.where(x > 0, x, slope * x) @ weight
                x += offset
            own = flat @ self._own
            own *= x.ravel()[at]
            values = own[:, : 2 * hands] + own[:, 2 * hands :]
            mass = (flat @ self._own[:, : 2 * hands]) * live
            surplus = np.einsum("nh,nh->n", values, mine) / np.einsum("nh,nh->n", mass, mine)
            values -= surplus[:, None] * mass
            values *= live
            return values.reshape(count, 2, hands)

        return evaluate


def _padded(weights: Floats, rows: int, columns: int) -> Floats:
    """A matrix with zeros below and to the right."""
    full = np.zeros((rows, columns), np.float32)
    full[: weights.shape[0], : weights.shape[1]] = weights
    return full


def _array(tensor: torch.Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().cpu().numpy().astype(np.float32))
