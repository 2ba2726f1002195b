"""The variational integrator: its orders, what it keeps, and its bounded energy beside a method that drifts."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

x, y, r, theta = da.coordinates("x y r theta")
k, c = da.parameters("k c")


def swing(**changes) -> da.System:
    parts = {"coordinates": [theta], "kinetic": "theta'^2/2", "potential": "-cos(theta)"}
    return da.System("swing", **{**parts, "initial": {theta: 2.0, theta.d: 0}, **changes})


def errors(system: da.System, order: int, steps: tuple[float, ...], duration: float) -> np.ndarray:
    exact = system.simulate(duration, rtol=1e-12, samples=2)
    size = np.abs(exact.q[-1]).max()
    runs = [system.simulate(duration, method="variational", step=h, order=order) for h in steps]
    return np.array(
        [max(np.abs(m.q[-1] - exact.q[-1]).max() / size, np.abs(m.v[-1] - exact.v[-1]).max()) for m in runs]
    )


DAMPED = swing(forces={theta: "-0.3*theta' + 0.2*cos(2*t)"})


@pytest.mark.parametrize(
    "system",
    [
        swing(),
        da.library.pendulum(),  # a rod in Cartesian coordinates
        da.library.rotating_hoop_bead(),  # constraints that move
        da.library.quaternion_body(),  # M is singular
        da.library.redundant_double_pendulum(),  # constraints that repeat each other
        DAMPED,  # forces by their virtual work
    ],
    ids=["free", "rod", "moving hoop", "singular mass", "redundant", "damped"],
)
@pytest.mark.parametrize("order", [2, 4])
def test_order_of_convergence(system: da.System, order: int):
    found = errors(system, order, (0.05, 0.025), 2.0)
    assert np.log2(found[0] / found[1]) == pytest.approx(order, abs=0.15)


def test_order_six():
    found = errors(da.library.pendulum(), 6, (0.1, 0.05), 2.0)
    assert np.log2(found[0] / found[1]) == pytest.approx(6, abs=0.3)


def test_energy_stays_bounded_where_a_method_of_the_same_order_drifts():
    """1000 swings with twenty steps in each, and the explicit midpoint rule, also of order 2, beside it."""
    h, count = 0.4, 20_000
    motion = swing().simulate(count * h, method="variational", step=h, samples=count + 1)
    assert motion.timing.steps == count
    off = np.abs(motion.energy - motion.energy[0])
    early, late = off[: count // 10].max(), off[-count // 10 :].max()
    assert late < 1.1 * early
    # The mean does not drift either: the last tenth has the mean of the first, to a thousandth of the oscillation.
    drift = motion.energy[-count // 10 :].mean() - motion.energy[: count // 10].mean()
    assert abs(drift) < 0.02 * early
    place, speed = 2.0, 0.0
    for _ in range(count // 10):
        middle = place + h / 2 * speed, speed - h / 2 * np.sin(place)
        place, speed = place + h * middle[1], speed - h * np.sin(middle[0])
    assert abs(speed**2 / 2 - np.cos(place) + np.cos(2.0)) > 10 * early


def test_momentum_of_a_cyclic_coordinate_is_kept_to_rounding():
    planet = da.System(
        "planet", coordinates=[r, theta], kinetic="(r'^2 + r^2*theta'^2)/2", potential="-1/r",
        initial={r: 1, theta: 0, r.d: 0, theta.d: 1.2},
    )  # fmt: skip
    motion = planet.simulate(200, method="variational", step=0.1)
    momentum = motion["r"] ** 2 * motion["theta'"]
    assert np.ptp(momentum) < 1e-12
    assert np.ptp(motion.energy) > 1e-6  # the energy is not kept exactly, only bounded


def test_angular_momentum_on_a_sphere_is_kept_to_rounding():
    motion = da.library.spherical_pendulum().simulate(50, method="variational", step=0.05)
    momentum = motion["x"] * motion["y'"] - motion["y"] * motion["x'"]
    assert np.ptp(momentum) < 1e-11 * np.abs(momentum).max()


def test_constraints_hold_at_rounding():
    for order in (2, 4):
        motion = da.library.redundant_double_pendulum().simulate(4.0, method="variational", step=0.02, order=order)
        assert motion.certificate.position < 2e-15
        assert motion.certificate.velocity < 2e-15


@pytest.mark.parametrize("system", [da.library.moving_length_pendulum(), DAMPED], ids=["moving", "damped"])
def test_the_certificate_is_measured_as_usual(system: da.System):
    """The work of impressed forces and of moving constraints is accounted for."""
    motion = system.simulate(3.0, method="variational", step=0.01, order=4)
    assert motion.certificate.holds, motion.certificate
    assert np.abs(motion.work).max() > 0.01
    assert 1e-13 < motion.rtol < 1e-6
    assert motion.method == "variational, order 4"


def test_steps_and_output_times():
    motion = swing().simulate(1.0, method="variational", step=0.1)
    np.testing.assert_allclose(np.diff(motion.t), 0.1, rtol=1e-9)
    assert motion.timing.steps == 10
    motion = swing().simulate(1.0, method="variational", step=0.3)  # shortened to fit
    assert motion.timing.steps == 4
    motion = swing().simulate(10.0, method="variational", step=0.01, samples=51)
    assert motion.t.size == 51
    assert motion.timing.steps == 1000
    motion = swing().simulate(times=[0.5, 1.0], method="variational", step=0.2)
    assert motion.t.tolist() == [0.0, 0.5, 1.0]
    assert motion.timing.steps == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "variational"}, "give step="),
        ({"method": "variational", "step": -1}, "must be positive"),
        ({"method": "variational", "step": 0.1, "order": 3}, "orders 2, 4, 6"),
        ({"method": "variational", "step": 0.1, "backend": "native"}, "reference backend only"),
        ({"step": 0.1}, "options of method='variational'"),
    ],
)
def test_faults_are_told(options: dict, message: str):
    with pytest.raises(da.ModelError, match=message):
        swing().simulate(1.0, **options)


def test_equidistant_times_are_needed():
    with pytest.raises(da.ModelError, match="equidistant"):
        swing().simulate(times=[0.5, 0.6, 1.0], method="variational", step=0.1)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (da.library.penny(), "not a constraint on positions: roll x, roll y"),
        (da.library.incline_block(), "do work"),
        (swing(events={"down": "theta"}), "events"),
        (da.library.pendulum().replace(nonideal=[da.Coulomb("rod", mu=0.1)]), "dry friction"),
    ],
    ids=["penny", "incline", "events", "friction"],
)
def test_where_it_does_not_apply(system: da.System, message: str):
    with pytest.raises(da.DoesNotApply, match=message):
        system.simulate(1.0, method="variational", step=0.1)


def test_a_step_too_long_ends_in_a_message():
    stiff = swing(potential="-cos(theta) + exp(40*theta)/1e6", initial={theta: 0, theta.d: 30})
    with pytest.raises(da.MotionFailed, match="smaller step"):
        stiff.simulate(10.0, method="variational", step=5.0)
