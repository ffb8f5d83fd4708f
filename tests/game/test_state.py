"""States of a game, situation by situation as a rulebook has them, and laws of all games."""

import re
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest
from game_strategies import any_game, drawn_hand
from hypothesis import given, settings
from hypothesis import strategies as st

from deepstack.game.definition import NO_CAP, Game, load_game
from deepstack.game.state import (
    CALL,
    FOLD,
    RAISE,
    Action,
    Legal,
    State,
    initial_state,
    share_pot,
)
from deepstack.run.errors import InputError

HUNL = load_game("hunl")
LIMIT = load_game("limit_holdem")
LIMIT_3P = load_game("limit_holdem_3p")
BOARD = HUNL.deck.parse("2c7d9hJsQc")

# No-limit hold'em for three with unequal stacks: small blind, big blind, dealer.
SIDE_POTS = Game(
    name="side_pots",
    limit=False,
    players=3,
    stacks=(50, 100, 200),
    blinds=(5, 10, 0),
    raise_size=(),
    first_player=(2, 0, 0, 0),
    max_raises=(NO_CAP,) * 4,
    deck=HUNL.deck,
    hole_cards=2,
    board_cards=(0, 3, 1, 1),
)


def play(game: Game, betting: str, hands: str = "", board: tuple[int, ...] = BOARD) -> State:
    """The state after a betting string; the board is dealt as it is owed."""
    known = tuple(game.deck.parse(hand) for hand in hands.split("|")) if hands else None
    state = initial_state(game, known)
    for text in re.findall(r"[fc]|r\d*", betting):
        kind, size = text[0], text[1:]
        if kind == RAISE and not size:
            assert state.legal.raise_to is not None
            size = str(state.legal.raise_to[0])
        state = state.apply(Action(kind, int(size or 0)))
        if state.cards_owed:
            state = state.deal(board[len(state.board) :][: state.cards_owed])
    return state


def actors(game: Game, betting: str) -> list[int | None]:
    """Who is to act before every action of a betting string, and after the last."""
    texts = re.findall(r"[fc]|r\d*", betting)
    return [play(game, "".join(texts[:n])).actor for n in range(len(texts) + 1)]


# --- order of action -----------------------------------------------------------------------------


def test_heads_up_the_dealer_has_the_small_blind_and_acts_first_before_the_flop():
    state = initial_state(HUNL)
    assert state.spent == (100, 50)
    assert (state.actor, state.to_call, state.pot) == (1, 50, 150)


def test_heads_up_the_big_blind_acts_first_after_the_flop():
    assert actors(HUNL, "cc/cc/cc/cc") == [1, 0, 0, 1, 0, 1, 0, 1, None]


def test_three_players_the_dealer_acts_first_before_the_flop_and_last_after_it():
    assert actors(LIMIT_3P, "ccc/ccc/ccc/ccc") == [2, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 2, None]


def test_players_who_folded_are_passed_over():
    assert actors(LIMIT_3P, "fcc/crc/rc") == [2, 0, 1, 0, 1, 0, 0, 1, 0]
    assert actors(LIMIT_3P, "cfc/") == [2, 0, 1, 1]  # the small blind is gone, the big blind opens
    assert actors(LIMIT_3P, "crfc/") == [2, 0, 1, 2, 0]


def test_a_raise_gives_everyone_else_another_turn():
    assert actors(LIMIT_3P, "crrcc/") == [2, 0, 1, 2, 0, 0]


def test_players_who_are_all_in_are_passed_over():
    # The small blind is all-in with 50; big blind and dealer play on.
    assert actors(SIDE_POTS, "cr50cc/cr70c/c") == [2, 0, 1, 2, 1, 2, 1, 1, 2]


def test_the_big_blind_may_raise_when_all_have_called():
    state = play(HUNL, "c")
    assert (state.actor, state.to_call) == (0, 0)
    assert state.legal == Legal(fold=False, raise_to=(200, 20_000))
    assert play(LIMIT_3P, "cc").legal == Legal(fold=False, raise_to=(20, 20))


