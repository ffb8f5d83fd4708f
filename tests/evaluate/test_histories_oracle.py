"""Hand histories that pokerkit reads back and replays."""

import importlib.util
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepstack.agents.rules import Triple
from deepstack.evaluate import histories
from deepstack.evaluate.deals import deal
from deepstack.evaluate.histories import FILE, check_phh, write_phh
from deepstack.evaluate.match import play_hand
from deepstack.game.definition import Game, load_game
from deepstack.game.text import format_log_line, parse_log_line
from deepstack.run.errors import InputError

pokerkit = pytest.importorskip("pokerkit")

pytestmark = pytest.mark.oracle

HANDS = 50
NAMES = ["ann", "bob the 2nd", "o'cat"]


def random_log(game: Game, hands: int = HANDS, size: str = "uniform") -> list[str]:
    """A log of hands in which players fold a little, call a lot and raise often."""
    agents = [
        Triple(game, seat, fold=0.1, call=0.6, raise_=0.3, size=size)
        for seat in range(game.players)
    ]
    lines = []
    for hand in range(hands):
        final = play_hand(game, agents, deal(game, 1, hand, duplicate=False), hand)
        lines.append(format_log_line(hand, final, NAMES[: game.players]))
    return lines


def read_back(folder: Path, **settings: Any) -> list:
    with open(folder / FILE, "rb") as file:
        return list(pokerkit.HandHistory.load_all(file, **settings))


def replayed_payoffs(history: Any) -> list:
    *_, end = history
    assert not end.status
    return end.payoffs


def exact_divmod(amount: int, parts: int) -> tuple[Decimal, int]:
    """Leaves no odd chip; decimals, since that is what pokerkit makes of unlimited stacks."""
    return Decimal(amount) / parts, 0


