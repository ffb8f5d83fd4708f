"""``deepstack size``: the exact size of a game."""

from __future__ import annotations

from dataclasses import asdict

from omegaconf import DictConfig

from deepstack.game.definition import load_game
from deepstack.game.size import game_size
from deepstack.run.progress import track


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    with track(game.rounds, f"size of {game.name}", "rounds") as progress:
        size = game_size(game, progress)
    figures: dict[str, str | list[str]] = {
        key: [str(count) for count in value] if isinstance(value, tuple) else str(value)
        for key, value in asdict(size).items()
    }
    width = max(map(len, figures))
    print(game.name)
    for key, digits in figures.items():
        counts = digits if isinstance(digits, list) else [digits]
        print(f"  {key:{width}}  {' / '.join(map(readable, counts))}")
    return figures


def readable(digits: str) -> str:
    """A whole number for people: grouped, or the leading digits and the power of ten.

    >>> readable("13803249787132"), readable("637" + "0" * 159)
    ('13,803,249,787,132', '6.37e161')
    """
    if len(digits) <= 30:
        return f"{int(digits):,}"
    return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"
