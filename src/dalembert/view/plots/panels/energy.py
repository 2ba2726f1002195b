"""The energy: T, V and E, the work done and the heat made; and, where E is conserved, how well."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.units import unit_of
from dalembert.motion.large.size import is_large
from dalembert.motion.result.motion import WORKS
from dalembert.motion.state.evaluation import Evaluation
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import phrase, time_label, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import chosen, nothing

# Of the energies that are exchanged, work below this is rounding, and the energy conserved.
CONSERVED = 1e-6
# Errors below this are rounding; where one passes through zero its logarithm has no end.
LEAST = 1e-17
# Hues of E, T and V; works follow.
E, T, V = -1, 0, 1


def energy(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """All of it, and its error; or, of "balance" or "error", one of the two."""
    asked = chosen("energy", of, ("balance", "error"), "part of the picture of the energy")
    whole = along.points["energy"]
    kinetic = kinetic_energy(along)
    parts, exchanged = [], float(np.ptp(whole))
    if kinetic is not None:
        rest = whole - kinetic
        exchanged = max(float(kinetic.max()), float(np.ptp(rest)))
        parts.append(Curve("T", along.t, kinetic, hue=T))
        parts += [Curve("V", along.t, rest, hue=V)] if rest.any() else []
    worked = np.abs(along.motion.work).max(axis=0)
    size = max(exchanged, float(worked.max())) or float(np.abs(whole).max()) or 1.0
    worked = worked > CONSERVED * size
    label = with_unit("energy", unit_of(along.system, "energy"))
    t, works = works_beside_jumps(along, whole)
    curves = [*parts, Curve("E" if parts else "energy", along.t, whole, hue=E)]
    curves += [Curve(f"work, {kind} forces", t, works[:, k], kind, 2 + k) for k, kind in enumerate(WORKS) if worked[k]]
    curves += [
        Curve(phrase(f"heat of {name}"), along.motion.t, heat, "other", 5 + k)
        for k, (name, heat) in enumerate(along.motion.heat.items())
        if np.abs(heat).max() > CONSERVED * size
    ]
    found = [Panel("", "energy", time_label(along.system), label, tuple(curves))] if "balance" in asked else []
    error = np.abs(whole - whole[0] - works.sum(axis=1)) / size
    if "error" in asked and (of or (error.any() and not worked.any())):
        found += _error(along, t, error)
    return found


def _error(along: Along, t: Array, error: Array) -> list[Panel]:
    """|E − E₀ − work| as a share of what is exchanged, with what the certificate allows."""
    if not error.any():
        return nothing("error of the energy", "zero throughout")
    curves = [Curve("error", t, np.maximum(error, LEAST), hue=0)]
    allowed = along.motion.certificate.thresholds.get("energy")
    if allowed:
        ends = np.array([t[0], t[-1]])
        curves.append(Curve("allowed", ends, np.full(2, allowed), "limit", -1))
    label = "|E − E₀ − work| / exchanged"
    return [Panel("", "error of the energy", time_label(along.system), label, tuple(curves), log=True)]


def kinetic_energy(along: Along) -> Array | None:
    """T at all points, where E = T + V: what E loses with the velocities. None of systems whose T has other parts, and
    of large ones.
    """
    if is_large(along.system) or not along.system.has_plain_kinetic:
        return None
    points = along.points
    at_rest, _ = Evaluation(along.system).energetics_along(points.q, np.zeros_like(points.v), points.t)
    return np.asarray(points["energy"] - at_rest)


def works_beside_jumps(along: Along, whole: Array) -> tuple[Array, Array]:
    """Times and works (K, 3), those beside jumps among them: there the balance of energy has them. What impressed
    forces do has no jumps; a blow takes its loss from the work of nonideal forces, and moving surfaces give the rest.
    """
    motion, points = along.motion, along.points
    if not motion.blows:
        outputs = points.source >= 0
        return (points.t, motion.work[points.source]) if outputs.all() else _between(along)
    losses: dict[float, float] = {}
    for blow in motion.blows:
        losses[blow.t] = losses.get(blow.t, 0.0) + blow.loss + blow.left_out
    found = np.empty((points.t.size, 3))
    for k, source in enumerate(points.source.tolist()):
        if source >= 0:
            found[k] = motion.work[source]
            continue
        t = float(points.t[k])
        impressed = float(np.interp(t, motion.t, motion.work[:, 0]))
        total = float(whole[k] - whole[0])
        is_after = k > 0 and points.source[k - 1] < 0 and points.t[k - 1] == t and points.leg[k - 1] < points.leg[k]
        if is_after:
            lost = losses.get(t, 0.0)
            gained = float(whole[k] - whole[k - 1])
            found[k] = impressed, found[k - 1, 1] + gained + lost, found[k - 1, 2] - lost
        else:
            ideal = found[k - 1, 1] if k else 0.0
            found[k] = impressed, ideal, total - impressed - ideal
    return points.t, found


def _between(along: Along) -> tuple[Array, Array]:
    """Where contacts change without a blow, works have no jumps: between outputs they are interpolated."""
    motion, t = along.motion, along.points.t
    return t, np.column_stack([np.interp(t, motion.t, motion.work[:, k]) for k in range(3)])
