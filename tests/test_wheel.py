"""What an installed package holds: code, configuration and games."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_the_wheel_holds_configuration_and_games(tmp_path):
    # needs the network: pip makes a build environment of its own
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*command, str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("deepstack-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = ("deepstack", "conf", "data_gen", "train")
    wanted = {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".game") or path.name == "py.typed"
    }
    assert wanted <= names
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)
