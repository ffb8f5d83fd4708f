"""The vector operations of the kernels, lane by lane."""

import numpy as np
import pytest
from numba import njit

from deepstack.solver.simd import (
    LANES,
    aligned_zeros,
    padded,
    prefetch,
    transpose,
    vadd,
    vdiv,
    vload,
    vmax,
    vmul,
    vpositive,
    vsplat,
    vstore,
    vsub,
)


@njit
def combine(a, b, out):
    x, y = vload(a, 0), vload(b, 0)
    prefetch(a, 0)
    vstore(out, 0, vadd(x, y))
    vstore(out, 16, vsub(x, y))
    vstore(out, 32, vmul(x, y))
    vstore(out, 48, vdiv(x, y))
    vstore(out, 64, vmax(x, y))
    vstore(out, 80, vpositive(x, y, vsplat(a, 7)))


@njit
def turn(source, target, rows, columns):
    for i in range(0, rows, 16):
        for j in range(0, columns, 16):
            transpose(source, i * columns + j, columns, target, j * rows + i, rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_operations_act_lane_by_lane(dtype):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, LANES)).astype(dtype)
    out = aligned_zeros(6 * LANES, dtype)
    combine(a, b, out)
    expected = [a + b, a - b, a * b, a / b, np.maximum(a, b), np.where(a > 0, b, 7)]
    np.testing.assert_allclose(out.reshape(6, LANES), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transposition(dtype):
    source = np.arange(48 * 32, dtype=dtype)
    target = aligned_zeros(48 * 32, dtype)
    turn(source, target, 48, 32)
    np.testing.assert_array_equal(target.reshape(32, 48), source.reshape(48, 32).T)


def test_rows_are_padded_and_aligned():
    assert [padded(n) for n in (1, 16, 17, 1081, 1326)] == [16, 16, 32, 1088, 1328]
    assert aligned_zeros(100).ctypes.data % 64 == 0