# --- bets and raises -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("betting", "smallest"),
    [
        ("", 200),  # the big blind is a bet of 100
        ("r200", 300),
        ("r300", 500),  # a raise by 200
        ("r300r500", 700),
        ("r300r900", 1500),  # a re-raise by 600
        ("r300c/", 400),  # a new round: the big blind again
        ("r300c/c", 400),
        ("r300c/r400", 500),
        ("r300c/r900", 1500),
        ("r300c/r900r2000c/", 2100),
        ("r9950r19800", 20_000),  # the raise was by 9,850, but 20,000 is all there is
    ],
)
def test_a_raise_is_at_least_the_last_bet_or_raise_of_the_round(betting, smallest):
    state = play(HUNL, betting)
    assert state.legal.raise_to == (smallest, 20_000)
    with pytest.raises(InputError, match=rf"action r{smallest - 1} is not legal.*r{smallest}"):
        state.apply(Action(RAISE, smallest - 1))


def test_a_raise_may_not_exceed_the_stack():
    with pytest.raises(InputError, match=r"action r20001 is not legal.*r200 to r20000"):
        initial_state(HUNL).apply(Action(RAISE, 20_001))


def test_an_all_in_below_the_minimum_is_allowed():
    state = play(HUNL, "r10100")  # the next full raise would be to 20,100
    assert state.legal == Legal(fold=True, raise_to=(20_000, 20_000))
    assert play(HUNL, "r10100r20000").legal == Legal(fold=True, raise_to=None)


def test_after_an_all_in_below_the_minimum_the_next_raise_is_by_no_less_than_that_all_in():
    # The dealer raises by 20 to 30. As the competition's dealer counts, an all-in by 20 or by 15
    # must be raised by as much, and an all-in by 5 leaves the smallest total at 30 + 20.
    for stack, smallest in ((50, 70), (45, 60), (35, 50)):
        game = replace(SIDE_POTS, stacks=(stack, 100, 200))
        assert play(game, f"r30r{stack}").legal.raise_to == (smallest, 100)


def test_nobody_raises_after_an_all_in_that_covers_everybody():
    state = play(HUNL, "r20000")
    assert (state.actor, state.to_call) == (0, 19_900)
    assert state.legal == Legal(fold=True, raise_to=None)
    with pytest.raises(InputError, match="expected f, c"):
        state.apply(Action(RAISE, 20_000))


def test_nobody_raises_when_every_opponent_is_all_in_or_has_folded():
    # The dealer has 200 behind the all-in of 100, but nobody could answer.
    assert play(SIDE_POTS, "cfr100").legal == Legal(fold=True, raise_to=None)
    # With the small blind still to act after a bet of 100, it may only call all-in or fold.
    assert play(SIDE_POTS, "r100").legal == Legal(fold=True, raise_to=None)


def test_players_with_chips_raise_each_other_beside_a_third_who_is_all_in():
    state = play(SIDE_POTS, "cr50")
    assert (state.actor, state.to_call) == (1, 40)
    assert state.legal.raise_to == (90, 100)


def test_an_all_in_for_less_than_the_bet_is_a_call():
    state = play(SIDE_POTS, "r100")
    assert (state.actor, state.to_call) == (0, 45)
    called = state.apply(Action(CALL))
    assert called.spent == (50, 10, 100)


def test_folding_is_legal_only_when_there_is_something_to_call():
    for betting in ("c", "cc/", "cc/c", "r300c/"):
        state = play(HUNL, betting)
        assert not state.legal.fold
        with pytest.raises(InputError, match="action f is not legal"):
            state.apply(Action(FOLD))
    assert play(HUNL, "").legal.fold
    assert play(HUNL, "cc/r200").legal.fold


@pytest.mark.parametrize(
    ("betting", "raise_to"),
    [
        ("", (20, 20)),
        ("r", (30, 30)),
        ("rr", (40, 40)),
        ("rrr", None),  # bet, raise, re-raise, cap: the blind was the first bet
        ("crrr", None),
        ("rrrc/", (50, 50)),
        ("rrrc/rrr", (80, 80)),
        ("rrrc/rrrr", None),
        ("cc/cc/", (30, 30)),  # bets double on the turn
        ("cc/cc/cc/rr", (70, 70)),
        ("cc/cc/cc/rrrr", None),
    ],
)
def test_limit_raises_have_one_size_and_a_cap(betting, raise_to):
    assert play(LIMIT, betting).legal.raise_to == raise_to


def test_the_cap_holds_for_three_players_too():
    assert play(LIMIT_3P, "rrr").legal == Legal(fold=True, raise_to=None)
    assert play(LIMIT_3P, "rrrcc/").legal == Legal(fold=False, raise_to=(50, 50))


