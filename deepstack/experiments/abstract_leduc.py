"""Re-solving an abstract strategy in Leduc hold'em (N. Burch, thesis 2017, §5.4).

In the abstraction a player with the jack cannot tell the queen from the king on the board, nor one
with the king the jack from the queen. The abstract game is solved, its strategy is played in the
real one, and then the second round is solved again, subgame by subgame and player by player, with
gadgets and constraints of several kinds. What counts is the exploitability of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.constraints import KINDS, constraint_values
from deepstack.resolve.gadgets import Cfrd, Fixed, MaxMargin, Mixture
from deepstack.resolve.subgames import Subgame, copy_strategy, entered_by, subgames
from deepstack.run.progress import Progress
from deepstack.solver.cfr_kernels import NOTHING
from deepstack.solver.engine import Engine
from deepstack.solver.leaves import RootGadget
from deepstack.solver.rules import UpdateRule, update_rule
from deepstack.tree.betting import limit_raises

UNIT = "solves"
Floats = npt.NDArray[np.float64]


def steps(config: DictConfig) -> int:
    """Solves of single subgames: 30 for each player and variant."""
    return 60 * len(list(_variants(config)))


def _variants(config: DictConfig) -> Iterator[tuple[str, str, float]]:
    """Names in the figures: gadget, constraints, probability of the estimated range."""
    for constraints in KINDS:
        yield "safe", constraints, 0.0
    yield "max_margin", "best_response", 0.0
    yield "unsafe", "best_response", 1.0
    for constraints in ("best_response", "self_play"):
        for p in config.coin_flip:
            yield "coin_flip", constraints, float(p)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exploitability in chips of the original and of every way to solve it again."""
    rule = update_rule("cfr")
    original = solve_abstract(config.abstract_iterations)
    parts = list(subgames(original))
    constraints = {
        kind: [constraint_values(original, opponent, kind) for opponent in (0, 1)] for kind in KINDS
    }
    curves: dict[str, list[float]] = {}
    coin_flip: dict[str, dict[str, float]] = {"best_response": {}, "self_play": {}}
    for gadget, kind, p in _variants(config):
        values = constraints[kind]

        def make(part: Subgame, opponent: int, p: float = p, gadget: str = gadget, c=values) -> Any:  # type: ignore[no-untyped-def]
            live = np.ones(len(part.hands))
            promised = c[opponent][part.line, part.board]
            if gadget == "unsafe":
                return Fixed(opponent, part.reach[opponent])
            if gadget == "max_margin":
                return MaxMargin(opponent, promised, live)
            safe = Cfrd(opponent, promised, live)
            return Mixture(p, part.reach[opponent], safe) if p else safe

        curve = resolve_curve(original, parts, make, rule, list(config.iterations), progress)
        if gadget == "coin_flip":
            coin_flip[kind][f"{p:g}"] = curve[-1]
        else:
            curves["unsafe" if gadget == "unsafe" else f"{gadget}_{kind}"] = curve
    return {
        "original": original.exploitability(),
        **{name: curve[-1] for name, curve in curves.items()},
        "coin_flip": coin_flip,
        "iterations": list(config.iterations),
        "curves": curves,
    }


def resolve_curve(
    original: Engine,
    parts: list[Subgame],
    make: Callable[[Subgame, int], RootGadget],
    rule: UpdateRule,
    iterations: list[int],
    progress: Progress | None = None,
) -> list[float]:
    """Exploitability after every subgame was solved again, at several numbers of iterations."""
    solved = []
    for part in parts:
        for seat in (0, 1):
            if progress is not None:
                progress.update(1)
            if not part.reach[seat].any():
                continue  # we never come here, and owe nothing
            engine = entered_by(part, seat, limit_raises, rule)
            snapshots, gadget = [], make(part, 1 - seat)
            for before, after in pairwise([0, *iterations]):
                engine.run(after - before, gadget)
                snapshots.append(engine.tables.average.copy())
            solved.append((part, seat, engine, snapshots))
    curve = []
    for number in range(len(iterations)):
        whole = _leduc(rule)
        whole.tables.average[:] = original.tables.average
        for part, seat, engine, snapshots in solved:
            engine.tables.average[:] = snapshots[number]
            copy_strategy(engine, whole, part, (seat,), back=True)
        curve.append(whole.exploitability())
    return curve


def _leduc(rule: UpdateRule) -> Engine:
    game = load_game("leduc")
    ranges = np.ones((2, game.hands))
    return Engine(initial_state(game), ranges, limit_raises, rule, dtype=np.float64, merge=False)


def solve_abstract(iterations: int) -> Engine:
    """The abstract game by CFR+, as a strategy of the real one.

    Every real information set keeps its own row of the tables. After a traversal the gains of those
    that the abstraction does not tell apart are added up, which makes them one.
    """
    rule = update_rule("cfr", gamma=1.0)  # the clipping comes after the gains are shared
    engine = _leduc(rule)
    stage, at = engine.board_tree[1], int(engine.tables.at_slot[1])
    shape = (stage.boards, int(engine.slots_of_stage[1]), int(engine.boards.width[1]))
    trunk, second = engine.tables.regret[:at], engine.tables.regret[at:].reshape(shape)
    members = _buckets(engine)
    schedule = rule.schedule(1, iterations + 1)
    keep, add = schedule[0, 2:]
    engine.traverse(engine.step(NOTHING, keep=keep, add=add, averaging=True), 1, 1)
    for step, first, last in engine.steps(schedule):
        before = second.copy()
        engine.traverse(step, first, last)
        shared = np.einsum("kbh,bsh->sk", members, second - before)
        second[:] = np.maximum(before + np.einsum("kbh,sk->bsh", members, shared), 0.0)
        np.maximum(trunk, 0.0, out=trunk)
    engine.iterations = iterations
    return engine


def _buckets(engine: Engine) -> Floats:
    """Which hand on which board is in which of the seven classes: [7, B, width] of 0 and 1."""
    stage, suits = engine.board_tree[1], len(engine.game.deck.suits)
    names: dict[tuple[int, int], int] = {}
    members = np.zeros((7, stage.boards, int(engine.boards.width[1])))
    for board in range(stage.boards):
        public = int(stage.cards[board, 0]) // suits
        for place, card in enumerate(stage.hands[board]):
            own = int(card) // suits
            told_apart = own == 1 or own == public  # the queen sees all, a pair is a pair
            key = (own, public if told_apart else -1)
            members[names.setdefault(key, len(names)), board, place] = 1.0
    return members
