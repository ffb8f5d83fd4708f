"""The sections on solving subgames again: Burch's thesis (2017), chapter 5.

A section takes the results and the folder of the plots, and stands in ``SECTIONS`` with the
experiments it is made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments import published
from deepstack.experiments.plots import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Line,
    Panel,
    draw,
)
from deepstack.experiments.tables import NOTHING, markdown_table, show_count, show_seconds
from deepstack.run.results import Result

# name of the figures: words, colour and whether it is dashed
VARIANTS = {
    "safe_best_response": ("safe, constraints of a best response", BLUE, False),
    "safe_self_play": ("safe, constraints of self-play", GREEN, False),
    "safe_opponent_optimal": ("safe, opponent-optimal constraints", PURPLE, False),
    "safe_non_subtree": ("safe, non-subtree constraints", BROWN, False),
    "max_margin_best_response": ("maximal margin, constraints of a best response", BLUE, True),
    "unsafe": ("unsafe", ORANGE, False),
}
CONSTRAINTS = {"best_response": ("of a best response", BLUE), "self_play": ("of self-play", GREEN)}
COST_BAR = 0.5  # per cent of the pot that re-solving a river may cost


def abstract_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """An abstract strategy of Leduc, solved again on the second round."""
    lines = [
        "## An abstract strategy, solved again",
        "",
        "Burch, section 5.4: Leduc hold'em is solved in an abstraction, then every subgame of the",
        "second round is solved again, with gadgets that hold the opponent to what the abstract",
        "strategy gave them. Exploitability of the whole, in chips. Opponent-optimal constraints",
        "allow the opponent what its best action before the subgame was worth, non-subtree ones",
        "what its best other action was, which promises something only for one subgame at a time",
        "(section 6.1.2; the thesis has no figures of these two).",
    ]
    if "abstract_leduc" not in results:
        return lines
    figures = results["abstract_leduc"].figures
    draw(plots / "abstract.png", abstract_panels(figures), 2, "exploitability", legend=2)
    return [
        *lines,
        "",
        *variants_table(figures),
        "",
        "With a coin flip that forces the estimated range on the opponent with probability p:",
        "",
        *coin_flip_table(figures),
        "",
        f"![Exploitability against iterations and against p]({plots.name}/abstract.png)",
        "",
        "Circles are figures of the thesis. On the right, p = 0 is safe and p = 1 unsafe.",
    ]


def abstract_panels(figures: Mapping[str, Any]) -> list[Panel]:
    """Exploitability by iterations, and at the most iterations by the chance of the coin."""
    iterations, curves = figures["iterations"], figures["curves"]
    original = [figures["original"]] * 2
    left = [
        Line(name, iterations, curves[key], color, dashed=dashed)
        for key, (name, color, dashed) in VARIANTS.items()
        if key in curves
    ]
    for key, points in published.RESOLVING_POINTS.items():
        if key in curves:
            x, y = zip(*points, strict=True)
            left.append(Line("Burch", x, y, VARIANTS[key][1], points=True))
    right = []
    for kind, table in figures["coin_flip"].items():
        sides = {0.0: f"safe_{kind}", 1.0: "unsafe"}
        heights = {p: curves[key][-1] for p, key in sides.items() if key in curves}
        heights |= {float(p): height for p, height in table.items()}
        name = VARIANTS[f"safe_{kind}"][0]
        chances = sorted(heights)
        right.append(Line(name, chances, [heights[p] for p in chances], CONSTRAINTS[kind][1]))
    ends = (iterations[0], max(max(line.x) for line in left))
    left.append(Line("not solved again", ends, original, GREY, dashed=True))
    right.append(Line("not solved again", (0, 1), original, GREY, dashed=True))
    return [
        Panel("by iterations", left, "iterations of every solve", linear="y"),
        Panel("with a coin flip", right, "p", linear="xy"),
    ]


def variants_table(figures: Mapping[str, Any]) -> list[str]:
    """Exploitability by gadget and iterations."""
    iterations, curves = figures["iterations"], figures["curves"]
    header = ["solved again", *(f"{show_count(n)} iterations" for n in iterations), "Burch"]
    original = [f"**{figures['original']:.3f}**"] * len(iterations)
    rows = [["not at all", *original, published.RESOLVING["original"]]]
    for key, (name, _, _) in VARIANTS.items():
        if key in curves:
            found = (f"**{value:.3f}**" for value in curves[key])
            rows.append([name, *found, published.RESOLVING.get(key, NOTHING)])
    return markdown_table(header, rows)


def coin_flip_table(figures: Mapping[str, Any]) -> list[str]:
    """Exploitability at the most iterations, by the probability of the estimated range."""
    tables = figures["coin_flip"]
    chances = list(dict.fromkeys(p for table in tables.values() for p in table))
    rows = [
        [CONSTRAINTS[kind][0], *(f"{table[p]:.3f}" if p in table else NOTHING for p in chances)]
        for kind, table in tables.items()
    ]
    return markdown_table(["constraints", *(f"p = {p}" for p in chances)], rows)


def cfrd_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """CFR-D in Leduc: value, exploitability and memory."""
    lines = [
        "## CFR-D: a trunk, and subgames that are forgotten",
        "",
        "Burch, sections 5.2 and 5.3, algorithm 6: Leduc hold'em is solved in its first betting",
        "round alone. Every iteration solves each subgame of the second round from scratch, one",
        "at a time, and keeps nothing of it but its values. At the end a gadget finds the strategy",
        "of every subgame again. Chips; the value is that of the player who acts first.",
    ]
    if "cfrd_leduc" not in results:
        return lines
    figures = results["cfrd_leduc"].figures
    values, exploitability = figures["value"], figures["exploitability"]
    iterations = sorted(exploitability, key=int)
    header = ["", *(f"{show_count(int(n))} iterations" for n in iterations), "exact"]
    rows = [
        ["value", *(f"{values[n]:.4f}" for n in iterations), f"{figures['exact_value']:.4f}"],
        ["exploitability", *(f"{exploitability[n]:.4f}" for n in iterations), "0"],
    ]
    heights = [exploitability[n] for n in iterations]
    curve = Line("CFR-D", [int(n) for n in iterations], heights, BLUE)
    root = Line(
        "falling as one over the root of T",
        curve.x,
        [heights[0] * (curve.x[0] / x) ** 0.5 for x in curve.x],
        GREY,
        dashed=True,
    )
    panel = Panel("Leduc", [curve, root], "iterations of the trunk")
    draw(plots / "cfrd.png", [panel], 1, "exploitability", legend=1)
    memory = figures["memory"]
    return [
        *lines,
        "",
        *markdown_table(header, rows),
        "",
        f"Memory: {show_count(memory['trunk'])} bytes of the trunk and its mean values and "
        f"{show_count(memory['subgame'])} of the largest subgame,",
        f"against {show_count(memory['whole'])} of the whole game's tree.",
        "",
        f"![Exploitability against iterations of the trunk]({plots.name}/cfrd.png)",
    ]


def turn_river_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """What solving rivers again costs in hold'em."""
    lines = [
        "## From the turn to the river",
        "",
        "Random turn spots of no-limit hold'em (fold, call, pot, all-in) are solved to the end.",
        "Then every river is solved again from what is carried out of the turn: one's own range,",
        "and a value for every hand of the opponent. Both whole strategies meet the same exact",
        "best response; the cost is the difference, in per cent of the pot. It is negative where",
        "rivers solved by themselves are more accurate than they were as parts of the turn.",
    ]
    if "turn_river_resolving" not in results:
        return lines
    figures = results["turn_river_resolving"].figures
    rows = [
        [
            row["board"],
            f"{row['stack_to_pot']:.2f}",
            f"{row['one_shot']:.3f}",
            f"{row['resolved']:.3f}",
            f"{row['cost']:+.3f}",
            show_seconds(row["seconds"]),
        ]
        for row in figures["spots"]
    ]
    header = ["board", "stack / pot", "solved once", "solved again", "cost", "seconds"]
    return [
        *lines,
        "",
        f"Mean cost {figures['mean_cost']:+.3f} %, worst {figures['worst_cost']:+.3f} %, of "
        f"{len(rows)} spots; the bar is {COST_BAR} %.",
        "",
        *markdown_table(header, rows),
    ]


SECTIONS = (
    (abstract_section, ("abstract_leduc",)),
    (cfrd_section, ("cfrd_leduc",)),
    (turn_river_section, ("turn_river_resolving",)),
)
