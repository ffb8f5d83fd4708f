"""Neural continual re-solving for heads-up no-limit hold'em.

``deepstack.solve`` solves a game, a state or a ``Spot``; ``deepstack.load`` reads a solution that
was saved. They are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deepstack.game.spots import Spot as Spot
    from deepstack.solver.api import solve as solve
    from deepstack.solver.solution import Solution as Solution
    from deepstack.solver.storage import load as load

_HOMES = {
    "Solution": "deepstack.solver.solution",
    "Spot": "deepstack.game.spots",
    "load": "deepstack.solver.storage",
    "solve": "deepstack.solver.api",
}

__all__ = ["Solution", "Spot", "load", "solve"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