@pytest.mark.parametrize(
    ("game", "size"),
    [
        (load_game("hunl"), "uniform"),
        (load_game("hunl"), "min"),
        (load_game("hunl"), "all-in"),
        (load_game("limit_holdem"), "uniform"),
        (load_game("limit_holdem_3p"), "uniform"),
        (replace(load_game("hunl"), name="unequal", stacks=(900, 2000)), "pot"),
        (replace(load_game("limit_holdem"), name="short", stacks=(105, 63)), "uniform"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_histories_replay_to_the_same_payoffs(game, size, tmp_path):
    lines = random_log(game, size=size)
    assert write_phh(tmp_path, game, lines) == HANDS
    read = read_back(tmp_path, divmod=exact_divmod)
    assert len(read) == HANDS
    for line, history in zip(lines, read, strict=True):
        hand, final, names = parse_log_line(game, line)
        payoffs = [Decimal(value) for value in final.payoffs()]
        assert history.hand == hand
        assert tuple(history.players) == names
        assert history.user_defined_fields["_payoffs"] == payoffs
        assert replayed_payoffs(history) == payoffs


def test_an_odd_chip_goes_to_the_first_winner_unless_pots_divide_exactly(tmp_path):
    game = load_game("limit_holdem_3p")
    line = "STATE:0:cfc/cc/cc/cc:2s3s|AsKh|AhKs/2c7d9h/Js/Qc:-5|2.5|2.5:ann|bob|cat"
    write_phh(tmp_path, game, [line])
    (history,) = read_back(tmp_path)
    assert history.user_defined_fields["_payoffs"] == [-5, Decimal("2.5"), Decimal("2.5")]
    assert replayed_payoffs(history) == [-5, 3, 2]
    (history,) = read_back(tmp_path, divmod=exact_divmod)
    assert replayed_payoffs(history) == [-5, Decimal("2.5"), Decimal("2.5")]


@pytest.mark.parametrize(
    ("betting", "cards", "values"),
    [
        ("f", "AsAh|KsKh", "50|-50"),
        ("r300f", "|", "-100|100"),  # a log without the folded cards
        ("cc/cc/cc/r20000c", "AsAh|KsKh/2c7d9h/Js/Qc", "20000|-20000"),
        ("cc/cc/r20000c/", "AsAh|KsKh/2c7d9h/Js/Qc", "20000|-20000"),
        ("cc/r20000c//", "AsAh|KsKh/2c7d9h/Js/Qc", "20000|-20000"),
        ("r20000c///", "KsKh|AsAh/2c7d9h/Js/Qc", "-20000|20000"),
        ("cc/cc/r20000f", "AsAh|KsKh/2c7d9h/Js", "100|-100"),
    ],
)
def test_hands_may_end_in_any_round(betting, cards, values, tmp_path):
    game = load_game("hunl")
    write_phh(tmp_path, game, [f"STATE:3:{betting}:{cards}:{values}:ann|bob"])
    (history,) = read_back(tmp_path)
    assert replayed_payoffs(history) == [int(value) for value in values.split("|")]


def test_blinds_may_be_all_in(tmp_path):
    game = replace(load_game("hunl"), stacks=(20_000, 50))
    line = "STATE:3:///:AsAh|KsKh/2c7d9h/Js/Qc:50|-50:ann|bob"
    write_phh(tmp_path, game, [line])
    (history,) = read_back(tmp_path)
    assert replayed_payoffs(history) == [50, -50]


def test_comments_and_the_score_of_a_log_are_passed_over(tmp_path):
    game = load_game("hunl")
    log = [*random_log(game, 2), "# hand 1: ann forfeits: no answer in time", "", "SCORE:0|0:a|b"]
    assert write_phh(tmp_path / "new" / "folder", game, log) == 2
    assert len(read_back(tmp_path / "new" / "folder")) == 2


def test_a_log_without_hands_is_a_file_without_hands(tmp_path):
    assert write_phh(tmp_path, load_game("hunl"), []) == 0
    assert read_back(tmp_path) == []


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rhode_island", "holdem_2_4"])
def test_other_games_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=f"histories of {name}: expected Texas hold'em"):
        write_phh(tmp_path, load_game(name), [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"first_player": (0, 0, 0, 0)},
        {"raise_size": (10, 20, 30, 40)},
        {"max_raises": (5, 4, 4, 4)},
        {"blinds": (0, 0)},
    ],
)
def test_holdem_that_the_format_cannot_tell_is_refused(change):
    with pytest.raises(InputError, match="expected Texas hold'em"):
        check_phh(replace(load_game("limit_holdem"), **change))


def test_three_players_with_stacks_are_refused():
    game = replace(load_game("limit_holdem_3p"), stacks=(100, 100, 100))
    with pytest.raises(InputError, match="expected two players, or a limit game without stacks"):
        check_phh(game)


def test_a_line_that_is_wrong_leaves_no_file(tmp_path):
    lines = [*random_log(load_game("hunl"), 2), "STATE:2:f:AsAh|KsKh:50|-51:ann|bob"]
    with pytest.raises(InputError, match="the hand pays"):
        write_phh(tmp_path, load_game("hunl"), lines)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["'''", "a\tb", "\x7f"])
def test_names_that_cannot_be_written_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="expected letters that TOML can quote"):
        write_phh(tmp_path, load_game("hunl"), [f"STATE:0:f:|:50|-50:{name}|bob"])


@pytest.mark.parametrize("name", ["'", "''", "a'", "'a''", 'a"b', "a\\nb", "#", "é ½", ""])
def test_names_keep_their_letters(name, tmp_path):
    write_phh(tmp_path, load_game("hunl"), [f"STATE:0:f:|:50|-50:{name}|bob"])
    assert read_back(tmp_path)[0].players == [name, "bob"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/hands\.phhs: cannot be written"):
        write_phh(tmp_path / "file", load_game("hunl"), [])


def test_without_pokerkit_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(histories, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'deepstack\[phh\]'"):
        check_phh(load_game("hunl"))
    assert importlib.util.find_spec("pokerkit") is not None
