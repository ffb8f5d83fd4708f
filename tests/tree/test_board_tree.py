"""Board trees: classes, weights, places of hands."""

import itertools
from math import comb

import numpy as np
import pytest

from deepstack.cards.boards import hand_permutation
from deepstack.cards.notation import hand_cards
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.tree.boards import build_boards, root_group

HUNL = load_game("hunl")


def stages(name, text="", merge=True):
    game = load_game(name)
    board = game.deck.parse(text)
    first = next(r for r in range(game.rounds) if game.board_size(r) == len(board))
    group = root_group(game, board)
    return game, build_boards(game, board, first, game.rounds - 1, group if merge else group[:1])


@pytest.mark.parametrize(
    ("name", "text", "boards"),
    [
        ("leduc", "", [1, 3]),
        ("rhode_island", "", [1, 13, 325]),
        ("holdem_2_4", "", [1, 1755]),
        ("hunl", "Td9d6hQc", [1, 48]),
        ("hunl", "Td9d6h", [1, 36, 1429]),
        ("hunl", "AsKsQs", [1, 23, 675]),
    ],
)
def test_number_of_classes(name, text, boards):
    assert [stage.boards for stage in stages(name, text)[1]] == boards


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize(("name", "text"), [("leduc", ""), ("hunl", "Td9d6h"), ("hunl", "QcQdQh")])
def test_weights_of_children_stand_for_all_deals(name, text, merge):
    """For a hand, summed over a board's group, the children's weights are those of all deals that
    leave the hand alive, each with the chance it has given both hands."""
    game, tree = stages(name, text, merge)
    deck, hole = len(game.deck), game.hole_cards
    for parent, child in itertools.pairwise(tree):
        dealt = child.cards.shape[1] - parent.cards.shape[1]
        left = deck - parent.cards.shape[1]
        expected = comb(left - hole, dealt) / comb(left - 2 * hole, dealt)
        for board in range(parent.boards):
            alive = np.zeros(parent.hands.shape[1])
            for number in range(parent.first_child[board], parent.first_child[board + 1]):
                alive[child.place_in_parent[number]] += child.weight[number]
            total = sum(alive[image] for image in parent.symmetries[board])
            np.testing.assert_allclose(total, expected)


def test_places_name_the_same_hand():
    _, tree = stages("hunl", "Td9d6h")
    for parent, child in itertools.pairwise(tree):
        there = np.take_along_axis(parent.hands[child.parent], child.place_in_parent, axis=1)
        np.testing.assert_array_equal(there, child.hands)


def test_live_hands_hold_no_board_card_and_come_by_strength_at_the_end():
    _, tree = stages("hunl", "Td9d6h")
    final = tree[-1]
    held = hand_cards()[final.hands]
    for column in range(5):
        assert not (held == final.cards[:, column, None, None]).any()
    assert (np.diff(final.strengths, axis=1) >= 0).all()


def test_a_group_leaves_board_and_ranges_alone():
    board = HUNL.deck.parse("Td9d6h")
    assert len(root_group(HUNL, board)) == 2  # clubs and spades
    weights = np.random.default_rng(0).random((2, 1326))
    assert len(root_group(HUNL, board, weights)) == 1
    swap = hand_permutation(root_group(HUNL, board)[1])
    symmetric = (weights + weights[:, swap]) / 2
    assert len(root_group(HUNL, board, symmetric)) == 2


def test_a_board_of_the_wrong_size_is_refused():
    with pytest.raises(InputError, match="board 'Td9d': round 1 has 3"):
        build_boards(HUNL, HUNL.deck.parse("Td9d"), 1, 3, root_group(HUNL, ())[:1])
