"""Solutions: nodes, values, locks, files."""

import struct
from itertools import permutations

import numpy as np
import pytest

import deepstack
from deepstack.cards.notation import STANDARD, blocked, hand_index
from deepstack.game.definition import parse_game
from deepstack.game.spots import Spot
from deepstack.game.state import Action
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.solver import storage
from deepstack.solver.api import prepare
from deepstack.solver.inspection import unblocked

RIVER = Spot("Td9d6hQc2s", pot=200, stack=900)
TURN = Spot("AsKsQs2s", pot=200, stack=200)  # three suits are alike
# Values are sums of about a thousand float32 products.
CLOSE = 1e-4


@pytest.fixture(scope="module")
def river():
    return deepstack.solve(RIVER, bets="100%, a", iterations=100)


@pytest.fixture(scope="module")
def turn():
    return deepstack.solve(TURN, bets="a", algorithm="cfr_plus", iterations=3)


@pytest.fixture(scope="module")
def apart():
    return deepstack.solve(TURN, bets="a", algorithm="cfr_plus", iterations=3, merge=False)


def hand(text):
    return hand_index(*STANDARD.parse(text))


# ---- nodes


def test_strategies_are_probabilities_of_live_hands(river):
    actions, played = river.strategy()
    assert actions == (Action("c"), Action("r", 300), Action("r", 1000))
    out = blocked(RIVER.cards)
    assert played.shape == (1326, 3)
    assert not played[out].any()
    assert played[~out].sum(axis=1) == pytest.approx(np.ones(1081))


def test_a_node_has_many_names(river):
    state = river.state.apply(Action("c")).apply(Action("r", 300))
    for where in ("cb200", "c b200", "kr300", "c, b200", state):
        assert river.place(where).state == state
    assert river.place("a").state == river.place("b900").state
    assert deepstack.solve("leduc", iterations=1).place("brc/", "Kh").stage == 1


@pytest.mark.parametrize(
    ("where", "board", "message"),
    [
        ("b150", None, "'b150' is not in the tree, expected c, b200, b900"),
        ("b", None, "'b' is not in the tree"),
        ("f", None, "'f' is not in the tree"),
        ("cx", None, "unknown action at 'x'"),
        ("cc", None, "nobody is left to act"),
        ("ccc", None, "nobody is left to act"),
        ("c/", None, "a '/' is misplaced"),
        ("c", "Td9d6hQc3s", "expected it to begin with the root's"),
        ("c", "Td9d", "of 2 cards: expected 5 cards"),
    ],
)
def test_a_node_that_is_not_there(river, where, board, message):
    with pytest.raises(InputError, match=message):
        river.strategy(where, board)


def test_a_state_of_another_game_is_refused(river):
    with pytest.raises(InputError, match="expected one that follows the root"):
        river.strategy(parse_state(river.game, "r200c/cc/cc/", "|/Td9d6h/Qc/2s"))


def test_boards_are_written_whole_or_as_what_came(turn):
    for board in ("AsKsQs2s3d", "KsAsQs2s3d", "3d", STANDARD.parse("3d")):
        assert turn.place("cc", board).state.board == STANDARD.parse("AsKsQs2s3d")
    with pytest.raises(InputError, match="of 0 cards: expected 5 cards, or the 1 after"):
        turn.node("cc")
    with pytest.raises(InputError, match="card As is dealt twice"):
        turn.node("cc", "As")


# ---- values


def test_kuhn_by_hand():
    view = deepstack.solve("kuhn", algorithm="cfr_plus", iterations=200).node("b")
    assert view.labels == ("fold", "call 1")
    jack, queen, king = range(3)
    assert view.action_evs[:, 0] == pytest.approx(0.0, abs=CLOSE)  # folding takes nothing
    assert view.action_evs[jack, 1] == pytest.approx(-1.0, abs=CLOSE)
    assert view.action_evs[king, 1] == pytest.approx(3.0, abs=CLOSE)  # three chips lie in the pot
    # of the hands that bet, a queen beats jacks and loses to kings
    bets = view.ranges[0]
    win = bets[jack] / (bets[jack] + bets[king])
    assert view.action_evs[queen, 1] == pytest.approx(4 * win - 1, abs=CLOSE)
    assert view.evs[1] == pytest.approx((view.strategy * view.action_evs).sum(axis=1), abs=CLOSE)
    assert view.values.sum() == pytest.approx(3.0, abs=CLOSE)


