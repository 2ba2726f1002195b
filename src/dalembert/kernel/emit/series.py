"""Taylor series of the values in a CasADi function, order by order, as C.

With normalized coefficients x_k (the k-th derivative over k!), every instruction gives its coefficient of order k from
those of its arguments, by the rules of Jorba and Zou (Experimental Mathematics 14, 2005, section 2). A product is

    c_k = a_0 b_k + a_k b_0 + Σ a_j b_{k−j},   0 < j < k,

and the others are of the same form: what belongs to order k stands at its ends, and the sum inside needs earlier
orders only. So the sums of all products are taken at once before each order, side by side in vector registers (the
runtime does it, on `left` and `right`), and what remains for each order is straight-line code with no loop in it.

The time, and a coordinate on which nothing acts, are straight lines: their coefficients end with the slope. A sum with
one of them has a single term, its slope times what the other factor had an order before, which is carried in `last`.

Unknowns: some inputs may stand for values found by linear equations among the outputs. They come in stages; before a
stage is solved its unknowns count as zero, which gives the right-hand side, because coefficients of order k are affine
in those of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dalembert.kernel.emit.series_nodes import LINEAR, Node
from dalembert.kernel.emit.straight_line import Hoist
from dalembert.kernel.size import TaylorNotApplicable

# Of a function whose values fit into registers; a longer one is compiled in short pieces, which is much quicker.
SINGLE, PIECE = 1000, 100


@dataclass
class Shared:
    """What the orders hand to each other: the pairs of series whose products are summed, values of order 0, and what
    sums with straight lines need of the order before, with its weight or without.
    """

    pairs: dict[tuple[Node, bool, Node], int] = field(default_factory=dict)
    kept: dict[tuple[Node, str], int] = field(default_factory=dict)
    carried: dict[tuple[Node, bool], int] = field(default_factory=dict)
    # The arrays of C that hold the sums, what is carried, and the factors of products.
    sums: str = "sum"
    lasts: str = "last"
    factors: str = "left"

    def pair(self, left: Node, right: Node, weighted: bool = False) -> str:
        """Σ a_j b_{k−j} over 0 < j < k, with weights j where wanted."""
        if not weighted and left.number > right.number:
            left, right = right, left
        return f"{self.sums}[{self.pairs.setdefault((left, weighted, right), len(self.pairs))}]"

    def last(self, node: Node, weighted: bool) -> str:
        return f"{self.lasts}[{self.carried.setdefault((node, weighted), len(self.carried))}]"

    def order_0(self, node: Node, form: str = "{0}") -> str:
        return f"z[{self.kept.setdefault((node, form), len(self.kept))}]"


class Emission:
    """The lines of C that compute coefficients of one order: order 0, or any higher one k."""

    order, over = "k", "over_k"  # what the order and its inverse are called

    def __init__(self, shared: Shared, hoist: Hoist, first: bool, into: Emission | None = None) -> None:
        """into: among whose lines they stand."""
        self.shared, self.hoist, self.first = shared, hoist, first
        self.lines: list[str] = [] if into is None else into.lines
        self.solved = 0  # stages
        # Values that were made an order before, and where they are carried.
        self.known: frozenset[Node] = frozenset()
        self.known_in = shared
        self._texts: dict[tuple[Node, int], str | None] = {}
        self._names: list[str] = [] if into is None else into._names

    def value(self, node: Node) -> str:
        return self._value(node) or "0.0"

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def _key(self, node: Node) -> tuple[Node, int]:
        # Values that wait for unknowns are made anew when these are there.
        return node, self.solved if node.stage > self.solved else -1

    def _value(self, node: Node) -> str | None:
        """The text of a coefficient, its lines written before; None is zero."""
        stack, wanted = [node], set[Node]()
        while stack:
            top = stack.pop()
            if top not in wanted and self._key(top) not in self._texts:
                wanted.add(top)
                stack.extend(() if top in self.known else top.args)
        for each in sorted(wanted, key=lambda n: n.number):
            self._texts[self._key(each)] = self._assigned(each)
        return self._texts[self._key(node)]

    def _assigned(self, node: Node) -> str | None:
        if node.is_zero or (node.degree == 0 and not self.first):
            return None
        if node.kind == "constant":
            return self._constant(node)
        if node.kind == "unknown" and node.stage > self.solved:
            return None
        if node.kind in ("input", "unknown"):
            return node.form
        if node in self.known:
            text: str | None = self.known_in.last(node, False)
        else:
            text = self._order_0(node) if self.first else self._order_k(node)
        return None if text is None else self._named(text)

    def _named(self, text: str) -> str:
        name = f"w[{len(self._names)}]"
        self._names.append(name)
        self.line(f"{name} = {text};")
        return name

    @property
    def variables(self) -> int:
        """How many there are, among all these lines."""
        return len(self._names)

    def _constant(self, node: Node) -> str:
        literal = node.form[0] in "-(.0123456789"
        return f"({node.form})" if literal else self.hoist.place(node.form)

    def _of(self, node: Node) -> str | None:
        return self._texts[self._key(node)]

    def _order_0(self, node: Node) -> str | None:
        values = [self._of(a) for a in node.args]
        if node.kind in LINEAR and None in values:
            return self._linear(node.kind, values)
        if node.kind == "div" and values[0] is None:
            return None
        return node.form.format(*(v or "0.0" for v in values))

    def _linear(self, kind: str, values: Sequence[str | None]) -> str | None:
        """Sums and products with zeros left out."""
        a, b = values[0], values[-1]
        if kind == "add":
            return a if b is None else b if a is None else f"{a} + {b}"
        if kind == "sub":
            return a if b is None else f"-{b}" if a is None else f"{a} - {b}"
        if kind == "neg":
            return None if a is None else f"-{a}"
        return None if a is None or b is None else f"{a} * {b}"

    def _order_k(self, node: Node) -> str | None:
        kind, shared = node.kind, self.shared
        if kind in ("add", "sub", "neg"):
            return self._linear(kind, [self._of(a) for a in node.args])
        if kind == "scale":
            value = self._of(node.args[1])
            return None if value is None else f"{self._constant(node.args[0])} * {value}"
        if kind.startswith("opaque"):
            name = kind.removeprefix("opaque ")
            raise TaylorNotApplicable(f"the accelerations contain {name}, which has no Taylor series everywhere")
        a, b = node.args[0], node.args[-1]
        ends: list[str] = []

        def end(order_0: Node, order_k: Node, sign: str = "+") -> None:
            value = self._of(order_k)
            if value is not None:
                ends.append(f" {sign} {shared.order_0(order_0)} * {value}")

        if kind == "mul":
            end(a, b)
            end(b, a)
            return self._first(self._sum(a, b) + "".join(ends))
        if kind == "div":
            end(node, b, "-")
            return f"({self._of(a) or '0.0'}{self._sum(b, node, sign='-')}{''.join(ends)}) * {self._inverse(b)}"
        if kind == "sqrt":
            return f"({self._of(a) or '0.0'}{self._sum(node, node, sign='-')}) * {shared.order_0(node, '0.5 / {0}')}"
        if kind == "power":
            end(node, a)
            grown = f"({self._first(self._sum(a, node, True))} * {self.over}{''.join(ends)})"
            rest = f"{self._first(self._sum(node, a, True))} * {self.over}"
            return f"({self._constant(b)} * {grown} - {rest}) * {self._inverse(a)}"
        w = node.integrand
        assert w is not None
        if kind in ("along", "backwards"):
            end(w, a)
            text = f"{self._first(self._sum(a, w, True))} * {self.over}{''.join(ends)}"
            return text if kind == "along" else f"-({text})"
        if kind == "against":
            inside = f"{self._first(self._sum(node, w, True))} * {self.over}"
            return f"({self._of(a) or '0.0'} - {inside}) * {self._inverse(w)}"
        assert kind == "atan2", kind
        end(b, a)
        end(a, b, "-")
        turned = self._sum(a, b, True) + self._sum(b, a, True, "-") + self._sum(node, w, True, "-")
        return f"(({self._first(turned)}) * {self.over}{''.join(ends)}) * {self._inverse(w)}"

    def _sum(self, left: Node, right: Node, weighted: bool = False, sign: str = "+") -> str:
        """± Σ a_j b_{k−j} over 0 < j < k, with weights j where wanted; nothing where one of them does not change."""
        if 0 in (left.degree, right.degree):
            return ""
        if left.slope is not None:  # only a_1, whose weight is one
            return f" {sign} {self._fixed(left.slope)} * {self.shared.last(right, False)}"
        if right.slope is not None:
            return f" {sign} {self._fixed(right.slope)} * {self.shared.last(left, weighted)}"
        return f" {sign} {self.shared.pair(left, right, weighted)}"

    @staticmethod
    def _first(terms: str) -> str:
        """A sum whose first term has its sign before it."""
        return terms.removeprefix(" + ") or "0.0"

    def _fixed(self, node: Node) -> str:
        """Its order 0."""
        return self._constant(node) if node.is_constant else self.shared.order_0(node)

    def _inverse(self, node: Node) -> str:
        return self.shared.order_0(node, "1.0 / {0}")

    def combined(self, factors: Sequence[Node], values: Sequence[str]) -> str:
        """A sum of products: order 0 of the factors, the present order of the others."""
        terms = []
        for factor, value in zip(factors, values, strict=True):
            if value != "0.0" and not factor.is_zero:
                terms.append(f"{self._fixed(factor)} * {value}")
        return " + ".join(terms) or "0.0"

    def keep(self) -> None:
        """At the end of order 0: what higher orders read of it."""
        for (node, form), place in self.shared.kept.items():
            self.line(f"z[{place}] = {form.format(self.value(node))};")

    def hand_on(self) -> None:
        """At the end of order k: the factors of the products to be summed before later orders."""
        done = 0
        self._evaluate_carried()
        while done < len(self.shared.pairs):  # writing one may call for others
            for (left, weighted, right), place in list(self.shared.pairs.items())[done:]:
                self.line(f"left[{place}] = {'k * ' if weighted else ''}{self.value(left)};")
                self.line(f"right[{place}] = {self.value(right)};")
                done += 1
            self._evaluate_carried()
        self._carry()

    def hand_on_once(self, places: dict[tuple[Node, bool], int]) -> list[tuple[int, int]]:
        """The same with each factor in one place of `left`, however many products it has a part in. Returns the places
        of the factors of each product.
        """
        found: list[tuple[int, int]] = []
        self._evaluate_carried()
        while len(found) < len(self.shared.pairs):
            for left, weighted, right in list(self.shared.pairs)[len(found) :]:
                for node, times_k in ((left, weighted), (right, False)):
                    if (node, times_k) not in places:
                        places[node, times_k] = len(places)
                        self._hand_on(f"{self.shared.factors}[{places[node, times_k]}]", node, times_k)
                found.append((places[left, weighted], places[right, False]))
            self._evaluate_carried()
        self._carry()
        return found

    def _evaluate_carried(self) -> None:
        """What `last` will hold, while it still holds what belongs to the order before."""
        done = 0
        while done < len(self.shared.carried):
            node, _ = list(self.shared.carried)[done]
            self.value(node)
            done += 1

    def _carry(self) -> None:
        for (node, weighted), place in self.shared.carried.items():
            self._hand_on(f"{self.shared.lasts}[{place}]", node, weighted)

    def _hand_on(self, place: str, node: Node, weighted: bool) -> None:
        self.line(f"{place} = {f'{self.order} * ' if weighted else ''}{self.value(node)};")


def function_in_pieces(name: str, lines: Sequence[str], parameters: str, arguments: Sequence[str], work: int) -> str:
    """A C function with these lines, which keep their values in w; a long one in pieces, as in `emit`."""
    quiet = "".join(f"    (void){a};\n" for a in (*arguments, "w"))
    space = f"    double w[{max(work, 1)}];\n"
    if len(lines) <= SINGLE:
        # Short enough for the compiler to hold the values in registers.
        body = re.sub(r"\bw\[(\d+)\]", r"w\1", re.sub(r"(?m)^    w\[", "    const double w[", "\n".join(lines)))
        quiet = "".join(f"    (void){a};\n" for a in arguments)
        return f"DA_FN void {name}({parameters})\n{{\n{quiet}{body}\n}}\n"
    pieces = [lines[i : i + PIECE] for i in range(0, len(lines), PIECE)]
    text = [
        f"DA_PIECE void {name}_{i}({parameters}, double *DA_RESTRICT w)\n{{\n{quiet}" + "\n".join(piece) + "\n}\n"
        for i, piece in enumerate(pieces)
    ]
    calls = "".join(f"    {name}_{i}({', '.join(arguments)}, w);\n" for i in range(len(pieces)))
    return "\n".join(text) + f"DA_FN void {name}({parameters})\n{{\n{space}{calls}}}\n"
