"""A picture of a tournament: the cross-table in colours, and the bankroll with intervals beside it.

Matplotlib is imported when a picture is made, without a display.
"""

from __future__ import annotations

import os

import numpy as np

from deepstack.evaluate.tournament import Tournament
from deepstack.run.errors import InputError
from deepstack.run.files import replacing

INK, PAPER = "#2b2b2b", "#f3f3f0"
CELL = 0.95  # inches


def plot_cross_table(result: Tournament, path: str | os.PathLike[str]) -> None:
    """Draw the cross-table, entrants from the best to the last, as a PNG file.

    Colours are by the sign and the square root of the win rate, since large and small ones stand in
    one table.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ranking = result.ranking()
    order = [standing.entrant for standing in ranking]
    names, count = [result.labels[entrant] for entrant in order], len(order)
    rates = np.full((count, count), np.nan)
    figure = Figure(figsize=(CELL * count + 5, CELL * count * 0.7 + 1.6), dpi=120)
    figure.set_layout_engine("constrained")
    FigureCanvasAgg(figure)
    table, bars = figure.subplots(1, 2, sharey=True, width_ratios=(CELL * count, 3))
    for y, row in enumerate(order):
        for x, column in enumerate(order):
            if x == y:
                continue
            rate = result.cross(row, column)
            rates[y, x] = rate.mean
            half = "" if rate.ci95 is None else f"\n± {rate.ci95:,.0f}"
            table.text(
                x, y, f"{rate.mean:+,.0f}{half}", ha="center", va="center", color=INK, fontsize=8
            )
    shade = np.sign(rates) * np.sqrt(np.abs(rates))
    most = max(float(np.nanmax(np.abs(shade))), 1e-9)
    table.set_facecolor(PAPER)
    table.imshow(shade, cmap="RdBu", vmin=-1.6 * most, vmax=1.6 * most, aspect="auto")
    table.set_xticks(range(count), names, rotation=30, ha="right")
    table.set_yticks(range(count), names)
    seats = (
        "with the column's agent at the table" if result.game.players > 2 else "row against column"
    )
    table.set_title(f"{result.game.name}: mbb/g, {seats}", fontsize=10)
    means = [standing.rate.mean for standing in ranking]
    halves = [standing.rate.ci95 or 0.0 for standing in ranking]
    bars.errorbar(means, range(count), xerr=halves, fmt="o", color=INK, capsize=3)
    bars.axvline(0.0, color=INK, linewidth=0.6)
    bars.set_title("total bankroll, mbb/g", fontsize=10)
    try:
        with replacing(path) as aside:
            figure.savefig(aside, format="png")
    except OSError as error:
        raise InputError(
            f"plot {str(path)!r}: expected a file that can be written ({error.strerror})"
        ) from error
