"""``deepstack play``: you against an agent, in the terminal."""

from __future__ import annotations

import secrets

import numpy as np
from omegaconf import DictConfig
from rich.console import Console
from rich.text import Text

from deepstack.agents.build import agent_labels, make_agent
from deepstack.agents.human import HELP, Human, Quit, cards_text
from deepstack.evaluate.deals import deal
from deepstack.evaluate.match import MatchResult, advance
from deepstack.game.definition import load_game
from deepstack.game.state import State, initial_state
from deepstack.game.text import format_chips, format_log_line
from deepstack.run.errors import InputError
from deepstack.run.files import write_atomically


def run(config: DictConfig) -> dict:
    game = load_game(str(config.game))
    if game.players != 2:
        raise InputError(f"game {game.name}: expected a game for two, not {game.players}")
    if config.hands <= 0:
        raise InputError(f"hands={config.hands}: expected a positive number")
    seed = secrets.randbits(32) if config.seed is None else config.seed
    config.seed = seed
    console = Console()
    console.print(HELP, style="dim", highlight=False)
    labels = ["you", *agent_labels([config.opponent])]
    agents = [Human(game, console=console), make_agent(config.opponent, game, seed)]
    chips, log = [], []
    try:
        for hand in range(config.hands):
            dealt = deal(game, seed, hand, duplicate=False)
            seated = [agents[a] for a in dealt.seating]
            for seat, agent in enumerate(seated):
                agent.new_hand(seat, hand)
            state = initial_state(game, dealt.hands)
            while not state.is_over:
                state = advance(state, seated, dealt.board)
            log.append(format_log_line(hand, state, [labels[a] for a in dealt.seating]))
            won = state.payoffs()
            chips.append([won[dealt.seating.index(a)] for a in range(2)])
            _show_end(console, state, dealt.seating.index(0), labels[1], sum(c[0] for c in chips))
    except Quit:
        console.print()
    if not chips:
        return {"hands": 0, "agents": {}}
    result = MatchResult(game, labels, np.array(chips)[:, None, :], log)
    console.print(f"{result.hands} hands: {result.win_rates()[0]}", highlight=False)
    if config.log is not None:
        write_atomically(config.log, result.log_text())
    return result.figures()


def _show_end(console: Console, state: State, seat: int, opponent: str, total: float) -> None:
    deck, won = state.game.deck, state.payoffs()[seat]
    line = Text(f"{opponent} ")
    line += Text("folds") if state.folded[1 - seat] else cards_text(deck, state.hands[1 - seat])
    if state.board:
        line += Text("  board ") + cards_text(deck, state.board)
    verdict = "you win" if won > 0 else "you lose" if won < 0 else "a split pot,"
    line.append(f"  {verdict} {format_chips(abs(won))}", style="green" if won > 0 else "red")
    line.append(f"  (in all {format_chips(total)})", style="dim")
    console.print(line)
