"""Vectors of sixteen lanes for numba kernels.

LLVM vectorises simple loops by itself, but not the ones that decide our speed: sweeps with a
running table, and the transposition between "a row a node" and "a lane a node". Here a vector is a
value that kernels load, combine and store explicitly; LLVM maps it to whatever registers the
machine has. Lanes are float32 or float64, as the array they come from.

Offsets count elements of a flat array. Rows that are handled here should start at a multiple of
64 bytes (``aligned_zeros``): accesses that straddle cache lines cost about twice as much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import models, register_model

LANES = 16
ALIGNMENT = 64
_INT = ir.IntType(32)
intrinsic: Callable[..., Any] = extending.intrinsic  # untyped: it takes the typing context away


class Vector(types.Type):
    """Sixteen lanes of a float type."""

    def __init__(self, lane: types.Float) -> None:
        self.lane = lane
        super().__init__(name=f"Vector({lane})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, _vector_type(kind.lane))


def _vector_type(lane: types.Float) -> ir.VectorType:
    return ir.VectorType(ir.FloatType() if lane == types.float32 else ir.DoubleType(), LANES)


def _indices(values: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(_INT, LANES), values)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), ir.PointerType(_vector_type(kind.dtype)))


def _load(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> Any:
    pointer = _pointer(context, builder, kind, array, offset)
    return builder.load(pointer, align=kind.dtype.bitwidth // 8)


def _store(context: Any, builder: Any, kind: Any, array: Any, offset: Any, value: Any) -> None:
    pointer = _pointer(context, builder, kind, array, offset)
    builder.store(value, pointer, align=kind.dtype.bitwidth // 8)


def _splat(builder: Any, scalar: Any, kind: Vector) -> Any:
    empty = ir.Constant(_vector_type(kind.lane), ir.Undefined)
    first = builder.insert_element(empty, scalar, ir.Constant(_INT, 0))
    return builder.shuffle_vector(first, empty, _indices([0] * LANES))


@intrinsic
def vload(typingctx, array, offset):
    """Sixteen elements of a flat array from ``offset`` on."""

    def codegen(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        return _load(context, builder, signature.args[0], args[0], at)

    return Vector(array.dtype)(array, offset), codegen


@intrinsic
def vstore(typingctx, array, offset, vector):
    """Write sixteen elements of a flat array from ``offset`` on."""

    def codegen(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        _store(context, builder, signature.args[0], args[0], at, args[2])
        return context.get_dummy_value()

    return types.void(array, offset, vector), codegen


@intrinsic
def vsplat(typingctx, array, scalar):
    """A scalar in every lane, of the lane type of ``array``."""

    def codegen(context, builder, signature, args):
        kind = signature.return_type
        value = context.cast(builder, args[1], signature.args[1], kind.lane)
        return _splat(builder, value, kind)

    return Vector(array.dtype)(array, scalar), codegen


def _arithmetic(instruction: str) -> Callable[..., Any]:
    @intrinsic
    def operation(typingctx, left, right):
        def codegen(context, builder, signature, args):
            # contraction lets a product and a sum become one fused instruction
            return getattr(builder, instruction)(args[0], args[1], flags=("contract",))

        return left(left, right), codegen

    return operation


vadd = _arithmetic("fadd")
vsub = _arithmetic("fsub")
vmul = _arithmetic("fmul")
vdiv = _arithmetic("fdiv")


@intrinsic
def vmax(typingctx, left, right):
    """The larger of two, lane by lane; no lane may be NaN."""

    def codegen(context, builder, signature, args):
        larger = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(larger, args[0], args[1])

    return left(left, right), codegen


@intrinsic
def vpositive(typingctx, test, then, otherwise):
    """``then`` in the lanes where ``test`` is positive, ``otherwise`` in the others."""

    def codegen(context, builder, signature, args):
        zero = ir.Constant(_vector_type(signature.return_type.lane), [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return then(test, then, otherwise), codegen


@intrinsic
def transpose(typingctx, source, at, stride, target, to, target_stride):
    """``target[to + k * target_stride + l] = source[at + l * stride + k]`` for k, l below 16."""

    def codegen(context, builder, signature, args):
        kinds = signature.args
        at, step, to, target_step = (
            context.cast(builder, args[i], kinds[i], types.intp) for i in (1, 2, 4, 5)
        )
        rows = []
        for _ in range(LANES):
            rows.append(_load(context, builder, kinds[0], args[0], at))
            at = builder.add(at, step)
        for row in _transposed(builder, rows):
            _store(context, builder, kinds[3], args[3], to, row)
            to = builder.add(to, target_step)
        return context.get_dummy_value()

    return types.void(source, at, stride, target, to, target_stride), codegen


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """A square of sixteen rows transposed by four perfect shuffles of row i with row i + 8."""
    low = _indices([k // 2 + LANES * (k % 2) for k in range(LANES)])
    high = _indices([LANES // 2 + k // 2 + LANES * (k % 2) for k in range(LANES)])
    for _ in range(4):
        pairs = [(rows[i], rows[i + LANES // 2]) for i in range(LANES // 2)]
        rows = [builder.shuffle_vector(a, b, half) for a, b in pairs for half in (low, high)]
    return rows


@intrinsic
def prefetch(typingctx, array, offset):
    """Ask for the cache line of an element that will be read soon."""

    def codegen(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [at]), ir.PointerType(ir.IntType(8)))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer] + [ir.Constant(_INT, word) for word in (0, 3, 1)])
        return context.get_dummy_value()

    return types.void(array, offset), codegen


def padded(count: int) -> int:
    """The number of elements that whole vectors need for ``count``.

    >>> padded(1081), padded(6), padded(0)
    (1088, 16, 0)
    """
    return -(-count // LANES) * LANES


def aligned_zeros(size: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """A flat array of zeros that starts at a cache line."""
    kind = np.dtype(dtype)
    raw = np.zeros(size * kind.itemsize + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size * kind.itemsize].view(kind)
