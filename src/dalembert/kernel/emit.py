"""CasADi functions as straight-line C: one assignment per instruction, elementary functions, nothing else.

What depends on parameters alone is computed once per motion, not once per evaluation: `Hoist` collects it.
Long functions are cut into pieces that hand their live values over in a work array, because compile time
grows faster than linearly with the length of a function: pieces of 1,000 instructions keep it linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from dalembert.errors import BuildError

PIECE = 1000

_BINARY = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_POW: "pow({0}, {1})",
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_ATAN2: "atan2({0}, {1})",
    ca.OP_FMIN: "da_min({0}, {1})",
    ca.OP_FMAX: "da_max({0}, {1})",
    ca.OP_LT: "(double)({0} < {1})",
    ca.OP_LE: "(double)({0} <= {1})",
    ca.OP_EQ: "(double)({0} == {1})",
    ca.OP_NE: "(double)({0} != {1})",
    ca.OP_AND: "(double)({0} != 0.0 && {1} != 0.0)",
    ca.OP_OR: "(double)({0} != 0.0 || {1} != 0.0)",
    ca.OP_IF_ELSE_ZERO: "({0} != 0.0 ? {1} : 0.0)",
    ca.OP_COPYSIGN: "copysign({0}, {1})",
    ca.OP_HYPOT: "hypot({0}, {1})",
}
_UNARY = {
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_SIN: "sin({0})",
    ca.OP_COS: "cos({0})",
    ca.OP_TAN: "tan({0})",
    ca.OP_ASIN: "asin({0})",
    ca.OP_ACOS: "acos({0})",
    ca.OP_ATAN: "atan({0})",
    ca.OP_SINH: "sinh({0})",
    ca.OP_COSH: "cosh({0})",
    ca.OP_TANH: "tanh({0})",
    ca.OP_ASINH: "asinh({0})",
    ca.OP_ACOSH: "acosh({0})",
    ca.OP_ATANH: "atanh({0})",
    ca.OP_EXP: "exp({0})",
    ca.OP_LOG: "log({0})",
    ca.OP_LOG1P: "log1p({0})",
    ca.OP_EXPM1: "expm1({0})",
    ca.OP_ERF: "erf({0})",
    ca.OP_FABS: "fabs({0})",
    ca.OP_SIGN: "da_sign({0})",
    ca.OP_FLOOR: "floor({0})",
    ca.OP_CEIL: "ceil({0})",
    ca.OP_NOT: "(double)({0} == 0.0)",
    ca.OP_ASSIGN: "{0}",
}


def number(value: float) -> str:
    """A C constant that reads back exactly."""
    if value != value or value in (float("inf"), float("-inf")):
        # The model has no value here whatever the state: let the evaluation show it.
        return "(0.0/0.0)"
    text = repr(float(value))
    return text if any(mark in text for mark in ".en") else text + ".0"


class Hoist:
    """Values that depend on parameters alone, shared by the functions of a kernel: local names for all, a
    place in the array c for those that a function reads.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[str, str] = {}
        self._places: dict[str, int] = {}

    def define(self, text: str) -> str:
        """A local name for a value given as C text; the same text gets the same name."""
        if text not in self._names:
            self._names[text] = f"k{len(self._names)}"
            self.lines.append(f"    const double {self._names[text]} = {text};")
        return self._names[text]

    def place(self, name: str) -> str:
        """The value as a function reads it."""
        return f"c[{self._places.setdefault(name, len(self._places))}]"

    @property
    def size(self) -> int:
        return len(self._places)

    def source(self) -> str:
        stores = "\n".join(f"    c[{place}] = {name};" for name, place in self._places.items())
        body = "\n".join(self.lines)
        head = "DA_PIECE void da_constants(const double *p, double *c)\n{\n    (void)p;\n    (void)c;\n"
        return f"{head}{body}\n{stores}\n}}\n"


@dataclass
class _Piece:
    """Instructions that will become one C function, with the slots they need from before and leave for later."""

    lines: list[str] = field(default_factory=list)
    loads: dict[int, str] = field(default_factory=dict)
    defined: dict[int, str] = field(default_factory=dict)


def straight_line(
    name: str,
    function: ca.Function,
    inputs: Sequence[str],
    outputs: Sequence[str],
    hoist: Hoist | None = None,
    qualifier: str = "DA_FN",
) -> str:
    """A C function `name` with the function's inputs and outputs as arrays (outputs dense, stored by
    columns).

    The input "t" is passed by value. With `hoist`, the input "p" is replaced by the array c of hoisted
    values. `qualifier` is one of the macros of runtime/base.h.
    """
    pieces = _Translation(function, inputs, outputs, hoist).pieces()
    names = ["c" if hoist is not None and i == "p" else i for i in inputs]
    parameters = [f"double {i}" if i == "t" else f"const double *DA_RESTRICT {i}" for i in names]
    parameters += [f"double *DA_RESTRICT {output}" for output in outputs]
    used = ", ".join(parameters)
    if len(pieces) == 1:
        body = "\n".join(pieces[0].lines)
        quiet = "".join(f"    (void){i};\n" for i in (*names, *outputs))
        return f"{qualifier} void {name}({used})\n{{\n{quiet}{body}\n}}\n"
    return _split(name, pieces, used, [*names, *outputs], function.sz_w(), qualifier)


