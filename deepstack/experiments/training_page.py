"""The section on value networks: rates of generation, errors, learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepstack.experiments.plots import BLUE, GREY, ORANGE, Line, Panel, draw
from deepstack.experiments.tables import NOTHING, markdown_table, show_count
from deepstack.run.results import Result

NETWORKS = ("river_start", "turn_end")
NETWORK_FILES = tuple(f"network_{stage}" for stage in NETWORKS)
CURVES = tuple(f"learning_curves_{stage}" for stage in NETWORKS)
RATES = ("data_rates",)
COLORS = {"paper": GREY, "quantile_conv": BLUE, "next_conv": ORANGE}
DEPTHS = ("below 0.5", "0.5-1", "1-2", "2-5", "5-10", "10-25", "25-50", "from 50")


def rates_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Samples a second of every stage."""
    lines = [
        "## Training data: rates",
        "",
        "`python -m data_gen.rates`: every stage generated on two cores over the published pots,",
        "with random ranges, for about a minute; accuracy as shares of the pot (for solves that",
        "end at a network with leaf values frozen at the average ranges). What limits a stage is",
        "told by the profiler, in one process: shares of the time, the network's part being inside",
        "that of the iterations where a solve asks it.",
    ]
    if RATES[0] not in results:
        return lines
    rows = []
    for stage, found in results[RATES[0]].figures.items():
        reached = found["exploitability_pot"]
        shares = ", ".join(f"{part} {share:.0%}" for part, share in found["shares"].items())
        accuracy = NOTHING if reached is None else f"{100 * reached['mean']:.2f} %"
        rows.append([stage, f"{found['samples_per_second']:.3g}", accuracy, shares])
    header = ["stage", "samples a second", "mean exploitability", "where the time goes"]
    return [*lines, "", *markdown_table(header, rows)]


def networks_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Errors of the networks that ship, on boards held out."""
    lines = [
        "## Value networks: errors",
        "",
        "Errors on boards that were held out, in fractions of the pot over all hands that the",
        "board leaves possible: Huber loss (δ = 1), mean absolute error, and the absolute error",
        "weighted by the player's own range. *Random* ranges are the published recursive ones,",
        "*play* ranges are those that lookaheads ask their leaves about. `turn_end` is measured",
        "against the mean over rivers that it imitates. Published figures are from other spaces",
        "and other labels: an open port reports 0.0415 on the river with 1 M samples, DeepStack",
        "0.026 for its turn network with 10 M.",
    ]
    shown = {stage: results.get(f"network_{stage}") for stage in NETWORKS}
    rows, by_depth = [], []
    for stage, result in shown.items():
        if result is None:
            continue
        figures = result.figures
        groups: Mapping[str, Any] = figures["validation_groups"]
        rows.append(
            [
                stage,
                show_count(figures["samples"]),
                *(
                    f"{figures[f'validation_{name}']:.4f}"
                    for name in ("huber", "mae", "weighted_mae")
                ),
                *(_cell(groups.get(f"ranges/{family}")) for family in ("random", "play")),
            ]
        )
        by_depth.append([stage, *(_cell(groups.get(f"depth/{depth}")) for depth in DEPTHS)])
    if not rows:
        return lines
    header = ["network", "samples", "Huber", "absolute", "weighted", "random: Huber", "play: Huber"]
    depths = ["Huber by stack / pot", *DEPTHS]
    return [*lines, "", *markdown_table(header, rows), "", *markdown_table(depths, by_depth)]


def curves_section(results: Mapping[str, Result], plots: Path) -> list[str]:
    """Error against samples, by architecture."""
    lines = [
        "## Value networks: learning curves",
        "",
        "`python -m train.curves`: Huber loss on the same held-out boards after training on the",
        "first so many samples (random ranges); `paper` is the published form (buckets, seven",
        "layers of 500). Microseconds are those of one evaluation on one core, inputs included,",
        "sixteen at a time on one board.",
    ]
    panels = []
    for stage, name in zip(NETWORKS, CURVES, strict=True):
        if name not in results:
            continue
        figures = results[name].figures
        counts = sorted({int(n) for net in figures.values() for n in net["samples"]})
        rows, curves = [], []
        for net, found in figures.items():
            by_samples = found["samples"]
            values = [by_samples.get(str(n), {}).get("validation_huber") for n in counts]
            weights = next(iter(by_samples.values()))["parameters"]
            cells = [_cell(value) for value in values]
            rows.append([f"`{net}`", show_count(weights), *cells, f"{found['microseconds']:.0f}"])
            times = [n for n, value in zip(counts, values, strict=True) if value is not None]
            heights = [value for value in values if value is not None]
            curves.append(Line(net, times, heights, COLORS.get(net, GREY)))
        header = ["network", "weights", *(f"{show_count(n)} samples" for n in counts), "µs"]
        lines += ["", f"{stage}:", "", *markdown_table(header, rows)]
        panels.append(Panel(stage, curves))
    if not panels:
        return lines
    draw(plots / "learning.png", panels, len(panels), "Huber loss", legend=2)
    return [*lines, "", f"![Error against samples]({plots.name}/learning.png)"]


def _cell(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"


SECTIONS = (
    (rates_section, RATES),
    (networks_section, NETWORK_FILES),
    (curves_section, CURVES),
)
