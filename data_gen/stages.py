"""The stages: for every network what a sample is and how it is made.

A stage is a small function ``generate(settings, rng, count) -> Samples`` and the settings it
needs, from ``conf/stage/NAME.yaml``. Settings are checked here, before anything is started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from data_gen.situations import check_mixture, draw_situations, live_count
from data_gen.solving import Precision, solve_situations
from data_gen.storage import Samples, quantised
from deepstack.game.definition import Game, load_game
from deepstack.run.errors import InputError
from deepstack.solver.rules import UpdateRule, update_rule
from deepstack.tree.menus import Menu, load_menu

DTYPES = ("float16", "float32")


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a stage, checked.

    Attributes:
        stage, game, menu, rule, precision: what is solved, how, how well.
        pots: intervals ``[low, high)`` of chips each player has put in.
        families: range families and the weights by which they are mixed.
        dtype: in which values are stored.
        shard: samples in a shard.
    """

    stage: Stage
    game: Game
    menu: Menu
    rule: UpdateRule
    precision: Precision
    pots: tuple[tuple[int, int], ...]
    families: dict[str, float]
    dtype: str
    shard: int

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


Generate = Callable[[Settings, np.random.Generator, int], Samples]


@dataclass(frozen=True, slots=True)
class Stage:
    """A network's place: its name, the betting round its situations are in, how they are made."""

    name: str
    round: int
    generate: Generate


def solved_starts(settings: Settings, rng: np.random.Generator, count: int) -> Samples:
    """Situations at the start of a round, solved to the end of the game."""
    game, round_ = settings.game, settings.stage.round
    situations = draw_situations(game, round_, count, settings.pots, settings.families, rng)
    situations.ranges[:] = quantised(situations.ranges)
    values, exploitability = solve_situations(
        game, round_, situations, settings.menu, settings.rule, settings.precision
    )
    return Samples(
        board=situations.boards,
        pot=(2 * situations.contributions).astype(np.float32),
        ranges=situations.ranges,
        values=values,
        exploitability=exploitability,
        source=situations.source,
    )


STAGES = {
    stage.name: stage
    for stage in (
        Stage("river_start", 3, solved_starts),
        Stage("leduc_start", 1, solved_starts),
    )
}


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
    changes = {key: value for key, value in config["rule"].items() if value is not None}
    return Settings(
        stage=stage,
        game=game,
        menu=load_menu(config["bets"]),
        rule=update_rule(config["algorithm"], **changes),
        precision=read_precision(config["target"], config["iterations"]),
        pots=tuple((int(low), int(high)) for low, high in config["pots"]),
        families=dict(config["ranges"]),
        dtype=config["dtype"],
        shard=config["shard"],
    )


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
