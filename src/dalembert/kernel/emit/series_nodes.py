"""The values of a CasADi function whose Taylor series are wanted: equal ones once, by the rules of algebra and of
calculus, with what is known of how they change with time. `series` makes C of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.errors import BuildError
from dalembert.kernel.emit.operations import BINARY, UNARY
from dalembert.kernel.emit.straight_line import Hoist, number

# What a user calls the operations that are not analytic; any other without a rule is named by its form in C.
_NOT_ANALYTIC = {
    ca.OP_FABS: "an absolute value",
    ca.OP_SIGN: "sign(…)",
    ca.OP_FLOOR: "floor(…)",
    ca.OP_CEIL: "ceil(…)",
    ca.OP_FMIN: "min(…)",
    ca.OP_FMAX: "max(…)",
    ca.OP_COPYSIGN: "copysign(…)",
    **dict.fromkeys(
        (
            ca.OP_LT,
            ca.OP_LE,
            ca.OP_EQ,
            ca.OP_NE,
            ca.OP_AND,
            ca.OP_OR,
            ca.OP_NOT,
            ca.OP_IF_ELSE_ZERO,
        ),
        "a condition",
    ),
}
LINEAR = ("add", "sub", "neg", "mul", "scale")  # in one argument
# Powers up to this are products, which hold at zero too.
_LARGEST_POWER = 16


@dataclass(eq=False)
class Node:
    """One value. `args` are those whose coefficient of the same order it needs; `form` is its order 0 in C."""

    number: int
    kind: str
    args: tuple[Node, ...]
    form: str = ""
    stage: int = 0  # the unknowns it depends on; 0: none
    integrand: Node | None = None  # w of c' = ± a' w and of c' w = a'
    degree: int | None = None  # 0: does not change with time; 1: a straight line; None: may be anything
    slope: Node | None = None  # of a straight line

    @property
    def is_constant(self) -> bool:
        return self.kind == "constant"

    @property
    def is_zero(self) -> bool:
        return self.is_constant and self.form in ("0.0", "-0.0")


class Nodes:
    """The values of a function, equal ones once, made by the rules of algebra and calculus."""

    def __init__(self, hoist: Hoist, slopes: Mapping[str, str]) -> None:
        """slopes: of inputs that are straight lines, as numbers or names of inputs; "0.0": it does not change."""
        self.hoist = hoist
        self._slopes = slopes
        self._made: dict[tuple[object, ...], Node] = {}
        self._count = 0

    def node(self, kind: str, args: Sequence[Node] = (), form: str = "", stage: int = 0) -> Node:
        key = (kind, form, *(a.number for a in args))
        if key not in self._made:
            self._made[key] = self._new(kind, args, form, stage)
        return self._made[key]

    def _new(self, kind: str, args: Sequence[Node], form: str, stage: int = 0) -> Node:
        self._count += 1
        made = Node(self._count, kind, tuple(args), form, max([stage, *(a.stage for a in args)]))
        made.degree = self._degree(made)
        if made.degree == 1:
            made.slope = self._slope(made)
        return made

    def _degree(self, node: Node) -> int | None:
        if node.kind == "constant":
            return 0
        if node.kind == "input":
            slope = self._slopes.get(node.form)
            return None if slope is None else int(slope != "0.0")
        of = [a.degree for a in node.args]
        if node.kind == "unknown" or None in of:
            return None
        known = [degree for degree in of if degree is not None]
        if node.kind in ("add", "sub", "neg"):
            return max(known)
        if node.kind in ("mul", "scale"):
            return sum(known) if sum(known) <= 1 else None
        if node.kind == "div" and known[1] == 0:
            return known[0]
        return None if any(known) else 0

    def _slope(self, node: Node) -> Node:
        """Of a straight line, from those of its arguments."""
        if node.kind == "input":
            text = self._slopes[node.form]
            return self.literal(float(text)) if text[0].isdigit() else self.node("input", form=text)
        slopes = [a.slope or self.literal(0.0) for a in node.args]
        if node.kind in ("add", "sub"):
            return (self.add if node.kind == "add" else self.sub)(*slopes)
        if node.kind == "neg":
            return self.neg(*slopes)
        a, b = node.args
        if node.kind == "div":
            return self.div(slopes[0], b)
        return self.mul(a, slopes[1]) if a.degree == 0 else self.mul(slopes[0], b)

    def literal(self, value: float) -> Node:
        return self.node("constant", form=number(value))

    def hoisted(self, text: str) -> Node:
        return self.node("constant", form=self.hoist.define(text))

    # -- algebra

    def add(self, a: Node, b: Node) -> Node:
        if a.is_zero or b.is_zero:
            return b if a.is_zero else a
        return self.node("add", (a, b), "{0} + {1}")

    def sub(self, a: Node, b: Node) -> Node:
        if b.is_zero:
            return a
        return self.neg(b) if a.is_zero else self.node("sub", (a, b), "{0} - {1}")

    def neg(self, a: Node) -> Node:
        return a.args[0] if a.kind == "neg" else self.node("neg", (a,), "-{0}")

    def mul(self, a: Node, b: Node) -> Node:
        if a.is_zero or b.is_zero:
            return self.literal(0.0)
        if a.is_constant or b.is_constant:
            return self.node("scale", (a, b) if a.is_constant else (b, a), "{0} * {1}")
        first, second = sorted((a, b), key=lambda n: n.number)
        return self.node("mul", (first, second), "{0} * {1}")

    def div(self, a: Node, b: Node) -> Node:
        if b.is_constant:
            return self.mul(self.hoisted(f"1.0 / {b.form}"), a)
        return self.literal(0.0) if a.is_zero else self.node("div", (a, b), "{0} / {1}")

    def sqrt(self, a: Node) -> Node:
        return self.node("sqrt", (a,), "sqrt({0})")

    def power(self, a: Node, exponent: Node) -> Node:
        if not exponent.is_constant:
            return self.exp(self.mul(exponent, self.log(a)))
        try:
            value = float(exponent.form)
        except ValueError:
            return self.node("power", (a, exponent), "pow({0}, {1})")
        if value == 0.5:
            return self.sqrt(a)
        if value.is_integer() and 0 < abs(value) <= _LARGEST_POWER:
            result = self._whole_power(a, int(abs(value)))
            return result if value > 0 else self.div(self.literal(1.0), result)
        return self.node("power", (a, exponent), "pow({0}, {1})")

    def _whole_power(self, a: Node, exponent: int) -> Node:
        if exponent == 1:
            return a
        half = self._whole_power(a, exponent // 2)
        square = self.mul(half, half)
        return self.mul(square, a) if exponent % 2 else square

    # -- functions by their differential equations

    def along(self, a: Node, integrand: Node, form: str) -> Node:
        """c with c' = a' w."""
        node = self.node("along", (a,), form)
        node.integrand = integrand
        return node

    def against(self, a: Node, integrand: Node, form: str) -> Node:
        """c with c' w = a'."""
        node = self.node("against", (a,), form)
        node.integrand = integrand
        return node

    def exp(self, a: Node) -> Node:
        node = self.node("along", (a,), "exp({0})")
        node.integrand = node
        return node

    def log(self, a: Node) -> Node:
        return self.against(a, a, "log({0})")

    def circle(self, a: Node, hyperbolic: bool = False) -> tuple[Node, Node]:
        """(sin a, cos a) or (sinh a, cosh a): each is the other's derivative."""
        h = "h" if hyperbolic else ""
        sine = self.node("along", (a,), f"sin{h}({{0}})")
        cosine = self.node("along" if hyperbolic else "backwards", (a,), f"cos{h}({{0}})")
        sine.integrand, cosine.integrand = cosine, sine
        return sine, cosine

    def tangent(self, a: Node, hyperbolic: bool = False) -> Node:
        node = self.node("along", (a,), "tanh({0})" if hyperbolic else "tan({0})")
        one, square = self.literal(1.0), self.mul(node, node)
        node.integrand = self.sub(one, square) if hyperbolic else self.add(one, square)
        return node

    def function(self, operation: int, a: Node) -> Node | None:
        """A function of one argument, or None where it is not analytic."""
        one = self.literal(1.0)
        form = UNARY[operation]
        if operation in (ca.OP_SIN, ca.OP_COS):
            return self.circle(a)[operation == ca.OP_COS]
        if operation in (ca.OP_SINH, ca.OP_COSH):
            return self.circle(a, hyperbolic=True)[operation == ca.OP_COSH]
        if operation in (ca.OP_TAN, ca.OP_TANH):
            return self.tangent(a, operation == ca.OP_TANH)
        if operation == ca.OP_EXP:
            return self.exp(a)
        if operation == ca.OP_EXPM1:
            return self.along(a, self.exp(a), form)
        if operation == ca.OP_LOG:
            return self.log(a)
        if operation == ca.OP_LOG1P:
            return self.against(a, self.add(one, a), form)
        square = self.mul(a, a)
        if operation == ca.OP_ERF:
            return self.along(a, self.mul(self.literal(1.1283791670955126), self.exp(self.neg(square))), form)
        slopes = {
            ca.OP_ATAN: lambda: self.add(one, square),
            ca.OP_ATANH: lambda: self.sub(one, square),
            ca.OP_ASIN: lambda: self.sqrt(self.sub(one, square)),
            ca.OP_ACOS: lambda: self.neg(self.sqrt(self.sub(one, square))),
            ca.OP_ASINH: lambda: self.sqrt(self.add(one, square)),
            ca.OP_ACOSH: lambda: self.sqrt(self.sub(square, one)),
        }
        return self.against(a, slopes[operation](), form) if operation in slopes else None

    def operation(self, operation: int, of: Sequence[Node]) -> Node:
        """The node of a CasADi instruction."""
        form = BINARY.get(operation) or UNARY.get(operation)
        if form is None:
            raise BuildError(f"operation {operation} of the model has no form in C")
        if operation == ca.OP_ASSIGN:
            return of[0]
        if all(a.is_constant for a in of):
            return self.hoisted(form.format(*(a.form for a in of)))
        if operation in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV):
            rule = {ca.OP_ADD: self.add, ca.OP_SUB: self.sub, ca.OP_MUL: self.mul, ca.OP_DIV: self.div}
            return rule[operation](*of)
        if operation in (ca.OP_POW, ca.OP_CONSTPOW):
            return self.power(*of)
        if operation == ca.OP_ATAN2:
            node = self.node("atan2", of, form)
            node.integrand = self.add(self.mul(of[0], of[0]), self.mul(of[1], of[1]))
            return node
        if operation == ca.OP_HYPOT:
            return self.sqrt(self.add(self.mul(of[0], of[0]), self.mul(of[1], of[1])))
        if operation == ca.OP_NEG:
            return self.neg(of[0])
        if operation == ca.OP_TWICE:
            return self.mul(self.literal(2.0), of[0])
        if operation == ca.OP_SQ:
            return self.mul(of[0], of[0])
        if operation == ca.OP_INV:
            return self.div(self.literal(1.0), of[0])
        if operation == ca.OP_SQRT:
            return self.sqrt(of[0])
        found = self.function(operation, of[0]) if operation in UNARY else None
        if found is None:
            # It may still serve values that are needed at order 0 only.
            found = self.node(f"opaque {_NOT_ANALYTIC.get(operation, form)}", of, form)
        return found


