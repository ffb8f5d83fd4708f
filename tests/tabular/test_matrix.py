"""Matrix games: regret minimisers against their lemmas and against Burch's thesis (2017), ch. 4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.run.errors import InputError
from deepstack.tabular.matrix import (
    CFR,
    CFR_PLUS,
    OPTIMISTIC,
    Rule,
    blotto,
    exploitability,
    hedge,
    pennies,
    play,
    random_matrix,
    rock_paper_scissors,
    run,
    run_plain,
    tracking_regret,
)

GAMES = {"pennies": pennies(), "rps": rock_paper_scissors(), "blotto": blotto()}
RULES = {
    "cfr": CFR,
    "cfr+": CFR_PLUS,
    "optimistic": OPTIMISTIC,
    "hedge": Rule(rate=0.1),
    "optimistic hedge": Rule(rate=0.1, optimistic=True),
    "cfr, linear": replace(CFR, averaging=1.0),
}


# ---- games


def test_pennies_equilibrium():
    x = np.array([2 / 3, 1 / 3])
    assert exploitability(pennies(), x, x) == pytest.approx(0, abs=1e-15)
    assert x @ pennies() @ x == pytest.approx(0, abs=1e-15)


def test_rock_paper_scissors_equilibrium():
    x = np.array([1 / 2, 1 / 6, 1 / 3])
    assert exploitability(rock_paper_scissors(), x, x) == pytest.approx(0, abs=1e-15)


def test_blotto_is_symmetric_and_has_the_size_of_the_thesis():
    game = blotto(3, 16)
    assert game.shape == (21, 21)
    assert set(np.unique(game)) == {-1, 0, 1}
    np.testing.assert_array_equal(game, -game.T)


def test_random_matrix_depends_on_its_generator_alone():
    a, b = (random_matrix(np.random.default_rng(5), 30) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert a.shape == (30, 30)


# ---- the kernel


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_kernel_equals_plain_twin(rule, alternating):
    rule = replace(rule, alternating=alternating)
    game = np.random.default_rng(1).normal(size=(5, 3))
    fast, plain = run(game, rule, 200), run_plain(game, rule, 200)
    for name in ("iterations", "average", "current", "lowest_regret"):
        got, expected = getattr(fast, name), getattr(plain, name)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=name)
    for name in ("average_strategies", "current_strategies", "regrets"):
        for got, expected in zip(getattr(fast, name), getattr(plain, name), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_recording_chosen_iterations_changes_nothing_else():
    whole, some = run(blotto(), CFR_PLUS, 300), run(blotto(), CFR_PLUS, 300, record=[300, 7, 100])
    assert some.iterations.tolist() == [7, 100, 300]
    np.testing.assert_array_equal(some.average, whole.average[[6, 99, 299]])
    np.testing.assert_array_equal(some.current, whole.current[[6, 99, 299]])


def test_averages_are_the_strategies_whose_exploitability_is_recorded():
    history = run(blotto(), CFR_PLUS, 100)
    assert exploitability(blotto(), *history.average_strategies) == pytest.approx(
        history.average[-1], abs=1e-14
    )
    assert exploitability(blotto(), *history.current_strategies) == pytest.approx(
        history.current[-1], abs=1e-14
    )


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_rule_converges(game, rule):
    history = run(game, rule, 4000)
    assert history.average[-1] < 0.1 * history.average[0]
    assert history.average.min() >= -1e-15


def test_regrets_of_simultaneous_updates_are_the_exploitability_of_the_average():
    """(R₁ + R₂) / 2T, Burch's section 2.7.4."""
    history = run(blotto(), replace(CFR, alternating=False), 500)
    regrets = sum(r.max() for r in history.regrets)
    assert history.average[-1] == pytest.approx(regrets / (2 * 500), rel=1e-10)


@pytest.mark.parametrize(
    ("matrix", "rule", "iterations", "record", "what"),
    [
        ([1.0, 2.0], CFR, 10, None, "shape"),
        ([[1.0, np.nan]], CFR, 10, None, "finite"),
        (pennies(), CFR, 0, None, "iterations = 0"),
        (pennies(), CFR, 10, [11], "from 1 to 10"),
        (pennies(), CFR, 10, [], "from 1 to 10"),
        (pennies(), Rule(floor=1.0), 10, None, "floor"),
    ],
)
def test_wrong_input_is_named(matrix, rule, iterations, record, what):
    with pytest.raises(InputError, match=what):
        run(matrix, rule, iterations, record)


def test_blotto_without_enough_soldiers():
    with pytest.raises(InputError, match="20 fields"):
        blotto(20, 16)


