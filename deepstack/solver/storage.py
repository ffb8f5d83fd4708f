"""Solutions as files: written whole or not at all, read back only if every byte is as written.

    16 bytes   magic
     4 bytes   version of this format, little-endian
     4 bytes   length of the header
    32 bytes   SHA-256 of the header
               header: JSON that says what was solved and how far
               ranges float64 [2, H], then regrets, averages, predictions and locks as they stand
    32 bytes   SHA-256 of those tables

The tree is built anew from the header, so a file is little more than the tables.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from deepstack.game.definition import format_game, parse_game
from deepstack.game.spots import Spot
from deepstack.game.state import State
from deepstack.game.text import format_betting, format_cards, parse_state
from deepstack.run.errors import InputError
from deepstack.run.files import replacing
from deepstack.solver.api import make_engine
from deepstack.solver.rules import UpdateRule
from deepstack.solver.solution import Solution
from deepstack.solver.stopping import Check
from deepstack.tree.menus import format_menu, parse_menu

MAGIC = b"deepstack solve\n"
VERSION = 1
FIXED = struct.Struct("<16sII32s")
DIGEST = 32
PIECE = 2**24  # bytes written or read at once


def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution; a file that was there is replaced only by a whole one."""
    header = json.dumps(_header(solution), ensure_ascii=False).encode()
    try:
        with replacing(path) as aside, aside.open("wb") as file:
            digest = hashlib.sha256(header).digest()
            file.write(FIXED.pack(MAGIC, VERSION, len(header), digest))
            file.write(header)
            tables = hashlib.sha256()
            for array in _arrays(solution):
                for piece in _pieces(array):
                    tables.update(piece)
                    file.write(piece)
            file.write(tables.digest())
    except OSError as error:
        raise InputError(
            f"solution {str(path)!r}: expected a file that can be written ({error.strerror})"
        ) from error


def load(path: str | os.PathLike[str], *, threads: int = 1) -> Solution:
    """The solution of a file, ready to be inspected and resumed."""
    name = f"solution {str(path)!r}"
    try:
        with Path(path).open("rb") as file:
            header = _read_header(file, name)
            solution = _rebuild(header, name, threads)
            _read_tables(file, solution, name, header)
    except OSError as error:
        raise InputError(f"{name}: expected a readable file ({error.strerror})") from error
    return solution


def _header(solution: Solution) -> dict[str, Any]:
    engine, state, spot = solution.engine, solution.state, solution.spot
    root = state.with_hands(((),) * state.game.players)
    betting, cards = format_betting(root), format_cards(root)
    if parse_state(root.game, betting, cards) != root:
        raise InputError(f"state {root}: its chips do not follow from its betting, expected that")
    return {
        "game": {"name": root.game.name, "text": format_game(root.game)},
        "betting": betting,
        "cards": cards,
        "spot": None if spot is None else _spot_header(spot),
        "bets": format_menu(solution.menu),
        "chip": solution.chip,
        "rule": asdict(engine.rule),
        "dtype": engine.dtype.name,
        "merge": engine.merged,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "history": solution.history,
        "outdated": solution.outdated,
        "sizes": [array.nbytes for array in _arrays(solution)],
    }


def _spot_header(spot: Spot) -> dict[str, Any]:
    """What was asked for, as far as it is text: weights stand with the tables."""
    texts = {name: value for name, value in (("oop", spot.oop), ("ip", spot.ip))}
    return {
        "board": spot.state().game.deck.format(spot.cards),
        "pot": str(spot.pot),
        "stack": str(spot.stack),
        **{name: value if isinstance(value, str) else None for name, value in texts.items()},
    }


def _arrays(solution: Solution) -> list[npt.NDArray[Any]]:
    """Everything that is written after the header, in order; memory of the solution itself."""
    tables = solution.engine.tables
    return [solution.ranges, tables.regret, tables.average, tables.prediction, tables.frozen]


def _pieces(array: npt.NDArray[Any]) -> Iterator[memoryview]:
    whole = memoryview(array.reshape(-1).view(np.uint8))
    for begin in range(0, len(whole), PIECE):
        yield whole[begin : begin + PIECE]


def _read_header(file: BinaryIO, name: str) -> dict[str, Any]:
    fixed = file.read(FIXED.size)
    if fixed[: len(MAGIC)] != MAGIC[: len(fixed)] or not fixed:
        raise InputError(f"{name}: expected a file that deepstack solve saved")
    if len(fixed) < FIXED.size:
        raise InputError(f"{name}: truncated after {len(fixed)} bytes")
    _, version, length, digest = FIXED.unpack(fixed)
    if version > VERSION:
        raise InputError(
            f"{name}: written by a newer version (format {version}), expected {VERSION} at most"
        )
    text = file.read(length)
    if len(text) < length:
        raise InputError(f"{name}: truncated after {FIXED.size + len(text):,} bytes")
    if hashlib.sha256(text).digest() != digest:
        raise InputError(f"{name}: altered since it was written (the header)")
    header: dict[str, Any] = json.loads(text)
    size, whole = os.fstat(file.fileno()).st_size, file.tell() + sum(header["sizes"]) + DIGEST
    if size != whole:
        how = "truncated" if size < whole else "altered since it was written"
        raise InputError(f"{name}: {how}, {size:,} bytes instead of {whole:,}")
    return header


@contextmanager
def _explaining(name: str) -> Iterator[None]:
    """Say which file it is that describes something this version cannot build."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _rebuild(header: dict[str, Any], name: str, threads: int) -> Solution:
    """The solution before its first iteration."""
    with _explaining(name):
        game = parse_game(header["game"]["text"], header["game"]["name"])
        state: State = parse_state(game, header["betting"], header["cards"])
        spot = None if header["spot"] is None else _spot(header["spot"])
        solution = Solution.__new__(Solution)
    del solution, state, spot, threads
    raise NotImplementedError


def _spot(header: dict[str, Any]) -> Spot:
    raise NotImplementedError
