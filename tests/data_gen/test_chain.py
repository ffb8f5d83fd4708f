"""The whole chain with one command: all six stages, resumable, as the programs alone would."""

import pytest
from omegaconf import OmegaConf

from data_gen.chain import CHAIN, main, make_chain, network_file, read_config, read_links
from data_gen.program import choices, compose
from data_gen.storage import Dataset
from deepstack.run.errors import InputError
from deepstack.values.checkpoint import load_network, read_card
from train.program import compose as compose_training


@pytest.mark.parametrize("budget", choices("chain"))
def test_every_budget_is_one_that_the_programs_understand(budget):
    for link in read_links(read_config([f"budget={budget}"])):
        generate = [f"{key}={value}" for key, value in link.generate.items()]
        compose([f"stage={link.stage}", f"samples={link.samples}", *generate])
        train = [f"{key}={value}" for key, value in link.train.items()]
        compose_training([f"stage={link.stage}", "data=nowhere", *train])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["budget=huge"], "budget 'huge': expected one of default, paper, small"),
        (["promot=true"], "setting 'promot' is unknown: did you mean promote?"),
        (["stages.moon.samples=3"], "setting 'stages.moon.samples' is unknown"),
        (["executor=cloud"], "executor 'cloud': expected one of local"),
    ],
)
def test_what_is_wrong_with_a_chain_is_said_in_one_line(tmp_path, capsys, words, message):
    assert main([*words, f"out={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_help_of_the_chain_shows_the_settings(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "budget=default|paper|small" in shown
    assert "preflop_end" in shown


def test_stages_must_be_those_of_the_chain():
    config = read_config([])
    del config.stages.turn_end
    with pytest.raises(InputError, match="expected river_start, turn_end"):
        read_links(config)


def tiny(out):
    """The small budget, tinier, in this process."""
    config = read_config(["budget=small", f"out={out}", "executor=local"])
    plain = OmegaConf.to_container(config)
    for stage, link in plain["stages"].items():
        solved = stage.endswith("_start")
        link["samples"] = 12 if solved else 24
        link["generate"] = {"stage.shard": 8}
        if solved:
            link["generate"] |= {"stage.target": [[0, 0.5]], "stage.iterations": 10}
        if stage in ("turn_start", "flop_start"):
            link["generate"] |= {"stage.least": 5, "stage.batch": 4}
        if not solved:
            link["generate"]["stage.per_board"] = 1
        if stage == "preflop_end":
            link["generate"]["stage.deals"] = 8
        del link["train"]["minutes"]
        link["train"] |= {"validation": 0.4, "least_steps": 5, "threads": 1, "epochs": 20}
    return OmegaConf.create(plain)


@pytest.mark.slow
def test_a_small_chain_makes_all_networks_and_does_nothing_twice(tmp_path, capsys):
    config = tiny(tmp_path)
    figures = make_chain(config)
    assert list(figures) == list(CHAIN)
    for stage in CHAIN:
        Dataset(tmp_path / "data" / stage).verify()
        assert figures[stage]["network"]["validation_huber"] >= 0
        network = load_network(network_file(tmp_path, stage))
        assert network.stage == stage
    # every data set belongs to the network before it
    for stage, before in zip(CHAIN[1:], CHAIN, strict=False):
        made_with = Dataset(tmp_path / "data" / stage).manifest.config["network_sha256"]
        assert made_with == read_card(network_file(tmp_path, before)).sha256
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    capsys.readouterr()
    again = make_chain(config)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")} == stamps
    assert capsys.readouterr().out.count("is there") == len(CHAIN)
    assert again["turn_end"]["network"] == figures["turn_end"]["network"]
    # a network that is missing is trained again, and only that
    network_file(tmp_path, "preflop_end").with_suffix(".json").unlink()
    make_chain(config)
    assert capsys.readouterr().out.count("is there") == len(CHAIN) - 1
    assert load_network(network_file(tmp_path, "preflop_end")).stage == "preflop_end"
