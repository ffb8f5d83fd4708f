"""``python -m data_gen [key=value …]``: configuration, what to expect, the run, the result file."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from data_gen.generation import Generation, generating
from data_gen.stages import Settings
from deepstack.app.config import _check_key as check_key
from deepstack.app.config import _check_kind as check_kind
from deepstack.app.config import load_config, quote
from deepstack.run.errors import InputError
from deepstack.run.executors import Executor, InProcess, OnRay, Processes, make_executor
from deepstack.run.progress import format_seconds, track
from deepstack.run.results import write_result

GROUPS = ("stage", "executor")


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if words and words[-1] in ("-h", "--help", "help"):
            print(usage())
        else:
            run_program(words)
    except InputError as error:
        print(f"data_gen: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("data_gen: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


def usage() -> str:
    """The settings: the configuration file, which is written to be read."""
    text = resources.files("conf").joinpath("data_gen.yaml").read_text("utf-8").rstrip()
    return f"usage: python -m data_gen [key=value …]\n\n{text}"


def run_program(words: Sequence[str]) -> dict[str, Any]:
    """Make a data set as typed and write its result file; the figures."""
    config = compose(words)
    started = time.perf_counter()
    figures = generate(config)
    write_result(
        config.result,
        command=" ".join(["python -m data_gen", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.seed,
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def compose(words: Sequence[str]) -> DictConfig:
    """The configuration of what was typed; settings of a stage are those of the chosen one."""
    for word in words:
        group, _, choice = word.partition("=")
        if group in GROUPS and choice not in choices(group):
            raise InputError(f"{group} {choice!r}: expected one of {', '.join(choices(group))}")
    inside = [quote(word) for word in words if word.startswith("stage.")]
    config = load_config("data_gen", [word for word in words if not word.startswith("stage.")])
    known = {"stage": OmegaConf.to_container(config.stage)}
    for word in inside:
        check_key(word.partition("=")[0], known)
    try:
        for override in OverridesParser.create().parse_overrides(inside):
            key, value = override.key_or_group, override.value()
            OmegaConf.update(config, key, value, merge=False, force_add=True)
    except HydraException as error:
        raise InputError(f"{' '.join(words)}: {str(error).splitlines()[0]}") from None
    check_kind("stage", OmegaConf.to_container(config.stage), known["stage"])
    return config


def choices(group: str) -> list[str]:
    """The configurations of a group of ``conf``."""
    files = resources.files("conf").joinpath(group).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if ".yaml" in file.name)


def generate(config: DictConfig) -> dict[str, Any]:
    """Make or continue the data set of a configuration; the figures.

    ``samples_per_second`` counts what this run made, and is null if there was nothing to make.
    """
    stage = OmegaConf.to_container(config.stage, resolve=True)
    assert isinstance(stage, dict)
    executor = build_executor(config.executor, config.workers)
    if not isinstance(config.samples, int):
        raise InputError(f"samples={config.samples}: expected a whole number")
    # what is not set or not used is left out, so that a new setting does not orphan older data
    named = {str(key): value for key, value in stage.items() if value is not None}
    named["ranges"] = {family: weight for family, weight in named["ranges"].items() if weight}
    with generating(config.out, named, config.seed, config.samples) as generation:
        missing = sum(order.count for order in generation.orders())
        print(expectation(generation, missing, executor, config.trial), flush=True)
        seconds = make_missing(generation, executor, missing) if missing else 0.0
        figures = {
            "samples": generation.manifest.done,
            "samples_per_second": missing / seconds if seconds else None,
            "exploitability_pot": generation.summary(),
            "bytes": generation.bytes(),
        }
    print(conclusion(figures), flush=True)
    return figures


def make_missing(generation: Generation, executor: Executor, missing: int) -> float:
    """Run with progress; the seconds it took."""
    started = time.perf_counter()
    with track(missing, generation.settings.stage.name, "samples") as progress:

        def show(count: int) -> None:
            reached = generation.summary()
            shown = (
                {"exploitability": f"{100 * reached['mean']:.3f}% of the pot"} if reached else {}
            )
            progress.update(count, **shown)

        generation.run(executor, show)
    return time.perf_counter() - started


def build_executor(config: DictConfig, workers: int | None) -> Executor:
    """The executor of a configuration; with an address, connected to that Ray cluster."""
    if config.kind == "ray" and config.address is not None:
        make_executor("ray", workers)  # says so if Ray is not installed
        import ray

        if not ray.is_initialized():
            try:
                ray.init(address=config.address, log_to_driver=False)
            except (ConnectionError, ValueError) as error:
                raise InputError(
                    f"executor.address={config.address}: expected a Ray cluster ({error})"
                ) from None
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int)):
        raise InputError(f"workers={workers}: expected a whole number or null")
    return make_executor(config.kind, workers)


def workers_of(executor: Executor) -> int:
    """How many samples are made at a time, as far as it is known beforehand."""
    match executor:
        case InProcess():
            return 1
        case Processes(workers):
            return workers
        case OnRay(workers):
            return workers or 1
    return 1


def expectation(generation: Generation, missing: int, executor: Executor, seconds: float) -> str:
    """What is to come: how large, how accurate, how long; a trial of ``seconds`` says the last."""
    settings, manifest = generation.settings, generation.manifest
    there = f", {manifest.done:,} are there" if manifest.done else ""
    lines = [f"{settings.stage.name}: {manifest.samples:,} samples{there}"]
    size = manifest.samples * settings.bytes_per_sample
    lines.append(f"  size      {format_bytes(size)} in {plural(manifest.shards_total, 'shard')}")
    lines.append(f"  accuracy  {format_accuracy(settings)}")
    if missing and seconds > 0:
        each, workers = time_trial(settings, seconds), workers_of(executor)
        rate = workers / each
        lines.append(
            f"  time      about {format_seconds(missing / rate)}: {rate:.3g} samples a second "
            f"with {plural(workers, 'worker')}, as a trial has it"
        )
    return "\n".join(lines)


def time_trial(settings: Settings, seconds: float) -> float:
    """Seconds a sample takes on one core, from some samples that are thrown away."""
    rng = np.random.default_rng(0)
    settings.stage.generate(settings, rng, 1)  # loads compiled code and networks
    started = time.perf_counter()
    settings.stage.generate(settings, rng, 1)
    # as many as fill a board and meet all pots, unless a single one takes long
    least, quick = len(settings.pots), time.perf_counter() - started < seconds / 8
    batch = max(4 * least, settings.source.per_board if settings.source else 1) if quick else least
    made, spent, started = 0, 0.0, time.perf_counter()
    while spent < seconds:
        settings.stage.generate(settings, rng, batch)
        made += batch
        spent = time.perf_counter() - started
    return spent / made


def conclusion(figures: dict[str, Any]) -> str:
    reached, rate = figures["exploitability_pot"], figures["samples_per_second"]
    parts = [f"{figures['samples']:,} samples, {format_bytes(figures['bytes'])}"]
    if reached:
        parts.append(
            f"exploitability {100 * reached['mean']:.3f}% of the pot, "
            f"95% of them below {100 * reached['p95']:.3f}%"
        )
    parts.append(f"{rate:.3g} samples a second" if rate else "nothing was missing")
    return "; ".join(parts)


def format_accuracy(settings: Settings) -> str:
    """What labels come from, and the exploitability aimed for by depth, in words."""
    words = []
    if settings.precision is not None:
        target = settings.precision.target
        shares = [f"{100 * share:g}% of the pot" for _, share in target]
        for number, (depth, _) in enumerate(target[1:], 1):
            shares[number] = f"{shares[number]} from {depth:g} pots behind"
        words.append(f"exploitability at most {', '.join(shares)}")
    source = settings.source
    if source is not None and settings.stage.end:
        deals = "all" if source.deals is None else f"{source.deals:,} random"
        words.append(f"the mean over {deals} next cards of network {source.network}")
    elif source is not None:
        words.append(f"solved to network {source.network}")
    return ", ".join(words)


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "shard"), plural(1000, "shard")
    ('1 shard', '1,000 shards')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_bytes(count: float) -> str:
    """A size in its largest unit.

    >>> format_bytes(8_676_000_000), format_bytes(1500), format_bytes(3)
    ('8.7 GB', '1.5 kB', '3 B')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"
