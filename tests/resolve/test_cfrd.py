"""CFR-D in Leduc hold'em: values, memory, and the strategy that is found again."""

import weakref

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve import cfrd
from deepstack.resolve.cfrd import CfrD, SubgameSolve, SubgameValues
from deepstack.run.errors import InputError
from deepstack.solver.cfr_kernels import AVERAGE
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR, CFR_PLUS
from deepstack.tree.betting import limit_raises

LEDUC = load_game("leduc")
ROOT, ONES = initial_state(LEDUC), np.ones((2, LEDUC.hands))
QUICK = SubgameSolve(CFR_PLUS, 30)


def whole_leduc(rule=CFR):
    return Engine(ROOT, ONES, limit_raises, rule, dtype=np.float64, merge=False)


@pytest.fixture(scope="module")
def measured():
    """Exploitability and value of seat 0 after 10, 40 and 130 iterations of the trunk."""
    solver, whole = CfrD(ROOT, ONES, limit_raises, SubgameSolve(CFR_PLUS, 60)), whole_leduc()
    found = []
    for more in (10, 30, 90):
        solver.run(more)
        solver.complete(whole, SubgameSolve(CFR_PLUS, 300))
        found.append((whole.exploitability(), whole.expected_values()[0]))
    return found


def test_exploitability_falls_with_iterations_of_the_trunk(measured):
    exploitability = [found for found, _ in measured]
    assert exploitability[0] > 1.5 * exploitability[1] > 2.25 * exploitability[2]
    assert exploitability[-1] < 0.06


def test_the_value_comes_near_that_of_the_game(measured):
    """The value of a strategy differs from -0.0856 by at most twice its exploitability."""
    exploitability, value = measured[-1]
    assert value == pytest.approx(-0.0856, abs=2 * exploitability)
    assert value == pytest.approx(-0.0856, abs=0.02)


def test_never_more_than_one_subgame_at_a_time(monkeypatch):
    """Trunk and one subgame: memory below that of the whole game."""
    alive, most = weakref.WeakSet(), 0

    class Counted(Engine):
        def __init__(self, *args, **changes):
            nonlocal most
            super().__init__(*args, **changes)
            if not self.betting_tree.leaves:
                alive.add(self)
                most = max(most, len(alive))

    monkeypatch.setattr(cfrd, "Engine", Counted)
    solver = CfrD(ROOT, ONES, limit_raises, QUICK)
    solver.run(3)
    assert most == 1
    trunk, subgame = solver.bytes
    assert trunk >= solver.trunk.memory.total > 0
    assert trunk + subgame < whole_leduc().memory.total / 2
    merged = Engine(ROOT, ONES, limit_raises, CFR, dtype=np.float64)
    assert trunk + subgame < merged.memory.total / 2


def test_boards_alike_are_solved_once():
    """With and without merging, the first iteration gives the same values and means."""
    both = []
    for merge in (True, False):
        solver = CfrD(ROOT, ONES, limit_raises, QUICK, merge=merge)
        solver.run(1)
        both.append((solver.below.mean, solver.trunk.tables.regret))
    for merged, apart in zip(*both, strict=True):
        assert merged == pytest.approx(apart, abs=1e-9)


def test_leaves_of_a_solved_trunk_are_worth_what_they_were():
    """In a solved game the strategies below a line solve its subgames, so that solving them again
    for the reach of the solution gives each player the same, summed over the hands it comes with.
    """
    whole = whole_leduc(CFR_PLUS)
    whole.run(3000)
    below = SubgameValues(ROOT, ONES, limit_raises, SubgameSolve(CFR_PLUS, 1000))
    trunk = Engine(ROOT, ONES, limit_raises, CFR, dtype=np.float64, last_round=0, evaluator=below)
    reach = whole.line_reach(AVERAGE)
    found = below.values(trunk.leaves(), reach[:, None])[:, 0]
    stage = whole.board_tree[1]
    for player in (0, 1):
        for line in range(5):
            worth = np.zeros(6)
            for board in range(6):
                values = whole.line_values(line, board, player, AVERAGE)
                worth[stage.place_in_parent[board]] += stage.weight[board] * values
            expected = reach[player, line] @ worth
            assert reach[player, line] @ found[player, line] == pytest.approx(expected, abs=0.02)


def test_where_only_one_player_comes_the_other_still_learns_what_it_is_worth():
    below = SubgameValues(ROOT, ONES, limit_raises, QUICK, merge=False)
    trunk = Engine(ROOT, ONES, limit_raises, CFR, dtype=np.float64, last_round=0, evaluator=below)
    reach = np.zeros((2, 1, 5, 6))
    reach[1] = 1.0
    values = below.values(trunk.leaves(), reach)
    assert np.abs(values[1]).max() < 1e-6  # nobody to win from
    assert (values[0, 0, :, 4:] > values[0, 0, :, :2]).all()  # kings before jacks
    assert (below.values(trunk.leaves(), np.zeros_like(reach)) == 0).all()
    # both hold the same card: no deal brings them here, but other hands would meet it
    reach[:] = 0.0
    reach[:, :, :, 5] = 1.0
    values = below.values(trunk.leaves(), reach)
    assert values[:, 0, :, 5] == pytest.approx(0, abs=1e-6)
    assert (values[:, 0, :, :2] < -0.1).all()


def test_wrong_trunks_are_refused():
    with pytest.raises(InputError, match="iterations 0: expected at least 1 for a subgame"):
        SubgameSolve(CFR_PLUS, 0)
    kuhn = load_game("kuhn")
    with pytest.raises(InputError, match="expected a round to come after the trunk's"):
        CfrD(initial_state(kuhn), np.ones((2, 3)), limit_raises, QUICK)
