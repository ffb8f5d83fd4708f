"""Leaves of hold'em lookaheads valued by networks: the end of a betting round with chips behind.

- ``StartLeaves``: a start-of-round network, asked for every next card and averaged: the published
  form;
- ``EndLeaves``: an end-of-round network that says this mean at once, some 45 times quicker. What a
  leaf is worth for the card that is dealt comes from a start-of-round network (``card_values``).

Both are ``RoundEvaluator``s for one board, as ``deepstack.solver.engine`` asks; ``Batched…`` are
the same for many boards on a device, as ``deepstack.solver.batched`` asks. Unnormalised reach comes
in and chips go out: ranges are normalised, and what the network says is multiplied by the pot and
the opponent's mass. A called all-in is worth its exact equity; no network is asked about a game
without chips left.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.batched import BatchedLeaves
from deepstack.solver.batched_equity import Margins, allin_margins, allin_values
from deepstack.solver.leaves import Leaves
from deepstack.values.chance import Deals, in_pieces, mean_values, next_deals, normalised
from deepstack.values.inputs import Situations, Tables, live_hands
from deepstack.values.model import ValueNetwork
from deepstack.values.river_means import fits, mean_over_rivers, turn_tables

Floats = npt.NDArray[np.floating]
Board = tuple[int, ...]

KEPT = 4
"""Boards whose tables are kept: those of a lookahead and of the cards that followed it."""


class _Question(NamedTuple):
    """What does not change between the questions of one lookahead.

    Attributes:
        playing, all_in: places of the leaves with and without chips behind.
        order: [H] places of the board's live hands, ascending by hand index, in the vectors asked.
        pot, fraction: float32 [leaves playing] chips, and as a share of both stacks.
        chips: float32 [leaves all in] what the loser has put in.
    """

    playing: npt.NDArray[np.int64]
    all_in: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    pot: Tensor
    fraction: Tensor
    chips: npt.NDArray[np.float32]


class _NetworkLeaves:
    """What both evaluators have in common; ``_mean`` and ``_start`` tell them apart."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._asked: tuple[object, _Question] | None = None
        self._start_tables = lru_cache(KEPT)(self._make_start_tables)
        self._margins = lru_cache(KEPT)(allin_margins)

    def _mean(self, board: Board, fraction: Tensor, ranges: Tensor) -> Tensor:
        """Values [L, 2, H] in pots at the end of a round, in the mean over the next cards."""
        raise NotImplementedError

    def _start(self) -> ValueNetwork:
        """The network at the start of the next round."""
        raise NotImplementedError

    def values(self, leaves: Leaves, reach: Floats) -> npt.NDArray[np.float32]:
        """Counterfactual values in chips [2, 1, L, H] of both players; see ``LeafEvaluator``."""
        if len(leaves.boards) != 1:
            raise InputError(f"leaves on {len(leaves.boards)} boards: expected one")
        board = tuple(int(card) for card in leaves.boards[0])
        about = self._question(board, leaves)
        given = np.ascontiguousarray(reach[:, 0][:, :, about.order], np.float32)
        found = np.zeros_like(given)
        if len(about.playing):
            found[:, about.playing] = self._ask(board, about, given[:, about.playing])
        if len(about.all_in):
            margins = self._margins(board, leaves.states[0].game)
            values = _equity(margins, given[:, about.all_in])
            found[:, about.all_in] = values * about.chips[:, None]
        result = np.empty_like(found)
        result[:, :, about.order] = found
        return result[:, None]

    @torch.inference_mode()
    def _ask(self, board: Board, about: _Question, reach: Floats) -> Floats:
        given = torch.from_numpy(reach).to(self.device).transpose(0, 1)
        ranges, mass = normalised(given)  # [L, 2, H], [L, 2]
        said = self._mean(board, about.fraction, ranges)
        chips = said * (about.pot[:, None] * mass.flip(1))[..., None]
        return chips.transpose(0, 1).cpu().numpy()

    @torch.inference_mode()
    def card_values(self, state: State, reach: Floats) -> npt.NDArray[np.float32]:
        """Counterfactual values in chips [2, S, hands] at the start of a round, its cards dealt."""
        game, board = state.game, state.board
        hands = live_hands(game, np.array([board], np.int64))[0]
        given = np.ascontiguousarray(reach[:, :, hands], np.float32)
        result = np.zeros(reach.shape, np.float32)
        if state.actor is None:  # an all-in that was called
            values = _equity(self._margins(board, game), given)
            result[:, :, hands] = values * np.float32(min(state.spent))
            return result
        ranges, mass = normalised(torch.from_numpy(given).to(self.device).transpose(0, 1))
        share = float(state.pot) / sum(game.stacks)
        fraction = torch.full((len(ranges),), share, device=self.device)
        place = torch.zeros(len(ranges), dtype=torch.long, device=self.device)
        situations = Situations(ranges, fraction, place, self._start_tables(board))
        chips = in_pieces(self._start(), situations) * (state.pot * mass.flip(1))[..., None]
        result[:, :, hands] = chips.transpose(0, 1).cpu().numpy()
        return result

    def _make_start_tables(self, board: Board) -> Tables:
        return self._start().tables([list(board)])

    def _question(self, board: Board, leaves: Leaves) -> _Question:
        """What is known before the reach; the same leaves are asked about many times."""
        states = leaves.states
        key = (states[0].game, board, tuple(state.spent for state in states))
        if self._asked is None or self._asked[0] != key:
            self._asked = (key, _prepare(leaves, self.device))
        return self._asked[1]


