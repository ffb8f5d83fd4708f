"""The section on networks at the leaves of the turn.

A section takes the results and the folder of the plots, and stands in ``SECTIONS`` with the
experiments it is made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments.plots import BLUE, GREY, ORANGE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

# name of the figures: words and colour
LEAVES = {
    "exact": ("the rivers, solved", GREY),
    "river_start": ("`river_start` over all rivers", BLUE),
    "turn_end": ("`turn_end`", ORANGE),
}
DIFFERENCE_BAR = 1.0  # points that the shortcut may cost in the mean
LOWEST = 0.003  # per cent of the pot that is drawn; less is far below the gaps
TIME_BAR = 0.1  # share of the time that it may take


def leaf_shortcut_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Exploitability of turns solved to networks, and seconds."""
    lines = [
        "## Networks at the leaves of the turn",
        "",
        "The betting of random turns of no-limit hold'em (fold, call, pot, all-in) is solved three",
        "times: with all rivers to the end, with the network `river_start` for every river card",
        "and its mean at the leaves, and with `turn_end`, which says this mean at once. Then each",
        "player in turn is held to the strategy found for the turn, and the rest of the true game",
        "is solved: rivers are completed optimally, and exploitability, in per cent of the pot, is",
        "that of the turn's betting alone. Seconds are those of one thread from nothing to the",
        "strategy. Ranges are half of the published random kind and half from lookaheads.",
    ]
    if "leaf_shortcut" not in results:
        return lines
    figures = results["leaf_shortcut"].figures
    draw(plots / "leaf_shortcut.png", panels(figures), 2, "exploitability, % of the pot", legend=3)
    gap = figures["gap"]
    return [
        *lines,
        "",
        comparison(figures),
        f"Exploitability is too high by at most {gap['mean']:.3f} points in the mean and "
        f"{gap['worst']:.3f} at worst,",
        "the gap that the completions leave.",
        "",
        *depths_table(figures),
        "",
        f"![Exploitability of every spot by stack / pot]({plots.name}/leaf_shortcut.png)",
        "",
        f"Measured on: {figures['machine']}. Networks: {_networks(figures)}.",
    ]


def comparison(figures: Mapping[str, Any]) -> str:
    """How the shortcut does against the mean that it imitates, and the bars."""
    difference, ratio = figures["difference"], figures["time_ratio"]
    width = "" if difference["ci95"] is None else f" ± {difference['ci95']:.2f}"
    return (
        f"`turn_end` costs {difference['mean']:+.2f}{width} points more than `river_start` over "
        f"all rivers\n(the bar is {DIFFERENCE_BAR:g}) in {ratio:.3f} of its time (the bar is "
        f"{TIME_BAR:g}), over {figures['all']['spots']} spots."
    )


def depths_table(figures: Mapping[str, Any]) -> list[str]:
    """Mean, 95th percentile and seconds by stack depth and kind of leaves."""
    rows = []
    groups = [(f"{part['from']:g} to {part['to']:g}", part) for part in figures["depths"]]
    for depth, part in [*groups, ("all", figures["all"])]:
        for name, (words, _) in LEAVES.items():
            found = part[name]
            numbers = (f"{found['mean']:.2f}", f"{found['p95']:.2f}", f"{found['seconds']:.2f}")
            rows.append([depth, show_count(part["spots"]), words, *numbers])
    header = ["stack / pot", "spots", "leaves", "mean %", "95th percentile %", "seconds"]
    return markdown_table(header, rows)


def panels(figures: Mapping[str, Any]) -> list[Panel]:
    """Exploitability of every spot by its depth, a panel for each family of ranges."""
    titles = {"random": "random ranges", "play": "ranges from lookaheads"}
    found = []
    for family in dict.fromkeys(row["family"] for row in figures["spots"]):
        rows = [row for row in figures["spots"] if row["family"] == family]
        depth = [row["stack_to_pot"] for row in rows]
        lines = [
            Line(
                words.replace("`", ""),
                depth,
                [row["leaves"][name]["exploitability"] for row in rows],
                color,
                points=True,
            )
            for name, (words, color) in LEAVES.items()
        ]
        found.append(Panel(titles.get(family, family), lines, "stack / pot", lowest=LOWEST))
    return found


def _networks(figures: Mapping[str, Any]) -> str:
    texts = []
    for stage, network in figures["networks"].items():
        huber = network["validation_huber"]
        error = NOTHING if huber is None else f"{huber:.4f}"
        texts.append(f"`{stage}` {network['sha256'][:12]} (validation Huber {error})")
    return ", ".join(texts)


SECTIONS = ((leaf_shortcut_section, ("leaf_shortcut",)),)
