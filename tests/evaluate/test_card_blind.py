"""Best responses to players who ignore their cards: published figures, brute force, kernels."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
import pytest

from deepstack.agents.rules import Triple, Uniform
from deepstack.cards.boards import canonical_boards
from deepstack.cards.notation import Deck, hand_cards
from deepstack.cards.strength import board_strengths
from deepstack.evaluate.card_blind import (
    betting_programs,
    card_blind_exploitabilities,
    card_blind_exploitability,
    count_steps,
    run_program_plain,
    showdown_counts_plain,
    sum_table_plain,
)
from deepstack.evaluate.card_blind_kernels import BLOCKED, run_program, showdown_counts, sum_table
from deepstack.game.definition import Game, load_game
from deepstack.game.showdown import strengths_of
from deepstack.game.state import State, initial_state, share_pot
from deepstack.run.errors import InputError
from deepstack.run.progress import track

FOLD, CALL, RAISE, PROBE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.5, 0.5)
MIXED = (0.25, 0.25, 0.5)  # exact in the float32 of Triple.probabilities
ROUNDING = 1e-9  # chips; both sides are float64 sums of some thousand terms

# M. Johanson, thesis 2016, table 2.1, in mbb/g as printed.
TABLE_2_1 = {FOLD: 750.0, CALL: 1163.48, RAISE: 3697.69, PROBE: 2406.55}


@pytest.mark.slow
def test_table_2_1_of_full_limit_holdem():
    game = load_game("limit_holdem")
    with track(count_steps(game), "table 2.1", "flops") as progress:
        found = card_blind_exploitabilities(game, list(TABLE_2_1), progress=progress, threads=2)
    assert progress.done == progress.total
    for (agent, printed), exploitability in zip(TABLE_2_1.items(), found, strict=True):
        assert exploitability.mbb == pytest.approx(printed, abs=0.005 + 1e-6), agent
    fold, call, raise_, probe = found
    assert fold.mbb_by_seat == pytest.approx((500, 1000))
    # More digits, and the seats apart, from a separate computation that agrees with the table.
    assert call.mbb_by_seat == pytest.approx((1163.4757, 1163.4757), abs=1e-3)
    assert raise_.mbb_by_seat == pytest.approx((3697.6929, 3697.6929), abs=1e-3)
    assert probe.mbb_by_seat == pytest.approx((2214.9895, 2598.1123), abs=1e-3)


# ---- against brute force


@lru_cache(maxsize=100_000)
def _strength(game: Game, cards: tuple[int, ...]) -> int:
    return int(strengths_of(game, np.array(cards)))


def _payoff(state: State, hand: tuple[int, ...], other: tuple[int, ...], seat: int) -> float:
    if state.folded_out:
        return state.payoffs()[seat]
    by_seat = [hand, other] if seat == 0 else [other, hand]
    strengths = [_strength(state.game, (*cards, *state.board)) for cards in by_seat]
    return share_pot(state.spent, state.folded, strengths)[seat]


def _respond(state: State, agent: Triple, seat: int, hand: tuple[int, ...], reach: dict) -> float:
    """The best response's value with a hand, over all opponent hands weighted by their reach."""
    game, hole = state.game, state.game.hole_cards
    if state.is_over:
        return sum(w * _payoff(state, hand, other, seat) for other, w in reach.items())
    if state.cards_owed:
        unseen = len(game.deck) - 2 * hole - len(state.board)
        ways = comb(unseen, state.cards_owed)
        left = sorted(set(range(len(game.deck))) - {*hand, *state.board})
        total = 0.0
        for cards in combinations(left, state.cards_owed):
            compatible = {o: w / ways for o, w in reach.items() if not {*o} & {*cards}}
            total += _respond(state.deal(cards), agent, seat, hand, compatible)
        return total
    actions, probabilities = agent.probabilities(state)
    if state.actor == seat:
        return max(_respond(state.apply(a), agent, seat, hand, reach) for a in actions)
    total = 0.0
    for a, action in enumerate(actions):
        if probabilities[0, a] > 0:
            weights = {other: w * float(probabilities[0, a]) for other, w in reach.items()}
            total += _respond(state.apply(action), agent, seat, hand, weights)
    return total


