"""``python -m train`` and ``python -m train.promote`` on a small data set, as typed."""

from __future__ import annotations

import json
import shlex

import pytest
import torch
from solved_leduc import write_data

from deepstack.run.results import read_result
from deepstack.values.checkpoint import load_network, read_card
from train.module import Plan
from train.program import main
from train.promote import main as promote_main
from train.promote import promote

SMALL = "net=mlp net.settings.hidden=24 net.settings.layers=1 net.batch=50 least_steps=5 threads=1"
FIGURES = ("validation_huber", "validation_mae", "validation_weighted_mae", "samples", "epochs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    write_data(folder / "data")
    return folder


@pytest.fixture(autouse=True)
def own_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(line):
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "train"]
    return main(words[3:])


@pytest.fixture(scope="module")
def trained(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        line = f"python -m train stage=leduc_start data=data epochs=60 validation=0.2 {SMALL}"
        assert run(line) == 0
    return folder / "runs" / "train" / "leduc_start"


def test_training_learns_and_writes_its_figures(trained):
    result = read_result(trained / "result.json")
    assert set(FIGURES) <= set(result.figures)
    assert result.figures["epochs"] == pytest.approx(60, abs=5)
    # predicting zero has an error of about 0.2
    assert result.figures["validation_mae"] < 0.05


def test_the_network_loads_with_the_figures_on_its_card(trained):
    card = read_card(trained / "leduc_start")
    assert load_network(trained / "leduc_start").architecture == "mlp"
    figures = read_result(trained / "result.json").figures
    assert card.origin is not None
    assert card.origin.figures == {name: figures[name] for name in FIGURES[:3]}
    assert card.origin.samples == figures["samples"]
    assert (
        card.origin.data
        == json.loads((trained.parents[2] / "data/manifest.json").read_text())["hash"]
    )


def test_logs_for_tensorboard_are_written(trained):
    assert list((trained / "tensorboard").glob("events*"))


def test_a_promoted_checkpoint_is_the_trained_network(trained, tmp_path):
    card = promote(trained / "checkpoints" / "best.ckpt", folder=tmp_path)
    assert card.sha256 == read_card(trained / "leduc_start").sha256
    other = promote(trained, name="leduc_other", folder=tmp_path)
    assert (tmp_path / "leduc_other.safetensors").exists()
    assert other.sha256 == card.sha256


def test_what_cannot_be_promoted_is_refused(tmp_path, capsys):
    torch.save({"state_dict": {}}, tmp_path / "other.ckpt")
    assert promote_main([str(tmp_path / "other.ckpt")]) == 2
    assert "expected one that python -m train wrote" in capsys.readouterr().err
    assert promote_main([str(tmp_path)]) == 2
    assert "0 networks, expected one" in capsys.readouterr().err
    assert promote_main(["a", "b"]) == 2
    assert "expected CHECKPOINT [name=STAGE]" in capsys.readouterr().err


def test_a_stopped_training_goes_on(trained, folder):
    first = read_result(trained / "result.json").figures["epochs"]
    line = f"python -m train stage=leduc_start data=data epochs=80 validation=0.2 {SMALL}"
    assert run(f"{line} resume=true") == 0
    again = read_result(trained / "result.json").figures
    assert again["epochs"] == pytest.approx(80, abs=5)
    assert again["epochs"] > first


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ("stage=river_start", "made for leduc_start, expected river_start"),
        ("stage=river", "stage 'river': expected one of river_start"),
        ("stage=leduc_start net=cnn", "net 'cnn': expected one of mlp"),
        ("stage=leduc_start epochs=0", "epochs=0: expected a positive number"),
        ("stage=leduc_start schedule=linear", "schedule 'linear': expected cosine or published"),
        ("stage=leduc_start resume=true out=new", "resume=true: expected the checkpoint"),
        ("stage=leduc_start data=nowhere", "expected a folder with manifest.json"),
        ("stage=leduc_start epoch=3", "did you mean epochs?"),
    ],
)
def test_mistakes_are_answered_in_one_line(changes, reason, capsys):
    line = f"python -m train data=data {SMALL} {changes}"
    assert run(line) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1


def test_an_altered_shard_is_named_and_not_trained_on(tmp_path, capsys):
    data = write_data(tmp_path / "data")
    shard = data / "shard-000001.safetensors"
    content = bytearray(shard.read_bytes())
    content[-3] ^= 1
    shard.write_bytes(bytes(content))
    assert run(f"python -m train stage=leduc_start data={data} {SMALL}") == 2
    assert "shard-000001.safetensors: altered" in capsys.readouterr().err


def test_the_cosine_schedule_warms_up_and_ends_at_zero():
    plan = Plan(rate=1.0, decay=0.0, epochs=10)
    assert plan.factor(0.0, 0) < 0.01
    assert plan.factor(0.5, 1000) == pytest.approx(0.5)
    assert plan.factor(1.0, 2000) == pytest.approx(0.0)


def test_the_published_schedule_falls_to_a_tenth_after_200_of_350_epochs():
    plan = Plan(rate=1.0, decay=0.0, schedule="published", epochs=350)
    assert plan.factor(199 / 350, 5) == 1.0
    assert plan.factor(201 / 350, 5) == pytest.approx(0.1)
