"""``deepstack match``: agent against agent."""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf

from deepstack.evaluate.histories import check_phh, write_phh
from deepstack.evaluate.match import MatchResult, play_match
from deepstack.evaluate.statistics import Estimate
from deepstack.game.definition import load_game
from deepstack.run.executors import make_executor
from deepstack.run.files import write_atomically
from deepstack.run.progress import track


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    specs = OmegaConf.to_container(config.agents, resolve=True)
    assert isinstance(specs, list)
    if config.phh is not None:
        check_phh(game)
    executor = make_executor(config.executor, config.workers)
    with track(config.hands, f"match on {game.name}", "hands") as progress:
        result = play_match(
            game,
            specs,
            config.hands,
            seed=config.seed,
            duplicate=config.duplicate,
            aivat=config.aivat,
            executor=executor,
            progress=progress,
        )
    print_table(result)
    if config.log is not None:
        write_atomically(config.log, result.log_text())
        print(f"log: {config.log}")
    if config.phh is not None:
        write_phh(config.phh, game, result.log)
        print(f"hand histories: {config.phh}")
    return result.figures()


def print_table(result: MatchResult) -> None:
    """Win rates, and by AIVAT where strategies are known."""
    width = max(len("agent"), *map(len, result.labels))
    aivat = result.aivat_rates()
    heads = [f"{'mbb/g':>10}  {'95 %':>10}"]
    if any(rate is not None for rate in aivat):
        heads.append(f"{'AIVAT':>10}  {'95 %':>10}")
    print(f"{result.hands:,} hands of {result.game.name}")
    print("  ".join([f"  {'agent':{width}}", *heads]))
    for label, *rates in zip(result.labels, result.win_rates(), aivat, strict=True):
        cells = [_cells(rate) for rate in rates if rate is not None]
        print("  ".join([f"  {label:{width}}", *cells]))


def _cells(rate: Estimate) -> str:
    half = "" if rate.ci95 is None else f"± {rate.ci95:.1f}"
    return f"{rate.mean:>+10.1f}  {half:>10}"
