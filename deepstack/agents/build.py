"""Agents from configuration: a name of ``conf/agent``, or a name with settings.

``call`` is ``conf/agent/call.yaml``; ``{agent: triple, fold: 0.1, call: 0.5, raise_: 0.4}`` is that
file with other numbers. The same specification builds the same agent in any process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from deepstack.agents.protocol import Agent
from deepstack.game.definition import Game
from deepstack.run.errors import InputError

AgentSpec = str | Mapping[str, Any]


def agent_names() -> list[str]:
    """The names that ``conf/agent`` offers."""
    files = (resources.files("conf") / "agent").iterdir()
    return sorted(f.name.removesuffix(".yaml") for f in files if f.name.endswith(".yaml"))


def _settings(spec: AgentSpec) -> tuple[str, dict[str, Any]]:
    """The name of a specification and the settings given with it."""
    if isinstance(spec, Mapping):
        given = dict(spec)
        name = given.pop("agent", None)
    else:
        name, given = spec, {}
    if not isinstance(name, str) or name not in agent_names():
        known = ", ".join(agent_names())
        raise InputError(f"agent {name!r}: expected one of {known}, or {{agent: NAME, …}}")
    return name, given


def make_agent(spec: AgentSpec, game: Game, seed: int = 0) -> Agent:
    """The agent that a specification describes."""
    from hydra.utils import get_class
    from omegaconf import OmegaConf

    name, given = _settings(spec)
    file = resources.files("conf") / "agent" / f"{name}.yaml"
    settings = OmegaConf.to_container(OmegaConf.create(file.read_text("utf-8")), resolve=True)
    assert isinstance(settings, dict)
    target = get_class(settings.pop("_target_"))
    try:
        return target(game, seed, **{**settings, **given})
    except TypeError as error:
        raise InputError(f"agent {name}: {error}") from None


def agent_labels(specs: Sequence[AgentSpec]) -> list[str]:
    """A distinct name for every agent of a match: ``call``, ``call_2``, …

    >>> agent_labels(["call", "call", "random"])
    ['call', 'call_2', 'random']
    """
    labels: list[str] = []
    for spec in specs:
        name, _ = _settings(spec)
        count = sum(label == name or label.startswith(f"{name}_") for label in labels)
        labels.append(f"{name}_{count + 1}" if count else name)
    return labels


def agent_seeds(seed: int, count: int) -> list[int]:
    """Independent seeds for the agents of a match, from the seed of the match."""
    if seed < 0:
        raise InputError(f"seed {seed}: expected 0 or more")
    state = np.random.SeedSequence([seed, 1]).generate_state(count, np.uint64)
    return [int(word) for word in state]