class _Translation:
    """Walks the instructions of a function. A slot holds a literal, a hoisted value, or a variable of the
    current piece.
    """

    def __init__(
        self, function: ca.Function, inputs: Sequence[str], outputs: Sequence[str], hoist: Hoist | None
    ) -> None:
        self.function, self.inputs, self.outputs, self.hoist = function, inputs, outputs, hoist
        self.literal: dict[int, str] = {}
        self.hoisted: dict[int, str] = {}
        self.variable: dict[int, str] = {}
        self.piece = _Piece()

    def pieces(self) -> list[_Piece]:
        done = [self.piece]
        for k in range(self.function.n_instructions()):
            if len(self.piece.lines) >= PIECE:
                self.piece = _Piece()
                self.variable = {}
                done.append(self.piece)
            self._instruction(k)
        return done

    def _instruction(self, k: int) -> None:
        function = self.function
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            self.piece.lines.append(f"    {self.outputs[into[0]]}[{into[1]}] = {self._value(of[0])};")
            return
        slot = into[0]
        if operation == ca.OP_CONST:
            self._set(self.literal, slot, number(function.instruction_constant(k)))
        elif operation == ca.OP_INPUT:
            name = self.inputs[of[0]]
            text = name if name == "t" else f"{name}[{of[1]}]"
            if self.hoist is not None and name == "p":
                self._set(self.hoisted, slot, self.hoist.define(text))
            else:
                self._assign(k, slot, text)
        else:
            form = _BINARY.get(operation) or _UNARY.get(operation)
            if form is None:
                raise BuildError(f"operation {operation} of the model has no form in C")
            if self.hoist is not None and all(o in self.literal or o in self.hoisted for o in of):
                text = form.format(*(self.literal.get(o) or self.hoisted[o] for o in of))
                self._set(self.hoisted, slot, self.hoist.define(text))
            elif operation == ca.OP_DIV and self.hoist is not None and of[1] in self.hoisted:
                # Division by what never changes: its reciprocal is taken once.
                reciprocal = self.hoist.place(self.hoist.define(f"1.0 / {self.hoisted[of[1]]}"))
                self._assign(k, slot, f"{self._value(of[0])} * {reciprocal}")
            else:
                self._assign(k, slot, form.format(*(self._value(o) for o in of)))

    def _set(self, where: dict[int, str], slot: int, text: str) -> None:
        for names in (self.literal, self.hoisted, self.variable):
            names.pop(slot, None)
        where[slot] = text

    def _assign(self, k: int, slot: int, text: str) -> None:
        self._set(self.variable, slot, f"v{k}")
        self.piece.defined[slot] = f"v{k}"
        self.piece.lines.append(f"    const double v{k} = {text};")

    def _value(self, slot: int) -> str:
        if slot in self.literal:
            return self.literal[slot]
        if slot in self.hoisted and self.hoist is not None:
            return self.hoist.place(self.hoisted[slot])
        if slot not in self.variable:
            self.variable[slot] = self.piece.loads[slot] = f"s{slot}"
        return self.variable[slot]


def _split(name: str, pieces: list[_Piece], parameters: str, arguments: list[str], slots: int, qualifier: str) -> str:
    """Pieces that hand over their live slots in a work array."""
    needed: set[int] = set()
    stores: list[list[int]] = []
    for piece in reversed(pieces):
        stores.append([slot for slot in piece.defined if slot in needed])
        needed = (needed - set(piece.defined)) | set(piece.loads)
    stores.reverse()
    text, calls = [], []
    for k, (piece, kept) in enumerate(zip(pieces, stores, strict=True)):
        loads = "".join(f"    const double {v} = w[{slot}];\n" for slot, v in piece.loads.items())
        saves = "".join(f"    w[{slot}] = {piece.defined[slot]};\n" for slot in kept)
        quiet = "".join(f"    (void){a};\n" for a in (*arguments, "w"))
        body = "\n".join(piece.lines)
        text.append(
            f"DA_PIECE void {name}_{k}({parameters}, double *DA_RESTRICT w)\n{{\n{quiet}{loads}{body}\n{saves}}}\n"
        )
        calls.append(f"    {name}_{k}({', '.join(arguments)}, w);\n")
    return "\n".join(text) + f"{qualifier} void {name}({parameters})\n{{\n    double w[{slots}];\n{''.join(calls)}}}\n"
