"""A particle that slides off a smooth sphere and leaves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.library.elliptic import first_kind
from dalembert.library.systems import sphere
from dalembert.library.values import values
from dalembert.model.system import System


def leaving_sphere(
    *,
    m: float = 1.0,
    g: float = 9.81,
    r: float = 1.0,
    polar: float = 0.2,
    across: float = 0.3,
    down: float = 0.1,
) -> System:
    """A particle that lies on a sphere of radius r, started at the angle `polar` from the top.

    It leaves at the height z with v² = g z: two thirds of the height from which it would have come at rest.
    """
    held = sphere.sphere_particle(m=m, g=g, r=r, polar=polar, across=across, down=down)
    (constraint,) = held.constraints
    return System(
        "particle leaving a sphere",
        coordinates=held.coordinates,
        kinetic=held.kinetic,
        potential=held.potential,
        constraints=[replace(constraint, one_sided=True)],
        parameters=held.parameters,
        initial=held.initial,
        settings={"duration": 1.2, "samples": 201},
        draw=held.draw,
        description=(
            "A particle slides off the top of a smooth sphere that can only push. Where the sphere would have "
            "to pull, the particle leaves it and flies on."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """As on a sphere that holds it, down to z = 2e/(3g), e = v²/2 + gz; from there a parabola. It starts downwards."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    left = known["t"] + leaving_time(system)
    on = sphere.exact(system, np.minimum(known["t"] + elapsed, left))
    fall = np.maximum(known["t"] + elapsed - left, 0.0)
    found = {key: np.where(fall > 0, 0.0, value) for key, value in on.items()}  # forces end there
    for q, a in (("x", 0.0), ("y", 0.0), ("z", -known["g"])):
        found[q] = on[q] + on[f"{q}'"] * fall + a * fall**2 / 2
        found[f"{q}'"] = on[f"{q}'"] + a * fall
    return found


def leaving_time(system: System) -> float:
    """How long the particle stays on the sphere: F(φ) of the amplitude at z = 2e/(3g), less that at the start."""
    known = values(system)
    path = sphere.path_of(known)
    leaves = 2 * path.energy / (3 * known["g"])
    amplitude = np.pi - np.arcsin(np.sqrt((leaves - path.low) / (path.high - path.low)))
    start = path.start
    while amplitude <= start:
        amplitude += np.pi
    while amplitude - np.pi > start:
        amplitude -= np.pi
    return float((first_kind(amplitude, path.k2) - first_kind(start, path.k2)) / path.kappa)
