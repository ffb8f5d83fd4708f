"""Matches between agents in one process or many: hands, win rates, logs.

Stacks are reset every hand. A match of N hands is cut into pieces that an executor plays in any
order; the result and the log do not depend on how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deepstack.agents.build import AgentSpec, agent_labels, agent_seeds, make_agent
from deepstack.agents.protocol import Agent
from deepstack.evaluate.deals import Deal, check_hands, deal, set_size
from deepstack.evaluate.statistics import Estimate, mean_estimate
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


@dataclass(frozen=True)
class MatchTask:
    """What a worker needs to play any piece of a match; calling it plays one."""

    game: Game
    specs: tuple[AgentSpec, ...]
    seed: int
    duplicate: bool
    sets: int

    def __call__(self, piece: int) -> tuple[npt.NDArray[np.float64], list[str]]:
        """Chips won, by set, hand and agent [sets, hands a set, agents], and the log lines."""
        game, size = self.game, set_size(self.game.players, self.duplicate)
        seeds = agent_seeds(self.seed, len(self.specs))
        agents = [
            make_agent(spec, game, seed) for spec, seed in zip(self.specs, seeds, strict=True)
        ]
        labels = agent_labels(self.specs)
        first, last = piece * PIECE, min((piece + 1) * PIECE, self.sets)
        chips = np.empty(((last - first) * size, len(agents)))
        lines = []
        for row, hand in enumerate(range(first * size, last * size)):
            dealt = deal(game, self.seed, hand, self.duplicate)
            final = play_hand(game, [agents[a] for a in dealt.seating], dealt, hand)
            chips[row, list(dealt.seating)] = final.payoffs()
            lines.append(format_log_line(hand, final, [labels[a] for a in dealt.seating]))
        return chips.reshape(-1, size, len(agents)), lines


@dataclass
class MatchResult:
    """What a match showed. Chips are by set, hand and agent."""

    game: Game
    labels: list[str]
    chips: npt.NDArray[np.float64]
    log: list[str] = field(repr=False)

    @property
    def hands(self) -> int:
        return self.chips.shape[0] * self.chips.shape[1]

    def win_rates(self) -> list[Estimate]:
        """Win rate of every agent in mbb/g, in thousandths of a chip where there are no blinds.

        The interval is over duplicate sets.
        """
        milli = self.chips.mean(axis=1) * (1000.0 / max(self.game.big_blind, 1))
        return [mean_estimate(milli[:, agent]) for agent in range(len(self.labels))]

    def figures(self) -> dict:
        return {
            "hands": self.hands,
            "agents": {
                label: {"mbb_per_game": rate.mean, "ci95": rate.ci95}
                for label, rate in zip(self.labels, self.win_rates(), strict=True)
            },
        }

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
        executor: where pieces are played; this process unless given.
        progress: shown the hands played and the first agent's win rate so far.
    """
    if len(specs) != game.players:
        raise InputError(f"{len(specs)} agents: {game.name} has {game.players} seats")
    sets = check_hands(hands, game.players, duplicate)
    task = MatchTask(game, tuple(specs), seed, duplicate, sets)
    labels = agent_labels(specs)
    parts, log = [], []
    for chips, lines in (executor or InProcess()).map(task, range(-(-sets // PIECE))):
        parts.append(chips)
        log += lines
        if progress is not None:
            so_far = MatchResult(game, labels, np.concatenate(parts), [])
            progress.update(len(lines), **{labels[0]: str(so_far.win_rates()[0])})
    return MatchResult(game, labels, np.concatenate(parts), log)
