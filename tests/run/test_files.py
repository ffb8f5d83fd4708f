"""Files are whole or not there."""

import os
import stat

import numpy as np
import pytest

from deepstack.run import files
from deepstack.run.files import replacing, write_atomically


class Interrupted(BaseException):
    """Stands for KeyboardInterrupt and the like, which `except Exception` lets through."""


def write_half(path, error):
    with replacing(path) as aside:
        aside.write_text("half of the n")
        raise error


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize(("data", "content"), [("±1\n", "±1\n".encode()), (b"\0\xff", b"\0\xff")])
def test_text_and_bytes_are_written_whole(tmp_path, data, content):
    path = tmp_path / "a.txt"
    write_atomically(path, data)
    assert path.read_bytes() == content
    assert names(tmp_path) == ["a.txt"]


def test_an_old_file_is_replaced(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old, and longer than the new")
    write_atomically(str(path), "new")
    assert path.read_text() == "new"


def test_missing_folders_are_made(tmp_path):
    write_atomically(tmp_path / "x" / "y" / "a.txt", "new")
    assert (tmp_path / "x" / "y" / "a.txt").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, Interrupted])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_failing_rename_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk on fire")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OSError, match="disk on fire"):
        write_atomically(tmp_path / "a.txt", "new")
    assert names(tmp_path) == []


def test_a_body_that_writes_nothing_is_an_error_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert path.read_text() == "old"


def test_the_final_name_is_untouched_until_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as aside:
        assert aside.parent == path.parent
        aside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_the_suffix_stays_for_writers_that_insist_on_theirs(tmp_path):
    with replacing(tmp_path / "a.npz") as aside:
        np.savez(aside, x=np.arange(3))
    assert names(tmp_path) == ["a.npz"]
    assert np.load(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_folder_is_not_overwritten(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(path, "new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)
