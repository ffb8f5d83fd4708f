"""``python -m data_gen.chain [budget=small|default|paper] [key=value …]``: all networks in order.

For every stage of the chain its data are made (``python -m data_gen``) and its network is trained
(``python -m train``), each with the network before it. A budget of ``conf/chain`` says how much.
The command may be stopped and typed again: data sets go on where they were, trainings from their
last checkpoint, and what is done is left alone.

    OUT/data/STAGE        data sets
    OUT/train/STAGE       checkpoints and logs
    OUT/networks          the networks, with their cards
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from data_gen import program as data_program
from data_gen.stages import STAGES
from data_gen.storage import read_manifest
from deepstack.app.config import load_config
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically
from deepstack.run.progress import format_seconds
from deepstack.run.results import read_result, write_result

CHAIN = ("river_start", "turn_end", "turn_start", "flop_end", "flop_start", "preflop_end")
DEFAULT_BUDGET = "small"
BEGUN = "begun.json"
"""In the folder of a training: the data and the settings it was begun with."""
LAST = Path("checkpoints", "last.ckpt")


@dataclass(frozen=True, slots=True)
class Link:
    """A stage of the chain: how many samples, and settings of the two programs."""

    stage: str
    samples: int
    generate: dict[str, Any]
    train: dict[str, Any]


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if words and words[-1] in ("-h", "--help", "help"):
            print(usage())
        else:
            run_program(words)
    except InputError as error:
        print(f"chain: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chain: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


def usage() -> str:
    """The settings: the configuration of the smallest budget, which is written to be read."""
    path = resources.files("conf").joinpath(f"chain/{DEFAULT_BUDGET}.yaml")
    known = "|".join(data_program.choices("chain"))
    text = path.read_text("utf-8").partition("\n")[2].rstrip()  # without Hydra's own line
    return f"usage: python -m data_gen.chain [budget={known}] [key=value …]\n\n{text}"


def run_program(words: Sequence[str]) -> dict[str, Any]:
    """Make the networks of a budget and write the result file; the figures."""
    started = time.perf_counter()
    config = read_config(words)
    figures = make_chain(config)
    write_result(
        config.result,
        command=" ".join(["python -m data_gen.chain", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.seed,
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def read_config(words: Sequence[str]) -> DictConfig:
    """The configuration of a budget with what was typed put in its place."""
    budgets = [word.removeprefix("budget=") for word in words if word.startswith("budget=")]
    known = data_program.choices("chain")
    budget = budgets[-1] if budgets else DEFAULT_BUDGET
    if budget not in known:
        raise InputError(f"budget {budget!r}: expected one of {', '.join(known)}")
    rest = [word for word in words if not word.startswith("budget=")]
    return load_config(f"chain/{budget}", rest)


def make_chain(config: DictConfig) -> dict[str, Any]:
    """Data and network of every stage, in order; figures by stage."""
    out = Path(str(config.out))
    figures: dict[str, Any] = {}
    previous: str | None = None
    for number, link in enumerate(read_links(config), 1):
        print(f"[{number}/{len(CHAIN)}] {link.stage}", flush=True)
        started = time.perf_counter()
        made = make_data(link, previous, config, out)
        trained = make_network(link, config, out)
        seconds = time.perf_counter() - started
        figures[link.stage] = {"data": made, "network": trained, "seconds": seconds}
        print(f"[{number}/{len(CHAIN)}] {link.stage}: {format_seconds(seconds)}", flush=True)
        previous = link.stage
    if config.promote:
        from train.promote import promote

        for stage in CHAIN:
            promote(network_file(out, stage))
    return figures


def read_links(config: DictConfig) -> list[Link]:
    """The stages of the chain, in order."""
    stages = OmegaConf.to_container(config.stages, resolve=True)
    assert isinstance(stages, dict)
    if set(stages) != set(CHAIN):
        raise InputError(f"stages {', '.join(map(str, stages))}: expected {', '.join(CHAIN)}")
    return [Link(stage, **stages[stage]) for stage in CHAIN]


def network_file(out: Path, stage: str) -> Path:
    """Where the network of a stage stands."""
    return out / "networks" / f"{stage}.safetensors"


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Settings as they are typed.

    >>> as_words({"stage.target": [[0, 0.01]], "net": "paper"})
    ['stage.target=[[0, 0.01]]', 'net=paper']
    """
    return [f"{key}={'null' if value is None else value}" for key, value in settings.items()]


def make_data(link: Link, previous: str | None, config: DictConfig, out: Path) -> dict[str, Any]:
    """The data set of a stage, made or continued; its figures."""
    settings: dict[str, Any] = {
        "stage": link.stage,
        "samples": link.samples,
        "seed": config.seed,
        "out": out / "data" / link.stage,
        "executor": config.executor,
        "workers": config.workers,
        "trial": 0.0,
    }
    if STAGES[link.stage].sources:
        assert previous is not None
        settings |= {"stage.network": network_file(out, previous), "stage.device": config.device}
    return data_program.run_program(as_words(settings | link.generate))


def make_network(link: Link, config: DictConfig, out: Path) -> dict[str, Any]:
    """The network of a stage, trained unless it is there; its figures."""
    from train.program import compose, configuration_hash, run_program
    from train.promote import promote

    data, folder = out / "data" / link.stage, out / "train" / link.stage
    settings = {"stage": link.stage, "data": data, "out": folder, "seed": config.seed}
    words = as_words(settings | link.train)
    network, result = network_file(out, link.stage), folder / "result.json"
    made_from = {
        "data": read_manifest(data).hash,
        "samples": read_manifest(data).done,
        "config": configuration_hash(compose(words)),
    }
    if _begun(folder) != made_from:
        # what is left of another training is no longer of use
        network.with_suffix(".json").unlink(missing_ok=True)
        (folder / LAST).unlink(missing_ok=True)
        write_atomically(folder / BEGUN, json.dumps(made_from))
    if network.with_suffix(".json").exists() and result.exists():
        print(f"{network}: is there", flush=True)
        return read_result(result).figures
    resume = ["resume=true"] if (folder / LAST).exists() else []
    figures = run_program([*words, *resume])
    promote(folder / network.name, folder=network.parent)
    return figures


def _begun(folder: Path) -> dict[str, Any] | None:
    """What the training in a folder was begun with."""
    try:
        return json.loads((folder / BEGUN).read_text("utf-8"))
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    sys.exit(main())
