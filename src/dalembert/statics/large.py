"""`system.equilibrium` of large systems: let down to rest near the configuration given, by sparse factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.at_rest import AtRest
from dalembert.graph.structure.read import structured_of
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.multipliers import MultiplierPattern, Multipliers
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.motion.state.project import size_of
from dalembert.statics.descend import descend
from dalembert.statics.result import Equilibria, Equilibrium
from dalembert.statics.stability import Stability

BY = "curvature of the potential on the constraints"
NO_FREQUENCIES = "natural frequencies are not computed for systems of this size"
NOT_REACHED = "no configuration at rest was reached from the one given; begin nearer to one"
# What is held counts with this many times the largest curvature, so that only displacements along it decide; and
# squares of frequencies this small against the largest one are zero.
STIFF, FLAT = 1e6, 1e-9


def large_at_rest(system: System) -> AtRest | None:
    """The system as sparse arrays; None where it is small, or has more than a potential, loads that stay the same, and
    ideal constraints on positions.
    """
    if not is_large(system) or needs_legs(system) or system.nonideal or ready_library() is None:
        return None
    if any(constraint.level != "position" for constraint in system.constraints):
        return None
    structured = structured_of(system)
    if structured is None or structured.moving:
        return None
    rest = AtRest(structured, system.parameter_values())
    return None if rest.loads is None else rest


def large_equilibrium(system: System, rest: AtRest) -> Equilibria:
    """system: at rest, at the configuration from which to begin."""
    q = system.initial_values()[0]
    found = descend(rest, q)
    if found is None:
        return Equilibria(system, (), 1, NOT_REACHED)
    held = rest.held(found.z)
    multipliers, full = _shortest(rest.slopes(found.z)[0], held.G, found.multipliers)
    answer = Equilibrium(
        system=system,
        q=found.z[: rest.n].copy(),
        multipliers=multipliers[: rest.m],
        gradients=_gradients(rest, held.G),
        nonideal=np.zeros(rest.n),
        determined=full,
        stability=_stability(rest, found.z, multipliers, held.G),
        sizes=np.full(rest.n, size_of(found.z[: rest.n], q)),
    )
    return Equilibria(system, (answer,), 1)


def _shortest(slopes: Array, G: Any, multipliers: Array) -> tuple[Array, bool]:
    """The shortest multipliers that balance the slopes, rows counted with length one, and whether they are the only
    ones.
    """
    if not multipliers.size:
        return multipliers, True
    S = (G @ G.T).tocoo()
    own, w = _numbers(S, G @ slopes)
    own.solve(w)
    if own.rank() == multipliers.size:
        return multipliers, True
    return -w[own.pattern.unknowns :], False


def _numbers(S: Any, right: Array) -> tuple[Multipliers, Array]:
    """A symmetric matrix and a right-hand side as `Multipliers` reads them."""
    lower = S.row >= S.col
    count, size = int(lower.sum()), right.size
    entries = np.stack([S.row[lower], S.col[lower], np.arange(count)], axis=1)
    pattern = MultiplierPattern(entries, range(count, count + size), count + size)
    return Multipliers(pattern), np.concatenate([-S.data[lower], right, np.zeros(size)])


def _gradients(rest: AtRest, G: Any) -> Any:
    """∂φ/∂q (m, n), sparse: what a constraint asks of a defined quantity it asks of those that define it."""
    A, n = G[: rest.m], rest.n
    if rest.nz == n or not rest.m:
        return A[:, :n]
    from scipy.sparse.linalg import spsolve

    # G on definitions is [−J, I − J']: the change of the defined ones is −(I − J')⁻¹ (−J) dq.
    through = spsolve(G[rest.m :, n:].T.tocsc(), A[:, n:].T.tocsc()).reshape(rest.nz - n, rest.m)
    return (A[:, :n] - (G[rest.m :, :n].T @ through).T).tocsr()


def _stability(rest: AtRest, z: Array, multipliers: Array, G: Any) -> Stability:
    """By how many directions the potential falls along, or stays: counted by the signs of pivots (Sylvester's law)."""
    from scipy.sparse import diags_array

    curvature, masses = rest.curvature(z, multipliers), rest.masses(z)
    largest = float(np.abs(curvature.data).max(initial=0.0)) or 1.0
    lengths = (G**2).sum(axis=1)
    rows = diags_array(1.0 / np.where(lengths > 0, lengths, 1.0))
    stiff = curvature + (STIFF * largest) * (G.T @ rows @ G)
    small = (FLAT * largest / float(np.abs(masses.data).max(initial=1e-300))) * masses
    falling, doubtful = (_negative((stiff + sign * small).tocoo()) for sign in (1.0, -1.0))
    verdict = "unstable" if falling else "undecided" if doubtful else "stable"
    none = np.zeros(0)
    return Stability(
        verdict, BY, none, none.astype(complex), none, np.zeros((rest.n, 0)), doubtful - falling, (NO_FREQUENCIES,)
    )


def _negative(matrix: Any) -> int:
    """How many eigenvalues of a symmetric matrix are negative."""
    own, w = _numbers(matrix, np.zeros(matrix.shape[0]))
    own.solve(w)
    return own.negative()
