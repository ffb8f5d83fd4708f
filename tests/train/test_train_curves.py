"""``python -m train.curves``, several data sets as one, and a training that begins with weights."""

from __future__ import annotations

import numpy as np
import pytest
from solved_leduc import write_data

from data_gen.storage import Dataset
from deepstack.run.errors import InputError
from deepstack.run.results import read_result
from train.curves import main as curves_main
from train.program import main

SMALL = ["net=mlp", "net.settings.hidden=8", "net.settings.layers=1", "net.batch=50", "threads=1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curves")
    write_data(folder / "data")
    return folder


@pytest.fixture(autouse=True)
def own_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_curves_train_each_once(capsys):
    words = ["stage=leduc_start", "data=data", "nets=[mlp]", "samples=[50,100]", "seen=200"]
    words += ["epochs=[1,2]", "validation=0.2", "result=curves.json"]
    assert curves_main(words) == 0
    found = read_result("curves.json").figures["mlp"]
    assert set(found["samples"]) == {"50", "100"}
    assert found["microseconds"] > 0
    assert 0 < found["samples"]["100"]["validation_huber"] < 1
    capsys.readouterr()
    assert curves_main(words) == 0
    assert "train leduc_start" not in capsys.readouterr().out
    assert read_result("curves.json").figures["mlp"]["samples"] == found["samples"]


def test_an_unknown_network_is_refused(capsys):
    assert curves_main(["stage=leduc_start", "data=data", "nets=[lstm]"]) == 2
    assert "net 'lstm': expected one of" in capsys.readouterr().err


def test_several_data_sets_are_read_as_one(folder):
    one, two = Dataset(folder / "data"), Dataset(folder / "data", folder / "data")
    assert len(two) == 2 * len(one)
    np.testing.assert_array_equal(two.columns("pot"), np.tile(one.columns("pot"), 2))
    assert two.manifest.hash != one.manifest.hash


def test_data_sets_of_two_stages_are_not_joined(folder, tmp_path):
    write_data(tmp_path / "other", stage="river_start")
    with pytest.raises(InputError, match="data sets of stage 'leduc_start' and 'river_start'"):
        Dataset(folder / "data", tmp_path / "other")


def test_a_training_may_begin_with_the_weights_of_a_network(capsys):
    words = ["stage=leduc_start", "validation=0.2", "least_steps=2", *SMALL]
    assert main([*words, "data=data", "epochs=60", "out=first"]) == 0
    again = ["data=data+data", "epochs=1", "out=second", "start=first/leduc_start"]
    assert main([*words, *again, "net.learning_rate=1e-9"]) == 0
    first, second = (read_result(f"{name}/result.json").figures for name in ("first", "second"))
    assert second["samples"] > 1.9 * first["samples"]
    assert first["validation_huber"] < 0.05
    assert second["validation_huber"] == pytest.approx(first["validation_huber"], rel=0.2)
    assert main([*words, *again, "net.settings.hidden=9"]) == 2
    assert "settings {'hidden': 8, 'layers': 1}, expected" in capsys.readouterr().err
