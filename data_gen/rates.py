"""``python -m data_gen.rates [key=value …]``: how fast every stage is made, and what limits it.

A stage is generated for about a minute by worker processes into a folder that is thrown away; then
a few samples are made in this process under Python's profiler, for the shares of its parts.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from data_gen.generation import generating
from data_gen.program import compose, time_trial
from data_gen.stages import Settings, read_settings
from deepstack.app.config import load_config
from deepstack.run.errors import InputError
from deepstack.run.executors import Processes
from deepstack.run.results import write_result

PARTS = {
    "situations": (("situations.py", "draw_situations"),),
    "trees and tables": (
        ("solver/engine.py", "__init__"),
        ("solver/batched.py", "__init__"),
        ("solver/batched_shapes.py", "group_by_shape"),
        ("values/inputs.py", "tables"),
    ),
    "iterations": (("solver/engine.py", "run"), ("solver/batched.py", "run")),
    "exploitability": (("solver/engine.py", "exploitability"), ("batched.py", "exploitability")),
    "network": (("values/model.py", "forward"),),
}
"""Parts of the work by the functions that do them; the network's part may lie inside iterations."""
PROFILED = 8.0  # seconds, about


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if words and words[-1] in ("-h", "--help", "help"):
            text = resources.files("conf").joinpath("rates.yaml").read_text("utf-8").rstrip()
            print(f"usage: python -m data_gen.rates [key=value …]\n\n{text}")
        else:
            run_program(words)
    except InputError as error:
        print(f"rates: {error}", file=sys.stderr)
        return 2
    return 0


def run_program(words: Sequence[str]) -> dict[str, Any]:
    """Measure every stage and write the result file; the figures by stage."""
    config = load_config("rates", words)
    started = time.perf_counter()
    figures = {}
    for stage, changes in config.stages.items():
        figures[str(stage)] = measure(str(stage), changes, config)
        print(f"{stage}: {figures[str(stage)]}", flush=True)
    write_result(
        config.result,
        command=" ".join(["python -m data_gen.rates", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.seed,
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def measure(stage: str, changes: Mapping[str, Any], config: DictConfig) -> dict[str, Any]:
    """Rate, accuracy and shares of the work of one stage."""
    named = stage_config(stage, changes)
    settings = read_settings(named)
    each = time_trial(settings, PROFILED / 2)
    shards = max(config.workers, round(config.seconds * config.workers / (each * settings.shard)))
    samples = shards * settings.shard
    with (
        TemporaryDirectory() as folder,
        generating(Path(folder) / "data", named, config.seed, samples) as generation,
    ):
        workers = Processes(config.workers)
        begin = time.perf_counter()
        generation.run(workers)
        seconds = time.perf_counter() - begin
        reached = generation.summary()
    return {
        "samples": samples,
        "samples_per_second": samples / seconds,
        "milliseconds_of_a_core": 1000 * config.workers * seconds / samples,
        "exploitability_pot": reached,
        "shares": shares(settings, each),
    }


def stage_config(stage: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a stage with some of its settings changed."""
    config = compose([f"stage={stage}", "samples=1"]).stage
    for key, value in changes.items():
        if key not in config:
            raise InputError(f"stages.{stage}.{key}: expected {', '.join(map(str, config))}")
        OmegaConf.update(config, str(key), value, merge=False)
    named = OmegaConf.to_container(config, resolve=True)
    assert isinstance(named, dict)
    return {str(key): value for key, value in named.items() if value is not None}


def shares(settings: Settings, each: float) -> dict[str, float]:
    """Shares of the time of making samples in this process, by part."""
    count = max(1, round(PROFILED / each))
    profiler = cProfile.Profile()
    profiler.enable()
    settings.stage.generate(settings, np.random.default_rng(1), count)
    profiler.disable()
    stats: Any = pstats.Stats(profiler)
    found = dict.fromkeys(PARTS, 0.0)
    for (file, _, name), times in stats.stats.items():
        for part, places in PARTS.items():
            if any(name == function and file.endswith(ending) for ending, function in places):
                found[part] += times[3] / stats.total_tt
    return {part: share for part, share in found.items() if share > 0}


if __name__ == "__main__":
    sys.exit(main())
