"""Exact game sizes: how many decisions a game holds, for every deal and every bet size.

A size is a product, round by round: (ways of the betting to come to a decision in that round) ×
(ways of the cards to be dealt up to it). The cards are counted with Burnside's lemma, the betting
by walking its states, those with the same future merged, or, in no-limit games of two players with
equal stacks, by counting partitions.

**No-limit betting as partitions.** M. Johanson, "Measuring the size of large no-limit poker games"
(2013), counts by dynamic programming over chips. One step further the counts have a closed form.
Until somebody is all-in, a raise adds at least what the last raise of the round added, and the
first adds at least the minimum bet b. So the raises of a round are parts b ≤ a₁ ≤ a₂ ≤ … ≤ aⱼ, and
a round that takes both players from x chips to x + n is a partition of n. Less b each, j such
parts are a partition into at most j parts, which by conjugation has parts of at most j:

    Eⱼ(z) = z^{bj} / ((1 - z)(1 - z²)…(1 - zʲ))      j raises; zⁿ marks n chips added by each player
    U(z)  = E₀ + E₁ + … + E_cap                      the raises of a round, from its first bet on
    Q(z)  = 2 U(z) - 1                               a closed round: the first or the second player
                                                     bets first, or both check

A round k starts with nobody all-in after Cₖ = Q₀Q₁…Qₖ₋₁ (a call of an all-in ends the betting), and
only coefficients up to n = stack - 1 - blind matter. It has three kinds of decisions, all of which
come in pairs, one for each player who may be the first to bet:

- opening it, with no bet yet but the blinds: 2 Cₖ,
- facing a bet or raise that is not all-in, any partition but the empty one: 2 Cₖ (U - 1),
- facing an all-in, which may answer each of the others unless its raises are at the cap, whatever
  the minimum raise is: 2 Cₖ (U - E_cap).

So it has 2 Cₖ (2 U - E_cap) decisions. Every decision has one call; every one but the opening two
has a fold, and comes from one raise. Hence actions = 3 · decisions - 4 · starts, with one more in
the first round if the blinds differ, where one of the two openers may fold.
"""

from __future__ import annotations

import decimal
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, permutations, product
from math import comb, factorial, prod

from deepstack.cards.isomorphism import sizes_ignoring_suits
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, RAISE, Action, State, initial_state
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress

WALK_LIMIT = 10**6
"""Estimated actions above which the betting of a no-limit game is not walked: about a minute."""
STACK_LIMIT = 100_000
"""Chips above which no partitions are counted: about a quarter of a minute and 0.6 GB."""


@dataclass(frozen=True, slots=True)
class GameSize:
    """Exact counts.

    "Canonical" means up to relabelling the suits; where suits mean nothing because the showdown
    knows only pairs, only the ranks count.

    Attributes:
        infosets: (own cards, board by rounds, betting) at which a player acts.
        infosets_canonical: the same up to suits.
        decision_states: (all players' cards, board by rounds, betting) at which a player acts.
        infoset_actions_canonical: pairs of a canonical information set and an action there.
        betting_decisions: betting sequences after which a player acts, by round.
        betting_actions: pairs of such a sequence and an action, by round.
    """

    infosets: int
    infosets_canonical: int
    decision_states: int
    infoset_actions_canonical: int
    betting_decisions: tuple[int, ...]
    betting_actions: tuple[int, ...]


def game_size(game: Game, progress: Progress | None = None) -> GameSize:
    """The exact size of a game; the progress advances by one a round."""
    two_equal = game.players == 2 and game.big_blind < game.stacks[0] == game.stacks[1]
    count = _count_partitions if two_equal and not game.limit else _walk_betting
    decisions, actions = count(game, progress)
    ranks, suits, hole = len(game.deck.ranks), len(game.deck.suits), game.hole_cards
    seen = [(hole, *game.board_cards[: round_ + 1]) for round_ in range(game.rounds)]
    if game.showdown == "pairs":
        canonical = [sizes_ignoring_suits(groups, ranks, suits)[-1] for groups in seen]
    else:
        canonical = [count_deals_canonical(ranks, suits, groups) for groups in seen]
    own = [count_deals(ranks * suits, groups) for groups in seen]
    everyones = [count_deals(ranks * suits, (hole,) * (game.players - 1) + g) for g in seen]
    return GameSize(
        infosets=_dot(decisions, own),
        infosets_canonical=_dot(decisions, canonical),
        decision_states=_dot(decisions, everyones),
        infoset_actions_canonical=_dot(actions, canonical),
        betting_decisions=tuple(decisions),
        betting_actions=tuple(actions),
    )


