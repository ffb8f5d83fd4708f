"""Folds, showdowns and called all-ins of many boards at once, on tensors.

The reach vectors of all terminals of all B subgames stand side by side, [B, H, T], so that every
step copies or adds rows of T numbers. A fold needs one sum a card. A showdown needs running sums
along the hands in order of strength, over all hands and over the hands of each card, and reads them
at both ends of a hand's tie group and at the end: (weaker) + (weaker or tied) − (all) is wins minus
losses (``deepstack.solver.terminal_kernels`` does the same one board at a time). What is read where
is known once the boards are: index tables, made once, and each kind of terminal ends in a single
weighted sum of a few rows a hand (``embedding_bag``).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game
from deepstack.solver.batched_equity import Margins, allin_values
from deepstack.tree.boards import build_boards

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


class BoardHands(NamedTuple):
    """The live hands of B boards, in order of strength where hands are shown."""

    hands: Ints  # [B, H] hand index of every place
    strengths: Ints  # [B, H] ascending, on the last round; else [B, 0]
    held: Ints  # [B, H, cards of a hand] place of each card among the board's live cards
    cards: int  # live cards n
    per_card: int  # hands that hold a live card k


def live_hands(game: Game, boards: Sequence[tuple[int, ...]], round_: int) -> BoardHands:
    """The hands of some boards of one round, in the order in which the engine keeps them."""
    deck, hole = len(game.deck), game.hole_cards
    identity = np.arange(len(game.deck.suits))[None]
    stages = {board: build_boards(game, board, round_, round_, identity)[0] for board in boards}
    hands = np.concatenate([stages[board].hands for board in boards])
    live = np.ones((len(boards), deck), bool)
    for row, board in zip(live, boards, strict=True):
        row[list(board)] = False
    number = np.cumsum(live, axis=1) - 1  # of each card among the live ones
    cards = hand_cards(deck, hole).astype(np.int64)[hands]  # [B, H, hole]
    held = np.take_along_axis(number, cards.reshape(len(boards), -1), axis=1).reshape(cards.shape)
    count = deck - game.board_size(round_)
    return BoardHands(
        hands=hands,
        strengths=np.concatenate([stages[board].strengths for board in boards]),
        held=held,
        cards=count,
        per_card=1 if hole == 1 else count - 1,
    )


class _Lists(NamedTuple):
    """The hands of each live card, in order."""

    hands: Ints  # [B, n, k] places of hands
    place: Ints  # [B, H, hole] place of a hand in the list of each of its cards, all lists in a row


def _card_lists(boards: BoardHands) -> _Lists:
    count, hands, hole = boards.held.shape
    flat = boards.held.reshape(count, -1)  # hand by hand, so a stable sort keeps their order
    order = np.argsort(flat, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(order.shape[1])[None], axis=1)
    lists = (order // hole).reshape(count, boards.cards, boards.per_card)
    return _Lists(lists, place.reshape(count, hands, hole))


def _tie_groups(strengths: Ints) -> tuple[Ints, Ints]:
    """Where the run of equal numbers around every place of the last axis begins and ends."""
    size = strengths.shape[-1]
    place = np.arange(size)
    new = np.ones(strengths.shape, bool)
    new[..., 1:] = strengths[..., 1:] != strengths[..., :-1]
    begin = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    last = np.ones(strengths.shape, bool)
    last[..., :-1] = new[..., 1:]
    ends = np.where(last, place + 1, size)[..., ::-1]
    return begin, np.minimum.accumulate(ends, axis=-1)[..., ::-1]


class Folds:
    """Values of T folds on each of B boards: the opponent's reach that does not clash."""

    def __init__(self, boards: BoardHands, folds: int, options: dict[str, Any]) -> None:
        count, hands, hole = boards.held.shape
        cards = boards.cards
        height = hands + cards + 1  # the reach, the sum of each card, and of all
        lists = _card_lists(boards).hands.reshape(count, -1)
        base = height * np.arange(count)[:, None]
        self._lists = _indices(lists + base, options).view(count * cards, -1)
        own = np.arange(hands)[None, :, None].repeat(count, axis=0)
        everything = np.full_like(own, height - 1)
        read = np.concatenate([own, hands + boards.held, everything], axis=2)
        self._read = _indices(read + base[:, :, None], options).view(count * hands, -1)
        # both card sums contain a hand of two cards itself, so it comes back once
        weights = [hole - 1.0] + [-1.0] * hole + [1.0]
        self._weights = torch.tensor(weights, **options).expand(count * hands, -1).contiguous()
        self._table = torch.zeros((count, height, folds), **options)
        self._reach, self._sums = self._table[:, :hands], self._table[:, hands:-1]
        self._all = self._table[:, -1]
        self._share = 1.0 / hole

    def values(self, reach: Tensor) -> Tensor:
        """Of reach rows [T, B, H]: [T, B, H], a view."""
        count, hands, folds = self._reach.shape
        self._reach.copy_(reach.permute(1, 2, 0))
        table = self._table.view(-1, folds)
        sums = embedding_bag(self._lists, table, mode="sum")
        self._sums.copy_(sums.view(self._sums.shape))
        torch.sum(self._sums, dim=1, out=self._all)
        self._all.mul_(self._share)
        values = embedding_bag(self._read, table, mode="sum", per_sample_weights=self._weights)
        return values.view(count, hands, folds).permute(2, 0, 1)


