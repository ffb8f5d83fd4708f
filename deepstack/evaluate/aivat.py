"""AIVAT: win rates with much of the luck taken out, and without bias.

N. Burch, M. Schmid, M. Moravcik, D. Morrill, M. Bowling, "AIVAT: a new variance reduction technique
for agent evaluation in imperfect information games" (AAAI 2018). For a match in which the strategy
of at least one player is known, a hand is worth

    base + sum of corrections.

The *base* is what the hand pays, in the mean over all hands that the known players could have held,
weighted by the probability of acting as they did. A *correction* stands for every event that is
drawn from a known distribution: cards that were dealt, and actions of known players. It is an
estimate of what the state is worth in the mean over what could have happened, minus the estimate
for what did happen. Its mean is zero whatever the estimates are (``value_sources``), so they only
decide how much luck is removed.

The corrections have mean zero given all that players with unknown strategies know: their cards and
the public history. So the cards of those players must be known from the dealer's log, shown or not.
A called all-in is worth its exact equity.

In two-player games the strategies of both players are used where both are known; what seat 1 wins
is the opposite of what seat 0 does. With more players each seat stands for itself (``aivat_many``).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from deepstack.evaluate.aivat_beliefs import Belief, start_belief
from deepstack.evaluate.aivat_many import seat_value
from deepstack.evaluate.aivat_records import HandRecord, Step, Strategies, Strategy, records_of_log
from deepstack.evaluate.value_sources import ValueSource
from deepstack.evaluate.value_sources_margins import index_of
from deepstack.game.definition import Game
from deepstack.game.state import State, initial_state
from deepstack.run.errors import InputError


def aivat_values(record: HandRecord, source: ValueSource) -> list[float]:
    """The AIVAT estimates of a hand by seat, in chips; NaN where the strategy is not known.

    ``source`` is for two players; with more, states are valued as ``aivat_many`` says.
    """
    if record.final.game.players == 2:
        won = aivat_value(record, source)
        return [won if record.known[0] else np.nan, -won if record.known[1] else np.nan]
    return [seat_value(record, seat) if k else np.nan for seat, k in enumerate(record.known)]


def aivat_value(record: HandRecord, source: ValueSource) -> float:
    """The AIVAT estimate of what seat 0 wins in a hand of a two-player game, in chips."""
    final, known = record.final, record.known
    if len(known) != 2 or not any(known):
        raise InputError(f"hand {final}: expected two players, one with a known strategy at least")
    hands = [None if k else hand for k, hand in zip(known, final.hands, strict=True)]
    if () in hands:
        raise InputError(
            f"hand {final}: the cards of seat {hands.index(())} are not known; AIVAT needs the log "
            "of the dealer, who sees them"
        )
    belief, total = start_belief(final.game, hands), 0.0
    for seat in (0, 1):
        if not known[seat]:
            mean, came = source.after_deal(belief, initial_state(final.game), seat)
            total += mean - came
    for step in record.steps:
        state = step.state
        if step.action is None:
            if state.pending == 0:
                return total + min(state.spent) * belief.margin  # a called all-in
            after = belief.dealt(step.cards)
            mean, came = source.after_cards(belief, after, state)
            total += mean - came
            belief = after
        elif step.strategy is not None:
            correction, belief = action_correction(belief, step, source)
            total += correction
    if final.folded_out:
        return total + final.payoffs()[0]
    return total + min(final.spent) * belief.margin


def action_correction(belief: Belief, step: Step, source: ValueSource) -> tuple[float, Belief]:
    """What an action of a known player corrects, and what is believed after it."""
    state, strategy = step.state, step.strategy
    seat = state.actor
    assert seat is not None
    assert strategy is not None
    assert step.action is not None
    chosen, played = strategy.place(step.action), strategy.probabilities()
    check_possible(state, seat, strategy, played[:, chosen])
    after = belief.acted(seat, played[:, chosen])
    chances = belief.chances(seat, played)
    if chances[chosen] == 1.0:
        return 0.0, after
    values = source.after_actions(belief, state, strategy)
    return float((chances * values).sum() - values[chosen]), after


def check_possible(
    state: State, seat: int, strategy: Strategy, chosen: npt.NDArray[np.float64]
) -> None:
    """Refuse an action that the stated strategy does not take with the hand that took it."""
    cards = state.hands[seat]
    row = 0 if len(chosen) == 1 else index_of(state.game, cards) if cards else None
    if (chosen.max() if row is None else chosen[row]) <= 0:
        raise InputError(
            f"state {state}: seat {seat} acted as its stated strategy never does; expected the "
            "probabilities that it used"
        )


def aivat_of_log(
    game: Game, lines: Iterable[str], strategies: Strategies, source: ValueSource
) -> dict[str, npt.NDArray[np.float64]]:
    """AIVAT estimates of a dealer's log, in chips: [hands] by player with a known strategy.

    Args:
        game: the rules.
        lines: ``STATE:`` lines with the cards of every player whose strategy is not known.
        strategies: by name, the log of what a player said it would do, or an agent that is asked
            again.
        source: of the estimates.
    """
    values: dict[str, list[float]] = {name: [] for name in strategies}
    for record, names in records_of_log(game, lines, strategies):
        for name, won in zip(names, aivat_values(record, source), strict=True):
            if name in values:
                values[name].append(won)
    return {name: np.array(found) for name, found in values.items()}