def _dot(a: Iterable[int], b: Iterable[int]) -> int:
    return sum(map(int.__mul__, a, b))


# ---- cards


def count_deals(cards: int, groups: Sequence[int]) -> int:
    """Ways to deal disjoint groups of these sizes, order counting between but not within them.

    >>> count_deals(52, (2, 3, 1))
    1221511200
    """
    return _fixed_deals(((1, cards),), tuple(groups))


def count_deals_canonical(ranks: int, suits: int, groups: Sequence[int]) -> int:
    """The same up to relabelling the suits: orbits, by Burnside's lemma.

    >>> count_deals_canonical(13, 4, (2,)), count_deals_canonical(13, 4, (2, 3))
    (169, 1286792)
    """
    fixed = 0
    for permutation in permutations(range(suits)):
        lengths = Counter(_cycle_lengths(permutation))
        # a cycle of suits moves the cards of every rank in a cycle of the same length
        cycles = tuple((length, ranks * count) for length, count in lengths.items())
        fixed += _fixed_deals(cycles, tuple(groups))
    return fixed // factorial(suits)


def _fixed_deals(cycles: tuple[tuple[int, int], ...], groups: tuple[int, ...]) -> int:
    """Deals that a permutation of the cards fixes: each group is a union of its cycles.

    ``cycles`` holds the (length, count) of the cycles that no earlier group has taken.
    """
    if not groups:
        return 1
    total = 0
    for taken in product(*(range(min(n, groups[0] // length) + 1) for length, n in cycles)):
        if sum(length * k for (length, _), k in zip(cycles, taken, strict=True)) == groups[0]:
            ways = prod(comb(n, k) for (_, n), k in zip(cycles, taken, strict=True))
            left = tuple((length, n - k) for (length, n), k in zip(cycles, taken, strict=True))
            total += ways * _fixed_deals(left, groups[1:])
    return total


def _cycle_lengths(permutation: Sequence[int]) -> list[int]:
    lengths, unseen = [], set(range(len(permutation)))
    while unseen:
        length, element = 0, min(unseen)
        while element in unseen:
            unseen.remove(element)
            element = permutation[element]
            length += 1
        lengths.append(length)
    return lengths


# ---- betting, state by state


def _walk_betting(game: Game, progress: Progress | None = None) -> tuple[list[int], list[int]]:
    """Decisions and actions by round, from the rules themselves: any game, if it is small."""
    if not game.limit:
        # in each round: how far each player has come, and to which total the next raise goes
        estimate = game.rounds * comb(max(game.stacks) - game.big_blind, game.players + 1)
        if estimate > WALK_LIMIT:
            raise InputError(
                f"game {game.name}: about {estimate:.0e} betting actions to walk, expected at most "
                f"{WALK_LIMIT:.0e}: no-limit games need few chips, or two players of equal stacks"
            )
    decisions, actions = [0] * game.rounds, [0] * game.rounds
    starts = Counter({_forget(initial_state(game)): 1})
    for round_ in range(game.rounds):
        # a raise increases what there is to pay, any other action decreases who has yet to act, so
        # in this order a state comes after all that lead to it
        layers: defaultdict[tuple[int, int], Counter[State]] = defaultdict(Counter)
        for state, ways in starts.items():
            layers[_order(state)][state] = ways
        starts = Counter()
        while layers:
            for state, ways in layers.pop(min(layers)).items():
                if state.actor is None:
                    continue
                moves = _moves(state)
                decisions[round_] += ways
                actions[round_] += ways * len(moves)
                for move in moves:
                    child = _forget(state.apply(move))
                    if child.round > round_:
                        starts[child] += ways
                    else:
                        layers[_order(child)][child] += ways
        if progress:
            progress.update(1)
    return decisions, actions


def _order(state: State) -> tuple[int, int]:
    return max(state.spent), -state.pending


def _moves(state: State) -> list[Action]:
    fold, raise_to = state.legal
    low, high = raise_to or (0, -1)
    raises = [Action(RAISE, total) for total in range(low, high + 1)]
    return [Action(FOLD)] * fold + [Action(CALL)] + raises


def _forget(state: State) -> State:
    """One state for all that have the same future betting: some board, no history.

    Of the past matter what the players who are still in have paid (if no stack can run out, only
    how much more than others), and the number of raises (if there can be too many).
    """
    game = state.game
    if state.cards_owed:
        cards = range(len(state.board), len(state.board) + state.cards_owed)
        state = state.deal(tuple(cards))
    paid = [s for s, out in zip(state.spent, state.folded, strict=True) if not out]
    shared = min(paid) if _is_deep(game) else 0
    raised = [action for action in state.betting[-1] if action.kind == RAISE]
    raises = len(raised) if _is_capped(game) else 0
    return replace(
        state,
        betting=((),) * state.round + ((Action(RAISE),) * raises,),
        spent=tuple(
            0 if out else s - shared for s, out in zip(state.spent, state.folded, strict=True)
        ),
        min_raise_to=0 if game.limit else state.min_raise_to,
    )


@cache
def _is_deep(game: Game) -> bool:
    """No player can ever be all-in: a limit game whose stacks exceed all its bets."""
    bets = sum(cap * size for cap, size in zip(game.max_raises, game.raise_size, strict=False))
    return game.limit and game.big_blind + bets < min(game.stacks)


@cache
def _is_capped(game: Game) -> bool:
    """A round can come to the cap on its raises before the chips run out."""
    # every raise costs the minimum bet, but for at most one all-in of each player
    return game.limit or max(game.stacks) // game.min_bet + game.players > min(game.max_raises)


# ---- betting, as partitions


def _count_partitions(game: Game, progress: Progress | None = None) -> tuple[list[int], list[int]]:
    """Decisions and actions by round of a heads-up no-limit game with equal stacks.

    The derivation is in the module's docstring; ``_walk_betting`` says what it means.
    """
    stack = game.stacks[0]
    if stack > STACK_LIMIT:
        raise InputError(
            f"game {game.name}: stacks of {stack} chips: expected at most {STACK_LIMIT}, "
            "since every number of chips is a bet size"
        )
    room = stack - 1 - game.big_blind
    series = {cap: _raise_series(room, game.min_bet, cap) for cap in set(game.max_raises)}
    decisions, actions = [], []
    closed = [1] + [0] * room
    for round_, cap in enumerate(game.max_raises):
        raises, raises_below_cap = series[cap]
        sums = accumulate(map(int.__add__, raises, raises_below_cap))
        decisions.append(2 * _dot(reversed(closed), sums))
        one_may_fold = round_ == 0 and game.blinds[0] != game.blinds[1]
        actions.append(3 * decisions[-1] - 4 * sum(closed) + one_may_fold)
        if round_ < game.rounds - 1:
            closed = _multiply(closed, [1] + [2 * ways for ways in raises[1:]])
        if progress:
            progress.update(1)
    return decisions, actions


def _raise_series(room: int, min_bet: int, cap: int) -> tuple[list[int], list[int]]:
    """Ways to raise by n chips in all in a round, for n = 0 … room: U and U - E_cap.

    >>> _raise_series(7, 2, 2)  # 7 chips in at most 2 raises: 7, 2 + 5, 3 + 4
    ([1, 0, 1, 1, 2, 2, 3, 3], [1, 0, 1, 1, 1, 1, 1, 1])
    """
    below, upto = [0] * (room + 1), [1] + [0] * room
    partitions = upto.copy()  # of n into parts of at most ``raises``
    for raises in range(1, cap + 1):
        below = upto.copy()
        del partitions[max(room + 1 - raises * min_bet, 0) :]
        for n in range(raises, len(partitions)):
            partitions[n] += partitions[n - raises]
        for n, ways in enumerate(partitions, start=raises * min_bet):
            upto[n] += ways
    return upto, below


def _multiply(a: list[int], b: list[int]) -> list[int]:
    """The first len(a) coefficients of a product of power series of that length.

    Kronecker's substitution: the coefficients stand side by side in one decimal number, wide enough
    apart that the product holds those of the result. Decimals multiply fast at any length.

    >>> _multiply([1, 2, 3], [1, 1, 1])
    [1, 3, 6]
    """
    size = len(a)
    width = len(str(max(a))) + len(str(max(b))) + len(str(size))
    exact = decimal.Context(decimal.MAX_PREC, Emax=decimal.MAX_EMAX, traps=[decimal.Inexact])
    packed = (decimal.Decimal("".join(f"{c:0{width}}" for c in reversed(s))) for s in (a, b))
    digits = str(exact.multiply(*packed)).zfill(size * width)
    ends = range(len(digits), len(digits) - size * width, -width)
    return [int(digits[end - width : end]) for end in ends]
