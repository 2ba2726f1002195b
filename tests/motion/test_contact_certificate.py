"""What the certificate of a motion with contacts sees, and what it must not depend on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.pieces import pieces_beside_changes
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.run import legs
from dalembert.motion.contacts.run.transitions import Transitions
from dalembert.motion.result.certificate import Certificate

G = 9.81
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no compiler")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]


def oscillator(mu: float = 0.1) -> da.System:
    return da.System(
        "oscillator",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="k*x^2/2 + m*g*y",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu="mu")],
        parameters={"m": 2, "k": 100, "g": G, "mu": mu},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    )


def integrated_with(monkeypatch, change):
    """All legs are integrated with other parameters of their mode than those that are told."""
    honest = legs._Run._part

    def part(run, mode, evaluation, *rest):
        names = [symbol.name for symbol in evaluation.system.parameter_symbols]
        other = np.array([change(name, value) for name, value in zip(names, evaluation.p, strict=True)])
        return honest(run, mode, evaluation.with_parameters(other), *rest)

    monkeypatch.setattr(legs._Run, "_part", part)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_leg_with_friction_the_wrong_way_is_seen(backend, monkeypatch):
    """The states keep all constraints, the energy balance holds, and forces at the points are those of the laws. But
    they make other heat than the motion has.
    """
    integrated_with(monkeypatch, lambda name, value: -value if "slip_direction" in name else value)
    motion = oscillator().simulate(0.3, backend=backend)
    assert motion.certificate.failures == ("energy", "repeat")
    # Friction is 10 % of the spring, and wrong by twice its size, over 1/500 of the motion.
    assert motion.certificate.repeat > 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_coefficient_that_was_not_the_models_is_seen(backend, monkeypatch):
    integrated_with(monkeypatch, lambda name, value: 1.05 * value if name == "mu" else value)
    motion = oscillator().simulate(0.3, backend=backend)
    assert motion.certificate.failures == ("energy", "repeat")


# Samples are the same to both backends: the slow one shows it at the hardest choice.
@pytest.mark.parametrize(
    ("backend", "samples", "periods"),
    [("reference", 3, 2), *(pytest.param("native", samples, 4, marks=needs_compiler) for samples in (501, 21, 3))],
)
def test_an_honest_motion_holds_however_it_is_sampled(backend, samples, periods):
    """Three points a whole number of periods apart look like rest under a force that pulls."""
    period = 2 * np.pi / np.sqrt(100 / 2)
    for system in (oscillator(), oscillator(0.0)):
        motion = system.simulate(periods * period, backend=backend, samples=samples)
        assert "repeat" not in motion.certificate.failures
        # Two digits above what integration at 1e-9 leaves; a wrong force in one stretch is far above.
        assert motion.certificate.repeat < 1e-6


def test_a_blow_between_two_outputs_is_no_fault():
    """A force much shorter than the distance of the outputs."""
    system = oscillator().replace(forces={"x": "400*exp(-((t - 0.1003)/0.0004)^2)"})
    motion = system.simulate(0.3, samples=31)
    assert motion.certificate.holds, motion.certificate


def test_states_that_were_changed_are_seen():
    motion = oscillator().simulate(0.3)
    cooler = replace(motion, v=motion.v * np.linspace(1, 0.99, motion.t.size)[:, None])
    assert "repeat" in cooler.certified().certificate.failures


def test_friction_told_the_other_way_is_seen():
    motion = oscillator().simulate(0.3)
    for part in ("C", "nonideal"):
        assert not replace(motion, **{part: -getattr(motion, part)}).certified().certificate.holds


def test_a_contact_told_as_open_is_seen():
    motion = oscillator().simulate(0.3)
    floor = motion.contacts["floor"]
    flying = replace(motion, contacts={"floor": replace(floor, state=np.full(motion.t.size, "open"))})
    assert "contact" in flying.certified().certificate.failures


def test_a_certificate_from_before_it_was_measured_can_be_read():
    kept = oscillator().simulate(0.1).certificate.to_dict()
    del kept["repeat"], kept["thresholds"]["repeat"]
    assert Certificate(**kept).failures == ()


def puck(unit: float) -> da.System:
    """On a table that tilts: it slides, stops, rests, and sets off again."""
    return da.System(
        "puck",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        forces={"x": "0.2*m*g*t"},
        constraints={"table": "z"},
        nonideal=[da.Coulomb("table", mu="mu")],
        parameters={"m": 1, "g": G * unit, "mu": 0.3},
        initial={"x": 0, "y": 0, "z": 0, "x'": 0.5 * unit, "y'": -1 * unit, "z'": 0},
    )


def ball(unit: float) -> da.System:
    """It bounces on an incline and then slides."""
    return da.System(
        "ball",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints=[da.Constraint("plane", "y*cos(th) + x*sin(th)", one_sided=True, restitution=0.3)],
        nonideal=[da.Coulomb("plane", mu=0.2)],
        parameters={"m": 1, "g": G * unit, "th": 0.4},
        initial={"x": 0, "y": 0.1 * unit, "x'": 0, "y'": 0},
    )


def shelf(unit: float) -> da.System:
    """At rest at the origin, where no length is given; then it slides off an edge and meets the ground below."""
    return da.System(
        "shelf",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        forces={"x": "m*g*t"},
        constraints=[da.Constraint("ground", "y", one_sided=True)],
        nonideal=[da.Coulomb("ground", mu=0.2)],
        parameters={"m": 1, "g": G * unit},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )


# Each system in each unit natively; the slow backend, which decides on contacts by the same code, each once.
@pytest.mark.parametrize(
    ("backend", "system", "unit"),
    [("reference", puck, 1e-9), ("reference", ball, 1e7), ("reference", shelf, 1e3)]
    + [pytest.param("native", one, u, marks=needs_compiler) for one in (puck, ball, shelf) for u in (1e3, 1e-9, 1e7)],
)
def test_the_unit_of_length_does_not_matter(system, unit, backend):
    """The same motion in metres, millimetres and units in which all speeds are below 1e-8, or above 1e6."""
    here, there = (system(one).simulate(2, backend=backend, samples=41) for one in (1.0, unit))
    assert [(e["name"], e["contact"]) for e in here.events] == [(e["name"], e["contact"]) for e in there.events]
    assert len(here.events) >= 1
    # Instants and places to a hundred tolerances of 1e-9: the steps differ in rounding only, and in what is slow.
    assert [e["t"] for e in there.events] == pytest.approx([e["t"] for e in here.events], rel=1e-7)
    size = np.abs(here.q).max()
    np.testing.assert_allclose(there.q / unit, here.q, rtol=0, atol=1e-7 * size)
    for motion in (here, there):
        assert motion.certificate.holds, motion.certificate
    assert there.certificate.contact < 1e-12 + 10 * here.certificate.contact


@pytest.mark.parametrize("scale", ["1e-8", "1e6"])
def test_the_scale_of_a_one_sided_equation_does_not_matter(scale):
    plain = ball(1.0)
    (plane,) = plain.constraints
    scaled = plain.replace(constraints=[replace(plane, expression=f"{scale}*({plane.expression})")])
    here, there = plain.simulate(1.5, samples=41), scaled.simulate(1.5, samples=41)
    assert [e["name"] for e in here.events] == [e["name"] for e in there.events]
    assert [e["t"] for e in there.events] == pytest.approx([e["t"] for e in here.events], rel=1e-7)
    for motion in (here, there):
        assert motion.certificate.holds, motion.certificate


def test_a_pull_of_a_one_sided_constraint_counts_however_it_is_scaled():
    """A multiplier of −1 % of the weight is as wrong where the equation is divided by a million."""
    found = []
    for scale in ("1", "1e-6", "1e6"):
        (ground,) = shelf(1.0).constraints
        motion = shelf(1.0).replace(constraints=[replace(ground, expression=f"{scale}*y")]).simulate(0.1, samples=5)
        assert motion.certificate.holds, motion.certificate
        told = {"ground": replace(motion.contacts["ground"], normal=-0.01 * motion.contacts["ground"].normal)}
        pulled = replace(motion, multipliers=-0.01 * motion.multipliers, contacts=told)
        found.append(pulled.certified().certificate.contact)
    # Friction of 0.1 m g is held by a floor that presses with 0.01 m g and μ = 0.2.
    assert found == pytest.approx([0.1 - 0.2 * 0.01] * 3, rel=1e-9)


def strip(width: float, place: float = 1.5) -> da.System:
    """A block on a floor with a narrow strip of ice."""
    return da.System(
        "strip of ice",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="g*y",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu="0.3*(1 - exp(-((x - place)/w)^2))")],
        parameters={"g": G, "w": width, "place": place},
        initial={"x": 0, "y": 0, "x'": 5, "y'": 0},
    )


@pytest.mark.parametrize(
    ("backend", "samples"), [("reference", 101), *(pytest.param("native", n, marks=needs_compiler) for n in (501, 101))]
)
def test_ice_that_was_stepped_over_is_seen(backend, samples):
    """Force and error are constant but for the ice: how long steps grow is a matter of rounding, and so whether one of
    them meets it. The certificate knows which.
    """
    missed = []
    for place in (1.5, 1.9, 2.3):
        motion = strip(0.01, place).simulate(1, backend=backend, samples=samples)
        # Friction acts on the whole way but √π w.
        right = np.sqrt(25 - 0.6 * G * (motion["x"][-1] - np.sqrt(np.pi) * 0.01))
        missed.append(abs(motion["x'"][-1] - right) > 1e-3)  # the ice is worth 0.025
        assert ("repeat" in motion.certificate.failures) == missed[-1]
    assert any(missed), "the case itself: as if there were no ice"


@needs_compiler  # the reference backend takes twenty seconds for five hundred steps
@pytest.mark.parametrize("samples", [101, 21, 5])
def test_ice_that_was_not_stepped_over_holds(samples):
    motion = strip(0.01).simulate(1, backend="native", samples=samples, max_step=0.002)
    assert motion.certificate.holds, motion.certificate.failures
    # Friction acts on the whole way but √π w, so x′² = 25 − 2·0.3 g (x − √π w); a hundred tolerances.
    way = motion["x"][-1] - np.sqrt(np.pi) * 0.01
    assert motion["x'"][-1] == pytest.approx(np.sqrt(25 - 0.6 * G * way), rel=1e-7)


@pytest.mark.parametrize("part", ["normal", "friction"])
def test_what_is_no_number_obeys_no_law(part: str) -> None:
    motion = da.library.stick_slip().simulate(1.0, samples=21)
    (name,) = motion.contacts
    values = getattr(motion.contacts[name], part).copy()
    values[3] = np.nan
    broken = replace(motion, contacts={name: replace(motion.contacts[name], **{part: values})})
    assert not broken.certified().certificate.holds


def test_friction_on_a_plane_stated_twice_turns_with_the_sliding() -> None:
    """A block thrown across an incline, z = 0 and 2z = 0: how they share N is not known, but that friction is against
    the sliding at every output.
    """
    g, alpha, mu = 9.81, 0.3, 0.25
    block = da.System(
        "block", coordinates="x y z", kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential=f"{g}*(z*cos({alpha}) - x*sin({alpha}))", constraints={"plane": "z = 0", "again": "2*z = 0"},
        nonideal=[da.Coulomb("plane", mu, point=("x", "y", "z"))],
        initial={"x": 0, "y": 0, "z": 0, "x'": 0, "y'": 2, "z'": 0},
    )  # fmt: skip
    motion = block.simulate(0.5, samples=21)
    u = motion.v[:, :2]
    size = np.linalg.norm(motion.nonideal[:, :2], axis=1)
    assert (size > 0.1 * mu * g * np.cos(alpha)).all()
    wanted = -size[:, None] * u / np.linalg.norm(u, axis=1)[:, None]
    np.testing.assert_allclose(motion.nonideal[:, :2], wanted, atol=1e-9)  # rounding of forces of ten
    assert motion.certificate.contact <= motion.certificate.thresholds["contact"]


@pytest.mark.parametrize("samples", [51, 501])
def test_a_narrow_patch_between_two_outputs_is_no_fault(samples: int) -> None:
    """Its edges are located, and what it takes is seen by no output: v²/2 = g (μ₁ (x − w) + μ₂ w). A heat that is
    wrong is still seen.
    """
    x, y = da.coordinates("x y")
    mu = sp.Piecewise((20, (x > 1) & (x < 1.01)), (0.1, True))
    patch = da.System(
        "patch",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=9.81 * y,
        constraints={"floor": y >= 0},
        nonideal=[da.Coulomb("floor", mu, point=(x, y))],
        initial={x: 0, y: 0, x.d: 3, y.d: 0},
    )
    motion = patch.simulate(8.0, samples=samples)
    assert motion["x"][-1] == pytest.approx(4.5 / 0.981 - 0.01 * 199, abs=1e-9)
    assert motion.certificate.holds
    assert not certify(replace(motion, heat={"floor": motion.heat["floor"] + 0.01 * (motion.t > 1)})).holds


def test_blows_whose_slip_turns_sharply_hold() -> None:
    """In a plane, with masses that couple all directions; the first was off by 3e-4 where the points of its way were
    spread evenly over it.
    """
    for seed in (8, 26, 40, 55, 69, 93, 112, 1, 2, 3, 4, 5, 6, 7):
        rng = np.random.default_rng(1000 + seed)
        B = rng.normal(size=(3, 3))
        W = B @ B.T + rng.choice([0.5, 0.1, 0.02]) * np.eye(3)
        mu, e, law = rng.uniform(0.1, 1.0), rng.uniform(0, 0.9), ("poisson", "newton", "stronge")[seed % 3]
        start = [*rng.normal(size=2) * rng.choice([2, 0.2]), -rng.uniform(0.5, 3)]
        body = da.System(
            "body",
            coordinates="x y z",
            mass=np.linalg.inv(W).round(12),
            constraints=[da.Constraint("floor", "z >= 0", restitution=e, impact=law)],
            nonideal=[da.Coulomb("floor", mu, point=("x", "y", "z"))],
            initial=dict.fromkeys("xyz", 0.0) | dict(zip(("x'", "y'", "z'"), start, strict=True)),
        )
        assert body.simulate(1e-6, samples=3).certificate.impact < 1e-9, seed


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    ("force", "place"),
    [
        ({"x": "150 + 150*sign(t - 5)"}, lambda t: 298 * t**2 / 2),
        ({"y": "10 + 10*sign(t - 5)"}, lambda t: 10 * t**2 / 2),
    ],
    ids=["slips", "lifts off"],
)
def test_a_jump_of_force_at_an_output_belongs_to_what_it_begins(force, place, backend) -> None:
    """A block at rest is set off by a force that jumps just at an output: there it slips, or flies, already."""
    name = next(iter(force))
    block = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="10*y",
        forces=force,
        constraints={"floor": "y >= 0"},
        nonideal=[da.Coulomb("floor", 0.2, mu_static=0.3)],
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )
    motion = block.simulate(10, samples=41, backend=backend)
    assert motion[name] == pytest.approx(place(np.maximum(motion.t - 5, 0)), rel=1e-7, abs=1e-9)
    assert motion.t[20] == 5
    assert motion.contacts["floor"].state[19:21].tolist() == ["stick", "slip" if name == "x" else "open"]
    assert motion.certificate.holds, motion.certificate.failures


def block_on_a_belt_that_is_switched_on(energy: float) -> da.System:
    """It slips at 0.8, and from 0.1 on the belt runs at 2; beside it something swings with this energy."""
    x, y, z = da.coordinates("x y z")
    belt = sp.Piecewise((0, da.t < 0.1), (2, True))
    return da.System(
        "block on a belt",
        coordinates=[x, z, y],
        kinetic=(x.d**2 + z.d**2 + y.d**2) / 2,
        potential=9.81 * z + y**2 / 2,
        constraints={"floor": z >= 0},
        nonideal=[da.Coulomb("floor", 0.25, slide=(x.d - belt,))],
        initial={x: 0, z: 0, y: (2 * energy) ** 0.5, x.d: 0.8, z.d: 0, y.d: 0},
    )


@pytest.mark.parametrize("energy", [0.5, 1e6, 1e9])
@pytest.mark.parametrize("samples", [7, 201])
def test_a_velocity_that_jumps_without_a_blow_is_seen(energy, samples, monkeypatch):
    """As the engine once had it: what slides the other way beyond a jump was taken as stopped, and had the speed of the
    belt at once. Laws, forces and constraints are right at all outputs, and a large energy hides that it was won.
    """
    right = block_on_a_belt_that_is_switched_on(energy).simulate(1.5, rtol=1e-9, samples=samples)
    assert right.certificate.holds, right.certificate
    monkeypatch.setattr(Transitions, "is_passed", lambda *_: False)
    wrong = block_on_a_belt_that_is_switched_on(energy).simulate(1.5, rtol=1e-9, samples=samples)
    assert wrong["x"][-1] > right["x"][-1] + 0.4
    assert "repeat" in wrong.certificate.failures, wrong.certificate


@pytest.mark.parametrize("at", [3, 7])
def test_a_place_that_nothing_depends_on_is_looked_at_too(at):
    """A block slides on a level floor: its forces are the same wherever it is."""
    x, z = da.coordinates("x z")
    motion = da.System(
        "block",
        coordinates=[x, z],
        kinetic=(x.d**2 + z.d**2) / 2,
        potential=9.81 * z,
        constraints={"floor": z >= 0},
        nonideal=[da.Coulomb("floor", 0.25, point=(x, z))],
        initial={x: 0, z: 0, x.d: 3, z.d: 0},
    ).simulate(1.0, rtol=1e-9, samples=9)
    assert motion.certificate.holds
    q = motion.q.copy()
    q[at, 0] += 1e-3
    assert replace(motion, q=q).certified().certificate.failures == ("repeat",)


@pytest.mark.parametrize("off", [1e-3, -1e-4])
def test_a_place_does_not_hide_beside_something_fast(off):
    """A light thing creeps by 0.018 while a body goes 200 and a ball bounces. In coordinates scaled by the roots of the
    masses the light one could go 1e-4 of 200. Of that 1e-6 is seen, 2e-8, and it is off by 1e-6 at least.
    """
    motion = da.System(
        "slow and fast",
        coordinates="x z y",
        kinetic="x'^2/2 + m*z'^2/2 + y'^2/2",
        forces={"z": "-0.1*m*z'"},
        potential="9.81*y",
        constraints=[da.Constraint("floor", "y >= 0", restitution=0.5)],
        parameters={"m": 1e-4},
        initial={"x": 0, "x'": 100, "z": 0, "z'": 0.01, "y": 1, "y'": 0},
    ).simulate(2.0, samples=201)
    assert motion.certificate.holds, motion.certificate
    q = motion.q.copy()
    q[100, 1] += off
    assert replace(motion, q=q).certified().certificate.failures == ("repeat",)


def test_what_contacts_did_between_outputs_is_told_by_their_changes():
    """A hop, two blocks that stick and slip: on every piece as the engine itself had it, whatever the outputs show."""
    for system in (da.library.stick_slip(), da.library.thrown_block(), da.library.stacked_blocks()):
        few, many = system.simulate(samples=3), system.simulate(samples=3001)
        contacts, pieces = Contacts(system), pieces_beside_changes(few)
        assert pieces is not None
        middle = pieces.t + pieces.length / 2
        for told, at in zip(pieces.told(few, contacts, range(middle.size)), middle, strict=True):
            near = int(np.abs(many.t - at).argmin())
            assert told.states == tuple(many.contacts[contact.name].state[near] for contact in contacts.contacts)
            assert told.closed == tuple(many.acting[near, list(contacts.one_sided)])


@pytest.mark.parametrize("samples", [2, 3, 7, 201])
def test_what_rests_at_all_outputs_is_right_too(samples):
    """A particle drops, stays, and is lifted off at t = 1, which may be an output: with few of them nothing moves at
    any but the last, and sizes come from between.
    """
    (y,) = da.coordinates("y")
    for lift in (0, 20):
        motion = da.System(
            "particle",
            coordinates=[y],
            kinetic=y.d**2 / 2,
            potential=G * y,
            forces={y: sp.Piecewise((0, da.t < 1), (lift, True))},
            constraints={"floor": y >= 0},
            initial={y: 0.3, y.d: 0},
        ).simulate(2, samples=samples)
        assert motion["y"][-1] == pytest.approx((20 - G) / 2 if lift else 0, abs=1e-12)
        assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("samples", [2, 3, 7, 50, 201])
def test_slipping_up_to_an_instant_at_which_its_surface_stops(samples):
    """The belt stops at 1.2, and what slipped on it backwards slides on forwards."""
    x0, y0 = da.coordinates("x0 y0")
    motion = da.System(
        "block",
        coordinates=[x0, y0],
        kinetic=(x0.d**2 + y0.d**2) / 2,
        potential=G * y0 + 50 * (x0 - 0.5) ** 2,
        constraints={"floor": y0},
        nonideal=[da.Coulomb("floor", 0.3, point=(x0 - sp.Min(da.t, 1.2) / 2, y0))],
        initial={x0: 1, y0: 0, x0.d: 1, y0.d: 0},
    ).simulate(1.6, samples=samples)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("number", [0, 1])
def test_an_event_by_a_wrong_name_is_seen(number):
    """A block on a belt that rides and slips: each change between two outputs is that of its only event."""
    motion = da.library.stick_slip().simulate(samples=201)
    assert motion.certificate.holds
    events = [*motion.events]
    events[number] = events[number] | {"name": "reversal"}
    assert "contact" in replace(motion, events=tuple(events)).certified().certificate.failures
