"""``deepstack size``: the exact size of a game."""

from __future__ import annotations

from dataclasses import asdict

from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.game.size import game_size


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    figures = {key: str(value) for key, value in asdict(game_size(game)).items()}
    width = max(map(len, figures))
    print(f"{game.name}")
    for key, text in figures.items():
        about = f"  (about {float(text):.2e})" if len(text) > 15 else ""
        print(f"  {key:{width}}  {int(text):,}{about}" if len(text) < 60 else f"  {key:{width}}  {text[0]}.{text[1:4]}e{len(text)-1}")
    return figures
