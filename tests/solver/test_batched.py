"""The batched engine against the engine for one subgame: tables, values, shapes, devices.

Two correct programs part ways where actions are exactly equal (a bet that everybody folds to wins
what a check against only weaker hands wins): the sign of a rounding error then decides, and some
rules make much of it. So runs are compared from a start without such ties, random regrets as a
solve under way has them, and what a solve does at its very start, where all is equal, is compared
one traversal at a time from the same tables.
"""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from deepstack.cards.notation import blocked, hand_cards
from deepstack.cards.strength import strength
from deepstack.game.definition import load_game
from deepstack.game.state import CALL, RAISE, Action, initial_state
from deepstack.run.errors import InputError
from deepstack.solver.batched import BatchedEngine
from deepstack.solver.batched_equity import (
    allin_equity,
    allin_margins,
    allin_values,
    preflop_margins,
)
from deepstack.solver.batched_shapes import group_by_shape, round_tree, shape_key
from deepstack.solver.batched_terminals import Folds, Showdowns, live_hands
from deepstack.solver.cfr_kernels import AVERAGE, BEST, BEST_OF_CURRENT, CURRENT
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR, CFR_PLUS, DEFAULT, RULES, update_rule
from deepstack.tree.menus import load_menu

GAME = load_game("hunl")
STACK = max(GAME.stacks)
RAISES = load_menu("fcpa").raises
ITERATIONS = 50
AGE = 10  # iterations that a start counts as: the first ones forget all regrets in some rules
# Stacks of regret in a start, about, spread over the hands. With 10, float32 runs of the discounted
# and predictive rules already part by more than SINGLE, float64 runs of all rules stay together.
WEIGHT = 100
DOUBLE, SINGLE, GAME_VALUE = 1e-6, 1e-3, 1e-4  # of the pot
TYPES = {torch.float64: np.float64, torch.float32: np.float32}

VARIANTS = {
    **RULES,
    "default": DEFAULT,
    "simultaneous": update_rule("dcfr", alternating=False),
    "simultaneous+": update_rule("cfr_plus", alternating=False),
    "predictive": update_rule("pcfr_plus", floor=False, alpha=1.5, beta=0.0, alternating=False),
    "fresh": update_rule("dcfr", fresh=True),
    "delayed": update_rule("cfr_plus", delay=2),
}


class Situations(NamedTuple):
    states: list
    ranges: np.ndarray  # [n, 2, 1326]

    def some(self, indices):
        return Situations([self.states[i] for i in indices], self.ranges[list(indices)])


def random_situations(count, round_, seed, chips=None):
    """Random boards, chips put in by each (100 to 19,950) and ranges with 30 % of hands missing."""
    rng = np.random.default_rng(seed)
    states, ranges = (
        [],
        rng.random((count, 2, GAME.hands)) * (rng.random((count, 2, GAME.hands)) < 0.7),
    )
    for row in ranges:
        each = chips or int(np.exp(rng.uniform(np.log(100), np.log(19_950))))
        board = tuple(rng.permutation(52)[: GAME.board_size(round_)].tolist())
        states.append(state_at(board, each, round_))
        row[:, blocked(board)] = 0.0
        row /= row.sum(axis=1, keepdims=True)
    return Situations(states, ranges)


def state_at(board, each, round_):
    """The start of a round with some chips put in by each; before the flop, after a raise."""
    state = initial_state(GAME)
    raises = [Action(RAISE, each)] if each >= 200 else []
    if round_ == 0:
        return state if not raises else state.apply(raises[0])
    state = state.apply(raises[0] if raises else Action(CALL)).apply(Action(CALL))
    state = state.deal(board[:3])
    for card in board[3:]:
        state = state.apply(Action(CALL)).apply(Action(CALL)).deal((card,))
    return state


# ---- leaves that both engines can ask

LEANING = np.random.default_rng(7).uniform(-0.5, 0.5, GAME.hands)


