"""The section on solving parts of a game again: section 5.4 of Burch's thesis, ours beside his."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepstack.experiments import published
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

EXPERIMENTS = ("abstract_leduc",)
VARIANTS = {
    "safe_best_response": "safe, constraints of a best response",
    "safe_self_play": "safe, constraints of self-play",
    "max_margin_best_response": "maximal margin, constraints of a best response",
    "unsafe": "unsafe",
}
CONSTRAINTS = {"best_response": "of a best response", "self_play": "of self-play"}


def resolving_section(results: Mapping[str, Result]) -> list[str]:
    """An abstract strategy of Leduc, solved again on the second round."""
    lines = [
        "## An abstract strategy, solved again",
        "",
        "Burch, section 5.4: Leduc hold'em is solved in an abstraction, then every subgame of the",
        "second round is solved again, with gadgets that hold the opponent to what the abstract",
        "strategy gave them. Exploitability of the whole, in chips.",
    ]
    if EXPERIMENTS[0] not in results:
        return lines
    figures = results[EXPERIMENTS[0]].figures
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
