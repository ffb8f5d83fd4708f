"""Result files: what is written, what is refused, what is read back."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from deepstack.run.errors import InputError
from deepstack.run.results import (
    package_versions,
    read_result,
    to_plain,
    working_commit,
    write_result,
)

RUN = {
    "command": "match",
    "config": {"agents": ["call", "random"], "hands": 10},
    "seed": 7,
    "seconds": 1.5,
    "figures": {"hands": 10},
}
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_result_has_the_promised_keys_and_is_read_back(tmp_path):
    path = tmp_path / "result.json"
    written = write_result(path, **RUN)
    content = json.loads(path.read_text())
    assert list(content) == ["command", "config", "seed", "versions", "seconds", "figures"]
    assert {key: content[key] for key in RUN} == RUN
    assert read_result(path) == written


def test_versions_name_what_figures_depend_on():
    versions = package_versions()
    assert {"deepstack", "python", "numpy", "numba"} <= set(versions)
    assert versions["numpy"] == np.__version__
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))


@pytest.fixture
def working_copy(tmp_path):
    """A folder with one commit, apart from the configuration of whoever runs the tests."""

    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git("init", "--quiet")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "-m", "one")
    return tmp_path, git("rev-parse", "HEAD")


def test_a_working_copy_names_its_commit(working_copy):
    folder, commit = working_copy
    assert working_commit(folder) == commit[:12]
    (folder / "file").write_text("two")
    assert working_commit(folder) == f"{commit[:12]}-dirty"


def test_a_folder_inside_another_project_has_no_commit_of_its_own(working_copy):
    folder, _ = working_copy
    (folder / "site-packages").mkdir()
    assert working_commit(folder / "site-packages") is None


def test_without_git_there_is_no_commit(working_copy, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert working_commit(working_copy[0]) is None


def test_versions_are_found_without_importing_torch_or_numba():
    code = (
        "import sys; from deepstack.run.results import package_versions; package_versions();"
        "print([m for m in ('torch', 'numba') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(2.5), 2.5),
        ((1, "a", None), [1, "a", None]),
        (Path("a/b"), str(Path("a/b"))),
        (OmegaConf.create({"a": [1, {"b": "${c}"}], "c": 2}), {"a": [1, {"b": 2}], "c": 2}),
    ],
)
def test_values_become_plain(value, plain):
    result = to_plain(value)
    assert result == plain
    assert type(result) is type(plain)
    json.dumps(result)


@pytest.mark.parametrize(
    ("figures", "where"),
    [
        ({"a": {"ci95": float("nan")}}, r"figures\.a\.ci95 is nan"),
        ({"a": [1.0, float("-inf")]}, r"figures\.a\[1\] is -inf"),
        ({"a": np.float32("inf")}, r"figures\.a is inf"),
        ({"a": np.array([0.0, np.nan])}, r"figures\.a\[1\] is nan"),
    ],
)
def test_figures_that_are_not_finite_are_refused_by_name(tmp_path, figures, where):
    with pytest.raises(ValueError, match=where):
        write_result(tmp_path / "result.json", **RUN | {"figures": figures})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1, 2}}, {"a": b"x"}, {"a": 1j}, {"a": object()}])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="expected"):
        to_plain(value)


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"result '.*result\.json': expected a file that can be"):
        write_result(tmp_path / "file" / "result.json", **RUN)


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "result.json"
    write_result(path, **RUN)
    whole = path.read_bytes().rstrip()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match="expected a whole JSON file"):
            read_result(path)


@pytest.mark.parametrize("key", ["command", "config", "seed", "versions", "seconds", "figures"])
def test_a_missing_or_foreign_key_is_named(tmp_path, key):
    path = tmp_path / "result.json"
    write_result(path, **RUN)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {key: [True]}))
    with pytest.raises(InputError, match=f"'{key}' is a list, expected"):
        read_result(path)
    del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"expected the key '{key}'"):
        read_result(path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff\xfe", b'{"seconds": NaN}', b"[" * 100_000, b"9" * 5000]
)
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected"):
        read_result(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.json': expected a readable file"):
        read_result(tmp_path / "none.json")
    with pytest.raises(InputError, match="expected a readable file"):
        read_result(tmp_path)


@given(json_values)
def test_plain_values_stay_as_they_are(value):
    assert to_plain(value) == value
