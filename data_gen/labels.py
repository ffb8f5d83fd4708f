"""Labels from networks: means over the next cards, and solves that end at a leaf network.

- End of a round: the mean over the next cards of the network at the start of the next one
  (``deepstack.values.chance``).
- Start of a round: a solve of its betting, with a network where the round ends.

Needs torch, which is why nothing else of the generator imports it before it is asked to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch

from data_gen.places import round_start
from data_gen.situations import Situations
from data_gen.solving import Precision, full_ranges, next_check, target_chips
from deepstack.game.definition import Game
from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.solver.batched import BatchedEngine, BatchedLeafEvaluator
from deepstack.solver.batched_shapes import SameShape, group_by_shape
from deepstack.solver.cfr_kernels import AVERAGE
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import RoundEvaluator
from deepstack.solver.rules import UpdateRule
from deepstack.tree.menus import Menu
from deepstack.values.chance import mean_values, next_deals
from deepstack.values.checkpoint import load_network, network_path, read_card
from deepstack.values.model import ValueNetwork
from deepstack.values.network_leaves import (
    BatchedEndLeaves,
    BatchedStartLeaves,
    EndLeaves,
    StartLeaves,
)
from deepstack.values.river_means import fits, mean_over_rivers, turn_tables

Floats = npt.NDArray[np.float64]

BOARDS_AT_ONCE = 8
"""Boards whose next boards' tables are held together."""


def network_checksum(network: str, stages: tuple[str, ...]) -> str:
    """SHA-256 of a network's weights, by name or path; refuses one that is for another stage."""
    card = read_card(network)
    if card.stage not in stages:
        raise InputError(
            f"network {network!r}: made for {card.stage}, expected {' or '.join(stages)}"
        )
    return card.sha256


@lru_cache(maxsize=4)
def open_network(network: str, sha256: str, device: str) -> ValueNetwork:
    """The network of a configuration, loaded once a process."""
    try:
        place = torch.device(device)
        loaded = load_network(network, place)
    except RuntimeError as error:
        raise InputError(f"device {device!r}: {str(error).splitlines()[0]}") from None
    found = read_card(network_path(network)).sha256
    if found != sha256:
        raise InputError(
            f"network {network!r}: checksum {found[:12]}…, expected {sha256[:12]}…, that of the "
            "network with which the data set was begun"
        )
    return loaded


