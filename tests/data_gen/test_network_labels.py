"""Labels from networks: means over the next cards, solves to a leaf network, their settings."""

import numpy as np
import pytest
import torch
from standins import stand_in

from data_gen.generation import Order, generating, make_shard
from data_gen.places import round_start
from data_gen.stages import read_settings
from data_gen.storage import Dataset, configuration_hash, quantised
from deepstack.cards.notation import blocked
from deepstack.game.definition import load_game
from deepstack.run.errors import InputError
from deepstack.run.executors import InProcess
from deepstack.solver.cfr_kernels import AVERAGE
from deepstack.solver.engine import Engine
from deepstack.solver.rules import update_rule
from deepstack.tree.menus import load_menu
from deepstack.values.chance import mean_values, next_deals
from deepstack.values.checkpoint import save_network
from deepstack.values.equity import equity_matrix
from deepstack.values.network_leaves import EndLeaves

HUNL = load_game("hunl")
PUBLISHED = [[100, 200], [200, 400], [400, 2000], [2000, 6000], [6000, 19951]]
COMMON = {"game": "hunl", "bets": "fcpa", "pots": PUBLISHED, "dtype": "float32", "shard": 4}
NEXT = {
    "turn_end": "river_start",
    "turn_start": "turn_end",
    "flop_end": "turn_start",
    "flop_start": "flop_end",
    "preflop_end": "flop_start",
}
SOLVE = {
    "algorithm": "dcfr",
    "rule": {"gamma": 3.0, "restart": 4},
    "target": [[0, 0.05]],
    "least": 10,
    "iterations": 40,
    "solver": "batched",
    "batch": 3,
}


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """A folder with a stand-in for every stage of the chain."""
    folder = tmp_path_factory.mktemp("networks")
    for stage in NEXT.values():
        save_network(stand_in(stage), folder, stack=20000)
    return folder


def configured(stage, networks, **changes):
    config = COMMON | {"name": stage, "ranges": {"random": 0.5, "play": 0.5}}
    config |= {"network": str(networks / NEXT[stage])}
    config |= {"per_board": 2} if stage.endswith("_end") else SOLVE
    if stage == "preflop_end":
        config["deals"] = 20
    return config | changes


@pytest.mark.parametrize("stage", list(NEXT))
def test_every_stage_of_the_chain_makes_samples(networks, stage):
    settings = read_settings(configured(stage, networks))
    samples = settings.stage.generate(settings, np.random.default_rng(1), 4)
    assert samples.ranges.shape == samples.values.shape == (4, 2, settings.hands)
    assert np.isfinite(samples.values).all()
    assert np.abs(samples.values).max() > 1e-3
    assert np.isnan(samples.exploitability).all() == stage.endswith("_end")
    won = (samples.values * samples.ranges).sum(axis=(1, 2))
    # float32, and a selection of flops is zero-sum on average only
    np.testing.assert_allclose(won, 0.0, atol=0.2 if stage == "preflop_end" else 1e-4)


