"""``deepstack tournament``: every agent against every other, ranked by bankroll and by run-off."""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import DictConfig, OmegaConf

from deepstack.evaluate.deals import check_hands
from deepstack.evaluate.tournament import (
    EVENTS,
    PIECE,
    Standing,
    Tournament,
    check_entrants,
    count_hands,
    play_tournament,
)
from deepstack.evaluate.tournament_pieces import PieceFolder
from deepstack.evaluate.tournament_plot import plot_cross_table
from deepstack.game.definition import Game, load_game
from deepstack.run.errors import InputError
from deepstack.run.executors import make_executor
from deepstack.run.progress import track

DEFAULT_GAMES = {2: "hunl", 3: "limit_holdem_3p"}


def run(config: DictConfig) -> dict:
    game = choose_game(config.game, config.players)
    specs = OmegaConf.to_container(config.agents, resolve=True)
    assert isinstance(specs, list)
    if config.event not in EVENTS:
        raise InputError(f"event={config.event}: expected one of {', '.join(EVENTS)}")
    check_entrants(game, specs)
    check_hands(config.hands, game.players, duplicate=True)
    folder = None
    if config.folder is not None:
        folder = PieceFolder(config.folder, describe(game, specs, config), game.players)
    executor = make_executor(config.executor, config.workers)
    total = count_hands(game, len(specs), config.hands)
    with track(total, f"tournament on {game.name}", "hands") as progress:
        result = play_tournament(
            game,
            specs,
            config.hands,
            seed=config.seed,
            executor=executor,
            progress=progress,
            folder=folder,
        )
    print("\n".join(report(result, config.event)))
    if config.plot is not None:
        plot_cross_table(result, config.plot)
        print(f"plot: {config.plot}")
    return {"game": game.name, **result.figures(config.event)}


def choose_game(name: str | None, players: int | None) -> Game:
    """The game of a tournament: the one named, or its form for so many players."""
    if players not in (None, *DEFAULT_GAMES):
        raise InputError(f"players={players}: expected 2 or 3")
    if name is None:
        return load_game(DEFAULT_GAMES[players or 2])
    game = load_game(str(name))
    if players == 3 and game.players == 2:
        try:
            game = load_game(f"{name}_3p")
        except InputError:
            raise InputError(
                f"game={name} with players=3: expected a game that ships for three (kuhn, leduc, "
                "limit_holdem), or the .game file of one"
            ) from None
    if players is not None and game.players != players:
        raise InputError(f"game={name} has {game.players} seats: expected players={players}")
    return game


def describe(game: Game, specs: Sequence, config: DictConfig) -> dict:
    """All that the hands of a tournament depend on."""
    return {
        "game": repr(game),
        "agents": specs,
        "hands": config.hands,
        "seed": config.seed,
        "piece": PIECE,
    }


def report(result: Tournament, event: str) -> list[str]:
    """The cross-table and the rankings as text."""
    matches = f"{len(result.matches)} matches of {result.hands:,} hands of {result.game.name}"
    table = "with the opponent at the table" if result.game.players > 2 else "row against column"
    lines = [matches, "", f"mbb/g ± 95 %, {table}", *cross_table(result)]
    if event in ("bankroll", "both"):
        lines += ["", "total bankroll", *standings(result, result.ranking())]
    if event in ("runoff", "both"):
        *earlier, last = result.runoff()
        lines += ["", "instant run-off"]
        for number, ranking in enumerate(earlier, 1):
            out = ranking[-1]
            label = result.labels[out.entrant]
            lines.append(f"  round {number}: {label} is out with {out.rate}")
        lines += ["  the last match:", *standings(result, last)]
        order = [result.labels[entrant] for entrant in result.runoff_order()]
        lines.append(f"  order: {', '.join(order)}")
    return lines


def cross_table(result: Tournament) -> list[str]:
    """One row an entrant, best first; win rates with intervals."""
    order = [standing.entrant for standing in result.ranking()]
    head = ["", *(result.labels[column] for column in order)]
    rows = [head]
    for row in order:
        cells = ["" if row == column else _cell(result, row, column) for column in order]
        rows.append([result.labels[row], *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(["", row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def _cell(result: Tournament, row: int, column: int) -> str:
    rate = result.cross(row, column)
    return f"{rate.mean:+.0f}" + ("" if rate.ci95 is None else f" ± {rate.ci95:.0f}")


def standings(result: Tournament, ranking: Sequence[Standing]) -> list[str]:
    """A ranking as text: places, win rates, and how far ahead of the next."""
    width = max(len(label) for label in result.labels)
    lines = []
    for place, standing in enumerate(ranking, 1):
        ahead = "" if standing.margin is None else f"   ahead by {standing.margin}"
        label = result.labels[standing.entrant]
        lines.append(f"  {place}. {label:{width}}  {standing.rate!s:>24}{ahead}")
    return lines
