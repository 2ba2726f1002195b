"""The certificate must hold for what is right and fail for everything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from sample_systems import beta, g, l, m, pendulum, penny, psi, sliding, steered, x, y, z

import dalembert as da
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.thresholds import thresholds
from dalembert.motion.result.certificate import MEASURES

pennies = penny().simulate(2, samples=21)
swing = pendulum().simulate(2, samples=21)
slide = sliding().simulate(0.4, samples=21)


def bead() -> da.Motion:
    """A bead on a wire that is turned: explicit time, and an ideal force that works."""
    system = da.System(
        "bead",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        forces={x: -x.d / 5},
        constraints={"wire": y * sp.cos(da.t) - x * sp.sin(da.t)},
        parameters={m: 2, g: 9.81},
        initial={x: 1, y: 0, x.d: 0, y.d: 1},
    )
    return system.simulate(1, samples=21)


turned = bead()
ALL = {"penny": pennies, "pendulum": swing, "sliding block": slide, "bead": turned}


@pytest.mark.parametrize("name", ALL)
def test_holds(name: str) -> None:
    certificate = ALL[name].certificate
    assert certificate.holds
    assert certificate.failures == ()
    assert certificate.unique
    for measure in ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss"):
        # Projection and algebra leave rounding: six digits below what the thresholds would still admit.
        assert getattr(certificate, measure) < 1e-12, measure
    assert certificate == ALL[name].certified().certificate


def test_holds_for_every_kind_of_system() -> None:
    assert steered().simulate(1, samples=6).certificate.holds
    free = da.System("free", coordinates=[x], kinetic=x.d**2, initial={x: 0, x.d: 0})
    still = free.simulate(1, samples=3).certificate
    assert still.holds
    assert (still.rank_min, still.rank_max) == (0, 0)


def test_measures_and_thresholds_have_the_same_names() -> None:
    assert set(thresholds(1e-9)) == set(MEASURES)
    assert set(swing.certificate.thresholds) == set(MEASURES)


def test_thresholds_grow_with_the_tolerance_but_stay_below_a_wrong_answer() -> None:
    for measure in MEASURES:
        values = [thresholds(rtol)[measure] for rtol in (1e-12, 1e-9, 1e-6, 1e-3)]
        assert values == sorted(values)
        assert 0 < values[0] <= 1e-8
        assert values[-1] <= 0.05


def test_as_a_dictionary() -> None:
    data = json.loads(json.dumps(swing.certificate.to_dict()))
    assert data["holds"] is True
    assert {*MEASURES, "rank_min", "rank_max", "unique", "thresholds"} <= set(data)


# -- a constraint that was parsed and then ignored ---------------------------------------------------------------


@pytest.mark.parametrize("dropped", ["roll x", "roll y"])
def test_a_dropped_constraint(dropped: str) -> None:
    """The motion without it, held against the system with it."""
    full = penny()
    kept = [k for k, c in enumerate(full.constraints) if c.name != dropped]
    motion = full.replace(constraints=[full.constraints[k] for k in kept]).simulate(2, samples=21)
    assert motion.certificate.holds
    multipliers = np.zeros((motion.t.size, 2))
    multipliers[:, kept] = motion.multipliers
    certificate = certify(replace(motion, system=full, multipliers=multipliers))
    assert not certificate.holds
    assert {"velocity", "acceleration"} <= set(certificate.failures)
    assert (certificate.rank_min, certificate.rank_max) == (2, 2)


def test_a_dropped_acceleration_constraint() -> None:
    """It leaves no trace in positions and velocities: the accelerations must tell."""
    free = pendulum(constraints={})
    motion = free.simulate(1, samples=11)
    full = free.replace(constraints={"steer": x.dd - y.dd / 2 - 1})
    certificate = certify(replace(motion, system=full, multipliers=np.zeros((11, 1))))
    assert not certificate.holds
    assert "acceleration" in certificate.failures


def test_a_dropped_law() -> None:
    motion = sliding(nonideal=[]).simulate(0.4, samples=11)
    certificate = certify(replace(motion, system=sliding()))
    assert not certificate.holds
    assert {"virtual_work", "gauss"} <= set(certificate.failures)


def test_a_dropped_force() -> None:
    start = {x: l, y: 0, x.d: 0, y.d: 3}
    motion = pendulum(potential=0, initial=start).simulate(1, samples=11)
    certificate = certify(replace(motion, system=pendulum(initial=start)))
    assert not certificate.holds
    assert {"forces", "virtual_work", "gauss", "energy"} <= set(certificate.failures)


def test_another_value_of_a_parameter() -> None:
    certificate = certify(replace(pennies, system=penny().replace(parameters={beta: 0.5001})))
    assert not certificate.holds


# -- numbers that were changed -----------------------------------------------------------------------------------


def bumped(motion: da.Motion, field: str, column: int, size: float, point: int = 7) -> da.Motion:
    """The motion with one number of one column changed by a part of the largest in the column."""
    values = np.array(getattr(motion, field))
    values[point, column] += size * max(float(np.abs(values).max()), 1e-3)
    return replace(motion, **{field: values})


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("field", ["impressed", "inertial", "ideal", "nonideal"])
@pytest.mark.parametrize("column", [0, 1])
def test_one_force_at_one_time(motion: da.Motion, field: str, column: int) -> None:
    largest = max(float(np.abs(getattr(motion, f)).max()) for f in ("impressed", "ideal", "nonideal"))
    values = np.array(getattr(motion, field))
    values[7, column] += 1e-4 * largest
    certificate = certify(replace(motion, **{field: values}))
    assert not certificate.holds
    assert "forces" in certificate.failures


def test_a_force_moved_from_one_kind_to_another() -> None:
    """The sum is right, the split is not: ideal forces must do no virtual work."""
    shift = 1e-4 * np.array([np.cos(0.5), np.sin(0.5)]) * 10
    certificate = certify(replace(slide, ideal=slide.ideal + shift, nonideal=slide.nonideal - shift))
    assert not certificate.holds
    assert "virtual_work" in certificate.failures


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("column", [0, 1])
def test_one_acceleration_at_one_time(motion: da.Motion, column: int) -> None:
    certificate = certify(bumped(motion, "a", column, 1e-4))
    assert not certificate.holds
    assert {"forces", "gauss"} <= set(certificate.failures)


def test_an_acceleration_along_the_virtual_displacements_with_matching_forces() -> None:
    """Constraints hold and the three forces add up, but it is not the minimum of G."""
    along = np.array([np.cos(0.5), np.sin(0.5)]) * 1e-3
    certificate = certify(replace(slide, a=slide.a + along, ideal=slide.ideal + 1.7 * along))
    assert certificate.acceleration < 1e-12
    assert {"virtual_work", "gauss"} <= set(certificate.failures)


@pytest.mark.parametrize("motion", [swing, slide, turned], ids=["pendulum", "sliding block", "bead"])
@pytest.mark.parametrize("column", [0, 1])
def test_one_position_at_one_time(motion: da.Motion, column: int) -> None:
    certificate = certify(bumped(motion, "q", column, 1e-4))
    assert not certificate.holds
    assert "position" in certificate.failures


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("column", [0, 1])
def test_one_velocity_at_one_time(motion: da.Motion, column: int) -> None:
    certificate = certify(bumped(motion, "v", column, 1e-4))
    assert not certificate.holds
    assert "velocity" in certificate.failures


@pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("column", [0, 1, 2])
def test_the_work_integral(motion: da.Motion, column: int) -> None:
    work = np.array(motion.work)
    size = max(float(np.abs(work).max()), float(np.ptp(motion.energy)), 1.0)
    work[5:, column] += 1e-3 * size
    certificate = certify(replace(motion, work=work))
    assert certificate.failures == ("energy",)
    assert not certificate.holds


def test_a_free_motion_shifted_in_height() -> None:
    """No constraint tells the height of a free fall; its energy does, and where the points beside it lead."""
    motion = pendulum(constraints={}).simulate(1, samples=11)
    q = np.array(motion.q)
    q[5, 1] += 1e-3
    certificate = certify(replace(motion, q=q))
    assert certificate.failures == ("energy", "repeat")


@pytest.mark.parametrize("field", ["q", "v", "a", "impressed", "ideal", "nonideal", "multipliers", "work"])
def test_no_number(field: str) -> None:
    """NaN anywhere can never pass."""
    values = np.array(getattr(slide, field))
    values[3, 0] = np.nan
    changed = replace(slide, **{field: values})
    try:
        certificate = certify(changed)
    except da.UndefinedModel:
        return  # the model has no value there: told as well
    assert not certificate.holds


@pytest.mark.parametrize("change", [lambda a: 2 * a, lambda a: -a, lambda a: 0 * a], ids=["doubled", "turned", "lost"])
def test_forces_as_a_whole(change: Callable[[np.ndarray], np.ndarray]) -> None:
    for motion, field in ((swing, "ideal"), (slide, "nonideal"), (pennies, "ideal"), (turned, "impressed")):
        certificate = certify(replace(motion, **{field: change(getattr(motion, field))}))
        assert not certificate.holds


def test_multipliers() -> None:
    """λ belongs to the forces: Aᵀλ is what the constraints do."""
    certificate = certify(replace(swing, multipliers=1.01 * swing.multipliers))
    assert not certificate.holds


def test_the_branch_of_greater_gauss_function() -> None:
    """|q̈| = 2 against the force is stationary too, but G is greatest there, not least."""
    motion = steered().simulate(1, samples=6)
    direction = np.column_stack([np.cos(1.5 * motion.t), np.sin(1.5 * motion.t)])
    against = -2 * direction
    force = 0.7 * against - 5 * direction
    multipliers = (force * against).sum(axis=1, keepdims=True) / (2 * 4)
    wrong = certify(replace(motion, a=against, ideal=force, multipliers=multipliers))
    assert wrong.acceleration < 1e-12
    assert not wrong.holds
    assert "gauss" in wrong.failures


def test_undetermined_motion() -> None:
    """Mass taken from a coordinate that nothing constrains."""
    full = da.System(
        "s", coordinates=[x, z], kinetic=x.d**2 + l * z.d**2, parameters={l: 1}, initial={x: 0, z: 0, x.d: 1, z.d: 1}
    )
    motion = full.simulate(1, samples=3)
    certificate = certify(replace(motion, system=full.replace(parameters={l: 0})))
    assert not certificate.unique
    assert not certificate.holds
    assert "unique" in certificate.failures


def test_rank_range() -> None:
    assert (pennies.certificate.rank_min, pennies.certificate.rank_max) == (2, 2)
    doubled = penny()
    rows = [
        *doubled.constraints,
        da.Constraint("sum", x.d + y.d - psi.d * sp.Rational(1, 4) * (sp.cos("phi") + sp.sin("phi"))),
    ]
    certificate = doubled.replace(constraints=rows).simulate(1, samples=5).certificate
    assert (certificate.rank_min, certificate.rank_max) == (2, 2)
    assert certificate.holds


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-11])
def test_holds_at_every_tolerance(rtol: float) -> None:
    assert pendulum().simulate(5, rtol=rtol, samples=21).certificate.holds
    assert penny().simulate(2, rtol=rtol, samples=21).certificate.holds


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(("stiffness", "rtol"), [(10.0, 1e-9), (30.0, 1e-6), (70.0, 1e-9)])
def test_a_mass_hanging_at_rest_holds(stiffness: float, rtol: float, backend: str) -> None:
    """Weight and spring cancel to their last digits: what is left moves the mass by rounding, in no order. A velocity
    that is small, but none of rounding, is seen.
    """
    hanging = da.System(
        "hanging", coordinates="h", kinetic="m*h'^2/2", potential="k*h^2/2 + m*g*h",
        parameters={"k": stiffness, "g": 9.81, "m": 3.3}, initial={"h": -9.81 * 3.3 / stiffness, "h'": 0},
    )  # fmt: skip
    motion = hanging.simulate(5, rtol=rtol, samples=51, backend=backend)
    assert motion.certificate.holds, motion.certificate
    v = motion.v.copy()
    v[20] += 1e-4 * 9.81 / stiffness  # a hundred times what the loosest of these tolerances leaves open
    assert "repeat" in replace(motion, v=v).certified().certificate.failures


@pytest.mark.parametrize("jump", [1e-4, 1.0])
@pytest.mark.parametrize("at", [7, 250, 433])
def test_a_place_that_jumps_where_no_force_depends_on_it_is_seen(jump, at):
    """y and ψ of the penny are such places. One stretch of 500 is wrong, and all others are right."""
    motion = da.library.penny().simulate(20, samples=501)
    assert motion.certificate.holds
    for name in ("y", "psi"):
        q = motion.q.copy()
        q[at:, [c.name for c in motion.system.coordinates].index(name)] += jump
        assert replace(motion, q=q).certified().certificate.failures == ("repeat",)
