"""Equilibria at a minimum of the potential: stable, unless velocities feed energy in.

What decides, in this order: no forces that depend on velocities do work, or they only take energy (Lyapunov); the
linearised motion fades; they feed energy into everything that moves; with one degree of freedom, that the same motion
is possible backwards (nearby orbits close), or what whole swings win and lose.
"""

from __future__ import annotations

import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import counted
from dalembert.model.system import System
from dalembert.statics.orbits import gains_of_swings
from dalembert.statics.power import Power, power_near
from dalembert.statics.statics import Balance, Parts, Statics

POTENTIAL = "second variation of the potential on the constraints"
FED = "energy that velocities feed in at a minimum of the potential"
SWINGS = "energy over whole swings at a minimum of the potential"
CLOSED = "a minimum of the potential, and every motion is possible backwards"

Verdict = tuple[str, str, tuple[str, ...]]


def at_a_minimum(statics: Statics, at: Balance, parts: Parts, modes: Array, swings: Array, fades: bool) -> Verdict:
    """Verdict, by what, and what else is known. by: empty where the linearised motion decided. modes (n, k) with their
    frequencies `swings` (k); fades: whether the linearised motion comes to rest.
    """
    power = power_near(statics, at, parts, modes, swings)
    if power.safe:
        told = f"velocities take energy at {_share(power.lose, power)}"
        return "stable", POTENTIAL, (told,) if power.lose and not fades else ()
    if fades:
        return "stable", "", ()
    told = f"velocities feed energy in at {_share(power.gain, power)}"
    if power.feeds:
        return "unstable", FED, (told,)
    swinging = modes.shape[1] == 1 and swings[0] > 0
    if swinging and is_reversible(statics.system):
        return "stable", CLOSED, ()
    takes = f" and take energy at {power.lose}" if power.lose else ""
    unsettled = f"{told}{takes}: a minimum of the potential proves nothing"
    if swinging and statics.n == 1 and not statics.m:
        return _by_swings(gains_of_swings(statics, at, float(swings[0])), unsettled)
    return "undecided", POTENTIAL, (unsettled,)


def is_reversible(system: System) -> bool:
    """Whether q(−t) is a motion with every q(t): no expression changes with the sign of the velocities."""
    back = {v: -v for v in system.velocities}
    expressions = [e for e in (system.kinetic, system.lagrangian) if e is not None]
    expressions += [*system.forces.values(), *(work for law in system.works for work in law.work.values())]
    changed = [e.xreplace(back) - e for e in expressions]
    return not system.contacts and all(e == 0 or sp.expand(e) == 0 for e in changed)


def _by_swings(gains: tuple[float, ...], unsettled: str) -> Verdict:
    if gains and min(gains) > 0:
        return "unstable", SWINGS, (f"{counted(len(gains), 'swing')} nearby, each ending wider than it began",)
    if gains and max(gains) < 0:
        return "stable", SWINGS, (f"{counted(len(gains), 'swing')} nearby, each ending narrower than it began",)
    closed = "swings nearby end as they began, as far as numbers show"
    return "undecided", POTENTIAL, (unsettled, closed) if gains and not any(gains) else (unsettled,)


def _share(count: int, power: Power) -> str:
    return f"{'all' if count == power.tried else f'{count} of'} {counted(power.tried, 'state')} tried nearby"
