"""``python -m train.curves [key=value …]``: learning curves, error against samples.

Every architecture is trained on the first so many samples of one data set and measured on the same
held-out boards. Trainings are independent: what is done is left alone, what was stopped goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import torch

from deepstack.app.config import load_config
from deepstack.run.errors import InputError
from deepstack.run.results import read_result, write_result
from deepstack.values.checkpoint import load_network
from deepstack.values.inputs import Situations
from deepstack.values.model import ValueNetwork
from train import program

FIGURES = ("validation_huber", "validation_mae", "validation_weighted_mae", "parameters")
TIMED = 16  # situations on one board, as a lookahead asks
REPEATS = 9


def main(words: Sequence[str] | None = None) -> int:
    """The program: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if words and words[-1] in ("-h", "--help", "help"):
            text = resources.files("conf").joinpath("curves.yaml").read_text("utf-8").rstrip()
            print(f"usage: python -m train.curves [key=value …]\n\n{text}")
        else:
            run_program(words)
    except InputError as error:
        print(f"curves: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("curves: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


def run_program(words: Sequence[str]) -> dict[str, Any]:
    """Train all and write the result file; the figures by architecture and samples."""
    config = load_config("curves", words)
    started = time.perf_counter()
    known = program.choices("net")
    for net in config.nets:
        if net not in known:
            raise InputError(f"net {net!r}: expected one of {', '.join(known)}")
    figures: dict[str, Any] = {}
    for net in config.nets:
        rows = {}
        for samples in config.samples:
            out = Path(str(config.out)) / f"{net}-{samples}"
            found = trained(config, str(net), int(samples), out)
            rows[str(samples)] = {
                **{name: found[name] for name in FIGURES},
                "seconds": found["training_seconds"],
                "epochs": found["epochs"],
                "groups": found["validation_groups"],
            }
        network = load_network(str(out / str(config.stage)))
        figures[str(net)] = {"samples": rows, "microseconds": microseconds(network)}
    write_result(
        config.result,
        command=" ".join(["python -m train.curves", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.seed,
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def trained(config: Any, net: str, samples: int, out: Path) -> dict[str, Any]:
    """The figures of a training, which is done, continued or begun."""
    done = out / "result.json"
    if done.exists():
        return read_result(done).figures
    fewest, most = config.epochs
    epochs = min(max(config.seen / samples, fewest), most)
    resume = (out / "checkpoints" / "last.ckpt").exists()
    settings = {
        "stage": config.stage,
        "net": net,
        "data": config.data,
        "out": out,
        "samples": samples,
        "epochs": round(epochs),
        "validation": config.validation,
        "validation_most": config.validation_most,
        "seed": config.seed,
        "threads": config.threads,
        "resume": str(resume).lower(),
    }
    return program.run_program([f"{key}={value}" for key, value in settings.items()])


@torch.inference_mode()
def microseconds(network: ValueNetwork) -> float:
    """Time of one evaluation on one thread, inputs included, of situations on one board."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        board = list(range(0, 4 * network.inputs.cards, 4))
        tables = network.tables([board])
        generator = torch.Generator().manual_seed(1)
        ranges = torch.rand(TIMED, 2, tables.hands.shape[1], generator=generator)
        ranges /= ranges.sum(2, keepdim=True)
        place = torch.zeros(TIMED, dtype=torch.long)
        asked = Situations(ranges, torch.full((TIMED,), 0.1), place, tables)
        network(asked)
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            network(asked)
            times.append(time.perf_counter() - begin)
    finally:
        torch.set_num_threads(before)
    return 1e6 * sorted(times)[REPEATS // 2] / TIMED


if __name__ == "__main__":
    sys.exit(main())
