"""The engine against its plain twin, with suits merged and apart, in threads and with leaves."""

from dataclasses import replace

import numpy as np
import pytest

from deepstack.cards.boards import hand_permutation
from deepstack.cards.notation import Deck, blocked, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.game.text import parse_state
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE, visit
from deepstack.solver.engine import Engine
from deepstack.solver.plain import PlainEngine
from deepstack.solver.rules import RULES, update_rule
from deepstack.tree.betting import limit_raises
from deepstack.tree.boards import root_group
from deepstack.tree.menus import load_menu

SINGLE = 2e-4  # relative, float32 against the twin's float64 after a few iterations


def spot(board, pot, stack):
    """Heads-up hold'em with pot/2 put in by each and a board on the table."""
    game = replace(load_game("hunl"), stacks=(pot // 2 + stack,) * 2, blinds=(1, 1))
    rounds = [board[:6], board[6:8], board[8:10]]
    rounds = [cards for cards in rounds if cards]
    betting = f"r{pot // 2}c" + "/cc" * (len(rounds) - 1) + "/"
    return parse_state(game, betting, "|/" + "/".join(rounds))


def random_ranges(game, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((2, game.hands)) * (rng.random((2, game.hands)) < 0.7)


def agree(engine, plain, iterations, rtol):
    for count in iterations:
        engine.run(count)
        plain.run(count)
        assert engine.exploitability() == pytest.approx(plain.exploitability(), rel=rtol)
        values = plain.expected_values()
        scale = max(abs(values).max(), engine.root.pot / 20)
        assert engine.expected_values() == pytest.approx(values, abs=rtol * scale)
    assert engine.mass == pytest.approx(plain.mass)


VARIANTS = {
    **RULES,
    "simultaneous": update_rule("cfr", alternating=False),
    "simultaneous+": update_rule("cfr_plus", alternating=False),
    "predictive simultaneous": update_rule("pcfr_plus", alternating=False, gamma=0.0),
    "fresh": update_rule("cfr_plus", fresh=True),
    "delayed": update_rule("cfr_plus", delay=2),
    "restarts": update_rule("dcfr", gamma=3.0, restart=4),
}


def tables(engine, name):
    """A table as the plain twin keeps it: [hands, actions] by (stage, node, board)."""
    table, result = getattr(engine.tables, name), {}
    for stage, boards in enumerate(engine.board_tree):
        width = int(engine.boards.width[stage])
        for node in range(len(engine.betting_tree.stages[stage].nodes)):
            for board, cards in enumerate(boards.cards):
                rows = table[engine.table_rows(stage, node, board)].reshape(-1, width)
                full = np.zeros((engine.game.hands, len(rows)))
                full[boards.hands[board]] = rows[:, : boards.hands.shape[1]].T
                result[stage, node, tuple(int(c) for c in cards)] = full
    return result


def assert_same_tables(engine, plain, name, scale):
    mine, theirs = tables(engine, name), getattr(plain, name)
    for key, expected in theirs.items():
        live = ~blocked(key[2], len(engine.game.deck), engine.game.hole_cards)
        np.testing.assert_allclose(mine[key][live], expected[live], atol=1e-12 * scale, rtol=1e-9)


@pytest.mark.parametrize("name", ["leduc", "nolimit_leduc"])
@pytest.mark.parametrize("rule", VARIANTS.values(), ids=VARIANTS)
def test_every_traversal_is_that_of_the_plain_twin(rule, name):
    """Traversal by traversal from the same tables: where actions are equally good, the sign of a
    rounding error decides between them, and two correct programs would soon part ways."""
    game = load_game(name)
    root, scale = initial_state(game), max(game.stacks) if not game.limit else 10
    ranges = random_ranges(game)
    raises = limit_raises if game.limit else load_menu("fchpa").raises
    engine = Engine(root, ranges, raises, rule, dtype=np.float64, merge=False)
    plain = PlainEngine(root, ranges, raises, rule)
    schedule = rule.schedule(1, 5)
    for step, first, last in engine.steps(schedule):
        plain.regret, plain.prediction = tables(engine, "regret"), {}
        if rule.predictive:
            plain.prediction = tables(engine, "prediction")
        plain.average = tables(engine, "average")
        if step.averaging:
            for player in range(first, last + 1):
                plain._accumulate(1 - player, step.keep, step.add)
        plain.update(range(first, last + 1), step.positive, step.negative)
        engine.traverse(step, first, last)
        assert_same_tables(engine, plain, "regret", scale)
        assert_same_tables(engine, plain, "average", scale)


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if not rule.fresh], ids=lambda rule: rule.name
)
def test_iterations_are_those_of_the_plain_twin(rule):
    # six ranks of one suit: no ties at a showdown
    game = replace(load_game("leduc"), deck=Deck("9TJQKA", "s"))
    ranges = np.random.default_rng(4).uniform(0.2, 1.0, (2, 6))
    root = initial_state(game)
    engine = Engine(root, ranges, limit_raises, rule, dtype=np.float64)
    agree(engine, PlainEngine(root, ranges, limit_raises, rule), (1, 2, 5), 1e-9)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_whole_games(name):
    game = load_game(name)
    root = initial_state(game)
    ranges = np.ones((2, game.hands))
    rule = update_rule("cfr_plus")
    engine = Engine(root, ranges, limit_raises, rule, dtype=np.float64)
    assert engine.merged == (name != "kuhn")
    agree(engine, PlainEngine(root, ranges, limit_raises, rule), (1, 9), 1e-9)


@pytest.mark.parametrize("ranges", ["full", "random"])
def test_a_river_spot(ranges):
    root = spot("Td9d6hQc2s", 200, 900)
    weights = np.ones((2, 1326)) if ranges == "full" else random_ranges(root.game)
    raises, rule = load_menu("100%, a").raises, update_rule("dcfr")
    agree(
        Engine(root, weights, raises, rule),
        PlainEngine(root, weights, raises, rule),
        (1, 6),
        SINGLE,
    )


def test_a_root_in_the_middle_of_a_round():
    river = spot("Td9d6hQc2s", 200, 900)
    root = parse_state(river.game, "r100c/cc/cc/r300", "|/Td9d6h/Qc/2s")
    weights = random_ranges(root.game, 3)
    raises, rule = load_menu("50%, a").raises, update_rule("cfr_plus")
    agree(
        Engine(root, weights, raises, rule),
        PlainEngine(root, weights, raises, rule),
        (1, 4),
        SINGLE,
    )


def test_a_turn_spot_with_an_all_in_on_the_way():
    root = spot("Td9d6hQc", 200, 150)
    weights = random_ranges(root.game, 5) * (np.random.default_rng(8).random(1326) < 0.3)
    raises, rule = load_menu("100%, a").raises, update_rule("cfr_plus")
    agree(
        Engine(root, weights, raises, rule), PlainEngine(root, weights, raises, rule), (2,), SINGLE
    )


@pytest.mark.parametrize("board", ["Td9d6h", "AsKsQs", "7c7d7h"])
def test_merging_suits_changes_nothing(board):
    root = spot(board, 200, 250)
    rng = np.random.default_rng(2)
    weights = rng.random((2, 1326))
    group = root_group(root.game, root.board)
    assert len(group) > 1
    # ranges that the group leaves unchanged: the mean over it
    images = [hand_permutation(row) for row in group]
    weights = np.round(np.mean([weights[:, image] for image in images], axis=0), 6)
    raises, rule = load_menu("100%, a").raises, update_rule("cfr_plus")
    merged = Engine(root, weights, raises, rule)
    apart = Engine(root, weights, raises, rule, merge=False)
    assert merged.merged
    assert not apart.merged
    assert merged.counts().slots < apart.counts().slots
    for engine in (merged, apart):
        engine.run(4)
    assert merged.exploitability() == pytest.approx(apart.exploitability(), rel=SINGLE)
    assert merged.expected_values() == pytest.approx(apart.expected_values(), abs=0.02)


def test_asymmetric_ranges_are_not_merged():
    root = spot("Td9d6h", 200, 900)
    engine = Engine(root, random_ranges(root.game), load_menu("a").raises, update_rule("cfr_plus"))
    assert not engine.merged
    assert engine.boards.boards.tolist() == [1, 49, 49 * 48]


def test_threads_change_nothing_but_rounding():
    root = spot("Td9d6hQc", 200, 900)
    weights = random_ranges(root.game, 1)
    raises = load_menu("100%, a").raises
    for rule in (update_rule("dcfr"), update_rule("cfr", alternating=False)):
        one, two = (Engine(root, weights, raises, rule, threads=n) for n in (1, 2))
        for engine in (one, two):
            engine.run(3)
        assert two.threads == 2
        assert two.exploitability() == pytest.approx(one.exploitability(), rel=SINGLE)


def test_blocked_hands_stay_exactly_zero():
    root = spot("Td9d6hQc", 200, 900)
    engine = Engine(root, np.ones((2, 1326)), load_menu("100%, a").raises, update_rule("dcfr"))
    engine.run(3)
    for stage, boards in enumerate(engine.boards.boards):
        width, hands = engine.boards.width[stage], engine.boards.hands[stage]
        first = engine.tables.at_slot[stage]
        count = boards * engine.slots_of_stage[stage]
        rows = engine.tables.average[first : first + count * width].reshape(count, width)
        assert not rows[:, hands:].any()
        assert rows[:, :hands].any()


COUNTS = {
    # peers.md: decision / chance / fold / showdown nodes, slots
    ("Td9d6hQc2s", 900, "100%, a"): (12, 0, 10, 11, 34_592),
    ("Td9d6hQc2s", 900, "50%, 100%, a"): (32, 0, 30, 31, 99_452),
    ("Td9d6hQc2s", 19_900, "100%, a"): (20, 0, 18, 19, 60_536),
    ("Td9d6hQc2s", 19_900, "50%, 100%, a"): (368, 0, 366, 367, 1_189_100),
    ("Td9d6hQc", 900, "100%, a"): (1_740, 11, 1_258, 1_776, 4_800_768),
    ("Td9d6hQc", 900, "50%, 100%, a"): (6_560, 31, 5_118, 6_576, 18_945_888),
    ("Td9d6hQc", 19_900, "100%, a"): (4_820, 19, 3_954, 4_848, 14_357_184),
}


@pytest.mark.parametrize("key", COUNTS, ids=lambda key: f"{key[0]} {key[1]} {key[2]}")
def test_trees_are_those_of_other_solvers(key):
    board, stack, bets = key
    root = spot(board, 200, stack)
    rule = update_rule("dcfr")
    engine = Engine(root, np.ones((2, 1326)), load_menu(bets).raises, rule)
    counts = engine.counts()
    found = (counts.decisions, counts.chances, counts.folds, counts.showdowns, counts.slots)
    assert found == COUNTS[key]


UNIFORM = {  # exploitability of the uniform strategy, per cent of the pot (peers.md)
    ("Td9d6hQc2s", 900, "100%, a"): 91.611,
    ("Td9d6hQc2s", 900, "50%, 100%, a"): 98.860,
    ("Td9d6hQc2s", 19_900, "100%, a"): 1503.79,
    ("Td9d6hQc", 900, "100%, a"): 105.123,
    ("Td9d6hQc", 900, "50%, 100%, a"): 112.786,
}


@pytest.mark.parametrize("key", UNIFORM, ids=lambda key: f"{key[0]} {key[1]} {key[2]}")
def test_uniform_play_is_as_exploitable_as_elsewhere(key):
    board, stack, bets = key
    root = spot(board, 200, stack)
    engine = Engine(root, np.ones((2, 1326)), load_menu(bets).raises, update_rule("dcfr"))
    assert engine.exploitability() / 2 == pytest.approx(UNIFORM[key], abs=0.006)


def test_the_value_of_a_river_spot():
    root = spot("Td9d6hQc2s", 200, 900)
    engine = Engine(root, np.ones((2, 1326)), load_menu("100%, a").raises, update_rule("dcfr"))
    engine.run(300)
    assert engine.exploitability() < 0.001 * 200
    share = engine.expected_values()[0] + 100
    assert share == pytest.approx(93.0849, abs=0.2)  # 0.1 % of the pot


class Onward:
    """A leaf evaluator that plays on with the strategies of a solved tree: exact values."""

    def __init__(self, whole):
        self.whole = whole
        self.asked = 0

    def values(self, leaves, reach):
        """The averages of the whole tree's later stages, met with the reach of the leaves."""
        whole, stage = self.whole, 1
        self.asked += 1
        result = np.zeros_like(reach)
        work = whole.work
        width, hands = int(whole.boards.width[0]), int(whole.boards.hands[0])
        for player in (0, 1):
            at = work.at_rows[player, 0]
            for line in range(reach.shape[2]):
                row = whole.tree.line_from[1 - player, whole.tree.first_line[1] + line]
                start = at + row * width
                work.rows[start : start + hands] = reach[1 - player, 0, line]
            onward = whole._onward(player)
            work.rows[onward] = 0
            step = whole.step(AVERAGE)
            arrays = (whole.tree, whole.boards, whole.tables)
            last = int(whole.boards.boards[stage])
            visit(*arrays, work, step, stage, 0, last, 0, player, player)
            rows = work.rows[onward].reshape(reach.shape[2], width)
            result[player, 0] = rows[:, :hands]
        return result


def test_leaves_valued_exactly_give_the_whole_tree():
    game = load_game("leduc")
    root, ranges, rule = initial_state(game), np.ones((2, 6)), update_rule("cfr_plus")
    whole = Engine(root, ranges, limit_raises, rule, merge=False, dtype=np.float64)
    whole.run(300)
    evaluator = Onward(whole)
    trunk = Engine(
        root, ranges, limit_raises, rule, merge=False, dtype=np.float64,
        last_round=0, evaluator=evaluator,
    )  # fmt: skip
    # the trunk's strategy of the whole tree, valued through the leaves, is the whole tree's value
    size = len(trunk.tables.average)
    trunk.tables.average[:] = whole.tables.average[:size]
    assert evaluator.asked == 0
    assert trunk.expected_values() == pytest.approx(whole.expected_values(), abs=1e-12)
    assert evaluator.asked == 2
    trunk.run(5)
    assert evaluator.asked == 2 + 10  # twice an iteration with alternating updates


def test_leaves_on_many_boards():
    """A turn tree with showdown-by-equity leaves on every river equals checking the river down."""
    root = spot("Td9d6hQc", 200, 900)
    weights = random_ranges(root.game, 7)
    menu = load_menu("fc; fc; 100%, a; fc")
    rule = update_rule("cfr_plus")
    whole = Engine(root, weights, menu.raises, rule)

    class CheckDown:
        def values(self, leaves, reach):
            wins = np.zeros((reach.shape[-1],) * 2)
            held = leaves.hands[0]
            cards = hand_cards()[held]
            apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
            for river in set(range(52)) - set(root.board):
                strengths = board_strengths((*root.board, river))[held].astype(int)
                live = strengths > 0
                sign = np.sign(strengths[:, None] - strengths[None, :])
                wins += sign * live[:, None] * live[None, :]
            wins = wins * apart / 44
            chips = np.array([min(state.spent) for state in leaves.states])
            values = np.einsum("hg,pblg->pblh", wins, reach[::-1].astype(np.float64))
            return values * chips[None, None, :, None]

    limited = Engine(root, weights, menu.raises, rule, last_round=2, evaluator=CheckDown())
    for engine in (whole, limited):
        engine.run(4)
    assert limited.exploitability() == pytest.approx(whole.exploitability(), rel=SINGLE)
    assert limited.expected_values() == pytest.approx(whole.expected_values(), abs=0.02)


def test_a_locked_node_keeps_its_strategy():
    root = spot("Td9d6hQc2s", 200, 900)
    engine = Engine(root, np.ones((2, 1326)), load_menu("100%, a").raises, update_rule("dcfr"))
    free = Engine(root, np.ones((2, 1326)), load_menu("100%, a").raises, update_rule("dcfr"))
    always_check = np.tile([1.0, 0.0, 0.0], (1081, 1))
    engine.lock(0, 0, 0, always_check)
    for solved in (engine, free):
        solved.run(200)
    rows = engine.tables.average[engine.table_rows(0, 0, 0)].reshape(3, -1)
    assert (rows[0, :1081] > 0).all()
    assert not rows[1:].any()
    assert engine.exploitability() < 0.5
    assert engine.expected_values()[0] < free.expected_values()[0]


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (np.ones((2, 5)), r"ranges of shape \(2, 5\)"),
        (-np.ones((2, 1326)), "finite weights of at least 0"),
        (np.full((2, 1326), np.nan), "finite weights"),
        (np.zeros((2, 1326)), "range of seat 1: no hand is possible"),
        (np.eye(2, 1326) * 0 + (np.arange(1326) == 700), "ranges cannot coexist"),
    ],
)
def test_ranges_that_cannot_be_dealt_are_refused(ranges, message):
    with pytest.raises(InputError, match=message):
        Engine(spot("Td9d6hQc2s", 200, 900), ranges, load_menu("a").raises, update_rule("dcfr"))


def test_a_tree_that_does_not_fit_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr("deepstack.solver.memory.available_memory", lambda: 10 * 2**20)
    root = spot("Td9d6hQc", 200, 900)
    with pytest.raises(InputError, match=r"the tree needs 0\.\d GB and 0\.0 GB are free"):
        Engine(root, np.ones((2, 1326)), load_menu("50%, 100%, a").raises, update_rule("dcfr"))
