"""A player held to a strategy of the first round: in Leduc against a linear program."""

import numpy as np
import pytest

from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.resolve.frozen import complete, hold, round_strategy, winnings
from deepstack.run.errors import InputError
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR_PLUS
from deepstack.tabular import sequence_form
from deepstack.tabular.sequence_form import Chance, Decision, game_tree, solve_lp
from deepstack.tree.menus import load_menu

LEDUC = load_game("leduc")
RAISES = load_menu("limit").raises
GAP = 0.002  # chips; the pot is 2
LAST = 3  # times as often as each other action


def leduc(merge=False):
    ranges = np.ones((2, LEDUC.hands))
    return Engine(initial_state(LEDUC), ranges, RAISES, CFR_PLUS, dtype=np.float64, merge=merge)


def last_action_often(engine):
    """Every hand takes the last action of every node so many times as often as the others."""
    found = []
    for node in engine.betting_tree.stages[0].nodes:
        weights = np.ones(len(node.slots))
        weights[-1] = LAST
        found.append(np.tile(weights / weights.sum(), (LEDUC.hands, 1)))
    return tuple(found)


def held_tree(node, player):
    """Leduc's tree with the player's decisions of the first round left to chance."""
    if not isinstance(node, Chance | Decision):
        return node
    children = tuple(held_tree(child, player) for child in node.children)
    if isinstance(node, Chance):
        return Chance(children)
    if node.seat == player and not node.infoset.board:
        return Chance(children + (LAST - 1) * children[-1:])
    return Decision(node.seat, node.infoset, children)


@pytest.mark.parametrize("player", [0, 1])
def test_winnings_against_a_held_player_are_those_of_a_linear_program(player, monkeypatch):
    tree = held_tree(game_tree(LEDUC), player)
    monkeypatch.setattr(sequence_form, "game_tree", lambda game, raises: tree)
    exact = solve_lp(LEDUC).values[1 - player]
    engine = leduc()
    found = complete(engine, player, last_action_often(engine), gap=GAP, iterations=2000)
    assert found.gap <= GAP
    assert found.least - 1e-9 <= exact <= found.most + 1e-9
    assert exact > 0.2  # it costs much: the game is worth 0.0856


def test_an_equilibrium_of_the_first_round_costs_nothing():
    engine = leduc()
    engine.run(1000)
    strategy = round_strategy(engine)
    found = [complete(engine, player, strategy, gap=GAP, iterations=2000) for player in (0, 1)]
    assert -1e-9 <= sum(won.most for won in found) / 2 <= 2 * GAP


def test_iterations_leave_a_held_strategy_alone():
    engine = leduc()
    strategy = last_action_often(engine)
    hold(engine, 1, strategy)
    engine.run(20)
    after = round_strategy(engine)
    for node, before, now in zip(engine.betting_tree.stages[0].nodes, strategy, after, strict=True):
        kept = np.allclose(before, now, atol=1e-12)
        assert kept == (node.player == 1)


def test_what_was_learned_before_plays_no_part():
    engine, other = leduc(), leduc()
    strategy = last_action_often(engine)
    engine.run(30)
    found = complete(engine, 0, strategy, gap=0.0, iterations=20)
    assert found == complete(other, 0, strategy, gap=0.0, iterations=20)
    assert found == winnings(other, 0)
    assert found.iterations == 20


def test_a_held_strategy_has_to_fit_the_tree():
    engine = leduc()
    strategy = last_action_often(engine)
    with pytest.raises(InputError, match="of 1 nodes: expected 6 with the same actions"):
        hold(engine, 0, strategy[:1])
    with pytest.raises(InputError, match="expected a tree whose boards are not merged"):
        hold(leduc(merge=True), 0, strategy)
