"""A solve and what it found: figures, strategies, values; to go on, to lock, to keep.

    solution = deepstack.solve(Spot("Td9d6hQc2s", pot=200, stack=900), bets="100%, a")
    solution.exploitability                     # chips
    actions, probabilities = solution.strategy("c b200")    # check, bet 200: who answers, and how
    solution.node("c b200").evs                 # what every hand is worth there
    solution.save("spot.solution")

Amounts are chips as the user counts them. Where a spot needs smaller units to be whole
(``deepstack.game.spots``), only ``engine`` and the totals of actions count in those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from deepstack.game.definition import Game, load_game
from deepstack.game.spots import Spot
from deepstack.game.state import Action, State, initial_state
from deepstack.run.errors import InputError
from deepstack.run.progress import track
from deepstack.solver.cfr_kernels import BEST
from deepstack.solver.engine import Engine
from deepstack.solver.inspection import NodeView, average_strategy, inspect
from deepstack.solver.places import Place, action_label, locate
from deepstack.solver.ranges import check_ranges
from deepstack.solver.rules import CFR_PLUS
from deepstack.solver.stopping import Check, Stop, parse_target, run_until
from deepstack.tree.betting import limit_raises
from deepstack.tree.boards import root_group
from deepstack.tree.menus import Menu

Board = str | Sequence[int] | None


class Solution:
    """The state of a solve; made by ``deepstack.solve`` or ``storage.load``.

    Attributes:
        engine: the tree, its tables and the update rule.
        ranges: [2, H] weights at the root, by seat.
        menu: the bets of the tree, as they were asked for.
        spot: what was asked for, where it was a spot.
        chip: units of the engine that make one chip.
        history: the measurements of exploitability on the way.
        seconds: time of the iterations alone, without checks.
    """

    def __init__(
        self,
        engine: Engine,
        ranges: npt.ArrayLike,
        menu: Menu,
        *,
        spot: Spot | None = None,
        chip: int = 1,
    ) -> None:
        self.engine = engine
        self.ranges = check_ranges(engine.root, ranges)
        self.menu = menu
        self.spot = spot
        self.chip = chip
        self.history: list[Check] = []
        self.seconds = 0.0
        # Locked nodes make another game: what was learned before is not worth keeping.
        self.outdated = False
        self._figures: dict[str, tuple[int, Any]] = {}
        group = root_group(self.game, self.state.board, self.ranges)
        self._group = group if engine.merged else group[:1]

    # ---- figures

    @property
    def state(self) -> State:
        """The root."""
        return self.engine.root

    @property
    def game(self) -> Game:
        return self.engine.game

    @property
    def iterations(self) -> int:
        return self.engine.iterations

    @property
    def pot(self) -> float:
        """Chips in the pot at the root."""
        return self.state.pot / self.chip

    @property
    def exploitability(self) -> float:
        """Half the sum of what both best responses gain, in chips; locked nodes stay locked."""
        return self._figure("exploitability", self.engine.exploitability) / self.chip

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """Chips won by each seat over the whole hand, when both play as solved [2]."""
        return self._figure("values", self.engine.expected_values) / self.chip

    @property
    def best_responses(self) -> npt.NDArray[np.float64]:
        """Chips won by a best response in each seat against the other's strategy [2]."""
        values, engine = self.engine.root_values(BEST), self.engine
        won = (values * engine.ranges[:, : values.shape[1]]).sum(axis=1)
        return won / engine.mass / self.chip

    @property
    def evs(self) -> npt.NDArray[np.float64]:
        """Each seat's share of the pot at the root [2]: values plus what the seat has put in."""
        return self.values + np.array(self.state.spent) / self.chip

    def __repr__(self) -> str:
        said = f"after {self.iterations:,} iterations"
        if self.history and self.history[-1].iterations == self.iterations:
            said += f", exploitability {self.history[-1].exploitability:.4g} chips"
        return f"<Solution of {self.state} {said}>"

    # ---- nodes

    def place(self, where: str | State = "", board: Board = None) -> Place:
        """The node of a betting since the root (``places`` has the notation) or of a state.

        ``board`` names the public cards there, if some came since the root: all of them, or only
        those.
        """
        engine = self.engine
        return locate(engine.betting_tree, engine.board_tree, self._group, where, board, self.chip)

    def strategy(
        self, where: str | State = "", board: Board = None
    ) -> tuple[tuple[Action, ...], npt.NDArray[np.floating]]:
        """The average strategy of a node: its A actions, and probabilities [H, A].

        Hands are by hand index; blocked ones have zeros, the others sum to 1.
        """
        place = self.place(where, board)
        return self.actions(place), average_strategy(self.engine, place)

    def node(self, where: str | State = "", board: Board = None) -> NodeView:
        """Strategy, ranges and values of all hands at a node."""
        place = self.place(where, board)
        return inspect(self.engine, place, self.labels(place), self.chip)

    def actions(self, place: Place) -> tuple[Action, ...]:
        """The actions of a node."""
        node = self.engine.betting_tree.stages[place.stage].nodes[place.node]
        return tuple(slot.action for slot in node.slots)

    def labels(self, place: Place) -> tuple[str, ...]:
        """The actions of a node in words, in chips of the betting round."""
        return tuple(action_label(place.state, a, self.chip) for a in self.actions(place))

    def lock(self, where: str | State, strategy: npt.ArrayLike, board: Board = None) -> None:
        """Fix the strategy of a node: probabilities [H, A] by hand index, or [A] for all hands.

        The rest stays as it is, so that what the change costs can be read off; the next
        ``resume`` solves the changed game from the start. On boards that were merged the lock
        holds on the whole class of boards; solve with ``merge=False`` to lock one of them.
        """
        place = self.place(where, board)
        stage = self.engine.board_tree[place.stage]
        actions, hands = len(self.actions(place)), self.game.hands
        given = np.array(strategy, np.float64)
        if given.shape == (actions,):
            given = np.tile(given, (hands, 1))
        if given.shape != (hands, actions):
            raise InputError(
                f"strategy of shape {given.shape}: expected ({hands}, {actions}) or ({actions},)"
            )
        relabelled = np.empty_like(given)
        relabelled[place.image] = given
        live = relabelled[stage.hands[place.boards[-1]]]
        images = live[stage.symmetries[place.boards[-1]]]
        if not np.allclose(images, live, atol=1e-6):
            raise InputError(
                "strategy: it tells suits apart that were merged, expected merge=False in the solve"
            )
        self.engine.lock(place.stage, place.node, place.boards[-1], live)
        self.outdated = self.iterations > 0
        self._figures.clear()

    # ---- going on

    def resume(
        self,
        *,
        iterations: int | None = None,
        target: float | str | None = None,
        seconds: float | None = None,
        progress: bool = False,
        enough: Callable[[], bool] = lambda: False,
    ) -> Solution:
        """Go on, for so many iterations, to an exploitability, or for some seconds.

        Whichever comes first. ``target`` is in chips, or a share of the root's pot (``"0.5%"``);
        ``enough`` may stop for another reason.
        """
        goal = parse_target(target, self.pot)
        stop = Stop(iterations, goal, seconds)
        if self.outdated:
            self._start_again()
        total = iterations if target is None and seconds is None else None
        with track(total, "solve", "iterations", quiet=not progress) as shown:

            def on_check(check: Check) -> None:
                if not self.history or self.history[-1].iterations < check.iterations:
                    self.history.append(check)
                self.seconds = check.seconds
                share = check.exploitability / self.pot
                said = f"{check.exploitability:.4g} chips ({share:.3%} of the pot)"
                shown.update(0, exploitability=said)

            compile_kernels(self.engine.dtype.name, self.engine.threads > 1)
            run_until(
                stop,
                self.engine.run,
                lambda: self.exploitability,
                done=self.iterations,
                seconds=self.seconds,
                on_check=on_check,
                on_run=shown.update,
                enough=enough,
            )
        return self

    def _figure(self, name: str, measure: Callable[[], Any]) -> Any:
        """A figure that takes a walk through the tree, measured once an iteration."""
        at, value = self._figures.get(name, (-1, None))
        if at != self.iterations:
            value = measure()
            self._figures[name] = self.iterations, value
        return value

    def _start_again(self) -> None:
        """Forget everything but the locked nodes."""
        tables = self.engine.tables
        locked = self._locked_rows()
        for table in (tables.regret, tables.average, tables.prediction):
            if len(table):
                kept = [table[rows].copy() for rows in locked]
                table[:] = 0.0
                for rows, values in zip(locked, kept, strict=True):
                    table[rows] = values
        self.engine.iterations = 0
        self.history, self.seconds, self.outdated = [], 0.0, False
        self._figures.clear()

    def _locked_rows(self) -> list[slice]:
        engine, rows = self.engine, []
        nodes = np.diff(engine.tree.first_node)
        for number in np.flatnonzero(engine.tables.frozen):
            stage = int(np.searchsorted(engine.tables.at_node, number, side="right")) - 1
            board, node = divmod(int(number - engine.tables.at_node[stage]), int(nodes[stage]))
            rows.append(engine.table_rows(stage, node, board))
        return rows

    # ---- keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solve to a file that ``deepstack.solver.storage.load`` reads back."""
        from deepstack.solver.storage import save

        save(self, path)


@cache
def compile_kernels(dtype: str, threads: bool = False) -> None:
    """Have the kernels compiled (or read from disk) before anybody looks at a clock."""
    state, ones = initial_state(load_game("leduc")), np.ones((2, 6))
    warm = Engine(state, ones, limit_raises, CFR_PLUS, dtype=dtype, threads=2 if threads else 1)
    warm.run(1)
    warm.exploitability()
