"""``python -m data_gen`` as it is typed."""

import pytest

from data_gen.program import main
from data_gen.storage import Dataset
from deepstack.run.results import read_result

QUICK = ["stage=leduc_start", "seed=5", "stage.shard=20", "stage.target=[[0,0.01]]", "trial=0.05"]


def test_it_says_what_to_expect_and_what_was_made(tmp_path, capsys):
    assert main([*QUICK, "samples=50", f"out={tmp_path}", "executor=local"]) == 0
    out = capsys.readouterr().out
    for text in ("50 samples", "3 shards", "at most 1% of the pot", "time      about", "a second"):
        assert text in out
    assert len(Dataset(tmp_path)) == 50


def test_the_result_file_has_the_figures(tmp_path):
    main([*QUICK, "samples=40", f"out={tmp_path}"])
    result = read_result(tmp_path / "result.json")
    figures = result.figures
    assert figures["samples_per_second"] > 0
    assert (
        0 <= figures["exploitability_pot"]["mean"] <= figures["exploitability_pot"]["p95"] <= 0.01
    )
    sizes = [path.stat().st_size for path in tmp_path.glob("shard-*")]
    assert figures["bytes"] == sum(sizes)
    assert result.seed == 5
    assert result.config["stage"]["shard"] == 20


def test_a_second_run_continues(tmp_path, capsys):
    main([*QUICK, "samples=20", f"out={tmp_path}"])
    assert main([*QUICK, "samples=60", f"out={tmp_path}"]) == 0
    assert "60 samples, 20 are there" in capsys.readouterr().out
    assert main([*QUICK, "samples=60", f"out={tmp_path}"]) == 0
    assert "nothing was missing" in capsys.readouterr().out
    assert read_result(tmp_path / "result.json").figures["samples_per_second"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["stage=moon", "samples=5"],
            "stage 'moon': expected one of flop_end, flop_start, leduc_start",
        ),
        (["executor=cloud", "samples=5"], "executor 'cloud': expected one of local"),
        ([], "samples is not given"),
        (["samples=many"], "samples=many: expected a whole number"),
        (["samples=0"], "samples=0: expected at least 1"),
        (["samples=5", "seed=-1"], "seed=-1: expected at least 0"),
        (["samples=5", "workers=two"], "workers=two: expected a whole number"),
        (["samples=5", "workers=0", "executor=processes"], "workers 0: expected at least 1"),
        (["sample=5"], "setting 'sample' is unknown: did you mean samples?"),
        (["samples=5", "stage.pots=[[5,3]]"], "pots=[5, 3]: expected"),
        (["samples=5", "stage.ranges.random=0"], "expected weights of range families"),
        (
            ["stage=turn_end", "samples=5", "stage.network=no/net"],
            "network card no/net.json: cannot",
        ),
        (["stage=turn_end", "samples=5", "stage.per_board=two"], "stage.per_board=two: expected a"),
        (["stage=turn_end", "samples=5", "stage.least=2"], "setting 'stage.least' is unknown"),
        (["samples=5", "stage.ranges.wild=1"], "setting 'stage.ranges.wild' is unknown"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys, words, message):
    assert main([*words, f"out={tmp_path / 'data'}"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_help_shows_the_settings(capsys):
    assert main(["--help"]) == 0
    assert "samples" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["processes", "ray"])
def test_river_data_are_the_same_wherever_they_are_made(tmp_path, executor, request):
    if executor == "ray":
        request.addfinalizer(pytest.importorskip("ray").shutdown)
    words = ["stage=river_start", "samples=24", "stage.shard=8", "stage.iterations=50", "trial=0"]
    main([*words, f"out={tmp_path / 'here'}", "executor=local"])
    assert main([*words, f"out={tmp_path / 'there'}", f"executor={executor}", "workers=2"]) == 0
    here, there = (Dataset(tmp_path / name).manifest.shards for name in ("here", "there"))
    assert here == there
