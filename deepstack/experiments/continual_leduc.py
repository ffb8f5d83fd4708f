"""Continual re-solving in limit Leduc hold'em: the exact exploitability of the whole strategy.

Every decision of both seats is solved again from what the agent carries, with lookaheads to the end
of the game (N. Burch, thesis 2017, chapter 6); the answers are put together and best-responded to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.resolve.assemble import decisions, empty_game, fill_strategy
from deepstack.resolve.continual import Resolver, Settings
from deepstack.resolve.lookahead import Solve
from deepstack.run.progress import Progress
from deepstack.solver.rules import update_rule
from deepstack.tree.betting import limit_raises

UNIT = "decisions"


def _variants(config: DictConfig) -> Iterator[tuple[str, str, int]]:
    for gadget in config.gadgets:
        for values in config.carry:
            for iterations in config.iterations:
                yield str(gadget), str(values), int(iterations)


def steps(config: DictConfig) -> int:
    """Decisions of both seats for every variant."""
    game = load_game(str(config.game))
    settings = Settings((Solve(limit_raises, update_rule(str(config.algorithm)), 1),))
    whole = empty_game(Resolver(game, 0, settings))
    return len(list(_variants(config))) * (decisions(whole, 0) + decisions(whole, 1))


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in chips by gadget, kind of the values carried, and iterations."""
    game, rule = load_game(str(config.game)), update_rule(str(config.algorithm))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for gadget, values, iterations in _variants(config):
        solve = Solve(limit_raises, rule, iterations)
        settings = Settings((solve,), gadget=gadget, values=values)
        resolvers = [Resolver(game, seat, settings) for seat in (0, 1)]
        whole = empty_game(resolvers[0])
        for resolver in resolvers:
            fill_strategy(whole, resolver, progress)
        place = found.setdefault(gadget, {}).setdefault(values, {})
        place[str(iterations)] = whole.exploitability()
    return {"game": game.name, "exploitability": found}
