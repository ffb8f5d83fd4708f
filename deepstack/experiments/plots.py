"""Plots of the report: exploitability against iterations, seconds or whatever was changed.

Axes are logarithmic unless a panel says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from deepstack.run.files import replacing

BLUE, ORANGE, GREEN, GREY = "#2f6db3", "#d9601a", "#2f8f5b", "#8a8a8a"
PURPLE, BROWN = "#7d52b5", "#94704d"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9a9a9a",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#e8e8e8",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "legend.frameon": False,
    "figure.facecolor": "white",
}
DPI = 150


class Line(NamedTuple):
    """A curve of a panel; on logarithmic axes, points that are not positive are left out.

    With ``points`` it is drawn as marks that are not joined.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    color: str
    faint: bool = False
    dashed: bool = False
    points: bool = False


class Panel(NamedTuple):
    """One set of axes. ``lowest`` cuts off what is only rounding; ``linear`` names axes, "x", "y"
    or "xy", that are not logarithmic; ``guides`` are heights with a word."""

    title: str
    lines: Sequence[Line]
    x_label: str = "iterations"
    lowest: float = 0.0
    guides: Sequence[tuple[float, str]] = ()
    linear: str = ""


def draw(
    path: str | Path, panels: Sequence[Panel], columns: int, y_label: str, legend: int = 4
) -> None:
    """Write a figure with a legend, in ``legend`` columns, that serves all its panels."""
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2.9 * columns + 0.6, 2.5 * rows + 0.6), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        shown: dict[str, Any] = {}
        for number, axes in enumerate(grid.flat):
            if number >= len(panels):
                axes.set_axis_off()
                continue
            shown |= _draw_panel(axes, panels[number])
            if number % columns == 0:
                axes.set_ylabel(y_label)
            if number + columns >= len(panels):
                axes.set_xlabel(panels[number].x_label)
        figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=legend)
        with replacing(path) as aside:
            # no date and no version, so that the same figures make the same file
            figure.savefig(aside, format="png", dpi=DPI, metadata={"Software": None})


def _draw_panel(axes: Axes, panel: Panel) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    axes.set(**{f"{name}scale": "log" for name in "xy" if name not in panel.linear})
    for line in panel.lines:
        x, y = np.asarray(line.x, float), np.asarray(line.y, float)
        kept = (y > panel.lowest) | ("y" in panel.linear)
        (artist,) = axes.plot(
            x[kept],
            y[kept],
            color=line.color,
            alpha=0.45 if line.faint else 1.0,
            linewidth=0.9 if line.faint else 1.7,
            linestyle="none" if line.points else "--" if line.dashed else "-",
            marker="o" if line.points else None,
            markerfacecolor="none",
            zorder=2 if line.faint else 3,
        )
        shown.setdefault(line.label, artist)
    for height, text in panel.guides:
        axes.axhline(height, color=GREY, linewidth=0.8, linestyle=":")
        axes.annotate(
            text,
            (1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            color="#555555",
            fontsize=8,
        )
    axes.set_title(panel.title)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if name in panel.linear:
            axes.set(**{f"{name}lim": _from_zero(axis.get_view_interval())})
            continue
        axis.set_major_locator(LogLocator(10, numticks=8))
        axis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    return shown


def _from_zero(limits: Sequence[float]) -> tuple[float, float]:
    """An axis of quantities that are compared begins at zero."""
    return min(0.0, float(limits[0])), float(limits[1])


CURVES: Mapping[str, tuple[str, str]] = {
    "cfr": ("CFR", BLUE),
    "cfr_plus": ("CFR+", ORANGE),
    "optimistic": ("optimistic", GREEN),
    "cfr_simultaneous": ("CFR, simultaneous", BLUE),
    "cfr_plus_simultaneous": ("CFR+, simultaneous", ORANGE),
}


def slope_lines(rules: Mapping[str, Any], names: Sequence[str], current: bool = True) -> list[Line]:
    """The curves of some rules of a slopes experiment, faint ones for current strategies."""
    lines = []
    for name in names:
        if name not in rules:
            continue
        label, color = CURVES[name]
        curve = rules[name]["curve"]
        x, dashed = curve["iterations"], name.endswith("simultaneous")
        if current:
            lines.append(Line(f"{label}, current", x, curve["current"], color, True, dashed))
        text = f"{label}, average" if current else label
        lines.append(Line(text, x, curve["average"], color, False, dashed))
    return lines
