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
