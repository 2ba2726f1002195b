"""CasADi functions as straight-line C: one assignment per instruction, elementary functions, nothing else.

What depends on parameters alone is computed once per motion, not once per evaluation: `Hoist` collects it.
Long functions are cut into pieces that hand their live values over in a work array, because compile time
grows faster than linearly with the length of a function: pieces of 1,000 instructions keep it linear. Sines and
cosines whose arguments are known at the same time are taken four at once, and a divisor used twice is inverted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import casadi as ca

from dalembert.kernel.emit.layout import BY_VALUE
from dalembert.kernel.emit.operations import BINARY, UNARY, form_of, no_form, require_casadi_codes

PIECE = 1000


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
        # What only led to other values, by functions that then did without, is left out.
        needed, kept = set(self._places), []
        for line in reversed(self.lines):
            name, _, text = line.removeprefix("    const double ").partition(" = ")
            if name in needed:
                needed |= set(re.findall(r"\bk\d+\b", text))
                kept.append(line)
        body = "\n".join(reversed(kept))
        head = "DA_PIECE void da_constants(const double *p, double *c)\n{\n    (void)p;\n    (void)c;\n"
        return f"{head}{body}\n{stores}\n}}\n"


@dataclass(frozen=True)
class _Instruction:
    """One operation on earlier values. `value` names its result; an output has none."""

    operation: int
    value: int
    of: tuple[int, ...]
    text: str = ""  # of a constant or an input; the place of an output


@dataclass
class _Piece:
    """Lines that will become one C function, the values they need from before, and those they make."""

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
    lanes: bool = True,
) -> str:
    """A C function `name` with the function's inputs and outputs as arrays, stored by columns. Entries that an output
    leaves out become zero.

    The inputs in BY_VALUE are numbers. With `hoist`, the input "p" is replaced by the array c of hoisted
    values. `qualifier` is one of the macros of runtime/base/base.h. lanes: sines and cosines four at once; otherwise
    angle by angle, for processors that have no vectors.
    """
    require_casadi_codes()
    pieces = _Translation(list(_instructions(function, inputs, outputs)), hoist, lanes).pieces()
    names = ["c" if hoist is not None and i == "p" else i for i in inputs]
    parameters = [f"double {i}" if i in BY_VALUE else f"const double *DA_RESTRICT {i}" for i in names]
    parameters += [f"double *DA_RESTRICT {output}" for output in outputs]
    used = ", ".join(parameters)
    zeros = "".join(
        f"    for (int i = 0; i < {function.numel_out(k)}; i++) {output}[i] = 0.0;\n"
        for k, output in enumerate(outputs)
        if function.nnz_out(k) < function.numel_out(k)
    )
    if len(pieces) == 1:
        body = "\n".join(pieces[0].lines)
        quiet = "".join(f"    (void){i};\n" for i in (*names, *outputs))
        return f"{qualifier} void {name}({used})\n{{\n{quiet}{zeros}{body}\n}}\n"
    return _split(name, pieces, used, [*names, *outputs], zeros, qualifier)


def _instructions(function: ca.Function, inputs: Sequence[str], outputs: Sequence[str]) -> Iterator[_Instruction]:
    """The instructions of a function. CasADi's share work places; here each result has a name of its own."""
    places = [function.sparsity_out(k).find() for k in range(function.n_out())]
    holds: dict[int, int] = {}
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            place = f"{outputs[into[0]]}[{places[into[0]][into[1]]}]"
            yield _Instruction(operation, -1, (holds[of[0]],), place)
            continue
        if operation == ca.OP_CONST:
            made = _Instruction(operation, k, (), number(function.instruction_constant(k)))
        elif operation == ca.OP_INPUT:
            name = inputs[of[0]]
            made = _Instruction(operation, k, (), name if name in BY_VALUE else f"{name}[{of[1]}]")
        elif operation in BINARY or operation in UNARY:
            made = _Instruction(operation, k, tuple(holds[place] for place in of))
        else:
            raise no_form(operation)
        holds[into[0]] = k
        yield made


