"""A planar chain of 10, 100, 300 uniform links, 1 m and 1 kg each, hanging from a hinge: its accelerations, once.

A long chain is chaotic, so that no motion of interest has a true end; the time of one evaluation decides.
State: angle sin(0.7 k) from the downward vertical and rate cos(1.3 k) for link k = 0, 1, … Observed: the angular
accelerations.
"""

from __future__ import annotations

import numpy as np

from dalembert import System

from .base import Array, Problem

GRAVITY = 9.81


def state(links: int) -> tuple[Array, Array]:
    """Absolute angles from the downward vertical, and their rates."""
    k = np.arange(links)
    return np.sin(0.7 * k), np.cos(1.3 * k)


def true_acceleration(links: int) -> Array:
    """Lagrange's equations in the angles, M dense; the solution refined with residuals in extended precision.

    M_ij = c_ij cos(θi − θj), c_ij = 1/2 + (links beyond j) for i < j, c_ii = 1/3 + (links beyond i).
    """
    angle, rate = (x.astype(np.longdouble) for x in state(links))
    beyond = links - 1 - np.arange(links)
    weight = np.minimum.outer(beyond, beyond) + np.longdouble(1) / 2
    np.fill_diagonal(weight, beyond + np.longdouble(1) / 3)
    difference = angle[:, None] - angle[None, :]
    M = weight * np.cos(difference)
    pull = np.longdouble("9.81") * (beyond + np.longdouble(1) / 2) * np.sin(angle)
    force = -pull - (weight * np.sin(difference)) @ rate**2
    inverse = np.linalg.inv(M.astype(float))
    found = inverse @ force.astype(float)
    for _ in range(5):
        found = found + inverse @ (force - M @ found)
    return found.astype(float)


def cartesian_state(links: int) -> tuple[Array, Array]:
    """(x, y, angle) of each link's centre and their rates, link after link."""
    angle, rate = state(links)
    arm = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    swing = np.stack([np.cos(angle) * rate, np.sin(angle) * rate], axis=1)
    centre = np.cumsum(arm, axis=0) - arm / 2
    speed = np.cumsum(swing, axis=0) - swing / 2
    return np.column_stack([centre, angle]).ravel(), np.column_stack([speed, rate]).ravel()


def system(links: int) -> System:
    """Every link a free body in the plane, every hinge two constraints."""
    hinges: dict[str, str] = {}
    for k in range(links):
        before = ("", "") if k == 0 else (f" - x{k - 1} - sin(a{k - 1})/2", f" - y{k - 1} + cos(a{k - 1})/2")
        hinges[f"hinge {k} x"] = f"x{k} - sin(a{k})/2{before[0]}"
        hinges[f"hinge {k} y"] = f"y{k} + cos(a{k})/2{before[1]}"
    q, v = cartesian_state(links)
    names = [f"{letter}{k}" for k in range(links) for letter in "xya"]
    return System(
        f"chain of {links} links",
        coordinates=" ".join(names),
        kinetic=" + ".join(f"m*(x{k}'^2 + y{k}'^2)/2 + m*a{k}'^2/24" for k in range(links)),
        potential="m*g*(" + " + ".join(f"y{k}" for k in range(links)) + ")",
        constraints=hinges,
        parameters={"m": 1.0, "g": GRAVITY},
        initial=dict(zip(names, q, strict=True)) | dict(zip([f"{name}'" for name in names], v, strict=True)),
    )


def problem(links: int) -> Problem:
    return Problem(
        name=f"chain {links}",
        title=f"Planar chain of {links} links, one evaluation of the accelerations",
        duration=0.0,
        data={"links": links, "g": GRAVITY},
        system=lambda: system(links),
        observe=lambda a, _: a[2::3],
        compute=lambda: true_acceleration(links),
        recipe="Lagrange's equations in the angles, dense, refined in extended precision: angular accelerations",
        tolerances=(0.0,),
        kind="acceleration",
    )


PROBLEMS = tuple(problem(links) for links in (10, 100, 300))
