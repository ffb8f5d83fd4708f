"""How much memory a solve takes, before it takes it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from deepstack.run.errors import InputError


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a solve.

    Attributes:
        tables: regrets, averages and predictions.
        work: rows of the traversals under way.
        index: the trees.
    """

    tables: int
    work: int
    index: int

    @property
    def total(self) -> int:
        return self.tables + self.work + self.index

    def __str__(self) -> str:
        return f"{self.total / 2**20:,.1f} MB"


def available_memory() -> int | None:
    """Bytes that can be had now, where the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def require_memory(memory: Memory) -> None:
    """Refuse a solve that does not fit."""
    free = available_memory()
    if free is not None and memory.total > free:
        raise InputError(
            f"the tree needs {memory.total / 2**30:.1f} GB and {free / 2**30:.1f} GB are free: "
            "expected fewer bet sizes, a smaller stack, a later round or a depth limit"
        )
