"""Lines over a socket with limits on time and size: all that the protocol needs of TCP."""

from __future__ import annotations

import socket
import time

VERSION = "VERSION:2.0.0"
MAX_BYTES = 1 << 16  # what one side may send before it is due an answer


class ConnectionLost(Exception):
    """The other side is gone, too slow, or does not speak the protocol; the message says which."""


class LineSocket:
    """Lines that end in ``\\r\\n`` (or ``\\n``), sent and received before a deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = b""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, line: str, seconds: float) -> None:
        try:
            self._socket.settimeout(max(seconds, 1e-3))
            self._socket.sendall(line.encode() + b"\r\n")
        except TimeoutError:
            raise ConnectionLost(f"does not read within {seconds:g} s") from None
        except OSError:
            raise ConnectionLost("closed the connection") from None

    def receive(self, deadline: float) -> str:
        """The next line; ``deadline`` is a time of ``time.monotonic()``."""
        while b"\n" not in self._buffer:
            if len(self._buffer) > MAX_BYTES:
                raise ConnectionLost(f"sent more than {MAX_BYTES} bytes without a line end")
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise ConnectionLost("no answer in time")
            try:
                self._socket.settimeout(remaining)
                data = self._socket.recv(4096)
            except TimeoutError:
                raise ConnectionLost("no answer in time") from None
            except OSError:
                raise ConnectionLost("closed the connection") from None
            if not data:
                raise ConnectionLost("closed the connection")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            return line.rstrip(b"\r").decode("ascii")
        except UnicodeDecodeError:
            raise ConnectionLost(f"sent {line[:40]!r}, which is not ASCII") from None

    def close(self) -> None:
        self._socket.close()
