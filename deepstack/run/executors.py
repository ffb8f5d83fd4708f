"""Where tasks run: in this process, in several processes, or on Ray.

A program that repeats a task over seeds asks an executor for the results and does not care where
they are made. Results come in the order of the seeds and one by one, so a figure is the same under
every executor and can be shown while it grows; only a bounded number of tasks is under way at once,
so seeds may be an endless iterator.

A task is a function of one seed that can be pickled: defined at the top of a module, or a
``functools.partial`` of such a function. Its exception comes back as it was, with a note that names
the seed; the tasks after it are given up.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeVar

from deepstack.run.errors import InputError

Seed = TypeVar("Seed")
Outcome = TypeVar("Outcome")

UNDER_WAY = 2
"""Tasks under way for each worker: one running, one waiting so that no worker stands idle."""


class Executor(Protocol):
    """Runs a task for every seed."""

    def map(self, task: Callable[[Seed], Outcome], seeds: Iterable[Seed]) -> Iterator[Outcome]:
        """Results in the order of the seeds, each as soon as it and those before it are there."""
        ...


@dataclass(frozen=True, slots=True)
class InProcess:
    """One task after the other, here."""

    def map(self, task: Callable[[Seed], Outcome], seeds: Iterable[Seed]) -> Iterator[Outcome]:
        for seed in seeds:
            with _naming(seed):
                outcome = task(seed)
            yield outcome


@dataclass(frozen=True, slots=True)
class Processes:
    """Worker processes on this machine, started anew for every map.

    They are spawned and not forked, because the threads of numba and torch do not survive a fork.
    """

    workers: int

    def map(self, task: Callable[[Seed], Outcome], seeds: Iterable[Seed]) -> Iterator[Outcome]:
        context = multiprocessing.get_context("spawn")
        lifeline, held = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(self.workers, context, _start_worker, (lifeline,))
        try:
            yield from _in_order(
                lambda seed: pool.submit(task, seed),
                lambda future: future.result(),
                seeds,
                UNDER_WAY * self.workers,
            )
            pool.shutdown()
        finally:
            # After a failure, an interrupt or an early end this stops the tasks that still run.
            held.close()
            pool.shutdown(cancel_futures=True)
            lifeline.close()


@dataclass(frozen=True, slots=True)
class OnRay:
    """Ray: the cluster this process is connected to, else one on this machine."""

    workers: int | None = None

    def map(self, task: Callable[[Seed], Outcome], seeds: Iterable[Seed]) -> Iterator[Outcome]:
        ray = _import_ray()
        if not ray.is_initialized():
            ray.init(num_cpus=self.workers, log_to_driver=False)
        workers = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        run, shared = ray.remote(_call), ray.put(task)
        under_way: set[Any] = set()

        def submit(seed: Seed) -> Any:
            reference = run.remote(shared, seed)
            under_way.add(reference)
            return reference

        def collect(reference: Any) -> Outcome:
            outcome = ray.get(reference)
            under_way.discard(reference)
            return outcome

        try:
            yield from _in_order(submit, collect, seeds, UNDER_WAY * workers)
        finally:
            for reference in under_way:
                ray.cancel(reference, force=True)


def make_executor(name: str, workers: int | None = None) -> Executor:
    """The executor of a configuration: ``in_process``, ``processes`` or ``ray``.

    Without a number of workers, processes take the cores this process may use and Ray all it has.

    >>> make_executor("processes", 2)
    Processes(workers=2)
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers {workers}: expected at least 1")
    if name == "in_process":
        if workers is not None and workers > 1:
            raise InputError(f"workers {workers}: expected 1 in process; use executor processes")
        return InProcess()
    if name == "processes":
        return Processes(workers or _usable_cores())
    if name == "ray":
        _import_ray()
        return OnRay(workers)
    raise InputError(f"executor {name!r}: expected in_process, processes or ray")


def _in_order(
    submit: Callable[[Seed], Any],
    collect: Callable[[Any], Outcome],
    seeds: Iterable[Seed],
    limit: int,
) -> Iterator[Outcome]:
    """Collects what was submitted in order, with at most ``limit`` submitted and not collected."""
    waiting: deque[tuple[Seed, Any]] = deque()

    def first() -> Outcome:
        seed, ticket = waiting[0]
        with _naming(seed):
            outcome = collect(ticket)
        waiting.popleft()
        return outcome

    try:
        for seed in seeds:
            waiting.append((seed, submit(seed)))
            if len(waiting) == limit:
                yield first()
        while waiting:
            yield first()
    except BrokenExecutor as error:
        under_way = ", ".join(repr(seed) for seed, _ in waiting)
        error.add_note(f"a worker died, perhaps for want of memory; under way: seeds {under_way}")
        raise


@contextmanager
def _naming(seed: object) -> Iterator[None]:
    """Adds to an exception for which seed it was raised; its type and message stay."""
    try:
        yield
    except BrokenExecutor:
        # raised for every seed under way, whichever of them is to blame
        raise
    except Exception as error:
        error.add_note(f"in the task with seed {seed!r}")
        raise


def _start_worker(lifeline: Connection) -> None:
    """Lets a worker live as long as the other end of its lifeline is open.

    The end is closed by the process that started the worker, or by the system when that process
    dies, so a worker is never left behind, not even in the middle of a long task.
    """
    # Ctrl-C reaches every process of a terminal; the one that started the workers acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _call(task: Callable[[Seed], Outcome], seed: Seed) -> Outcome:
    return task(seed)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise InputError(
            "executor 'ray': expected Ray to be installed: pip install 'deepstack[ray]'"
        ) from error
    return ray


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
