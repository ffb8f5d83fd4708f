"""How much luck AIVAT and imaginary observations take out, and that both stay unbiased.

In a small game every hand is enumerated, so means and deviations are exact: AIVAT (Burch et al.
2018) with several estimates of values, knowing the strategies of both players or of one, and the
estimators of Johanson's thesis (2016, chapter 7), on- and off-policy. In hold'em matches are
played, and the means of chips and of AIVAT must agree within the interval of their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig, OmegaConf

from deepstack.agents.build import agent_seeds, make_agent
from deepstack.agents.protocol import Agent
from deepstack.evaluate.aivat import aivat_value
from deepstack.evaluate.aivat_exact import StateStrategy, exact_moments, remembered
from deepstack.evaluate.aivat_records import HandRecord, Strategy
from deepstack.evaluate.deals import check_hands
from deepstack.evaluate.imaginary import ESTIMATORS, imaginary_values
from deepstack.evaluate.match import PIECE, Piece, play_sets
from deepstack.evaluate.statistics import mean_estimate
from deepstack.evaluate.value_sources import Equity, ValueSource, make_source, solved_self_play
from deepstack.experiments.curves import log_spaced, shorten
from deepstack.experiments.variance_players import PushFold
from deepstack.game.definition import Game, load_game
from deepstack.game.state import State
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress

UNIT = "hands"
FIRST = 100  # sets from which on the curves are drawn
KNOWN = {"both": (True, True), "one": (True, False)}

Floats = npt.NDArray[np.float64]


def steps(config: DictConfig) -> int:
    """The hands of all matches."""
    return sum(int(match.hands) for match in config.matches)


def run(config: DictConfig, progress: Progress) -> dict[str, Any]:
    """Exact deviations in chips in the small game, and the figures of every match in mbb/g."""
    for match in config.matches:
        check_hands(int(match.hands), 2, True)
    return {
        "exact": exact(config),
        "matches": [_match(config, match, progress) for match in config.matches],
    }


# ---- a small game, exactly


def exact(config: DictConfig) -> dict[str, Any]:
    """Deviations of all estimators of seat 0, and how far their means are from the truth."""
    game = load_game(str(config.game))
    players = remembered(solved_self_play(game, int(config.iterations)).strategy)
    sources: dict[str, ValueSource] = {
        "equity": Equity(game),
        "bet_call": Equity(game, bets=True),
        "self_play": solved_self_play(game, int(config.estimate_iterations)),
    }
    chips = exact_moments(game, players, (False, False), lambda record: [record.final.payoffs()[0]])
    aivat: dict[str, dict[str, float]] = {}
    bias = 0.0
    for name, known in KNOWN.items():
        means, sds = exact_moments(game, players, known, _each(list(sources.values()), known))
        aivat[name] = dict(zip(sources, sds.tolist(), strict=True))
        bias = max(bias, float(np.abs(means - chips.mean).max()))
    imaginary = {}
    for name, played in (("on_policy", players), ("off_policy", explorer(players, 0, config))):
        evaluated = None if name == "on_policy" else players

        def estimate(record: HandRecord, evaluated: StateStrategy | None = evaluated) -> Floats:
            return imaginary_values(record, 0, evaluated=evaluated)

        means, sds = exact_moments(game, played, (True, False), estimate)
        imaginary[name] = dict(zip(ESTIMATORS, sds.tolist(), strict=True))
        bias = max(bias, float(np.abs(means - chips.mean).max()))
    return {
        "game": game.name,
        "value": float(chips.mean[0]),
        "chips": float(chips.sd[0]),
        "aivat": aivat,
        "imaginary": imaginary,
        "bias": bias,
    }


def _each(sources: Sequence[ValueSource], known: tuple[bool, bool]) -> Any:
    """AIVAT by several sources, found once for all hands that it does not tell apart."""
    found: dict[tuple, list[float]] = {}

    def estimate(record: HandRecord) -> list[float]:
        final = record.final
        hands = tuple(hand for hand, k in zip(final.hands, known, strict=True) if not k)
        key = final.betting, final.board, hands
        if key not in found:
            found[key] = [aivat_value(record, source) for source in sources]
        return found[key]

    return estimate


def explorer(players: StateStrategy, seat: int, config: DictConfig) -> StateStrategy:
    """The players, of whom one seat acts uniformly now and then, so that it tries everything."""
    share = float(config.exploration)

    def strategy(state: State) -> Strategy:
        said = players(state)
        if state.actor != seat:
            return said
        return Strategy(said.totals, (1 - share) * said.table + share / len(said.totals))

    return strategy


# ---- matches


def _match(config: DictConfig, match: DictConfig, progress: Progress) -> dict[str, Any]:
    """One match of duplicate hands, measured by chips and by AIVAT."""
    game, hands = load_game(str(match.game)), int(match.hands)
    specs = OmegaConf.to_container(match.agents, resolve=True)
    assert isinstance(specs, list)
    agents = make_players(specs, game, config)
    source = make_source(str(config.source), game)
    sets, parts = hands // 2, list[Piece]()
    for first in range(0, sets, PIECE):
        span = range(first, min(first + PIECE, sets))
        parts.append(play_sets(game, agents, ["a", "b"], span, int(config.seed), True, source))
        progress.update(2 * len(span))
    milli = 1000.0 / game.big_blind
    plain = np.concatenate([part.chips for part in parts])[..., 0].mean(axis=1) * milli
    aivat = np.concatenate([part.aivat for part in parts if part.aivat is not None])
    return {
        "game": game.name,
        "agents": [spec if isinstance(spec, str) else dict(spec) for spec in specs],
        "hands": hands,
        **compare(plain, aivat[..., 0].mean(axis=1) * milli),
    }


def make_players(specs: Sequence[Any], game: Game, config: DictConfig) -> list[Agent]:
    """Agents by name; ``push_fold`` is the solved player of this experiment."""
    if len(specs) != 2:
        raise InputError(f"agents {specs}: expected two")
    agents: list[Agent] = []
    for spec, seed in zip(specs, agent_seeds(int(config.seed), 2), strict=True):
        if spec == "push_fold":
            agents.append(PushFold(game, seed, iterations=int(config.push_fold_iterations)))
        else:
            agents.append(make_agent(spec, game, seed))
    return agents


def compare(plain: Floats, aivat: Floats) -> dict[str, Any]:
    """Means and intervals of both estimates of sets [n], of their difference, and on the way."""
    difference = mean_estimate(aivat - plain)
    figures: dict[str, Any] = {
        "plain": _estimate(plain),
        "aivat": _estimate(aivat),
        "difference": {"mbb_per_game": difference.mean, "ci95": difference.ci95},
        "reduction": 1.0 - float(aivat.std() / plain.std()) if plain.std() > 0 else 0.0,
    }
    points = [int(n) for n in log_spaced(len(plain), 12) if n >= min(FIRST, len(plain))]
    figures["curve"] = {"hands": [2 * n for n in points]}
    for name, values in (("plain", plain), ("aivat", aivat)):
        found = [mean_estimate(values[:n]) for n in points]
        figures["curve"][name] = shorten([e.mean for e in found])
        figures["curve"][f"{name}_ci95"] = shorten([e.ci95 or 0.0 for e in found])
    return figures


def _estimate(values: Floats) -> Mapping[str, float | None]:
    found = mean_estimate(values)
    return {"mbb_per_game": found.mean, "ci95": found.ci95}
