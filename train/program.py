"""``python -m train [key=value …]``: configuration, data, training, network, result file."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
import warnings
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import lightning
import torch
from hydra.core.override_parser.overrides_parser import OverridesParser
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from omegaconf import DictConfig, OmegaConf

from data_gen.storage import Dataset
from deepstack.app.config import load_config, quote
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress, track
from deepstack.run.results import to_plain, write_result
from deepstack.values.checkpoint import Origin, load_network, save_network
from deepstack.values.inputs import stage_of
from deepstack.values.model import ValueNetwork, build_network
from train.data import SolvedData
from train.metrics import measure
from train.module import Plan, Training

GIGA = 1e9
WHOLE_OF_HASH = ("net", "start", "seed", "epochs", "minutes", "schedule", "samples", "validation")
"""Settings that decide what a network becomes."""


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if words and words[-1] in ("-h", "--help", "help"):
            print(usage())
        else:
            run_program(words)
    except InputError as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train: stopped; the same command with resume=true goes on", file=sys.stderr)
        return 130
    return 0


def usage() -> str:
    """The settings: the configuration file, which is written to be read."""
    text = resources.files("conf").joinpath("train.yaml").read_text("utf-8").rstrip()
    return f"usage: python -m train [key=value …]\n\n{text}"


def run_program(words: Sequence[str]) -> dict[str, Any]:
    """Train a network as typed and write its result file; the figures."""
    config = compose(words)
    started = time.perf_counter()
    figures = train(config)
    write_result(
        config.result,
        command=" ".join(["python -m train", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.seed,
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def compose(words: Sequence[str]) -> DictConfig:
    """The configuration of what was typed; settings of a network follow the chosen one."""
    nets = choices("net")
    for word in words:
        key, _, choice = word.partition("=")
        if key == "net" and choice not in nets:
            raise InputError(f"net {choice!r}: expected one of {', '.join(nets)}")
    inside = [word for word in words if word.startswith("net.")]
    config = load_config("train", [word for word in words if word not in inside])
    for override in OverridesParser.create().parse_overrides([quote(word) for word in inside]):
        key, place = override.key_or_group, OmegaConf.select(config, override.key_or_group)
        value = override.value()
        if place is None:
            known = [str(name) for name in (*config.net, *config.net.settings)]
            raise InputError(f"setting {key!r} is unknown: expected {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{key}={value}: expected a number")
        OmegaConf.update(config, key, value)
    return config


def choices(group: str) -> list[str]:
    """The configurations of a group of ``conf``."""
    files = resources.files("conf").joinpath(group).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if ".yaml" in file.name)


def train(config: DictConfig) -> dict[str, Any]:
    """Train as configured and write the network; the figures of the best weights."""
    stage, out = str(config.stage), Path(str(config.out))
    stage_of(stage)
    plan = make_plan(config)
    dataset = Dataset(*(str(config.data).split("+")))
    manifest = dataset.manifest
    if manifest.stage != stage:
        raise InputError(f"data {config.data}: made for {manifest.stage}, expected {stage}")
    if config.verify:
        dataset.verify()
    settings = OmegaConf.to_container(config.net.settings)
    assert isinstance(settings, dict)
    network = build_network(
        stage,
        str(config.net.architecture),
        {str(name): value for name, value in settings.items()},
        seed=config.seed,
    )
    if config.start is not None:
        begin_with(network, str(config.start))
    data = SolvedData(
        dataset,
        network.inputs,
        batch=config.net.batch,
        validation=float(config.validation),
        validation_most=config.validation_most,
        samples=config.samples,
        memory=float(config.memory) * GIGA,
        seed=config.seed,
        least_steps=config.least_steps,
        workers=config.workers,
    )
    about: dict[str, Any] = {
        "stage": stage,
        "architecture": network.architecture,
        "settings": network.settings,
        "stack": manifest.stack,
        "data": manifest.hash,
        "config": configuration_hash(config),
        "samples": data.samples,
        "validation_samples": len(data.held_out),
    }
    print(expectation(network, data, plan), flush=True)
    module = fit(network, data, plan, about, config, out)
    # Lightning leaves the last weights; the best ones are what counts
    best = torch.load(out / "checkpoints" / "best.ckpt", map_location="cpu", weights_only=False)
    network.load_state_dict(
        {
            name.removeprefix("network."): weights
            for name, weights in best["state_dict"].items()
            if name.startswith("network.")
        }
    )
    network = network.to("cpu").eval()
    errors = measure(network, data.validation_batches(), data.sources)
    figures = errors.figures()
    origin = Origin(
        data=manifest.hash,
        config=about["config"],
        samples=data.samples,
        validation_samples=len(data.held_out),
        epochs=best["about"]["epochs"],
        figures=figures,
    )
    save_network(network, out, stack=manifest.stack, origin=origin)
    shown = ", ".join(f"{n.removeprefix('validation_')} {x:.5f}" for n, x in figures.items())
    print(f"{out / stage}.safetensors: {shown}", flush=True)
    return {
        **figures,
        "validation_groups": errors.groups(),
        "samples": data.samples,
        "validation_samples": len(data.held_out),
        "epochs": module.passes,
        "parameters": sum(p.numel() for p in network.parameters()),
        "training_seconds": module.seconds,
    }


def begin_with(network: ValueNetwork, name: str) -> None:
    """Give a network the weights of another one of its kind."""
    other = load_network(name)
    for what in ("stage", "architecture", "settings"):
        if getattr(other, what) != getattr(network, what):
            raise InputError(
                f"start={name}: {what} {getattr(other, what)}, expected {getattr(network, what)}"
            )
    network.load_state_dict(other.state_dict())


def make_plan(config: DictConfig) -> Plan:
    """How long and how; minutes given take the place of epochs."""
    return Plan(
        rate=float(config.net.learning_rate),
        decay=float(config.net.weight_decay),
        schedule=str(config.schedule),
        epochs=None if config.minutes is not None else config.epochs,
        minutes=config.minutes,
    )


def configuration_hash(config: DictConfig) -> str:
    """Sixteen hexadecimal digits of the settings that decide what the network becomes."""
    whole = {key: OmegaConf.to_container(config)[key] for key in WHOLE_OF_HASH}  # type: ignore[index,call-overload]
    text = json.dumps(to_plain(whole, "config"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def expectation(network: ValueNetwork, data: SolvedData, plan: Plan) -> str:
    """What is going to happen, in one line."""
    weights = sum(p.numel() for p in network.parameters())
    length = f"{plan.minutes:g} minutes" if plan.minutes is not None else f"{plan.epochs:g} epochs"
    return (
        f"{network.stage}, {network.architecture} with {weights:,} weights: {data.samples:,} "
        f"samples, {len(data.held_out):,} held out, {length}"
    )


class Shown(Callback):
    """Progress of the training: a bar on a terminal, plain lines elsewhere."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        assert isinstance(pl_module, Training)
        fields: dict[str, object] = {"done": f"{100 * min(pl_module.done, 1):.0f}%"}
        if pl_module.figures:
            fields["huber"] = f"{pl_module.figures['validation_huber']:.5f}"
            fields["mae"] = f"{pl_module.figures['validation_mae']:.5f}"
        self.progress.update(len(batch.values), **fields)


