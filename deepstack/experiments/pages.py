"""The page of results: sections made from result files alone.

Every section says from which files it is made, and what was not run is said too. Nothing here
depends on when or where the page is made: the same files give the same page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from deepstack.experiments import (
    continual_page,
    lbr_page,
    leaves_page,
    resolving_page,
    slopes_page,
    solved_page,
    training_page,
    variance_page,
)
from deepstack.experiments.tables import markdown_table
from deepstack.run.files import write_atomically
from deepstack.run.progress import format_seconds
from deepstack.run.results import Result


class Experiment(NamedTuple):
    """What a named experiment is, and where the like was published."""

    title: str
    source: str


EXPERIMENTS = {
    "slopes_matrix": Experiment("rates of convergence in matrix games", "Burch, tables 4.1, 4.2"),
    "slopes_kuhn_leduc": Experiment(
        "rates of convergence in Kuhn and Leduc poker", "Burch, tables 4.1 to 4.5"
    ),
    "slopes_rhode_island": Experiment(
        "rates of convergence in Rhode Island hold'em", "Burch, tables 4.1, 4.2"
    ),
    "rhode_island": Experiment("Rhode Island hold'em, solved", "Burch, section 4.3"),
    "holdem_2_4": Experiment("[2-4] hold'em, solved", "Johanson, sections 3.3, 4.4"),
    "table_2_1": Experiment("players who ignore their cards", "Johanson, table 2.1"),
    "abstract_leduc": Experiment("an abstract strategy, solved again", "Burch, section 5.4"),
    "cfrd_leduc": Experiment("CFR-D in Leduc hold'em", "Burch, sections 5.2, 5.3"),
    "turn_river_resolving": Experiment("re-solving rivers of solved turns", "–"),
    "continual_leduc": Experiment("continual re-solving in Leduc hold'em", "Burch, chapter 6"),
    "theorem12": Experiment("wrong values at the leaves", "Burch, theorem 12"),
    "nolimit_leduc": Experiment("a value network in no-limit Leduc", "DeepStack's Leduc code"),
    "leaf_shortcut": Experiment("networks at the leaves of the turn", "–"),
    "variance_reduction": Experiment(
        "win rates with less luck", "Burch et al. 2018; Johanson, chapter 7"
    ),
    "lbr_table2": Experiment(
        "local best response, trivial strategies", "Lisý and Bowling, table 2"
    ),
}

PROGRAMS = {
    "data_rates": "python -m data_gen.rates",
    "network_river_start": "python -m train stage=river_start",
    "network_turn_end": "python -m train stage=turn_end",
    "learning_curves_river_start": "python -m train.curves stage=river_start",
    "learning_curves_turn_end": "python -m train.curves stage=turn_end",
}
"""Results of other programs that the page shows, and what makes them."""

HEAD = """# Results

Made by `deepstack report` from the result files in `results/`; nothing on this page is typed in but
what the theses print. `deepstack experiment NAME` runs an experiment again and replaces its file.

- **Burch**: N. Burch, *Time and Space: Why Imperfect Information Games are Hard*, 2017.
- **Johanson**: M. Johanson, *Robust Strategies and Counter-Strategies: From Superhuman to Optimal
  Play*, 2016.

Exploitability is half the sum of what both best responses win, in chips unless a table says
mbb/g, thousandths of a big blind a game. Our figures are bold where published ones stand beside
them."""

USED = ("python", "numpy", "numba")  # the versions that figures can depend on


Section = Callable[[Mapping[str, Result], Path], list[str]]
SECTIONS: tuple[tuple[Section, Iterable[str]], ...] = (
    (slopes_page.slopes_section, slopes_page.EXPERIMENTS),
    (solved_page.solved_section, solved_page.EXPERIMENTS),
    (lambda results, plots: solved_page.card_blind_section(results), solved_page.CARD_BLIND),
    *resolving_page.SECTIONS,
    *continual_page.SECTIONS,
    *training_page.SECTIONS,
    *leaves_page.SECTIONS,
    *lbr_page.SECTIONS,
    *variance_page.SECTIONS,
)
"""Sections, given the results and the folder for plots, with the experiments they show."""


def write_page(results: Mapping[str, Result], page: Path) -> None:
    """Write the page and, into a folder of its name beside it, the plots."""
    plots = page.with_suffix("")
    sections = [[HEAD, "", *overview(results)]]
    for section, experiments in SECTIONS:
        sections.append([*section(results, plots), *sources(results, experiments)])
    write_atomically(page, "\n".join("\n".join(section) + "\n" for section in sections))


def overview(results: Mapping[str, Result]) -> list[str]:
    """Every experiment, and whether it was run."""
    rows = []
    for name, experiment in EXPERIMENTS.items():
        result = results.get(name)
        took = "not run" if result is None else format_seconds(result.seconds)
        rows.append([f"`{name}`", experiment.title, experiment.source, took])
    return markdown_table(["experiment", "what", "published in", "took"], rows)


def sources(results: Mapping[str, Result], names: Iterable[str]) -> list[str]:
    """Where the figures of a section come from."""
    lines = []
    for name in names:
        result = results.get(name)
        if result is None:
            command = PROGRAMS.get(name, f"deepstack experiment {name}")
            lines.append(f"- `{name}`: not run (`{command}`)")
            continue
        program = f"deepstack {result.versions.get('deepstack', '?')}"
        if "commit" in result.versions:
            program += f" ({result.versions['commit']})"
        versions = [f"{name} {result.versions[name]}" for name in USED if name in result.versions]
        if name in PROGRAMS:
            lines += [f"- `results/{name}.json`: `{result.command}`;"]
            lines += [f"  {', '.join([program, *versions])}"]
            continue
        lines += [
            f"- `results/{name}.json`: `{result.command}`, configuration",
            f"  `conf/experiment/{name}.yaml`; {', '.join([program, *versions])}",
        ]
    return ["", "Made from:", "", *lines]
