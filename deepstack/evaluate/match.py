"""Matches between agents in one process or many: hands, win rates, logs.

Stacks are reset every hand. A match of N hands is cut into pieces that an executor plays in any
order; the result and the log do not depend on how.

Beside the chips that were won stand, where the strategy of a player is known, the estimates of
AIVAT (``aivat``): of the same mean, with less luck in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepstack.agents.build import AgentSpec, agent_labels, agent_seeds, make_agent
from deepstack.agents.protocol import Agent
from deepstack.evaluate.aivat import aivat_values
from deepstack.evaluate.aivat_records import is_known, record_hand
from deepstack.evaluate.deals import Deal, check_hands, deal, set_size
from deepstack.evaluate.statistics import Estimate, mean_estimate
from deepstack.evaluate.value_sources import ValueSource, make_source
from deepstack.game.definition import Game
from deepstack.game.state import State, initial_state
from deepstack.game.text import format_chips, format_log_line
from deepstack.run.errors import InputError
from deepstack.run.executors import Executor, InProcess
from deepstack.run.progress import Progress

PIECE = 200  # duplicate sets an executor plays at a time


def play_hand(game: Game, seated: Sequence[Agent], dealt: Deal, hand: int) -> State:
    """One hand, agents by seat; the final state."""
    for seat, agent in enumerate(seated):
        agent.new_hand(seat, hand)
    state = initial_state(game, dealt.hands)
    while not state.is_over:
        state = advance(state, seated, dealt.board)
    return state


def advance(state: State, seated: Sequence[Agent], board: tuple[int, ...]) -> State:
    """The next state: cards that are owed from ``board``, or the action of the agent to act."""
    if state.cards_owed:
        known = len(state.board)
        return state.deal(board[known : known + state.cards_owed])
    assert state.actor is not None
    return state.apply(seated[state.actor].act(state.seen_by(state.actor)))


class Piece(NamedTuple):
    """Some sets of a match: by set, hand and agent [sets, hands a set, agents].

    Attributes:
        chips: won.
        aivat: estimates of the same, NaN where the agent's strategy is not known; None if no
            estimates were asked for.
        lines: of the log.
    """

    chips: npt.NDArray[np.float64]
    aivat: npt.NDArray[np.float64] | None
    lines: list[str]


@dataclass(frozen=True)
class MatchTask:
    """What a worker needs to play any piece of a match; calling it plays one."""

    game: Game
    specs: tuple[AgentSpec, ...]
    seed: int
    duplicate: bool
    sets: int
    aivat: str | None = None

    def __call__(self, piece: int) -> Piece:
        seeds = agent_seeds(self.seed, len(self.specs))
        agents = [
            make_agent(spec, self.game, seed) for spec, seed in zip(self.specs, seeds, strict=True)
        ]
        source = None if self.aivat is None else _source(self.aivat, self.game)
        sets = range(piece * PIECE, min((piece + 1) * PIECE, self.sets))
        labels = agent_labels(self.specs)
        return play_sets(self.game, agents, labels, sets, self.seed, self.duplicate, source)


_source = lru_cache(maxsize=4)(make_source)


def play_sets(
    game: Game,
    agents: Sequence[Agent],
    labels: Sequence[str],
    sets: range,
    seed: int,
    duplicate: bool,
    source: ValueSource | None = None,
) -> Piece:
    """Play some sets of a match.

    Args:
        game: the rules.
        agents, labels: who plays, and their names in the log.
        sets: numbers of duplicate sets (of hands, without duplicate).
        seed: fixes the cards.
        duplicate: play every deal from every seating.
        source: of the estimates of AIVAT, where the strategy of one player is known at least.
    """
    size = set_size(game.players, duplicate)
    known = [is_known(agent) for agent in agents]
    estimated = source is not None and any(known)
    chips = np.empty((len(sets) * size, len(agents)))
    aivat = np.full(chips.shape, np.nan) if estimated else None
    lines = []
    for row, hand in enumerate(range(sets.start * size, sets.stop * size)):
        dealt = deal(game, seed, hand, duplicate)
        order = list(dealt.seating)
        seated = [agents[a] for a in order]
        if aivat is None:
            final = play_hand(game, seated, dealt, hand)
        else:
            assert source is not None
            record = record_hand(game, seated, [known[a] for a in order], dealt, hand)
            final = record.final
            aivat[row, order] = aivat_values(record, source)
        chips[row, order] = final.payoffs()
        lines.append(format_log_line(hand, final, [labels[a] for a in order]))
    shape = (-1, size, len(agents))
    return Piece(chips.reshape(shape), None if aivat is None else aivat.reshape(shape), lines)


@dataclass
class MatchResult:
    """What a match showed. Chips, and the estimates of AIVAT if there are any, are by set, hand
    and agent; estimates are NaN for an agent whose strategy is not known."""

    game: Game
    labels: list[str]
    chips: npt.NDArray[np.float64]
    log: list[str] = field(repr=False)
    aivat: npt.NDArray[np.float64] | None = None

    @property
    def hands(self) -> int:
        return self.chips.shape[0] * self.chips.shape[1]

    def win_rates(self) -> list[Estimate]:
        """Win rate of every agent in mbb/g, in thousandths of a chip where there are no blinds.

        The interval is over duplicate sets.
        """
        return [self._rate(self.chips[..., agent]) for agent in range(len(self.labels))]

    def aivat_rates(self) -> list[Estimate | None]:
        """The same by AIVAT; None for an agent whose strategy is not known."""
        if self.aivat is None:
            return [None] * len(self.labels)
        columns = [self.aivat[..., agent] for agent in range(len(self.labels))]
        return [None if np.isnan(column).any() else self._rate(column) for column in columns]

    def _rate(self, chips: npt.NDArray[np.float64]) -> Estimate:
        return mean_estimate(chips.mean(axis=1) * (1000.0 / max(self.game.big_blind, 1)))

    def figures(self) -> dict:
        agents: dict[str, dict[str, float | None]] = {}
        rates = zip(self.labels, self.win_rates(), self.aivat_rates(), strict=True)
        for label, plain, aivat in rates:
            agents[label] = {"mbb_per_game": plain.mean, "ci95": plain.ci95}
            if aivat is not None:
                agents[label] |= {"aivat_mbb_per_game": aivat.mean, "aivat_ci95": aivat.ci95}
        return {"hands": self.hands, "agents": agents}

    def log_text(self) -> str:
        """The log as the competition's dealer writes it: one line a hand, then the score."""
        totals = "|".join(format_chips(total) for total in self.chips.sum(axis=(0, 1)))
        return "\n".join([*self.log, f"SCORE:{totals}:{'|'.join(self.labels)}", ""])


