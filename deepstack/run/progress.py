"""How far a program is: a live bar on a terminal, plain lines elsewhere, nothing when quiet.

    with track(total=10_000, description="match", unit="hands") as progress:
        for ...:
            progress.update(1, mbb="-250 ± 30")

Both forms go to the standard error stream, so that results on the standard output stay clean.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

LINES_EVERY = 5.0
"""Seconds between plain lines."""
BAR_EVERY = 0.1
"""Seconds between changes of the bar; showing every update would slow short steps down."""


class Progress:
    """Counts what is done and shows it now and then; made by ``track``."""

    def __init__(self, total: int | None, unit: str, every: float) -> None:
        self.total = total
        self.unit = unit
        self.done = 0
        self.fields: dict[str, object] = {}
        self._every = every
        self._start = self._shown = time.monotonic()
        # set by ``track``; a quiet run keeps this one
        self.show: Callable[[], None] = lambda: None

    def update(self, n: int = 1, **fields: object) -> None:
        """Counts ``n`` more as done; the fields are shown beside it until they change."""
        self.done += n
        self.fields.update(fields)
        now = time.monotonic()
        if now - self._shown >= self._every:
            self._shown = now
            self.show()

    @property
    def status(self) -> str:
        """The state in words."""
        seconds = time.monotonic() - self._start
        return format_status(self.done, self.total, self.unit, seconds, self.fields)


@contextmanager
def track(
    total: int | None,
    description: str,
    unit: str,
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    every: float | None = None,
) -> Iterator[Progress]:
    """Shows the progress of the work inside; ``total`` None means that the end is not known.

    ``stream`` is the standard error stream unless given; ``every`` is the least number of seconds
    between two showings. Plain lines end with one about the final state, also when the work is
    interrupted, unless nothing was done.
    """
    stream = sys.stderr if stream is None else stream
    if quiet or stream is None:
        yield Progress(total, unit, every=float("inf"))
    elif stream.isatty():
        progress = Progress(total, unit, BAR_EVERY if every is None else every)
        yield from _bar(progress, description, stream)
    else:
        progress = Progress(total, unit, LINES_EVERY if every is None else every)
        progress.show = lambda: print(f"{description}: {progress.status}", file=stream, flush=True)
        try:
            yield progress
        finally:
            if progress.done:
                progress.show()


def _bar(progress: Progress, description: str, stream: TextIO) -> Iterator[Progress]:
    # rich takes a tenth of a second to import, which quiet and piped runs need not pay
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[status]}", markup=False),
    )
    with Bar(*columns, console=Console(file=stream)) as bar:
        task = bar.add_task(description, total=progress.total, status="")
        progress.show = lambda: bar.update(task, completed=progress.done, status=progress.status)
        try:
            yield progress
        finally:
            progress.show()


def format_status(
    done: int, total: int | None, unit: str, seconds: float, fields: Mapping[str, object]
) -> str:
    """The state in words: count, share, rate, time left (or time taken), fields.

    >>> format_status(4000, 10_000, "hands", 5.0, {"mbb": "-250 ± 30"})
    '4,000/10,000 hands (40%), 800/s, 8s left, mbb -250 ± 30'
    >>> format_status(10_000, 10_000, "hands", 75.0, {})
    '10,000/10,000 hands (100%), 133/s, took 1m15s'
    """
    parts = [f"{done:,} {unit}" if total is None else f"{done:,}/{total:,} {unit}"]
    if total:
        # rounded down, so that 100% means done
        parts[0] += f" ({100 * done // total}%)"
    rate = done / seconds if seconds > 0 else 0.0
    if rate > 0:
        parts.append(f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s")
    if total is None:
        parts.append(f"{format_seconds(seconds)} so far")
    elif done >= total:
        parts.append(f"took {format_seconds(seconds)}")
    elif rate > 0:
        parts.append(f"{format_seconds((total - done) / rate)} left")
    parts += [f"{name} {value}" for name, value in fields.items()]
    return ", ".join(parts)


def format_seconds(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> [format_seconds(s) for s in (0.4, 75, 3725, 200_000)]
    ['0s', '1m15s', '1h02m', '2d07h']
    """
    whole = round(seconds)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days}d{hour:02}h"
    if hours:
        return f"{hours}h{minute:02}m"
    return f"{minutes}m{second:02}s" if minutes else f"{second}s"
