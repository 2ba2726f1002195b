"""Kernels of every kind with the arguments they are called with, recorded instead of run: the library, and systems
that take the ways through the runtime which the library does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import Compiler
from dalembert.kernel.emit.source import kernel_source
from dalembert.kernel.size import TaylorNotApplicable
from dalembert.motion.integrate import kernel_choice
from parity.test_exact_rank_drops import plane
from parity.test_fading_gradients import CASES, lemniscate
from parity.test_four_bar import mechanism
from parity.test_reactions_and_branches import CURVED, PRESSED

METHODS = ("dop853", "dopri5", "stiff")


@dataclass(frozen=True)
class Case:
    """A system, how it is run, and with which methods."""

    system: Callable[[], da.System]
    options: dict[str, Any] = field(default_factory=dict)
    methods: Sequence[str] = METHODS


@dataclass(frozen=True)
class Call:
    """What one run hands to its kernel: the arguments of `Kernel.integrate`, by name."""

    source: str
    arguments: dict[str, Any]
    model: tuple[da.System, Any, Sequence[int], float]  # what a kernel is made from


def stiff_bead() -> da.System:
    """So heavily damped that explicit methods are judged for stiffness at every step."""
    return da.System(
        "bead in honey",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        forces={"x": "-1e4*x' + sin(t)"},
        constraints={"wire": "y = x^2"},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )


def events(*terminal: int) -> dict[str, da.Event]:
    return {
        "lowest": da.Event("x"),
        "slow": da.Event("x'^2 + y'^2 - 0.5", direction=-1),
        "often": da.Event("sin(40*t)"),
        "height": da.Event("y + 0.2", terminal=terminal[0] if terminal else 0),
    }


def kinks() -> da.System:
    """Sides that change, one kink inside another, and one that has no value beyond."""
    return da.System(
        "kinks",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="abs(abs(x) - 0.5) + max(y, 0)^2.5 + y^2",
        forces={"y": "sign(t - 1)"},
        initial={"x": 1, "y": -0.5, "x'": 0, "y'": 0},
    )


def pushed() -> da.System:
    """Held just at its limit, which the push leaves without a slope."""
    return da.System(
        "pushed block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="g*y",
        forces={"x": "mu*g + t^2"},
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu="mu")],
        parameters={"g": 9.81, "mu": 0.3},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )


def pulse() -> da.System:
    """A short force on a bead at rest: the steps get bounds along the time, and the tolerances grow with the motion."""
    return da.System(
        "pulse",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        forces={"x": "10*exp(-(20*(t - 2))^2)*(1 + y/10)"},
        constraints={"wire": "y = x^2"},
        initial={"x": 1e-200, "y": 0, "x'": 0, "y'": 0},
    )


def slow_puck() -> da.System:
    """Its friction turns with velocities far below those over which differences are taken at first."""
    return da.System(
        "slow puck",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"table": "z"},
        nonideal=[da.Coulomb("table", mu="mu")],
        parameters={"m": 1, "g": 9.81, "mu": 0.3},
        initial={"x": 0, "y": 0, "z": 0, "x'": 3e-4, "y'": 4e-4, "z'": 0},
    )


def flat(system: da.System) -> da.System:
    """The four-bar mechanism with all bars on one line, cranks turning: its constraints are dependent there."""
    windows = len(system.coordinates) // 2
    level = {f"x{k}": k + 1 for k in range(windows)} | {f"y{k}": 0 for k in range(windows)}
    speed = {f"x{k}'": 0 for k in range(windows)} | {f"y{k}'": -1 for k in range(windows)}
    return system.replace(initial=level | speed)


def rubbing(law: Any, x: float) -> da.System:
    """A block on a floor, at speed x or at rest, beside a mass that is moved."""
    return da.System(
        "rubbing",
        coordinates="x y s",
        kinetic="m*(x'^2 + y'^2)/2 + s'^2/2",
        potential="m*g*y",
        constraints={"floor": "y", "drive": "s - sin(t)"},
        nonideal=[law],
        parameters={"m": 1, "g": 9.81, "c": 0.3},
        initial={"x": 0, "y": 0, "s": 0, "x'": x, "y'": 0, "s'": 1},
    )


SPECIAL: dict[str, Case] = {
    "a contact that leaves its limit": Case(pushed, {"duration": 1.0}),
    "a contact that slips slowly in a plane": Case(slow_puck, {"duration": 1.0}),
    "events": Case(da.library.pendulum, {"duration": 3.0, "events": events()}),
    "an event that ends the run": Case(da.library.pendulum, {"duration": 9.0, "events": events(2)}),
    "kinks": Case(kinks, {"duration": 6.0, "events": {"lowest": "x", "high": "y - 0.2"}}),
    "a kink that holds": Case(lambda: kinks().replace(initial={"x": 0, "y": 0}), {"duration": 2.0}),
    "stiffness is told": Case(stiff_bead, {"duration": 0.3}),
    "large, through singular configurations": Case(lambda: mechanism(6), {"duration": 1.5}),
    "large, from a singular configuration": Case(lambda: flat(mechanism(6)), {"duration": 0.3}),
    "through singular configurations": Case(lambda: mechanism(1), {"duration": 3.0}),
    "from a singular configuration": Case(lambda: flat(mechanism(1)), {"duration": 0.3}),
    "to a gradient that vanishes": Case(
        lambda: plane({"c": "(t - 1)*y'"}, (1, 0), y=5), {"duration": 1.0, "rtol": 1e-9}
    ),
    "through a double point": Case(lemniscate, {"duration": 6.0}),
    "without projection": Case(da.library.pendulum, {"duration": 2.0, "project": False}),
    "a pulse that steps must not pass over": Case(pulse, {"duration": 4.0}),
    "no constraint at all": Case(
        lambda: da.System("free", coordinates="x", kinetic="x'^2/2", potential="x^4", initial={"x": 1, "x'": 0}),
        {"duration": 3.0},
    ),
}
SPECIAL |= {
    "heat of drag": Case(lambda: rubbing(da.Viscous("floor", "c", point=["x", "y"]), x=1), {"duration": 1.0}),
    "friction that slips": Case(lambda: rubbing(da.Coulomb("floor", "c", point=["x", "y"]), x=1), {"duration": 1.0}),
    "friction that holds beside a drive": Case(
        lambda: rubbing(da.Coulomb("floor", "c", point=["x", "y"]), x=0),
        {"duration": 1.0, "events": {"half": "s - 0.5"}},
    ),
}
SPECIAL |= {
    f"nonlinear in the accelerations: {name}": Case(lambda name=name: CURVED[name], {"duration": 0.5})  # type: ignore[misc]
    for name in ("two spheres", "with a repeated constraint", "with work of the ideal force", "singular mass")
}
SPECIAL |= {
    f"actual force: {name}": Case(lambda name=name: PRESSED[name], {"duration": 0.5})  # type: ignore[misc]
    for name in ("size", "both forces", "repeated constraint", "singular mass")
}
SPECIAL |= {
    f"fading gradient: {name}": Case(lambda name=name: CASES[name][0], {"duration": CASES[name][1]})  # type: ignore[misc]
    for name in ("two curves", "velocities that fade", "with a repeated row", "singular mass")
}
LIBRARY = {name: Case(lambda name=name: da.library.get(name)) for name in da.library.names()}  # type: ignore[misc]
EVERY_KIND = LIBRARY | SPECIAL


class _RecordedError(BaseException):
    def __init__(self, call: Call) -> None:
        self.call = call


class _Recorder:
    """Stands in for a kernel."""

    instructions, seconds = 0, 0.0

    def __init__(self, source: str, *model: Any) -> None:
        self.source, self.model = source, model

    def integrate(self, *arguments: Any, **named: Any) -> None:
        names = ["y0", "t0", "parameters", "times", "rtol", "atol", "method", "project", "watch"]
        raise _RecordedError(Call(self.source, dict(zip(names, arguments, strict=True)) | named, self.model))


def recorded(system: da.System, **options: Any) -> Call:
    """What `simulate` hands to a kernel. The source has all methods, Taylor series if there is one."""

    def make(
        system: da.System,
        graph: Any,
        rows: Sequence[int],
        asked: Sequence[str],
        compiler: Compiler,
        completion: float = 0.0,
        limit: int = 0,
    ) -> _Recorder:
        try:
            source = kernel_source(system, graph, rows, ("stiff", "taylor"), completion)
        except TaylorNotApplicable:
            if "taylor" in asked:
                raise
            source = kernel_source(system, graph, rows, ("stiff",), completion)
        return _Recorder(source, system, graph, rows, completion)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DALEMBERT_KERNEL", "compiled")
        patch.setattr(kernel_choice, "make_kernel", make)
        try:
            system.simulate(backend="native", **options)
        except _RecordedError as found:
            return found.call
    raise AssertionError("no kernel was called")


@cache
def calls(name: str, points: int = 41) -> tuple[Call, ...]:
    """One call for each method, of the same source, of the case of this name: made once, read by several tests."""
    case = EVERY_KIND[name]
    system = case.system()
    duration = case.options.get("duration", system.settings.get("duration"))
    start = system.initial_values()[2]
    options = {"rtol": 1e-7} | {key: value for key, value in case.options.items() if key != "duration"}
    times = np.linspace(start, start + duration, points)
    found = [recorded(system, times=times, method=method, **options) for method in case.methods]
    if "#define DA_TAYLOR 1" in found[0].source and tuple(case.methods) == METHODS:
        found.append(recorded(system, times=times, method="taylor", **options))
    return tuple(found)
