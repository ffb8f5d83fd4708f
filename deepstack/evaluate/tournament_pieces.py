"""Finished pieces of a tournament on disk, so that one that was stopped goes on where it was.

A folder belongs to one tournament: a description of it lies beside the pieces, and another
tournament is refused. Every piece is a file that is whole or not there.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.run.errors import InputError
from deepstack.run.files import replacing, write_atomically
from deepstack.run.results import to_plain

DESCRIPTION = "tournament.json"


class PieceFolder:
    """A folder of pieces.

    Args:
        path: the folder, made where it is missing.
        description: all that a tournament's hands depend on; it must match what lies there.
        players: players of a match.
    """

    def __init__(
        self, path: str | os.PathLike[str], description: Mapping[str, Any], players: int
    ) -> None:
        self.path, self.players = Path(path), players
        plain = to_plain(description, "tournament")
        file = self.path / DESCRIPTION
        try:
            if not file.exists():
                write_atomically(file, json.dumps(plain, indent=2) + "\n")
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"folder {str(path)!r}: expected one for the pieces of a tournament ({error})"
            ) from None
        if found != plain:
            other = sorted(
                key for key in {*found, *plain} if _missing(found, key) != _missing(plain, key)
            )
            raise InputError(
                f"folder {str(path)!r} holds another tournament, with other {', '.join(other)}: "
                "expected the same settings, or another folder"
            )

    def load(self, piece: tuple[int, int], sets: int) -> npt.NDArray[np.float64] | None:
        """Chips [sets, P] of a finished piece; None if it is not there or is not whole."""
        try:
            with np.load(self._file(piece)) as file:
                chips = file["chips"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        wanted = chips.shape == (sets, self.players) and chips.dtype == np.float64
        return chips if wanted and np.isfinite(chips).all() else None

    def save(self, piece: tuple[int, int], chips: npt.NDArray[np.float64]) -> None:
        with replacing(self._file(piece)) as aside:
            np.savez(aside, chips=chips)

    def _file(self, piece: tuple[int, int]) -> Path:
        match, number = piece
        return self.path / f"match_{match:04d}_{number:05d}.npz"


def _missing(content: Mapping[str, Any], key: str) -> Any:
    return content.get(key, "nothing")
