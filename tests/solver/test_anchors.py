"""The engine on small games: known values, the anchors of Burch's thesis, and a plain recursion.

The anchors are exploitabilities in chips (half-sums) after 100, 1,000 and 10,000 iterations, from
an independent implementation of the algorithms of Burch (2017), chapter 4, which he ran with the
values of his Alg. 5 (``fresh``). At 100 iterations every digit agrees. Later the last bits decide
which way a tie goes, and two correct programs part: at 10,000 iterations on Leduc, runs whose
ranges differ by 1e-14 scatter by 5 % (CFR), 30 % (CFR+) and a factor of 2 (CFR with linear
averaging). So an anchor at 10,000 must lie among such runs, within 10 % of one of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deepstack.game.definition import Game, load_game
from deepstack.game.state import RAISE, State, initial_state
from deepstack.game.text import format_betting
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR, CFR_PLUS, DCFR, PCFR_PLUS, UpdateRule, update_rule
from deepstack.tabular.sequence_form import InfoSet, expected_value, exploitability, solve_lp
from deepstack.tree.boards import root_group
from deepstack.tree.menus import load_menu

KUHN, LEDUC, NOLIMIT = (load_game(name) for name in ("kuhn", "leduc", "nolimit_leduc"))
MENUS = {"kuhn": "limit", "leduc": "limit", "nolimit_leduc": "100%, a"}

DIGITS = 1e-3  # relative: anchors are printed with four digits or so
ANCHOR = 0.1  # relative: what rounding may do by 1,000 iterations
SCATTER = 4.0  # a factor between runs that only rounding distinguishes, never seen
RUNS = 24  # how many such runs are tried; of the most scattered, one in four comes within 10 %
SAME = 1e-11  # relative: the same sums in another order

CFR_NEW = update_rule("cfr", fresh=True)
CFR_PLUS_NEW = update_rule("cfr_plus", fresh=True)
OPTIMISTIC = update_rule("pcfr_plus", gamma=0.0, fresh=True)


def engine(game: Game, rule: UpdateRule, *, merge: bool = True, seed: int = 0) -> Engine:
    """The whole game in float64; a seed other than 0 moves the ranges by some 1e-14."""
    ranges = np.ones((2, game.hands))
    if seed:
        ranges += 1e-14 * np.random.default_rng(seed).standard_normal(ranges.shape)
    raises = load_menu(MENUS[game.name]).raises
    return Engine(initial_state(game), ranges, raises, rule, dtype=np.float64, merge=merge)


def solved(
    game: Game, rule: UpdateRule, iterations: int, *, merge: bool = True, seed: int = 0
) -> Engine:
    result = engine(game, rule, merge=merge, seed=seed)
    result.run(iterations)
    return result


def of_current(solver: Engine) -> float:
    """Exploitability of the current strategies: of averages that hold nothing else."""
    tables = solver.tables
    weights = tables.regret + (tables.prediction if solver.rule.predictive else 0.0)
    kept = tables.average.copy()
    tables.average[:] = np.maximum(weights, 0.0)
    result = solver.exploitability()
    tables.average[:] = kept
    return result


def raises_of(game: Game) -> Callable[[State], tuple[int, ...]]:
    """The menu of a game as the plain recursion asks for it."""
    menu = load_menu(MENUS[game.name])

    def raises(state: State) -> tuple[int, ...]:
        return menu.raises(state, sum(action.kind == RAISE for action in state.betting[-1]))

    return raises


def average_strategy(solver: Engine) -> dict[InfoSet, np.ndarray]:
    """The average strategies of both seats by information set, merged boards written out.

    For games with one card a hand and one a board, or none.
    """
    game, strategy = solver.game, {}
    suits = len(game.deck.suits)
    relabellings = root_group(game, ())[: None if solver.merged else 1]
    for stage, boards in enumerate(solver.board_tree):
        for number, node in enumerate(solver.betting_tree.stages[stage].nodes):
            betting = format_betting(node.state)
            for board, (cards, hands) in enumerate(zip(boards.cards, boards.hands, strict=True)):
                rows = solver.tables.average[solver.table_rows(stage, number, board)]
                weights = rows.reshape(len(node.slots), -1)[:, : len(hands)].T
                total = weights.sum(axis=1, keepdims=True)
                even = np.full_like(weights, 1 / len(node.slots))
                shares = np.divide(weights, total, out=even, where=total > 0)
                for become in relabellings:
                    own, public = (c // suits * suits + become[c % suits] for c in (hands, cards))
                    for card, share in zip(own.tolist(), shares, strict=True):
                        strategy[InfoSet(betting, (card,), tuple(public.tolist()))] = share
    return strategy


# ---- values


def test_kuhn_is_worth_minus_one_eighteenth():
    values = solved(KUHN, CFR_PLUS, 10_000).expected_values()
    assert values == pytest.approx([-1 / 18, 1 / 18], abs=1e-6)


def test_leduc_value():
    values = solved(LEDUC, CFR_PLUS, 10_000).expected_values()
    assert values == pytest.approx([-0.0856064, 0.0856064], abs=1e-5)


@pytest.mark.parametrize("game", [KUHN, LEDUC, NOLIMIT], ids=lambda game: game.name)
def test_linear_program_and_cfr_plus_agree(game):
    """What a profile wins is within twice its exploitability of the value of the game."""
    solver = solved(game, CFR_PLUS, 3_000)
    left = solver.exploitability()
    assert 0 < left < 3e-4 * game.big_blind
    value = solve_lp(game, raises_of(game)).values[0]
    assert solver.expected_values()[0] == pytest.approx(value, abs=2 * left)


# ---- the same figures by a plain recursion over all deals


@pytest.mark.parametrize("merge", [True, False], ids=["merged", "apart"])
@pytest.mark.parametrize("game", [KUHN, LEDUC, NOLIMIT], ids=lambda game: game.name)
@pytest.mark.parametrize("rule", [CFR, CFR_PLUS, DCFR, PCFR_PLUS], ids=lambda rule: rule.name)
def test_exploitability_is_that_of_the_plain_recursion(game, rule, merge):
    solver = solved(game, rule, 7, merge=merge)
    assert solver.merged == (merge and game != KUHN)
    strategy, raises = average_strategy(solver), raises_of(game)
    expected = exploitability(game, strategy, strategy, raises)
    assert solver.exploitability() == pytest.approx(expected, rel=SAME)
    value = expected_value(game, strategy, strategy, raises)
    assert solver.expected_values() == pytest.approx([value, -value], rel=SAME)


@pytest.mark.parametrize(("game", "iterations"), [(LEDUC, 1), (LEDUC, 50), (NOLIMIT, 2)])
def test_merged_boards_change_nothing(game, iterations):
    """As long as no tie is decided by rounding, in no-limit Leduc from the third iteration on."""
    merged, apart = (solved(game, CFR_PLUS, iterations, merge=merge) for merge in (True, False))
    assert merged.merged
    assert not apart.merged
    assert merged.exploitability() == pytest.approx(apart.exploitability(), rel=1e-8)
    assert merged.expected_values() == pytest.approx(apart.expected_values(), rel=1e-8)


# ---- anchors: burch-thesis.md section 2.3

LEDUC_ANCHORS: dict[str, tuple[UpdateRule, dict[int, float]]] = {
    "CFR": (CFR_NEW, {100: 0.07729, 1_000: 0.010352, 10_000: 1.4474e-3}),
    "CFR, standard values": (CFR, {100: 0.0957, 1_000: 0.01182, 10_000: 1.794e-3}),
    "CFR, linear average": (
        update_rule("cfr", gamma=1.0, fresh=True),
        {100: 0.157, 1_000: 0.0896, 10_000: 0.0118},
    ),
    "CFR, simultaneous": (update_rule("cfr", alternating=False, fresh=True), {10_000: 0.01058}),
    "CFR+": (CFR_PLUS_NEW, {100: 0.018462, 1_000: 2.6425e-4, 10_000: 8.477e-6}),
    "CFR+, standard values": (CFR_PLUS, {100: 0.013416, 1_000: 2.4501e-4, 10_000: 6.652e-6}),
    "CFR+, uniform average": (
        update_rule("cfr_plus", gamma=0.0, fresh=True),
        {100: 0.0648, 1_000: 6.375e-3, 10_000: 6.397e-4},
    ),
    "CFR+, simultaneous": (
        update_rule("cfr_plus", alternating=False, fresh=True),
        {10_000: 1.488e-3},
    ),
}
CURRENT_ANCHORS = {100: 0.07787, 1_000: 0.010551, 10_000: 3.843e-3}  # CFR+
KUHN_ANCHORS = {
    CFR_NEW: {100: 0.0069061, 1_000: 7.3067e-4},
    CFR_PLUS_NEW: {100: 0.0010949, 1_000: 1.1901e-4},
}


def anchors(iterations: int) -> list:
    return [
        pytest.param(rule, figures[iterations], id=name)
        for name, (rule, figures) in LEDUC_ANCHORS.items()
        if iterations in figures
    ]


@pytest.mark.parametrize(("rule", "anchor"), anchors(100))
def test_leduc_at_100_iterations(rule, anchor):
    assert solved(LEDUC, rule, 100).exploitability() == pytest.approx(anchor, rel=DIGITS)


@pytest.mark.parametrize(("rule", "anchor"), anchors(1_000))
def test_leduc_at_1_000_iterations(rule, anchor):
    assert solved(LEDUC, rule, 1_000).exploitability() == pytest.approx(anchor, rel=ANCHOR)


@pytest.mark.parametrize(("rule", "anchor"), anchors(10_000))
def test_leduc_at_10_000_iterations(rule, anchor):
    """Among runs that only rounding distinguishes; it tells the two suits apart, too."""
    seen: list[float] = []
    while not seen or seen[-1] != pytest.approx(anchor, rel=ANCHOR):
        assert len(seen) < RUNS, f"{anchor} is not within 10 % of any of {seen}"
        seen.append(solved(LEDUC, rule, 10_000, seed=len(seen) + 1).exploitability())
        assert anchor / SCATTER < seen[-1] < anchor * SCATTER


def test_current_strategy_of_cfr_plus_in_leduc():
    """It jumps from one iteration to the next: later anchors are met by the median of some."""
    solver = solved(LEDUC, CFR_PLUS_NEW, 100)
    assert of_current(solver) == pytest.approx(CURRENT_ANCHORS[100], rel=DIGITS)
    for iterations, tolerance in ((1_000, 0.2), (10_000, 0.5)):
        solver.run(iterations - 50 - solver.iterations)
        seen = []
        for _ in range(100):
            solver.run(1)
            seen.append(of_current(solver))
        assert np.median(seen) == pytest.approx(CURRENT_ANCHORS[iterations], rel=tolerance)


@pytest.mark.parametrize("rule", KUHN_ANCHORS, ids=lambda rule: rule.name)
def test_kuhn_anchors(rule):
    for iterations, anchor in KUHN_ANCHORS[rule].items():
        figure = solved(KUHN, rule, iterations).exploitability()
        assert figure == pytest.approx(anchor, rel=DIGITS), iterations


def test_uniform_average_of_cfr_plus_falls_with_one_over_the_iterations():
    """The slope of Burch's figure 4.9 in Leduc: ten times the iterations, a tenth is left."""
    solver, seen = engine(LEDUC, update_rule("cfr_plus", gamma=0.0, fresh=True)), []
    for iterations in (100, 1_000, 10_000):
        solver.run(iterations - solver.iterations)
        seen.append(solver.exploitability())
    assert np.divide(seen[:-1], seen[1:]) == pytest.approx([10, 10], rel=0.03)


