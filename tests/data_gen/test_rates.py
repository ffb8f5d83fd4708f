"""``python -m data_gen.rates`` on a small stage."""

from data_gen.rates import main
from deepstack.run.results import read_result

LEDUC = "stages={leduc_start: {shard: 10, target: [[0, 0.05]]}}"


def test_rates_and_shares_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("data_gen.rates.PROFILED", 0.2)
    result = tmp_path / "rates.json"
    assert main([LEDUC, "seconds=0.01", "workers=1", f"result={result}"]) == 0
    found = read_result(result).figures["leduc_start"]
    assert found["samples"] == 10
    assert found["samples_per_second"] > 0
    assert found["exploitability_pot"]["mean"] <= 0.05
    assert 0 < found["shares"]["iterations"] < 1


def test_an_unknown_setting_is_refused(tmp_path, capsys):
    assert main(["stages={leduc_start: {colour: 3}}", f"result={tmp_path / 'r.json'}"]) == 2
    assert "stages.leduc_start.colour: expected" in capsys.readouterr().err