def test_values_at_the_root_are_those_of_the_solution(river):
    view = river.node()
    assert view.values == pytest.approx(river.evs, abs=CLOSE)
    assert view.ranges.sum() == 2 * 1081
    assert view.weights.sum() == pytest.approx(2 * 1081 * 990)


@pytest.mark.parametrize("where", ["", "c", "b200", "cb200", "cb200a"])
def test_both_values_share_the_pot(river, where):
    view = river.node(where)
    assert view.values.sum() == pytest.approx(view.state.pot, rel=CLOSE)
    assert view.frequencies.sum() == pytest.approx(1.0)
    mine = (view.strategy * view.action_evs).sum(axis=1)
    assert view.evs[view.actor] == pytest.approx(mine, rel=1e-3, abs=0.01)
    if view.actions[0].kind == "f":
        assert view.action_evs[:, 0] == pytest.approx(0.0, abs=0.01)


def test_a_range_shrinks_with_what_was_played(river):
    _, played = river.strategy("c")
    before, after = river.node("c"), river.node("cb200")
    assert after.ranges[1] == pytest.approx(before.ranges[1] * played[:, 1], abs=1e-6)
    assert after.ranges[0] == pytest.approx(before.ranges[0])


def test_a_node_is_worth_the_mean_of_the_cards_to_come(turn):
    """Both on merged boards: every river is asked for, one in three of them stands for others."""
    assert turn.engine.merged
    before = turn.node("c")
    total = np.zeros(1326)
    for card in set(range(52)) - set(TURN.cards):
        view = turn.node("cc", (card,))
        beside = unblocked(turn.game, view.ranges[0])
        total += beside * view.evs[1]
        assert not view.evs[:, blocked((*TURN.cards, card))].any()
    mean = total / 44 / np.maximum(unblocked(turn.game, before.ranges[0]), 1e-9)
    live = ~blocked(TURN.cards)
    assert mean[live] == pytest.approx(before.action_evs[live, 0], abs=0.01)


def test_a_node_that_is_never_reached_is_worth_nothing(river):
    view = river.node("b900")
    assert view.ranges[0].sum() == 0.0  # nobody bets all of it
    assert view.frequencies.tolist() == [0.0, 0.0]
    assert not view.evs[1].any()
    assert np.isfinite(view.evs).all()


def test_merged_boards_answer_like_boards_apart(turn, apart):
    assert turn.engine.boards.boards[1] < apart.engine.boards.boards[1] == 48
    # The two differ in the order of sums; more iterations would tell, where regrets tie.
    rounding = 1e-3
    one, other = turn.node("ca"), apart.node("ca")
    assert one.evs == pytest.approx(other.evs, abs=rounding)
    for card in ("3c", "3d", "3h", "Ac", "Th", "Ts", "9d"):
        one, other = turn.node("c c", card), apart.node("c c", card)
        assert one.ranges == pytest.approx(other.ranges, abs=rounding)
        assert one.strategy == pytest.approx(other.strategy, abs=rounding)
        assert one.evs == pytest.approx(other.evs, abs=10 * rounding)
    # suits stand where they were asked for: a fifth spade makes a flush, a club does not
    view = turn.node("cc", "3d")
    assert view.evs[0, hand("Js4c")] > view.evs[0, hand("Jc4c")] + 50


