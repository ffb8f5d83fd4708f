"""Networks and their cards on the disk, and everything that is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deepstack.run.errors import InputError
from deepstack.values.checkpoint import Origin, load_network, read_card, save_network
from deepstack.values.model import build_network
from deepstack.values.networks import shipped

ORIGIN = Origin("d" * 16, "c" * 16, 900, 100, 12.5, {"validation_huber": 0.01})


@pytest.fixture
def saved(tmp_path):
    network = build_network("leduc_start", "mlp", {"hidden": 6, "layers": 1}, seed=1)
    save_network(network, tmp_path, stack=1200, origin=ORIGIN)
    return network, tmp_path / "leduc_start.safetensors"


def change(card, **entries):
    content = json.loads(card.read_text())
    content.update(entries)
    card.write_text(json.dumps(content))


def test_a_network_comes_back_as_it_was(saved):
    network, path = saved
    loaded = load_network(path)
    ranges = np.full((2, 2, 5), 0.2, np.float32)
    tables = network.tables(np.array([[0], [3]]))
    asked = tables, [0, 1], [0.1, 0.4], ranges
    assert (loaded.evaluate(*asked) == network.evaluate(*asked)).all()
    assert not any(weights.requires_grad for weights in loaded.parameters())


def test_the_card_says_what_made_it(saved):
    card = read_card(saved[1])
    assert card.origin == ORIGIN
    assert (card.stage, card.game, card.stack) == ("leduc_start", "nolimit_leduc", 1200)
    assert (card.architecture, card.settings) == ("mlp", {"hidden": 6, "layers": 1})


@pytest.mark.parametrize("ending", ["leduc_start", "leduc_start.json", "leduc_start.safetensors"])
def test_weights_and_card_are_found_under_either_name(saved, ending):
    assert load_network(saved[1].with_name(ending)).stage == "leduc_start"


def test_altered_weights_are_refused(saved):
    data = bytearray(saved[1].read_bytes())
    data[-1] ^= 1
    saved[1].write_bytes(bytes(data))
    with pytest.raises(InputError, match="altered or truncated, checksum"):
        load_network(saved[1])


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"inputs_version": 0}, "inputs hands version 0, expected hands version"),
        ({"inputs": "order"}, "inputs order version 1, expected hands"),
        ({"architecture": "tree"}, "architecture 'tree', expected one of mlp"),
        ({"game": "leduc"}, "game 'leduc', expected 'nolimit_leduc'"),
        ({"stage": "river"}, "stage 'river': expected one of"),
        ({"settings": {"hidden": 7, "layers": 1}}, "weights do not fit mlp"),
        ({"settings": {"hidden": 7, "width": 1}}, "setting 'width' of mlp"),
        ({"format": 9}, "format 9, expected 1"),
        ({"more": 1}, "differs from a card in more"),
        ({"origin": {"data": "x"}}, "origin: "),
    ],
)
def test_cards_that_do_not_match_are_refused(saved, entries, reason):
    change(saved[1].with_suffix(".json"), **entries)
    with pytest.raises(InputError, match=reason):
        load_network(saved[1])


def test_a_card_that_is_cut_off_is_refused(saved):
    card = saved[1].with_suffix(".json")
    card.write_text(card.read_text()[:40])
    with pytest.raises(InputError, match="expected a whole JSON file"):
        load_network(saved[1])


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.json: cannot be read"):
        load_network(tmp_path / "nothing")
    with pytest.raises(InputError, match="stage 'rivers': expected one of river_start"):
        load_network("rivers")


def test_every_shipped_network_loads():
    for name in shipped():
        assert load_network(name).stage in name