def _brute_force(agent: Triple) -> list[float]:
    game = agent.game
    hands = [tuple(row) for row in hand_cards(len(game.deck), game.hole_cards).tolist()]
    values = []
    for seat in range(2):
        total = 0.0
        for hand in hands:
            others = [other for other in hands if not {*other} & {*hand}]
            reach = {other: 1 / (len(hands) * len(others)) for other in others}
            total += _respond(initial_state(game), agent, seat, hand, reach)
        values.append(total)
    return values


def _small_games() -> dict[str, Game]:
    leduc, rhode_island = load_game("leduc"), load_game("rhode_island")
    return {
        "kuhn": load_game("kuhn"),
        "leduc": leduc,
        "two private cards": replace(
            leduc, deck=Deck("QK", "cdhs"), hole_cards=2, max_raises=(1, 1)
        ),
        "three rounds": replace(
            rhode_island, deck=Deck("QKA", "cd"), max_raises=(1, 2, 1), first_player=(1, 0, 0)
        ),
        "two cards at once": replace(leduc, deck=Deck("JQ", "cds"), board_cards=(1, 2)),
        "a round without cards": replace(
            leduc, board_cards=(0, 0, 1), raise_size=(2, 4, 4), max_raises=(1, 1, 2),
            first_player=(0, 1, 0),
        ),
        "one rank": replace(leduc, deck=Deck("K", "cdhs"), board_cards=(1, 1)),
        "short stacks": replace(
            leduc, blinds=(2, 1), stacks=(7, 9), board_cards=(0, 1, 1), raise_size=(2, 2, 2),
            max_raises=(2, 2, 2), first_player=(1, 0, 0),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", _small_games())
def test_agrees_with_brute_force(name):
    game = _small_games()[name]
    triples = (FOLD, CALL, RAISE, PROBE, MIXED)
    agents = [Triple(game, fold=f, call=c, raise_=r) for f, c, r in triples]
    found = card_blind_exploitabilities(game, agents)
    for agent, exploitability in zip(agents, found, strict=True):
        expected = pytest.approx(_brute_force(agent), abs=ROUNDING)
        assert exploitability.by_seat == expected


def test_uniform_player_of_leduc():
    agent = Uniform(load_game("leduc"))
    assert card_blind_exploitability(agent.game, agent).by_seat == pytest.approx(
        _brute_force(agent),
        abs=1e-6,  # thirds are float32 in the brute force
    )


# ---- hold'em


def test_always_fold_loses_three_quarters_of_a_big_blind():
    found = card_blind_exploitability(load_game("holdem_2_4"), FOLD)
    assert found.by_seat == (5.0, 10.0)
    assert found.chips == 7.5
    assert found.mbb_by_seat == (500.0, 1000.0)
    assert found.mbb == 750.0


def test_always_call_in_holdem_to_the_flop():
    """Against a caller one raises whenever one is ahead, and that is all there is to say."""
    game = load_game("holdem_2_1")
    flops, weights = canonical_boards(3)
    counts = np.empty((1326, len(flops)), np.int16)
    showdown_counts(board_strengths(flops), hand_cards(), 52, counts)
    ahead = np.where(counts == BLOCKED, 0, counts / comb(47, 2) - 1)  # of 1: who wins the pot
    # Flops are merged by suits, so only means over all hands of a class of 169 have meaning.
    one = (weights * np.maximum(10 * ahead, 20 * ahead)).sum(axis=1) / comb(50, 3)
    two = (weights * np.maximum(20 * ahead, 30 * ahead)).sum(axis=1) / comb(50, 3)
    lo, hi = hand_cards().T.astype(int)
    classes = (lo // 4) * 26 + (hi // 4) * 2 + (lo % 4 == hi % 4)
    size = np.maximum(np.bincount(classes), 1)
    best = np.maximum(np.bincount(classes, one) / size, np.bincount(classes, two) / size)[classes]
    found = card_blind_exploitability(game, CALL)
    assert best.min() > -5  # so the small blind never folds
    assert found.by_seat == pytest.approx((best.mean(), best.mean()))


def test_threads_and_progress_change_nothing():
    game = load_game("rhode_island")
    alone = card_blind_exploitability(game, PROBE)
    with track(count_steps(game), "boards", "boards", quiet=True) as progress:
        assert card_blind_exploitability(game, PROBE, threads=2, progress=progress) == alone
    assert progress.done == progress.total == 13
    with track(count_steps(load_game("kuhn")), "boards", "boards", quiet=True) as progress:
        card_blind_exploitability(load_game("kuhn"), PROBE, progress=progress)
    assert progress.done == progress.total == 1


def test_pots_that_limit_holdem_can_reach():
    """Before the flop 1 to 4 big blinds each, then up to 8 and 16: for both seats."""
    game = load_game("limit_holdem")
    programs = betting_programs(game, [Triple(game, call=0.5, raise_=0.5)])
    assert [program.outputs for program in programs] == [2, 2 * 4, 2 * 8, 2 * 16]


# ---- kernels against the functions that define them


def test_showdown_counts():
    generator = np.random.default_rng(1)
    boards = [generator.permutation(52)[:5].tolist() for _ in range(3)]
    boards += [[48, 44, 40, 36, 32], [0, 1, 2, 3, 51]]  # straight flush and quads on the board
    strengths = board_strengths(np.array(boards))
    counts = np.empty((1326, len(boards)), np.int16)
    showdown_counts(strengths, hand_cards(), 52, counts)
    np.testing.assert_array_equal(counts, showdown_counts_plain(strengths, hand_cards()))
    assert ((counts == BLOCKED).sum(axis=0) == 1326 - comb(47, 2)).all()
    # Every pair of hands shares two points.
    assert (np.where(counts == BLOCKED, 0, counts).sum(axis=0) == comb(47, 2) * comb(45, 2)).all()


def test_showdown_counts_of_one_card():
    strengths = np.random.default_rng(2).integers(0, 5, (20, 12)).astype(np.int16)
    counts = np.empty((12, 20), np.int16)
    cards = hand_cards(12, 1)
    showdown_counts(strengths, cards, 12, counts)
    np.testing.assert_array_equal(counts, showdown_counts_plain(strengths, cards))


def test_sum_table():
    generator = np.random.default_rng(3)
    counts = generator.integers(BLOCKED, 40, (30, 7)).astype(np.int16)
    weights, table = generator.random(7), generator.normal(size=(40, 5))
    out = np.empty((5, 30))
    sum_table(counts, weights, table, out)
    np.testing.assert_allclose(out, sum_table_plain(counts, weights, table), atol=1e-12)


def test_run_program():
    game = load_game("limit_holdem")
    agents = [Triple(game, fold=0.2, call=0.5, raise_=0.3), Triple(game, call=1)]
    for program in betting_programs(game, agents):
        inputs = np.random.default_rng(4).normal(size=(program.column.max() + 1, 300))
        outputs = np.empty((program.outputs, 300))
        run_program(program, inputs, outputs)
        np.testing.assert_allclose(outputs, run_program_plain(program, inputs), atol=1e-12)


# ---- what is refused


def test_refusals():
    limit, leduc = load_game("limit_holdem"), load_game("leduc")
    with pytest.raises(InputError, match="hunl is a no-limit game of 2 players: expected a limit"):
        card_blind_exploitability(load_game("hunl"), CALL)
    with pytest.raises(InputError, match="leduc_3p is a limit game of 3 players"):
        card_blind_exploitability(load_game("leduc_3p"), CALL)
    with pytest.raises(InputError, match=r"triple .*: expected three probabilities"):
        card_blind_exploitability(limit, (0.5, 0.6, 0.0))
    with pytest.raises(InputError, match=r"triple .*: expected three probabilities"):
        card_blind_exploitability(limit, (0.5, 0.5))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="agent of game leduc: expected one of limit_holdem"):
        card_blind_exploitability(limit, Triple(leduc, call=1))
    with pytest.raises(InputError, match="threads 0: expected at least 1"):
        card_blind_exploitability(leduc, CALL, threads=0)
    assert card_blind_exploitabilities(leduc, []) == []
