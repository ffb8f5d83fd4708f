"""``deepstack COMMAND [key=value …]``: dispatch, configuration, the result file."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from importlib import metadata, resources
from typing import NamedTuple

from deepstack.run.errors import InputError


class Command(NamedTuple):
    """A program: what it is for, its module with a ``run(config)``, and its positional words.

    If it is ``named``, a first word chooses one of its configurations, in a folder of ``conf``.
    """

    summary: str
    module: str
    positional: tuple[str, ...] = ()
    named: bool = False


COMMANDS = {
    "size": Command("the exact size of a game", "deepstack.app.size"),
    "match": Command("agent against agent", "deepstack.app.match"),
    "play": Command("you against an agent, in the terminal", "deepstack.app.play"),
    "solve": Command("a game, a board with ranges, or a state of a hand", "deepstack.app.solve"),
    "exploit": Command("what best responses gain on a saved solution", "deepstack.app.exploit"),
    "lbr": Command("local best response against an agent", "deepstack.app.lbr"),
    "tournament": Command("every agent against every other, ranked", "deepstack.app.tournament"),
    "experiment": Command(
        "a named reproduction of a published result", "deepstack.app.experiment", named=True
    ),
    "report": Command("the page of results, from the files of experiments", "deepstack.app.report"),
    "networks": Command("the value networks that come with the package", "deepstack.app.networks"),
    "acpc deal": Command("be the dealer of a match over TCP", "deepstack.app.acpc_deal"),
    "acpc join": Command(
        "sit an agent down at a dealer's table", "deepstack.app.acpc_join", ("host", "port")
    ),
}


def usage() -> str:
    width = max(map(len, COMMANDS))
    rows = [f"  {name:{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: deepstack COMMAND [key=value …]",
            "",
            *rows,
            "",
            "deepstack COMMAND --help shows the settings of a command and their defaults.",
        ]
    )


def command_help(name: str, given: Sequence[str] = ()) -> str:
    """The settings of a command: its configuration file, which is written to be read."""
    words = "".join(f" {word.upper()}" for word in COMMANDS[name].positional)
    if COMMANDS[name].named and not given:
        rows = "".join(f"\n  {choice}" for choice in choices(name))
        return (
            f"usage: deepstack {name} NAME [key=value …]\n{rows}\n\n"
            f"deepstack {name} NAME --help shows its settings, among them result: a path."
        )
    file = resources.files("conf").joinpath(f"{configuration(name, list(given))}.yaml")
    text = file.read_text("utf-8").removeprefix("# @package _global_\n").rstrip()
    return f"usage: deepstack {' '.join([name, *given])}{words} [key=value …]\n\n{text}"


def choices(name: str) -> list[str]:
    """The configurations of a command that has several."""
    files = resources.files("conf").joinpath(name.replace(" ", "_")).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if ".yaml" in file.name)


def configuration(name: str, words: list[str]) -> str:
    """The configuration of a command; if it has several, the first word chooses and is used up."""
    file = name.replace(" ", "_")
    if not COMMANDS[name].named:
        return file
    if not words or words[0] not in choices(name):
        given = f"{name} {words[0]!r}" if words else f"{name} without a name"
        raise InputError(f"{given}: expected one of {', '.join(choices(name))}")
    return f"{file}/{words.pop(0)}"


def split_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """The command's name, which may be two words, and the rest."""
    for count in (2, 1):
        name = " ".join(words[:count])
        if len(words) >= count and name in COMMANDS:
            return name, list(words[count:])
    typed = " ".join(words[:2]) if words[0] == "acpc" else words[0]
    raise InputError(f"command {typed!r}: expected one of {', '.join(COMMANDS)}")


def run_command(words: Sequence[str]) -> dict:
    """Run a command as typed and write its result file; the figures."""
    from deepstack.app.config import load_config
    from deepstack.run.results import write_result

    name, rest = split_command(words)
    positional = [word for word in rest if "=" not in word]
    overrides = [word for word in rest if "=" in word]
    file, names = configuration(name, positional), COMMANDS[name].positional
    if len(positional) > len(names):
        raise InputError(f"argument {positional[len(names)]!r}: expected key=value")
    overrides += [f"{key}={word}" for key, word in zip(names, positional, strict=False)]
    config = load_config(file, overrides)
    started = time.perf_counter()
    figures = importlib.import_module(COMMANDS[name].module).run(config)
    write_result(
        config.result,
        command=" ".join(["deepstack", *words]),
        config={str(key): value for key, value in config.items()},
        seed=config.get("seed"),
        seconds=time.perf_counter() - started,
        figures=figures,
    )
    return figures


def main(words: Sequence[str] | None = None) -> int:
    """The console script: 0 on success, 2 when what was typed or read is wrong."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        if not words or words[0] in ("-h", "--help", "help"):
            print(usage())
        elif words[0] == "--version":
            print(f"deepstack {metadata.version('deepstack')}")
        elif words[-1] in ("-h", "--help"):
            name = " ".join(words[:-1])
            named = words[0] in COMMANDS and COMMANDS[words[0]].named
            if named:
                print(command_help(words[0], words[1:-1]))
            else:
                print(command_help(name) if name in COMMANDS else usage())
        else:
            run_command(words)
    except InputError as error:
        print(f"deepstack: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("deepstack: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
