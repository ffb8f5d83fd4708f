"""Random hands step by step beside pokerkit: who acts, what is legal, pot, stacks, payoffs.

pokerkit is told the rules of the competition where they are a choice:

- the cap of every round, from the game (pokerkit's own limit hold'em does not count the blind);
- stacks too large to matter in limit games, which have none;
- pots divide exactly, into fractions: its ``divmod`` hook never leaves a remainder. Ours are
  floats, which hold every payoff of two and three players exactly (wholes and halves).

Side pots need three players without a limit, where rulebooks differ from the competition's dealer:
after an all-in below the minimum they let nobody raise who has acted, and they forbid a raise that
only a player too short to call it has still to answer. That game is compared without such raises.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from deepstack.cards.notation import STANDARD
from deepstack.game.definition import NO_CAP, NO_STACK, Game, load_game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state

pokerkit = pytest.importorskip("pokerkit")

pytestmark = pytest.mark.oracle

HANDS, PARTS = 20_000, 4
DEEP = 1_000_000  # more than any limit hand can cost
CARDS = [next(pokerkit.Card.parse(STANDARD.format([card]))) for card in range(52)]
AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
    pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    pokerkit.Automation.HAND_KILLING,
    pokerkit.Automation.CHIPS_PUSHING,
    pokerkit.Automation.CHIPS_PULLING,
)

ROYAL = STANDARD.parse("TsJsQsKsAs")  # a board on which everybody ties
# How eagerly a hand is played: weights of fold, call, smallest raise, any raise, largest raise.
MOODS = {
    "even": (1, 1, 1, 1, 1),
    "calm": (0, 12, 1, 1, 0),
    "stubborn": (0, 2, 6, 2, 0),
    "wild": (1, 3, 0, 2, 2),
    "timid": (3, 6, 1, 1, 0),
}


def exact_divmod(amount: int, parts: int) -> tuple[Fraction, int]:
    return Fraction(amount, parts), 0


def chips(game: Game) -> list[int]:
    return [DEEP if stack == NO_STACK else stack for stack in game.stacks]


def sit_down(game: Game, hands: tuple[tuple[int, ...], ...]) -> Any:
    """pokerkit's state of a hand with blinds in and cards dealt."""
    streets = tuple(
        pokerkit.Street(
            card_burning_status=False,
            hole_dealing_statuses=(False,) * (game.hole_cards if round_ == 0 else 0),
            board_dealing_count=game.board_cards[round_],
            draw_status=False,
            opening=pokerkit.Opening.POSITION,
            min_completion_betting_or_raising_amount=(
                game.raise_size[round_] if game.limit else game.min_bet
            ),
            max_completion_betting_or_raising_count=(
                None if game.max_raises[round_] == NO_CAP else game.max_raises[round_]
            ),
        )
        for round_ in range(game.rounds)
    )
    structures = pokerkit.BettingStructure
    table = pokerkit.State(
        AUTOMATIONS,
        pokerkit.Deck.STANDARD,
        (pokerkit.StandardHighHand,),
        streets,
        structures.FIXED_LIMIT if game.limit else structures.NO_LIMIT,
        False,  # antes are not trimmed: there are none
        0,
        game.blinds[::-1] if game.players == 2 else game.blinds,  # small blind first
        0,
        chips(game),
        game.players,
        mode=pokerkit.Mode.TOURNAMENT,  # refuses folds without a bet
        divmod=exact_divmod,
    )
    for hand in hands:
        table.deal_hole([CARDS[card] for card in hand])
    return table


def check_agreement(state: State, table: Any) -> None:
    """Everything that both say about a hand that goes on."""
    spent = list(state.spent)
    if state.actor is None:
        # When a round closes, pokerkit gives back at once what nobody has called.
        spent[spent.index(max(spent))] = sorted(spent)[-2]
    assert sum(spent) == table.total_pot_amount
    assert [a - b for a, b in zip(chips(state.game), spent, strict=True)] == table.stacks
    assert [not out for out in state.folded] == table.statuses
    assert state.actor == table.actor_index
    if state.actor is None:
        return
    fold, raise_to = state.legal
    assert fold == table.can_fold()
    assert state.to_call == table.checking_or_calling_amount
    if not table.can_complete_bet_or_raise_to():
        assert raise_to is None or not rulebooks_agree_on_raises(state)
        return
    # pokerkit counts what is put in this round, we count the hand
    before = state.spent[state.actor] - table.bets[state.actor]
    low = before + table.min_completion_betting_or_raising_to_amount
    high = before + table.max_completion_betting_or_raising_to_amount
    assert raise_to == (low, high)


def rulebooks_agree_on_raises(state: State) -> bool:
    """Always true of two players with equal stacks and of limit games without stacks."""
    if state.game.limit or state.game.players == 2:
        return True
    most, stacks, seat = max(state.spent), state.game.stacks, state.actor
    answers = [
        stacks[p] > most and not state.folded[p] for p in range(state.game.players) if p != seat
    ]
    full = seat is not None and stacks[seat] >= state.min_raise_to
    return full and any(answers)


