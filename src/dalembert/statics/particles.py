"""Reactions on particles at rest, by liberation."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.liberate.liberate import liberate
from dalembert.mechanics.principles import liberation
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.friction.frames import frames_of, inertia_of
from dalembert.model.system import System


def supplementary_places(system: System) -> list[int]:
    """Places of the supplementary coordinates of a system of particles whose friction needs them. They are zero, though
    the constraints may have other roots, as where a rod would be turned inside out.
    """
    own = () if system.particles is None else system.particles.coordinates
    return [k for k, q in enumerate(system.coordinates) if own and q not in own]


def reactions_on_particles(system: System, q: Array, opened: tuple[str, ...], multipliers: Array) -> dict[str, Array]:
    """The reaction on each of a system's `particles`, or on those whose Cartesian components are coordinates, together
    or, where it cannot be told which belong together, one by one; empty where liberation does not apply.
    """
    if system.particles is not None:
        still = np.zeros_like(q)
        here: Any = SimpleNamespace(system=system, q=q, v=still, acceleration=still, t=0.0, multipliers=multipliers)
        return liberate(system.particles).reactions(here)
    if system.contacts or system.works:
        return {}
    closed = [
        replace(c, one_sided=False, restitution=None, impact=None) for c in system.constraints if c.name not in opened
    ]
    held = system.replace(constraints=closed, events=())
    if liberation.applies(held):
        return {}
    sampler = Sampler(standard_form(held))
    state = Sample(q, np.zeros_like(q), 0.0, sampler.p)
    force = liberation.prepare(held, sampler)(state, np.zeros_like(q)).force
    inertia = inertia_of(held.kinetic, held.lagrangian, held.mass)
    assert inertia is not None
    frames = frames_of(inertia, held.coordinates)
    groups = [*frames.bodies, *((s,) for crowd in frames.crowds for s in crowd), *((s,) for s in frames.others)]
    places = {s: k for k, s in enumerate(held.coordinates)}
    supplementary = liberation.held_coordinates(held)
    if supplementary is not None:  # nothing but these is freed
        groups = [group for group in groups if not supplementary.keys().isdisjoint(group)]
    groups.sort(key=lambda group: places[group[0]])
    return {", ".join(s.name for s in group): force[[places[s] for s in group]] for group in groups}
