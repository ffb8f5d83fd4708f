"""What a person types becomes configuration."""

import pytest

from deepstack.app.config import load_config, quote
from deepstack.run.errors import InputError


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("game=leduc", "leduc"),
        ("game=some/path to/x.game", "some/path to/x.game"),
        ("game=50%, 100%, a", "50%, 100%, a"),
        ("game=AA,KQs", "AA,KQs"),
        ("game=it's", "it's"),
        ("game=a\\", "a\\"),
        ("game='quoted, already'", "quoted, already"),
        ("game=MATCHSTATE:0:0:cc/:AsKs|/Td9d6h", "MATCHSTATE:0:0:cc/:AsKs|/Td9d6h"),
    ],
)
def test_a_value_arrives_as_typed(typed, value):
    assert load_config("size", [typed]).game == value


def test_lists_and_numbers_keep_their_form():
    config = load_config("match", ["agents=[call,{agent: raise, size: min}]", "hands=10"])
    assert list(config.agents) == ["call", {"agent": "raise", "size": "min"}]
    assert config.hands == 10


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("hnds=10", "setting 'hnds' is unknown: did you mean hands?"),
        ("xyzzy=1", "setting 'xyzzy' is unknown: expected game, agents"),
        ("hands", "argument 'hands': expected key=value"),
        ("=3", "argument '=3': expected key=value"),
        ("agents=[call", "agents=[call: expected a list such as [a,b]"),
        ("hands=many", "hands=many: expected a whole number"),
        ("hands=true", "hands=True: expected a whole number"),
        ("duplicate=2", "duplicate=2: expected true or false"),
    ],
)
def test_a_wrong_setting_is_one_clear_error(typed, message):
    with pytest.raises(InputError) as caught:
        load_config("match", [typed])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_quoting_leaves_plain_values_alone():
    assert quote("a=b/c.game") == "a=b/c.game"
    assert quote("a=1e-3") == "a=1e-3"
