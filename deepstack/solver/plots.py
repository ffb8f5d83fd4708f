"""Pictures of a solution: the 13 × 13 grid of a node's strategy, and exploitability on the way.

Matplotlib is imported when a picture is made, without a display.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from deepstack.cards.ranges import hand_classes
from deepstack.game.state import CALL, FOLD, RAISE
from deepstack.run.errors import InputError
from deepstack.run.files import replacing
from deepstack.solver.inspection import NodeView
from deepstack.solver.stopping import Check
from deepstack.solver.tables import class_frequencies, is_holdem

FOLDS, CALLS = "#8fb0cc", "#8cc08a"
RAISES = ((0.99, 0.74, 0.55), (0.72, 0.17, 0.20))  # from the smallest size to the largest
INK, FAINT, HALO = "#2b2b2b", "#b5b5b0", "#ffffff70"
PAPER, LINE = "#f3f3f0", "#ffffff"


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _write(figure: Any, path: str | os.PathLike[str]) -> None:
    try:
        with replacing(path) as aside:
            figure.savefig(aside, format="png")
    except OSError as error:
        raise InputError(
            f"plot {str(path)!r}: expected a file that can be written ({error.strerror})"
        ) from error


def action_colours(view: NodeView) -> list[Any]:
    """Blue folds, green calls, and raises from orange to dark red by size."""
    sizes = [action for action in view.actions if action.kind == RAISE]
    small, large = np.array(RAISES)
    colours: list[Any] = []
    for action in view.actions:
        if action.kind == RAISE:
            share = (sizes.index(action) + 1) / len(sizes) if len(sizes) > 1 else 0.6
            colours.append(tuple(small + (large - small) * share))
        else:
            colours.append({FOLD: FOLDS, CALL: CALLS}[action.kind])
    return colours


def plot_strategy(view: NodeView, path: str | os.PathLike[str], title: str = "") -> None:
    """Draw the 13 × 13 grid of a hold'em node.

    A cell is filled as high as its class is held (the class held most fills its cell), from left
    to right in shares of its actions.
    """
    if not is_holdem(view.state.game):
        raise InputError(f"game {view.state.game.name}: the grid is for two cards of 52")
    played, held = class_frequencies(view)
    height = held / (held.max() or 1.0)
    colours = action_colours(view)
    figure, axes = _figure(7.2, 7.9)
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    for number, name in enumerate(hand_classes().names):
        row, column = divmod(number, 13)
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=PAPER, edgecolor=LINE, lw=1.2))
        left = 0.0
        for share, colour in zip(played[number], colours, strict=True):
            corner = (column + left, row + 1 - height[number])
            axes.add_patch(Rectangle(corner, share, height[number], facecolor=colour, lw=0))
            left += share
        axes.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=LINE, lw=1.2))
        axes.text(
            column + 0.5, row + 0.52, name, ha="center", va="center", fontsize=7.5,
            color=INK if held[number] > 0 else FAINT,
            path_effects=[withStroke(linewidth=1.6, foreground=HALO)] if held[number] > 0 else [],
        )  # fmt: skip
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=11, color=INK, loc="left", pad=8)
    marks = [Rectangle((0, 0), 1, 1, facecolor=colour) for colour in colours]
    shares = zip(view.labels, view.frequencies, strict=True)
    figure.legend(
        marks, [f"{label}  {100 * share:.1f} %" for label, share in shares], fontsize=9,
        loc="outside lower center", ncols=min(len(marks), 4), frameon=False, labelcolor=INK,
    )  # fmt: skip
    _write(figure, path)


def plot_convergence(
    history: Sequence[Check], path: str | os.PathLike[str], pot: float, title: str = ""
) -> None:
    """Draw exploitability over iterations, both logarithmic; per cent of the pot on the right."""
    points = [check for check in history if check.iterations > 0 and check.exploitability > 0]
    if not points:
        raise InputError("nothing to plot: expected a solve with iterations that were measured")
    figure, axes = _figure(7.0, 4.6)
    from matplotlib.ticker import FuncFormatter, LogFormatter

    axes.loglog(
        [check.iterations for check in points],
        [check.exploitability for check in points],
        marker="o", markersize=4, color="#b0352f", lw=1.6,
    )  # fmt: skip
    axes.set_xlabel("iterations", color=INK)
    axes.set_ylabel("exploitability, chips", color=INK)
    axes.grid(True, which="major", color="#d8d8d4", lw=0.8)
    axes.grid(True, which="minor", color="#ececea", lw=0.5)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if pot > 0:
        right = axes.secondary_yaxis(
            "right", functions=(lambda chips: 100 * chips / pot, lambda share: share * pot / 100)
        )
        right.set_ylabel("per cent of the pot", color=INK)
        right.yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    last = points[-1]
    said = f"{last.exploitability:.3g} chips after {last.iterations:,} iterations"
    axes.text(0.02, 0.04, said, transform=axes.transAxes, fontsize=9, color=INK)
    axes.set_title(title, fontsize=11, color=INK, loc="left", pad=8)
    _write(figure, path)