def test_a_limit_raise_that_the_stack_cannot_pay_is_all_in():
    game = replace(LIMIT, stacks=(25, 100))
    assert play(game, "r").legal.raise_to == (25, 25)
    assert play(game, "rr").legal == Legal(fold=True, raise_to=None)


@pytest.mark.parametrize(
    "action",
    [
        Action("x"),
        Action(""),
        Action(CALL, 50),
        Action(FOLD, 1),
        Action(RAISE, -200),
        Action(RAISE),
    ],
)
def test_what_is_no_action_is_refused(action):
    with pytest.raises(InputError, match="is not legal"):
        initial_state(HUNL).apply(action)


# --- blinds that put a player all-in -------------------------------------------------------------


def test_a_big_blind_that_is_all_in_may_be_called_or_left():
    state = initial_state(replace(HUNL, stacks=(100, 20_000)))
    assert (state.actor, state.to_call) == (1, 50)
    assert state.legal == Legal(fold=True, raise_to=None)
    assert state.apply(Action(CALL)).cards_owed == 5
    assert state.apply(Action(FOLD)).payoffs() == (50, -50)


def test_after_a_small_blind_that_is_all_in_the_board_is_dealt_at_once():
    game = replace(HUNL, stacks=(20_000, 50))
    hands = (HUNL.deck.parse("AsAh"), HUNL.deck.parse("KsKh"))
    state = initial_state(game, hands)
    assert (state.actor, state.round, state.cards_owed) == (None, 3, 5)
    assert state.deal(BOARD).payoffs() == (50, -50)  # the other 50 of the big blind come back


def test_a_short_blind_does_not_lower_the_price_for_the_others():
    state = initial_state(replace(SIDE_POTS, stacks=(50, 10, 200)))
    assert (state.actor, state.to_call) == (2, 10)
    assert state.legal.raise_to == (20, 200)


def test_when_all_are_all_in_with_their_blinds_nobody_acts():
    state = initial_state(replace(HUNL, stacks=(100, 50)))
    assert (state.actor, state.cards_owed) == (None, 5)


# --- the end of a hand ---------------------------------------------------------------------------


def test_a_called_all_in_runs_out_the_board():
    state = initial_state(HUNL, (HUNL.deck.parse("AsAh"), HUNL.deck.parse("KsKh")))
    state = state.apply(Action(RAISE, 20_000)).apply(Action(CALL))
    assert state.betting == ((Action(RAISE, 20_000), Action(CALL)), (), (), ())
    assert (state.actor, state.cards_owed, state.is_over) == (None, 5, False)
    over = state.deal(BOARD)
    assert over.is_over
    assert over.payoffs() == (20_000, -20_000)


def test_an_all_in_on_the_turn_owes_only_the_river():
    state = play(HUNL, "cc/cc/r20000")
    assert state.apply(Action(CALL)).cards_owed == 1


def test_a_fold_ends_the_hand_without_more_cards():
    state = play(HUNL, "r300f")
    assert (state.is_over, state.folded_out, state.cards_owed, state.actor) == (True, True, 0, None)
    assert state.payoffs() == (-100, 100)
    assert play(HUNL, "cc/r300f").payoffs() == (100, -100)  # the uncalled bet comes back


def test_two_folds_end_a_hand_of_three():
    state = play(LIMIT_3P, "rf")
    assert not state.is_over
    assert state.apply(Action(FOLD)).payoffs() == (-5, -10, 15)


def test_nobody_acts_after_the_end():
    state = play(HUNL, "f")
    with pytest.raises(InputError, match="nobody is to act"):
        _ = state.legal
    with pytest.raises(InputError, match="nobody is to act"):
        state.apply(Action(CALL))
    with pytest.raises(InputError, match="0 are owed"):
        state.deal(BOARD[:3])
    assert state.to_call == 0


def test_nobody_acts_while_cards_are_owed():
    state = initial_state(HUNL).apply(Action(CALL)).apply(Action(CALL))
    assert (state.actor, state.cards_owed, state.is_over) == (None, 3, False)
    with pytest.raises(InputError, match="nobody is to act"):
        state.apply(Action(CALL))


def test_a_hand_that_goes_on_pays_nothing_yet():
    with pytest.raises(InputError, match="not over"):
        play(HUNL, "cc/").payoffs()


