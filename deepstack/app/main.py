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
    """A program: what it is for, its module with a ``run(config)``, and its positional words."""

    summary: str
    module: str
    positional: tuple[str, ...] = ()


COMMANDS = {
    "size": Command("the exact size of a game", "deepstack.app.size"),
    "match": Command("agent against agent", "deepstack.app.match"),
    "play": Command("you against an agent, in the terminal", "deepstack.app.play"),
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


def command_help(name: str) -> str:
    """The settings of a command: its configuration file, which is written to be read."""
    words = "".join(f" {word.upper()}" for word in COMMANDS[name].positional)
    file = resources.files("conf") / f"{name.replace(' ', '_')}.yaml"
    return f"usage: deepstack {name}{words} [key=value …]\n\n{file.read_text('utf-8').rstrip()}"


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
    names = COMMANDS[name].positional
    if len(positional) > len(names):
        raise InputError(f"argument {positional[len(names)]!r}: expected key=value")
    overrides += [f"{key}={word}" for key, word in zip(names, positional, strict=False)]
    config = load_config(name.replace(" ", "_"), overrides)
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
