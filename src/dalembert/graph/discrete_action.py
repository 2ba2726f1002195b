"""The action of a short piece of a path, as CasADi functions: what variational integrators and paths between two places
are made of.

On a piece of duration h a path is the polynomial of degree s through the control points q_0 … q_s at Lobatto's places
c_i. Its action, by Gauss's rule, and the derivatives of that:

    S(q_0 … q_s) = h Σ_k b_k L(q, q̇, t)|_k
    D_i = ∂S/∂q_i + h Σ_k b_k ℓ_i(k) F|_k + h w_i λ_i ∂φ/∂q(q_i)          F: forces without a potential (d'Alembert)

with constraints φ(q_i, t_i) = 0 at the control points, w_i Lobatto's weights. D_i = 0 at inner points; −D_0 and D_s are
the momenta at the ends. The order is 2s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
import sympy as sp
from numpy.polynomial import legendre

from dalembert.arrays import Array
from dalembert.graph.variables import Variables, variables_of
from dalembert.mechanics.standard_form import lagrangian
from dalembert.model.system import System


@dataclass(frozen=True, eq=False)
class Piece:
    """One piece of polynomial degree s, for n coordinates and the m constraints in use; x holds q_0 … q_s one after the
    other, lam the multipliers λ_0 … λ_s. Its functions are made when they are first used: differentiating D takes a
    second for large systems.
    """

    degree: int
    places: Array
    x: ca.SX
    lam: ca.SX
    t0: ca.SX
    h: ca.SX
    known: Variables
    parts: _Parts
    S: ca.SX
    D: ca.SX
    phi: ca.SX
    works: tuple[ca.SX, ca.SX]

    @cached_property
    def action(self) -> ca.Function:
        """(x, t0, h, p) → S."""
        return ca.Function("action", [self.x, self.t0, self.h, self.known.p], [self.S])

    @cached_property
    def balance(self) -> ca.Function:
        """(x, lam, t0, h, p) → D (n(s+1)), φ at the control points (m(s+1)), ∂D/∂x, ∂D/∂lam, ∂φ/∂x."""
        slopes = [ca.jacobian(self.D, self.x), ca.jacobian(self.D, self.lam), ca.jacobian(self.phi, self.x)]
        outputs = [ca.densify(part) for part in (self.D, self.phi, *slopes)]
        return ca.Function("balance", self._inputs, outputs)

    @cached_property
    def work(self) -> ca.Function:
        """(x, lam, t0, h, p) → work of impressed forces with explicit time dependence, and of constraints that move."""
        return ca.Function("work", self._inputs, list(self.works))

    @cached_property
    def step(self) -> ca.Function:
        """(u, q0, v0, t0, h, p) → residual, ∂residual/∂u of one step from (q_0, v_0), u = (q_1 … q_s, v_1, λ_0 … λ_s).

        Momenta meet at both ends, the action is stationary between, the constraints hold at every control point, and
        with their rate at the end.
        """
        n, m, x, p = self.known.q.numel(), self.lam.numel() // (self.degree + 1), self.x, self.known.p
        v0, v1 = ca.SX.sym("v0", n), ca.SX.sym("v1", n)
        q0, q1, t1 = x[:n], x[n * self.degree :], self.t0 + self.h
        start, end = self.parts.momentum(q0, v0, self.t0, p), self.parts.momentum(q1, v1, t1, p)
        inner, last = self.D[n : n * self.degree], self.D[n * self.degree :]
        rate = self.parts.rate(q1, v1, t1, p)
        residual = ca.vertcat(start + self.D[:n], inner, last - end, self.phi[m:], rate)
        u = ca.vertcat(x[n:], v1, self.lam)
        outputs = [ca.densify(residual), ca.densify(ca.jacobian(residual, u))]
        return ca.Function("step", [u, q0, v0, self.t0, self.h, p], outputs)

    @cached_property
    def velocity(self) -> ca.Function:
        """((v, κ), q, momentum, t, p) → residual and its derivative: the velocity that a momentum belongs to, on the
        constraints.
        """
        q, v, time, p = self.known.q, self.known.v, self.known.time, self.known.p
        momentum, kappa = ca.SX.sym("momentum", q.numel()), ca.SX.sym("kappa", self.lam.numel() // (self.degree + 1))
        reaction = self.parts.constraints(q, time, p)[1].T @ kappa if kappa.numel() else 0
        missing = self.parts.momentum(q, v, time, p) - momentum - reaction
        residual, u = ca.vertcat(missing, self.parts.rate(q, v, time, p)), ca.vertcat(v, kappa)
        outputs = [ca.densify(residual), ca.densify(ca.jacobian(residual, u))]
        return ca.Function("velocity", [u, q, momentum, time, p], outputs)

    @property
    def _inputs(self) -> list[ca.SX]:
        return [self.x, self.lam, self.t0, self.h, self.known.p]


@dataclass(frozen=True)
class _Parts:
    """energies: (q, v, t, p) → L, F, −∂L/∂t. momentum: ∂L/∂q̇. constraints: (q, t, p) → φ, ∂φ/∂q, ∂φ/∂t. rate: φ̇."""

    energies: ca.Function
    momentum: ca.Function
    constraints: ca.Function
    rate: ca.Function


def lobatto(degree: int) -> tuple[Array, Array]:
    """Places and weights of Lobatto's rule with degree + 1 points on [0, 1]."""
    inner = legendre.legroots(legendre.legder(np.eye(degree + 1)[degree])) if degree > 1 else np.zeros(0)
    places = np.concatenate([[-1.0], np.sort(np.real(inner)), [1.0]])
    places = (places - places[::-1]) / 2  # symmetric to the last digit, so that a step back undoes a step
    heights = legendre.legval(places, np.eye(degree + 1)[degree])
    return (places + 1) / 2, 1 / (degree * (degree + 1) * heights**2)


