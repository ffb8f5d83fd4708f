"""Hand strength against evaluators that others wrote: the same order, hand for hand."""

import numpy as np
import pytest

from deepstack.cards.notation import RANKS, SUITS
from deepstack.cards.strength import strength

pytestmark = pytest.mark.oracle

HANDS = {5: 100_000, 6: 100_000, 7: 1_000_000}


@pytest.fixture(scope="module", params=HANDS, ids=lambda count: f"{count} cards")
def hands(request: pytest.FixtureRequest) -> np.ndarray:
    """Random hands: uint8 [n, count]."""
    rng = np.random.default_rng(request.param)
    parts = [
        rng.random((50_000, 52), np.float32).argsort(axis=1)[:, : request.param].astype(np.uint8)
        for _ in range(HANDS[request.param] // 50_000)
    ]
    return np.concatenate(parts)


def dense_rank(values: np.ndarray) -> np.ndarray:
    """The place of each value among the different values, lowest first."""
    return np.unique(values, return_inverse=True)[1]


def test_same_order_as_eval7(hands):
    eval7 = pytest.importorskip("eval7")
    card = [eval7.Card(rank + suit) for rank in RANKS for suit in SUITS]
    theirs = np.array([eval7.evaluate([card[c] for c in hand]) for hand in hands.tolist()])
    np.testing.assert_array_equal(dense_rank(strength(hands)), dense_rank(theirs))


def test_same_order_as_phevaluator(hands):
    phevaluator = pytest.importorskip("phevaluator")
    # Its cards are numbered as ours are; its best hand is 1.
    assert phevaluator.Card("As").id_ == 51
    assert phevaluator.Card("2d").id_ == 1
    theirs = np.array([phevaluator.evaluate_cards(*hand) for hand in hands.tolist()])
    np.testing.assert_array_equal(dense_rank(strength(hands)), dense_rank(-theirs))
