"""The sections on large limit games: solved ones, and players who ignore their cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deepstack.experiments import published
from deepstack.experiments.plots import BLUE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count, show_seconds
from deepstack.run.results import Result


class Solved(NamedTuple):
    """How a solved game is shown: its unit, the exploitabilities on the way, and the one asked."""

    name: str
    unit: str
    milestones: Sequence[float]
    goal: float


EXPERIMENTS = {
    "rhode_island": Solved("Rhode Island hold'em", "chips", (10, 1, 0.1, 0.01, 0.001), 0.01),
    "holdem_2_4": Solved("[2-4] hold'em", "mbb/g", (1000, 100, 10, 5, 1), 5),
}
CARD_BLIND = ("table_2_1",)
AGENTS = {
    "always_fold": "always fold",
    "always_call": "always call",
    "always_raise": "always raise",
    "half_half": "half call, half raise",
}


def solved_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Limit games of millions of information sets."""
    found = {name: results[name].figures for name in EXPERIMENTS if name in results}
    lines = [
        "## Whole limit games, solved",
        "",
        "Seconds are those of the iterations; building the tree and measuring on the way come on",
        "top, and are in the total. Memory is what the engine takes, and the peak of the process.",
        "Values are in chips of the game, by seat. The update rule was quickest in short trials of",
        "CFR+, linear, discounted and predictive CFR on [2-1] and Rhode Island hold'em.",
    ]
    if not found:
        return lines
    draw_solved(found, plots / "solved.png")
    machines = sorted({figures["machine"] for figures in found.values()})
    return [
        *lines,
        f"Measured on: {'; '.join(machines)}.",
        "",
        *solved_table(results, found),
        "",
        *milestones_table(found),
        "",
        f"![Exploitability against iterations]({plots.name}/solved.png)",
    ]


def solved_table(results: Mapping[str, Result], found: Mapping[str, Any]) -> list[str]:
    """What was reached, and what it cost; one column a game."""
    header = ["", *(EXPERIMENTS[name].name for name in found)]
    rows = [
        ("information sets up to suits", lambda n, f: show_count(int(f["infosets_canonical"]))),
        ("update rule", lambda n, f: _rule(results[n].config["rule"])),
        ("precision, threads", lambda n, f: f"{results[n].config['dtype']}, {f['threads']}"),
        ("iterations", lambda n, f: show_count(f["iterations"])),
        ("exploitability, chips", lambda n, f: f"{f['exploitability']:.5f}"),
        ("exploitability, mbb/g", lambda n, f: _mbb(n, f)),
        ("value by seat, chips", lambda n, f: " / ".join(f"{v:.4f}" for v in f["value"])),
        ("seconds", lambda n, f: show_seconds(f["seconds"])),
        ("seconds, measuring included", lambda n, f: show_seconds(f["seconds_with_checks"])),
        ("milliseconds an iteration", lambda n, f: f"{1e3 * f['seconds'] / f['iterations']:.1f}"),
        ("memory, MB", lambda n, f: show_count(f["memory_mb"])),
        ("peak of the process, MB", lambda n, f: _megabytes(f["peak_memory_mb"])),
    ]
    cells = [[title, *(show(name, found[name]) for name in found)] for title, show in rows]
    return markdown_table(header, cells)


def _megabytes(size: float | None) -> str:
    return NOTHING if size is None else show_count(size)


def _rule(choices: Mapping[str, Any]) -> str:
    changes = [f"{key}={value}" for key, value in choices.items() if key != "algorithm"]
    return ", ".join([choices["algorithm"], *changes])


def _mbb(name: str, figures: Mapping[str, Any]) -> str:
    """Only where a big blind is a bet."""
    if EXPERIMENTS[name].unit != "mbb/g":
        return NOTHING
    return f"{figures['exploitability_mbb']:.2f}"


def milestones_table(found: Mapping[str, Any]) -> list[str]:
    """When a run was first below some exploitabilities."""
    rows = []
    for name, figures in found.items():
        shown, curve = EXPERIMENTS[name], figures["curve"]
        unit = in_chips(shown, figures)
        for milestone in shown.milestones:
            below = [n for n, e in enumerate(curve["average"]) if e < milestone * unit]
            if not below:
                continue
            goal = " (the goal)" if milestone == shown.goal else ""
            rows.append(
                [
                    shown.name,
                    f"{milestone:g} {shown.unit}{goal}",
                    show_count(curve["iterations"][below[0]]),
                    show_seconds(curve["seconds"][below[0]]),
                ]
            )
    return markdown_table(["game", "exploitability below", "iterations", "seconds"], rows)


def in_chips(shown: Solved, figures: Mapping[str, Any]) -> float:
    """What one of a game's unit is in chips."""
    return figures["big_blind"] / 1000 if shown.unit == "mbb/g" else 1.0


def draw_solved(found: Mapping[str, Any], path: Path) -> None:
    """Exploitability against iterations, with the goal."""
    panels = []
    for name, figures in found.items():
        shown, curve = EXPERIMENTS[name], figures["curve"]
        unit = in_chips(shown, figures)
        values = [e / unit for e in curve["average"]]
        panels.append(
            Panel(
                f"{shown.name}, {shown.unit}",
                [Line("exploitability of the average", curve["iterations"], values, BLUE)],
                guides=[(shown.goal, f"{shown.goal:g} {shown.unit}")],
            )
        )
    draw(path, panels, columns=len(panels), y_label="exploitability")


def card_blind_section(results: Mapping[str, Result]) -> list[str]:
    """Johanson's table 2.1."""
    lines = [
        "## Players who ignore their cards: table 2.1",
        "",
        "Johanson, table 2.1: exact best responses in heads-up limit hold'em, in mbb/g. The seats",
        "are those of the best response.",
    ]
    if CARD_BLIND[0] not in results:
        return lines
    rows = []
    for name, figures in results[CARD_BLIND[0]].figures["agents"].items():
        big_blind, dealer = figures["mbb_by_seat"]
        rows.append(
            [
                AGENTS.get(name, name),
                f"{figures['mbb_per_game']:.4f}",
                published.CARD_BLIND.get(name, NOTHING),
                f"{big_blind:.4f}",
                f"{dealer:.4f}",
            ]
        )
    header = ["agent", "exploitability", "Johanson", "from the big blind", "from the dealer's seat"]
    return [*lines, "", *markdown_table(header, rows)]