class Showdowns:
    """Values of T showdowns on each of B boards: reach beaten minus reach that beats."""

    def __init__(self, boards: BoardHands, showdowns: int, options: dict[str, Any]) -> None:
        count, hands, hole = boards.held.shape
        n, k = boards.cards, boards.per_card
        lists = _card_lists(boards)
        self._lists = _indices(
            lists.hands.reshape(count, -1) + hands * np.arange(count)[:, None], options
        ).view(-1)
        self._reach = torch.zeros((count, hands, showdowns), **options)
        self._listed = torch.zeros((count * n * k, showdowns), **options)
        # running sums before every hand and after the last: of all, then of each card
        height = (hands + 1) + n * (k + 1)
        self._table = torch.zeros((count, height, showdowns), **options)
        self._of_all = self._table[:, : hands + 1]
        self._of_cards = self._table[:, hands + 1 :].view(count, n, k + 1, showdowns)
        begin, end = _tie_groups(boards.strengths)
        strengths = np.take_along_axis(
            boards.strengths, lists.hands.reshape(count, -1), axis=1
        ).reshape(count, n, k)
        read = [begin, end, np.full_like(begin, hands)]
        number = np.arange(n)[None, :, None] * (k + 1) + hands + 1
        for edge in (*_tie_groups(strengths), np.full_like(strengths, k)):
            flat = (edge + number).reshape(count, n * k)
            for card in range(hole):
                read.append(np.take_along_axis(flat, lists.place[:, :, card], axis=1))
        base = height * np.arange(count)[:, None, None]
        self._read = _indices(np.stack(read, axis=2) + base, options).view(count * hands, -1)
        weights = [1.0, 1.0, -1.0] + [-1.0] * (2 * hole) + [1.0] * hole
        self._weights = torch.tensor(weights, **options).expand(count * hands, -1).contiguous()

    def values(self, reach: Tensor) -> Tensor:
        """Of reach rows [T, B, H]: [T, B, H], a view."""
        count, hands, showdowns = self._reach.shape
        self._reach.copy_(reach.permute(1, 2, 0))
        torch.index_select(self._reach.view(-1, showdowns), 0, self._lists, out=self._listed)
        _, n, after, _ = self._of_cards.shape
        listed = self._listed.view(count, n, after - 1, showdowns)
        torch.cumsum(self._reach, 1, out=self._of_all[:, 1:])
        torch.cumsum(listed, 2, out=self._of_cards[:, :, 1:])
        table = self._table.view(-1, showdowns)
        values = embedding_bag(self._read, table, mode="sum", per_sample_weights=self._weights)
        return values.view(count, hands, showdowns).permute(2, 0, 1)


class AllIns:
    """Values of T called all-ins on each of B boards, by the equity of every hand.

    On most devices that is one product with dense matrices. A processor would wait for them to come
    from memory, so there the counts behind them are kept instead.
    """

    def __init__(
        self, margins: Sequence[Margins], boards: int, allins: int, options: dict[str, Any]
    ) -> None:
        """``margins``: of each board, or one for all of them."""
        self._run_outs = margins[0].run_outs
        counts = np.stack([margin.counts for margin in margins])
        self._counts = None
        if options["device"].type == "cpu" and len(margins) == boards:
            self._counts = counts
            self._out = torch.zeros((allins, boards, counts.shape[1]), **options)
            return
        # columns are the hands whose values are asked for
        equity = torch.as_tensor(counts, **options) / self._run_outs
        self._equity = equity.transpose(1, 2).contiguous()

    def values(self, reach: Tensor) -> Tensor:
        """Of reach rows [T, B, H]: [T, B, H]."""
        if self._counts is not None:
            self._apply(self._counts, reach.numpy(), self._out.numpy())
            return self._out
        if len(self._equity) == 1:
            return reach @ self._equity[0]
        return torch.bmm(reach.transpose(0, 1), self._equity).transpose(0, 1)

    def _apply(self, counts: Array, reach: Array, out: Array) -> None:
        """The product on as many threads as torch uses."""
        threads = min(torch.get_num_threads(), len(counts))
        if threads == 1:
            allin_values(counts, self._run_outs, reach, out)
            return
        edges = np.linspace(0, len(counts), threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            parts = [range(*pair) for pair in pairwise(edges)]
            list(
                pool.map(lambda part: allin_values(counts, self._run_outs, reach, out, part), parts)
            )


def _indices(values: Ints, options: dict[str, Any]) -> Tensor:
    return torch.as_tensor(
        np.ascontiguousarray(values), dtype=torch.int32, device=options["device"]
    )
