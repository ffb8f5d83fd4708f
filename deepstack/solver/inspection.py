"""What a solved tree says at a node: strategies, ranges, and what every hand is worth.

Only the way to the node and what lies below it is walked, with the kernels of the engine and both
average strategies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepstack.cards.notation import hand_cards
from deepstack.game.definition import Game
from deepstack.game.state import Action, State
from deepstack.solver.cfr_kernels import AVERAGE, BOTH, DOWN, enter, go_down, start, visit
from deepstack.solver.engine import Engine
from deepstack.solver.places import Place

Floats = npt.NDArray[np.floating]

# The part of the opponent's range that must remain beside a hand for its value to mean something:
# sums in float32 have about seven digits.
SEEN = 1e-6


@dataclass(frozen=True, eq=False)
class NodeView:
    """A decision node under the average strategies; H hands by hand index, A actions.

    Values are chips that a hand expects to take out of the hand from here on, minus what it still
    puts in: chips already in the pot count as winnings, not as losses. So a fold is worth 0, and
    the values of both players sum to the pot. Blocked hands, and hands that the opponent's range
    leaves no room for, have value 0.

    Attributes:
        state: the state, without private cards.
        actions: of the player to act; totals in units of the game.
        labels: the actions in words, in chips of the user.
        strategy: [H, A] probabilities; zero for blocked hands.
        ranges: [2, H] weight of every hand at the root times the probability of playing to here.
        weights: [2, H] that times the weight of the opponent's hands that do not clash with it.
        evs: [2, H] the value of every hand.
        action_evs: [H, A] values of the player to act after each action.
    """

    state: State
    actions: tuple[Action, ...]
    labels: tuple[str, ...]
    strategy: Floats
    ranges: Floats
    weights: Floats
    evs: Floats
    action_evs: Floats

    @property
    def actor(self) -> int:
        assert self.state.actor is not None
        return self.state.actor

    @property
    def frequencies(self) -> Floats:
        """How often each action is taken [A]; zero where the node is never reached."""
        weights = self.weights[self.actor]
        return weights @ self.strategy / (weights.sum() or 1.0)

    @property
    def values(self) -> Floats:
        """The mean value of each range [2]; zero where the node is never reached."""
        return (self.weights * self.evs).sum(axis=1) / (self.weights[0].sum() or 1.0)


def unblocked(game: Game, weights: Floats) -> npt.NDArray[np.float64]:
    """Weight of the hands that share no card with each hand: [H] to [H].

    >>> from deepstack.game.definition import load_game
    >>> unblocked(load_game("kuhn"), np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 5.0, 3.0]
    """
    held = hand_cards(len(game.deck), game.hole_cards)
    weights = np.asarray(weights, np.float64)
    by_card = np.zeros(len(game.deck))
    for column in range(game.hole_cards):
        np.add.at(by_card, held[:, column], weights)
    again = (game.hole_cards - 1) * weights
    return np.maximum(weights.sum() - by_card[held].sum(axis=1) + again, 0.0)


def is_locked(engine: Engine, place: Place) -> bool:
    """Whether the strategy of a node is fixed."""
    frozen = engine.tables.frozen
    if not len(frozen):
        return False
    nodes = int(np.diff(engine.tree.first_node)[place.stage])
    at = int(engine.tables.at_node[place.stage])
    return bool(frozen[at + place.boards[-1] * nodes + place.node])


def average_strategy(engine: Engine, place: Place) -> Floats:
    """The average strategy of a node [H, A] by hand index; blocked hands zero.

    Hands that never got here play uniformly, as they do in every figure of the engine.
    """
    board, width = place.boards[-1], int(engine.boards.width[place.stage])
    # a locked strategy stands in the place of the regrets
    table = engine.tables.regret if is_locked(engine, place) else engine.tables.average
    rows = table[engine.table_rows(place.stage, place.node, board)].reshape(-1, width)
    sums = rows[:, : int(engine.boards.hands[place.stage])].T.astype(np.float64)
    total = sums.sum(axis=1, keepdims=True)
    played = np.divide(sums, total, out=np.full_like(sums, 1 / len(rows)), where=total > 0)
    return _by_hand(engine, place, played.astype(engine.dtype))


def _by_hand(engine: Engine, place: Place, values: Floats) -> Floats:
    """Values [H of the board, …] by hand index, for the board that was asked for."""
    full = np.zeros((engine.game.hands, *values.shape[1:]), values.dtype)
    full[engine.board_tree[place.stage].hands[place.boards[-1]]] = values
    return full[place.image]


def inspect(engine: Engine, place: Place, labels: tuple[str, ...], chip: int) -> NodeView:
    """The view of a node; values in units of 1/``chip``."""
    game, node = engine.game, engine.betting_tree.stages[place.stage].nodes[place.node]
    ranges = np.zeros((2, game.hands))
    cfvs = np.zeros((2, game.hands))
    after: Floats = np.zeros((game.hands, len(node.slots)))
    for player in (0, 1):
        reach, value, slots = _evaluate(engine, place, player)
        ranges[1 - player] = _by_hand(engine, place, reach)
        cfvs[player] = _by_hand(engine, place, value)
        if player == node.player:
            after = _by_hand(engine, place, slots)
    beside = np.stack([unblocked(game, ranges[1 - player]) for player in (0, 1)])
    live = np.zeros(game.hands, bool)
    live[engine.board_tree[place.stage].hands[place.boards[-1]]] = True
    live = live[place.image]
    seen = live & (beside > SEEN * ranges[::-1].sum(axis=1, keepdims=True))
    spent = np.array(node.state.spent)

    def evs(values: Floats, player: int) -> Floats:
        """Chips net of the whole hand, plus what the player has put in so far."""
        mass = np.where(seen[player], beside[player], 1.0)
        known = seen[player].reshape(-1, *[1] * (values.ndim - 1))
        mass = mass.reshape(known.shape)
        return np.where(known, (values / mass + spent[player]) / chip, 0.0)

    return NodeView(
        state=place.state,
        actions=tuple(slot.action for slot in node.slots),
        labels=labels,
        strategy=average_strategy(engine, place),
        ranges=ranges,
        weights=ranges * beside * live,
        evs=np.stack([evs(cfvs[player], player) for player in (0, 1)]),
        action_evs=evs(after, node.player),
    )


def _evaluate(engine: Engine, place: Place, player: int) -> tuple[Floats, Floats, Floats]:
    """At a node: the opponent's reach [H], a player's counterfactual values [H], and those of the
    actions [H, A], by place on the board."""
    tree, boards, tables = engine.tree, engine.boards, engine.tables
    arrays, work, step = (tree, boards, tables), engine.work, engine.step(AVERAGE)
    start(tree, boards, work, engine.ranges, player, player)
    for stage, board in enumerate(place.boards[:-1]):
        if stage:
            enter(tree, boards, work, stage, board, place.boards[stage - 1], player)
        go_down(*arrays, work, step, stage, board, player)
    stage, board = place.stage, place.boards[-1]
    parent = place.boards[-2] if stage else 0
    number = int(tree.first_node[stage]) + place.node
    begin, end = tree.first_slot[number : number + 2]

    def go(way: int) -> None:
        walked = step._replace(way=way)
        visit(*arrays, work, walked, stage, board, board + 1, parent, player, player)

    go(DOWN)  # reach, before values take its place
    reach = engine.row(player, stage, board, int(tree.node_row[1 - player, number]))
    go(BOTH)
    value = engine.row(player, stage, board, int(tree.node_value[player, number]))
    slots = [
        engine.row(player, stage, board, int(tree.source[player, s])) * float(tree.scale[player, s])
        for s in range(begin, end)
    ]
    return reach, value, np.stack(slots, axis=1)