def piece(system: System, degree: int, rows: Sequence[int]) -> Piece:
    """The functions of a piece of polynomial degree s, with the constraints of the given numbers."""
    known = variables_of(system)
    n, s, m = len(system.coordinates), degree, len(rows)
    places, weights = lobatto(s)
    parts = _parts(system, known, rows)
    x, lam = ca.SX.sym("x", n * (s + 1)), ca.SX.sym("lam", m * (s + 1))
    t0, h, p = ca.SX.sym("t0"), ca.SX.sym("h"), known.p
    points = [x[n * i : n * (i + 1)] for i in range(s + 1)]
    multipliers = [lam[m * i : m * (i + 1)] for i in range(s + 1)]

    gauss, shares = np.polynomial.legendre.leggauss(s)
    S, pushed, done = ca.SX(0), [ca.SX.zeros(n) for _ in points], ca.SX(0)
    for place, share in zip((gauss + 1) / 2, shares / 2, strict=True):
        value, slope = _shape(places, float(place))
        q = sum(value[i] * points[i] for i in range(s + 1))
        v = sum(slope[i] * points[i] for i in range(s + 1)) / h
        L, F, rest = parts.energies(q, v, t0 + float(place) * h, p)
        S += h * share * L
        done += h * share * (ca.dot(F, v) + rest)
        for i in range(s + 1):
            pushed[i] += h * share * value[i] * F
    gradient = ca.gradient(S, x)
    balances, closures, moved = [], [], ca.SX(0)
    for i in range(s + 1):
        phi, phi_q, phi_t = parts.constraints(points[i], t0 + float(places[i]) * h, p)
        reaction = h * float(weights[i]) * phi_q.T @ multipliers[i] if m else ca.SX.zeros(n)
        balances.append(gradient[n * i : n * (i + 1)] + pushed[i] + reaction)
        closures.append(phi)
        moved += -h * float(weights[i]) * ca.dot(multipliers[i], phi_t) if m else 0
    D, phis = ca.vertcat(*balances), ca.vertcat(*closures) if m else ca.SX(0, 1)
    return Piece(s, places, x, lam, t0, h, known, parts, S, D, phis, (done, moved))


def _parts(system: System, known: Variables, rows: Sequence[int]) -> _Parts:
    q, v, time, p, convert = known.q, known.v, known.time, known.p, known.convert
    L = convert(lagrangian(system))
    F = convert.column([system.forces.get(c, sp.S.Zero) for c in system.coordinates])
    phi = convert.column([system.constraints[k].expression for k in rows])
    phi_q, phi_t = ca.jacobian(phi, q), ca.jacobian(phi, time)
    state = [q, v, time, p]
    return _Parts(
        ca.Function("energies", state, [L, F, -ca.jacobian(L, time)]),
        ca.Function("momentum", state, [ca.gradient(L, v)]),
        ca.Function("constraints", [q, time, p], [phi, phi_q, phi_t]),
        ca.Function("rate", state, [phi_q @ v + phi_t]),
    )


def _shape(places: Array, at: float) -> tuple[Array, Array]:
    """Lagrange's polynomials of the places, and their slopes, at a place."""
    value, slope = np.empty(places.size), np.empty(places.size)
    for i, own in enumerate(places):
        others = np.delete(places, i)
        factors = (at - others) / (own - others)
        value[i] = np.prod(factors)
        slope[i] = sum(np.prod(np.delete(factors, j)) / (own - other) for j, other in enumerate(others))
    return value, slope
