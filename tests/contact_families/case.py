"""What a family gives for a seed: a system, how long it runs, and what its motion must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import dalembert as da

Array = np.ndarray
#: Output times of a case: enough to meet every phase, few enough to stay cheap.
SAMPLES = 41
#: Of the duration: outputs this near to an event are not asked whether it has happened yet.
NEAR = 1e-3

#: Errors of references, as estimated by themselves, are below this.
AGREEMENT = 5e-6


@dataclass(frozen=True)
class ContactReference:
    """A contact at the output times. state: "slip", "stick", "open", or "" where it is not asked. normal and friction:
    sizes of the forces, NaN where not asked (next to an event) or not determined (several feet of a body at rest).
    """

    state: Array
    normal: Array
    friction: Array
    mu: float
    mu_static: float


@dataclass(frozen=True)
class Reference:
    """t (T,); columns: coordinates and velocities by their names in the system, (T,) each; error: how far they may be
    off, as estimated by the reference itself, in units of each column's scale; events: instants of change. pull: the
    generalized force of all friction together by coordinate, (T,) each, NaN where not asked.
    """

    t: Array
    columns: Mapping[str, Array]
    error: float
    contacts: Mapping[str, ContactReference]
    pull: Mapping[str, Array]
    events: tuple[float, ...] = ()


@dataclass(frozen=True)
class Case:
    """One system of a family; kind: in words, what was drawn."""

    kind: str
    system: da.System
    duration: float
    reference: Reference


class Unsuited(Exception):
    """These random numbers give a knife-edge case; others are drawn."""


def drawn(family: int, seed: int, build: Callable[[np.random.Generator], Case]) -> Case:
    """The first case of a seed that is no knife edge."""
    for attempt in range(50):
        try:
            case = build(np.random.default_rng([family, seed, attempt]))
        except Unsuited:
            continue
        # Two computations of one motion that differ by more than this went different ways at some event.
        if case.reference.error < AGREEMENT:
            return case
    raise AssertionError(f"no suitable numbers for seed {seed}")


def outputs(duration: float) -> Array:
    return np.linspace(0.0, duration, SAMPLES)


def away(t: Array, events: tuple[float, ...], duration: float) -> Array:
    """Which output times are not next to an event."""
    return np.array([all(abs(time - event) > NEAR * duration for event in events) for time in t])
