"""One-sided constraints with a corner, and the same corner as two constraints."""

from __future__ import annotations

import pytest
import sympy as sp

import dalembert as da

x, y = da.coordinates("x y")
REMEDY = r"give its sides as two one-sided constraints, -x \+ y >= 0 and x \+ y >= 0"


def in_a_valley(constraints, start, e=0) -> da.System:
    values = dict(zip((x, y, x.d, y.d), start, strict=True))
    return da.System(
        "valley",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=9.81 * y,
        constraints=[da.Constraint(name, c, restitution=e) for name, c in constraints.items()],
        initial=values,
    )


ONE, TWO = {"valley": y >= sp.Abs(x)}, {"right": y - x >= 0, "left": y + x >= 0}


@pytest.mark.parametrize("start", [(0, 0, 0, 0), (0, 0, 1, -1), (0, 0, -1, -1)])
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_start_in_the_corner_is_told(backend, start):
    with pytest.raises(da.InconsistentConstraints, match=REMEDY):
        in_a_valley(ONE, start).simulate(0.1, backend=backend)


def test_a_fall_into_the_corner_is_told():
    with pytest.raises(da.MotionFailed, match=REMEDY):
        in_a_valley(ONE, (0, 1, 0, 0)).simulate(1.0)


def test_an_edge_has_no_two_sides_at_once():
    with pytest.raises(da.InconsistentConstraints, match="round the corner off"):
        in_a_valley({"ridge": y >= -sp.Abs(x)}, (0, 0, 0, 0)).simulate(0.1)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_what_bends_without_a_corner_is_no_corner(backend):
    motion = in_a_valley({"bowl": y >= sp.Abs(x) ** 3}, (0, 0, 0, 0)).simulate(0.1, backend=backend)
    assert motion.certificate.holds
    assert motion.q[-1] == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(("e", "after"), [(0, (0.0, 0.0)), (0.5, (-0.5, 0.5))])
def test_two_walls_at_right_angles_take_a_blow_each(e, after):
    """u = y′ − x′ = −2 turns into 2e and y′ + x′ = 0 stays: at right angles neither feels the other."""
    motion = in_a_valley(TWO, (0, 0, 1, -1), e).simulate(0.01)
    assert motion.v[0] == pytest.approx(after, abs=1e-14)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_collar_without_play_jams(backend):
    """A load at d ≥ h/2μ beside a rod jams a collar of height h. Its four corners push on the rod from both sides, so
    that the smallest forces of all would pull; those that are told push, each within its cone.
    """
    u, v, a = da.coordinates("u v a")
    height, width, mu, load = 0.2, 0.05, 0.3, 50.0
    corners = {
        name: (u + p * sp.cos(a) - r * sp.sin(a), v + p * sp.sin(a) + r * sp.cos(a))
        for name, p, r in (
            ("upper left", -width, height / 2),
            ("lower left", -width, -height / 2),
            ("upper right", width, height / 2),
            ("lower right", width, -height / 2),
        )
    }
    collar = da.System(
        "collar",
        coordinates=[u, v, a],
        kinetic=(u.d**2 + v.d**2) / 2 + 0.005 * a.d**2,
        forces={v: -load, a: -load * 1.1 * height / (2 * mu)},
        constraints=[
            da.Constraint(name, (c[0] - width if "right" in name else -width - c[0]) >= 0)
            for name, c in corners.items()
        ],
        nonideal=[da.Coulomb(name, mu, point=c) for name, c in corners.items()],
        initial={u: 0, v: 0, a: 0, u.d: 0, v.d: 0, a.d: 0},
    )
    motion = collar.simulate(0.1, samples=5, backend=backend)
    assert motion.certificate.holds, motion.certificate.failures
    assert motion.q[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert motion.multipliers.min() > -1e-8 * load
    for contact in motion.contacts.values():
        assert (contact.friction <= mu * contact.normal + 1e-8 * load).all()
