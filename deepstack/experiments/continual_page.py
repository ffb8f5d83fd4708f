"""The sections on continual re-solving: Burch's thesis (2017), chapter 6.

The thesis has theory of it, and matches in a game too large for an exact exploitability; here are
games that are small enough for one. A section takes the results and the folder of the plots, and
stands in ``SECTIONS`` with the experiments it is made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments.plots import BLUE, GREY, ORANGE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

GADGETS = {"cfrd": ("CFR-D", BLUE), "max_margin": ("maximal margin", ORANGE)}
CARRIED = {
    "best": "best response",
    "average": "average strategy",
    "mean": "mean over iterations",
    "best+gift": "best response, with the gift",
    "mean+gift": "mean over iterations, with the gift",
}
LEAVES = {
    "exact_leaf": "the second round, solved",
    "network_leaf": "the value network",
    "equity_leaf": "equity, as if both checked to the end",
}


def continual_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Continual re-solving in Leduc, exactly evaluated."""
    lines = [
        "## Continual re-solving in Leduc hold'em",
        "",
        "Burch, chapter 6: every decision of both seats is solved again from what is carried",
        "(one's own range, and a value for every hand of the opponent). Exploitability of the",
        "whole strategy in chips, by the gadget, by the values that are carried, and by the",
        "iterations of every solve. The *gift* is what the opponent gave up by calling, added to",
        "its values.",
    ]
    if "continual_leduc" not in results:
        return lines
    figures, panels = results["continual_leduc"].figures, []
    parts = (
        ("exploitability", "Lookaheads to the end of the game"),
        ("limited", "Lookaheads to the end of the betting round, leaves solved"),
    )
    for key, title in parts:
        table, curves = _by_gadget(figures.get(key, {}))
        if curves:
            lines += ["", f"{title}:", "", *table]
            panels.append(Panel(title, curves))
    draw(plots / "continual.png", panels, len(panels), "exploitability", legend=3)
    return [
        *lines,
        "",
        f"![Exploitability against iterations of every solve]({plots.name}/continual.png)",
    ]


def _by_gadget(found: Mapping[str, Any]) -> tuple[list[str], list[Line]]:
    """The table of one kind of lookahead, and its curves."""
    iterations = sorted({int(n) for by in found.values() for row in by.values() for n in row})
    rows, curves = [], []
    for gadget, by_values in found.items():
        name, color = GADGETS[gadget]
        for values, row in by_values.items():
            cells = [f"{row[str(n)]:.5f}" if str(n) in row else NOTHING for n in iterations]
            rows.append([name, CARRIED[values], *cells])
            times = [n for n in iterations if str(n) in row]
            heights = [row[str(n)] for n in times]
            if values in ("best", "mean"):
                label = f"{name}, {CARRIED[values]}"
                curves.append(Line(label, times, heights, color, dashed=values == "mean"))
    header = ["gadget", "values carried", *(f"{show_count(n)} iterations" for n in iterations)]
    return markdown_table(header, rows), curves


def theorem12_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Errors of the leaf values and what they cost."""
    lines = [
        "## Wrong values at the leaves",
        "",
        "Burch, theorem 12: with values at the depth limit that are wrong by at most ε, the",
        "exploitability of continual re-solving is at most (d + 1) k / √T + (2 d + 1) j ε. In",
        "Leduc hold'em, with an error that is a fixed function of the public state and the hand,",
        "uniform in [-ε, ε] chips for the opponent's range normalised to one. Chips, over several",
        "draws of the error.",
    ]
    if "theorem12" not in results:
        return lines
    figures = results["theorem12"].figures
    means, numbers = figures["exploitability"], figures["bound"]
    without = means.get("0", 0.0)
    rows = [
        [
            f"{float(size):g}",
            f"{mean:.4f}",
            f"{figures['least'][size]:.4f}",
            f"{figures['most'][size]:.4f}",
            f"{without + numbers['slope'] * float(size):.2f}",
        ]
        for size, mean in means.items()
    ]
    sizes = [float(size) for size in means if float(size) > 0]
    shown = [size for size in means if float(size) > 0]
    curves = [
        Line("mean", sizes, [means[s] for s in shown], BLUE),
        Line("most", sizes, [figures["most"][s] for s in shown], BLUE, dashed=True),
        Line("form of the bound", sizes, [without + numbers["slope"] * x for x in sizes], GREY),
    ]
    panel = Panel("Leduc", curves, "ε, chips", guides=((without, "without error"),))
    draw(plots / "theorem12.png", [panel], 1, "exploitability", legend=3)
    return [
        *lines,
        "",
        *markdown_table(["ε", "mean", "least", "most", "form of the bound"], rows),
        "",
        f"The form takes the exploitability without error for its first term, d = "
        f"{numbers['resolves']} decisions",
        f"on a path and j = {numbers['leaves']} public states at the depth limit.",
        "",
        f"![Exploitability against the size of the error]({plots.name}/theorem12.png)",
    ]


def nolimit_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """A value network in no-limit Leduc, exactly evaluated."""
    lines = [
        "## A value network in no-limit Leduc hold'em",
        "",
        "The game of DeepStack's released Leduc code (ante 100, stacks of 1200, pot bets and",
        "all-in). The lookahead of the first round ends with the round; by what stands at its",
        "leaves, the exact exploitability of the whole strategy, in chips and per cent of the",
        "ante. The second responder may also bet every multiple of 50 chips, sizes that the agent",
        "neither has in its menu nor translates.",
    ]
    if "nolimit_leduc" not in results:
        return lines
    figures = results["nolimit_leduc"].figures
    rows = []
    for key, name in LEAVES.items():
        if key not in figures:
            continue
        row = figures[key]
        cells = [f"{row['chips']:.2f}", f"{row['percent_of_ante']:.2f} %"]
        if "grid" in row:
            cells += [f"{row['grid']['chips']:.2f}", f"{row['grid']['percent_of_ante']:.2f} %"]
        rows.append([name, *cells, *([NOTHING] * (4 - len(cells)))])
    header = [
        "leaves",
        "same menu, chips",
        "of the ante",
        "any multiple of 50, chips",
        "of the ante",
    ]
    return [*lines, "", *markdown_table(header, rows)]


SECTIONS = (
    (continual_section, ("continual_leduc",)),
    (theorem12_section, ("theorem12",)),
    (nolimit_section, ("nolimit_leduc",)),
)
