"""The section on variance reduction: AIVAT, and the estimators of Johanson's thesis, chapter 7."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments.plots import BLUE, ORANGE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

NAME = "variance_reduction"
SOURCES = {
    "equity": "equity",
    "bet_call": "equity, a bet and a call a round",
    "self_play": "self-play of another solve",
}
KNOWN = {"both": "both players", "one": "one player"}
# mb/hand: S2298 on-policy and CFR8 off-policy (table 7.1)
PUBLISHED = {
    "basic": (5103, 62543),
    "basic_bet_call": (2891, 22303),
    "early_folds": (5126, 61481),
    "all_cards": (4213, 8518),
    "all_cards_bet_call": (2146, 3254),
    "combined_bet_call": (1778, 2514),
}
WORDS = {
    "basic": "basic",
    "early_folds": "early folds",
    "all_cards": "all cards",
    "combined": "all cards and early folds",
}


def variance_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Exact deviations in a small game, and matches in hold'em."""
    lines = [
        "## Win rates with less luck",
        "",
        "AIVAT (N. Burch et al., AAAI 2018) takes what a hand paid in the mean over all hands that",
        "players with a known strategy could have held, and adds a correction for every card and",
        "for every action of such a player. Imaginary observations (Johanson, chapter 7) weigh",
        "hands that the opponent could not have told from the one that was played. Both have the",
        "mean of the chips.",
    ]
    if NAME not in results:
        return lines
    figures = results[NAME].figures
    exact, matches = figures["exact"], figures["matches"]
    lines += _aivat(exact) + _imaginary(exact) + _matches(matches)
    panels = [Panel(_title(match), _curves(match), "hands", linear="y") for match in matches]
    draw(plots / "variance.png", panels, min(len(panels), 3), "mbb/g", legend=4)
    return [
        *lines,
        "",
        f"![Win rates and their intervals against hands]({plots.name}/variance.png)",
    ]


def _aivat(exact: Mapping[str, Any]) -> list[str]:
    chips = float(exact["chips"])
    rows = []
    for known, by_source in exact["aivat"].items():
        for source, sd in by_source.items():
            rows.append([KNOWN[known], SOURCES[source], f"{sd:.4f}", f"{1 - sd / chips:.1%}"])
    return [
        "",
        f"All hands of {exact['game'].title()} between two players of one solution, each with its",
        f"probability. The chips of a hand have a standard deviation of {chips:.4f} and a mean of",
        f"{exact['value']:.4f}; AIVAT has the deviations below. The means of all estimators differ",
        f"from that of the chips by {exact['bias']:.0e} at most.",
        "",
        *markdown_table(["known", "estimates by", "chips", "less"], rows),
    ]


def _imaginary(exact: Mapping[str, Any]) -> list[str]:
    rows = []
    for name in exact["imaginary"]["on_policy"]:
        word = WORDS[name.removesuffix("_bet_call")]
        if name.endswith("_bet_call"):
            word += ", bet-call DIVAT"
        published = PUBLISHED.get(name)
        cells = [NOTHING] * 2 if published is None else [show_count(n) for n in published]
        found = [
            f"**{exact['imaginary'][kind][name]:.4f}**" for kind in ("on_policy", "off_policy")
        ]
        rows.append([word, found[0], cells[0], found[1], cells[1]])
    header = ["estimator", "on-policy", "Johanson", "off-policy", "Johanson"]
    return [
        "",
        "Imaginary observations of one player in the same game, standard deviations in chips.",
        "Beside them are those of limit hold'em in millibets (table 7.1: S2298, and CFR8 from",
        "hands of S2298). Off-policy, the hands are those of a player who also explores.",
        "",
        *markdown_table(header, rows),
    ]


def _matches(matches: list[Mapping[str, Any]]) -> list[str]:
    rows = []
    for match in matches:
        cells = [_interval(match[key]) for key in ("plain", "aivat", "difference")]
        less = f"{match['reduction']:.1%}"
        rows.append([_title(match), match["game"], show_count(match["hands"]), *cells, less])
    header = ["match", "game", "hands", "chips", "AIVAT", "difference", "less"]
    return [
        "",
        "Matches of duplicate hands, what the first player wins in mbb/g with 95 % intervals. The",
        "strategies of both are known, values are estimated by equity. `push_fold` goes all-in or",
        "folds before the flop, by a solved table.",
        "",
        *markdown_table(header, rows),
    ]


def _interval(estimate: Mapping[str, Any]) -> str:
    half = "?" if estimate["ci95"] is None else f"{estimate['ci95']:.0f}"
    return f"{estimate['mbb_per_game']:+.0f} ± {half}"


def _title(match: Mapping[str, Any]) -> str:
    names = [agent if isinstance(agent, str) else agent["agent"] for agent in match["agents"]]
    return " – ".join(name.replace("_", " ") for name in names)


def _curves(match: Mapping[str, Any]) -> list[Line]:
    curve, lines = match["curve"], []
    for key, word, color in (("plain", "chips", ORANGE), ("aivat", "AIVAT", BLUE)):
        mean, half = curve[key], curve[f"{key}_ci95"]
        lines.append(Line(word, curve["hands"], mean, color))
        for sign in (-1, 1):
            edge = [m + sign * h for m, h in zip(mean, half, strict=True)]
            lines.append(Line(f"{word}, 95 %", curve["hands"], edge, color, faint=True))
    return lines


SECTIONS = ((variance_section, (NAME,)),)