def test_a_showdown_needs_the_cards_that_were_not_folded():
    betting = "fcc/cc/cc/cc"
    assert play(LIMIT_3P, betting, "AsAh|KsKh|").payoffs() == (10, -10, 0)
    with pytest.raises(InputError, match="unknown"):
        play(LIMIT_3P, betting, "AsAh||").payoffs()


# --- pots ----------------------------------------------------------------------------------------


def test_the_best_hand_takes_the_pot():
    assert play(HUNL, "r300c/cc/cc/cc", "AsAh|KsKh").payoffs() == (300, -300)
    assert play(HUNL, "r300c/cc/cc/cc", "3s4h|KsKh").payoffs() == (-300, 300)


def test_equal_hands_split_the_pot():
    assert play(HUNL, "r300c/cc/cc/cc", "AsKh|AhKs").payoffs() == (0, 0)


def test_an_odd_pot_is_split_into_fractions_of_a_chip():
    # The small blind left 5 chips, which two equal hands share.
    assert play(LIMIT_3P, "cfc/cc/cc/cc", "2s3s|AsKh|AhKs").payoffs() == (-5, 2.5, 2.5)


@pytest.mark.parametrize(
    ("hands", "payoffs"),
    [
        ("AsAh|KsKh|QsTh", (100, 0, -100)),  # main pot to the short stack, side pot to the second
        ("KsKh|AsAh|QsTh", (-50, 150, -100)),
        ("3s4s|KsKh|AsAh", (-50, -100, 150)),
        ("KsKh|3s4s|AsAh", (-50, -100, 150)),
        ("AsAh|3s4s|KsKh", (100, -100, 0)),
        ("AsKs|AhKh|AdKd", (0, 0, 0)),
        ("AsKs|AhKh|3s4s", (25, 75, -100)),  # halves of 150, then the side pot of 100
        ("3s4s|AhKh|AdKd", (-50, 25, 25)),
    ],
)
def test_side_pots_go_to_those_who_paid_for_them(hands, payoffs):
    # The dealer bets 200 against stacks of 50 and 100; 100 of the bet are called by nobody.
    state = play(SIDE_POTS, "r200cc", hands)
    assert state.spent == (50, 100, 200)
    assert state.is_over
    assert state.payoffs() == payoffs


def test_what_folded_players_paid_stays_in_the_pots():
    # The big blind calls 40, then folds to a bet on the side; 50 each, 50 of them dead.
    state = play(SIDE_POTS, "cr50cc/cr70f", "AsAh|KsKh|3s4s")
    assert state.is_over
    assert state.spent == (50, 50, 70)
    assert state.payoffs() == (100, -50, -50)


@pytest.mark.parametrize(
    ("spent", "folded", "strengths", "won"),
    [
        ((10, 10), (False, False), [2, 1], (10, -10)),
        ((10, 10), (False, False), [1, 1], (0, 0)),
        ((10, 7), (False, False), [1, 2], (-7, 7)),
        ((3, 10, 10), (True, False, False), [0, 1, 1], (-3, 1.5, 1.5)),
        ((10, 10, 10, 2), (False, False, False, True), [1, 1, 1, 0], (2 / 3, 2 / 3, 2 / 3, -2)),
        ((1, 2, 4, 8), (False,) * 4, [4, 3, 2, 1], (3, 1, 0, -4)),
        ((1, 2, 4, 8), (False,) * 4, [1, 2, 3, 4], (-1, -2, -4, 7)),
        ((10, 25, 25), (False, True, False), [5, 0, 4], (20, -25, 5)),
    ],
)
def test_pots_are_paid_layer_by_layer(spent, folded, strengths, won):
    assert share_pot(spent, folded, strengths) == pytest.approx(won)


def share_chip_by_chip(
    spent: Sequence[int], folded: Sequence[bool], strengths: Sequence[int]
) -> list[Fraction]:
    """What share_pot means: every chip layer is a pot of its own."""
    won = [-Fraction(chips) for chips in spent]
    for chip in range(max(spent)):
        paid = [seat for seat, chips in enumerate(spent) if chips > chip]
        staying = [seat for seat in paid if not folded[seat]]
        best = max(strengths[seat] for seat in staying)
        winners = [seat for seat in staying if strengths[seat] == best]
        for seat in winners:
            won[seat] += Fraction(len(paid), len(winners))
    return won


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.integers(1, 3)), min_size=1))
def test_pots_are_paid_as_if_chip_by_chip(players):
    players.append((12, False, 1))  # who has put in most has not folded
    spent, folded, strengths = zip(*players, strict=True)
    won = share_pot(spent, folded, list(strengths))
    assert won == pytest.approx([float(w) for w in share_chip_by_chip(spent, folded, strengths)])


