"""Files that are either whole or not there.

Everything a program writes goes to a file aside in the same folder, is flushed to the disk and
then renamed, so that nothing half-written ever stands under its final name, whatever interrupts.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a path to write to; on success it takes the place of ``path``, else it is removed.

    The folder is made where it is missing. The path aside keeps the suffix, because some writers
    (``np.savez``) add their own to names without it. A device or pipe such as ``/dev/null`` cannot
    be replaced and is written to directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        yield path
        return
    # through links, so that a linked file is replaced and not the link
    final = Path(os.path.realpath(path))
    final.parent.mkdir(parents=True, exist_ok=True)
    aside = final.with_name(f".{final.stem}.{secrets.token_hex(4)}{final.suffix}")
    try:
        yield aside
        _flush_to_disk(aside)
        os.replace(aside, final)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        # the rename itself is kept by the folder
        _flush_to_disk(final.parent)


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Writes a whole file at once; text as UTF-8."""
    with replacing(path) as aside:
        aside.write_bytes(data.encode() if isinstance(data, str) else data)


def _flush_to_disk(path: Path) -> None:
    # Windows can flush only what is open for writing, and a folder can be opened only for reading.
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
