"""The result file that every program writes: ``result.json``.

Tables and plots are made from these files alone, so each says all that is needed to make it again:
the command, its configuration, the seed, the versions of what it ran on (in a working copy with its
commit), how long it took, and the figures it found.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically

PACKAGES = ("deepstack", "numpy", "numba", "torch")
ROOT = Path(__file__).resolve().parents[2]  # the working copy, if the package is in one
PATIENCE = 10.0  # seconds that git may take


@dataclass(frozen=True, slots=True)
class Result:
    """What one run of a program was and found; the fields are the keys of ``result.json``."""

    command: str
    config: dict[str, Any]
    seed: int | None
    versions: dict[str, str]
    seconds: float
    figures: dict[str, Any]


def package_versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that figures depend on, none imported.

    In a working copy of the project ``commit`` names its commit; an installed package has only its
    version.
    """
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    commit = working_commit(ROOT)
    return versions if commit is None else {**versions, "commit": commit}


def working_commit(folder: Path) -> str | None:
    """The commit of a working copy, with ``-dirty`` behind it if tracked files differ from it.

    None where ``folder`` is not the top of one or git is not there. A package that is installed
    somewhere below another project's folder does not take that project's commit for its own.
    """
    if not (folder / ".git").exists():  # a folder, or a file in further working copies
        return None
    # without optional locks git only reads, also while somebody commits
    command = ["git", "--no-optional-locks", "-C", str(folder), "describe"]
    options = ["--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        ran = subprocess.run(
            [*command, *options], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout.strip() or None


def write_result(
    path: str | os.PathLike[str],
    *,
    command: str,
    config: Mapping[str, Any],
    seed: int | None,
    seconds: float,
    figures: Mapping[str, Any],
) -> Result:
    """Writes ``result.json`` atomically and returns what was written.

    Numpy scalars and arrays become numbers and lists. A figure that is not finite is refused with
    a ValueError that says where it stands. Integers beyond 2^53 are for the caller to write as
    strings, since other readers of JSON would round them.
    """
    result = Result(
        command=command,
        config=to_plain(config, "config"),
        seed=to_plain(seed, "seed"),
        versions=package_versions(),
        seconds=to_plain(seconds, "seconds"),
        figures=to_plain(figures, "figures"),
    )
    text = json.dumps(asdict(result), indent=2, allow_nan=False) + "\n"
    try:
        write_atomically(path, text)
    except OSError as error:
        raise InputError(
            f"result {str(path)!r}: expected a file that can be written ({error.strerror})"
        ) from error
    return result


def read_result(path: str | os.PathLike[str]) -> Result:
    """Reads a ``result.json``; anything else is an InputError that says what is missing."""
    name = f"result {str(path)!r}"
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = json.loads(text, parse_constant=_refuse_constant)
    except OSError as error:
        raise InputError(f"{name}: expected a readable file ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: expected a whole JSON file ({error})") from error
    if not isinstance(content, dict):
        raise InputError(f"{name}: expected a JSON object, found {type(content).__name__}")
    for key, kinds in _KINDS.items():
        if key not in content:
            raise InputError(f"{name}: expected the key {key!r}, which is missing")
        # bool is an int to Python, but true is no seed and no number of seconds
        if not isinstance(content[key], kinds) or isinstance(content[key], bool):
            found = type(content[key]).__name__
            raise InputError(f"{name}: {key!r} is a {found}, expected {_kind_names(kinds)}")
    return Result(**{key: content[key] for key in _KINDS})


def to_plain(value: Any, where: str = "value") -> Any:
    """The value in terms of JSON: None, bool, int, float, str, list and dict with string keys.

    >>> to_plain({"mbb": np.float64(-250.0), "hands": np.arange(3)})
    {'mbb': -250.0, 'hands': [0, 1, 2]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} is {value}: expected a finite number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # Mapping and Sequence also take in the nodes of a Hydra configuration
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}: expected a string")
        return {key: to_plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [to_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TypeError(f"{where} is of type {type(value).__name__}: expected what JSON can hold")


_KINDS: dict[str, tuple[type, ...]] = {
    "command": (str,),
    "config": (dict,),
    "seed": (int, type(None)),
    "versions": (dict,),
    "seconds": (int, float),
    "figures": (dict,),
}


def _kind_names(kinds: tuple[type, ...]) -> str:
    return " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no finite number")
