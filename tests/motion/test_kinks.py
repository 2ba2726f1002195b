"""Kinks of a model against closed forms: abs, sign, min, max and conditions, located and restarted on both backends."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.build import find_compiler

x, y = da.coordinates("x y")
Array = np.ndarray
BACKENDS = ["reference"] + (["native"] if find_compiler() is not None else [])
# Global errors of motions of some tens of seconds at rtol = 1e-9, whose sizes are about one: those of smooth motions
# (an oscillator over twenty periods: 3e-9 on the reference backend).
NEAR = 2e-8
# The slow backend locates kinks in the same way again and again: two periods of any of these motions show it.
LONG_ENOUGH = {"reference": 12.0, "native": np.inf}


def particle(potential: Any = 0, force: Any = 0, at: float = 1.0, speed: float = 0.0) -> da.System:
    return da.System(
        "particle",
        coordinates=[x],
        kinetic=x.d**2 / 2,
        potential=potential,
        forces={x: force},
        initial={x: at, x.d: speed},
    )


def told(failure: BaseException) -> float:
    """The time that a message gives."""
    return float(str(failure).split("beyond t = ")[1].split(":")[0])


def folded(t: Array) -> Array:
    """V = |x| from rest at 1: parabolas, of period 4√2."""
    quarter = np.sqrt(2.0)
    u = np.mod(t, 4 * quarter)
    return np.where(
        u < quarter,
        1 - u**2 / 2,
        np.where(u < 3 * quarter, -1 + (u - 2 * quarter) ** 2 / 2, 1 - (u - 4 * quarter) ** 2 / 2),
    )


def bilinear(t: Array) -> Array:
    """Stiffness 1 where x > 0 and 4 elsewhere, from rest at 1: half periods π and π/2."""
    u = np.mod(t, 1.5 * np.pi)
    late = np.cos(u - 1.5 * np.pi)
    return np.where(u < np.pi / 2, np.cos(u), np.where(u < np.pi, -np.sin(2 * (u - np.pi / 2)) / 2, late))


def backlash(t: Array) -> Array:
    """A spring of stiffness 1 behind a play of ±0.2, from rest at 1: cosines, and straight lines in the play."""
    play, size, quarter = 0.2, 0.8, np.pi / 2
    over = 2 * play / size
    half = 2 * quarter + over
    u = np.mod(t, 2 * half)
    sign, u = np.where(u < half, 1.0, -1.0), np.mod(u, half)
    inside = play - size * (u - quarter)
    beyond = -play - size * np.sin(u - quarter - over)
    return sign * np.where(u < quarter, play + size * np.cos(u), np.where(u < quarter + over, inside, beyond))


def saturated(t: Array) -> Array:
    """The force −x, at most 1 in size, from rest at 3/2: a parabola, then a sine with the speed 1 at 1."""
    return np.where(t < 1, 1.5 - t**2 / 2, np.cos(t - 1) - np.sin(t - 1))


CLOSED: dict[str, tuple[da.System, float, Callable[[Array], Array]]] = {
    "|x|": (particle(sp.Abs(x)), 100.0, folded),
    "bilinear": (particle(sp.Piecewise((x**2 / 2, x > 0), (2 * x**2, True))), 20 * 1.5 * np.pi, bilinear),
    "backlash": (particle(sp.Max(sp.Abs(x) - sp.Rational(1, 5), 0) ** 2 / 2), 30.0, backlash),
    "saturated": (particle(force=-sp.Max(-1, sp.Min(1, x)), at=1.5), 2.0, saturated),
    "sign far from rest": (particle(force=-sp.sign(x.d), at=0, speed=10), 5.0, lambda t: 10 * t - t**2 / 2),
    "switched on": (
        particle(force=sp.Piecewise((0, da.t < 1), (3, True)), at=0),
        5.0,
        lambda t: 1.5 * np.maximum(t - 1, 0) ** 2,
    ),
    "a short blow": (
        particle(force=sp.Piecewise((1000, (da.t >= 1) & (da.t < sp.Rational(1001, 1000))), (0, True)), at=0),
        5.0,
        lambda t: np.where(t < 1, 0, np.where(t < 1.001, 500 * (t - 1) ** 2, 5e-4 + (t - 1.001))),
    ),
    "from a kink": (particle(sp.Abs(x), at=0, speed=-1), 3.0, lambda t: -t + t**2 / 2 - np.maximum(t - 2, 0) ** 2),
    "from rest at a kink": (particle(sp.Abs(x) / 2, force=-1, at=0), 2.0, lambda t: -(t**2) / 4),
    "at rest on a kink": (particle(sp.Abs(x), at=0), 5.0, lambda t: 0 * t),
    "a touch": (particle(x**2 / 2 + sp.Max(x - 1, 0) ** 2), 20.0, np.cos),
    "not a power beyond": (particle(sp.Max(0, -x) ** sp.Rational(5, 2) + x, at=1), 1.0, lambda t: 1 - t**2 / 2),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms(name: str, backend: str) -> None:
    system, duration, exact = CLOSED[name]
    duration = min(duration, LONG_ENOUGH[backend])
    motion = system.simulate(duration, rtol=1e-9, samples=101, backend=backend, method="dop853")
    np.testing.assert_allclose(motion.q[:, 0], exact(motion.t), atol=NEAR)
    assert motion.certificate.holds
    assert motion.events == ()  # passages of kinks are no events of the motion


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("method", ["dopri5", "stiff", "taylor"])
@pytest.mark.parametrize("name", ["|x|", "bilinear", "backlash", "a short blow", "from a kink"])
def test_other_methods(name: str, method: str) -> None:
    system, duration, exact = CLOSED[name]
    motion = system.simulate(duration, rtol=1e-9, samples=101, backend="native", method=method)
    np.testing.assert_allclose(motion.q[:, 0], exact(motion.t), atol=NEAR)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_force_that_ends_at_a_kink(backend: str) -> None:
    """Hertz's law max(0, −x)^1.5 has no value beyond its kink. The drop rises again to where it began, and the contact
    lasts as a quadrature says: 2 ∫ dx/√(2(E − V)).
    """
    system = particle(sp.Max(0, -x) ** sp.Rational(5, 2) * 40 + x, at=1)
    depth = float(sp.nsolve(40 * sp.Symbol("d") ** sp.Rational(5, 2) - sp.Symbol("d") - 1, 0.25))
    # x = −d sin²φ takes the singularity of the turning point out of the integral.
    nodes, weights = np.polynomial.legendre.leggauss(200)
    phi = (nodes + 1) * np.pi / 4
    z = depth * np.sin(phi) ** 2
    speed = np.sqrt(2 * (1 + z - 40 * z**2.5))
    lasts = 2 * float(np.sum(weights * np.pi / 4 * depth * np.sin(2 * phi) / speed))
    period = 2 * np.sqrt(2.0) + lasts
    motion = system.simulate(times=np.arange(1, 6) * period, rtol=1e-10, backend=backend)
    # The fractional power leaves the fifth derivative unbounded at the kink itself, so that steps next to it are judged
    # less well: a thousand tolerances.
    np.testing.assert_allclose(motion.q[:, 0], 1, atol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_events_at_a_kink(backend: str) -> None:
    """The user's function passes zero at the same instants: each passage counts once, and the third ends the motion."""
    events = {"zero": x, "third": da.Event(x, terminal=3), "low": da.Event(x + 0.5, direction="falling")}
    motion = particle(sp.Abs(x)).simulate(100, backend=backend, events=events)
    found = [event["t"] for event in motion.events if event["name"] == "zero"]
    np.testing.assert_allclose(found, np.sqrt(2) * np.array([1, 3, 5]), rtol=1e-12)
    assert motion.ended_by == "third"
    low = [event["t"] for event in motion.events if event["name"] == "low"]
    # −1/2 on the way down, in the second quarter: −1 + (t − 2√2)²/2
    np.testing.assert_allclose(low, 2 * np.sqrt(2) - 1, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["to rest", "on a spring", "pushed too little"])
