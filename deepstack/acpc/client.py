"""An agent at a dealer's table, over the competition's TCP protocol."""

from __future__ import annotations

import socket
import time

from deepstack.acpc.lines import VERSION, ConnectionLost, LineSocket
from deepstack.agents.protocol import Agent
from deepstack.game.definition import Game
from deepstack.game.text import parse_match_state
from deepstack.run.errors import InputError


def join(
    game: Game, agent: Agent, host: str, port: int, *, connect: float = 60.0, wait: float = 3600.0
) -> int:
    """Play until the dealer closes the connection after a hand; the number of hands played.

    Args:
        game: the dealer's game.
        agent: who plays.
        host, port: where the dealer listens for this player.
        connect: seconds to keep trying to connect.
        wait: seconds to wait for the dealer's next line.
    """
    line = LineSocket(_connect(host, port, connect))
    hand, over, played = -1, True, 0
    try:
        line.send(VERSION, wait)
        while True:
            try:
                text = line.receive(time.monotonic() + wait)
            except ConnectionLost as error:
                if over and played:
                    return played
                where = f"in hand {hand}" if hand >= 0 else "before the first hand"
                raise InputError(f"dealer {host}:{port} {error} {where}") from None
            if text[:1] in ("#", ";", ""):
                continue
            message = parse_match_state(game, text)
            state = message.state
            if message.hand != hand:
                hand = message.hand
                agent.new_hand(message.seat, hand)
            over = state.is_over
            played += over
            if state.actor == message.seat:
                action = agent.act(state)
                state.apply(action)  # an illegal answer is our bug, to be seen here
                line.send(f"{text}:{action.kind if game.limit else action}", wait)
    except ConnectionLost as error:
        raise InputError(f"dealer {host}:{port} {error} in hand {hand}") from None
    finally:
        line.close()


def _connect(host: str, port: int, seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=max(seconds, 1e-3))
        except (OSError, OverflowError) as error:
            if time.monotonic() >= deadline or isinstance(error, (socket.gaierror, OverflowError)):
                raise InputError(f"dealer {host}:{port}: cannot connect ({error})") from None
            time.sleep(0.05)
