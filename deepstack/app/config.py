"""Configuration of a program: its file in ``conf/`` and what was typed after the command.

What a person types works as typed: a value that Hydra's grammar would read as something else
(``bets=50%, 100%``, ``ranges.oop=AA,KQs``, a path with a space) is quoted before composing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import resources

from hydra import compose, initialize_config_module
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from deepstack.run.errors import InputError

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_PLAIN = re.compile(r"[A-Za-z0-9_.+/@-]*")
_NESTED = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
_QUOTED = re.compile(r"'(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\"", re.DOTALL)


def quote(override: str) -> str:
    """``key=value`` with the value quoted where Hydra needs it.

    >>> quote("bets=50%, 100%, a")
    "bets='50%, 100%, a'"
    >>> quote("agents=[call,random]")
    'agents=[call,random]'
    """
    key, equals, value = override.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise InputError(f"argument {override!r}: expected key=value")
    if any(form.fullmatch(value) for form in (_PLAIN, _NESTED, _QUOTED)):
        return override
    escaped = re.sub(r"(\\*)'", lambda m: m[1] * 2 + r"\'", value)
    trailing = re.search(r"\\*$", escaped)
    assert trailing is not None
    return f"{key}='{escaped}{trailing[0]}'"


def load_config(name: str, overrides: Sequence[str] = ()) -> DictConfig:
    """The configuration ``conf/NAME.yaml`` with what was typed put in its place."""
    quoted = [quote(override) for override in overrides]
    with initialize_config_module("conf", version_base="1.3"):
        known = OmegaConf.to_container(compose(name))
        assert isinstance(known, dict)
        for override in quoted:
            _check_key(override.partition("=")[0], known)
        # a setting may share its name with a config group (bets, agent) and still be a value
        values = [override for override in quoted if _is_value(override, known)]
        try:
            config = compose(name, [override for override in quoted if override not in values])
            for parsed in OverridesParser.create().parse_overrides(values):
                OmegaConf.update(config, parsed.key_or_group, parsed.value())
        except (HydraException, OmegaConfBaseException) as error:
            reason = str(error.__cause__ or error).strip().splitlines()[0]
            raise InputError(f"{' '.join(overrides)}: {reason}") from None
    given = OmegaConf.to_container(config)
    assert isinstance(given, dict)
    for key, value in given.items():
        _check_kind(key, value, known[key])
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise InputError(f"{missing[0]} is not given: expected {missing[0]}=VALUE")
    return config


def _is_value(override: str, known: dict) -> bool:
    """Whether a key names a folder of ``conf`` but is not one that this program composes."""
    key = override.partition("=")[0]
    folder = resources.files("conf").joinpath(key)
    return key in known and not isinstance(known[key], dict) and folder.is_dir()


_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    list: ((list,), "a list such as [a,b]"),
    dict: ((dict,), "settings such as {key: value}"),
}


def _check_kind(key: object, value: object, default: object) -> None:
    """Refuse a value of another kind than its default; texts and nulls may become anything."""
    if type(default) not in _KINDS or value == "???":
        return
    kinds, expected = _KINDS[type(default)]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise InputError(f"{key}={value}: expected {expected}")
    if isinstance(value, dict) and isinstance(default, dict):
        for inner, item in value.items():
            _check_kind(f"{key}.{inner}", item, default.get(inner))


def _check_key(key: str, known: object) -> None:
    path = ""
    for part in key.split("."):
        if not isinstance(known, dict):
            return
        if part not in known:
            close = get_close_matches(part, [str(k) for k in known], n=1)
            hint = f"did you mean {path}{close[0]}?" if close else f"expected {', '.join(known)}"
            raise InputError(f"setting {key!r} is unknown: {hint}")
        known, path = known[part], f"{path}{part}."
