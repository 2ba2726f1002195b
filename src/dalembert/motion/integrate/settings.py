"""The options of a simulation, checked: every fault is told at once."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.kernel.events import Bounces
from dalembert.methods.sound import faults_of
from dalembert.methods.table import AUTO, METHODS, Method, method_for
from dalembert.model.language.suggest import suggest
from dalembert.model.simulation_options import duration_faults, number_of, option_faults, times_faults
from dalembert.motion.integrate.pace import Pace

if TYPE_CHECKING:
    from dalembert.mechanics.solve.fundamental import Fundamental
    from dalembert.model.events import Event
    from dalembert.model.system import System

EQUAL_STEPS = tuple(method.name for method in METHODS.values() if method.equal_steps)
BACKENDS = ("auto", "native", "reference")
KERNELS = ("", "tape", "compiled")  # what DALEMBERT_KERNEL may be
DEFAULT_RTOL = 1e-9
DEFAULT_SAMPLES = 501
# Of the duration: with steps asked to be shorter than this, no motion would come to its end.
LEAST_STEP = 1e-9


@dataclass(frozen=True)
class Settings:
    """Checked options. `times` are the output times; the first one is the initial time. atol None: see `tolerances`.
    step and order are those of the variational method, whose steps end at the output times.
    """

    times: Array
    rtol: float
    atol: float | None
    method: str
    project: bool
    backend: str
    step: float | None = None
    order: int = 2
    passed: tuple[int, ...] = ()  # passages of the system's events before these times, in an earlier leg
    of_user: int | None = None  # the events from this number on end a mode of contacts; None: all are the user's
    least: Array | None = None  # sizes of (q, q̇) that count as small in the whole motion, of which this is a part
    rates: Array | None = None  # accelerations that the motion may come to, where those at its start say too little
    max_step: float | None = None  # asked for
    pace: Pace | None = None  # how long steps may be along the time: see `integrate.ahead`
    most_steps: int = 0  # a run that would take more ends; 0: any number
    members: int = 0  # so many runs are to give the same bits, whichever is first: one kernel, and no race; 0: one run
    bounces: Bounces | None = None  # gaps of contacts that may close and bounce on the way

    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # what others make of them, once

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made of them, which may belong to this process."""
        return {**vars(self), "kept": {}}

    def passages_left(self, events: Sequence[Event]) -> list[int]:
        """How many passages of each event end the motion, 0 where none does."""
        passed = (*self.passed, *(0 for _ in events))
        return [max(e.terminal - n, 1) if e.terminal else 0 for e, n in zip(events, passed, strict=False)]

    def from_zero(self, events: Sequence[Event]) -> list[bool]:
        """Of which events falling away from zero right at the start counts: a mode that begins at its limit is over
        when it is left, but a user's function that begins at zero passes nothing.
        """
        return [self.of_user is not None and k >= self.of_user for k in range(len(events))]


def settings_of(
    system: System, duration: float | None, times: ArrayLike | None, t0: float, options: Mapping[str, Any]
) -> Settings:
    """Options with their defaults, or `ModelError` with every fault found."""
    faults = option_faults(options)
    rtol, samples = number_of(options.get("rtol", DEFAULT_RTOL)), options.get("samples", DEFAULT_SAMPLES)
    method = str(options.get("method", AUTO)).lower()
    backend = str(options.get("backend") or os.environ.get("DALEMBERT_BACKEND") or "auto").lower()
    if backend not in BACKENDS:
        faults.append(f"unknown backend {backend!r}.{suggest(backend, BACKENDS)}")
    if (kernel := os.environ.get("DALEMBERT_KERNEL", "")) not in KERNELS:
        faults.append(f"DALEMBERT_KERNEL is {kernel!r}; it is 'tape' or 'compiled', or not set")
    atol = number_of(options["atol"]) if "atol" in options else None
    if duration is not None and times is not None:
        faults.append("give a duration or the output times, not both")
    duration = options.get("duration") if duration is None and times is None else duration
    points = np.array([t0])
    if times is not None:
        if wrong := times_faults(times, t0):
            faults += wrong
        else:
            points = np.asarray(times, dtype=float).ravel()
            if points[0] > t0:
                points = np.concatenate([[t0], points])
    elif duration is None:
        faults.append(
            "no duration: say how long to simulate: simulate(10), --duration 10, or duration = 10 in [simulate]"
        )
    elif wrong := duration_faults(duration):
        faults += wrong
    elif not faults:
        points = t0 + np.linspace(0.0, float(duration), int(samples))
    max_step = number_of(options["max_step"]) if "max_step" in options else None
    if max_step is not None:
        faults += _faults_of_longest(max_step, method, options, float(points[-1] - t0))
    if method in EQUAL_STEPS:
        step, order = number_of(options.get("step")), options.get("order", 2)
        faults += _faults_of_steps(METHODS[method], step, order, options, points, backend)
    elif "step" in options or "order" in options:
        owners = " or ".join(f"method={name!r}" for name in EQUAL_STEPS)
        faults.append(f"step and order are options of {owners}; other methods choose their steps")
    asked = METHODS.get(method)
    if asked is not None and not asked.in_every_kernel:
        faults += [f"method {method!r}: {fault}" for fault in faults_of(asked)]
    if faults:
        raise ModelError(system.name, faults)
    project = bool(options.get("project", True))
    if method not in EQUAL_STEPS:
        return Settings(points, rtol, atol, method, project, backend, max_step=max_step)
    points, step = _on_steps(points, step, times is not None)
    return Settings(points, rtol, atol, method, project, backend, step, int(order))


