"""``python -m deepstack.app.warmup``: compile the kernels once, so that no first hand waits.

Compiled kernels are kept on disk (``deepstack.run.jit``); where they are there already this takes a
second.
"""

from __future__ import annotations

import time

import numpy as np

from deepstack.cards.strength import board_strengths, strength
from deepstack.game.definition import load_game
from deepstack.game.state import initial_state
from deepstack.run.progress import track
from deepstack.solver.engine import Engine
from deepstack.solver.rules import CFR_PLUS
from deepstack.tree.betting import limit_raises


def main() -> None:
    started = time.perf_counter()
    kuhn = load_game("kuhn")
    with track(3, "compiling kernels", "parts", every=0.0) as progress:
        strength(np.arange(7, dtype=np.uint8))
        board_strengths(np.arange(5, dtype=np.uint8))
        progress.update(1)
        for dtype in (np.float32, np.float64):
            root, ranges = initial_state(kuhn), np.ones((2, kuhn.hands))
            engine = Engine(root, ranges, limit_raises, CFR_PLUS, dtype=dtype)
            engine.run(1)
            engine.exploitability()
            progress.update(1)
    print(f"kernels are compiled ({time.perf_counter() - started:.0f} s)")


if __name__ == "__main__":
    main()
