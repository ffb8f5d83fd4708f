"""The sections on solving parts of a game again: Burch's thesis (2017), section 5.4 and chapter 6.

The thesis has figures of the first, in Leduc hold'em; of continual re-solving it has theory only,
and matches in a game too large for an exact exploitability.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments import published
from deepstack.experiments.plots import BLUE, ORANGE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

ABSTRACT = ("abstract_leduc",)
CONTINUAL = ("continual_leduc",)
VARIANTS = {
    "safe_best_response": "safe, constraints of a best response",
    "safe_self_play": "safe, constraints of self-play",
    "max_margin_best_response": "maximal margin, constraints of a best response",
    "unsafe": "unsafe",
}
GADGETS = {"cfrd": ("CFR-D", BLUE), "max_margin": ("maximal margin", ORANGE)}
CARRIED = {"best": "best response", "average": "average"}
CONSTRAINTS = {"best_response": "of a best response", "self_play": "of self-play"}


def abstract_section(results: Mapping[str, Result]) -> list[str]:
    """An abstract strategy of Leduc, solved again on the second round."""
    lines = [
        "## An abstract strategy, solved again",
        "",
        "Burch, section 5.4: Leduc hold'em is solved in an abstraction, then every subgame of the",
        "second round is solved again, with gadgets that hold the opponent to what the abstract",
        "strategy gave them. Exploitability of the whole, in chips.",
    ]
    if ABSTRACT[0] not in results:
        return lines
    figures = results[ABSTRACT[0]].figures
    return [
        *lines,
        "",
        *variants_table(figures),
        "",
        "With a coin flip that forces the estimated range on the opponent with probability p:",
        "",
        *coin_flip_table(figures),
    ]


def variants_table(figures: Mapping[str, Any]) -> list[str]:
    """Exploitability by gadget and iterations."""
    iterations = figures["iterations"]
    header = ["solved again", *(f"{show_count(n)} iterations" for n in iterations), "Burch"]
    rows = [
        ["not at all"] + [f"**{figures['original']:.3f}**"] * len(iterations),
        *(
            [name, *(f"**{value:.3f}**" for value in figures["curves"][key])]
            for key, name in VARIANTS.items()
            if key in figures["curves"]
        ),
    ]
    printed = [published.RESOLVING["original"]]
    printed += [
        published.RESOLVING.get(key, NOTHING) for key in VARIANTS if key in figures["curves"]
    ]
    return markdown_table(header, [[*row, text] for row, text in zip(rows, printed, strict=True)])


def coin_flip_table(figures: Mapping[str, Any]) -> list[str]:
    """Exploitability at the most iterations, by the probability of the estimated range."""
    tables = figures["coin_flip"]
    chances = list(dict.fromkeys(p for table in tables.values() for p in table))
    rows = [
        [CONSTRAINTS[kind], *(f"{table[p]:.3f}" if p in table else NOTHING for p in chances)]
        for kind, table in tables.items()
    ]
    return markdown_table(["constraints", *(f"p = {p}" for p in chances)], rows)


def continual_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Continual re-solving in Leduc, exactly evaluated."""
    lines = [
        "## Continual re-solving in Leduc hold'em",
        "",
        "Burch, chapter 6: every decision of both seats is solved again from what is carried",
        "(one's own range, and a value for every hand of the opponent), here to the end of the",
        "game. Exploitability of the whole strategy in chips, by the gadget, by the values that",
        "are carried (of a best response, or averaged over the iterations), and by the iterations",
        "of every solve.",
    ]
    if CONTINUAL[0] not in results:
        return lines
    found = results[CONTINUAL[0]].figures["exploitability"]
    iterations = sorted({int(n) for by in found.values() for row in by.values() for n in row})
    rows, curves = [], []
    for gadget, by_values in found.items():
        name, color = GADGETS[gadget]
        for values, row in by_values.items():
            cells = [f"{row[str(n)]:.5f}" if str(n) in row else NOTHING for n in iterations]
            rows.append([name, CARRIED[values], *cells])
            times = [n for n in iterations if str(n) in row]
            heights = [row[str(n)] for n in times]
            label = f"{name}, {CARRIED[values]}"
            curves.append(Line(label, times, heights, color, dashed=values == "average"))
    draw(plots / "continual.png", [Panel("Leduc", curves)], 1, "exploitability", legend=1)
    header = ["gadget", "values carried", *(f"{show_count(n)} iterations" for n in iterations)]
    return [
        *lines,
        "",
        *markdown_table(header, rows),
        "",
        f"![Exploitability against iterations of every solve]({plots.name}/continual.png)",
    ]