# ---- figures of the thesis

# Exploitability of the average at T = 100 and 1000, recomputed for the thesis's games independently
# of this code, to the digits given there.
ANCHORS = [
    ("pennies", "cfr", 0.040866, 0.0037387),
    ("pennies", "cfr+", 0.010230, 0.0011504),
    ("rps", "cfr", 0.009364, 0.0031399),
    ("rps", "cfr+", 0.0064497, 8.0891e-4),
    ("blotto", "cfr", 0.0096271, 0.0011274),
    ("blotto", "cfr+", 0.0014104, 1.1939e-4),
]


@pytest.mark.parametrize(("game", "rule", "at_100", "at_1000"), ANCHORS)
def test_exploitability_anchors(game, rule, at_100, at_1000):
    history = run(GAMES[game], RULES[rule], 1000, record=[100, 1000])
    assert history.average == pytest.approx([at_100, at_1000], rel=1e-4)


def test_pennies_has_no_negative_regret_after_iteration_41():
    """Section 4.3.4: "after iteration 41, neither algorithm has negative regret"."""
    negative = run(pennies(), CFR, 100_000).lowest_regret < 0
    assert np.flatnonzero(negative)[-1] + 1 == 41


def test_pennies_regret_matching_plus_clips_only_once():
    clipped = run(pennies(), CFR_PLUS, 100_000).lowest_regret < 0
    assert (np.flatnonzero(clipped) + 1).tolist() == [1]


@pytest.mark.parametrize(("game", "since"), [("blotto", 2), ("rps", 271), ("pennies", 585)])
def test_cfr_plus_stays_below_cfr(game, since):
    """Section 4.3.3: after no more than 3 iterations; pennies and RPS between 100 and 1000."""
    cfr, plus = (run(GAMES[game], rule, 10_000).average for rule in (CFR, CFR_PLUS))
    assert np.flatnonzero(plus >= cfr)[-1] + 2 == since


def test_cfr_plus_stays_below_cfr_in_a_random_game():
    game = random_matrix(np.random.default_rng(2), 300)
    cfr, plus = (run(game, rule, 500).average for rule in (CFR, CFR_PLUS))
    assert (plus < cfr)[10:].all()


@pytest.mark.slow
def test_cfr_plus_stays_below_cfr_in_random_games_of_the_thesis():
    """Section 4.3.3 says after no more than 3 iterations, in the mean over ten 1000 × 1000 games.

    Ours are above by up to 4 % at iteration 4 as well, and with some seeds by 0.1 % at 6.
    """
    rng = np.random.default_rng(0)
    games = [random_matrix(rng) for _ in range(10)]
    cfr, plus = (
        np.mean([run(game, rule, 300).average for game in games], axis=0)
        for rule in (CFR, CFR_PLUS)
    )
    assert (plus < cfr)[6:].all()


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_alternating_updates_beat_simultaneous_ones(game):
    for rule in (CFR, CFR_PLUS):
        apart, together = (
            run(game, replace(rule, alternating=a), 10_000, record=[10_000]).average[0]
            for a in (True, False)
        )
        assert apart < together / 5


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_linear_average_of_cfr_plus_keeps_its_bound(game):
    """Theorem 8 with one information set a player: a 2 Σ L √(A/T) equilibrium."""
    history = run(game, CFR_PLUS, 2000)
    bound = 2 * np.ptp(game) * sum(np.sqrt(n / history.iterations) for n in game.shape)
    # an ε-equilibrium has an exploitability of at most ε (section 2.4.5)
    assert (history.average <= bound).all()


# ---- tracking regret: the example of section 4.2.2


def switching_values(n: int) -> np.ndarray:
    """Action l is best for n steps, then action r for n."""
    return np.array([[1.0, -1.0]] * n + [[-1.0, 1.0]] * n)


@pytest.mark.parametrize("n", [1, 2, 10, 500])
def test_regret_matching_does_not_track(n):
    values = switching_values(n)
    played = play(CFR, values)
    t = np.arange(1, 2 * n + 1)
    assert np.sum(played.strategies * values) == -1
    np.testing.assert_array_equal(played.stored[:, 0], 1)
    np.testing.assert_array_equal(played.stored[:, 1], 1 - 2 * n + 2 * abs(n - t))
    assert tracking_regret(played.gains, 1) == 1
    assert tracking_regret(played.gains, 2) == 2 * n + 1


