"""Progress: plain lines away from a terminal, a bar on one, silence when quiet."""

import io
import subprocess
import sys

import pytest

from deepstack.run.progress import format_seconds, format_status, track


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_away_from_a_terminal_each_update_may_be_a_line():
    stream = io.StringIO()
    with track(4, "match", "hands", stream=stream, every=0) as progress:
        progress.update(1)
        progress.update(2, mbb="-250 ± 30")
        progress.update(1)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("match: 1/4 hands (25%)")
    assert "left" in lines[1]
    assert lines[1].endswith("mbb -250 ± 30")
    assert lines[3].startswith("match: 4/4 hands (100%)")
    assert lines[3].endswith("mbb -250 ± 30")
    assert "\x1b" not in stream.getvalue()


def test_short_work_gives_one_line_at_the_end():
    stream = io.StringIO()
    with track(1000, "match", "hands", stream=stream) as progress:
        for _ in range(1000):
            progress.update()
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("match: 1,000/1,000 hands (100%)")
    assert "took 0s" in line


def test_an_interrupted_work_says_how_far_it_came():
    def work(stream):
        with track(10, "match", "hands", stream=stream) as progress:
            progress.update(3)
            raise KeyboardInterrupt

    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        work(stream)
    assert stream.getvalue().startswith("match: 3/10 hands (30%)")


def test_an_open_end_shows_the_count_and_the_time():
    stream = io.StringIO()
    with track(None, "solve", "iterations", stream=stream) as progress:
        progress.update(12)
    assert stream.getvalue().startswith("solve: 12 iterations, ")
    assert stream.getvalue().endswith("0s so far\n")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_means_silent(stream):
    with track(4, "match", "hands", quiet=True, stream=stream, every=0) as progress:
        progress.update(4)
    assert stream.getvalue() == ""
    assert progress.done == 4


def test_lines_go_to_the_standard_error_stream(capsys):
    with track(1, "match", "hands") as progress:
        progress.update()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("match: 1/1 hands")


def test_a_terminal_gets_a_live_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()
    with track(4, "[a] match", "hands", stream=stream, every=0) as progress:
        progress.update(4, mbb="-250 ± [30]")
    shown = stream.getvalue()
    assert "\x1b[" in shown
    # square brackets are text here and not rich's markup
    assert "[a] match" in shown
    assert "4/4 hands (100%)" in shown
    assert "mbb -250 ± [30]" in shown


def test_a_bar_is_taken_down_when_the_work_fails(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with pytest.raises(ZeroDivisionError), track(4, "match", "hands", stream=stream):
        raise ZeroDivisionError
    # the cursor was hidden and is shown again
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l") >= 0


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [
        (0, 10, 0.0, "0/10 hands (0%)"),
        (0, 0, 1.0, "0/0 hands, took 1s"),
        (999, 1000, 10.0, "999/1,000 hands (99%), 99.9/s, 0s left"),
        (1, 1000, 100.0, "1/1,000 hands (0%), 0.01/s, 1d03h left"),
        (12, 10, 4.0, "12/10 hands (120%), 3/s, took 4s"),
        (2_500_000, None, 1.0, "2,500,000 hands, 2,500,000/s, 1s so far"),
    ],
)
def test_the_state_in_words(done, total, seconds, text):
    assert format_status(done, total, "hands", seconds, {}) == text


def test_lengths_of_time_carry_over():
    assert format_seconds(59.6) == "1m00s"
    assert format_seconds(3599.9) == "1h00m"


def test_importing_progress_imports_nothing_heavy():
    code = (
        "import sys, deepstack.run.progress, deepstack.run.executors;"
        "print([m for m in ('rich', 'numpy', 'numba', 'torch', 'ray') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
