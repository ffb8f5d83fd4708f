"""Speed of the hand index on random river hands, one thread.

Run with ``python -m benchmarks.isomorphism``.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from deepstack.cards.isomorphism import Indexer, tables

HANDS = 1_000_000
REPEATS = 5


def best_seconds(call: Callable[[], object]) -> float:
    """The least of several timings, after one call that compiles."""
    call()
    timings = []
    for _ in range(REPEATS):
        start = perf_counter()
        call()
        timings.append(perf_counter() - start)
    return min(timings)


def run() -> dict[str, float]:
    """Millions a second of index, unindex and weight, and milliseconds to build the tables."""
    rng = np.random.default_rng(1)
    indexer = Indexer((2, 3, 1, 1))
    cards = rng.permuted(np.tile(np.arange(52, dtype=np.int8), (HANDS, 1)), axis=1)[:, :7].copy()
    indices = indexer.index(cards)

    def build() -> None:
        tables.cache_clear()
        for r in range(4):
            indexer.size(r)

    millions = HANDS / 1e6
    return {
        "index_millions_per_second": millions / best_seconds(lambda: indexer.index(cards)),
        "unindex_millions_per_second": millions / best_seconds(lambda: indexer.unindex(indices)),
        "weight_millions_per_second": millions / best_seconds(lambda: indexer.weight(indices)),
        "tables_milliseconds": 1e3 * best_seconds(build),
    }


def main() -> None:
    for name, figure in run().items():
        print(f"{name:30} {figure:8.1f}")


if __name__ == "__main__":
    main()
