"""What networks at the leaves of a lookahead cost, exactly, and what they save.

The betting of random turns is solved three times, with different things at the end of the round:

- ``exact``: the rivers themselves, a part of the tree, solved to a target;
- ``river_start``: that network for every river card, averaged, the published form;
- ``turn_end``: the network that says this average at once; with the same update rule and as many
  iterations as the other.

Each solve gives a strategy for the turn. The exploitability of those of the networks is exact:
every player in turn is held to it on the turn, and the rest, the player's rivers and all that the
opponent does, is solved in the true game (``deepstack.resolve.frozen``). Rivers are thus completed
optimally, and what is measured is the turn's betting alone. The exact solution has its rivers
already.

Spots are drawn with a seed: uniform boards, stack / pot uniform in its logarithm between bounds
that take turns, and two ranges of the families that training data has. Seconds are those of the
processor on one thread, from nothing to the strategy: trees and tables of the board included.
Every spot is kept in a file of its own under ``spots_in``, so a run that was stopped goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig, OmegaConf

from data_gen.places import Place, live_hands, round_start
from data_gen.situations import RANGE_FAMILIES, draw_situations
from data_gen.solving import run_to_target
from deepstack.cards.notation import STANDARD
from deepstack.evaluate.statistics import mean_estimate
from deepstack.experiments.machine import processor
from deepstack.experiments.spot_files import kept_rows
from deepstack.game.definition import load_game
from deepstack.game.state import State
from deepstack.resolve.frozen import RoundStrategy, complete, round_strategy
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import LeafEvaluator
from deepstack.solver.rules import DCFR_PLUS, DEFAULT
from deepstack.solver.stopping import parse_target
from deepstack.tree.menus import Menu, load_menu

if TYPE_CHECKING:  # brings torch
    from deepstack.values.model import ValueNetwork

UNIT = "solves"
TURN = 2
NETWORKS = ("river_start", "turn_end")
LEAVES = ("exact", *NETWORKS)
"""What may stand at the end of the turn."""
SOLVES = len(LEAVES) + 2 * len(NETWORKS)
"""Of a spot: for each kind of leaves the turn, and for the networks the rest with either player
held."""
DRAWS = 8
"""Situations that are drawn together; those of play share a lookahead."""
ATTEMPTS = 1000

LOOKAHEAD = replace(DEFAULT, alternating=False)
"""To networks. Both players at once: one question for the leaves an iteration, and questions are
what costs; alternating updates need as many of them."""
EXACT = DEFAULT
COMPLETION = replace(DCFR_PLUS, fresh=False)
"""With a player held; of the rules tried, the smallest gap after 200 to 500 iterations."""

NOT_OF_A_SPOT = ("spots", "result", "method", "spots_in", "networks")
MakeLeaves = Callable[[], LeafEvaluator | None]


@dataclass(frozen=True, slots=True, eq=False)
class TurnSpot:
    """The start of a turn.

    Attributes:
        root: the state.
        ranges: [2, hands], each of sum 1.
        family: of the ranges.
        depth: which bounds its stack / pot lies between, as their place.
    """

    root: State
    ranges: npt.NDArray[np.float64]
    family: str
    depth: int

    @property
    def pot(self) -> float:
        return float(self.root.pot)

    @property
    def stack_to_pot(self) -> float:
        return _stack_to_pot(self.root.game.stacks[0], self.root.spent[0])


def steps(config: DictConfig) -> int:
    """Solves of all spots."""
    return SOLVES * int(config.spots)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in per cent of the pot and seconds, by depth and over all spots."""
    _check(config)
    from data_gen.labels import one_thread
    from deepstack.values.checkpoint import read_card

    cards = {stage: read_card(str(config.networks[stage])) for stage in NETWORKS}
    given = OmegaConf.to_container(config)
    assert isinstance(given, dict)
    settings = {str(key): value for key, value in given.items() if key not in NOT_OF_A_SPOT}
    settings["networks"] = {stage: card.sha256 for stage, card in cards.items()}
    leaves: dict[str, MakeLeaves] = {}

    def measured(number: int) -> dict[str, Any]:
        if not leaves:
            leaves.update(load_leaves(config.networks))
            # loading compiled code is no part of the seconds; a spot of its own, since tables are
            unmeasured, brief = draw_spot(config.spots, config), config.copy()
            brief.update(iterations=1, exact_iterations=1)
            for make in leaves.values():
                solve_turn(unmeasured, brief, make)
        return measure(draw_spot(number, config), config, leaves, progress)

    rows = []
    with one_thread():
        for row, kept in kept_rows(config.spots_in, config.spots, settings, measured):
            progress.update(SOLVES if kept else 0)
            rows.append(row)
    return {
        **summary(rows, list(config.depths)),
        "networks": {
            stage: {
                "sha256": card.sha256,
                "validation_huber": card.origin and card.origin.figures.get("validation_huber"),
            }
            for stage, card in cards.items()
        },
        "machine": processor(),
        "spots": rows,
    }


