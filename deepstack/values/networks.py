"""The networks that come with the package."""

from __future__ import annotations

from deepstack.values.checkpoint import SHIPPED, Card, read_card
from deepstack.values.inputs import STAGES


def shipped() -> dict[str, Card]:
    """Cards of the shipped networks by name, in the order in which hands are played backwards.

    Names are stages; a network under another name comes after them.
    """
    found = {path.stem for path in SHIPPED.glob("*.json")}
    names = [name for name in STAGES if name in found] + sorted(found - set(STAGES))
    return {name: read_card(SHIPPED / f"{name}.json") for name in names}