def nodes_of(
    function: ca.Function,
    inputs: Sequence[str],
    outputs: Sequence[str],
    hoist: Hoist,
    stages: Mapping[str, int],
    slopes: Mapping[str, str] | None = None,
) -> dict[str, list[Node]]:
    """The outputs of a function as nodes. The input "p" is hoisted; `stages` names the inputs that are unknowns, which
    live in a structure u; slopes: as in `Nodes`.
    """
    nodes, slots = Nodes(hoist, slopes or {}), dict[int, Node]()
    found = {name: [nodes.literal(0.0)] * function.numel_out(k) for k, name in enumerate(outputs)}
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            found[outputs[into[0]]][into[1]] = slots[of[0]]
        elif operation == ca.OP_CONST:
            slots[into[0]] = nodes.literal(function.instruction_constant(k))
        elif operation == ca.OP_INPUT:
            name = inputs[of[0]]
            text = name if name == "t" else f"{name}[{of[1]}]"
            if name == "p":
                slots[into[0]] = nodes.hoisted(text)
            elif name in stages:
                slots[into[0]] = nodes.node("unknown", form=f"u->{text}", stage=stages[name])
            else:
                slots[into[0]] = nodes.node("input", form=text)
        else:
            slots[into[0]] = nodes.operation(operation, [slots[o] for o in of])
    return found
