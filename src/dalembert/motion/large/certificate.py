"""The certificate of a large motion: the same measures, by products with the sparse equations that the model gives.

The elimination that made the motion has no part in it: forces are balanced by virtual work along the definitions, and
at some points the equations are solved by another factorisation, of the whole matrix with pivoting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.energy import beyond_rounding
from dalembert.motion.certificate.thresholds import thresholds
from dalembert.motion.large.forces import PANEL, Entries, EntriesOf, at_least_a_share, forces_at
from dalembert.motion.large.repeat import evenly, repeat_and_consistency
from dalembert.motion.large.state import LargeState
from dalembert.motion.result.certificate import MEASURES, Certificate
from dalembert.motion.state.project import size_of

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# So many points are solved again.
SOLVED = 4
# Where constraints may depend on each other: what stands in the corner of their equations, relative to their lengths,
# and how often what it changes is made up for. Each time takes a factor away, 1e-4 for the least directions of a chain
# of a hundred links.
CORNER, REFINED = 1e-8, 30


def certify_large(motion: Motion, at: LargeState) -> Certificate:
    """Measured on the motion's own numbers: its accelerations, multipliers and forces at every point."""
    limits = thresholds(motion.rtol, motion.timing.steps)
    entries = EntriesOf(at)
    measured: dict[str, Any] = {
        **_constraints(motion, at, entries),
        **_balance(motion, at, entries),
        "gauss": _gauss(motion, entries),
        "energy": _energy(motion, at),
        "contact": 0.0,
        "impact": 0.0,
    }
    measured["repeat"], measured["consistency"] = repeat_and_consistency(motion, at, entries, limits["repeat"])
    unique = _is_unique(motion, at)
    return Certificate(
        **measured,
        rank_min=int(motion.rank.min()),
        rank_max=int(motion.rank.max()),
        unique=unique,
        holds=unique and all(measured[name] <= limits[name] for name in MEASURES),
        thresholds=limits,
    )


def _balance(motion: Motion, at: LargeState, entries: EntriesOf) -> dict[str, float]:
    """A z̈ = b; M q̈ as the sum of the forces that the motion has, each of them as the model gives it; and the virtual
    work of what is left when impressed forces and inertia are taken together, along the definitions.
    """
    found = {"acceleration": 0.0, "forces": 0.0, "virtual_work": 0.0}
    for some in entries.chunks(motion.t.size):
        here = entries.at_points(motion.q[some], motion.v[some], motion.t[some])
        a = here.accelerations_of_all(motion.a[some].ravel(), here.gamma)
        given = forces_at(here, a, motion.multipliers[some].ravel())
        size = at_least_a_share(given.size.reshape(here.points, -1)).ravel()
        told = {name: getattr(motion, name)[some].ravel() for name in ("impressed", "inertial", "ideal", "nonideal")}
        apart = [getattr(given, name) - told[name] for name in ("impressed", "inertial", "ideal")]
        apart += [told["nonideal"], given.inertia - sum(told.values())]
        worst = {
            "acceleration": given.missed,
            "forces": max(float((np.abs(part) / size).max()) for part in apart),
            "virtual_work": float((np.abs(given.unbalanced) / size).max()),
        }
        found = {name: max(found[name], worst[name]) for name in found}
    return found


def _is_unique(motion: Motion, at: LargeState) -> bool:
    """Whether masses are positive at every point: then accelerations are unique, whatever the rank of A."""
    for k in range(motion.t.size):
        at.solve(motion.q[k], motion.v[k], float(motion.t[k]))
        if not at.has_masses():
            return False
    return True


