"""Rows of an experiment that are measured one by one and kept, so that a stopped run goes on.

Every row has a file of its own, with the settings that it depends on beside it: a row that was
measured with other settings is measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepstack.run.files import write_atomically

Row = dict[str, Any]


def kept_rows(
    folder: str | Path, count: int, settings: Mapping[str, Any], measure: Callable[[int], Row]
) -> Iterator[tuple[Row, bool]]:
    """The rows 0 … ``count - 1``, and whether each one was kept from before.

    Args:
        folder: of the files ``NUMBER.json``.
        settings: all that rows depend on besides their number, as JSON holds it.
        measure: makes a row, given its number.
    """
    wanted = json.loads(json.dumps(settings))
    for number in range(count):
        file = Path(folder) / f"{number}.json"
        row = _read(file, wanted)
        if row is not None:
            yield row, True
            continue
        row = measure(number)
        write_atomically(file, json.dumps({"settings": wanted, "row": row}, indent=2) + "\n")
        yield row, False


def _read(file: Path, settings: Mapping[str, Any]) -> Row | None:
    """The row of a file, if it is whole and was measured with these settings."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = isinstance(kept, dict) and kept.get("settings") == settings
    return kept.get("row") if same else None
