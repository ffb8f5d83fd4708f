"""How fast stages are made, and where the time goes."""

import pytest
from omegaconf import OmegaConf

from data_gen.rates import main, measure
from deepstack.run.errors import InputError


def test_rates_and_shares_are_measured(monkeypatch):
    monkeypatch.setattr("data_gen.rates.PROFILED", 0.2)
    config = OmegaConf.create({"seconds": 0.01, "workers": 1, "seed": 1})
    found = measure("leduc_start", {"shard": 10, "target": [[0, 0.05]]}, config)
    assert found["samples"] == 10
    assert found["samples_per_second"] > 0
    assert found["exploitability_pot"]["mean"] <= 0.05
    assert 0 < found["shares"]["iterations"] < 1


def test_an_unknown_setting_is_refused():
    config = OmegaConf.create({"seconds": 0.01, "workers": 1, "seed": 1})
    with pytest.raises(InputError, match=r"stages\.leduc_start\.colour: expected"):
        measure("leduc_start", {"colour": 3}, config)


def test_an_unknown_stage_is_refused(capsys):
    assert main(["stages={river: {}}"]) == 2
    assert "river" in capsys.readouterr().err
