"""Time of a decision of the re-solving player in no-limit Leduc, by betting round.

    python -m benchmarks.resolving

The limit is 20 ms a decision after warm-up; times are also printed as shares of it. Nothing but
the first decision of the game is remembered from one hand to the next.
"""

from __future__ import annotations

import time

import numpy as np

from deepstack.agents.resolver import ResolverAgent
from deepstack.game.definition import load_game
from deepstack.game.state import State, initial_state
from deepstack.game.text import parse_state
from deepstack.resolve.continual import Resolver

LIMIT = 0.020
HANDS = 60


def decisions(agent: ResolverAgent, seed: int) -> dict[int, list[float]]:
    """Seconds of every decision of some hands of self-play, by round, nothing remembered."""
    game, rng = agent.game, np.random.default_rng(seed)
    taken: dict[int, list[float]] = {}
    resolvers = [Resolver(game, seat, agent.settings) for seat in (0, 1)]
    for resolver in resolvers:  # the first decision of a game is solved once
        resolver.decide(resolver.start(), parse_state(game, "" if resolver.seat == 0 else "c"))
    for _ in range(HANDS):
        carried = [resolver.start() for resolver in resolvers]
        state: State = initial_state(game).with_hands(((), ()))
        while not state.is_over:
            if state.cards_owed:
                state = state.deal((int(rng.integers(6)),))
                continue
            seat = state.actor
            assert seat is not None
            started = time.perf_counter()
            decision = resolvers[seat].decide(carried[seat], state)
            taken.setdefault(state.round, []).append(time.perf_counter() - started)
            chances = carried[seat].reach @ decision.probabilities
            action = decision.actions[rng.choice(len(chances), p=chances / chances.sum())]
            carried[seat] = decision.after(action)
            state = state.apply(action)
    return taken


def main() -> None:
    game = load_game("nolimit_leduc")
    agent = ResolverAgent(game)
    decisions(agent, 0)  # compiles, and fills the caches of the machine
    print("no-limit Leduc, seconds a decision with the shipped network; the limit is 20 ms")
    for round_, seconds in sorted(decisions(agent, 1).items()):
        median, most = np.median(seconds), np.percentile(seconds, 99)
        print(
            f"  round {round_ + 1}: {len(seconds):4} decisions, median {median * 1e3:5.1f} ms, "
            f"99 % within {most * 1e3:5.1f} ms: {most / LIMIT:.2f} of the limit"
        )


if __name__ == "__main__":
    main()
