"""The numba kernel of matrix games; what it computes is defined by ``matrix.run_plain``.

An iteration takes two products of the matrix with a vector, exploitabilities included: the values
A y of a strategy are needed for the opponent's regrets, for the current strategy's exploitability
and, summed with the weights of the average, for the average's. So they are computed once, when
the strategy is made. The products are written out: they leave out the actions that are not
played, many in large games, and a threaded library would spend longer on starting its threads.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deepstack.run.jit import kernel

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]


@kernel
def choose(regrets: Floats, gains: Floats, optimistic: bool, rate: float, out: Floats) -> None:
    """Write the strategy [A] that follows stored regrets [A] and the last gains [A]."""
    n = len(regrets)
    highest = -np.inf
    for a in range(n):
        out[a] = regrets[a] + gains[a] if optimistic else regrets[a]
        highest = max(highest, out[a])
    total = 0.0
    for a in range(n):
        out[a] = np.exp(rate * (out[a] - highest)) if rate > 0.0 else max(out[a], 0.0)
        total += out[a]
    for a in range(n):
        out[a] = out[a] / total if total > 0.0 else 1.0 / n


@kernel
def learn(strategy: Floats, values: Floats, floor: float, regrets: Floats, gains: Floats) -> float:
    """Update regrets [A] and gains [A] in place; the least regret before the floor."""
    expected = 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    lowest = np.inf
    for a in range(len(values)):
        gains[a] = values[a] - expected
        lowest = min(lowest, regrets[a] + gains[a])
        regrets[a] = max(regrets[a] + gains[a], floor)
    return lowest


@kernel
def mix(weights: Floats, vectors: Floats, out: Floats) -> None:
    """Write Σ weights [n] · vectors [n, A] to out [A]."""
    out[:] = 0.0
    for i in range(len(weights)):
        if weights[i] != 0.0:
            for a in range(len(out)):
                out[a] += weights[i] * vectors[i, a]


@kernel
def iterate(
    matrix: Floats,
    floor: float,
    optimistic: bool,
    rate: float,
    alternating: bool,
    averaging: float,
    iterations: int,
    points: npt.NDArray[np.int64],
) -> tuple[Floats, Pair, Pair, Pair]:
    """Self-play in matrix [R, C], recorded after the ascending iterations ``points`` [n].

    Returns [3, n] exploitability of the average, of the current strategies, and the least regret;
    then average strategies, current strategies and regrets, ([R], [C]) each.
    """
    rows, columns = matrix.shape
    row_regrets, row_gains, row, row_sum = (
        np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows),
    )  # fmt: skip
    col_regrets, col_gains, col, col_sum = (
        np.zeros(columns), np.zeros(columns), np.zeros(columns), np.zeros(columns),
    )  # fmt: skip
    choose(row_regrets, row_gains, optimistic, rate, row)
    choose(col_regrets, col_gains, optimistic, rate, col)
    # What the other player's strategy makes of one's own actions, in one's own chips.
    col_wins, row_wins = -matrix, np.ascontiguousarray(matrix.T)
    row_values, col_values = np.zeros(rows), np.zeros(columns)
    mix(col, row_wins, row_values)
    mix(row, col_wins, col_values)
    row_values_sum, col_values_sum = np.zeros(rows), np.zeros(columns)

    figures = np.zeros((3, len(points)))
    recorded, weights = 0, 0.0
    for t in range(1, iterations + 1):
        weight = float(t) ** averaging
        weights += weight
        row_sum += weight * row
        col_sum += weight * col
        row_values_sum += weight * row_values
        col_values_sum += weight * col_values

        lowest = learn(row, row_values, floor, row_regrets, row_gains)
        if not alternating:  # before the row player moves on
            lowest = min(lowest, learn(col, col_values, floor, col_regrets, col_gains))
        choose(row_regrets, row_gains, optimistic, rate, row)
        mix(row, col_wins, col_values)
        if alternating:
            lowest = min(lowest, learn(col, col_values, floor, col_regrets, col_gains))
        choose(col_regrets, col_gains, optimistic, rate, col)
        mix(col, row_wins, row_values)

        if recorded < len(points) and points[recorded] == t:
            best = row_values_sum.max() + col_values_sum.max()
            figures[0, recorded] = 0.5 * best / weights
            figures[1, recorded] = 0.5 * (row_values.max() + col_values.max())
            figures[2, recorded] = lowest
            recorded += 1
    averages = (row_sum / weights, col_sum / weights)
    return figures, averages, (row, col), (row_regrets, col_regrets)
