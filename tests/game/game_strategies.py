"""Random games and random hands for the property tests of this folder."""

from collections.abc import Iterator
from random import Random

from hypothesis import strategies as st

from deepstack.cards.notation import RANKS, SUITS, Deck
from deepstack.game.definition import NO_CAP, NO_STACK, Game, load_game, shipped_games
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state

# A hand that raises by one chip up to every cap takes hundreds of actions; after this many only
# calls are drawn. That unbounded play ends too has a test of its own.
DRAWN_ACTIONS = 30


@st.composite
def cards_of_games(draw: st.DrawFn, players: int) -> dict:
    """A deck, private cards and a board by rounds that fit one of the showdown rules."""
    rounds = draw(st.integers(1, 4))
    showdown = draw(st.sampled_from(("five-card", "pairs", "three-card")))
    if showdown == "five-card":
        hole = draw(st.integers(1, 3))
        shared = draw(st.integers(5, 7)) - hole
        deck = Deck()
    else:
        hole = draw(st.integers(1, 2))
        shared = (3 if showdown == "three-card" else draw(st.integers(2, 4))) - hole
        suits = draw(st.integers(1, 4))
        fewest = -(-(players * hole + shared) // suits)
        chosen = draw(st.sets(st.sampled_from(range(13)), min_size=max(fewest, 3)))
        deck = Deck("".join(RANKS[i] for i in sorted(chosen)), SUITS[-suits:])
    cuts = sorted(draw(st.lists(st.integers(0, shared), min_size=rounds - 1, max_size=rounds - 1)))
    ends = [*cuts, shared]
    board = tuple(end - start for start, end in zip([0, *cuts], ends, strict=True))
    return {"deck": deck, "hole_cards": hole, "board_cards": board, "showdown": showdown}


@st.composite
def drawn_games(draw: st.DrawFn) -> Game:
    """Two to four players, any blinds, caps and order; stacks small enough to go all-in often."""
    players, limit = draw(st.integers(2, 4)), draw(st.booleans())
    cards = draw(cards_of_games(players))
    rounds = len(cards["board_cards"])

    def each(count: int, values: st.SearchStrategy[int]) -> tuple[int, ...]:
        return tuple(draw(st.lists(values, min_size=count, max_size=count)))

    stacks = each(players, st.one_of(st.integers(1, 12), st.integers(1, 400)))
    if limit and draw(st.booleans()):
        stacks = (NO_STACK,) * players
    return Game(
        name="drawn",
        limit=limit,
        players=players,
        stacks=stacks,
        blinds=tuple(draw(st.integers(0, min(stack, 10))) for stack in stacks),
        raise_size=each(rounds, st.integers(1, 12)) if limit else (),
        first_player=each(rounds, st.integers(0, players - 1)),
        max_raises=each(rounds, st.one_of(st.just(NO_CAP), st.integers(0, 4))),
        **cards,
    )


def any_game() -> st.SearchStrategy[Game]:
    """A game that is shipped or one that is drawn."""
    return st.one_of(st.sampled_from(shipped_games()).map(load_game), drawn_games())


def drawn_action(data: st.DataObject, state: State) -> Action:
    """A legal action: folds, calls, and raises that are smallest, largest or in between."""
    fold, raise_to = state.legal
    kinds = ["call"] + ["fold"] * fold
    if raise_to is not None:
        kinds += ["least", "most", "between"] if raise_to[0] < raise_to[1] else ["least"]
    kind = data.draw(st.sampled_from(kinds))
    if kind == "call":
        return Action(CALL)
    if kind == "fold":
        return Action(FOLD)
    assert raise_to is not None
    low, high = raise_to
    totals = {"least": st.just(low), "most": st.just(high), "between": st.integers(low, high)}
    return Action(RAISE, data.draw(totals[kind]))


def drawn_hand(data: st.DataObject, game: Game) -> Iterator[State]:
    """Every state of a random hand with known cards, from the blinds to the end."""
    shuffled = Random(data.draw(st.integers(0, 2**32 - 1)))
    cards = tuple(shuffled.sample(range(len(game.deck)), len(game.deck)))
    hole, players = game.hole_cards, game.players
    hands = tuple(cards[p * hole : (p + 1) * hole] for p in range(players))
    rest = cards[players * hole :]
    state = initial_state(game, hands)
    yield state
    actions = 0
    while not state.is_over:
        if state.cards_owed:
            known = len(state.board)
            state = state.deal(rest[known : known + state.cards_owed])
        else:
            drawn = actions < DRAWN_ACTIONS
            state = state.apply(drawn_action(data, state) if drawn else Action(CALL))
            actions += 1
        yield state