def test_the_label_of_an_end_is_the_mean_of_the_next_start(networks):
    settings = read_settings(configured("turn_end", networks))
    samples = settings.stage.generate(settings, np.random.default_rng(2), 5)
    np.testing.assert_allclose(samples.ranges, quantised(samples.ranges), rtol=1e-12)
    network = stand_in("river_start")
    for number in (0, 3, 4):
        deals = next_deals(network.inputs, samples.board[number : number + 1].astype(int))
        expected = mean_values(
            network,
            deals,
            torch.zeros(1, dtype=torch.long),
            torch.tensor([samples.pot[number] / 40000]),
            torch.tensor(samples.ranges[number : number + 1], dtype=torch.float32),
        )
        np.testing.assert_allclose(samples.values[number], expected[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("solver", ["batched", "engine"])
def test_a_start_is_solved_to_the_network_at_its_end(networks, solver):
    """Values and exploitability are those of the engine for one situation."""
    changes = {"solver": solver, "iterations": 10, "ranges": {"random": 1.0}}
    settings = read_settings(configured("turn_start", networks, **changes))
    samples = settings.stage.generate(settings, np.random.default_rng(3), 3)
    network = stand_in("turn_end")
    for number in range(3):
        pot = float(samples.pot[number])
        root = round_start(HUNL, 2, samples.board[number].tolist(), int(pot) // 2)
        full = np.zeros((2, 1326))
        engine = Engine(
            root,
            full + 1.0,
            load_menu("fcpa").raises,
            update_rule("dcfr", gamma=3.0, restart=4),
            merge=False,
            last_round=2,
            evaluator=EndLeaves(network),
        )
        hands = engine.board_tree[0].hands[0]
        full[:, np.sort(hands)] = samples.ranges[number]
        engine.reset(full)
        engine.run(10)
        assert samples.exploitability[number] == pytest.approx(
            engine.exploitability() / pot, rel=0.01, abs=1e-4
        )
        values = engine.root_values(AVERAGE)[:, np.argsort(hands)] / pot
        weighted = np.abs(samples.values[number] - values) * samples.ranges[number]
        # hands that are hardly held have strategies that float32 decides
        assert weighted.sum() < 1e-3


def test_solves_go_on_to_their_target(networks):
    changes = {"target": [[0, 0.01]], "iterations": 400, "ranges": {"random": 1.0}}
    settings = read_settings(configured("turn_start", networks, **changes))
    samples = settings.stage.generate(settings, np.random.default_rng(4), 3)
    assert (samples.exploitability <= 0.01).all()


def test_a_start_may_be_solved_exactly(networks):
    """All rivers instead of a network: nothing but checks, so values are those of the equity."""
    changes = {"leaves": "exact", "bets": "fc", "ranges": {"random": 1.0}, "shard": 1}
    settings = read_settings(configured("turn_start", networks, **changes))
    assert settings.source is None
    samples = settings.stage.generate(settings, np.random.default_rng(5), 1)
    board = tuple(samples.board[0].tolist())
    hands = np.flatnonzero(~blocked(board))
    expected = samples.ranges[0, ::-1] @ equity_matrix(HUNL, board)[np.ix_(hands, hands)].T / 2
    np.testing.assert_allclose(samples.values[0], expected, atol=1e-5)


def test_data_sets_carry_the_checksum_of_their_network(networks, tmp_path):
    config = configured("turn_end", networks)
    with generating(tmp_path, config, 1, 6) as generation:
        generation.run(InProcess())
    data = Dataset(tmp_path)
    data.verify()
    assert len(data) == 6
    assert data.manifest.exploitability is None
    assert data.manifest.target is None
    assert len(data.manifest.config["network_sha256"]) == 64


def test_data_are_the_same_wherever_their_network_lies(networks, tmp_path):
    copy = tmp_path / "copy"
    save_network(stand_in("river_start"), copy, stack=20000)
    here = configured("turn_end", networks, network_sha256="ab")
    there = configured("turn_end", copy, network_sha256="ab", device="cuda")
    assert configuration_hash(here, 1) == configuration_hash(there, 1)
    other = configured("turn_end", copy, network_sha256="cd")
    assert configuration_hash(here, 1) != configuration_hash(other, 1)


def test_another_network_does_not_continue_a_data_set(networks, tmp_path):
    with generating(tmp_path / "data", configured("turn_end", networks), 1, 2):
        pass
    save_network(stand_in("river_start", 2), tmp_path, stack=20000)
    with (
        pytest.raises(InputError, match="made with network_sha256"),
        generating(tmp_path / "data", configured("turn_end", tmp_path), 1, 2),
    ):
        pass


def test_a_network_that_changed_is_not_used(networks):
    config = configured("turn_end", networks, network_sha256="0" * 64)
    with pytest.raises(InputError, match="expected 000000000000…"):
        make_shard(config, 1, Order(0, 2))


@pytest.mark.parametrize(
    ("stage", "changes", "message"),
    [
        ("turn_end", {"network": None}, "network is not given: expected .* river_start"),
        ("turn_end", {"network": "moon/river_start"}, "network card moon/river_start.json"),
        ("turn_end", {"leaves": "exact"}, "leaves 'exact': expected network"),
        ("turn_end", {"per_board": 0}, "per_board=0: expected at least 1"),
        ("turn_end", {"deals": 2.5}, "deals=2.5: expected a whole number"),
        ("turn_start", {"leaves": "luck"}, "leaves 'luck': expected network or exact"),
        ("turn_start", {"solver": "hand"}, "solver 'hand': expected one of batched, engine"),
        ("turn_start", {"batch": 0}, "batch=0"),
    ],
)
def test_settings_of_networks_that_do_not_fit_are_refused(networks, stage, changes, message):
    with pytest.raises(InputError, match=message):
        read_settings(configured(stage, networks, **changes))


def test_a_network_of_another_stage_is_refused(networks):
    changes = {"network": str(networks / "flop_end")}
    with pytest.raises(InputError, match="made for flop_end, expected river_start"):
        read_settings(configured("turn_end", networks, **changes))


def test_a_device_that_is_not_there_is_named(networks):
    config = configured("turn_end", networks, device="quantum")
    with pytest.raises(InputError, match="device 'quantum'"):
        make_shard(config, 1, Order(0, 2))