def play_match(
    game: Game,
    specs: Sequence[AgentSpec],
    hands: int,
    *,
    seed: int = 0,
    duplicate: bool = True,
    aivat: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Play a match and measure it.

    Args:
        game: the rules.
        specs: one agent a seat, as ``make_agent`` takes them.
        hands: hands in all; with duplicate play a multiple of the number of seatings.
        seed: fixes cards and agents.
        duplicate: play every deal from every seating.
        aivat: estimate win rates by AIVAT too, with values of this source (``value_sources``).
        executor: where pieces are played; this process unless given.
        progress: shown the hands played and the first agent's win rate so far.
    """
    if len(specs) != game.players:
        raise InputError(f"{len(specs)} agents: {game.name} has {game.players} seats")
    sets = check_hands(hands, game.players, duplicate)
    if aivat is not None:
        _source(aivat, game)  # a wrong one is refused here, not by a worker
    task = MatchTask(game, tuple(specs), seed, duplicate, sets, aivat)
    labels, parts = agent_labels(specs), list[Piece]()
    for part in (executor or InProcess()).map(task, range(-(-sets // PIECE))):
        parts.append(part)
        if progress is not None:
            so_far = _joined(game, labels, parts)
            rate = so_far.aivat_rates()[0] or so_far.win_rates()[0]
            progress.update(len(part.lines), **{labels[0]: str(rate)})
    return replace(_joined(game, labels, parts), log=[line for p in parts for line in p.lines])


def _joined(game: Game, labels: list[str], parts: Sequence[Piece]) -> MatchResult:
    """The result of the pieces that were played, without the log."""
    chips = np.concatenate([part.chips for part in parts])
    aivat = [part.aivat for part in parts if part.aivat is not None]
    return MatchResult(game, labels, chips, [], np.concatenate(aivat) if aivat else None)
