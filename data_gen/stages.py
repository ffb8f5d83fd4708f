"""The stages: for every network what a sample is and how it is made.

A stage is a small function ``generate(settings, rng, count) -> Samples`` and the settings it
needs, from ``conf/stage/NAME.yaml``. Settings are checked here, before anything is started.

The chain, each link from the one before it:

    river_start   random situations, solved to the end
    turn_end      the mean over rivers of ``river_start``
    turn_start    the betting of the turn, solved to ``turn_end`` (or exactly, rivers and all)
    flop_end      the mean over turns of ``turn_start``
    flop_start    the betting of the flop, solved to ``flop_end``
    preflop_end   the mean over flops of ``flop_start``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from data_gen.places import Place, live_count
from data_gen.situations import Situations, check_mixture, draw_situations
from data_gen.solving import Precision, solve_situations
from data_gen.storage import Samples, quantised
from deepstack.game.definition import Game, load_game
from deepstack.run.errors import InputError
from deepstack.solver.rules import UpdateRule, update_rule
from deepstack.tree.menus import Menu, load_menu

if TYPE_CHECKING:  # brings torch
    from deepstack.values.model import ValueNetwork

DTYPES = ("float16", "float32")
LEAVES = ("network", "exact")
SOLVERS = ("batched", "engine")


@dataclass(frozen=True, slots=True)
class Source:
    """The network that labels are made with, and how many situations share its preparations.

    Attributes:
        network, sha256: its name or path, and the checksum of its weights.
        device: where it runs.
        per_board: so many situations in a row share a board.
        deals: at most so many of the next deals are averaged; None: all.
        solver, batch, least: how situations are solved to it (``data_gen.labels``).
    """

    network: str
    sha256: str
    device: str
    per_board: int
    deals: int | None
    solver: str
    batch: int
    least: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a stage, checked.

    Attributes:
        stage, game, menu: what is solved, and with which bets.
        rule, precision: how it is solved, how well; None where nothing is.
        pots: intervals ``[low, high)`` of chips each player has put in.
        families: range families and the weights by which they are mixed.
        dtype: in which values are stored.
        shard: samples in a shard.
        source: the network behind the labels; None where situations are solved to the end.
    """

    stage: Stage
    game: Game
    menu: Menu
    rule: UpdateRule | None
    precision: Precision | None
    pots: tuple[tuple[int, int], ...]
    families: dict[str, float]
    dtype: str
    shard: int
    source: Source | None

    @property
    def place(self) -> Place:
        return Place(self.game, self.stage.round, self.stage.end, self.menu)

    @property
    def board_cards(self) -> int:
        return self.game.board_size(self.stage.round)

    @property
    def hands(self) -> int:
        """Live hands of a board."""
        return live_count(self.game, self.board_cards)

    @property
    def bytes_per_sample(self) -> int:
        value = np.dtype(self.dtype).itemsize
        return self.board_cards + 4 + 4 + 1 + 2 * self.hands * (2 + value)


@dataclass(frozen=True, slots=True)
class Stage:
    """A network's place.

    Attributes:
        name: of the network.
        round: the betting round its situations are in,
        end: at its end or at its start.
        sources: stages of the networks that may stand behind its labels.
    """

    name: str
    round: int
    end: bool = False
    sources: tuple[str, ...] = ()

    @property
    def generate(self) -> Callable[[Settings, np.random.Generator, int], Samples]:
        """What makes its samples."""
        return mean_ends if self.end else solved_starts


STAGES = {
    stage.name: stage
    for stage in (
        Stage("river_start", 3),
        Stage("turn_end", 2, True, ("river_start",)),
        Stage("turn_start", 2, False, ("turn_end", "river_start")),
        Stage("flop_end", 1, True, ("turn_start",)),
        Stage("flop_start", 1, False, ("flop_end", "turn_start")),
        Stage("preflop_end", 0, True, ("flop_start",)),
        Stage("leduc_start", 1),
    )
}


def solved_starts(settings: Settings, rng: np.random.Generator, count: int) -> Samples:
    """Situations at the start of a round, solved to the end of the game or to a leaf network."""
    situations = _situations(settings, rng, count)
    game, round_, rule = settings.game, settings.stage.round, settings.rule
    assert rule is not None
    assert settings.precision is not None
    if settings.source is None:
        solved = solve_situations(game, round_, situations, settings.menu, rule, settings.precision)
    else:
        from data_gen.labels import LeafSolve, solve_to_leaves

        source = settings.source
        how = LeafSolve(
            menu=settings.menu,
            rule=rule,
            precision=settings.precision,
            least=source.least,
            solver=source.solver,
            batch=source.batch,
        )
        solved = solve_to_leaves(_network(source), game, round_, situations, how)
    return _samples(situations, *solved)


def mean_ends(settings: Settings, rng: np.random.Generator, count: int) -> Samples:
    """Situations at the end of a round, valued by the mean of a network over the next cards."""
    from data_gen.labels import label_ends

    source = settings.source
    assert source is not None
    situations = _situations(settings, rng, count, source.per_board)
    values = label_ends(
        _network(source), settings.game, situations, source.per_board, source.deals, rng
    )
    return _samples(situations, values, np.full(count, np.nan, np.float32))