def test_chattering_is_told_at_once(kind: str, backend: str) -> None:
    """sign(x′) drives a motion back as soon as it has crossed x′ = 0: no side is right, as with all sliding modes."""
    system, when = {
        "to rest": (particle(force=-sp.sign(x.d), at=0, speed=1), 1.0),
        "on a spring": (particle(x**2 / 2, -sp.sign(x.d) / 10), 5 * np.pi),  # 1, −0.8, 0.6, −0.4, 0.2, 0: held
        "pushed too little": (particle(sp.Abs(x), force=0.5, at=0), 0.0),
    }[kind]
    started = time.perf_counter()
    with pytest.raises(da.MotionFailed, match="chatter") as failure:
        system.simulate(100, backend=backend)
    assert time.perf_counter() - started < 30  # a limit that tells a hang from an answer
    # Friction turns the errors of the speed, tolerances, into errors of the time at which it is zero.
    assert told(failure.value) == pytest.approx(when, abs=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_passages_that_accumulate(backend: str) -> None:
    """V = |x| with friction sign(x′)/5: speeds at zero shrink by √((1 − c)/(1 + c)), and so do the times between."""
    c, ratio = 0.2, np.sqrt(0.8 / 1.2)
    # From rest at x₀: down with 1 − c in √(2x₀/(1 − c)), up with 1 + c; the next height is x₀ (1 − c)/(1 + c).
    first = np.sqrt(2 / (1 - c)) + np.sqrt(2 * (1 - c)) / (1 + c)
    with pytest.raises(da.MotionFailed, match="chatter") as failure:
        particle(sp.Abs(x), -c * sp.sign(x.d)).simulate(100, backend=backend)
    # It is told when the distances are rounding, 1e-12: their roots are times.
    assert told(failure.value) == pytest.approx(first / (1 - ratio), abs=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_corner_in_time_is_told_at_its_time(backend: str) -> None:
    system = da.System(
        "corner in time",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints={"table": "y - abs(t - 1)"},
        initial={"x": 0, "y": 1, "x'": 0, "y'": -1},
    )
    with pytest.raises(da.MotionFailed, match=r"beyond t = 1: a constraint has a corner"):
        system.simulate(2, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_corner_of_a_constraint_is_an_impact(backend: str) -> None:
    valley = da.System(
        "valley",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=y,
        constraints={"slopes": y - sp.Abs(x)},
        initial={x: 1, y: 1, x.d: 0, y.d: 0},
    )
    with pytest.raises(da.MotionFailed, match="corner where x = 0"):
        valley.simulate(5, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_constraint_with_a_kink_in_its_curvature(backend: str) -> None:
    """A bead on y = x²/2 for x > 0 and y = x² for x < 0, without energy lost; against itself at a tighter tolerance."""
    wire = sp.Piecewise((x**2 / 2, x > 0), (x**2, True))
    bead = da.System(
        "bead",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=y,
        constraints={"wire": y - wire},
        initial={x: 1, y: 0.5, x.d: 0, y.d: 0},
    )
    duration = min(20, LONG_ENOUGH[backend])
    motion, finer = (bead.simulate(duration, rtol=r, samples=41, backend=backend) for r in (1e-9, 1e-12))
    np.testing.assert_allclose(motion.q, finer.q, atol=NEAR)
    np.testing.assert_allclose(motion.energy, 0.5, atol=NEAR)


@pytest.mark.parametrize("backend", BACKENDS)
def test_contacts_pass_kinks_too(backend: str) -> None:
    """A block on a rough floor, pulled by a force that is switched on and off: it slides only while the pull is on, and
    until friction has stopped it. x = (pull − μg) t²/2 for one second, then the way that μg takes to stop it.
    """
    pull, mu, g = 5.0, 0.3, 9.81
    block = da.System(
        "block",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=g * y,
        forces={x: sp.Piecewise((pull, (da.t > 1) & (da.t < 2)), (0, True))},
        constraints={"floor": y},
        nonideal=[da.Coulomb("floor", mu=mu)],
        initial={x: 0, y: 0, x.d: 0, y.d: 0},
    )
    motion = block.simulate(6, rtol=1e-9, samples=61, backend=backend)
    speed = pull - mu * g
    assert motion.q[-1, 0] == pytest.approx(speed / 2 + speed**2 / (2 * mu * g), abs=1e-8)
    assert motion.certificate.holds


def test_smooth_models_are_integrated_as_they_are() -> None:
    from dalembert.motion.integrate.kinks import with_switches
    from dalembert.motion.state.evaluation import Evaluation

    for system in (particle(x**2 / 2), particle(sp.sqrt(x**2 + 1)), particle(x**2 * sp.Max(*da.parameters("a b")))):
        evaluation = Evaluation(system, np.ones(len(system.parameter_symbols)))
        assert with_switches(evaluation)[0] is evaluation


@pytest.mark.parametrize("samples", [501, 1001, 5000])
def test_right_motions_over_kinks_are_certified(samples):
    """Quadratures and repetitions over a kink say nothing: such stretches are left out."""
    system = da.System("v", coordinates="x", kinetic="x'^2/2", potential="abs(x)", initial={"x": 1, "x'": 0})
    assert system.simulate(50, samples=samples).certificate.holds


def test_a_short_push_switched_by_conditions_is_certified():
    x = da.coordinates("x")[0] if isinstance(da.coordinates("x"), tuple) else da.coordinates("x")
    push = sp.Piecewise((100, (da.t > 5) & (da.t < 5.001)), (0, True))
    system = da.System("push", coordinates=[x], kinetic=x.d**2 / 2, forces={x: push}, initial={x: 0, x.d: 0})
    motion = system.simulate(10)
    assert motion["x'"][-1] == pytest.approx(0.1, rel=1e-9)
    assert motion.certificate.holds


@pytest.mark.parametrize("edge", [x, da.t - 1, x**2 - 4])
def test_a_jump_of_mass_is_refused(edge: sp.Expr) -> None:
    """At a place energy would be kept and at a time momentum, by a velocity that jumps."""
    jumps = da.System(
        "jumps", coordinates=[x], kinetic=sp.Piecewise((1, edge < 0), (2, True)) * x.d**2 / 2, initial={x: -1, x.d: 1}
    )
    with pytest.raises(da.ModelError, match=r"the kinetic energy jumps where .* = 0: velocities would have to jump"):
        jumps.simulate(3.0)


def test_a_jump_of_a_potential_at_a_place_is_refused() -> None:
    step = sp.Piecewise((0, x < 0), (1, True))
    with pytest.raises(da.ModelError, match="the potential energy jumps where x = 0: the force would be infinite"):
        particle(step).simulate(1.0)
    # At a time it is another potential from then on: x' = 1 until t = 1, where x = 0, then x = sin(t − 1).
    later = particle(sp.Piecewise((0, da.t < 1), (x**2 / 2, True))).replace(initial={x: -1, x.d: 1})
    assert later.simulate(2.0, samples=3).q[-1, 0] == pytest.approx(np.sin(1.0), abs=1e-8)  # of the integration


def test_a_mass_that_changes_within_a_stretch_keeps_the_energy() -> None:
    """The velocity beyond the ramp is that of the kept energy, 1/√2, however short the ramp is."""
    ramp = 1 + sp.Min(1, sp.Max(0, 100 * x))
    block = da.System("ramp", coordinates=[x], kinetic=ramp * x.d**2 / 2, initial={x: -1, x.d: 1})
    motion = block.simulate(3.0, samples=31)
    assert motion.certificate.holds
    assert motion.v[-1, 0] == pytest.approx(2**-0.5, abs=1e-8)


def test_equal_masses_on_both_sides_are_no_jump() -> None:
    (m,) = da.parameters("m")
    same = da.System(
        "same",
        coordinates=[x],
        kinetic=sp.Piecewise((m, x < 0), (2, True)) * x.d**2 / 2,
        parameters={m: 2},
        initial={x: -1, x.d: 1},
    )
    assert same.simulate(2.0, samples=3).q[-1, 0] == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(da.ModelError, match="kinetic energy jumps"):
        same.replace(parameters={m: 1}).simulate(2.0)


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    "law",
    [
        {"slide": ("x' - (sign(t - 1) - sign(t - 3))/2",)},
        {"slide": ("x' - (sign(t - 1) - sign(t - 3))/2", "z'")},
        {"point": ("x - max(0, t - 1) + max(0, t - 3)", "y")},
    ],
    ids=["line", "plane", "point"],
)
def test_a_belt_that_is_switched_on_and_off(law: dict[str, Any], backend: str) -> None:
    """What sticks to it slips, with 3 m/s², until it has the speed of the belt. No constraint of the model strikes."""
    block = da.System(
        "block on a belt",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="10*y",
        constraints={"belt": "y >= 0"},
        nonideal=[da.Coulomb("belt", 0.3, **law)],
        initial=dict.fromkeys(("x", "y", "z", "x'", "y'", "z'"), 0),
    )
    motion = block.simulate(5, samples=51, backend=backend)
    t = motion.t
    speed = np.where(t < 2, np.clip(3 * (t - 1), 0, 1), np.clip(1 - 3 * (t - 3), 0, 1))
    # To the tolerance of 1e-9, and in a plane to the speed at which slipping stops on what moves, 20 times that.
    assert motion["x'"] == pytest.approx(speed, abs=1e-7)
    assert [e["name"] for e in motion.events] == ["slip", "stick", "slip", "stick"]
    assert [e["t"] for e in motion.events] == pytest.approx([1, 4 / 3, 3, 10 / 3], abs=1e-7)
    assert motion.heat["belt"][-1] == pytest.approx(1, abs=1e-7)  # v²/2 each time
    assert motion.certificate.holds, motion.certificate.failures


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_comes_to_rest_in_a_kink_of_places_is_not_sent_to_friction(backend):
    """A block with dry friction in V = 4 |x| passes x = 0 ever sooner: with decelerations a = 4 + μg outward and
    b = 4 − μg inward each swing is b/a of the last one, and all of them end at a time of their own.
    """
    mu, start = 0.2, 0.3
    block = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y + 4*abs(x)",
        constraints=[da.Constraint("floor", "y >= 0")],
        nonideal=[da.Coulomb("floor", mu, slide=["x'"])],
        initial={"x": start, "y": 0, "x'": 0, "y'": 0},
    )
    with pytest.raises(da.MotionFailed, match=r"where x = 0.*ever sooner.*Round the kink off") as told_of:
        block.simulate(3, backend=backend, rtol=1e-6)
    assert "Coulomb" not in str(told_of.value)
    out, back = 4 + mu * 9.81, 4 - mu * 9.81
    # From a height x: a time √(2x/back) to the kink, √(2 x'/out) beyond it, with x' = x back/out.
    swing = np.sqrt(2 * start / back) + np.sqrt(2 * start * back / out**2)
    end = swing / (1 - np.sqrt(back / out))
    assert told_of.value.motion.t[-1] <= end + 1e-6
    named = float(re.search(r"beyond t = ([\d.]+)", str(told_of.value))[1])
    assert named == pytest.approx(end, abs=1e-5)


def test_a_kink_is_passed_where_the_state_just_vanishes() -> None:
    """Twenty square waves in one turn of an oscillator from rest: each pushes by as much as it pulls, and after a turn
    it is at rest, but for rounding, as the force changes sign. Then all begins again.
    """
    motion = particle(x**2 / 2, sp.sign(sp.sin(20 * da.t)), at=0).simulate(2.1 * np.pi)
    z, now, push, half = 0j, 0.0, 1.0, np.pi / 20  # z = x + i x′: turns about the force in each half period
    while now < motion.t[-1]:
        step = min(half, motion.t[-1] - now)
        z, now, push = push + (z - push) * np.exp(-1j * step), now + step, -push
    assert [motion["x"][-1], motion["x'"][-1]] == pytest.approx([z.real, z.imag], abs=NEAR)


@pytest.mark.parametrize("backend", BACKENDS)
def test_kinks_that_depend_on_the_sides_of_others_are_left_out_of_quadratures(backend: str) -> None:
    """min(x, 1 − x, …) from 0.1, where its second function is on the other side than it is with the first one's."""
    potential = 10 * sp.Min(x, 1 - x, sp.Rational(1, 5) + x / 10)
    motion = particle(potential, at=0.1, speed=2).simulate(0.6, backend=backend)
    assert motion.certificate.holds
    # Down by 10 to x = 2/9, by 1 to 8/11, then driven up by 10.
    speed = np.sqrt(4 - 20 * (2 / 9 - 0.1))
    first, there = (2 - speed) / 10, np.sqrt(speed**2 - 2 * (8 / 11 - 2 / 9))
    left = 0.6 - first - (speed - there)
    assert motion["x"][-1] == pytest.approx(8 / 11 + there * left + 5 * left**2, abs=NEAR)