def _prepare(leaves: Leaves, device: torch.device) -> _Question:
    states, stacks = leaves.states, leaves.states[0].game.stacks
    behind = np.array([min(stacks) > max(state.spent) for state in states])
    playing, all_in = np.flatnonzero(behind), np.flatnonzero(~behind)
    pot = torch.tensor([float(states[i].pot) for i in playing], device=device)
    chips = np.array([float(min(states[i].spent)) for i in all_in], np.float32)
    order = np.argsort(leaves.hands[0])
    return _Question(playing, all_in, order, pot, pot / float(sum(stacks)), chips)


def _equity(margins: Margins, reach: Floats) -> npt.NDArray[np.float32]:
    """Values [2, T, H] of called all-ins for one chip, from reach [2, T, H] of both players."""
    rows = np.ascontiguousarray(reach[::-1].reshape(-1, 1, reach.shape[2]), np.float32)
    out = np.empty_like(rows)
    allin_values(margins.counts[None], margins.run_outs, rows, out)
    return out.reshape(reach.shape)


class StartLeaves(_NetworkLeaves):
    """A start-of-round network, asked for every next card and averaged.

    Args:
        network: of the start of the next round.
        most: if more deals than so many may come, a selection of them, always the same one, stands
            for all. Before the flop tables of all 22,100 would take gigabytes.
    """

    def __init__(self, network: ValueNetwork, most: int | None = None) -> None:
        super().__init__(network.device)
        self.network, self.most = network, most
        self._quick = most is None and fits(network)
        self._deals = lru_cache(KEPT)(self._make_deals)
        self._turns = lru_cache(KEPT)(lambda board: turn_tables([list(board)]))

    def _make_deals(self, board: Board) -> Deals:
        inputs, rng = self.network.inputs, np.random.default_rng(0)
        return next_deals(inputs, [list(board)], self.device, most=self.most, rng=rng)

    def _mean(self, board: Board, fraction: Tensor, ranges: Tensor) -> Tensor:
        place = torch.zeros(len(ranges), dtype=torch.long, device=self.device)
        if self._quick:
            return mean_over_rivers(self.network, self._turns(board), place, fraction, ranges)
        return mean_values(self.network, self._deals(board), place, fraction, ranges)

    def _start(self) -> ValueNetwork:
        return self.network


class EndLeaves(_NetworkLeaves):
    """An end-of-round network, asked once a leaf.

    Args:
        network: of the end of the round.
        start: of the start of the next round, for the values of the card that is dealt; None where
            nobody asks for them.
    """

    def __init__(self, network: ValueNetwork, start: ValueNetwork | None = None) -> None:
        super().__init__(network.device)
        self.network, self.start = network, start
        self._tables = lru_cache(KEPT)(lambda board: network.tables([list(board)]))

    def _mean(self, board: Board, fraction: Tensor, ranges: Tensor) -> Tensor:
        place = torch.zeros(len(ranges), dtype=torch.long, device=self.device)
        return in_pieces(self.network, Situations(ranges, fraction, place, self._tables(board)))

    def _start(self) -> ValueNetwork:
        if self.start is None:
            raise InputError(
                f"values after the cards of the next round: {self.network.stage} knows their mean "
                "only, expected a start-of-round network"
            )
        return self.start


# ---- many boards at once


class BatchedEndLeaves:
    """An end-of-round network for the leaves of ``deepstack.solver.batched``."""

    def __init__(self, network: ValueNetwork) -> None:
        self.network = network
        self._asked: tuple[BatchedLeaves, Any] | None = None

    def values(self, leaves: BatchedLeaves, reach: Tensor) -> Tensor:
        """Counterfactual values in chips [2, B, L, H]; see ``BatchedLeafEvaluator``."""
        if self._asked is None or self._asked[0] is not leaves:
            self._asked = (leaves, self._prepare(leaves))
        ranges, mass = normalised(reach.permute(1, 2, 0, 3).to(torch.float32))  # [B, L, 2, H]
        boards, count = leaves.pot.shape
        stacks = float(sum(leaves.states[0][0].game.stacks))
        fraction = (leaves.pot / stacks).to(torch.float32).reshape(-1)
        said = self._mean(self._asked[1], fraction, ranges.flatten(0, 1))
        scale = leaves.pot[..., None].to(torch.float32) * mass.flip(2)
        chips = said.view(boards, count, 2, -1) * scale[..., None]
        return chips.permute(2, 0, 1, 3).to(reach.dtype)

    def _prepare(self, leaves: BatchedLeaves) -> Any:
        """Tables of the boards, and the board of every leaf [B · L]."""
        tables = self.network.tables(leaves.boards.cpu().numpy())
        if not torch.equal(tables.hands, leaves.hands):
            raise InputError("leaves: expected hands in ascending order")
        return tables, _board_of_leaf(leaves)

    def _mean(self, asked: Any, fraction: Tensor, ranges: Tensor) -> Tensor:
        tables, place = asked
        return in_pieces(self.network, Situations(ranges, fraction, place, tables))


class BatchedStartLeaves(BatchedEndLeaves):
    """A start-of-round network averaged over the next card, for the leaves of batches."""

    def _prepare(self, leaves: BatchedLeaves) -> Any:
        boards, place = leaves.boards.cpu().numpy(), _board_of_leaf(leaves)
        if fits(self.network):
            return turn_tables(boards), place
        return next_deals(self.network.inputs, boards, self.network.device), place

    def _mean(self, asked: Any, fraction: Tensor, ranges: Tensor) -> Tensor:
        tables, place = asked
        if isinstance(tables, Tables):
            return mean_over_rivers(self.network, tables, place, fraction, ranges)
        return mean_values(self.network, tables, place, fraction, ranges)


def _board_of_leaf(leaves: BatchedLeaves) -> Tensor:
    boards, count = leaves.pot.shape
    return torch.arange(boards, device=leaves.pot.device).repeat_interleave(count)
