"""CasADi functions at many points in one call: their instructions as data, read by C that serves every model."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.library import ready_library

# In the order of the enumeration in c/many.h. CasADi tells a power with a constant exponent from others.
OPERATIONS = (
    ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG,
    ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_SQRT, ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_ASIN, ca.OP_ACOS, ca.OP_ATAN,
    ca.OP_SINH, ca.OP_COSH, ca.OP_TANH, ca.OP_ASINH, ca.OP_ACOSH, ca.OP_ATANH, ca.OP_EXP, ca.OP_LOG, ca.OP_LOG1P,
    ca.OP_EXPM1, ca.OP_ERF, ca.OP_FABS, ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_NOT, ca.OP_POW, ca.OP_ATAN2,
    ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO,
    ca.OP_COPYSIGN, ca.OP_HYPOT,
)  # fmt: skip
_CODE = {operation: code for code, operation in enumerate(OPERATIONS)} | {ca.OP_CONSTPOW: OPERATIONS.index(ca.OP_POW)}
LANES, WIDE = 8, 4  # points to an instruction, and to a vector of dense algebra
MOST_OUTPUTS = 32
LONG = np.dtype("l")
_BYTE = ctypes.c_char
_NOTHING = ctypes.c_double()
_NOWHERE = ctypes.addressof(_NOTHING)
KINDS = {"p": ctypes.c_void_p, "l": ctypes.c_long, "d": ctypes.c_double}


class ProgramArgument(ctypes.Structure):
    """da_program of c/many.h."""

    _fields_ = (
        ("code", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("once", ctypes.c_long),
        ("each", ctypes.c_long),
        ("registers", ctypes.c_long),
        ("outputs", ctypes.c_long),
        ("sizes", ctypes.c_void_p),
        ("watched", ctypes.c_long),
    )


def entry(name: str, arguments: str) -> Any | None:
    """A function of the library, None without one. arguments: p for an address, l for a long, d for a double."""
    library = ready_library()
    if library is None:
        return None
    function = getattr(library, name)
    if function.argtypes is None:
        function.restype = ctypes.c_long
        function.argtypes = [KINDS[kind] for kind in arguments]
    return function


def address(array: np.ndarray) -> int:
    """Where a contiguous array begins; of an empty one, a place that nobody reads."""
    if not array.size:
        return _NOWHERE
    try:
        data: Any = array
        return ctypes.addressof(_BYTE.from_buffer(data))  # a fifth of the time that the other way takes
    except (TypeError, ValueError, BufferError):  # it is not to be changed
        return int(array.__array_interface__["data"][0])


def solve_room(n: int, m: int) -> int:
    """Numbers that da_solve_block of c/solve_points.h works with, and its indices."""
    return WIDE * (4 * n * n + 2 * m * n + 10 * n + 8 * m) + 2 * m


class Many:
    """A CasADi function of scalar expressions, for many points at once. Outputs are dense, matrices by rows; entries
    that are always zero take no instructions.

    parameters: the number of the input that is the same at all points: what depends on it alone is computed once.
    watched: so many outputs, the first ones, are looked at for values that are not finite.
    """

    def __init__(self, function: ca.Function, parameters: int, watched: int = 0, sparse: bool = False) -> None:
        """sparse: the entries that outputs have, by columns, instead of dense matrices."""
        shapes = [function.size_out(k) for k in range(function.n_out())]
        if sparse:
            shapes = [(function.nnz_out(k), 1) for k in range(function.n_out())]
        if len(shapes) > MOST_OUTPUTS:
            raise ValueError(f"at most {MOST_OUTPUTS} outputs")
        self.shapes = [(rows, columns) if columns != 1 else (rows,) for rows, columns in shapes]
        sizes = [rows * columns for rows, columns in shapes]
        self.ends = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
        self._input_sizes = [function.numel_in(k) for k in range(function.n_in())]
        code, once, constants, registers = _program(function, parameters, sparse)
        self._arrays = (code, constants, np.array(sizes, dtype=LONG))
        self.full = all(function.nnz_out(k) == function.numel_out(k) for k in range(function.n_out())) or sparse
        self.registers = LANES * registers
        self.instructions = len(code)
        self.argument = ProgramArgument(
            address(code), address(constants), once, len(code) - once, registers, len(sizes),
            address(self._arrays[2]), watched,
        )  # fmt: skip
        self.at = ctypes.addressof(self.argument)
        self._run: Any = entry("da_many", "plpppp")
        self._pointers, self._longs = ctypes.c_void_p * function.n_in(), ctypes.c_long * function.n_in()

    def block(self, count: int, values: Sequence[Array]) -> tuple[Array, bool]:
        """All outputs one after the other, each at all points, and whether the watched ones are finite.

        Each value is one vector for all points, or has the points along its first axis, and is contiguous along its
        second.
        """
        made = np.empty if self.full else np.zeros
        base = made(self.ends[-1] * count + self.registers)
        begin, apart = self._pointers(), self._longs()
        for k, value in enumerate(values):
            begin[k] = address(value) if value.flags.c_contiguous else value.ctypes.data
            alone = value.ndim == 1 and (self._input_sizes[k] != 1 or value.shape[0] != count)
            apart[k] = 0 if alone else value.strides[0] // 8
        start = address(base)
        wrong = self._run(self.at, count, begin, apart, start, start + 8 * self.ends[-1] * count)
        return base, not wrong

    def parts(self, count: int, base: Array) -> list[Array]:
        """The outputs (count, …) in what `block` gave."""
        return [
            base[count * first : count * last].reshape(count, *shape)
            for first, last, shape in zip(self.ends, self.ends[1:], self.shapes, strict=False)
        ]

    def __call__(self, count: int, *values: Array | float) -> list[Array]:
        """The outputs at `count` points, each (count, …)."""
        given = []
        for size, value in zip(self._input_sizes, values, strict=True):
            array = np.asarray(value, dtype=float)
            if array.ndim == 0:
                array = array.reshape(1)
            if array.ndim == 2 and array.strides[1] != 8 and size > 1:
                array = np.ascontiguousarray(array)
            given.append(array)
        return self.parts(count, self.block(count, given)[0])


def many_of(function: ca.Function, parameters: int, watched: int = 0, sparse: bool = False) -> Many | None:
    """`Many`, or None where there is no library or an operation has no form in it."""
    if ready_library() is None:
        return None
    try:
        return Many(function, parameters, watched, sparse)
    except KeyError:
        return None


def _program(function: ca.Function, parameters: int, sparse: bool) -> tuple[np.ndarray, int, Array, int]:
    """Instructions (count, 4), how many of them depend on parameters alone, constants, and how many registers.

    Those come first, with registers of their own. The others keep the work places that CasADi has given them.
    """
    places = []
    for k in range(function.n_out()):
        rows, columns = function.size_out(k)
        find = function.sparsity_out(k).find()
        # CasADi stores by columns.
        places.append(list(range(len(find))) if sparse else [at % rows * columns + at // rows for at in find])
    once: list[tuple[int, int, int, int]] = []
    each: list[tuple[int, int, int, int]] = []
    constants: list[float] = []
    registers = function.sz_w()
    holds: dict[int, int] = {}  # where the value of a work place is, for those that are computed once
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        code = _CODE[operation]
        if operation == ca.OP_OUTPUT:
            each.append((code, into[0], holds.get(of[0], of[0]), places[into[0]][into[1]]))
            continue
        if operation == ca.OP_CONST:
            constants.append(function.instruction_constant(k))
            operands, alone = (len(constants) - 1, 0), True
        elif operation == ca.OP_INPUT:
            operands, alone = (of[0], of[1]), of[0] == parameters
        else:
            alone = all(place in holds for place in of)
            values = [holds.get(place, place) for place in of]
            operands = (values[0], values[-1])
        if alone:
            once.append((code, registers, *operands))
            holds[into[0]] = registers
            registers += 1
        else:
            each.append((code, into[0], *operands))
            holds.pop(into[0], None)
    made = np.array([*once, *each], dtype=np.intc).reshape(-1, 4)
    return made, len(once), np.array([*constants, 0.0]), registers