def choose(rng: Random, state: State, weights: tuple[int, ...]) -> Action:
    fold, raise_to = state.legal
    raises = raise_to is not None and rulebooks_agree_on_raises(state)
    legal = (fold, True, raises, raises, raises)
    drawn = rng.choices(range(5), [w * ok for w, ok in zip(weights, legal, strict=True)])[0]
    if drawn < 2:
        return Action((FOLD, CALL)[drawn])
    assert raise_to is not None
    low, high = raise_to
    # sizes that are uniform in their logarithm leave room for raises of raises
    between = round(low * (high / low) ** rng.random())
    return Action(RAISE, (low, between, high)[drawn - 2])


def apply(table: Any, action: Action, spent_before_round: int) -> None:
    if action.kind == FOLD:
        table.fold()
    elif action.kind == CALL:
        table.check_or_call()
    else:
        table.complete_bet_or_raise_to(action.to - spent_before_round)


def play(game: Game, rng: Random, seen: Counter) -> None:
    """One random hand on both sides; counts what happened in it."""
    hole, players = game.hole_cards, game.players
    board = ROYAL if rng.random() < 0.1 else tuple(rng.sample(range(52), len(ROYAL)))
    rest = [card for card in range(52) if card not in board]
    cards = tuple(rng.sample(rest, players * hole))
    hands = tuple(cards[p * hole : (p + 1) * hole] for p in range(players))
    weights = rng.choice(list(MOODS.values()))

    state, table = initial_state(game, hands), sit_down(game, hands)
    while not state.is_over:
        check_agreement(state, table)
        if state.cards_owed:
            dealt = board[len(state.board) :][: state.cards_owed]
            state = state.deal(dealt)
            while dealt:  # pokerkit runs out a board round by round
                count = table.street.board_dealing_count
                table.deal_board([CARDS[card] for card in dealt[:count]])
                dealt = dealt[count:]
            continue
        assert state.actor is not None
        action, raise_to = choose(rng, state, weights), state.legal.raise_to
        if action.kind == RAISE and raise_to is not None:
            seen["smallest raise"] += action.to == raise_to[0]
            seen["all-in"] += action.to == game.stacks[state.actor]
            seen["all-in below the minimum"] += action.to < state.min_raise_to and not game.limit
        if raise_to is None and state.legal.fold:
            seen["no raise allowed"] += 1
        apply(table, action, state.spent[state.actor] - table.bets[state.actor])
        state = state.apply(action)
    assert not table.status
    payoffs = [Fraction(won) for won in state.payoffs()]
    assert payoffs == table.payoffs
    seen["hands"] += 1
    seen["fold"] += state.folded_out
    seen["showdown"] += not state.folded_out
    seen["showdown of three"] += not any(state.folded) and players == 3
    seen["split pot"] += not state.folded_out and sorted(payoffs)[-1] == sorted(payoffs)[-2]
    seen["side pot"] += (
        len({c for c, out in zip(state.spent, state.folded, strict=True) if not out}) > 2
    )
    seen["odd chip"] += any(won.denominator > 1 for won in payoffs)


# Least counts in 1,000 hands: the comparison means little where these never happen.
OFTEN = {
    "hunl": {
        "fold": 200,
        "showdown": 200,
        "smallest raise": 500,
        "all-in": 200,
        "all-in below the minimum": 50,
        "no raise allowed": 200,
        "split pot": 50,
    },
    "limit_holdem": {
        "fold": 200,
        "showdown": 200,
        "smallest raise": 500,
        "no raise allowed": 200,
        "split pot": 50,
    },
    "limit_holdem_3p": {
        "fold": 100,
        "showdown": 200,
        "showdown of three": 100,
        "smallest raise": 500,
        "no raise allowed": 200,
        "split pot": 50,
        "odd chip": 2,
    },
    "side pots": {
        "fold": 100,
        "showdown": 200,
        "showdown of three": 100,
        "side pot": 50,
        "smallest raise": 500,
        "all-in": 200,
        "split pot": 50,
        "odd chip": 2,
    },
}


def game_of(name: str, rng: Random) -> Game:
    """A shipped game, or no-limit hold'em for three with random stacks."""
    if name != "side pots":
        return load_game(name)
    return replace(
        load_game("limit_holdem_3p"),
        name=name,
        limit=False,
        stacks=tuple(rng.randint(20, 300) for _ in range(3)),
        raise_size=(),
        max_raises=(NO_CAP,) * 4,
    )


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", OFTEN)
def test_random_hands_agree_with_pokerkit_at_every_step(name, part):
    seen: Counter[str] = Counter()
    for hand in range(part * HANDS // PARTS, (part + 1) * HANDS // PARTS):
        rng = Random(f"{name} {hand}")
        play(game_of(name, rng), rng, seen)
    thousands = seen["hands"] / 1000
    rare = {
        what: seen[what] for what, least in OFTEN[name].items() if seen[what] < least * thousands
    }
    assert not rare