def _faults_of_longest(longest: float, method: str, options: Mapping[str, Any], span: float) -> list[str]:
    if method in EQUAL_STEPS:
        return [f"max_step is no option of method={method!r}, whose steps have one length: step="]
    if not (math.isfinite(longest) and longest > 0):
        return [f"max_step is {options['max_step']!r}; it must be positive"]
    if longest < LEAST_STEP * span:
        return [
            f"max_step is {longest:g}: more than {1 / LEAST_STEP:.0e} steps for a duration of {span:g}; make it longer"
        ]
    return []


def _faults_of_steps(
    method: Method, step: float, order: Any, options: Mapping[str, Any], points: Array, backend: str
) -> list[str]:
    found, name = [], f"method {method.name!r}"
    if "step" not in options:
        found.append(f"{name} has steps of one length: give step= (--step on the command line)")
    elif not (math.isfinite(step) and step > 0):
        found.append(f"step is {options['step']!r}; it must be positive")
    if order not in method.orders:
        found.append(f"order is {order!r}; {name} has the orders {', '.join(map(str, method.orders))}")
    gaps = np.diff(points)
    if gaps.size and np.ptp(gaps) > 1e-9 * gaps.max():
        found.append(f"{name} needs equidistant output times, because its steps have one length")
    if backend == "native":
        found.append(f"{name} runs on the reference backend only; leave backend away")
    return found


def _whole(ratio: float) -> int:
    """How many steps a stretch takes; a ratio that is whole but for rounding counts as that."""
    return max(1, math.ceil(ratio - 1e-9))


def _on_steps(points: Array, step: float, exactly: bool) -> tuple[Array, float]:
    """Output times on which steps end, and the step, shortened until they do. Unless the times were asked for, there
    are no more of them than steps.
    """
    span = float(points[-1] - points[0])
    if span == 0:
        return points, step
    most = points.size - 1
    if exactly:
        return points, span / (most * _whole(span / most / step))
    steps = _whole(span / step)
    every = _whole(steps / most)
    outputs = _whole(steps / every)
    return points[0] + np.linspace(0.0, span, outputs + 1), span / (every * outputs)


def method_of(settings: Settings) -> str:
    """The method asked for, or the one that suits the tolerance."""
    return settings.method if settings.method != AUTO else method_for(settings.rtol).name


# Its square is a number.
LONGEST = 1e150


def tolerances(settings: Settings, q: Array, v: Array, a: Array) -> Array:
    """The absolute tolerance of each of (q, q̇), from the size the motion will have, judged at its start.

    Components pass through zero, so a purely relative tolerance would stall. A thousandth of rtol, of the size of the
    motion where that is below one unit (lengths in nanometres), but not below rounding. Stiff forces magnify rounding
    by their stiffness, so that small components cannot be had to a thousandth of rtol: the stiff method takes rtol.
    """
    if settings.atol is not None:
        return np.full(2 * q.size, settings.atol)
    span = min(float(settings.times[-1] - settings.times[0]) or 1.0, LONGEST)
    if q.size <= FEW and (found := _tolerances_of_few(settings, q, v, a, span)) is not None:
        return found
    a = np.abs(a) if settings.rates is None else np.maximum(np.abs(a), settings.rates)
    own = np.abs(v)
    reach = np.maximum(np.maximum(np.abs(q), own * span), a * span**2)
    speed = np.maximum(np.maximum(own, a * span), reach / span)
    sizes, share = [], share_of(settings)
    for size in (reach, speed):
        largest = float(size.max()) or 1.0
        # What is rounding of the others, or zero, says nothing about the size that this component will have.
        known = np.where(size > 1e-12 * largest, size, largest)
        if known.min() < ROUNDING / share:
            known = np.maximum(known, ROUNDING / share * _like(known))
        sizes.append(np.minimum(known, 1.0))
    least = LEAST_SIZE if settings.least is None else np.maximum(settings.least, LEAST_SIZE)
    return share * np.maximum(np.concatenate(sizes), least)


