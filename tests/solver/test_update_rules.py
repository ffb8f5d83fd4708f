"""The numbers of the update rules against their formulas."""

import numpy as np
import pytest

from deepstack.run.errors import InputError
from deepstack.solver.rules import CFR, CFR_PLUS, DCFR, LINEAR, RULES, update_rule


def weights(rule, iterations):
    """Weight of every iteration in the average after the last one, the last one's being 1."""
    schedule = rule.schedule(1, iterations)
    result = np.zeros(iterations)
    for t, (_, _, keep, add) in enumerate(schedule):
        result *= keep
        result[t] = add
    return result


def test_averages_are_uniform_linear_and_quadratic():
    t = np.arange(1, 11)
    np.testing.assert_allclose(weights(CFR, 10), np.ones(10))
    np.testing.assert_allclose(weights(CFR_PLUS, 10), t / 10)
    np.testing.assert_allclose(weights(DCFR, 10), (t / 10) ** 2)


def test_a_delay_leaves_the_first_iterations_out():
    np.testing.assert_allclose(
        weights(update_rule("cfr_plus", delay=3), 6), [0, 0, 0, 1 / 3, 2 / 3, 1]
    )


def test_restarts_forget_what_was_before():
    rule = update_rule("dcfr", restart=4, gamma=1.0)
    np.testing.assert_allclose(weights(rule, 4), [0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(weights(rule, 6), [0, 0, 0, 0, 1 / 2, 1])


def test_discounts_of_regrets():
    up, down = DCFR.schedule(5, 1)[0, :2]
    assert up == pytest.approx(4**1.5 / (4**1.5 + 1))
    assert down == 0.5
    assert LINEAR.schedule(5, 1)[0, :2] == pytest.approx([4 / 5, 4 / 5])
    assert CFR.schedule(5, 1)[0, :2] == pytest.approx([1, 1])
    assert update_rule("dcfr", beta=-1.0).schedule(1, 3)[:, 1] == pytest.approx([1, 0.5, 1 / 3])


def test_a_schedule_does_not_depend_on_how_it_is_cut():
    for rule in RULES.values():
        whole = rule.schedule(1, 20)
        np.testing.assert_array_equal(whole[7:], rule.schedule(8, 13))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("cfr++", {}, "algorithm 'cfr\\+\\+': expected one of cfr, cfr_plus"),
        ("cfr", {"speed": 2}, "algorithm cfr: .*speed"),
        ("cfr", {"delay": -1}, "expected no negative number"),
        ("cfr", {"restart": 1}, "a restart of 0 or at least 2"),
    ],
)
def test_wrong_rules_are_refused(name, changes, message):
    with pytest.raises(InputError, match=message):
        update_rule(name, **changes)
