"""``deepstack experiment NAME``: a named reproduction of a published result."""

from __future__ import annotations

import importlib

from omegaconf import DictConfig

from deepstack.experiments import METHODS
from deepstack.run.errors import InputError
from deepstack.run.progress import track


def run(config: DictConfig) -> dict:
    if config.method not in METHODS:
        raise InputError(f"method {config.method!r}: expected one of {', '.join(METHODS)}")
    method = importlib.import_module(f"deepstack.experiments.{config.method}")
    with track(method.steps(config), config.method, method.UNIT) as progress:
        figures = method.run(config, progress)
    print(f"figures: {config.result}")
    return figures
