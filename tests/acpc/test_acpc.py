"""The wire protocol: the same match as in process, and clients that misbehave."""

import socket
import threading
import time

import pytest

from deepstack.acpc.client import join
from deepstack.acpc.dealer import Dealer, Limits
from deepstack.agents.build import agent_seeds, make_agent
from deepstack.evaluate.match import play_match
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError

HUNL = load_game("hunl")
QUICK = Limits(start=5.0, action=0.5, average_hand=5.0)


def in_thread(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


def seat(game, name, seed, port):
    join(game, make_agent(name, game, seed), "127.0.0.1", port)


@pytest.mark.parametrize(
    ("name", "agents", "hands"),
    [
        ("hunl", ["random", "probe"], 1000),
        ("limit_holdem_3p", ["random", "probe", "call"], 120),
        ("leduc", ["random", "probe"], 200),
    ],
)
def test_the_log_is_that_of_the_match_in_process(name, agents, hands):
    game = load_game(name)
    here = play_match(game, agents, hands, seed=11)
    dealer = Dealer(game, here.labels, hands, seed=11)
    seeds = agent_seeds(11, len(agents))
    threads = [
        in_thread(seat, game, agent, seed, port)
        for agent, seed, port in zip(agents, seeds, dealer.ports, strict=True)
    ]
    there = dealer.run()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
    assert there.log_text() == here.log_text()


def misbehave(port, answer):
    """A client that says ``answer`` instead of playing; None: nothing at all."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        try:
            sock.sendall(b"VERSION:2.0.0\r\n")
            if answer is None:
                time.sleep(3)
            else:
                sock.recv(4096)
                sock.sendall(answer)
                while sock.recv(4096):
                    pass
        except OSError:
            pass


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"hello\r\n", "sent 'hello' instead of an action"),
        (b"\xff\xfe\r\n", "not ASCII"),
        (b"x" * 100_000, "more than 65536 bytes without a line end"),
        (b"MATCHSTATE:0:0::AsKs|:c\r\n" * 4000, "more than 65536 bytes without an answer"),
        (None, "no answer in time"),
        (b"MATCHSTATE", "no answer in time"),
    ],
    ids=["garbage", "not ascii", "endless line", "flood", "silence", "half a line"],
)
def test_a_client_that_misbehaves_forfeits_and_the_match_goes_on(answer, reason):
    dealer = Dealer(HUNL, ["good", "bad"], 20, seed=3, limits=QUICK)
    good = in_thread(seat, HUNL, "raise", 1, dealer.ports[0])
    in_thread(misbehave, dealer.ports[1], answer)
    started = time.monotonic()
    result = dealer.run()
    assert time.monotonic() - started < 5
    good.join(5)
    assert not good.is_alive()
    assert reason in dealer.players[1].forfeit
    assert dealer.players[0].forfeit is None
    # from then on it folds every hand to the raiser
    assert result.win_rates()[1].mean == -750
    assert any(line.startswith("# hand 0: bad forfeits:") for line in result.log)


@pytest.mark.parametrize("action", ["r150", "r99999", "x", "", "r"])
def test_an_illegal_action_forfeits(action):
    dealer = Dealer(HUNL, ["good", "bad"], 4, seed=3, limits=QUICK)
    good = in_thread(seat, HUNL, "raise", 1, dealer.ports[0])

    def client(port):
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(b"VERSION:2.0.0\r\n")
            line = sock.makefile().readline().strip()
            sock.sendall(f"{line}:{action}\r\n".encode())
            while sock.recv(4096):
                pass

    in_thread(client, dealer.ports[1])
    dealer.run()
    good.join(5)
    assert dealer.players[1].forfeit


def test_a_wrong_version_forfeits():
    dealer = Dealer(HUNL, ["good", "bad"], 4, limits=QUICK)
    good = in_thread(seat, HUNL, "call", 1, dealer.ports[0])
    sock = socket.create_connection(("127.0.0.1", dealer.ports[1]))
    sock.sendall(b"VERSION:1.0.0\r\n")
    dealer.run()
    good.join(5)
    sock.close()
    assert dealer.players[1].forfeit == "sent 'VERSION:1.0.0' instead of VERSION:2.0.0"


def test_a_player_who_never_comes_forfeits_after_the_start_limit():
    dealer = Dealer(HUNL, ["absent", "good"], 4, limits=Limits(start=0.3, action=1))
    good = in_thread(seat, HUNL, "call", 1, dealer.ports[1])
    dealer.run()
    good.join(5)
    assert dealer.players[0].forfeit == "did not connect in time"
    assert dealer.players[1].forfeit is None


def test_a_budget_for_the_whole_match_is_kept():
    class Slow:
        def new_hand(self, seat, hand): ...

        def act(self, state):
            time.sleep(0.1)
            return make_agent("call", HUNL).act(state)

    dealer = Dealer(HUNL, ["good", "slow"], 40, limits=Limits(5, 5, average_hand=0.02))
    good = in_thread(seat, HUNL, "call", 1, dealer.ports[0])

    def slow():
        with pytest.raises(InputError, match="dealer"):
            join(HUNL, Slow(), "127.0.0.1", dealer.ports[1])

    other = in_thread(slow)
    started = time.monotonic()
    dealer.run()
    assert time.monotonic() - started < 3
    good.join(5)
    other.join(5)
    assert dealer.players[1].forfeit == "no answer in time"


def test_a_dealer_that_vanishes_is_one_clear_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def vanish():
            sock, _ = listener.accept()
            sock.sendall(b"MATCHSTATE:1:3::|AsKs\r\n")
            sock.recv(4096)
            sock.close()

        thread = in_thread(vanish)
        with pytest.raises(InputError, match=rf"dealer 127.0.0.1:{port} closed .* in hand 3"):
            seat(HUNL, "call", 0, port)
        thread.join(5)


def test_no_dealer_is_one_clear_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(InputError, match="cannot connect"):
        join(HUNL, make_agent("call", HUNL), "127.0.0.1", port, connect=0.1)


@pytest.mark.parametrize(
    ("names", "hands", "ports", "message"),
    [
        (["a", "a"], 2, None, "expected 2 different ones"),
        (["a", "b:c"], 2, None, "name 'b:c'"),
        (["a", "b"], 3, None, "hands=3"),
        (["a", "b"], 2, [0], "ports"),
        (["a", "b"], 2, [0, 99999], "port 99999"),
    ],
)
def test_a_wrong_table_is_refused(names, hands, ports, message):
    with pytest.raises(InputError, match=message):
        Dealer(HUNL, names, hands, ports=ports)