class BatchedLeaning:
    """A hand wins half of the pot times how much better it is, by a made-up order of hands."""

    def __init__(self, dtype, device):
        self.leaning = torch.as_tensor(LEANING, dtype=dtype, device=device)

    def values(self, leaves, reach):
        mine = self.leaning[leaves.hands][None, :, None]  # [1, B, 1, H]
        other = reach.flip(0)
        theirs = (mine * other).sum(-1, keepdim=True)
        return 0.5 * leaves.pot[None, :, :, None] * (mine * other.sum(-1, keepdim=True) - theirs)


class Leaning:
    """The same for the engine for one subgame, to which called all-ins are leaves."""

    def __init__(self, board, dtype):
        self.margins = allin_margins(board)
        self.leaning = LEANING.astype(dtype)

    def values(self, leaves, reach):
        mine = self.leaning[leaves.hands][None, :, None]
        other = reach[::-1]
        pot = np.array([state.pot for state in leaves.states], reach.dtype)[None, None, :, None]
        theirs = (mine * other).sum(-1, keepdims=True)
        values = 0.5 * pot * (mine * other.sum(-1, keepdims=True) - theirs)
        chips = np.array([min(state.spent) * (state.pending == 0) for state in leaves.states])
        called = np.nonzero(chips)[0]
        if len(called):
            rows = np.ascontiguousarray(other[:, 0, called].reshape(-1, 1, other.shape[-1]))
            worth = np.empty_like(rows)
            allin_values(self.margins.counts[None], self.margins.run_outs, rows, worth)
            values[:, 0, called] = worth.reshape(2, len(called), -1) * chips[called, None]
        return values


def make_engine(state, ranges, rule, dtype):
    last = state.round == GAME.rounds - 1
    return Engine(
        state,
        ranges,
        RAISES,
        rule,
        dtype=dtype,
        merge=False,
        last_round=state.round,
        evaluator=None if last else Leaning(state.board, dtype),
    )


def make_batched(situations, rule, dtype, device="cpu", trees=None):
    last = situations.states[0].round == GAME.rounds - 1
    evaluator = None if last else BatchedLeaning(dtype, device)
    options = {"dtype": dtype, "device": device, "evaluator": evaluator, "trees": trees}
    return BatchedEngine(*situations, RAISES, rule, **options)


def rows_of(engine, table, node):
    """The rows [actions, H] of a node in a table of the engine for one subgame."""
    rows = getattr(engine.tables, table)[engine.table_rows(0, node, 0)]
    return rows.reshape(-1, int(engine.boards.width[0]))[:, : int(engine.boards.hands[0])]


def batched_rows(batched, table, node, number):
    group, place = batched.shape.place[node]
    return getattr(batched._groups[group], table)[:, place, number]


def nodes_of(batched):
    return range(len(batched.trees[0].stages[0].nodes))


def start_alike(batched, engines):
    """Random regrets, the same for every subgame and in both."""
    batched.iterations = AGE
    for node in nodes_of(batched):
        here = batched_rows(batched, "regret", node, 0)
        regret = np.random.default_rng(node).uniform(0.5, 1.5, here.shape)
        regret *= WEIGHT * STACK / here.shape[1]
        for number, engine in enumerate(engines):
            batched_rows(batched, "regret", node, number)[:] = torch.as_tensor(regret)
            if engine.iterations in (0, AGE):  # not under way
                engine.iterations = AGE
                rows_of(engine, "regret", node)[:] = regret


def assert_alike(batched, engines, dtype):
    """Values of the average strategies and of best responses, and the value of the game."""
    tolerance = DOUBLE if dtype == torch.float64 else SINGLE
    exact = DOUBLE if dtype == torch.float64 else GAME_VALUE
    average, best = (batched.root_values(mode).numpy() for mode in (AVERAGE, BEST))
    won = batched.expected_values().numpy()
    for number, engine in enumerate(engines):
        pot = engine.root.pot
        for mine, mode in ((average, AVERAGE), (best, BEST)):
            error = np.abs(mine[number] - engine.root_values(mode)).max() / pot
            assert error < tolerance, (number, mode)
        assert won[number] == pytest.approx(engine.expected_values(), abs=exact * pot)