def _constraints(motion: Motion, at: LargeState, entries: EntriesOf) -> dict[str, float]:
    """φ and (φ̇, ψ) relative to the gradient times the size of the state."""
    if not at.m:
        return {"position": 0.0, "velocity": 0.0}
    found = {"position": 0.0, "velocity": 0.0}
    places = {"position": at.model.sums.gaps, "velocity": at.model.sums.rate_gaps}
    first = entries.at(motion.q[0], motion.v[0], float(motion.t[0]))
    lengths = np.sqrt((first.A**2).sum(axis=1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    for k in range(motion.t.size):
        w = at.run("sums", motion.q[k], motion.v[k], float(motion.t[k]))
        for name, where in places.items():
            found[name] = max(found[name], float((np.abs(w[where]) / lengths).max()))
    found["position"] /= size_of(motion.q, motion.v)
    found["velocity"] /= size_of(motion.v, motion.q)
    return found


def _gauss(motion: Motion, entries: EntriesOf) -> float:
    """How far accelerations are from those of the whole equations, solved with pivoting, in the metric of masses."""
    worst = 0.0
    for k in evenly(motion.t.size, SOLVED):
        here = entries.at(motion.q[k], motion.v[k], float(motion.t[k]))
        best = _solved_whole(here)
        own = here.accelerations_of_all(motion.a[k], here.gamma)
        M = here.M
        apart = own - best
        size = np.sqrt(abs(float(best @ (M @ best)))) + np.sqrt(abs(float(own @ (M @ own))))
        # At rest that is rounding of what the forces would make of it.
        held = here.A.T @ motion.multipliers[k]
        forces = here.on_masses(np.abs(here.impressed) + np.abs(held))
        size = max(size, float(np.sqrt(forces @ here.accelerations_alone(forces))))
        worst = max(worst, np.sqrt(abs(float(apart @ (M @ apart)))) / (size or 1.0))
    return worst


def _solved_whole(entries: Entries) -> Array:
    """The accelerations of all quantities, with a multiplier for each definition too: [M Aᵀ; A −δ], with pivoting, and
    what is missed without δ made up for until it no longer falls. So constraints may depend on each other.
    """
    from scipy.sparse import block_array, csr_array, diags_array, eye_array, hstack
    from scipy.sparse.linalg import splu

    nz, n = entries.nz, entries.n
    m, defined = entries.b.size, entries.nz - entries.n
    K, right = entries.K, [entries.inertia + entries.impressed, entries.b]
    masses = entries.K.diagonal()[:nz]
    # Of the length of each row in the metric of its masses, the least of all where a quantity has none of its own.
    own = np.where(masses > 0, masses, masses[masses > 0].min(initial=1.0))
    corner = np.concatenate([np.zeros(nz), -CORNER * ((entries.A**2) @ (1.0 / own))])
    if defined:
        G = hstack([eye_array(nz, format="csr")[n:, :] - entries.J, csr_array((defined, m))])
        K = block_array([[K, G.T], [G, None]])
        right.append(entries.gamma)
        corner = np.concatenate([corner, np.zeros(defined)])
    wanted = np.concatenate(right)
    solve = splu((K + diags_array(corner)).tocsc(), panel_size=PANEL).solve
    found = solve(wanted)
    missed = wanted - K @ found
    for _ in range(REFINED):
        more = found + solve(missed)
        left = wanted - K @ more
        if not np.abs(left).max() < np.abs(missed).max():
            break
        found, missed = more, left
    return np.asarray(found[:nz])


def _energy(motion: Motion, at: LargeState) -> float:
    """|E(t) − E(0) − work| against the largest kinetic energy, change of potential, or work; and E itself."""
    found = [at.energies(motion.q[k], motion.v[k], float(motion.t[k])) for k in range(motion.t.size)]
    energy, kinetic = np.array(found).T
    rest = energy - kinetic
    size = max(kinetic.max(), np.abs(rest - rest[0]).max(), np.abs(motion.work).max(initial=0.0))
    size = max(size, 1e-7 * np.abs(energy).max())
    missed = beyond_rounding(np.abs(energy - energy[0] - motion.work.sum(axis=1)), energy).max()
    missed = max(missed, np.abs(energy - motion.energy).max())
    return float(missed / size) if size > 0 else 0.0