def _check(config: DictConfig) -> None:
    for key in ("spots", "iterations", "exact_iterations", "held_iterations"):
        if config[key] < 1:
            raise InputError(f"{key}={config[key]}: expected at least 1")
    depths = list(config.depths)
    if len(depths) < 2 or not depths[0] > 0 or (np.diff(depths) <= 0).any():
        raise InputError(f"depths={depths}: expected two positive bounds or more, ascending")
    for family in config.families:
        if family not in RANGE_FAMILIES:
            known = ", ".join(RANGE_FAMILIES)
            raise InputError(f"range family {family!r}: expected one of {known}")
    if not config.families:
        raise InputError("families=[]: expected one at least")
    for key in ("exact_target", "held_gap"):
        parse_target(config[key], 1.0)


# ---- spots


def _menu(config: DictConfig) -> Menu:
    return load_menu(str(config.bets))


def _stack_to_pot(stack: int, chips: int) -> float:
    return (stack - chips) / (2 * chips)


def draw_spot(number: int, config: DictConfig) -> TurnSpot:
    """A spot by its number: depths take turns, and families of ranges after all depths had one.

    Situations of play come with the chips of their lookahead, so they are drawn until the stack
    fits.
    """
    rng = np.random.default_rng([config.seed, number])
    game, bounds = load_game("hunl"), [float(bound) for bound in config.depths]
    depth = number % (len(bounds) - 1)
    family = str(config.families[number // (len(bounds) - 1) % len(config.families)])
    low, high = bounds[depth], bounds[depth + 1]
    place, stack = Place(game, TURN, False, _menu(config)), game.stacks[0]
    for _ in range(ATTEMPTS):
        wanted = low * (high / low) ** rng.random()
        chips = round(stack / (1 + 2 * wanted))
        drawn = draw_situations(place, DRAWS, [[chips, chips + 1]], {family: 1.0}, rng)
        for row in range(DRAWS):
            board, chips = drawn.boards[row], int(drawn.contributions[row])
            if low <= _stack_to_pot(stack, chips) <= high:
                ranges = np.zeros((2, game.hands))
                ranges[:, live_hands(game, board)] = drawn.ranges[row]
                return TurnSpot(round_start(game, TURN, board, chips), ranges, family, depth)
    raise InputError(
        f"depths={bounds}: no situation of family {family!r} with stack / pot from {low:g} to "
        f"{high:g} in {ATTEMPTS * DRAWS}"
    )


# ---- one spot


def load_leaves(networks: Mapping[str, Any]) -> dict[str, MakeLeaves]:
    """Makers of fresh evaluators, which have nothing of the board yet; None for ``exact``."""
    from deepstack.values.checkpoint import load_network
    from deepstack.values.network_leaves import EndLeaves, StartLeaves

    loaded: dict[str, ValueNetwork] = {}
    for stage in NETWORKS:
        loaded[stage] = load_network(str(networks[stage]))
        if loaded[stage].stage != stage:
            raise InputError(
                f"networks.{stage}={networks[stage]}: made for {loaded[stage].stage}, expected "
                f"{stage}"
            )
    return {
        "exact": lambda: None,
        "river_start": lambda: StartLeaves(loaded["river_start"]),
        "turn_end": lambda: EndLeaves(loaded["turn_end"]),
    }


class Turn(NamedTuple):
    """A solved turn: its strategy, the seconds it took, and exploitability in chips where rivers
    are part of the solution, else None."""

    strategy: RoundStrategy
    seconds: float
    exploitability: float | None


def solve_turn(spot: TurnSpot, config: DictConfig, make: MakeLeaves) -> Turn:
    """Solve the betting of a spot to its leaves."""
    started = time.process_time()
    evaluator, raises = make(), _menu(config).raises
    reached = None
    if evaluator is None:
        engine = Engine(spot.root, spot.ranges, raises, EXACT, merge=False)
        reached = run_to_target(engine, _chips(config.exact_target, spot), config.exact_iterations)
    else:
        engine = Engine(
            spot.root,
            spot.ranges,
            raises,
            LOOKAHEAD,
            merge=False,
            last_round=TURN,
            evaluator=evaluator,
        )
        engine.run(config.iterations)
    return Turn(round_strategy(engine), time.process_time() - started, reached)


def measure(
    spot: TurnSpot,
    config: DictConfig,
    leaves: Mapping[str, MakeLeaves],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """A spot's row: by kind of leaves exploitability and its gap, per cent of the pot, and seconds.

    The gap says by how much exploitability may be too high.
    """
    row: dict[str, Any] = {
        "board": STANDARD.format(spot.root.board),
        "family": spot.family,
        "depth": spot.depth,
        "stack_to_pot": spot.stack_to_pot,
        "leaves": {},
    }
    whole = Engine(spot.root, spot.ranges, _menu(config).raises, COMPLETION, merge=False)
    for name in LEAVES:
        turn = solve_turn(spot, config, leaves[name])
        if progress is not None:
            progress.update()
        if turn.exploitability is None:
            exploitability, gap = _held(whole, turn.strategy, spot, config, progress)
        else:  # what the rivers' own inaccuracy adds is somewhere between nothing and all of it
            exploitability = gap = turn.exploitability
        row["leaves"][name] = {
            "exploitability": 100 * exploitability / spot.pot,
            "gap": 100 * gap / spot.pot,
            "seconds": round(turn.seconds, 3),
        }
    return row


def _held(
    whole: Engine,
    strategy: RoundStrategy,
    spot: TurnSpot,
    config: DictConfig,
    progress: Progress | None,
) -> tuple[float, float]:
    """Exploitability of a turn's strategy with the rest completed, and its gap, in chips."""
    found = []
    for player in (0, 1):
        gap, most = _chips(config.held_gap, spot), int(config.held_iterations)
        found.append(complete(whole, player, strategy, gap=gap, iterations=most))
        if progress is not None:
            progress.update()
    return sum(won.most for won in found) / 2, sum(won.gap for won in found) / 2


def _chips(share: float | str, spot: TurnSpot) -> float:
    """A target of the configuration in chips."""
    chips = parse_target(share, spot.pot)
    assert chips is not None
    return chips


# ---- all spots


def summary(rows: Sequence[Mapping[str, Any]], bounds: Sequence[float]) -> dict[str, Any]:
    """Figures over all spots and by depth, and how the two networks compare."""
    depths = []
    for number in range(len(bounds) - 1):
        here = [row for row in rows if row["depth"] == number]
        if here:
            depths.append({"from": bounds[number], "to": bounds[number + 1], **figures_of(here)})
    gaps = np.concatenate([_column(rows, name, "gap") for name in NETWORKS])
    start, end = (_column(rows, name, "exploitability") for name in NETWORKS)
    whole = figures_of(rows)
    difference = mean_estimate(end - start)
    return {
        "all": whole,
        "depths": depths,
        "difference": {"mean": difference.mean, "ci95": difference.ci95},
        "time_ratio": whole["turn_end"]["seconds"] / whole["river_start"]["seconds"],
        "gap": {"mean": float(gaps.mean()), "worst": float(gaps.max())},
    }


def figures_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By kind of leaves: mean and 95th percentile of exploitability, and mean seconds."""
    found: dict[str, Any] = {"spots": len(rows)}
    for name in LEAVES:
        exploitability = _column(rows, name, "exploitability")
        found[name] = {
            "mean": float(exploitability.mean()),
            "p95": float(np.percentile(exploitability, 95)),
            "seconds": float(_column(rows, name, "seconds").mean()),
        }
    return found


def _column(rows: Sequence[Mapping[str, Any]], name: str, key: str) -> npt.NDArray[np.float64]:
    return np.array([row["leaves"][name][key] for row in rows])