def compare_runs(situations, rule, dtype, batches=(64,)):
    """50 iterations in batches of at most these sizes, and of each subgame by itself."""
    for same in group_by_shape(situations.states, RAISES):
        members = zip(*situations.some(same.indices), strict=True)
        engines = [make_engine(*member, rule, TYPES[dtype]) for member in members]
        for batch in batches:
            for first in range(0, len(engines), batch):
                chosen = slice(first, first + batch)
                part = situations.some(same.indices[chosen])
                batched = make_batched(part, rule, dtype, trees=same.trees[chosen])
                start_alike(batched, engines[chosen])
                batched.run(ITERATIONS)
                for engine in engines[chosen]:
                    if engine.iterations == AGE:
                        engine.run(ITERATIONS)
                assert_alike(batched, engines[chosen], dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("round_", [1, 2, 3])
def test_runs_agree_with_the_engine(round_, dtype):
    situations = random_situations(6 if round_ == 3 else 3, round_, seed=round_)
    compare_runs(situations, DEFAULT, dtype, batches=(1, 64))


def test_runs_agree_before_the_flop():
    compare_runs(random_situations(2, 0, seed=5), DEFAULT, torch.float32)


@pytest.mark.parametrize("rule", VARIANTS.values(), ids=VARIANTS)
def test_runs_agree_for_every_rule(rule):
    compare_runs(random_situations(3, 3, seed=4, chips=900), rule, torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("round_", [0, 1, 2, 3])
def test_200_runs_agree_with_the_engine(round_, dtype):
    situations = random_situations(200, round_, seed=10 + round_)
    compare_runs(situations, DEFAULT, dtype, batches=(1, 64))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("rule", [CFR, CFR_PLUS, DEFAULT], ids=["cfr", "cfr_plus", "default"])
def test_runs_from_nothing_differ_no_more_than_the_engine_from_itself(rule, dtype):
    """From nothing, ties let runs part: in float64 11 to 29 of these 200, in float32 21 (cfr) to
    71 (default). As many part between the engine and itself when its ranges move by a rounding
    error; that is the measure."""
    situations = random_situations(200, 3, seed=20)
    tolerance = DOUBLE if dtype == torch.float64 else SINGLE
    rounding = np.finfo(TYPES[dtype]).eps
    rng = np.random.default_rng(1)
    parted = itself = 0
    for same in group_by_shape(situations.states, RAISES):
        part = situations.some(same.indices)
        batched = make_batched(part, rule, dtype, trees=same.trees)
        batched.run(ITERATIONS)
        values = batched.root_values(AVERAGE).numpy()
        for state, ranges, mine in zip(*part, values, strict=True):
            moved = ranges * (1 + rounding * rng.standard_normal(ranges.shape))
            theirs = []
            for weights in (ranges, moved):
                engine = make_engine(state, weights, rule, TYPES[dtype])
                engine.run(ITERATIONS)
                theirs.append(engine.root_values(AVERAGE))
            parted += np.abs(theirs[0] - mine).max() > tolerance * state.pot
            itself += np.abs(theirs[0] - theirs[1]).max() > tolerance * state.pot
    assert parted <= 1.5 * itself + 5


@pytest.mark.parametrize("rule", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("round_", [2, 3])
def test_every_iteration_from_nothing_is_that_of_the_engine(round_, rule):
    """From the same tables, so that ties cannot add up."""
    situations = random_situations(2, round_, seed=8, chips=700)
    batched = make_batched(situations, rule, torch.float64)
    engines = [make_engine(*pair, rule, np.float64) for pair in zip(*situations, strict=True)]
    tables = ["regret", "average"] + ["prediction"] * rule.predictive
    rng = np.random.default_rng(1)
    for _ in range(4):
        batched.run(1)
        for number, engine in enumerate(engines):
            engine.run(1)
            scale = engine.root.pot
            for table in tables:
                for node in nodes_of(batched):
                    theirs = rows_of(engine, table, node)
                    mine = batched_rows(batched, table, node, number)
                    np.testing.assert_allclose(
                        mine.numpy(), theirs, atol=1e-11 * scale, rtol=1e-9, err_msg=table
                    )
                    if table == "regret":  # moved apart, so that no regrets are equal
                        theirs += rng.uniform(0.01, 0.02, theirs.shape) * scale
                    mine[:] = torch.as_tensor(theirs.copy())


def test_answers_are_those_of_the_engine():
    situations = random_situations(3, 2, seed=9, chips=1500)
    batched = make_batched(situations, DEFAULT, torch.float64)
    engines = [make_engine(*pair, DEFAULT, np.float64) for pair in zip(*situations, strict=True)]
    start_alike(batched, engines)
    batched.run(20)
    for engine in engines:
        engine.run(20)
    exact = {"rel": 1e-9}
    for number, engine in enumerate(engines):
        assert batched.exploitability()[number].item() == pytest.approx(
            engine.exploitability(), **exact
        )
        assert batched.exploitability(current=True)[number].item() == pytest.approx(
            engine.exploitability(current=True), **exact
        )
        assert batched.mass[number].item() == pytest.approx(engine.mass)
        hands = engine.board_tree[0].hands[0]
        assert (batched.hands[number].numpy() == hands).all()
        for mode in (CURRENT, BEST_OF_CURRENT):
            theirs = engine.root_values(mode)
            mine = batched.root_values(mode)
            np.testing.assert_allclose(mine[number].numpy(), theirs, atol=1e-9 * engine.root.pot)
            spread = batched.over_all_hands(mine)[number].numpy()
            np.testing.assert_array_equal(spread[:, hands], mine[number].numpy())
            assert not spread[:, blocked(engine.root.board)].any()
        weights = rows_of(engine, "average", 1).T
        reached = weights.sum(axis=1) > 0
        expected = weights[reached] / weights[reached].sum(axis=1, keepdims=True)
        mine = batched.strategies(1)[number].numpy()
        np.testing.assert_allclose(mine[reached], expected, atol=1e-12)
        assert mine.sum(axis=1) == pytest.approx(1.0)


def test_iterations_in_parts_are_iterations_at_once():
    situations = random_situations(2, 3, seed=12, chips=3000)
    whole, parts = (make_batched(situations, DEFAULT, torch.float64) for _ in range(2))
    whole.run(7)
    for count in (1, 0, 4, 2):
        parts.run(count)
    assert torch.equal(whole.root_values(AVERAGE), parts.root_values(AVERAGE))


# ---- terminals

RANDOM_BOARDS = [tuple(np.random.default_rng(s).permutation(52)[:5].tolist()) for s in range(3)]
BROADWAY = (48, 44, 40, 36, 32)  # AKQJT of clubs: everybody ties


@pytest.mark.parametrize("rows", [1, 5])
def test_folds_and_showdowns_are_those_of_all_pairs(rows):
    boards = live_hands(GAME, [*RANDOM_BOARDS, BROADWAY], 3)
    count, hands, _ = boards.held.shape
    reach = np.random.default_rng(1).random((rows, count, hands))
    options = {"device": torch.device("cpu"), "dtype": torch.float64}
    folds = Folds(boards, rows, options).values(torch.as_tensor(reach)).numpy()
    shown = Showdowns(boards, rows, options).values(torch.as_tensor(reach)).numpy()
    for b in range(count):
        cards = hand_cards()[boards.hands[b]]
        apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        wins = np.sign(boards.strengths[b][:, None] - boards.strengths[b][None, :]) * apart
        np.testing.assert_allclose(folds[:, b], reach[:, b] @ apart, atol=1e-11)
        np.testing.assert_allclose(shown[:, b], reach[:, b] @ wins.T, atol=1e-11)


def test_one_card_games_have_terminals_too():
    leduc = load_game("leduc")
    boards = live_hands(leduc, [(0,), (3,)], 1)
    count, hands, _ = boards.held.shape
    reach = torch.rand((2, count, hands), dtype=torch.float64)
    options = {"device": torch.device("cpu"), "dtype": torch.float64}
    folds = Folds(boards, 2, options).values(reach)
    shown = Showdowns(boards, 2, options).values(reach)
    torch.testing.assert_close(folds, reach.sum(2, keepdim=True) - reach)
    for b in range(count):
        wins = np.sign(boards.strengths[b][:, None] - boards.strengths[b][None, :])
        np.testing.assert_allclose(shown[:, b].numpy(), reach[:, b].numpy() @ wins.T, atol=1e-12)


def equity_by_counting(board, mine, theirs):
    """Wins minus losses over all run-outs, divided by their number."""
    from itertools import combinations

    left = [c for c in range(52) if c not in (*board, *mine, *theirs)]
    rest = np.array(list(combinations(left, 5 - len(board))), np.uint8).reshape(-1, 5 - len(board))
    full = np.concatenate([np.tile(np.array(board, np.uint8), (len(rest), 1)), rest], axis=1)
    shown = [
        strength(np.concatenate([np.tile(np.array(hand, np.uint8), (len(full), 1)), full], axis=1))
        for hand in (mine, theirs)
    ]
    return float(np.sign(shown[0].astype(int) - shown[1].astype(int)).mean())


@pytest.mark.parametrize("cards", [0, 3, 4])
def test_allin_equity_is_that_of_counting(cards):
    rng = np.random.default_rng(cards)
    deck = rng.permutation(52).tolist()
    board, equity = tuple(deck[:cards]), allin_equity(deck[:cards])
    hands = hand_cards()[~blocked(board)]
    assert equity.shape == (len(hands), len(hands))
    assert (equity == -equity.T).all()
    for _ in range(1 if cards == 0 else 8):
        mine, theirs = (sorted(pair) for pair in rng.permutation(deck[cards:])[:4].reshape(2, 2))
        row, column = (np.nonzero((hands == pair).all(axis=1))[0][0] for pair in (mine, theirs))
        assert equity[row, column] == pytest.approx(
            equity_by_counting(board, tuple(mine), tuple(theirs)), abs=1e-6
        )
    clash = (hands[0][None, :, None] == hands[:, None, :]).any(axis=(1, 2))
    assert not equity[0, clash].any()


def test_allin_equity_of_a_one_card_game():
    """Before the board card of no-limit Leduc: a king wins unless the other one pairs."""
    leduc = load_game("nolimit_leduc")
    equity = allin_equity((), leduc)  # cards JJQQKK
    assert equity[4, 0] == pytest.approx((3 - 1) / 4)
    assert equity[4, 5] == 0
    assert (equity == -equity.T).all()


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
def test_allin_values_are_the_product(rows):
    margins = [allin_margins((b, b + 9, b + 21, b + 30)) for b in range(2)]
    counts = np.stack([margin.counts for margin in margins])
    assert counts.dtype == np.int8
    reach = np.random.default_rng(1).random((rows, 2, counts.shape[1]))
    out = np.zeros_like(reach)
    allin_values(counts, margins[0].run_outs, reach, out)
    expected = np.einsum("bho,tbo->tbh", counts / 44, reach)
    np.testing.assert_allclose(out, expected, atol=1e-10)


@pytest.mark.slow
def test_shipped_counts_are_those_that_are_made():
    hands, margins = preflop_margins()
    equity = allin_equity(())
    assert len(hands) == 169
    np.testing.assert_allclose(equity[hands], margins / 1_712_304, atol=1e-7)


# ---- shapes


def test_subgames_are_grouped_by_shape():
    chips = [100, 900, 19_900, 950, 150, 19_000]
    states = [state_at(RANDOM_BOARDS[0], each, 3) for each in chips]
    groups = group_by_shape(states, RAISES)
    assert sorted(i for same in groups for i in same.indices) == list(range(len(states)))
    keys = [{shape_key(tree) for tree in same.trees} for same in groups]
    assert all(len(key) == 1 for key in keys)
    assert len({*map(frozenset, keys)}) == len(groups)
    assert next(same.indices for same in groups if 2 in same.indices) == (2, 5)
    for same in groups:
        assert [tree.root for tree in same.trees] == [states[i] for i in same.indices]


def test_rounds_and_boards_have_shapes_of_their_own():
    board = RANDOM_BOARDS[0]
    turn, river = state_at(board[:4], 19_900, 2), state_at(board, 19_900, 3)
    assert shape_key(round_tree(turn, RAISES)) != shape_key(round_tree(river, RAISES))


# ---- devices


class OnlyOn(TorchDispatchMode):
    """Fails where a tensor of another device takes part."""

    def __init__(self, device):
        super().__init__()
        self.device, self.operations = device, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tree_leaves((args, kwargs, result)):
            if isinstance(tensor, torch.Tensor):
                assert tensor.device.type == self.device, (function, tensor.device)
        self.operations += 1
        return result


def run_on(device, round_):
    """All that an engine does."""
    batched = make_batched(
        random_situations(2, round_, 1, 900), DEFAULT, torch.float32, device=device
    )
    with OnlyOn(device) as mode:
        batched.run(2)
        batched.exploitability()
        batched.expected_values(current=True)
        batched.strategies(1)
        values = batched.over_all_hands(batched.root_values(AVERAGE))
    assert mode.operations > 100
    return values


@pytest.mark.parametrize("round_", [0, 2, 3])
def test_every_tensor_lives_on_the_configured_device(round_):
    """On a device without numbers, where a number that is read, or a tensor of the processor that
    takes part, is an error."""
    assert run_on("meta", round_).device.type == "meta"


@pytest.mark.parametrize("round_", [2, 3])
def test_nothing_falls_back_to_the_default_device(round_):
    expected = run_on("cpu", round_)
    torch.set_default_device("meta")
    try:
        values = run_on("cpu", round_)
    finally:
        torch.set_default_device(None)
    assert torch.equal(values, expected)


def test_matrices_of_other_devices_are_the_counts_of_the_processor():
    """Called all-ins are worth the same by dense matrices as by counts."""
    from deepstack.solver.batched_terminals import AllIns

    margins = [allin_margins((b, b + 9, b + 21, b + 30)) for b in range(2)]
    reach = torch.rand((3, 2, margins[0].counts.shape[0]), dtype=torch.float64)
    options = {"device": torch.device("cpu"), "dtype": torch.float64}
    counted = AllIns(margins, 2, 3, options).values(reach)
    for board in range(2):
        dense = AllIns([margins[board]], 2, 3, options)
        assert dense._counts is None
        torch.testing.assert_close(dense.values(reach)[:, board], counted[:, board])


# ---- refusals


def test_refusals():
    situations = random_situations(2, 3, seed=1, chips=900)
    with pytest.raises(InputError, match="no states"):
        BatchedEngine([], np.zeros((0, 2, 1326)), RAISES, DEFAULT)
    with pytest.raises(InputError, match=r"shape \(1, 2, 1326\): expected \(2, 2, 1326\)"):
        BatchedEngine(situations.states, situations.ranges[:1], RAISES, DEFAULT)
    mixed = [situations.states[0], state_at(RANDOM_BOARDS[0], 19_900, 3)]
    with pytest.raises(InputError, match="2 shapes"):
        BatchedEngine(mixed, situations.ranges, RAISES, DEFAULT)
    turn = random_situations(1, 2, seed=1, chips=900)
    with pytest.raises(InputError, match="evaluator"):
        BatchedEngine(*turn, RAISES, DEFAULT)
    with pytest.raises(InputError, match="mode"):
        make_batched(situations, DEFAULT, torch.float32).root_values(99)
