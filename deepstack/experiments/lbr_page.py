"""The section on local best response: Lisý and Bowling (2017), table 2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deepstack.experiments.tables import NOTHING, markdown_table
from deepstack.run.progress import format_seconds
from deepstack.run.results import Result

NAME = "lbr_table2"
AGENTS = {
    "call": "call",
    "half_raise": "½ call, ½ raise",
    "random": "random action",
    "random_kind": "random kind",
    "fold": "fold",
}
# Table 2, BB/h with the 95 % interval, by agent and setting.
PUBLISHED: dict[str, dict[str, str]] = {
    "call": {
        "fc 1-4": "0",
        "fc 3-4": "0",
        "fcpa 1-4": "34.0 ± 0.5",
        "fcpa 3-4": "49.0 ± 0.4",
        "fcpa 4": "50",
    },
    "half_raise": {
        "fc 1-4": "7.1 ± 0.5",
        "fc 3-4": "16.2 ± 0.3",
        "fcpa 1-4": "23.1 ± 0.5",
        "fcpa 3-4": "24.4 ± 0.6",
    },
    "random": {
        "fc 1-4": "15.7 ± 0.4",
        "fc 3-4": "2.2 ± 0.7",
        "fcpa 1-4": "39.1 ± 0.6",
        "fcpa 3-4": "80.7 ± 0.7",
    },
}


def lbr_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Table 2, ours beside the published one."""
    lines = [
        "## Local best response against players who ignore their cards",
        "",
        "V. Lisý and M. Bowling, *Equilibrium Approximation Quality of Current No-Limit Poker",
        "Bots*, 2017, table 2: what local best response wins in heads-up no-limit hold'em, big",
        "blinds a hand, by the bets it considers and the rounds in which it does; in the others",
        "it checks and calls. *Exact* is its expectation, computed and not played. *Fold* checks",
        "where it may, and is not in the paper's table.",
        "",
        "The paper does not say how a random raise is drawn. *½ call, ½ raise* here raises to a",
        "total that is uniform over the legal ones. Of five readings that were tried (also the",
        "smallest raise, the pot, all-in, and pot or all-in) none gives all four printed cells,",
        "and this one is kept as the plain one; its *fc* cells come in the other order than the",
        "printed ones. *Random kind* is uniform over fold, call and raise, and then over totals:",
        "the plain reading of the last column, and it does not fit. *Random action* is uniform",
        "over all legal actions, each total being one. It was chosen among ten readings, tried on",
        "a few thousand hands each, because it fits: its agreement shows what the authors may",
        "have meant, and is no independent check.",
    ]
    if NAME not in results:
        return lines
    figures = results[NAME].figures
    rows, times = [], []
    for agent, cells in figures["agents"].items():
        exact = figures.get("lbr_against_call", {}) if agent == "call" else {}
        for setting, cell in cells.items():
            times.append(cell["seconds"])
            rows.append(
                [
                    AGENTS.get(agent, agent),
                    *setting.rsplit(" ", 1),
                    _blinds(cell["mbb_per_game"], cell["ci95"]),
                    f"{exact[setting] / 1000:.3f}" if setting in exact else NOTHING,
                    PUBLISHED.get(agent, {}).get(setting, NOTHING),
                ]
            )
    hands = max(cell["hands"] for cells in figures["agents"].values() for cell in cells.values())
    table = markdown_table(["agent", "bets", "rounds", "LBR", "exact", "published"], rows)
    notes = [
        f"{hands:,} hands a row, at most {format_seconds(max(times))} each. Hands are duplicate,",
        "and count what is expected over the agent's hands and, after a called all-in, over the",
        "cards to come.",
    ]
    if "best_response_to_call" in figures:
        best = figures["best_response_to_call"] / 1000
        notes.append(f"An exact best response wins {best:.3f} from *call*.")
    return [*lines, "", *table, "", *notes]


def _blinds(milli: float, ci95: float | None) -> str:
    """A win rate in big blinds.

    >>> _blinds(48990.0, 372.0), _blinds(750.0, 0.0)
    ('**48.99 ± 0.37**', '**0.75 ± 0.00**')
    """
    width = "?" if ci95 is None else f"{ci95 / 1000:.2f}"
    return f"**{milli / 1000:.2f} ± {width}**"


SECTIONS = ((lbr_section, (NAME,)),)
