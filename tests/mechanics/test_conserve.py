"""What is conserved, and, for each, a neighbour in which it is not."""

from __future__ import annotations

import pytest
import sympy as sp
from sympy import cos, sin, sqrt
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.mechanics.classify.conserve import conserved_quantities

x, y, z, phi = da.coordinates("x y z phi")
x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
m, m1, m2, g, k, l, w, alpha, a0 = da.parameters("m m1 m2 g k l w alpha a0")
t = da.t


def names(system: da.System) -> set[str]:
    return {quantity.name for quantity in conserved_quantities(system).quantities}


def particle(**changes) -> da.System:
    return da.System(
        "particle",
        coordinates=[x, y, z],
        kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2,
        **({"potential": m * g * z} | changes),
    )


def pair(**changes) -> da.System:
    T = m1 * (x1.d**2 + y1.d**2) / 2 + m2 * (x2.d**2 + y2.d**2) / 2
    return da.System("pair", coordinates=[x1, y1, x2, y2], kinetic=T, **changes)


def test_penny():
    assert names(da.library.penny()) == {"energy", "p_phi"}
    # Cyclic y and ψ promise nothing: the rolling constraints change their momenta.
    level = da.library.penny().replace(parameters={"alpha": 0})
    assert names(level) == {"energy", "p_psi", "p_phi"}


def test_viscous_force_takes_energy_and_leaves_momentum():
    system = da.library.penny().replace(forces={"psi": "-k*psi'"}, parameters={"k": 1e-3})
    found = conserved_quantities(system)
    assert found.energy is False
    assert names(system) == {"p_phi"}
    turning = da.library.penny().replace(forces={"phi": "-k*phi'"}, parameters={"k": 1e-3})
    assert names(turning) == set()


def test_appell_hamel():
    cone = x.d**2 + y.d**2 - z.d**2
    ideal = particle(constraints={"cone": cone})
    assert conserved_quantities(ideal).energy is True
    # A homogeneous ideal constraint does no work; one that is driven, or inhomogeneous, or not ideal, does.
    assert conserved_quantities(particle(constraints={"cone": cone - 2 * alpha * sin(t)})).energy is False
    assert conserved_quantities(particle(constraints={"cone": cone - alpha})).energy is False
    u = sqrt(x.d**2 + y.d**2 + z.d**2)
    drag = da.Work({q: -a0 * u * q.d for q in (x, y, z)})
    assert conserved_quantities(particle(constraints={"cone": cone}, nonideal=[drag])).energy is False
    # A nonideal force that is always normal to the velocity takes nothing.
    swerve = da.Work({x: -a0 * y.d, y: a0 * x.d})
    assert conserved_quantities(particle(constraints={"floor": z}, nonideal=[swerve], potential=0)).energy is True


def test_pendulum_of_moving_length():
    assert conserved_quantities(da.library.pendulum()).energy is True
    assert conserved_quantities(da.library.moving_length_pendulum()).energy is False


def test_spherical_pendulum():
    rod = x**2 + y**2 + z**2 - l**2
    assert names(particle(constraints={"rod": rod})) == {"energy", "x p_y - y p_x"}
    # Gravity that leans conserves the moment about its own direction, and only that.
    leaning = particle(constraints={"rod": rod}, potential=m * g * (z + x / 10))
    assert names(leaning) == {"energy", "(x p_y - y p_x) + 1/10 (y p_z - z p_y)"}
    bumpy = particle(constraints={"rod": rod}, potential=m * g * (z + x**2 / 10))
    assert names(bumpy) == {"energy"}
    pulled = particle(constraints={"rod": x**2 + y**2 + z**2 - (l + sin(t) / 4) ** 2})
    assert names(pulled) == {"x p_y - y p_x"}


def test_isokinetic():
    found = conserved_quantities(da.library.isokinetic())
    assert found.energy is False
    (kinetic,) = found.quantities
    assert kinetic.name == "kinetic energy"
    assert kinetic.fixed
    assert "fixed by the constraints" in str(kinetic)


def test_combinations_of_momenta():
    spring = k * ((x1 - x2) ** 2 + (y1 - y2) ** 2)
    together = "(x1 p_y1 - y1 p_x1) + (x2 p_y2 - y2 p_x2)"
    assert names(pair(potential=spring)) == {"energy", "p_x1 + p_x2", "p_y1 + p_y2", together}
    rod = {"rod": (x1 - x2) ** 2 + (y1 - y2) ** 2 - l**2}
    assert names(pair(constraints=rod)) == {"energy", "p_x1 + p_x2", "p_y1 + p_y2", together}
    assert names(pair(constraints=rod, potential=g * (m1 * y1 + m2 * y2))) == {"energy", "p_x1 + p_x2"}
    # A spring that pulls one end twice as hard conserves another sum.
    uneven = da.System(
        "uneven", coordinates=[x1, x2], mass=sp.diag(m1, m2), forces={x1: k * (x2 - x1), x2: 2 * k * (x1 - x2)}
    )
    assert "p_x1 + 1/2 p_x2" in names(uneven)


