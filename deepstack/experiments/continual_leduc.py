"""Continual re-solving in limit Leduc hold'em: the exact exploitability of the whole strategy.

Every decision of both seats is solved again from what the agent carries (N. Burch, thesis 2017,
chapter 6), with lookaheads to the end of the game, and with lookaheads to the end of the betting
round whose leaves are the rest of the game solved; the answers are put together and best-responded
to. The gadgets and the kinds of values that may be carried stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.resolve.assemble import decisions, empty_game, fill_strategy
from deepstack.resolve.continual import Resolver, Settings
from deepstack.resolve.lookahead import Solve
from deepstack.run.progress import Progress
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises
from deepstack.values.solved import SolvedLeaves

UNIT = "decisions"
GIFT = "+gift"
"""Ends the name of a kind of values to which the gift of a call is added."""


class Variant(NamedTuple):
    """One way to re-solve: figure, gadget, values carried, iterations."""

    figure: str
    gadget: str
    carry: str
    iterations: int


def variants(config: DictConfig) -> Iterator[Variant]:
    """All that the configuration asks for."""
    parts = [("exploitability", config.whole), ("limited", config.limited)]
    for figure, part in [*parts, ("limited", config.long)]:
        for gadget in part.gadgets:
            for carry in part.carry:
                for iterations in part.iterations:
                    yield Variant(figure, str(gadget), str(carry), int(iterations))


def settings(config: DictConfig, variant: Variant) -> Settings:
    """How a variant solves."""
    rule = update_rule(str(config.algorithm))
    last = Solve(limit_raises, rule, variant.iterations)
    rounds: tuple[Solve, ...] = (last,)
    if variant.figure == "limited":
        leaves = partial(SolvedLeaves, iterations=int(config.leaf_iterations), merge=True)
        rounds = (Solve(limit_raises, rule, variant.iterations, leaves), last)
    return Settings(
        rounds,
        gadget=variant.gadget,
        values=variant.carry.removesuffix(GIFT),
        gift=variant.carry.endswith(GIFT),
        snapshots=int(config.snapshots),
    )


def steps(config: DictConfig) -> int:
    """Decisions of both seats for every variant."""
    chosen = list(variants(config))
    whole = empty_game(Resolver(load_game(str(config.game)), 0, settings(config, chosen[0])))
    return len(chosen) * (decisions(whole, 0) + decisions(whole, 1))


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in chips by gadget, kind of the values carried, and iterations."""
    game = load_game(str(config.game))
    found: dict[str, Any] = {"game": game.name}
    for variant in variants(config):
        chosen = settings(config, variant)
        resolvers = [Resolver(game, seat, chosen) for seat in (0, 1)]
        whole = empty_game(resolvers[0])
        for resolver in resolvers:
            fill_strategy(whole, resolver, progress)
        place = found.setdefault(variant.figure, {}).setdefault(variant.gadget, {})
        place.setdefault(variant.carry, {})[str(variant.iterations)] = whole.exploitability()
    return found
