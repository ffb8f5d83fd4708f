"""What a run ran on: times and memory mean little without it."""

from __future__ import annotations

import os
import platform
import sys


def processor() -> str:
    """The processor and the number of its cores that this process may use."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
        name = models[0] if models else name
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {usable} cores"


def peak_memory() -> int | None:
    """The most memory that the process has had, in bytes, where the system tells."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