def test_momentum_and_spin_together():
    # A rod on ice, pushed along itself: neither its place nor its turn alone is a symmetry, both together are.
    push = {x: k * (x * cos(2 * phi) + y * sin(2 * phi)), y: k * (x * sin(2 * phi) - y * cos(2 * phi))}
    torque = -x * push[y] + y * push[x]
    system = da.System(
        "rod", coordinates=[x, y, phi], kinetic=m * (x.d**2 + y.d**2) / 2 + phi.d**2 / 2, forces=push | {phi: torque}
    )
    assert "p_phi + (x p_y - y p_x)" in names(system)
    assert "x p_y - y p_x" not in names(system)


def test_rotating_frame_and_driven_lagrangian():
    T = m * ((x.d - w * y) ** 2 + (y.d + w * x) ** 2) / 2
    frame = da.System("frame", coordinates=[x, y], kinetic=T, potential=k * x**2 / 2)
    found = conserved_quantities(frame)
    # With a potential that turns with the frame, the energy function is constant and T + V is not.
    assert found.energy is False
    assert [q.name for q in found.quantities] == ["energy function"]
    L = m * x.d**2 / 2 - k * x**2 / 2
    assert conserved_quantities(da.System("oscillator", coordinates=[x], lagrangian=L)).energy is True
    assert conserved_quantities(da.System("driven", coordinates=[x], lagrangian=L + x * cos(t))).energy is False


def test_forces_that_have_a_potential_count_with_it():
    fall = da.System("fall", coordinates=[x, z], mass=sp.diag(m, m), forces={z: -m * g})
    assert conserved_quantities(fall).energy is True
    assert names(fall) == {"energy", "p_x"}
    curl = da.System("curl", coordinates=[x, z], mass=sp.diag(m, m), forces={z: x, x: -z})
    assert conserved_quantities(curl).energy is False


def test_what_the_constraints_make_zero_is_not_listed():
    table = particle(constraints={"table": z}, potential=0)
    found = names(table)
    assert {"energy", "p_x", "p_y"} <= found
    assert "p_z" not in found


def test_friction_with_the_ideal_reaction():
    speed = sqrt(x.d**2 + y.d**2)
    law = da.Work({x: -k * da.ideal(z) * x.d / speed, y: -k * da.ideal(z) * y.d / speed}, "table")
    rough = particle(constraints={"table": z}, nonideal=[law])
    assert names(rough) == set()
    assert conserved_quantities(rough.replace(parameters={"k": 0})).energy is True


def test_undecided_rather_than_guessed():
    nonlinear = conserved_quantities(particle(constraints={"size": x.dd**2 + y.dd**2 - g**2}))
    assert nonlinear.energy is None
    assert nonlinear.quantities == ()
    assert "size" in nonlinear.reason
    actual = conserved_quantities(particle(constraints={"table": z}, nonideal=[da.Work({x: -k * da.actual(z)})]))
    assert actual.energy is None
    assert "actual(z)" in actual.reason
    impossible = conserved_quantities(particle(constraints={"none": x**2 + y**2 + 1}))
    assert impossible.energy is None
    assert "states" in impossible.reason


def test_small_effects_are_seen():
    # A drag a million times smaller than the other forces is not rounding.
    assert conserved_quantities(particle(forces={x: -1e-6 * x.d})).energy is False
    assert conserved_quantities(particle(forces={x: 0 * x.d})).energy is True


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e7])
def test_units_do_not_matter(scale):
    # A satellite in metres: r ~ 7e6, v ~ 7e3.
    r = sqrt(x**2 + y**2)
    system = da.System(
        "orbit",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=-k * m / r,
        parameters={m: 100, k: scale**3},
        initial={x: scale, y: 0, x.d: 0, y.d: scale},
    )
    assert names(system) == {"energy", "x p_y - y p_x"}


def test_quaternion_body_keeps_its_angular_momentum():
    found = conserved_quantities(da.library.quaternion_body())
    assert found.energy is True
    assert len(found.quantities) == 4


def test_dynamicsymbols():
    q = dynamicsymbols("x")
    M, K, time = sp.symbols("m k t")
    system = da.System("spring", coordinates=[q], kinetic=M * q.diff(time) ** 2 / 2, potential=K * q**2 / 2)
    assert names(system) == {"energy"}


LATE = sp.Piecewise((0, t < 5), (1, True))
FAR = sp.Max(x - 10, 0)


@pytest.mark.parametrize(
    ("potential", "force", "wanted"),
    [
        (x**2, -LATE * x.d, {"p_y"}),  # drag from t = 5 on
        (x**2, -FAR * x.d, {"p_y"}),  # … and beyond x = 10
        ((1 + LATE) * x**2, 0, {"p_y"}),  # a spring that grows stiff at once: its energy jumps
        (sp.sign(sp.sin(t)) * x**2, 0, {"p_y"}),
        (FAR**2, 0, {"energy", "p_y"}),  # p_x, until it arrives there
        (sp.Max(x - y - 1, 0) ** 2, 0, {"energy", "p_x + p_y"}),
        (sp.Abs(x - y), 0, {"energy", "p_x + p_y"}),
        (sp.Piecewise((x**2, x < 1), (2 * x - 1, True)), 0, {"energy", "p_y"}),  # continuous
    ],
)
def test_on_all_sides_of_kinks(potential, force, wanted):
    """States are drawn on one side of most of these; a motion comes to the other."""
    system = da.System(
        "plane", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=potential, forces={x: force},
    )  # fmt: skip
    found = conserved_quantities(system)
    assert {q.name for q in found.quantities} == wanted
    assert found.energy is ("energy" in wanted)