@pytest.mark.parametrize(
    ("betting", "hands", "payoffs"),
    [
        ("cc", "Ks|Qs", (1, -1)),
        ("rc", "Js|Qs", (-2, 2)),
        ("rf", "Js|Qs", (1, -1)),
        ("crc", "Ks|Js", (2, -2)),
        ("crf", "Ks|Js", (-1, 1)),
    ],
)
def test_kuhn_poker_pays(betting, hands, payoffs):
    assert play(load_game("kuhn"), betting, hands).payoffs() == payoffs


@pytest.mark.parametrize(
    ("betting", "hands", "board", "payoffs"),
    [
        ("cc/cc", "Kh|Qh", "Js", (1, -1)),
        ("cc/cc", "Kh|Js", "Jh", (-1, 1)),  # a pair beats a king
        ("crrc/rrc", "Kh|Ks", "Jh", (0, 0)),
        ("crrc/rrc", "Kh|Qs", "Qh", (-13, 13)),  # 1 + 2 + 2 + 4 + 4
    ],
)
def test_leduc_holdem_pays(betting, hands, board, payoffs):
    game = load_game("leduc")
    assert play(game, betting, hands, game.deck.parse(board)).payoffs() == payoffs


def test_leduc_has_at_most_two_bets_a_round():
    assert play(load_game("leduc"), "rr").legal == Legal(fold=True, raise_to=None)


def test_kuhn_for_three_pays_the_best_who_stayed():
    game = load_game("kuhn_3p")
    assert play(game, "ccrfc", "Qs|Ks|Js").payoffs() == (-1, 3, -2)
    assert play(game, "rff", "Ts|Ks|Js").payoffs() == (2, -1, -1)


def test_rhode_island_ranks_a_flush_below_a_straight():
    game = load_game("rhode_island")
    board = game.deck.parse("8h9h")
    assert play(game, "cc/cc/cc", "Tc|2h", board).payoffs() == (5, -5)


# --- cards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "complaint"),
    [
        ("2c7d", "2 board cards '2c7d'.*3 are owed"),
        ("2c7d9hJs", "4 board cards.*3 are owed"),
        ("2c7dAs", "As is dealt twice"),
    ],
)
def test_the_flop_has_three_new_cards(cards, complaint):
    hands = (HUNL.deck.parse("AsKs"), ())
    state = initial_state(HUNL, hands).apply(Action(CALL)).apply(Action(CALL))
    with pytest.raises(InputError, match=complaint):
        state.deal(HUNL.deck.parse(cards))


@pytest.mark.parametrize(
    ("hands", "complaint"),
    [
        ("AsKs", "1 hands: expected 2"),
        ("AsKs|AhKh|AdKd", "3 hands: expected 2"),
        ("AsKs|Ah", "hand 'Ah': expected 2 cards or none"),
        ("AsKs|AhAs", "As is dealt twice"),
        ("AsKs|AhQc", "Qc is dealt twice"),  # it lies on the board
    ],
)
def test_hands_that_cannot_be_are_refused(hands, complaint):
    state = play(HUNL, "cc/cc/cc/")
    with pytest.raises(InputError, match=complaint):
        state.with_hands(tuple(HUNL.deck.parse(hand) for hand in hands.split("|")))


def test_a_player_sees_the_own_cards_and_the_board():
    state = play(HUNL, "cc/", "AsKs|QdQh")
    seen = state.seen_by(1)
    assert seen.hands == ((), HUNL.deck.parse("QdQh"))
    assert seen.board == state.board
    assert seen == play(HUNL, "cc/").with_hands(((), HUNL.deck.parse("QdQh")))


def test_states_do_not_change():
    state = initial_state(HUNL)
    with pytest.raises(FrozenInstanceError):
        state.actor = 0  # type: ignore[misc]
    state.apply(Action(RAISE, 300))
    assert state == initial_state(HUNL)


# --- laws of all games ---------------------------------------------------------------------------


