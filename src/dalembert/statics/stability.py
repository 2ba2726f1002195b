"""Whether an equilibrium is stable, and how the system swings about it.

Where all forces at rest have a potential and the constraints are on positions, W = V − λφ decides (Lagrange and
Dirichlet): a minimum on the displacements that the constraints allow is stable, with gyroscopic forces as well, and
with forces that depend on velocities where they take energy, see `power`; a direction of falling W is unstable where no
velocities enter. Otherwise the linearised motion decides what it can: an eigenvalue of positive real part is unstable,
all of negative real part are stable.

Directions along which the model is the same everywhere (cyclic coordinates) are neutral: pushed along them, the system
drifts. They are told apart, and the verdict is about all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
import sympy as sp
from scipy.linalg import eig, eigh

from dalembert.arrays import Array
from dalembert.graph.kinks import kink_graph
from dalembert.mechanics.solve.fundamental import is_positive, null_space
from dalembert.model.language.symbols import Reaction
from dalembert.model.system import System
from dalembert.statics.minimum import POTENTIAL, at_a_minimum
from dalembert.statics.statics import Balance, Parts, Statics
from dalembert.statics.symmetries import names_of, neutral_directions

# A curvature is zero if it is this small against the curvatures at a distance NEARBY (in sizes of the coordinates), or
# that small against the terms whose sum it is, or rounding beside the largest. x⁴ solved to 1e-5 has a share of 1e-6;
# x² has 1.
FLAT, NEARBY, CANCELLED = 1e-5, 1e-2, 1e-9
# A curvature decides nothing where it changes by more than this share within what the place is uncertain by: a step of
# Newton's method takes half of the curvature of x³, more of higher powers, and nothing of x² at its minimum.
SURE = 0.25
# Eigenvalues round in proportion to their condition, which is large where several coincide; beside that, this share of
# the largest is zero.
ROUNDING, NEUTRAL = 1e3 * np.finfo(float).eps, 1e-9
# Inertia this small against that at a distance NEARBY is none: sin²θ is 1e-4 there, and below 1e-15 at a pole.
SINGULAR = 1e-10
# Conditions of eigenvalues: at a double one with a single mode, rounding leaves 1e8.
DOUBLE = 1e6

LINEAR = "eigenvalues of the linearised motion"
WITHOUT = "a direction has no inertia here: the mass matrix or the coordinates are singular"
OSCILLATES = "the linearised motion only oscillates, which does not prove stability"
NOTHING = "nothing changes in any direction"


@dataclass(frozen=True)
class Stability:
    """verdict: "stable", "unstable", "undecided", "neutral" (in every direction), "held" (by friction, no displacement
    is left) or "rigid".

    by: how it was decided. curvatures: of the potential on the allowed displacements relative to the inertia, the
    squares of the natural frequencies. eigenvalues: of the linearised motion. frequencies: natural ones, of small
    oscillations without damping, in radians per unit of time, with `modes` (n, k) their shapes where no gyroscopic
    forces act; empty unless stable, or undecided with a linearised motion that only oscillates. damped: frequencies
    with damping, where there is any. free: directions in which nothing decides: with several equilibria side by side,
    or at a degenerate one. neutral: directions along which the model is the same everywhere, named by coordinates: the
    system drifts along them, and the verdict is about the others.
    """

    verdict: str
    by: str
    curvatures: Array
    eigenvalues: np.ndarray
    frequencies: Array
    modes: Array
    free: int = 0
    notes: tuple[str, ...] = field(default=())
    damped: Array = field(default_factory=lambda: np.zeros(0))
    neutral: tuple[str, ...] = ()


KINK = "the model has a kink just here (abs, min, max, a condition): it has no linearisation"
# A switching function counts as zero at a distance of this share of the sizes of the coordinates.
ON_KINK = 1e-9


def _on_a_kink(statics: Statics, at: Balance) -> bool:
    graph = kink_graph(statics.system)
    if graph is None or not graph.places:
        return False
    q, p, rest, s = ca.SX.sym("q", statics.n), statics.p, np.zeros(statics.n), statics.sizes
    g = graph.functions(q, rest, 0.0, p)[list(graph.places)]
    value, slope = ca.Function("side", [q], [g, ca.jacobian(g, q)])(at.q)
    reach = np.abs(np.asarray(slope)) @ np.maximum(s, np.abs(at.q))
    return bool((np.abs(np.asarray(value).ravel()) <= ON_KINK * reach).any())


def stability(statics: Statics, at: Balance, parts: Parts) -> Stability:
    n, system, s = statics.n, statics.system, statics.sizes
    _, _, reach = statics.balance(at.q, at.multipliers, at.friction)
    reach = s[:, None] * reach  # displacements in the sizes of the coordinates
    rows = reach[:, [*parts.rows, *(statics.m + k for k in parts.components)]].T
    N = null_space(rows) if rows.size else np.eye(n)
    nothing, shapeless = np.zeros(0), np.zeros((n, 0))
    if not N.shape[1]:
        held = bool(parts.contacts)
        by = "friction holds it in every direction" if held else "the constraints allow no displacement"
        return Stability("held" if held else "rigid", by, nothing, nothing, nothing, shapeless)
    if _on_a_kink(statics, at):
        return Stability("undecided", KINK, nothing, nothing, nothing, shapeless, N.shape[1])
    M, K, D = (np.outer(s, s) * part for part in statics.linear(at.q, at.multipliers, at.friction))
    position = [k for k in parts.rows if system.constraints[k].level == "position"]
    P = N
    if not parts.contacts and len(position) < len(parts.rows):
        gradients = reach[:, position].T
        P = null_space(gradients) if position else np.eye(n)
    inertia = N.T @ M @ N
    notes = ("sticking contacts count as joints",) if parts.contacts else ()
    if not is_positive(inertia) or _singular(statics, at, N, inertia):
        return Stability("undecided", WITHOUT, nothing, nothing, nothing, shapeless, N.shape[1], notes)
    holonomic = P.shape == N.shape
    cyclic = _cyclic(statics, at, N, K) if holonomic and not system.contacts else np.zeros((n, 0))
    if cyclic.shape[1]:
        # Along them nothing changes, so that they enter no equation: only their velocities do.
        P = N @ null_space((N.T @ cyclic).T)
    sides = names_of(system, cyclic, s)
    motion = _linearise(inertia, N, P, K, D)
    if not holonomic or not has_potential(system):
        return _by_motion(motion, nothing, shapeless, notes, sides)
    stiffness = N.T @ K @ N
    curvatures, shapes = eigh((stiffness + stiffness.T) / 2, inertia)
    modes = s[:, None] * (N @ shapes)
    zero = _flat(statics, at, curvatures, modes)
    zero[np.argsort(np.abs(curvatures))[: len(sides)]] = True  # they are, whatever rounding left
    free = int(zero.sum()) - len(sides)
    drag = shapes.T @ N.T @ D @ N @ shapes
    damping, turning = (drag + drag.T) / 2, (drag - drag.T) / 2
    # Of the swings themselves: what is below is rounding.
    small = 1e-9 * max(float(np.sqrt(np.abs(curvatures).max(initial=0.0))), 1e-300)
    damps, turns = (bool(np.abs(part).max(initial=0.0) > small) for part in (damping, turning))
    fed = np.linalg.eigvalsh(damping).min(initial=0.0) < -small
    rising, falling = bool(np.all(curvatures[~zero] > 0)), bool(np.any(curvatures[~zero] < 0))
    if rising and not free and not fed:
        swings = np.where(zero, 0.0, np.sqrt(np.abs(curvatures)))
        verdict, by, told = at_a_minimum(statics, at, parts, modes, swings, motion.verdict[0] == "stable")
        by = by or LINEAR
        frequencies, shown = swings[~zero], modes[:, ~zero]
        if turns:
            one = np.eye(curvatures.size)
            frequencies, shown = _linearise(one, one, one, np.diag(swings**2), turning).frequencies, shapeless
        if verdict == "unstable":
            frequencies, shown = nothing, shapeless
        elif zero.all():
            verdict, by = ("neutral", NOTHING) if verdict == "stable" else (verdict, by)
        damped = motion.frequencies if damps and verdict == "stable" else nothing
        return Stability(
            verdict, by, curvatures, motion.eigenvalues, frequencies, shown, 0, (*notes, *told), damped, sides
        )  # fmt: skip
    if not damps and not turns:
        verdict = "unstable" if falling else "undecided"
        return Stability(
            verdict, POTENTIAL, curvatures, motion.eigenvalues, nothing, shapeless, free, notes, neutral=sides
        )  # fmt: skip
    return _by_motion(motion, curvatures, shapeless, notes, sides)


def _by_motion(
    motion: _Motion, curvatures: Array, shapeless: Array, notes: tuple[str, ...], sides: tuple[str, ...]
) -> Stability:
    """What the linearised motion decides."""
    nothing = np.zeros(0)
    verdict, free = motion.verdict
    if motion.oscillates:
        return Stability(
            verdict, LINEAR, curvatures, motion.eigenvalues, motion.frequencies, shapeless, 0, (*notes, OSCILLATES),
            neutral=sides,
        )  # fmt: skip
    damped = motion.frequencies if verdict == "stable" else nothing
    return Stability(
        verdict, LINEAR, curvatures, motion.eigenvalues, nothing, shapeless, free, notes, damped, sides
    )  # fmt: skip


def _cyclic(statics: Statics, at: Balance, N: Array, K: Array) -> Array:
    """Neutral directions (n, k) among the displacements N, all in sizes; they are sought where a direction is flat."""
    flat = np.linalg.svd(N.T @ K @ N, compute_uv=False)
    if flat.min() > FLAT * max(float(flat.max()), 1e-300):
        return np.zeros((statics.n, 0))
    found = neutral_directions(statics.system, at.q, statics.sizes, statics.p)
    inside = N @ (N.T @ found)
    # A symmetry of the constraints leads along them.
    return found if np.abs(inside - found).max(initial=0.0) < 1e-6 else np.zeros((statics.n, 0))


def has_potential(system: System) -> bool:
    """Whether all forces at rest come from a potential: the impressed ones have no curl, the constraints do no work."""
    rest = dict.fromkeys(system.velocities, sp.S.Zero)
    forces = [system.forces.get(q, sp.S.Zero).xreplace(rest) for q in system.coordinates]
    for law in system.works:
        for work in law.work.values():
            at_rest = work.xreplace({**rest, **dict.fromkeys(work.atoms(Reaction), sp.S.One)})
            if at_rest != 0:
                return False
    for i, F in enumerate(forces):
        for j in range(i):
            curl = sp.diff(F, system.coordinates[j]) - sp.diff(forces[j], system.coordinates[i])
            if curl != 0 and sp.simplify(curl) != 0:
                return False
    return True


@dataclass(frozen=True)
class _Motion:
    """The linearised motion: its eigenvalues, how well each is known, and the largest of their conditions."""

    eigenvalues: np.ndarray
    known: Array
    condition: float

    @property
    def verdict(self) -> tuple[str, int]:
        """The verdict, and how many eigenvalues decide nothing."""
        real = self.eigenvalues.real
        neutral = np.abs(real) <= self.known
        if np.any(real[~neutral] > 0):
            return "unstable", int(neutral.sum())
        return ("undecided" if neutral.any() else "stable"), int(neutral.sum())

    @property
    def frequencies(self) -> Array:
        return np.sort(self.eigenvalues.imag[self.eigenvalues.imag > self.known])

    @property
    def oscillates(self) -> bool:
        """All eigenvalues imaginary, none zero, and none shared by motions that grow, as at a double one."""
        real, imaginary = np.abs(self.eigenvalues.real), np.abs(self.eigenvalues.imag)
        return bool(np.all(real <= self.known) and np.all(imaginary > self.known) and self.condition < DOUBLE)


def _linearise(inertia: Array, N: Array, P: Array, K: Array, D: Array) -> _Motion:
    """Of ẏ = Pᵀ N z, Nᵀ M N ż = −Nᵀ(K P y + D N z), displacements in P, velocities in N."""
    k, m = P.shape[1], N.shape[1]
    stiffness, damping = np.linalg.solve(inertia, N.T @ K @ P), np.linalg.solve(inertia, N.T @ D @ N)
    # Displacements in a unit of time of the motion itself.
    rate = float(np.sqrt(np.linalg.norm(stiffness))) or 1.0
    matrix = np.zeros((k + m, k + m))
    matrix[:k, k:] = rate * P.T @ N
    matrix[k:, :k] = -stiffness / rate
    matrix[k:, k:] = -damping
    found, left, right = eig(matrix, left=True, right=True)
    condition = 1 / np.maximum(np.abs(np.einsum("ij,ij->j", left.conj(), right)), 1e-300)
    known = np.maximum(ROUNDING * np.linalg.norm(matrix) * condition, NEUTRAL * np.abs(found).max(initial=0.0))
    order = np.lexsort((found.imag, found.real))
    return _Motion(found[order], known[order], float(condition.max(initial=1.0)))


def _singular(statics: Statics, at: Balance, N: Array, inertia: Array) -> bool:
    """Whether a displacement has inertia close by but none here, as the azimuth at a pole; rounding may leave some."""
    s = statics.sizes
    least, directions = np.linalg.eigh(inertia)
    way = s * (N @ directions[:, 0])
    near = 0.0
    for step in np.vstack([np.diag(s), -np.diag(s)]):
        there = statics.linear(at.q + NEARBY * step, at.multipliers, at.friction)[0]
        near = max(near, float(way @ there @ way) if np.isfinite(there).all() else 0.0)
    return bool(least[0] <= SINGULAR * near)


def _flat(statics: Statics, at: Balance, curvatures: Array, modes: Array) -> np.ndarray:
    """Which curvatures are zero, or not known."""
    _, K, _ = statics.linear(at.q, at.multipliers, at.friction)
    _, own, _ = statics.linear(at.q, np.zeros(statics.m), np.zeros(statics.columns))
    largest = float(np.abs(curvatures).max(initial=0.0))
    off = _pushes_left(statics, at, K)
    flat = []
    for curvature, mode in zip(curvatures, modes.T, strict=True):
        reach = NEARBY / max(float(np.abs(mode / statics.sizes).max()), 1e-300)
        near = _curvatures_aside(statics, at, mode, reach)
        terms = abs(float(mode @ own @ mode)) + abs(float(mode @ (K - own) @ mode))
        least = max(FLAT * float(np.abs(near).max()), CANCELLED * terms, ROUNDING * largest)
        if abs(curvature) > least:
            aside = _curvatures_aside(statics, at, mode, float(np.abs(mode) @ off) / abs(curvature))
            flat.append(bool(np.abs(aside - mode @ K @ mode).max() > SURE * abs(curvature)))
        else:
            flat.append(True)
    return np.array(flat, dtype=bool)


def _curvatures_aside(statics: Statics, at: Balance, mode: Array, reach: float) -> Array:
    """Along a mode, so far to both sides; zero where there is none."""
    found = []
    for way in (reach, -reach):
        _, K, _ = statics.linear(at.q + way * mode, at.multipliers, at.friction)
        found.append(float(mode @ K @ mode) if np.isfinite(K).all() else 0.0)
    return np.array(found)


def _pushes_left(statics: Statics, at: Balance, K: Array) -> Array:
    """What the balance leaves of each force, its rounding included."""
    left, _, reach = statics.balance(at.q, at.multipliers, at.friction)
    loads = np.abs(reach) @ np.abs(np.concatenate([at.multipliers, at.friction]))
    return np.asarray(np.abs(left) + np.finfo(float).eps * (loads + np.abs(K) @ np.abs(at.q)))
