"""``deepstack lbr``: local best response against an agent."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from deepstack.agents.build import AgentSpec
from deepstack.evaluate.lbr import LbrResult, forget, lbr_task, run_lbr
from deepstack.evaluate.lbr_bets import load_bets
from deepstack.game.definition import load_game
from deepstack.run.executors import make_executor
from deepstack.run.progress import track

EXECUTORS = {"local": "in_process"}  # as the programs that make data call it


def run(config: DictConfig) -> dict:
    settings = OmegaConf.to_container(config, resolve=True)
    assert isinstance(settings, dict)
    game = load_game(str(config.game))
    agent: AgentSpec = settings["agent"]
    task = lbr_task(
        game, agent, load_bets(settings["bets"], game, config.rounds), config.seed, config.samples
    )
    executor = make_executor(EXECUTORS.get(config.executor, config.executor), config.workers)
    work = Path(str(config.work))
    with track(config.hands, f"lbr on {game.name}", "hands") as progress:
        result = run_lbr(
            task,
            config.hands,
            chunk=config.chunk,
            half_width=config.half_width,
            work=work,
            executor=executor,
            progress=progress,
        )
    print_result(result, agent if isinstance(agent, str) else str(agent))
    forget(task, work)
    return result.figures()


def print_result(result: LbrResult, agent: str) -> None:
    rate, seats = result.win_rate, result.by_seat
    half = "" if rate.ci95 is None else f" ± {rate.ci95:.1f}"
    print(f"{result.hands:,} hands of {result.game.name} against {agent}")
    print(f"  local best response wins {rate.mean:+.1f}{half} mbb/g")
    print(f"  from seat 1 {seats[0]:+.1f}, from seat 2 {seats[1]:+.1f}")
