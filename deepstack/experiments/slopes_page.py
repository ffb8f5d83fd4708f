"""The section on rates of convergence: tables 4.1 to 4.5 of Burch's thesis, ours beside his."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepstack.experiments import published
from deepstack.experiments.plots import CURVES, Panel, draw, slope_lines
from deepstack.experiments.tables import NOTHING, markdown_table, show_count, show_slope
from deepstack.run.results import Result

EXPERIMENTS = ("slopes_rhode_island", "slopes_kuhn_leduc", "slopes_matrix")
QUOTED = "limit_holdem"
GAMES = {
    "limit_holdem": "limit hold'em",
    "rhode_island": "Rhode Island",
    "leduc": "Leduc",
    "kuhn": "Kuhn",
    "random": "random",
    "blotto": "Blotto",
    "rps": "RPS",
    "pennies": "pennies",
}


def slopes_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Burch's chapter 4."""
    games: dict[str, Any] = {}
    for name in EXPERIMENTS:
        if name in results:
            games |= results[name].figures["games"]
    lines = [
        "## Rates of convergence",
        "",
        "Burch, chapter 4: the slope of log exploitability on log T by least squares, over the",
        "points that exceed all later ones. *All* takes the whole run, *last 90 %* what comes",
        "after its first tenth. Updates alternate, values passed up a tree use the strategy after",
        "the update (Burch, section 4.1.5), CFR averages uniformly and CFR+ linearly. T, the",
        "length of a run, is not in the thesis: of the lengths in the second table, the first",
        "table takes the one that fits the thesis best, one choice for the eight figures of a",
        "game. In Rhode Island time set the length. Limit hold'em took a cluster, and is only",
        "quoted.",
        "",
        "### CFR and CFR+: tables 4.1 and 4.2",
        "",
        *slopes_table(games),
    ]
    if games:
        draw_slopes(games, plots / "slopes.png")
        lines += [
            "",
            f"![Exploitability against iterations]({plots.name}/slopes.png)",
            "",
            "### What the length of a run changes",
            "",
            "Slopes of average strategies, over all points / the last 90 %.",
            "",
            *lengths_table(games),
        ]
    if "leduc" in games:
        lines += [
            "",
            "### Alternating and simultaneous updates in Leduc: table 4.3",
            "",
            "Last 90 %.",
            "",
            *alternation_table(games["leduc"]),
        ]
    if "leduc" in games and "kuhn" in games:
        draw_rules(games, plots / "rules.png")
        lines += [
            "",
            "### Optimistic updates: tables 4.4 and 4.5",
            "",
            "Average strategies, over all points / the last 90 %. Optimistic updates are regret",
            "matching+ that counts the last regrets once more, with a uniform average. The last",
            "two rules are only quoted.",
            "",
            *first_order_table(games),
            "",
            f"![Update rules in Kuhn and Leduc]({plots.name}/rules.png)",
        ]
    return lines


def slopes_table(games: Mapping[str, Any]) -> list[str]:
    """Tables 4.1 and 4.2, ours beside the thesis's."""
    header = ["game", "rule", "T"]
    for strategy in ("average", "current"):
        for share in ("all", "last 90 %"):
            header += [f"{strategy}, {share}", "Burch"]
    rows = []
    for game, printed in published.SLOPES.items():
        for rule, strategies in printed.items():
            found = games.get(game)
            row = [GAMES[game], CURVES[rule][0]]
            missing = NOTHING if game == QUOTED else "not run"
            row.append(missing if found is None else show_count(shown_length(found)))
            for strategy, pair in strategies.items():
                ours = last_slopes(found, rule, strategy)
                for mine, theirs in zip(ours, pair, strict=True):
                    row += [f"**{show_slope(mine)}**" if found else NOTHING, show_slope(theirs)]
            rows.append(row)
    return markdown_table(header, rows)


def last_slopes(game: Mapping[str, Any] | None, rule: str, strategy: str) -> list[float | None]:
    """The two slopes of a run of the length that is shown, or None."""
    if game is None or rule not in game["rules"]:
        return [None, None]
    return game["rules"][rule]["slopes"][str(shown_length(game))][strategy]


def shown_length(game: Mapping[str, Any]) -> int:
    """The length that stands beside the thesis's slopes: the whole run, if nothing else is said."""
    return game.get("shown", game["iterations"])


def lengths_table(games: Mapping[str, Any]) -> list[str]:
    """How slopes depend on the length of a run."""
    lengths = sorted(
        {int(n) for game in games.values() for r in game["rules"].values() for n in r["slopes"]}
    )
    header = ["game", "rule", *(f"T = {show_count(n)}" for n in lengths), "Burch"]
    rows = []
    for game, printed in published.SLOPES.items():
        for rule, strategies in printed.items():
            if game not in games or rule not in games[game]["rules"]:
                continue
            table = games[game]["rules"][rule]["slopes"]
            row = [GAMES[game], CURVES[rule][0]]
            for length in lengths:
                found = table.get(str(length))
                row.append(NOTHING if found is None else _pair(found["average"]))
            rows.append([*row, _pair(strategies["average"])])
    return markdown_table(header, rows)


def alternation_table(leduc: Mapping[str, Any]) -> list[str]:
    """Table 4.3."""
    rows = []
    for rule, printed in published.ALTERNATION.items():
        name = rule.removesuffix("_simultaneous")
        row = [CURVES[name][0], "alternating" if name == rule else "simultaneous"]
        for strategy, theirs in zip(("average", "current"), printed, strict=True):
            row += [
                f"**{show_slope(last_slopes(leduc, rule, strategy)[1])}**",
                show_slope(theirs),
            ]
        rows.append(row)
    return markdown_table(["rule", "updates", "average", "Burch", "current", "Burch"], rows)


def first_order_table(games: Mapping[str, Any]) -> list[str]:
    """Tables 4.4 and 4.5."""
    rows = []
    for rule in published.FIRST_ORDER["leduc"]:
        row = [CURVES[rule][0] if rule in CURVES else rule]
        for game in ("leduc", "kuhn"):
            ours = last_slopes(games[game], rule, "average")
            row += [f"**{_pair(ours)}**" if rule in CURVES else NOTHING]
            row.append(_pair(published.FIRST_ORDER[game][rule]))
        rows.append(row)
    return markdown_table(["rule", "Leduc", "Burch", "Kuhn", "Burch"], rows)


def _pair(slopes: Sequence[float | None]) -> str:
    return " / ".join(map(show_slope, slopes))


def draw_slopes(games: Mapping[str, Any], path: Path) -> None:
    """All games, average and current strategies of CFR and CFR+."""
    panels = [
        Panel(GAMES[game], slope_lines(games[game]["rules"], ("cfr", "cfr_plus")))
        for game in GAMES
        if game in games
    ]
    draw(path, panels, columns=min(4, len(panels)), y_label="exploitability")


def draw_rules(games: Mapping[str, Any], path: Path) -> None:
    """Update rules beside each other in Kuhn and Leduc."""
    names = ("cfr", "cfr_simultaneous", "cfr_plus", "cfr_plus_simultaneous", "optimistic")
    panels = [
        Panel(GAMES[game], slope_lines(games[game]["rules"], names, current=False))
        for game in ("kuhn", "leduc")
    ]
    draw(path, panels, columns=2, y_label="exploitability of the average", legend=3)
