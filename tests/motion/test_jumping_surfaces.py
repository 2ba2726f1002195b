"""Belts whose speed jumps while something slips on them: it slips on, the other way where the sliding has turned."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da

G, MU = 9.81, 0.25
x, y, z = da.coordinates("x y z")


def slid(v: float, jump: float, belt: float, end: float) -> float:
    """Where a block is that slips at v on a belt at rest, which has the given speed from `jump` on: by ±μg throughout,
    until it goes with the belt.
    """
    place, v = v * jump - MU * G * jump**2 / 2, v - MU * G * jump
    sign = 1 if belt > v else -1
    while_it_slips = min(end - jump, abs(belt - v) / (MU * G))
    place += v * while_it_slips + sign * MU * G * while_it_slips**2 / 2
    return place + (v + sign * MU * G * while_it_slips) * (end - jump - while_it_slips)


def block(
    slide: sp.Expr | None = None, place: sp.Expr = x, force: sp.Expr | int = 0, x0=0, v0=0, start: sp.Expr | int = 0
) -> da.System:
    """A block on a level belt, by its place on that, or by how fast it slides there; at x0 and v0 at the start."""
    law = {"point": (place, z)} if slide is None else {"slide": (slide,)}
    return da.System(
        "block on a belt",
        coordinates=[x, z],
        kinetic=(x.d**2 + z.d**2) / 2,
        potential=G * z,
        forces={x: force},
        constraints={"floor": z},
        nonideal=[da.Coulomb("floor", MU, **law)],
        initial={x: x0, z: 0, x.d: v0, z.d: 0, "t": start},
    )


def switched(jump: float, belt: float) -> sp.Expr:
    return sp.Piecewise((0, da.t < jump), (belt, True))


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(("jump", "belt"), [(0.1, 1.0), (0.2, 2.0), (0.1, 0.2), (0.1, -1.0)])
@pytest.mark.parametrize("energy", [0.0, 1e6])
def test_sliding_that_jumps_through_zero_goes_on(backend, jump, belt, energy):
    """A large energy beside it once hid from the certificate that the block was stopped at once."""
    system = da.System(
        "block on a belt",
        coordinates=[x, z, y],
        kinetic=(x.d**2 + z.d**2 + y.d**2) / 2,
        potential=G * z + y**2 / 2,
        constraints={"floor": z >= 0},
        nonideal=[da.Coulomb("floor", MU, slide=(x.d - switched(jump, belt),))],
        initial={x: 0, z: 0, y: (2 * energy) ** 0.5, x.d: 0.8, z.d: 0, y.d: 0},
    )
    motion = system.simulate(1.5, rtol=1e-9, backend=backend)
    assert motion["x"][-1] == pytest.approx(slid(0.8, jump, belt, 1.5), rel=1e-9)
    assert motion.certificate.holds, motion.certificate


def test_over_the_joint_of_two_belts():
    """It leaves the first with √(2 μ g) = 1.4 m/s, and slides one more metre on the second, which is at rest."""
    system = da.System(
        "two belts",
        coordinates=[x, z],
        kinetic=(x.d**2 + z.d**2) / 2,
        potential=G * z,
        constraints={"floor": z >= 0},
        nonideal=[da.Coulomb("floor", 0.1, slide=(x.d - sp.Piecewise((2, x < 1), (0, True)),))],
        initial={x: 0, z: 0, x.d: 0, z.d: 0},
    )
    motion = system.simulate(4.0, rtol=1e-9)
    assert motion["x"][-1] == pytest.approx(2.0, rel=1e-9)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("width", [0.05, 0.1])
def test_a_table_that_jerks(width):
    """Its place is a pulse, exp(−((t − 2)/w)²): where the table overtakes the block, friction drives that on.
    Multiplied out, the pulse was zero, or had no value. Reference: v′ = −μg sign(v − b′) in short steps.
    """
    pulse = sp.exp(-(((da.t - 2) / width) ** 2))
    system = da.System(
        "block on a table that jerks",
        coordinates=[x, z],
        kinetic=(x.d**2 + z.d**2) / 2,
        potential=10 * z,
        constraints={"floor": z},
        nonideal=[da.Coulomb("floor", 0.5, point=(x - pulse, z))],
        initial={x: 0, z: 0, x.d: 18, z.d: 0},
    )
    motion = system.simulate(3, rtol=1e-9, samples=7)
    first, last = 2 - 8 * width, min(2 + 8 * width, 3)
    times = np.linspace(first, last, 400_001)[:-1] + (last - first) / 800_000
    table = -2 * (times - 2) / width**2 * np.exp(-(((times - 2) / width) ** 2))
    v = 18 - 5 * first
    for speed in table:
        v -= 5 * np.sign(v - speed) * (last - first) / 400_000
    v -= 5 * (3 - last)
    # The reference is known to its steps at each of the passages, 5 · 4e-6.
    assert motion["x'"][-1] == pytest.approx(v, abs=1e-4)
    assert v > 3.1  # without the jerk it would be 3
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    ("force", "place", "end"),
    [(15 * sp.Piecewise((0, da.t < 1), (1, True)), x, "slip"), (0, x - sp.Max(0, da.t - 1), "slip"),
     (0, x - sp.Min(da.t, 1), "slip"), (2 * sp.Min(da.t, 1), x, "stick"), (15 * sp.Max(0, da.t - 1), x, "stick")],
)  # fmt: skip
def test_a_jump_just_at_the_end(force, place, end, backend):
    """What is switched on, or stops, at the very end of a motion belongs to it: the last output once kept what held
    before, beyond its limit.
    """
    carried = place.has(sp.Min)
    motion = block(place=place, force=force, v0=int(carried)).simulate(1.0, backend=backend)
    assert motion.contacts["floor"].state[-1] == end
    assert set(motion.contacts["floor"].state[:-1]) == {"stick"}
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("rtol", [1e-9, 1e-4])
def test_a_belt_that_sets_off_just_at_the_start(rtol, backend):
    """Its place is 0.4 |sin 1.5 t|: at t = 0 it has no speed, and 0.6 at once after. The block was given that speed,
    and where tolerances are loose the certificate held. It gains μ g a second instead.
    """
    belt = sp.Rational(2, 5) * sp.Abs(sp.sin(sp.Rational(3, 2) * da.t))
    motion = block(place=x - belt).simulate(0.2, rtol=rtol, backend=backend, samples=41)
    np.testing.assert_allclose(motion["x'"], MU * G * motion.t, atol=1e-10)
    np.testing.assert_allclose(motion["x"], MU * G * motion.t**2 / 2, atol=1e-10)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(("end", "samples"), [(1.0, 5), (2.0, 9), (2.0, 10)])
def test_sliding_that_jumps_through_zero_at_an_output(backend, end, samples):
    """The output at the jump has what follows: its friction was that of the sliding before, against what slides then,
    and the certificate failed. Outputs that pass the jump by show the same motion.
    """
    belt = sp.Piecewise((5, da.t < 1), (-5, True))
    motion = block(slide=x.d - belt).simulate(end, samples=samples, backend=backend)
    np.testing.assert_allclose(motion["x'"], MU * G * (1 - np.abs(1 - motion.t)), atol=1e-9)
    np.testing.assert_allclose(motion["x''"], MU * G * np.where(motion.t < 1, 1, -1), rtol=1e-9)
    assert motion.certificate.holds, motion.certificate


def on_three_feet(force: sp.Expr, belt: sp.Expr, start: float, height: float = 0.0) -> da.System:
    """In a plane, so that it sticks with more feet than it needs; half as high as it is wide."""
    (a,) = da.coordinates("a")
    lifted = z - height + (1 - sp.cos(a)) / 2
    feet = {f"foot{k}": lifted + at * sp.sin(a) >= 0 for k, at in enumerate((-1, sp.Rational(1, 4), 1))}
    return da.System(
        "sled",
        coordinates=[x, z, a],
        kinetic=(x.d**2 + z.d**2) / 2 + a.d**2 / 6,
        potential=G * z,
        forces={x: force},
        constraints=feet,
        nonideal=[da.Coulomb(name, MU, slide=(x.d + a.d / 2 - belt,)) for name in feet],
        initial={x: 0, z: height, a: 0, x.d: start, z.d: 0, a.d: 0},
    )


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("start", [0, 2])
def test_a_jump_just_at_the_end_under_feet_that_share_their_forces(start, backend):
    """Their last output kept sticking to a belt that runs away by then."""
    belt = sp.Piecewise((start, da.t < 1), (2 - start, True))
    motion = on_three_feet(sp.Integer(0), belt, start).simulate(1.0, samples=5, backend=backend)
    assert all(contact.state[-1] == "slip" for contact in motion.contacts.values())
    assert motion["x''"][-1] == pytest.approx(MU * G * (1 if start == 0 else -1), rel=1e-9)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_what_never_moved_is_pushed_off_one_way(backend):
    """Its velocities before are rounding, and so was the speed that they were compared with: it was said to slip the
    other way first, and to turn back at once.
    """
    push = sp.Piecewise((1, da.t < 1), (8, True))
    motion = on_three_feet(push, sp.Integer(0), 0, height=0.5).simulate(2.0, samples=9, backend=backend)
    assert [event["name"] for event in motion.events] == ["slip"] * 3
    np.testing.assert_allclose(motion["x'"], np.maximum(0, motion.t - 1) * (8 - MU * G), atol=1e-9)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("place", [0.0, 0.5])
def test_what_rests_until_long_before_its_surface_moves(backend, place):
    """It is at rest throughout, but for rounding, which was taken for sliding where it lies at the origin."""
    belt = sp.Piecewise((0, da.t < 5), (2, True))
    motion = on_three_feet(sp.Integer(1), belt, 0).replace(initial={x: place}).simulate(1.0, samples=5, backend=backend)
    assert np.abs(motion.v).max() < 1e-15
    assert motion.certificate.holds, motion.certificate


ORIGINS = (sp.Rational(-1, 2), sp.Rational(1, 3), sp.Integer(10_000))


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("start", [sp.Integer(0), *ORIGINS])
def test_a_jump_that_ends_slipping_lets_go_of_what_sticks_too(start, backend):
    """The belt goes at 1 and back at −1 half a second after the start. One block rides on it, the other is still slower
    then, and both slip against it from there on: by μ g, the rider from 1, the other from μ g/2 with a smaller μ.

    Where time begins does not matter: a jump at t = 0 was located to a rounding of zero, and overlooked; one a rounding
    after an output took this along; and of late times a moment was less than a rounding.
    """
    x1, z1 = da.coordinates("x1 z1")
    belt = sp.Piecewise((1, da.t < start + sp.Rational(1, 2)), (-1, True))
    motion = da.System(
        "two blocks on a belt",
        coordinates=[x, z, x1, z1],
        kinetic=(x.d**2 + z.d**2 + x1.d**2 + z1.d**2) / 2,
        potential=G * (z + z1),
        constraints={"floor": z, "other": z1},
        nonideal=[da.Coulomb("floor", MU, slide=(x.d - belt,)), da.Coulomb("other", 0.1, slide=(x1.d - belt,))],
        initial={x: 0, z: 0, x1: 0, z1: 0, x.d: 1, z.d: 0, x1.d: 0, z1.d: 0, "t": start},
    ).simulate(0.9, backend=backend, samples=10)
    later = motion.t - float(start) - 0.5
    # As the time of the jump is known: 1e-12 of 10⁴, times μ g.
    np.testing.assert_allclose(motion["x'"], np.where(later <= 0, 1, 1 - MU * G * later), atol=1e-10)
    np.testing.assert_allclose(motion["x1'"], 0.1 * G * (0.5 - np.abs(later)), atol=1e-10)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("start", ORIGINS)
def test_a_belt_that_sets_off_just_at_the_start_at_any_time(start, backend):
    belt = sp.Rational(2, 5) * sp.Abs(sp.sin(sp.Rational(3, 2) * (da.t - start)))
    motion = block(place=x - belt, start=start).simulate(0.2, backend=backend, samples=41)
    np.testing.assert_allclose(motion["x'"], MU * G * (motion.t - float(start)), atol=1e-10)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("start", ORIGINS)
def test_a_force_that_sets_off_at_any_time(start, backend):
    """The certificate looks at the forces a moment before and after the block sets off, at 1 N beyond its limit."""
    motion = block(
        place=x, force=sp.Piecewise((1, da.t < start + sp.Rational(1, 2)), (1 + MU * G, True)), start=start
    ).simulate(1.0, backend=backend, samples=7)
    np.testing.assert_allclose(motion["x'"], np.maximum(0, motion.t - float(start) - 0.5), atol=1e-10)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("place", [0.0, -0.1, 1e3])
@pytest.mark.parametrize("joint", ["<", "<="])
def test_the_joint_of_two_belts_wherever_places_begin(joint, place, backend):
    """The joint itself belongs to the first belt, or to the second: where a block comes to it, or begins just on it, it
    slips from there on.
    """
    at = 0.1 + place if place else 0.0
    belt = sp.Piecewise((1, x <= at) if joint == "<=" else (1, x < at), (2, True))
    motion = block(slide=x.d - belt, x0=place, v0=1).simulate(0.3, backend=backend, samples=31)
    later = np.maximum(0, motion.t - (at - place))
    # Places of 1000 are known to 1e-13.
    np.testing.assert_allclose(motion["x'"], 1 + MU * G * later, atol=1e-11)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("start", [sp.Integer(0), sp.Rational(-3, 2)])
def test_a_belt_that_jumps_just_where_the_block_stops(start, backend):
    """It goes back at 1 every other quarter of a second: the block swings between rest and −μg/4, and comes to rest
    just as the belt sets off again. Stopped a rounding before, it was carried along.
    """
    belt = sum(sp.Piecewise((0, da.t < start + sp.Rational(k, 4)), ((-1) ** k, True)) for k in range(1, 8))
    motion = block(slide=x.d - belt, start=start).simulate(1.6, backend=backend, samples=6)
    swings = np.abs((motion.t - float(start) - 0.25) % 0.5 - 0.25) - 0.25
    wanted = np.where(motion.t - float(start) < 0.25, 0, MU * G * swings)
    np.testing.assert_allclose(motion["x'"], wanted, atol=1e-10)
    assert motion.certificate.holds, motion.certificate
