"""Tournaments: every set of entrants plays a match; bankroll and instant run-off rank them.

The formats of the Annual Computer Poker Competition. In a game of P seats every P of the N entrants
play one match of duplicate deals, each deal once for every permutation of the seats. All matches
share their cards, so the same set of hands is played by everybody against everybody.

- *Total bankroll*: entrants are ranked by their mean win rate over all their matches.
- *Instant run-off*: the last of the bankroll ranking is dropped with all its matches, the others
  are ranked again, and so on until one match is left, which ranks its players.

Intervals are over duplicate sets: what an entrant wins in a set is first averaged over its matches,
because these share their cards. An exact tie goes to who won more over all matches, then to who
entered first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.agents.build import AgentSpec, agent_labels, agent_seeds, make_agent
from deepstack.evaluate.deals import check_hands, deal, set_size
from deepstack.evaluate.match import play_hand
from deepstack.evaluate.statistics import Estimate, mean_estimate
from deepstack.evaluate.tournament_pieces import PieceFolder
from deepstack.game.definition import Game
from deepstack.run.errors import InputError
from deepstack.run.executors import Executor, InProcess
from deepstack.run.progress import Progress

PIECE = 100  # duplicate sets that a worker plays at a time
EVENTS = ("bankroll", "runoff", "both")

Floats = npt.NDArray[np.float64]


class Piece(NamedTuple):
    """Some duplicate sets of one match."""

    match: int
    number: int


@dataclass(frozen=True)
class TournamentTask:
    """What a worker needs to play any piece of a tournament; calling it plays one."""

    game: Game
    specs: tuple[AgentSpec, ...]
    seed: int
    sets: int

    @property
    def matches(self) -> list[tuple[int, ...]]:
        """The entrants of every match."""
        return list(combinations(range(len(self.specs)), self.game.players))

    def pieces(self) -> Iterator[Piece]:
        """All pieces; the same sets of all matches come one after the other."""
        for number in range(-(-self.sets // PIECE)):
            for match in range(len(self.matches)):
                yield Piece(match, number)

    def sets_of(self, piece: Piece) -> range:
        return range(piece.number * PIECE, min((piece.number + 1) * PIECE, self.sets))

    def __call__(self, piece: Piece) -> Floats:
        """Chips won a hand, by set and player of the match, over the seatings: [sets, P]."""
        game, seeds = self.game, agent_seeds(self.seed, len(self.specs))
        # an entrant has its own seed in every match, whoever it meets
        agents = [make_agent(self.specs[i], game, seeds[i]) for i in self.matches[piece.match]]
        size, sets = set_size(game.players, True), self.sets_of(piece)
        chips = np.zeros((len(sets), game.players))
        for row, number in enumerate(sets):
            for hand in range(number * size, (number + 1) * size):
                dealt = deal(game, self.seed, hand, True)
                final = play_hand(game, [agents[a] for a in dealt.seating], dealt, hand)
                chips[row, list(dealt.seating)] += final.payoffs()
        return chips / size


class Standing(NamedTuple):
    """One line of a ranking.

    Attributes:
        entrant: the number of the entrant.
        rate: its win rate in mbb/g.
        margin: by how much it beats the next, over the same cards; None for the last.
    """

    entrant: int
    rate: Estimate
    margin: Estimate | None


@dataclass(frozen=True)
class Tournament:
    """What a tournament showed.

    Attributes:
        game: the game of all matches.
        labels: the N entrants by name.
        matches: the entrants of each of M matches.
        milli: float64 [M, sets, P] mbb/g by match, duplicate set and player of the match;
            thousandths of a chip where the game has no blinds.
    """

    game: Game
    labels: list[str]
    matches: list[tuple[int, ...]]
    milli: Floats

    @property
    def entrants(self) -> range:
        return range(len(self.labels))

    @property
    def hands(self) -> int:
        """Hands of one match."""
        return self.milli.shape[1] * set_size(self.game.players, True)

    def won(self, entrant: int, among: Sequence[int], against: int | None = None) -> Floats:
        """What an entrant won in every set [sets], over its matches ``among`` some entrants.

        ``against`` leaves only the matches in which that opponent sat at the table.
        """
        needed = {entrant} if against is None else {entrant, against}
        chosen = [
            self.milli[number, :, match.index(entrant)]
            for number, match in enumerate(self.matches)
            if needed <= set(match) <= set(among)
        ]
        return np.mean(chosen, axis=0)

    def match_rates(self, number: int) -> list[Estimate]:
        """Win rates of the players of one match."""
        return [mean_estimate(column) for column in self.milli[number].T]

    def cross(self, row: int, column: int) -> Estimate:
        """Win rate of an entrant over its matches with an opponent at the table."""
        return mean_estimate(self.won(row, self.entrants, column))

    def ranking(self, among: Sequence[int] | None = None) -> list[Standing]:
        """Some entrants by their win rate over the matches among them, the best first."""
        chosen = list(self.entrants) if among is None else sorted(among)
        won = {entrant: self.won(entrant, chosen) for entrant in chosen}
        order = sorted(chosen, key=lambda e: (-won[e].mean(), -self._overall[e], e))
        below: list[int | None] = [*order[1:], None]
        return [
            Standing(
                entrant,
                mean_estimate(won[entrant]),
                None if worse is None else mean_estimate(won[entrant] - won[worse]),
            )
            for entrant, worse in zip(order, below, strict=True)
        ]

    @cached_property
    def _overall(self) -> list[float]:
        return [float(self.won(e, self.entrants).mean()) for e in self.entrants]

    def runoff(self) -> list[list[Standing]]:
        """The rankings of the run-off, round by round; all but the last drop their last line."""
        rounds = [self.ranking()]
        while len(rounds[-1]) > self.game.players:
            left = [standing.entrant for standing in rounds[-1][:-1]]
            rounds.append(self.ranking(left))
        return rounds

    def runoff_order(self) -> list[int]:
        """Entrants by their place in the run-off, the winner first."""
        *earlier, last = self.runoff()
        dropped = [ranking[-1].entrant for ranking in earlier]
        return [standing.entrant for standing in last] + dropped[::-1]

    def figures(self, event: str = "both") -> dict:
        """The cross-table, the matches, and the rankings of an event."""
        names, ranking = self.labels, self.ranking()
        result: dict = {
            "players": self.game.players,
            "hands": self.hands,
            "hands_in_all": self.hands * len(self.matches),
            "agents": {names[s.entrant]: _figures(s.rate) for s in ranking},
            "cross_table": {
                names[row]: {
                    names[column]: _figures(self.cross(row, column))
                    for column in self.entrants
                    if column != row
                }
                for row in self.entrants
            },
            "matches": [
                {
                    names[entrant]: _figures(rate)
                    for entrant, rate in zip(match, self.match_rates(number), strict=True)
                }
                for number, match in enumerate(self.matches)
            ],
        }
        if event in ("bankroll", "both"):
            result["bankroll"] = {
                "ranks": [names[s.entrant] for s in ranking],
                "standings": [_standing(s, names) for s in ranking],
            }
        if event in ("runoff", "both"):
            result["runoff"] = {
                "ranks": [names[entrant] for entrant in self.runoff_order()],
                "rounds": [[_standing(s, names) for s in standings] for standings in self.runoff()],
            }
        return result


def _figures(rate: Estimate) -> dict:
    return {"mbb_per_game": rate.mean, "ci95": rate.ci95}


def _standing(standing: Standing, names: Sequence[str]) -> dict:
    margin = None if standing.margin is None else _figures(standing.margin)
    return {"agent": names[standing.entrant], **_figures(standing.rate), "over_next": margin}


def play_tournament(
    game: Game,
    specs: Sequence[AgentSpec],
    hands: int,
    *,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
    folder: PieceFolder | None = None,
) -> Tournament:
    """Play all matches of a tournament.

    Args:
        game: the rules; its seats are the players of a match.
        specs: the entrants, as ``make_agent`` takes them; at least one a seat.
        hands: hands of every match, a multiple of the permutations of the seats.
        seed: fixes the cards, which all matches share, and the agents.
        executor: where pieces are played; this process unless given.
        progress: shown the hands played; its total is ``count_hands``.
        folder: keeps finished pieces, so that a tournament that was stopped goes on from there.
    """
    check_entrants(game, specs)
    sets = check_hands(hands, game.players, duplicate=True)
    task = TournamentTask(game, tuple(specs), seed, sets)
    labels, seeds = agent_labels(specs), agent_seeds(seed, len(specs))
    for spec, agent_seed in zip(specs, seeds, strict=True):
        make_agent(spec, game, agent_seed)  # a wrong entrant is named before any hand is played
    size = set_size(game.players, True)
    chips = np.zeros((len(task.matches), sets, game.players))
    missing = []
    for piece in task.pieces():
        kept = None if folder is None else folder.load(piece, len(task.sets_of(piece)))
        if kept is None:
            missing.append(piece)
            continue
        chips[piece.match, task.sets_of(piece)] = kept
        if progress is not None:
            progress.update(kept.shape[0] * size)
    for piece, won in zip(missing, (executor or InProcess()).map(task, missing), strict=True):
        chips[piece.match, task.sets_of(piece)] = won
        if folder is not None:
            folder.save(piece, won)
        if progress is not None:
            players = " – ".join(labels[i] for i in task.matches[piece.match])
            progress.update(len(won) * size, match=players)
    milli = chips * (1000.0 / max(game.big_blind, 1))
    return Tournament(game, labels, task.matches, milli)


def check_entrants(game: Game, specs: Sequence[AgentSpec]) -> None:
    """Refuse a tournament that has too few entrants for one match."""
    if len(specs) < game.players:
        raise InputError(
            f"{len(specs)} agents: expected at least {game.players}, the seats of {game.name}"
        )


def count_hands(game: Game, entrants: int, hands: int) -> int:
    """Hands of all matches together."""
    return hands * len(list(combinations(range(entrants), game.players)))
