"""No-limit Leduc hold'em with a value network at the leaves, exactly evaluated.

The game of DeepStack's released Leduc code: ante 100, stacks of 1200, pot bets. The lookahead of
the first round ends with the round, and its leaves are valued by the second round solved, by our
network, or as if both players checked to the end. Every public state is visited, and the whole
strategy is best-responded to: by a responder with the same menu, and by one who may also bet any
multiple of so many chips, sizes that the agent's menu does not have.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from omegaconf import DictConfig

from deepstack.game.definition import Game, load_game
from deepstack.game.state import State
from deepstack.resolve.assemble import best_response_value, grid_raises
from deepstack.resolve.continual import Resolver, Settings
from deepstack.resolve.lookahead import MakeLeaves, Solve, by_side
from deepstack.run.progress import Progress
from deepstack.solver.leaves import RoundEvaluator
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import Raises
from deepstack.tree.menus import load_menu
from deepstack.values.leaves import EquityLeaves, NetworkLeaves
from deepstack.values.solved import SolvedLeaves

UNIT = "decisions"
GAME = "nolimit_leduc"


def _leaves(kind: str, config: DictConfig, game: Game) -> MakeLeaves:
    if kind == "exact":
        rule = update_rule(str(config.leaf_algorithm))
        return partial(SolvedLeaves, iterations=int(config.leaf_iterations), rule=rule, merge=True)
    if kind == "equity":
        return lambda state, raises: EquityLeaves()
    from deepstack.values.checkpoint import load_network
    from deepstack.values.fast import FastMlp

    fast = FastMlp(load_network(str(config.network)))

    def network(state: State, raises: Raises) -> RoundEvaluator:
        return NetworkLeaves(fast, game)

    return network


def settings(config: DictConfig, kind: str, seat: int) -> Settings:
    """How the agent solves, with one kind of leaves: ``exact``, ``network`` or ``equity``."""
    game = load_game(GAME)
    raises = by_side(seat, load_menu(config.bets).raises, load_menu(config.their_bets).raises)
    rule = update_rule(str(config.algorithm), **dict(config.rule))
    first, second = (int(n) for n in config.iterations)
    return Settings(
        (Solve(raises, rule, first, _leaves(kind, config, game)), Solve(raises, rule, second)),
        gadget=str(config.gadget),
        values=str(config.carry),
        gift=bool(config.gift),
        snapshots=int(config.snapshots),
    )


def steps(config: DictConfig) -> None:
    """Nobody knows how many decisions the responders' trees have before they are built."""
    return None


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in chips and per cent of the ante, by kind of leaves."""
    game = load_game(GAME)
    ante = game.blinds[0]
    figures: dict[str, Any] = {"game": game.name, "ante": ante, "stack": game.stacks[0]}
    responders: dict[str, Raises | None] = {"menu": None}
    if int(config.grid):
        responders["grid"] = grid_raises(int(config.grid))
    for kind in config.leaves:
        row: dict[str, Any] = {}
        for name, raises in responders.items():
            won = [
                best_response_value(
                    Resolver(game, seat, settings(config, str(kind), seat)), raises, progress
                )
                for seat in (0, 1)
            ]
            row[name] = {"chips": sum(won) / 2, "percent_of_ante": 50.0 * sum(won) / ante}
        figures[f"{kind}_leaf"] = {
            **row["menu"],
            **({"grid": row["grid"]} if "grid" in row else {}),
        }
    return figures
