"""When a solve stops, and how often its exploitability is measured on the way.

A check costs about one iteration, so checks are spaced by the iterations already done. Time is
counted twice: ``seconds`` of a solve are those of its iterations alone, without checks, so that
they compare between programs; a limit of time counts what a person waits for, checks included.
Building the tree and compiling kernels come before, and belong to neither.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

from deepstack.run.errors import InputError

PIECE = 0.5  # seconds between chances to be interrupted, where iterations are fast enough
LEAST = 8  # iterations in a piece, since every call costs a part of one


class Check(NamedTuple):
    """A measurement: after so many iterations and seconds, exploitability in chips."""

    iterations: int
    exploitability: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Whichever comes first: so many more iterations, this exploitability, so many seconds.

    ``target`` is in chips of the game; at least one of the three is given.
    """

    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        count = self.iterations
        if count is not None and (not _is_whole(count) or count < 0):
            raise InputError(f"iterations={count}: expected a whole number of at least 0")
        if self.seconds is not None and not _is_positive(self.seconds):
            raise InputError(f"seconds={self.seconds}: expected a positive number")
        if self.iterations is None and self.target is None and self.seconds is None:
            raise InputError("nothing says when to stop: expected iterations, target or seconds")


def parse_target(target: float | str | None, pot: float) -> float | None:
    """An exploitability in the unit of ``pot``, from a number or a share of the pot.

    >>> parse_target("0.5%", pot=200), parse_target(0.01, pot=2)
    (1.0, 0.01)
    """
    if target is None:
        return None
    expected = "expected a positive number of chips, or a share of the pot such as 0.5%"
    share = isinstance(target, str) and target.strip().endswith("%")
    try:
        number = float(str(target).strip().removesuffix("%"))
    except ValueError:
        raise InputError(f"target={target}: {expected}") from None
    if isinstance(target, bool) or not _is_positive(number):
        raise InputError(f"target={target}: {expected}")
    return number / 100 * pot if share else number


def next_check(iterations: int, with_target: bool) -> int:
    """After how many iterations exploitability is measured next.

    With a target, every ten iterations and later every tenth part of them; without one there is
    only a curve to draw.

    >>> [next_check(n, True) for n in (0, 10, 200)], [next_check(n, False) for n in (0, 1, 2, 10)]
    ([10, 20, 220], [1, 2, 3, 15])
    """
    step = max(10, iterations // 10) if with_target else max(1, iterations // 2)
    return iterations + step


def run_until(
    stop: Stop,
    run: Callable[[int], None],
    measure: Callable[[], float],
    *,
    done: int,
    seconds: float,
    on_check: Callable[[Check], None],
    on_run: Callable[[int], None] = lambda count: None,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Alternate iterations and checks until ``stop`` says enough; the last thing is a check.

    Args:
        run: go on for a number of iterations.
        measure: exploitability now, in chips.
        done, seconds: what was done before.
        on_check: told about every measurement.
        on_run: told about iterations as they are done.
        enough: asked now and then whether to stop for another reason.
    """
    last = math.inf if stop.iterations is None else done + stop.iterations
    before, spent, count = done, 0.0, 0
    started = time.perf_counter()

    def left() -> float:
        if enough():
            return 0.0
        waited = time.perf_counter() - started
        return math.inf if stop.seconds is None else stop.seconds - waited

    while True:
        if done > before or stop.iterations == 0 or (done > 0 and stop.target is not None):
            found = measure()
            on_check(Check(done, found, seconds + spent))
            if stop.target is not None and found <= stop.target:
                return
        if done >= last or left() <= 0:
            return
        goal = min(next_check(done, stop.target is not None), last)
        while done < goal and (done == before or left() > 0):
            piece = _piece(goal - done, spent / count if count else None, left())
            tick = time.perf_counter()
            run(piece)
            spent += time.perf_counter() - tick
            count += piece
            done += piece
            on_run(piece)


def _piece(wanted: float, each: float | None, left: float) -> int:
    """How many iterations to do in one call, of ``wanted`` that take ``each`` seconds, if known."""
    if each is None or each <= 0:
        return int(min(wanted, 2 * LEAST if left == math.inf else 1))
    fitting = max(int(PIECE / each), LEAST)
    # rather one long piece than a long one and a short one
    piece = wanted if wanted < 2 * fitting else fitting
    return int(min(piece, max(left / each, 1)))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_positive(value: object) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return bool(number and math.isfinite(value) and value > 0)  # type: ignore
