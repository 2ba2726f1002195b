"""The instants of a motion with contacts at many points, each in a mode of its own, in one call of C (c/modes.h)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.graph.functions import Graph
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.many import Many, address, entry
from dalembert.kernel.ready.together import LONGEST

# Larger systems fall into parts, which NumPy solves by themselves.
MOST = 24


@dataclass(frozen=True)
class Instants:
    """q̈ (T, n), λ (T, m) and where elimination has found them; M (T, n, n), Q (T, n), A (T, m, n) there."""

    acceleration: Array
    multipliers: Array
    served: NDArray[np.bool_]
    M: Array
    Q: Array
    A: Array


class Modes:
    """Of a graph whose parameters say which mode a state is in, and whose work is affine in the multipliers."""

    def __init__(self, graph: Graph) -> None:
        """`KeyError` where an operation has no form in C."""
        self.n, self.m = graph.dynamics.numel_in(0), graph.dynamics.size1_out(3)
        state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(("q", "v", "t", "p"))]
        M, Q, A, b = graph.dynamics(*state)
        C, _, slope = graph.work(*state, 0, 0, 0)
        equations = ca.cse([ca.sparsify(M), Q, ca.sparsify(A), b, C, ca.sparsify(slope)])
        self._program = Many(ca.Function("mode", state, equations), parameters=-1, watched=4)

    def solve(self, q: Array, v: Array, t: Array, p: Array, spread: float) -> Instants | None:
        """At states q, v (T, n) and t (T,), with parameters p (T, …); None where M, Q, A or b is not finite at one of
        them. spread: pivots may lie so far apart.
        """
        run = entry("da_eliminate", "lllpdpppp")
        if run is None:
            return None
        count, n, m = t.size, self.n, self.m
        base, finite = self._program.block(count, [np.ascontiguousarray(x) for x in (q, v, t, p)])
        if not finite:
            return None
        found, served = np.empty(count * (n + m)), np.empty(count, dtype=bool)
        room, start = np.empty(2 * (n + m) ** 2 + 8 * (n + m)), address(found)
        run(count, n, m, address(base), spread, start, start + 8 * count * n, address(served), address(room))
        M, Q, A = self._program.parts(count, base)[:3]
        return Instants(
            found[: count * n].reshape(count, n),
            found[count * n :].reshape(count, m),
            served,
            M.reshape(count, n, n),
            Q,
            A.reshape(count, m, n),
        )

    def stretches(self, p: Array, t: Array, y: Array, length: Array, steps: int, spread: float) -> Array | None:
        """Where stretches that begin at states y (B, 2n) and times t (B,) end after a `length` (B,), each with its own
        parameters p (B, …): by so many steps of the classical Runge–Kutta method. No numbers where there is no
        acceleration on the way.
        """
        run = entry("da_mode_stretches", "plllplpppldppp")
        if run is None:
            return None
        count, n, m, program = t.size, self.n, self.m, self._program
        end = np.array(y, dtype=float, order="C")
        p, t, length = (np.ascontiguousarray(x, dtype=float) for x in (p, t, length))
        size = program.registers + 2 * (n + m) ** 2 + 8 * (n + m) + count * (7 * n + m + 1)
        data, room, served = np.zeros(program.ends[-1] * count), np.empty(size), np.empty(count, dtype=bool)
        run(
            program.at, count, n, m, address(p), p.shape[1], address(t), address(end), address(length), steps, spread,
            address(data), address(room), address(served),
        )  # fmt: skip
        return end

    def halved(
        self,
        p: Array,
        t: Array,
        start: Array,
        length: Array,
        wanted: Array,
        least: Array,
        rules: tuple[float, float, float, float],
    ) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]] | None:
        """States (B, 2n) at the ends of such stretches, in 1, 2, 4, … steps until two results agree; how far they may
        be from right, which are judged, and where there is no acceleration on the way. wanted (B, 2n): how near; least
        (B,): of steps. rules: as da_halved of c/modes.h has them, from `spread` on.
        """
        run = entry("da_halve_stretches", "p")
        if run is None:
            return None
        count, n, m, program = t.size, self.n, self.m, self._program
        given = [np.ascontiguousarray(x, dtype=float) for x in (p, t, start, length, wanted, least)]
        working = program.registers + 2 * (n + m) ** 2 + 8 * (n + m) + count * (7 * n + m + 1)
        sizes = [4 * count * n, count * (p.shape[1] + 6 * n + 3), program.ends[-1] * count, working]
        block, flags = np.zeros(sum(sizes)), np.empty((3, count), dtype=bool)
        begin, flag = address(block), address(flags)
        room, data, registers = (begin + 8 * sum(sizes[:k]) for k in (1, 2, 3))
        argument = _Halved(
            program.at, count, n, m, p.shape[1], *map(address, given), *rules,
            begin, begin + 16 * count * n, flag, flag + count, flag + 2 * count, data, registers, room,
        )  # fmt: skip
        run(ctypes.addressof(argument))
        ends = block[: 4 * count * n].reshape(2, count, 2 * n)
        return ends[0], ends[1], flags[0], flags[1]


class _Halved(ctypes.Structure):
    """da_halved of c/modes.h."""

    _fields_ = (
        ("program", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("count", "n", "m", "parameters")),
        *((name, ctypes.c_void_p) for name in ("p", "t", "start", "length", "wanted", "least")),
        *((name, ctypes.c_double) for name in ("spread", "most", "richardson", "converges")),
        *(
            (name, ctypes.c_void_p)
            for name in ("end", "allowed", "judged", "lost", "served", "data", "registers", "room")
        ),
    )


def modes_of(graph: Graph) -> Modes | None:
    """None where the equations are not linear, the functions or the system are large, or the library is missing."""
    if "modes" in graph.kept:
        return graph.kept["modes"]
    made = None
    linear = not graph.nonlinear and (not graph.uses_reactions or graph.affine)
    small = graph.dynamics.numel_in(0) + graph.dynamics.size1_out(3) <= MOST
    length = graph.dynamics.n_instructions() - graph.dynamics.nnz_out() + graph.work.n_instructions()
    if linear and small and length <= LONGEST and ready_library() is not None:
        try:
            made = Modes(graph)
        except KeyError:  # an operation that has no form there
            made = None
    graph.kept["modes"] = made
    return made
