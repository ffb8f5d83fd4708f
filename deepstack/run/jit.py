"""``@kernel``: numba functions whose compiled code is kept on disk and never stale.

Numba's own cache notices when the file of a function changes, but not when a function that it calls
in another file does. Here the cache folder is named by a hash of all kernel sources
(``*_kernels.py`` and the vector operations they use), so any change of one compiles all anew.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit

PACKAGE = Path(__file__).resolve().parents[1]


@cache
def cache_folder() -> str:
    """Where compiled kernels of this version of the sources are kept."""
    sources = sorted([*PACKAGE.rglob("*_kernels.py"), *PACKAGE.rglob("simd.py")])
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    places = [PACKAGE / "__pycache__", Path(home) / "deepstack"]
    writable = [place for place in places if _can_write(place)]
    return str((writable or places)[0] / name)


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """``njit`` with the cache of this module and without the interpreter's lock."""
    if function is None:
        return lambda wrapped: kernel(wrapped, **options)
    if os.environ.get("NUMBA_CACHE_DIR"):  # somebody has decided otherwise
        return njit(cache=True, nogil=True, **options)(function)
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, cache_folder()
    try:
        return njit(cache=True, nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = before