def test_hedge_does_not_track():
    """Slightly less than T + 1; the total value is tanh-like in the rate."""
    n, rate = 50, 0.05
    values = switching_values(n)
    played = play(Rule(rate=rate), values)
    down, up = np.exp(-2 * rate * n), np.exp(2 * rate * n)
    total = (down - up) / (2 + down + up)
    assert np.sum(played.strategies * values) == pytest.approx(total, rel=1e-12)
    assert tracking_regret(played.gains, 2) == pytest.approx(2 * n - total, rel=1e-12)


def test_regret_matching_plus_tracks():
    n = 500
    played = play(CFR_PLUS, switching_values(n))
    assert tracking_regret(played.gains, 2) <= 2 * 2 * np.sqrt(2 * 2 * n)
    assert tracking_regret(played.gains, 2) < 0.05 * 2 * n


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_tracking_regret_is_the_maximum_over_all_partitions(seed, k):
    gains = np.random.default_rng(seed).normal(size=(6, 3))
    steps = len(gains)

    def best(start: int, stretches: int) -> float:
        if start == steps:
            return 0.0
        if stretches == 0:
            return -np.inf
        return max(
            gains[start:end].sum(axis=0).max() + best(end, stretches - 1)
            for end in range(start + 1, steps + 1)
        )

    assert tracking_regret(gains, k) == pytest.approx(best(0, k))


# ---- lemmas of regret matching⁺, against adversaries

EPS = 1e-9  # rounding in sums of a few hundred terms of order 1 to 100


def adversarial_values(seed: int, rule: Rule) -> np.ndarray:
    """Values [T, A] of random size: noise, a drift that switches, or spite against the player."""
    rng = np.random.default_rng(seed)
    steps, actions = int(rng.integers(1, 120)), int(rng.integers(1, 7))
    kind = rng.integers(3)
    values = rng.normal(size=(steps, actions))
    if kind == 1:
        values += 3 * rng.normal(size=(4, actions))[np.arange(steps) * 4 // steps]
    if kind == 2:
        # answer what is played: the more an action is used, the worse it becomes
        for t in range(steps):
            values[t] -= 5 * play(rule, values[: t + 1]).strategies[t]
    return values * 10 ** rng.uniform(-2, 2)


def scale(values: np.ndarray) -> float:
    """L, a bound on the differences of values within a step."""
    return float(np.ptp(values, axis=1).max())


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_regret_matching_plus_lemmas(seed):
    values = adversarial_values(seed, CFR_PLUS)
    (steps, actions), spread = values.shape, scale(values)
    played = play(CFR_PLUS, values)
    regrets, changes = played.gains.cumsum(axis=0), np.diff(played.stored, axis=0, prepend=0.0)
    slack = EPS * (1 + spread)
    t = np.arange(1, steps + 1)

    # Lemma 13: ΔR ≤ ΔQ and R ≤ Q
    assert (played.gains <= changes + slack).all()
    assert (regrets <= played.stored + slack).all()
    # Lemma 14: Σ Q² ≤ Σ Σ ΔR²
    squares = (played.gains**2).sum(axis=1).cumsum()
    assert ((played.stored**2).sum(axis=1) <= squares * (1 + EPS) + slack).all()
    # Theorem 6: Q ≤ L √(|A| T)
    bound = spread * np.sqrt(actions * t)
    assert (played.stored.max(axis=1) <= bound + slack).all()
    # Theorem 7: k-tracking regret ≤ k L √(|A| T)
    for k in (1, 2, 3, 5):
        assert tracking_regret(played.gains, k) <= k * bound[-1] + slack
    # Lemma 15, on the sequences it was made for: Σ t ΔQ ≤ T B, with B the final Q
    weighted = (t[:, None] * changes).sum(axis=0)
    assert (weighted <= steps * played.stored[-1] + steps * slack).all()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_sums_of_plausible_sequences(steps):
    """Lemma 15: prefix sums ≥ 0 and a total ≤ B give Σ t x ≤ T B."""
    x, total = [], 0.0
    for step in steps:
        x.append(max(step, -total))
        total += x[-1]
    weighted = sum(t * value for t, value in enumerate(x, start=1))
    assert weighted <= len(x) * total + EPS


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_regret_bounds_of_regret_matching_and_hedge(seed):
    values = adversarial_values(seed, CFR)
    (steps, actions), spread = values.shape, scale(values)
    slack = EPS * (1 + spread)
    matching = play(CFR, values)
    assert matching.stored[-1].max() <= spread * np.sqrt(actions * steps) + slack
    if actions > 1 and spread > 0:
        rule = hedge(actions, steps, spread)
        bound = spread * (np.sqrt(2 * steps * np.log(actions)) + np.log(actions))
        assert play(rule, values).stored[-1].max() <= bound + slack