def above_rounding(atol: Array, settings: Settings, q: Array, start: Fundamental) -> Array:
    """Tolerances of (q, q̇) that are no smaller than what rounding makes of them, in the time in which forces move a
    coordinate as far as it is from zero: rounding in |Aᵀ||λ|, and in |M⁻¹||M||a| where many coordinates share their
    masses. Where constraints hold everything, velocities are nothing else, and a link of a chain that is upright and at
    rest has no size of its own: steps would be cut for ever to make that small.
    """
    if settings.atol is not None or not (start.multipliers.size or q.size > FEW):
        return atol
    mass = np.abs(np.diagonal(start.M))
    with np.errstate(all="ignore"):
        pulled = np.nan_to_num(np.abs(start.multipliers) @ np.abs(start.A) / mass, posinf=0.0)
        times = np.sqrt(np.nan_to_num(np.abs(q) / pulled, posinf=0.0))
    # What constraints hardly pull would take for ever, and says nothing of the others.
    times = times[pulled >= HARDLY * pulled.max(initial=0.0)]
    span = float(settings.times[-1] - settings.times[0])
    least = _rounding_of(pulled, min(float(times.max(initial=0.0)), span))
    if q.size > FEW and np.count_nonzero(start.M) > q.size:
        shared = _shared_by_masses(start)
        with np.errstate(all="ignore"):
            times = np.sqrt(np.nan_to_num(np.abs(q) / shared, posinf=0.0))
        # The longest of those that it shares masses with: what moves by itself, however slowly, is not among them.
        longest = np.where(start.M != 0.0, times, 0.0).max(axis=1)
        least = np.maximum(least, _rounding_of(shared, np.minimum(longest, span)))
    return np.maximum(atol, least)


def _rounding_of(rates: Array, time: float | Array) -> Array:
    """Of (q, q̇) in a time in which such accelerations act."""
    least = FORCE_UNITS * ROUNDING * time * rates
    return np.concatenate([time * least, least])


def _shared_by_masses(start: Fundamental) -> Array:
    """|M⁻¹||M||a| for the accelerations without constraints: the sizes of what adds up to them. Zero where M has no
    inverse.
    """
    M, a = start.M, start.unconstrained
    if not np.isfinite(a).all():
        return np.zeros(a.size)
    try:
        inverse = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return np.zeros(a.size)
    return np.asarray(np.nan_to_num(np.abs(inverse) @ (np.abs(M) @ np.abs(a)), posinf=0.0))


def _like(sizes: Array) -> Array:
    """For each component the size, up to one unit, of the largest that sizes lead up to in small steps, as they do in
    the tail of a wave: forces there are differences of what moves the wave, and have its rounding. What another unit
    makes small is a leap away.
    """
    order = np.argsort(-sizes)
    falling = np.maximum(sizes[order], LEAST_SIZE)
    leaps = np.flatnonzero(np.concatenate([[True], falling[:-1] > LEAP * falling[1:]]))
    found = np.empty(sizes.size)
    found[order] = np.minimum(np.repeat(falling[leaps], np.diff([*leaps, sizes.size])), 1.0)
    return found


def _tolerances_of_few(settings: Settings, q: Array, v: Array, a: Array, span: float) -> Array | None:
    """The same of a few coordinates, by plain numbers; None where some are so small that more is to be thought of."""
    rates = a.tolist() if settings.rates is None else settings.rates.tolist()
    square, reach, speed = span**2, [], []
    for x, y, z, rate in zip(q.tolist(), v.tolist(), a.tolist(), rates, strict=True):
        own, z = abs(y), max(abs(z), rate)
        reach.append(max(abs(x), own * span, z * square))
        speed.append(max(own, z * span, reach[-1] / span))
    sizes: list[float] = []
    share = share_of(settings)
    for size in (reach, speed):
        largest = max(size) or 1.0
        known = [x if x > 1e-12 * largest else largest for x in size]
        if min(known) < ROUNDING / share:
            return None
        sizes += [min(x, 1.0) for x in known]
    least = [LEAST_SIZE] * len(sizes)
    if settings.least is not None:
        least = [max(x, LEAST_SIZE) for x in settings.least.tolist()]
    return np.array([share * max(x, y) for x, y in zip(sizes, least, strict=True)])


def share_of(settings: Settings) -> float:
    """The absolute tolerance as a share of the size of a component, up to one unit; 0 where it is given. Both backends
    let it grow with the largest size that each has had: what a start says may be far too small.
    """
    if settings.atol is not None:
        return 0.0
    stiff = settings.method != AUTO and METHODS[settings.method].stiff
    return settings.rtol if stiff else max(1e-3 * settings.rtol, 1e-14)


# Up to so many coordinates Python is done before NumPy has begun.
FEW = 12
# Squares of numbers this small still are numbers.
LEAST_SIZE = 1e-100
ROUNDING = float(np.finfo(float).eps)
# Neighbours in size that are further apart have nothing to do with each other.
LEAP = 1e3
# Rounding of the forces of constraints: sums of some terms, found by some eliminations.
FORCE_UNITS = 16
# Forces of constraints below this share of the largest, each by the mass of its coordinate.
HARDLY = 1e-3
