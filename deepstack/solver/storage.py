"""Solutions as files: written whole or not at all, read back only if every byte is as written.

    16 bytes   magic
     4 bytes   version of this format, little-endian
     4 bytes   length of the header
    32 bytes   SHA-256 of the header
               header: JSON that says what was solved, for which ranges, and how far
               regrets, averages, predictions and locks as they stand in memory
    32 bytes   SHA-256 of those tables

The tree is built anew from the header, so a file is little more than the tables.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from deepstack.game.definition import format_game, parse_game
from deepstack.game.spots import POSITIONS, Spot
from deepstack.game.text import format_betting, format_cards, parse_state
from deepstack.run.errors import InputError
from deepstack.run.files import replacing
from deepstack.solver.api import make_solution
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
    header = json.dumps(_header(solution)).encode()
    try:
        with replacing(path) as aside, aside.open("wb") as file:
            file.write(FIXED.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()))
            file.write(header)
            digest = hashlib.sha256()
            for piece in _pieces(solution):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
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
            _read_tables(file, solution, name)
    except OSError as error:
        raise InputError(f"{name}: expected a readable file ({error.strerror})") from error
    return solution


def _header(solution: Solution) -> dict[str, Any]:
    engine, spot = solution.engine, solution.spot
    root = solution.state.with_hands(((),) * solution.game.players)
    betting, cards = format_betting(root), format_cards(root)
    if parse_state(root.game, betting, cards) != root:
        raise InputError(f"state {root}: to be saved, its chips must follow from its betting")
    return {
        "game": {"name": root.game.name, "text": format_game(root.game)},
        "betting": betting,
        "cards": cards,
        "spot": None if spot is None else _spot_header(spot),
        "ranges": base64.b64encode(solution.ranges.astype("<f8").tobytes()).decode(),
        "bets": format_menu(solution.menu),
        "chip": solution.chip,
        "rule": asdict(engine.rule),
        "dtype": engine.dtype.name,
        "merge": engine.merged,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "history": solution.history,
        "outdated": solution.outdated,
        "sizes": [array.nbytes for array in _tables(solution)],
    }


def _spot_header(spot: Spot) -> dict[str, Any]:
    """What was asked for; a range that was no text is found among the ranges."""
    ranges = [text if isinstance(text, str) else None for text in (spot.oop, spot.ip)]
    return {
        "board": list(spot.cards),
        "pot": str(spot.pot),
        "stack": str(spot.stack),
        **dict(zip(POSITIONS, ranges, strict=True)),
    }


def _tables(solution: Solution) -> list[npt.NDArray[Any]]:
    """What is written after the header, in order: the memory of the solution itself."""
    tables = solution.engine.tables
    return [tables.regret, tables.average, tables.prediction, tables.frozen]


def _pieces(solution: Solution) -> Iterator[memoryview]:
    for table in _tables(solution):
        whole = table.view(np.uint8).data
        for begin in range(0, len(whole), PIECE):
            yield whole[begin : begin + PIECE]


def _read_header(file: BinaryIO, name: str) -> dict[str, Any]:
    fixed = file.read(FIXED.size)
    if not fixed or fixed[: len(MAGIC)] != MAGIC[: len(fixed)]:
        raise InputError(f"{name}: expected a file that deepstack solve has saved")
    if len(fixed) < FIXED.size:
        raise InputError(f"{name}: truncated, {len(fixed)} bytes are left")
    _, version, length, digest = FIXED.unpack(fixed)
    if version != VERSION:
        age = "a newer" if version > VERSION else "another"
        raise InputError(f"{name}: written by {age} version, format {version}, expected {VERSION}")
    text = file.read(length)
    if len(text) < length:
        raise InputError(f"{name}: truncated, {FIXED.size + len(text):,} bytes are left")
    if hashlib.sha256(text).digest() != digest:
        raise InputError(f"{name}: altered since it was written")
    header: dict[str, Any] = json.loads(text)
    size, whole = os.fstat(file.fileno()).st_size, file.tell() + sum(header["sizes"]) + DIGEST
    if size != whole:
        how = "truncated" if size < whole else "altered since it was written"
        raise InputError(f"{name}: {how}, {size:,} bytes instead of {whole:,}")
    return header


def _rebuild(header: dict[str, Any], name: str, threads: int) -> Solution:
    """The solution of a header, with empty tables."""
    try:
        game = parse_game(header["game"]["text"], header["game"]["name"])
        ranges = np.frombuffer(base64.b64decode(header["ranges"]), "<f8").reshape(2, game.hands)
        solution = make_solution(
            parse_state(game, header["betting"], header["cards"]),
            ranges,
            parse_menu(header["bets"]),
            UpdateRule(**header["rule"]),
            spot=None if header["spot"] is None else _spot(header["spot"], ranges),
            chip=header["chip"],
            dtype=header["dtype"],
            merge=header["merge"],
            threads=threads,
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    engine = solution.engine
    locks = header["sizes"][-1]
    if locks:
        engine.tables = engine.tables._replace(frozen=np.zeros(locks, np.bool_))
    if [table.nbytes for table in _tables(solution)] != header["sizes"]:
        raise InputError(f"{name}: its tables do not fit the tree that this version builds")
    engine.iterations = header["iterations"]
    solution.seconds = header["seconds"]
    solution.history = [Check(*check) for check in header["history"]]
    solution.outdated = header["outdated"]
    return solution


def _spot(header: dict[str, Any], ranges: npt.NDArray[np.float64]) -> Spot:
    rows = zip(POSITIONS, ranges, strict=True)
    given = [weights if header[name] is None else header[name] for name, weights in rows]
    return Spot(tuple(header["board"]), header["pot"], header["stack"], *given)


def _read_tables(file: BinaryIO, solution: Solution, name: str) -> None:
    digest = hashlib.sha256()
    for piece in _pieces(solution):
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise InputError(f"{name}: truncated while it was read")
        digest.update(piece)
    if file.read(DIGEST) != digest.digest():
        raise InputError(f"{name}: altered since it was written")