# ---- claims: burch-thesis.md section 2.4


@pytest.mark.parametrize("game", [KUHN, LEDUC], ids=lambda game: game.name)
def test_cfr_plus_is_below_cfr_from_the_fourth_iteration_on(game):
    """Burch §4.3.3: at all times after at most three iterations."""
    plain, plus = engine(game, CFR_NEW), engine(game, CFR_PLUS_NEW)
    for iteration in range(1, 501):
        plain.run(1)
        plus.run(1)
        if iteration > 3:
            assert plus.exploitability() < plain.exploitability(), iteration


def test_cfr_plus_beats_optimistic_updates_in_leduc():
    """Burch §4.4.4, on average strategies."""
    figures = [solved(LEDUC, rule, 2_000).exploitability() for rule in (CFR_PLUS_NEW, OPTIMISTIC)]
    assert figures[0] < figures[1]


def test_optimistic_updates_find_an_equilibrium_of_kuhn_by_iteration_125():
    """Burch §4.4.4: the current strategy is a 1e-16-equilibrium, the average is still far off.

    The smallest step of a float64 near a stake of one chip is 2.2e-16.
    """
    solver = solved(KUHN, OPTIMISTIC, 125)
    assert of_current(solver) <= np.finfo(np.float64).eps
    assert solver.exploitability() > 1e-3


def test_optimistic_updates_need_alternation():
    """With both players updated at once Kuhn is still at 0.08 after 500 iterations."""
    simultaneous = update_rule("pcfr_plus", gamma=0.0, fresh=True, alternating=False)
    assert of_current(solved(KUHN, simultaneous, 500)) > 0.01