@contextmanager
def one_thread() -> Iterator[None]:
    """Work on one thread: sums do not depend on the cores, which processes share anyway."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---- the end of a round


@one_thread()
@torch.inference_mode()
def label_ends(
    network: ValueNetwork,
    game: Game,
    situations: Situations,
    per_board: int,
    deals: int | None,
    rng: np.random.Generator,
) -> Floats:
    """Values [N, 2, H] in pots at the end of a round, from a network of the next one's start.

    Args:
        per_board: so many situations in a row share a board, and a selection of deals.
        deals: at most so many deals are averaged, a random selection; None: all.
    """
    values = np.empty(situations.ranges.shape)
    fractions = 2 * situations.contributions / sum(game.stacks)
    step = BOARDS_AT_ONCE * per_board
    for first in range(0, len(situations), step):
        rows = slice(first, first + step)
        boards = situations.boards[rows][::per_board]
        place = torch.arange(len(situations.boards[rows])) // per_board
        fraction = torch.as_tensor(fractions[rows], dtype=torch.float32)
        given = torch.as_tensor(situations.ranges[rows], dtype=torch.float32)
        asked = [part.to(network.device) for part in (place, fraction, given)]
        if deals is None and fits(network):
            found = mean_over_rivers(network, turn_tables(boards), *asked)
        else:
            following = next_deals(network.inputs, boards, network.device, most=deals, rng=rng)
            found = mean_values(network, following, *asked)
        values[rows] = found.cpu().numpy()
    return values


# ---- the start of a round


@dataclass(frozen=True, slots=True)
class LeafSolve:
    """How the betting of a round is solved to a leaf network.

    Attributes:
        menu, rule, precision: the bets, the update rule, when to stop.
        least: iterations at least.
        solver: ``batched``, many situations of one tree shape at once on the network's device, or
            ``engine``, one after the other by the kernels of the CPU.
        batch: situations solved at once, at most.
    """

    menu: Menu
    rule: UpdateRule
    precision: Precision
    least: int
    solver: str
    batch: int


@one_thread()
def solve_to_leaves(
    network: ValueNetwork, game: Game, round_: int, situations: Situations, how: LeafSolve
) -> tuple[Floats, npt.NDArray[np.float32]]:
    """Solve the betting of N situations at the start of a round.

    Args:
        network: for the end of the round, or for the start of the next one, which is then averaged
            over the cards.

    Returns:
        values [N, 2, H]: cfv / pot of the average strategies, live hands ascending; and the
        exploitability reached [N] as a share of the pot, leaf values frozen at the average ranges.
    """
    pairs = zip(situations.boards, situations.contributions, strict=True)
    roots = [round_start(game, round_, board, int(chips)) for board, chips in pairs]
    if how.solver == "engine":
        return _one_by_one(network, roots, situations.ranges, how)
    values = np.empty(situations.ranges.shape)
    reached = np.empty(len(situations), np.float32)
    for same in group_by_shape(roots, how.menu.raises):
        for first in range(0, len(same.indices), how.batch):
            rows = slice(first, first + how.batch)
            part = SameShape(same.indices[rows], same.trees[rows])
            chosen = list(part.indices)
            states = [roots[i] for i in chosen]
            solved = _at_once(network, states, situations.ranges[chosen], part, how)
            values[chosen], reached[chosen] = solved
    return values, reached


def _is_start(network: ValueNetwork) -> bool:
    return network.stage.endswith("_start")


def _one_by_one(
    network: ValueNetwork, roots: list[State], ranges: Floats, how: LeafSolve
) -> tuple[Floats, npt.NDArray[np.float32]]:
    values, reached = np.empty(ranges.shape), np.empty(len(roots), np.float32)
    leaves: RoundEvaluator = StartLeaves(network) if _is_start(network) else EndLeaves(network)
    for number, root in enumerate(roots):
        engine = Engine(
            root,
            full_ranges(root, ranges[number]),
            how.menu.raises,
            how.rule,
            merge=False,
            last_round=root.round,
            evaluator=leaves,
        )
        target, done = target_chips(root, how.precision), 0
        following = min(how.least, how.precision.iterations)
        while following > done:
            engine.run(following - done)
            done, gap = engine.iterations, engine.exploitability()
            following = next_check(done, gap, target, how.precision.iterations)
        reached[number] = gap / root.pot
        order = np.argsort(engine.board_tree[0].hands[0])
        values[number] = engine.root_values(AVERAGE)[:, order] / root.pot
    return values, reached


def _at_once(
    network: ValueNetwork, roots: list[State], ranges: Floats, same: SameShape, how: LeafSolve
) -> tuple[Floats, npt.NDArray[np.float32]]:
    """Situations of one tree shape; all go on until the last of them has reached its target."""
    full = np.stack([full_ranges(root, pair) for root, pair in zip(roots, ranges, strict=True)])
    leaves: BatchedLeafEvaluator = (
        BatchedStartLeaves(network) if _is_start(network) else BatchedEndLeaves(network)
    )
    engine = BatchedEngine(
        roots,
        full,
        how.menu.raises,
        how.rule,
        device=network.device,
        evaluator=leaves,
        trees=same.trees,
    )
    targets = np.array([target_chips(root, how.precision) for root in roots])
    pots, done = np.array([float(root.pot) for root in roots]), 0
    following = min(how.least, how.precision.iterations)
    while following > done:
        engine.run(following - done)
        done, gaps = engine.iterations, engine.exploitability().cpu().numpy()
        worst = float((gaps / targets).max())
        following = next_check(done, worst, 1.0, how.precision.iterations)
    values = engine.root_values(AVERAGE).cpu().numpy() / pots[:, None, None]
    return values, (gaps / pots).astype(np.float32)