FIFTEEN_CARDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 5 5
raiseSize = 10 20 20
firstPlayer = 1 1 1
maxRaises = 1 1 1
numSuits = 3
numRanks = 5
numHoleCards = 1
numBoardCards = 0 1 1
showdown = three-card
END GAMEDEF
"""


def test_boards_of_two_rounds_are_found():
    """The suits of both board cards and of the hand are relabelled together."""
    game = parse_game(FIFTEEN_CARDS, "fifteen cards")
    one = deepstack.solve(game, algorithm="cfr_plus", iterations=3)
    other = deepstack.solve(game, algorithm="cfr_plus", iterations=3, merge=False)
    assert one.engine.boards.boards[-1] < other.engine.boards.boards[-1] == 15 * 14
    for first, second in permutations(range(15), 2):
        merged, apart = one.node("cc/bc/", (first, second)), other.node("cc/bc/", (first, second))
        assert merged.state.board == (first, second)
        assert merged.strategy == pytest.approx(apart.strategy, abs=1e-3)
        assert merged.evs == pytest.approx(apart.evs, abs=1e-3)


# ---- locks


def test_a_locked_node_is_answered(tmp_path):
    solution = deepstack.solve(RIVER, bets="100%", iterations=30)
    before = solution.evs[0]
    solution.lock("b200", [1, 0, 0])  # gives up against a bet
    assert solution.iterations == 30  # nothing else has changed yet
    solution.resume(iterations=100)
    assert solution.iterations == 100
    assert solution.evs[0] > before
    assert solution.evs[0] == pytest.approx(200, abs=2)  # bet everything, take the pot
    _, played = solution.strategy("b200")
    live = ~blocked(RIVER.cards)
    assert (played[live] == [1, 0, 0]).all()
    path = tmp_path / "locked.solution"
    solution.save(path)
    again = storage.load(path)
    assert again.exploitability == solution.exploitability
    solution.resume(iterations=5)
    again.resume(iterations=5)
    assert (again.strategy("c")[1] == solution.strategy("c")[1]).all()
    assert (again.strategy("b200")[1] == played).all()


def test_a_lock_keeps_to_what_was_merged():
    turn = deepstack.solve(TURN, bets="a", iterations=2)
    _, played = turn.strategy("cc", "3d")
    turn.lock("cc", played, "3d")
    assert turn.strategy("cc", "3d")[1] == pytest.approx(played, abs=1e-6)
    uneven = np.tile([1.0, 0.0], (1326, 1))
    uneven[hand("JhTh")] = [0.0, 1.0]
    with pytest.raises(InputError, match="it tells suits apart that were merged"):
        turn.lock("", uneven)
    apart = deepstack.solve(TURN, bets="a", iterations=2, merge=False)
    apart.lock("", uneven)
    assert apart.strategy()[1][hand("JhTh")].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ([1, 0], r"strategy of shape \(2,\): expected \(1326, 3\) or \(3,\)"),
        ([1, 1, 0], "expected probabilities that sum to 1"),
        ([2, -1, 0], "expected probabilities that sum to 1"),
    ],
)
def test_a_lock_is_a_strategy(river, strategy, message):
    with pytest.raises(InputError, match=message):
        river.lock("", strategy)


# ---- going on, and files


def live_tables(solution):
    """Regrets and averages of hands that exist; what fills up rows is nobody's."""
    engine = solution.engine
    for table in (engine.tables.regret, engine.tables.average):
        at = 0
        sizes = engine.boards.boards * engine.slots_of_stage * engine.boards.width
        for size, hands, width in zip(sizes, engine.boards.hands, engine.boards.width, strict=True):
            yield table[at : at + size].reshape(-1, width)[:, :hands]
            at += size


@pytest.mark.parametrize("algorithm", [None, "pcfr_plus", "cfr"])
def test_a_resumed_solve_is_the_uninterrupted_one(tmp_path, algorithm):
    whole = deepstack.solve("leduc", algorithm=algorithm, iterations=60)
    part = deepstack.solve("leduc", algorithm=algorithm, iterations=25)
    part.save(tmp_path / "part.solution")
    again = storage.load(tmp_path / "part.solution")
    assert again.iterations == 25
    assert again.history == part.history
    again.resume(iterations=35)
    assert again.iterations == 60
    for one, other in zip(live_tables(whole), live_tables(again), strict=True):
        assert (one == other).all()
    assert again.exploitability == whole.exploitability


