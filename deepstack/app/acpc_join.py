"""``deepstack acpc join``: sit an agent down at a dealer's table."""

from __future__ import annotations

from omegaconf import DictConfig

from deepstack.acpc.client import join
from deepstack.agents.build import make_agent
from deepstack.game.definition import load_game


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    agent = make_agent(config.agent, game, config.seed)
    hands = join(game, agent, config.host, config.port, connect=config.connect)
    print(f"{hands} hands played")
    return {"hands": hands}
