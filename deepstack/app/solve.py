"""``deepstack solve``: a game, a board with ranges, or a state of a hand."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

from omegaconf import DictConfig

from deepstack.game.spots import Spot
from deepstack.game.text import format_betting, format_chips
from deepstack.run.errors import InputError
from deepstack.solver.api import default_stop, prepare
from deepstack.solver.inspection import NodeView
from deepstack.solver.plots import plot_convergence, plot_strategy
from deepstack.solver.rules import DEFAULT, RULES, UpdateRule, update_rule
from deepstack.solver.solution import Solution
from deepstack.solver.storage import load
from deepstack.solver.tables import choose_actions, is_holdem, strategy_grid, strategy_table

Chosen = tuple[str, list[int]]  # the name and the places of some actions of a node

# Settings that have no meaning beside the one that says what to solve.
BESIDE: dict[str, tuple[str, ...]] = {
    "load": ("board", "state", "game", "pot", "stack", "bets", "algorithm"),
    "board": ("state", "game"),
    "state": ("pot", "stack"),
    "game": ("pot", "stack"),
}


def run(config: DictConfig) -> dict:
    for key in ("save", "plots", "result"):
        check_writable(key, config[key], folder=key == "plots")
    solution = _solution(config)
    print("\n".join(describe(solution)))
    limits = {key: config[key] for key in ("iterations", "target", "seconds")}
    if config.load is None and all(limit is None for limit in limits.values()):
        limits["iterations"], limits["target"] = default_stop(solution)
    # what cannot be shown is better refused now than after the solve
    board = None if config.show.board is None else str(config.show.board)
    where = str(config.show.betting), board
    chosen = _chosen(solution, str(config.show.action), *where)
    if any(limit is not None for limit in limits.values()):
        with stop_on_interrupt() as asked:
            solution.resume(**limits, progress=True, enough=asked)
            if asked():
                print("stopped")
    view = solution.node(*where)
    figures = _figures(solution)
    _print_figures(solution, figures)
    _print_node(solution, view, chosen)
    if config.save is not None:
        solution.save(config.save)
        print(f"solution: {config.save}")
    if config.plots is not None:
        _plot(solution, view, Path(config.plots))
    return figures


def _solution(config: DictConfig) -> Solution:
    """What the configuration asks for, before the first iteration or as it was saved."""
    asked = [key for key in ("load", "board", "state", "game") if config[key] is not None]
    if not asked:
        raise InputError("nothing to solve: expected game=, board= with pot= and stack=, or state=")
    main = asked[0]
    for key in BESIDE[main]:
        if config[key] is not None:
            raise InputError(f"{key}={config[key]} beside {main}=: expected one of them")
    if main == "load":
        return load(str(config.load), threads=config.threads)
    settings = {
        "bets": None if config.bets is None else str(config.bets),
        "algorithm": make_rule(config.algorithm, config.rule),
        "threads": config.threads,
        "dtype": config.dtype,
        "merge": config.merge,
        "limits": (config.iterations, config.target, config.seconds),
    }
    # a pair such as 77 reads as a number
    oop, ip = str(config.ranges.oop), str(config.ranges.ip)
    if main == "board":
        for key in ("pot", "stack"):
            if config[key] is None:
                raise InputError(f"{key} is not given: expected {key}=CHIPS beside board=")
        spot = Spot(str(config.board), config.pot, config.stack, oop, ip)
        return prepare(spot, **settings)
    ranges = {"oop": oop, "ip": ip}
    if main == "game":
        return prepare(str(config.game), ranges=ranges, **settings)
    game = "hunl" if config.game is None else str(config.game)
    return prepare(str(config.state), game=game, ranges=ranges, **settings)


def make_rule(name: object, changes: DictConfig | dict) -> UpdateRule:
    """The update rule of a name, the default one without, with the changes that are not null."""
    kinds = {field.name: str(field.type) for field in fields(UpdateRule)}
    given = {str(key): value for key, value in changes.items() if value is not None}
    for key, value in given.items():
        kind = kinds[key].split()[0]
        fits = {
            "bool": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "float": isinstance(value, int | float) and not isinstance(value, bool),
        }[kind]
        if not fits:
            expected = {"bool": "true or false", "int": "a whole number", "float": "a number"}
            raise InputError(f"rule.{key}={value}: expected {expected[kind]}")
    return replace(DEFAULT, **given) if name is None else update_rule(str(name), **given)


def check_writable(key: str, path: object, *, folder: bool = False) -> None:
    """Refuse a place that cannot be written before anything long begins."""
    if path is None:
        return
    final = Path(str(path))
    if final.exists() and final.is_dir() != folder:
        raise InputError(f"{key}={path}: expected a {'folder' if folder else 'file'}")
    there = final if folder else final.parent
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"{key}={path}: expected a place that can be written")


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C asked to stop: what was solved so far is kept. A second one stops at once."""
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def seat_names(solution: Solution) -> list[str]:
    """What the seats are called: by position after the flop, by number in small games."""
    if not is_holdem(solution.game):
        return [f"seat {seat + 1}" for seat in range(2)]
    first = solution.game.first_player[-1]
    return ["oop" if seat == first else "ip" for seat in range(2)]