def check_who_moves(state: State) -> None:
    """A player is to act, or cards are owed, or the hand is over: one of the three."""
    assert [state.actor is not None, state.cards_owed > 0, state.is_over].count(True) == 1
    assert state.round < state.game.rounds
    if state.actor is not None:
        assert not state.folded[state.actor]
        assert state.spent[state.actor] < state.game.stacks[state.actor]
        assert len(state.board) == state.game.board_size(state.round)


def check_chips(state: State) -> None:
    """Nobody has put in more than their stack; the largest share is not that of a folded player."""
    for spent, blind, stack in zip(state.spent, state.game.blinds, state.game.stacks, strict=True):
        assert blind <= spent <= stack
    most = max(state.spent)
    staying = [seat for seat, out in enumerate(state.folded) if not out]
    assert staying
    assert most in [state.spent[seat] for seat in staying]
    begun = any(state.betting) or state.pending == 0
    if state.actor is None and begun and not state.folded_out:
        # a round closes only when everybody has paid the same, or all they have
        for seat in staying:
            assert state.spent[seat] in (most, state.game.stacks[seat])


def check_actions(state: State) -> None:
    """Every legal action leads on; every other is refused."""
    if state.actor is None:
        with pytest.raises(InputError):
            state.apply(Action(CALL))
        return
    fold, raise_to = state.legal
    stack = state.game.stacks[state.actor]
    assert fold == (state.to_call > 0)
    illegal = [Action("x"), Action(CALL, 1), Action(FOLD, 1), Action(RAISE, -1), Action(RAISE)]
    illegal += [Action(RAISE, stack + 1), Action(RAISE, max(state.spent))]
    if not fold:
        illegal.append(Action(FOLD))
    if raise_to is None:
        illegal += [Action(RAISE, stack), Action(RAISE, max(state.spent) + 1)]
    else:
        low, high = raise_to
        assert max(state.spent) < low <= high <= stack
        illegal += [Action(RAISE, low - 1), Action(RAISE, high + 1)]
    for action in illegal:
        assert action not in state.legal
        with pytest.raises(InputError, match="is not legal"):
            state.apply(action)


def check_payoffs(state: State) -> None:
    """What some win others lose, and no more from each opponent than one has put in oneself."""
    payoffs = state.payoffs()
    assert sum(payoffs) == pytest.approx(0, abs=1e-6)
    for seat, won in enumerate(payoffs):
        assert -state.spent[seat] <= won
        most = sum(min(state.spent[seat], other) for other in state.spent) - state.spent[seat]
        assert won <= most + 1e-6
        if state.folded[seat]:
            assert won == -state.spent[seat]


@given(st.data(), any_game())
@settings(deadline=None, max_examples=250)
def test_no_sequence_of_legal_actions_reaches_an_illegal_state(data, game):
    for state in drawn_hand(data, game):
        check_who_moves(state)
        check_chips(state)
        check_actions(state)
    assert state.is_over
    check_payoffs(state)


@given(st.data(), any_game())
@settings(deadline=None)
def test_an_action_costs_what_it_says(data, game):
    before = None
    for state in drawn_hand(data, game):
        if before is not None and before.actor is not None:
            seat = before.actor
            action = next(actions for actions in reversed(state.betting) if actions)[-1]
            others = [s for s in range(game.players) if s != seat]
            assert [state.spent[s] for s in others] == [before.spent[s] for s in others]
            paid = state.spent[seat] - before.spent[seat]
            expected = {
                FOLD: 0,
                CALL: before.to_call,
                RAISE: action.to - before.spent[seat],
            }
            assert paid == expected[action.kind]
            assert state.pot == before.pot + paid
        before = state


@given(any_game(), st.booleans())
@settings(deadline=None)
def test_every_hand_ends(game, raising):
    """Even when everybody raises by as little as possible as often as possible."""
    state = initial_state(game)
    cards = tuple(range(len(game.deck)))
    most = game.rounds * game.players * (max(game.max_raises) + 1)
    for _ in range(most + 1):
        if state.cards_owed:
            known = len(state.board)
            state = state.deal(cards[known : known + state.cards_owed])
        if state.is_over:
            return
        raise_to = state.legal.raise_to if raising else None
        state = state.apply(Action(CALL) if raise_to is None else Action(RAISE, raise_to[0]))
    pytest.fail(f"{most} actions and no end")
