"""All that is wanted of a system at the points of a motion, in one call: the functions of a graph as programs, made
once and kept with the graph.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.graph.functions import Graph
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.many import LONG, Many, address, many_of
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.sparse import Pattern
from dalembert.mechanics.solve.blocks import WORTHWHILE
from dalembert.mechanics.solve.fundamental import Fundamental

# Python takes about 4 µs to read an instruction: CasADi evaluates a few points of longer functions in that time.
LONGEST = 20_000
# The number of the input p, where it is not 3.
PARAMETERS = {"position": 2, "acceleration": 4}


def along(graph: Graph, name: str) -> Callable[..., list[Array]]:
    """A function of a graph at many points: `f(count, …)`, see `Evaluator.many`."""
    found = graph.kept.get(name)
    if found is None:
        function: ca.Function = getattr(graph, name)
        made = None
        if function.n_instructions() <= LONGEST:
            made = many_of(function, PARAMETERS.get(name, 3))
        found = graph.kept[name] = getattr(graph.evaluators, name).many if made is None else made
    return found


class Curved:
    """Constraints nonlinear in q̈ as C reads them."""

    def __init__(self, graph: Graph) -> None:
        self.program = Many(graph.acceleration, parameters=4, watched=3)
        self._rows = np.array(graph.nonlinear, dtype=LONG)
        self.argument = CurvedArgument(self.program.at, address(self._rows), self._rows.size)
        self.at = ctypes.addressof(self.argument)


class CurvedArgument(ctypes.Structure):
    """da_curved of c/branches.h."""

    _fields_ = (("program", ctypes.c_void_p), ("row", ctypes.c_void_p), ("rows", ctypes.c_long))


class Together:
    """Of a graph whose accelerations follow from the state by the fundamental equation alone; or, with `branches_of`,
    from constraints nonlinear in q̈ too, next to accelerations that select a branch.
    """

    def __init__(self, graph: Graph) -> None:
        """points: (q, v, t, p) -> M, Q, A, b, C, which are watched, E, the inertial part of Q, φ, and (φ̇, ψ). dynamics:
        (q, v, t, p) -> M, Q, A, b, C, all watched. pattern: of a large system, where M and A have entries; None where
        dense algebra is quicker. rows: of A that belong to (φ̇, ψ), those of φ first; one number more, so that it is
        never empty. curved: of constraints nonlinear in q̈, as `Graph.acceleration`; their rows of A and b are zero
        elsewhere. `KeyError` where an operation has no form in C.
        """
        self.n, self.m = graph.dynamics.numel_in(0), graph.dynamics.size1_out(3)
        self.positions = len(graph.position_rows)
        names = ("q", "v", "t", "p")
        q, _, t, p = state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(names)]
        M, Q, A, b = graph.dynamics(*state)
        equations = [ca.sparsify(M), Q, ca.sparsify(A), b, graph.work(*state, 0, 0, 0)[0]]
        E, _, _, inertial = graph.energy(*state)
        rest = [E, inertial, graph.position(q, t, p)[0], graph.velocity(*state)[0]]
        self.rows = np.array([*graph.position_rows, *graph.velocity_rows, 0], dtype=LONG)
        self.pattern = None
        if self.n + self.m >= WORTHWHILE:
            self.pattern = Pattern(*(_entries(matrix) for matrix in (equations[0], equations[2])))
        self._points = ca.Function("points", state, ca.cse([*equations, *rest]))
        self.points = Many(self._points, parameters=3, watched=5)
        self.dynamics = Many(ca.Function("dynamics", state, ca.cse(equations)), parameters=3, watched=5)
        self.curved = Curved(graph) if graph.nonlinear else None
        self._state, self._equations = state, equations
        self._with_fewer: dict[tuple[int, ...], Many] = {}

    def dynamics_of(self, rows: tuple[int, ...]) -> Many:
        """`dynamics` with some of the constraints."""
        found = self._with_fewer.get(rows)
        if found is None:
            M, Q, A, b, C = self._equations
            some = ca.cse([M, Q, A[list(rows), :], b[list(rows)], C])
            found = Many(ca.Function("dynamics", self._state, some), parameters=3, watched=5)
            self._with_fewer[rows] = found
        return found

    @cached_property
    def members(self) -> Many:
        """As `points`, with parameters of its own at each point, p (T, P)."""
        return Many(self._points, parameters=-1, watched=5)

    @cached_property
    def member_rows(self) -> Many:
        """(q, v, t, p) -> A, likewise."""
        return Many(ca.Function("rows", self._state, [self._equations[2]]), parameters=-1)

    def at(self, q: Array, v: Array, t: Array, p: Array) -> list[Array] | None:
        """What `points` gives at T points: M (T, n, n), Q (T, n), A (T, m, n), b (T, m), C (T, n), E (T,), the inertial
        part of Q, φ and (φ̇, ψ); None where one of the first five is not finite.
        """
        base, finite = self.points.block(t.size, (q, v, t, p))
        if not finite:
            return None
        M, Q, A, b, C, E, *rest = self.points.parts(t.size, base)
        return [M.reshape(t.size, self.n, self.n), Q, A.reshape(t.size, self.m, self.n), b, C, E[:, 0], *rest]

    def solve(self, q: Array, v: Array, t: Array, p: Array) -> Fundamental | None:
        """The fundamental equation at T points; None where M, Q, A, b or C is not finite at one of them."""
        base, finite = self.dynamics.block(t.size, (q, v, t, p))
        if not finite:
            return None
        M, Q, A, b, C = self.dynamics.parts(t.size, base)
        M, A = M.reshape(t.size, self.n, self.n), A.reshape(t.size, self.m, self.n)
        return solve_points(M, Q, A, b, C, self.pattern)


def _entries(matrix: ca.SX) -> np.ndarray:
    """Where a matrix may be other than zero."""
    found = np.zeros((matrix.size1(), matrix.size2()), dtype=bool)
    found[matrix.sparsity().get_triplet()] = True
    return found


def together_of(graph: Graph) -> Together | None:
    """None where forces depend on reactions, constraints are nonlinear in q̈, the functions are very long, or the
    library is missing.
    """
    if "together" in graph.kept:
        return graph.kept["together"]
    simple = not (graph.nonlinear or graph.uses_reactions)
    made = graph.kept["together"] = _together(graph) if simple else None
    return made


def branches_of(graph: Graph) -> Together | None:
    """Of constraints nonlinear in q̈; None where there are none, with work of constraints, which has a branch of its
    own, and where `together_of` gives None for other reasons.
    """
    if not graph.nonlinear:
        return None
    if "branches" in graph.kept:
        return graph.kept["branches"]
    state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(("q", "v", "t", "p"))]
    works = graph.uses_reactions or ca.sparsify(graph.work(*state, 0, 0, 0)[0]).nnz() > 0
    made = None if works else _together(graph)
    if made is not None and made.pattern is not None:
        made = None  # dense algebra is not for large systems
    graph.kept["branches"] = made
    return made


def _together(graph: Graph) -> Together | None:
    # Zeros of dense outputs are no instructions here.
    length = graph.dynamics.n_instructions() - graph.dynamics.nnz_out()
    if length > LONGEST or ready_library() is None:
        return None
    try:
        return Together(graph)
    except KeyError:  # an operation that has no form there
        return None