def _situations(
    settings: Settings, rng: np.random.Generator, count: int, per_board: int = 1
) -> Situations:
    """Random situations with the ranges that storage will give back."""
    drawn = draw_situations(settings.place, count, settings.pots, settings.families, rng, per_board)
    drawn.ranges[:] = quantised(drawn.ranges)
    return drawn


def _network(source: Source) -> ValueNetwork:
    from data_gen.labels import open_network

    return open_network(source.network, source.sha256, source.device)


def _samples(situations: Situations, values: Any, exploitability: Any) -> Samples:
    return Samples(
        board=situations.boards,
        pot=(2 * situations.contributions).astype(np.float32),
        ranges=situations.ranges,
        values=values,
        exploitability=exploitability,
        source=situations.source,
    )


# ---- configuration


def read_settings(config: Mapping[str, Any]) -> Settings:
    """The settings of ``conf/stage``, with one clear error for what does not fit."""
    name = config["name"]
    if name not in STAGES:
        raise InputError(f"stage {name!r}: expected one of {', '.join(STAGES)}")
    stage, game = STAGES[name], load_game(config["game"])
    if game.players != 2 or game.limit or stage.round >= game.rounds:
        raise InputError(
            f"game {game.name} for stage {name}: expected a no-limit game of two players with "
            f"{stage.round + 1} rounds or more"
        )
    stack = min(game.stacks)
    check_mixture(config["pots"], config["ranges"], stack)
    if config["dtype"] not in DTYPES:
        raise InputError(f"dtype {config['dtype']!r}: expected one of {', '.join(DTYPES)}")
    if config["shard"] < 1:
        raise InputError(f"shard={config['shard']}: expected at least 1 sample in a shard")
    solved = not stage.end
    return Settings(
        stage=stage,
        game=game,
        menu=load_menu(config["bets"]),
        rule=_read_rule(config) if solved else None,
        precision=read_precision(config["target"], config["iterations"]) if solved else None,
        pots=tuple((int(low), int(high)) for low, high in config["pots"]),
        families=dict(config["ranges"]),
        dtype=config["dtype"],
        shard=config["shard"],
        source=_read_source(stage, config),
    )


def _read_rule(config: Mapping[str, Any]) -> UpdateRule:
    changes = {key: value for key, value in config["rule"].items() if value is not None}
    return update_rule(config["algorithm"], **changes)


def _read_source(stage: Stage, config: Mapping[str, Any]) -> Source | None:
    """The network behind a stage's labels, if it has one."""
    leaves = config.get("leaves", "network" if stage.sources else "exact")
    if leaves not in LEAVES or (stage.end and leaves != "network"):
        expected = "network" if stage.end else " or ".join(LEAVES)
        raise InputError(f"leaves {leaves!r}: expected {expected}")
    if leaves == "exact":
        return None
    if not stage.sources:
        raise InputError(f"leaves {leaves!r}: {stage.name} is solved to the end, expected exact")
    network = config.get("network")
    if network is None:
        known = " or ".join(stage.sources)
        raise InputError(f"network is not given: expected a name or a path of one for {known}")
    for key in ("per_board", "deals", "batch", "least"):
        value = config.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise InputError(f"{key}={value}: expected a whole number")
        if value is not None and value < 1:
            raise InputError(f"{key}={value}: expected at least 1")
    solver = config.get("solver", SOLVERS[0])
    if solver not in SOLVERS:
        raise InputError(f"solver {solver!r}: expected one of {', '.join(SOLVERS)}")
    return Source(
        network=str(network),
        sha256=config.get("network_sha256") or _checksum(str(network), stage),
        device=str(config.get("device", "cpu")),
        per_board=config.get("per_board") or 1,
        deals=config.get("deals"),
        solver=solver,
        batch=config.get("batch") or 1,
        least=config.get("least") or 1,
    )


def _checksum(network: str, stage: Stage) -> str:
    from data_gen.labels import network_checksum

    return network_checksum(network, stage.sources)


def read_precision(target: Any, iterations: int) -> Precision:
    """Targets by depth, as ``[[0, 0.002], [25, 0.003]]``."""
    expected = "expected [[0, share], [depth, share], …], depths ascending from 0, shares positive"
    try:
        pairs = tuple((float(depth), float(share)) for depth, share in target)
    except (TypeError, ValueError):
        raise InputError(f"target={target}: {expected}") from None
    depths = [depth for depth, _ in pairs]
    if not pairs or depths[0] != 0 or depths != sorted(set(depths)):
        raise InputError(f"target={target}: {expected}")
    if not all(share > 0 for _, share in pairs):
        raise InputError(f"target={target}: {expected}")
    if iterations < 1:
        raise InputError(f"iterations={iterations}: expected at least 1")
    return Precision(pairs, iterations)
