"""``deepstack acpc deal``: be the dealer of a match over TCP."""

from __future__ import annotations

from omegaconf import DictConfig

from deepstack.acpc.dealer import Dealer, Limits
from deepstack.app.match import print_table
from deepstack.game.definition import load_game
from deepstack.run.files import write_atomically
from deepstack.run.progress import track


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    dealer = Dealer(
        game,
        list(config.names),
        config.hands,
        seed=config.seed,
        duplicate=config.duplicate,
        ports=config.ports,
        host=config.host,
        limits=Limits(**config.limits),
    )
    for player, port in zip(dealer.players, dealer.ports, strict=True):
        print(f"{player.name}: deepstack acpc join {config.host} {port} game={config.game}")
    print("waiting for players …", flush=True)
    with track(config.hands, f"dealing {game.name}", "hands") as progress:
        result = dealer.run(progress)
    print_table(result)
    forfeits = {p.name: p.forfeit for p in dealer.players if p.forfeit}
    for name, reason in forfeits.items():
        print(f"  {name} forfeited: {reason}")
    if config.log is not None:
        write_atomically(config.log, result.log_text())
        print(f"log: {config.log}")
    return {**result.figures(), "forfeits": forfeits}
