"""Whether a motion is what its reference says: state, stick and slip, sizes and cones of the forces."""

from __future__ import annotations

import numpy as np

import dalembert as da

from .case import Case, ContactReference

#: Tolerance asked of the engine.
RTOL = 1e-9
#: Of each column's scale: a thousand times RTOL, since events and directions of sliding near a stop amplify errors.
STATE = 1e-6
#: Forces are derivatives of the motion and next to events more sensitive: one digit less.
FORCE = 1e-5
#: Cones are not to be left by more than this, whatever the error of the motion.
CONE = 1e-6


def run(case: Case, backend: str = "auto") -> da.Motion:
    return case.system.simulate(times=case.reference.t, rtol=RTOL, backend=backend)


def faults(case: Case, motion: da.Motion) -> list[str]:
    """Everything that is wrong, in words; empty where all is right."""
    reference = case.reference
    if motion.t.size != reference.t.size:
        return [f"ended at t = {motion.t[-1]:.6g} of {reference.t[-1]:.6g}"]
    allowed = STATE + 3 * reference.error
    found = []
    for name, right in reference.columns.items():
        # A column's scale: its own size, or that of all of its kind (a coordinate that stays zero has none).
        scale = _scale(reference.columns, name)
        off = np.abs(motion[name] - right) / scale
        if off.max() > allowed:
            at = int(np.argmax(off > allowed))
            found.append(
                f"{name} off by {off.max():.2g} > {allowed:.1g}, first at t = {motion.t[at]:.4g}"
                f" ({motion[name][at]:.6g}, right {right[at]:.6g})"
            )
    for name, right in reference.contacts.items():
        found += _contact_faults(name, right, motion, allowed)
    return found + _pull_faults(case, motion, allowed)


def _pull_faults(case: Case, motion: da.Motion, allowed: float) -> list[str]:
    """Direction and size of friction: its generalized force, which is determined where single forces are not."""
    names = [coordinate.name for coordinate in motion.system.coordinates]
    pull = case.reference.pull
    loads = [right.normal for right in case.reference.contacts.values()]
    size = max(1e-3, *(float(np.nanmax(np.abs(load), initial=0.0)) for load in loads))
    size = max([size, *(float(np.nanmax(np.abs(right), initial=0.0)) for right in pull.values())])
    found = []
    for name, right in pull.items():
        off = np.nan_to_num(np.abs(motion.C[:, names.index(name)] - right)) / size
        if off.max() > FORCE + 10 * allowed:
            at = int(np.argmax(off))
            found.append(
                f"friction on {name}: {motion.C[at, names.index(name)]:.6g} at t = {motion.t[at]:.4g},"
                f" right {right[at]:.6g}"
            )
    return found


def _scale(columns, name: str) -> float:
    prime = name.endswith("'")
    return max(1e-3, *(float(np.abs(c).max()) for n, c in columns.items() if n.endswith("'") == prime))


def _contact_faults(name: str, right: ContactReference, motion: da.Motion, allowed: float) -> list[str]:
    got = motion.contacts[name]
    found = []
    asked = right.state != ""
    wrong = asked & (got.state != right.state)
    if wrong.any():
        at = int(np.argmax(wrong))
        found.append(
            f"{name}: {got.state[at]!r} at t = {motion.t[at]:.4g}, right {right.state[at]!r} ({wrong.sum()} of"
            f" {asked.sum()})"
        )
    size = max(1e-3, float(np.nanmax(np.abs(right.normal), initial=0.0)))
    for what, mine, theirs in (
        ("normal", np.abs(got.normal), right.normal),
        ("friction", got.friction, right.friction),
    ):
        off = np.where(np.isnan(theirs) | wrong, 0.0, np.abs(mine - theirs)) / size
        if off.max() > FORCE + 10 * allowed:
            at = int(np.argmax(off))
            found.append(f"{name}: {what} {mine[at]:.6g} at t = {motion.t[at]:.4g}, right {theirs[at]:.6g}")
    # The cones of the engine's own forces, whatever the reference says.
    normal = np.abs(got.normal)
    beyond = np.where(got.state == "stick", got.friction - right.mu_static * normal, 0.0)
    if beyond.max() > CONE * size:
        found.append(
            f"{name}: sticks beyond its cone by {beyond.max() / size:.2g} at t = {motion.t[beyond.argmax()]:.4g}"
        )
    away = np.where(got.state == "slip", np.abs(got.friction - right.mu * normal), 0.0)
    if away.max() > CONE * size:
        found.append(f"{name}: slips off its cone by {away.max() / size:.2g} at t = {motion.t[away.argmax()]:.4g}")
    return found
