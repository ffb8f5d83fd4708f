"""Questions from inside a kernel to Python: the values of leaves.

A kernel gets the address of a C function that ``ctypes`` made of a Python one, as a plain number,
so compiled kernels can be kept on disk. An exception cannot pass through the kernel: it is kept,
the kernel stops on the answer 1, and the caller raises it again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types

intrinsic: Callable[..., Any] = extending.intrinsic  # untyped: it takes the typing context away
_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Question:
    """A Python function of one number that kernels can call by ``address``."""

    def __init__(self, function: Callable[[int], None]) -> None:
        self._function = function
        self._error: BaseException | None = None
        self._entry = _SIGNATURE(self._call)
        self.address = int(ctypes.cast(self._entry, ctypes.c_void_p).value or 0)

    def _call(self, number: int) -> int:
        try:
            self._function(number)
        except BaseException as error:
            self._error = error
            return 1
        return 0

    def settle(self) -> None:
        """Raise what the function raised."""
        error, self._error = self._error, None
        if error is not None:
            raise error


@intrinsic
def ask(typingctx, address, number):
    """Call the function at an address; its answer is 0 if all went well."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(64)
        kind = ir.PointerType(ir.FunctionType(word, [word]))
        place, value = (
            context.cast(builder, args[i], signature.args[i], types.int64) for i in (0, 1)
        )
        return builder.call(builder.inttoptr(place, kind), [value])

    return types.int64(address, number), codegen