def describe(solution: Solution) -> list[str]:
    """What is solved, how large its tree is, and how."""
    spot, state, engine = solution.spot, solution.state, solution.engine
    board = state.game.deck.format(state.board)
    if spot is not None:
        what = f"board {board}, pot {spot.pot}, stack {spot.stack}"
    else:
        what = f"game {state.game.name}"
        if state.betting != ((),):
            what += f" after {format_betting(state)!r}"
        what += f", board {board}" if board else ""
        what += f", pot {format_chips(solution.pot)}"
    lines = [f"{what}, bets {solution.menu}"]
    if is_holdem(state.game):
        hands = [
            f"{name} {_range_text(solution, s)}" for s, name in enumerate(seat_names(solution))
        ]
        lines.append(f"ranges: {', '.join(hands)}")
    counts = engine.counts()
    lines.append(
        f"tree: {counts.decisions:,} decisions, {counts.chances:,} chances, {counts.folds:,} "
        f"folds, {counts.showdowns:,} showdowns; {counts.slots:,} slots; {engine.memory}"
        f"{'; suits merged' if engine.merged else ''}"
    )
    threads = f", {engine.threads} threads" if engine.threads > 1 else ""
    lines.append(f"algorithm: {_rule_text(engine.rule)}, {engine.dtype}{threads}")
    return lines


def _range_text(solution: Solution, seat: int) -> str:
    given = (solution.ranges[seat] > 0).sum()
    spot = solution.spot
    asked = None if spot is None else (spot.oop, spot.ip)[seat]
    name = f"{asked} " if isinstance(asked, str) and len(asked) <= 40 else ""
    return f"{name}({given:,} hands)"


def _rule_text(rule: UpdateRule) -> str:
    if rule.name not in RULES:
        return rule.name
    changed = [
        f"{field.name} {getattr(rule, field.name)}"
        for field in fields(rule)
        if getattr(rule, field.name) != getattr(update_rule(rule.name), field.name)
    ]
    return rule.name + (f" ({', '.join(changed)})" if changed else "")


def _figures(solution: Solution) -> dict:
    counts, done = solution.engine.counts(), solution.iterations
    figures = {
        "exploitability": solution.exploitability,
        "exploitability_pot": solution.exploitability / solution.pot,
        "value": solution.values,
        "iterations": done,
        "seconds": solution.seconds,
        "slots": counts.slots,
        "ns_per_slot": 1e9 * solution.seconds / done / counts.slots if done else None,
        "memory_mb": solution.engine.memory.total / 2**20,
        "algorithm": solution.engine.rule.name,
        "history": [list(check) for check in solution.history],
    }
    if is_holdem(solution.game):
        for name, ev in zip(seat_names(solution), solution.evs, strict=True):
            figures[f"ev_{name}"] = ev
    return figures


def _print_figures(solution: Solution, figures: dict) -> None:
    if solution.iterations:
        print(
            f"{solution.iterations:,} iterations in {solution.seconds:.3g} s, "
            f"{figures['ns_per_slot']:.2f} ns a slot"
        )
    share = figures["exploitability_pot"]
    print(f"exploitability {solution.exploitability:.4g} chips ({share:.4%} of the pot)")
    names = seat_names(solution)
    if is_holdem(solution.game):
        evs = ", ".join(f"{n} {ev:.4f}" for n, ev in zip(names, solution.evs, strict=True))
        print(f"EV, as shares of the pot: {evs}")
    else:
        values = zip(names, solution.values, strict=True)
        print("value: " + ", ".join(f"{name} {value:+.6f}" for name, value in values))


def _node_title(solution: Solution, view: NodeView) -> str:
    board = solution.game.deck.format(view.state.board)
    pot = format_chips(view.state.pot / solution.chip)
    parts = [f"{seat_names(solution)[view.actor]} to act", board, f"pot {pot}"]
    return ", ".join(part for part in parts if part)


def _chosen(
    solution: Solution, action: str, where: str, board: str | None
) -> tuple[str, list[int]]:
    """The name and the places of the actions that the grid shows."""
    place = solution.place(where, board)
    actions = solution.actions(place)
    return choose_actions(place.state, actions, solution.labels(place), action, solution.chip)


def _print_node(solution: Solution, view: NodeView, chosen: Chosen) -> None:
    print(f"\n{_node_title(solution, view)}")
    print(strategy_table(view))
    if is_holdem(solution.game) and view.weights.any():
        name, places = chosen
        print(f"\n{name}: per cent of the time")
        print(strategy_grid(view, places))
    print()


def _plot(solution: Solution, view: NodeView, folder: Path) -> None:
    if is_holdem(solution.game):
        path = folder / "strategy.png"
        plot_strategy(view, path, _node_title(solution, view))
        print(f"plot: {path}")
    if solution.iterations:
        path = folder / "convergence.png"
        plot_convergence(solution.history, path, solution.pot, describe(solution)[0])
        print(f"plot: {path}")
