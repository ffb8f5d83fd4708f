"""Executors: the same results in the same order wherever the tasks run."""

import importlib.util
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from deepstack.run.errors import InputError
from deepstack.run.executors import InProcess, OnRay, Processes, make_executor

# Tasks stand at the top of the module so that spawned workers can import them.

LONG = 60.0
"""Seconds of a task that nobody waits for; a test that does fails by QUICK."""
QUICK = 20.0
"""Seconds within which stopping counts as prompt, with room for a busy machine."""


def square_later(seed):
    # earlier seeds take longer, so that results are ready out of order
    time.sleep(0.02 * (3 - seed % 4))
    return seed * seed


def where(seed):
    return os.getpid()


def power(exponent, seed):
    return seed**exponent


def fail_at_three(seed):
    if seed == 3:
        raise InputError("three: expected anything else")
    if seed > 3:
        time.sleep(LONG)
    return seed


def die_at_two(seed):
    if seed == 2:
        os._exit(9)
    return seed


def long_after_zero(seed):
    if seed:
        time.sleep(LONG)
    return seed


def write_pid_and_wait(folder, seed):
    (folder / str(os.getpid())).touch()
    time.sleep(LONG)


EXECUTORS = [InProcess(), Processes(2)]


@pytest.fixture
def promptly():
    """Fails a test that has waited for a long task, and one that leaves workers behind."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < QUICK
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_results_come_in_the_order_of_the_seeds(executor, promptly):
    assert list(executor.map(square_later, range(12))) == [seed**2 for seed in range(12)]


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_a_partial_function_is_a_task(executor, promptly):
    assert list(executor.map(partial(power, 3), [2, 3])) == [8, 27]


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_no_seeds_give_no_results(executor, promptly):
    assert list(executor.map(square_later, [])) == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_a_failure_comes_back_as_it_was_with_its_seed(executor, promptly):
    results = executor.map(fail_at_three, range(100))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="three: expected") as caught:
        next(results)
    assert caught.value.__notes__ == ["in the task with seed 3"]
    assert list(results) == []


@pytest.mark.parametrize(("executor", "most"), [(InProcess(), 1), (Processes(2), 4)], ids=repr)
def test_endless_seeds_are_taken_only_as_far_as_needed(executor, most, promptly):
    taken = itertools.count()
    results = executor.map(square_later, taken)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    results.close()
    assert next(taken) <= 2 + most


def test_in_process_runs_here_and_processes_elsewhere(promptly):
    assert set(InProcess().map(where, range(3))) == {os.getpid()}
    elsewhere = set(Processes(2).map(where, range(8)))
    assert os.getpid() not in elsewhere
    assert 1 <= len(elsewhere) <= 2


def test_giving_up_early_stops_the_tasks_that_run(promptly):
    results = Processes(2).map(long_after_zero, range(10))
    assert next(results) == 0
    results.close()


def test_an_interrupt_stops_the_tasks_that_run(promptly):
    # set, because a run in the background of a shell ignores interrupts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    results = Processes(2).map(long_after_zero, range(10))
    try:
        assert next(results) == 0
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            next(results)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_a_worker_that_dies_is_reported_with_the_seeds_under_way(promptly):
    with pytest.raises(RuntimeError) as caught:
        list(Processes(2).map(die_at_two, range(10)))
    (note,) = caught.value.__notes__
    assert note.startswith("a worker died")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_do_not_outlive_a_killed_program(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from functools import partial; from pathlib import Path\n"
        "from deepstack.run.executors import Processes\n"
        "from test_executors import write_pid_and_wait\n"
        "list(Processes(2).map(partial(write_pid_and_wait, Path(sys.argv[2])), range(4)))\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code, os.path.dirname(__file__), str(tmp_path)],
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + QUICK
    try:
        while len(list(tmp_path.iterdir())) < 2:
            assert time.monotonic() < deadline, "the workers did not start"
            time.sleep(0.05)
    finally:
        program.kill()
        program.wait()
    while any(is_running(pid.name) for pid in tmp_path.iterdir()):
        assert time.monotonic() < deadline, "a worker is left behind"
        time.sleep(0.05)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            state = file.read().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_executors_are_made_by_name():
    assert make_executor("in_process", None) == InProcess()
    assert make_executor("in_process", 1) == InProcess()
    assert make_executor("processes", 3) == Processes(3)
    default = make_executor("processes", None)
    assert isinstance(default, Processes)
    assert default.workers >= 1


@pytest.mark.parametrize(
    ("name", "workers", "complaint"),
    [
        ("threads", None, "executor 'threads': expected in_process, processes or ray"),
        ("processes", 0, "workers 0: expected at least 1"),
        ("in_process", 4, "workers 4: expected 1 in process"),
    ],
)
def test_unknown_executors_and_bad_numbers_are_refused(name, workers, complaint):
    with pytest.raises(InputError, match=complaint):
        make_executor(name, workers)


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_error_says_how_to_install_it():
    with pytest.raises(InputError, match=r"pip install 'deepstack\[ray\]'"):
        make_executor("ray", None)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_gives_the_same_results_and_failures():
    executor = OnRay(2)
    assert list(executor.map(partial(power, 2), range(12))) == [seed**2 for seed in range(12)]
    with pytest.raises(InputError) as caught:
        list(executor.map(fail_at_three, range(100)))
    assert "in the task with seed 3" in caught.value.__notes__
