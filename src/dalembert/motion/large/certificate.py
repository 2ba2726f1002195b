"""The certificate of a large motion: the same measures, by products with the sparse equations that the model gives.

The elimination that made the motion has no part in it: forces are balanced by virtual work along the definitions, and
at some points the equations are solved by another factorisation, of the whole matrix with pivoting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.consistency import consistency
from dalembert.motion.certificate.drift import drifting
from dalembert.motion.certificate.energy import beyond_rounding
from dalembert.motion.certificate.repeat import PIECES, ROUNDED, STEPS_OF_PIECE, integrate_again
from dalembert.motion.certificate.slopes import Slope
from dalembert.motion.certificate.thresholds import thresholds
from dalembert.motion.large.forces import PANEL, Entries, EntriesOf, at_least_a_share, forces_at
from dalembert.motion.large.state import LargeState
from dalembert.motion.result.certificate import MEASURES, Certificate
from dalembert.motion.state.project import size_of

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# So many points are solved again, and so many stretches integrated again; and of those in doubt so many.
SOLVED, REPEATED, DOUBTED = 4, 3, 3
# Columns are looked at for drifts so many numbers at a time: six times as many are held then.
COLUMNS = 1_000_000
# Where constraints may depend on each other: what stands in the corner of their equations, relative to their lengths,
# and how often what it changes is made up for. Each time takes a factor away, 1e-4 for the least directions of a chain
# of a hundred links.
CORNER, REFINED = 1e-8, 30
# Where forces hold each other, accelerations are rounding of what each would make by itself, up to 1e-11 of it in a
# chain of a hundred links: velocities are measured against this share.
HELD = 1e-5


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
    place, speed = _sizes(motion, entries, limits["repeat"])
    repeat, off = _repeat_and_consistency(motion, at, limits, place, speed)
    measured |= {"repeat": repeat, "consistency": off}
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


def _evenly(count: int, most: int) -> list[int]:
    return sorted({int(k) for k in np.linspace(0, count - 1, min(most, count)).round()})


def _constraints(motion: Motion, at: LargeState, entries: EntriesOf) -> dict[str, float]:
    """φ and (φ̇, ψ) relative to the gradient times the size of the state."""
    if not at.m:
        return {"position": 0.0, "velocity": 0.0}
    found = {"position": 0.0, "velocity": 0.0}
    places = {"position": at.model.sums.gaps, "velocity": at.model.sums.rate_gaps}
    first = entries.at(motion.q[0], motion.v[0], float(motion.t[0]))
    lengths = np.sqrt((first.K[at.nz :, : at.nz] ** 2).sum(axis=1))
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
    for k in _evenly(motion.t.size, SOLVED):
        here = entries.at(motion.q[k], motion.v[k], float(motion.t[k]))
        best = _solved_whole(here)
        own = here.accelerations_of_all(motion.a[k], here.gamma)
        M = here.K[: here.nz, : here.nz]
        apart = own - best
        size = np.sqrt(abs(float(best @ (M @ best)))) + np.sqrt(abs(float(own @ (M @ own))))
        # At rest that is rounding of what the forces would make of it.
        held = here.K[here.nz :, : here.nz].T @ motion.multipliers[k]
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
    corner = np.concatenate([np.zeros(nz), -CORNER * ((entries.K[nz:, :nz] ** 2) @ (1.0 / own))])
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


def _sizes(motion: Motion, entries: EntriesOf, wanted: float) -> tuple[float, float]:
    """Of places and velocities. At rest, velocities are rounding of what the forces would make of them, or, where these
    cancel, of what vibrations as quick as the steps resolve would make of places that are rounded.
    """
    far, span = float(np.abs(motion.q).max()), float(motion.t[-1] - motion.t[0])
    if not span > 0:
        return far, 0.0
    here = entries.at(motion.q[0], motion.v[0], float(motion.t[0]))
    held = here.K[here.nz :, : here.nz].T @ motion.multipliers[0]
    alone = here.accelerations_alone(np.abs(here.impressed) + np.abs(held))[: here.n]
    rounded = ROUNDED / wanted * max(motion.timing.steps, 1) * far / span
    speed = max(float(np.abs(motion.v).max()), HELD * span * float(alone.max(initial=0.0)), rounded)
    return max(far, 1e-6 * span * speed), speed


def _repeat_and_consistency(
    motion: Motion, at: LargeState, limits: Mapping[str, float], place: float, speed: float
) -> tuple[float, float]:
    """Stretches integrated again by another method: how far they end from the motion. Δq̇ − ∫ q̈ dt of all of them,
    beyond what the quadrature may err by: where the worst of those that it doubts are right when repeated, it errs.
    """
    if motion.t.size < 2 or not speed > 0:
        return 0.0, 0.0
    place = place or speed
    off = consistency(motion, np.ones_like(motion.v)) / speed
    doubted = {(int(k), int(k) + 1) for k in np.argsort(off)[-DOUBTED:] if off[k] > limits["consistency"]}
    chosen = {(k, k + 1) for k in _evenly(motion.t.size - 1, REPEATED)}
    chosen |= doubted | _in_doubt(motion, limits["repeat"], place, speed)
    found = {part: _repeated(motion, at, *part, limits["repeat"], place, speed) for part in sorted(chosen)}
    if doubted and all(known is not None and known <= limits["repeat"] for known in map(found.get, doubted)):
        off = np.where(off > limits["consistency"], 0.0, off)
    return max([known for known in found.values() if known is not None], default=0.0), float(off.max(initial=0.0))


def _repeated(
    motion: Motion, at: LargeState, k: int, last: int, wanted: float, place: float, speed: float
) -> float | None:
    """How far a part of the motion, from one output to another, ends from it when integrated again, in more pieces
    where that ends elsewhere: what two of these agree on counts, if they looked as closely as the motion did. None
    where they do not converge.
    """
    n = at.n
    sizes = np.concatenate([np.full(n, place), np.full(n, speed)])

    def slope(t: Array, y: Array) -> Array:
        a, _ = at.solve(y[0, :n], y[0, n:], float(t[0]))
        return np.concatenate([y[0, n:], a[:n]])[None, :]

    y = np.concatenate([motion.q[k], motion.v[k]])[None, :]
    there = np.concatenate([motion.q[last], motion.v[last]])
    length = motion.t[last : last + 1] - motion.t[k]
    steps = motion.timing.steps * float(length[0]) / float(motion.t[-1] - motion.t[0])
    pieces, before = 1, None
    while pieces <= PIECES:
        end, unsure, known = _in_pieces(slope, motion.t[k : k + 1], y, length, 0.1 * wanted * sizes, pieces)
        off = float((np.maximum(np.abs(end - there) - unsure, 0.0) / sizes).max())
        agree = before is not None and bool((np.abs(end - before) <= wanted * sizes).all())
        if known and (off <= wanted or (agree and steps <= STEPS_OF_PIECE * pieces)):
            return off
        pieces, before = 4 * pieces, end if known else None
    return None


def _in_doubt(motion: Motion, wanted: float, place: float, speed: float) -> set[tuple[int, int]]:
    """Stretches, from one output to another, over which places change by more than velocities and accelerations at
    their ends say, and those over which places or velocities drift from what their rates say. Right ones are told by
    repeating them.
    """
    h = np.diff(motion.t)[:, None]
    bent = h**2 / 12 * np.diff(motion.a, axis=0)
    moved = np.diff(motion.q, axis=0) - h / 2 * (motion.v[1:] + motion.v[:-1])
    # Where outputs are far apart, what the next terms make is about as large as this one.
    off = (np.abs(moved + bent) - np.abs(bent)).max(axis=1) / place
    found = {(int(k), int(k) + 1) for k in np.argsort(off)[-DOUBTED:] if off[k] > wanted}
    drifts: list[tuple[int, int, float]] = []
    step = max(1, COLUMNS // motion.t.size)
    for first in range(0, motion.q.shape[1], step):
        some = {name: getattr(motion, name)[:, first : first + step] for name in ("q", "v", "a")}
        part = replace(motion, **some, certificate=None, warnings=())  # type: ignore[arg-type]
        drifts += drifting(part, np.ones_like(part.v), None, place, speed, wanted)
    return found | {(first, last) for first, last, _ in sorted(drifts, key=lambda part: -part[2])[:DOUBTED]}


def _in_pieces(
    slope: Slope, t: Array, y: Array, length: Array, wanted: Array, pieces: int
) -> tuple[Array, Array, bool]:
    """The end of a stretch from (t, y), repeated in equal pieces; how far it may be from right, and whether all of them
    converged.
    """
    unsure, converged, piece = np.zeros(wanted.size), True, length / pieces
    for k in range(pieces):
        y, left, known = integrate_again(slope, t + k * piece, y, piece, wanted[None, :])
        unsure, converged = unsure + left[0], converged and bool(known[0])
        if not converged:
            break
    return y[0], unsure, converged