class _Translation:
    """Turns instructions into lines. A value is a literal, a hoisted value, or a variable of the current piece."""

    def __init__(self, instructions: Sequence[_Instruction], hoist: Hoist | None, lanes: bool = True) -> None:
        self.hoist, self.lanes = hoist, lanes
        self.literal: dict[int, str] = {}
        self.hoisted: dict[int, str] = {}
        self.variable: dict[int, str] = {}
        self.inverse: dict[int, str] = {}
        self.piece = _Piece()
        self.instructions = self._fixed_first(instructions)
        divisions = Counter(i.of[1] for i in self.instructions if i.operation == ca.OP_DIV)
        self.divides_often = {value for value, count in divisions.items() if count > 1}

    def _fixed_first(self, instructions: Sequence[_Instruction]) -> list[_Instruction]:
        """Literals and what depends on parameters alone are settled here; the others are returned."""
        rest = []
        for i in instructions:
            if i.operation == ca.OP_CONST:
                self.literal[i.value] = i.text
            elif self.hoist is not None and i.operation == ca.OP_INPUT and i.text.startswith("p["):
                self.hoisted[i.value] = self.hoist.define(i.text)
            elif (
                self.hoist is not None
                and i.operation not in (ca.OP_INPUT, ca.OP_OUTPUT)
                and all(o in self.literal or o in self.hoisted for o in i.of)
            ):
                operands = [self.literal.get(o) or self.hoisted[o] for o in i.of]
                self.hoisted[i.value] = self.hoist.define(form_of(i.operation).format(*operands))
            else:
                rest.append(i)
        return rest

    def pieces(self) -> list[_Piece]:
        done = [self.piece]
        for step in _in_phases(self.instructions):
            if len(self.piece.lines) >= PIECE:
                self.piece = _Piece()
                self.variable, self.inverse = {}, {}
                done.append(self.piece)
            if isinstance(step, list):
                self._turns(step)
            elif step.operation == ca.OP_OUTPUT:
                self.piece.lines.append(f"    {step.text} = {self._value(step.of[0])};")
            else:
                self._assign(step.value, self._expression(step))
        return done

    def _expression(self, i: _Instruction) -> str:
        if i.operation == ca.OP_INPUT:
            return i.text
        if i.operation == ca.OP_DIV and (inverse := self._inverse(i.of[1])):
            return f"{self._value(i.of[0])} * {inverse}"
        return form_of(i.operation).format(*(self._value(o) for o in i.of))

    def _inverse(self, divisor: int) -> str | None:
        """The reciprocal of what divides more than once, or of what never changes."""
        if divisor in self.hoisted and self.hoist is not None:
            return self.hoist.place(self.hoist.define(f"1.0 / {self.hoisted[divisor]}"))
        if divisor not in self.divides_often or divisor in self.literal:
            return None
        if divisor not in self.inverse:
            self.piece.lines.append(f"    const double i{divisor} = 1.0 / {self._value(divisor)};")
            self.inverse[divisor] = f"i{divisor}"
        return self.inverse[divisor]

    def _turns(self, group: list[_Instruction]) -> None:
        """Sines and cosines of at most four different angles."""
        angles = list(dict.fromkeys(i.of[0] for i in group))
        texts = [self._value(angle) for angle in angles]
        mark = f"{group[0].value}"
        if not self.lanes or len(texts) == 1:
            name = "da_sincos1" if self.lanes else "da_sincos"
            for k, text in enumerate(texts):
                self.piece.lines += [f"    double sin{mark}_{k}, cos{mark}_{k};"]
                self.piece.lines += [f"    {name}({text}, &sin{mark}_{k}, &cos{mark}_{k});"]
            for i in group:
                kind = "sin" if i.operation == ca.OP_SIN else "cos"
                self._assign(i.value, f"{kind}{mark}_{angles.index(i.of[0])}")
            return
        padded = ", ".join(texts + texts[:1] * (4 - len(texts)))
        self.piece.lines += [
            f"    const double x{mark}[4] = {{{padded}}};",
            f"    double sin{mark}[4], cos{mark}[4];",
            f"    da_sincos4(x{mark}, sin{mark}, cos{mark});",
        ]
        for i in group:
            kind = "sin" if i.operation == ca.OP_SIN else "cos"
            self._assign(i.value, f"{kind}{mark}[{angles.index(i.of[0])}]")

    def _assign(self, value: int, text: str) -> None:
        self.variable[value] = self.piece.defined[value] = f"v{value}"
        self.piece.lines.append(f"    const double v{value} = {text};")

    def _value(self, value: int) -> str:
        if value in self.literal:
            return self.literal[value]
        if value in self.hoisted and self.hoist is not None:
            return self.hoist.place(self.hoisted[value])
        if value not in self.variable:
            self.variable[value] = self.piece.loads[value] = f"v{value}"
        return self.variable[value]


def _in_phases(instructions: Sequence[_Instruction]) -> Iterator[_Instruction | list[_Instruction]]:
    """The same instructions, in groups of at most four angles where they are sines and cosines.

    The level of a value is how many sines and cosines stand one inside the other in it; all that belong to one level
    can be taken together once everything below is known.
    """
    level: dict[int, int] = {}
    plain: dict[int, list[_Instruction]] = {}
    turning: dict[int, list[_Instruction]] = {}
    for i in instructions:
        below = max((level.get(o, 0) for o in i.of), default=0)
        turns = i.operation in (ca.OP_SIN, ca.OP_COS)
        (turning if turns else plain).setdefault(below, []).append(i)
        level[i.value] = below + turns
    for depth in range(max([*plain, *turning], default=-1) + 1):
        yield from plain.get(depth, [])
        group: list[_Instruction] = []
        for i in sorted(turning.get(depth, []), key=lambda i: i.of):
            if i.of[0] not in {j.of[0] for j in group} and len({j.of[0] for j in group}) == 4:
                yield group
                group = []
            group.append(i)
        if group:
            yield group


def _split(name: str, pieces: list[_Piece], parameters: str, arguments: list[str], zeros: str, qualifier: str) -> str:
    """Pieces that hand over their live values in a work array."""
    place: dict[int, int] = {}
    for piece in pieces:
        for value in piece.loads:
            place.setdefault(value, len(place))
    text, calls = [], []
    for k, piece in enumerate(pieces):
        loads = "".join(f"    const double {v} = w[{place[value]}];\n" for value, v in piece.loads.items())
        saves = "".join(f"    w[{place[value]}] = {v};\n" for value, v in piece.defined.items() if value in place)
        quiet = "".join(f"    (void){a};\n" for a in (*arguments, "w"))
        body = "\n".join(piece.lines)
        text.append(
            f"DA_PIECE void {name}_{k}({parameters}, double *DA_RESTRICT w)\n{{\n{quiet}{loads}{body}\n{saves}}}\n"
        )
        calls.append(f"    {name}_{k}({', '.join(arguments)}, w);\n")
    size = max(len(place), 1)
    body = f"    double w[{size}];\n{zeros}{''.join(calls)}"
    return "\n".join(text) + f"{qualifier} void {name}({parameters})\n{{\n{body}}}\n"