def fit(
    network: ValueNetwork,
    data: SolvedData,
    plan: Plan,
    about: dict[str, Any],
    config: DictConfig,
    out: Path,
) -> Training:
    """Train; checkpoints and TensorBoard logs go to ``out``."""
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", category=UserWarning, module="lightning.*")
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    last = out / "checkpoints" / "last.ckpt"
    if config.resume and not last.exists():
        raise InputError(f"resume=true: expected the checkpoint {last}")
    module = Training(network, plan, about)
    keep = ModelCheckpoint(
        dirpath=out / "checkpoints",
        filename="best",
        monitor="validation/huber",
        save_last=True,
        enable_version_counter=False,
    )
    with track(None, f"train {network.stage}", "samples") as progress:
        trainer = lightning.Trainer(
            accelerator=str(config.accelerator),
            devices=config.devices,
            strategy=str(config.strategy),
            precision=config.precision,
            max_epochs=-1,
            gradient_clip_val=float(config.clip),
            num_sanity_val_steps=0,
            callbacks=[keep, Shown(progress)],
            logger=TensorBoardLogger(str(out), name="", version="tensorboard"),
            enable_progress_bar=False,
            enable_model_summary=False,
            log_every_n_steps=50,
            reload_dataloaders_every_n_epochs=0,
        )
        trainer.fit(
            module, data, ckpt_path=str(last) if config.resume else None, weights_only=False
        )
    return module
