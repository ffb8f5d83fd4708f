"""A dealer for the competition's TCP protocol.

Each player has a port of its own. A client connects, sends ``VERSION:2.0.0``, and is then sent a
MATCHSTATE line after every action; when it is to act it answers with the same line, ``:`` and the
action. Lines that begin with ``#`` or ``;`` are comments, answers to an earlier state are ignored.

A client that sends anything else, an illegal action or too much data, that answers too late or
disappears, *forfeits*: it folds (checks where there is nothing to call) for the rest of the match,
which goes on to its end, and the reason is kept. No client can stop the dealer or hold it up for
longer than the limits.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deepstack.acpc.lines import MAX_BYTES, VERSION, ConnectionLost, LineSocket
from deepstack.evaluate.deals import Deal, check_hands, deal, set_size
from deepstack.evaluate.match import MatchResult
from deepstack.game.definition import Game
from deepstack.game.state import CALL, FOLD, Action, State, initial_state
from deepstack.game.text import MatchState, format_log_line, parse_action
from deepstack.run.errors import InputError
from deepstack.run.progress import Progress


@dataclass(frozen=True)
class Limits:
    """Seconds a client may take: to connect, for one action, and on average for a hand."""

    start: float = 60.0
    action: float = 600.0
    average_hand: float = 7.0


class Player:
    """A client at the table, until it forfeits."""

    def __init__(self, name: str, limits: Limits, hands: int) -> None:
        self.name, self.limits = name, limits
        self.forfeit: str | None = None
        self._line: LineSocket | None = None
        self._budget = limits.average_hand * hands

    def welcome(self, listener: socket.socket, deadline: float) -> None:
        """Wait for the client and its version line."""
        try:
            listener.settimeout(max(deadline - time.monotonic(), 1e-3))
            self._line = LineSocket(listener.accept()[0])
            # one second of grace: it may have connected while an earlier player was awaited
            line = self._line.receive(max(deadline, time.monotonic() + 1.0))
            if line.partition(".")[0] != VERSION.partition(".")[0]:
                raise ConnectionLost(f"sent {line[:40]!r} instead of {VERSION}")
        except TimeoutError:
            self.lose("did not connect in time")
        except ConnectionLost as error:
            self.lose(str(error))

    def lose(self, reason: str) -> None:
        self.forfeit = self.forfeit or reason
        self.close()

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def tell(self, message: str) -> None:
        if self._line is not None:
            try:
                self._line.send(message, min(self.limits.action, self._budget))
            except ConnectionLost as error:
                self.lose(str(error))

    def ask(self, message: str, state: State) -> Action:
        """The client's answer to a message already sent, or a fold if it forfeits."""
        if self._line is not None:
            started = time.monotonic()
            try:
                return self._answer(message, state, started)
            except (ConnectionLost, InputError) as error:
                self.lose(str(error))
            finally:
                self._budget -= time.monotonic() - started
        return Action(FOLD) if state.legal.fold else Action(CALL)

    def _answer(self, message: str, state: State, started: float) -> Action:
        assert self._line is not None
        deadline = started + min(self.limits.action, self._budget)
        received = 0
        while received <= MAX_BYTES:
            line = self._line.receive(deadline)
            received += len(line) + 1
            if line.startswith(message + ":"):
                action = parse_action(line[len(message) + 1 :], state)
                if action not in state.legal:
                    raise ConnectionLost(f"illegal action {line[len(message) + 1 :]!r}")
                return action
            if line[:1] not in ("#", ";") and not line.startswith("MATCHSTATE:"):
                raise ConnectionLost(f"sent {line[:40]!r} instead of an action")
        raise ConnectionLost(f"sent more than {MAX_BYTES} bytes without an answer")


class Dealer:
    """Listens at once on one port a player; ``run`` then deals the match."""

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        hands: int,
        *,
        seed: int = 0,
        duplicate: bool = True,
        ports: Sequence[int] | None = None,
        host: str = "127.0.0.1",
        limits: Limits | None = None,
    ) -> None:
        if len(names) != game.players or len(set(names)) != len(names):
            raise InputError(f"names {list(names)}: expected {game.players} different ones")
        for name in names:
            if not name or any(c in ":|\r\n" for c in name):
                raise InputError(f"name {name!r}: expected a text without ':' and '|'")
        ports = [0] * game.players if ports is None else list(ports)
        if len(ports) != game.players:
            raise InputError(f"ports {ports}: expected {game.players}, one a player")
        self.sets = check_hands(hands, game.players, duplicate)
        if seed < 0:
            raise InputError(f"seed {seed}: expected 0 or more")
        self.game, self.hands, self.seed, self.duplicate = game, hands, seed, duplicate
        self.limits = limits or Limits()
        self.players = [Player(name, self.limits, hands) for name in names]
        self._listeners: list[socket.socket] = []
        for port in ports:
            try:
                self._listeners.append(socket.create_server((host, port)))
            except (OSError, OverflowError) as error:
                self.close()
                raise InputError(f"port {port} on {host}: cannot listen ({error})") from None
        self.ports = [listener.getsockname()[1] for listener in self._listeners]

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def run(self, progress: Progress | None = None) -> MatchResult:
        """Deal the whole match; the result holds the log."""
        deadline = time.monotonic() + self.limits.start
        try:
            for player, listener in zip(self.players, self._listeners, strict=True):
                player.welcome(listener, deadline)
        finally:
            self.close()
        size = set_size(self.game.players, self.duplicate)
        chips = np.empty((self.hands, self.game.players))
        log: list[str] = []
        fallen: list[Player] = []
        try:
            for hand in range(self.hands):
                dealt = deal(self.game, self.seed, hand, self.duplicate)
                seated = [self.players[agent] for agent in dealt.seating]
                final = self._play(dealt, seated, hand)
                chips[hand, list(dealt.seating)] = final.payoffs()
                log.append(format_log_line(hand, final, [player.name for player in seated]))
                for player in self.players:
                    if player.forfeit and player not in fallen:
                        fallen.append(player)
                        log.append(f"# hand {hand}: {player.name} forfeits: {player.forfeit}")
                if progress is not None:
                    progress.update(1)
        finally:
            for player in self.players:
                player.close()
        names = [player.name for player in self.players]
        return MatchResult(self.game, names, chips.reshape(self.sets, size, -1), log)

    def _play(self, dealt: Deal, seated: Sequence[Player], hand: int) -> State:
        state = initial_state(self.game, dealt.hands)
        while True:
            if state.cards_owed:
                known = len(state.board)
                state = state.deal(dealt.board[known : known + state.cards_owed])
            messages = [str(MatchState(s, hand, shown(state, s))) for s in range(len(seated))]
            for player, message in zip(seated, messages, strict=True):
                player.tell(message)
            if state.actor is None:
                return state
            state = state.apply(seated[state.actor].ask(messages[state.actor], state))


def shown(state: State, seat: int) -> State:
    """What the dealer shows a player: at a showdown also the hands that were not folded."""
    if not state.is_over or state.folded_out:
        return state.seen_by(seat)
    hands = tuple(
        () if out and p != seat else hand
        for p, (hand, out) in enumerate(zip(state.hands, state.folded, strict=True))
    )
    return state.with_hands(hands)