def test_a_spot_is_saved_with_all_that_was_asked(tmp_path):
    spot = Spot("Td9d6hQc2s", 201, 900.5, oop="77+,AK:0.5", ip=np.linspace(0, 1, 1326))
    solution = deepstack.solve(spot, bets="oop: 50, a / ip: 100%", iterations=10)
    path = tmp_path / "deep" / "er" / "spot.solution"
    solution.save(path)
    again = deepstack.load(path)
    assert again.menu == solution.menu
    assert again.chip == solution.chip == 100
    assert (again.ranges == solution.ranges).all()
    assert again.spot is not None
    assert again.spot.oop == "77+,AK:0.5"
    assert again.state == solution.state
    assert again.engine.rule == solution.engine.rule
    assert again.exploitability == solution.exploitability
    assert (again.node("b50").evs == solution.node("b50").evs).all()
    assert [p.name for p in path.parent.iterdir()] == ["spot.solution"]


def test_a_target_that_is_reached_needs_no_iteration(river):
    done = river.iterations
    river.resume(target=1000.0)
    assert river.iterations == done
    with pytest.raises(InputError, match="nothing says when to stop"):
        river.resume()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "kuhn.solution"
    deepstack.solve("kuhn", iterations=3).save(path)
    return path.read_bytes()


def refused(tmp_path, data):
    path = tmp_path / "some.solution"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        storage.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_of_others_are_refused(tmp_path):
    assert "expected a file that deepstack solve has saved" in refused(tmp_path, b"")
    assert "expected a file that deepstack solve has saved" in refused(tmp_path, b"PK\3\4" * 99)
    with pytest.raises(InputError, match="expected a readable file"):
        storage.load(tmp_path / "none.solution")


def test_truncated_files_are_refused(tmp_path, saved):
    for length in (5, 30, 100, len(saved) // 2, len(saved) - 33, len(saved) - 1):
        assert "truncated" in refused(tmp_path, saved[:length])
    assert "altered" in refused(tmp_path, saved + b"x")


def test_altered_files_are_refused(tmp_path, saved):
    for place in (*range(24, len(saved), 97), len(saved) - 1):
        data = bytearray(saved)
        data[place] ^= 1
        assert "altered" in refused(tmp_path, bytes(data))


def test_files_of_newer_versions_are_refused(tmp_path, saved):
    newer = saved[:16] + struct.pack("<I", storage.VERSION + 1) + saved[20:]
    assert f"written by a newer version, format {storage.VERSION + 1}" in refused(tmp_path, newer)


def test_a_file_that_cannot_be_written(tmp_path, river):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="expected a file that can be written"):
        river.save(tmp_path / "file" / "below.solution")


def test_a_file_stays_whole_when_saving_fails(tmp_path, river, monkeypatch):
    path = tmp_path / "river.solution"
    river.save(path)
    before = path.read_bytes()

    def interrupted(solution):
        yield b"some"
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "_pieces", interrupted)
    with pytest.raises(KeyboardInterrupt):
        river.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_does_not_fit_is_refused_when_loading(tmp_path, river, monkeypatch):
    path = tmp_path / "river.solution"
    river.save(path)
    monkeypatch.setattr("deepstack.solver.memory.available_memory", lambda: 2**10)
    with pytest.raises(InputError, match=r"river.solution': the tree needs"):
        storage.load(path)


def test_prepare_knows_the_size_before_the_first_iteration():
    solution = prepare(RIVER, bets="100%, a")
    counts = solution.engine.counts()
    assert (counts.decisions, counts.folds, counts.showdowns) == (12, 10, 11)
    assert counts.slots == 34_592
    assert solution.engine.memory.total > 2 * 4 * 34_592
    assert solution.iterations == 0
    assert solution.history == []
