"""Impacts of systems with friction and restitution: closed forms, records, certificate, documents."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import DocumentError, ModelError
from dalembert.motion.certificate.impact_laws import impact_residual

G = 9.81
# The states before a blow carry the error of the flight, a few tolerances of 1e-9.
CLOSE = 1e-8
LAWS = ("newton", "poisson", "stronge")


def ball(mu, e, law="newton", speed=3.0, **options):
    return da.System(
        "ball",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*r^2*a'^2/5",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y - r", one_sided=True, restitution=e, impact=law)],
        nonideal=[da.Coulomb("floor", mu=mu, point=["x + r*a"])],
        parameters={"m": 2, "r": 0.5, "g": G},
        initial={"x": 0, "y": 1.5, "a": 0, "x'": speed, "y'": 0, "a'": 0},
        **options,
    )


@pytest.mark.parametrize("backend", ["reference", "native"])
@pytest.mark.parametrize(("mu", "law"), [(0.05, "newton"), (0.9, "stronge")])
def test_a_ball_slides_or_grips(mu, law, backend):
    motion = ball(mu, 0.8, law).simulate(1, backend=backend, samples=21)
    w = np.sqrt(2 * G)
    after = 3 - mu * 1.8 * w if mu < 0.5 else 15 / 7
    (event,) = motion.events
    assert event["state"]["x'"] == pytest.approx(after, rel=CLOSE)
    assert event["state"]["y'"] == pytest.approx(0.8 * w, rel=CLOSE)
    assert event["impulse"]["normal"] == pytest.approx(2 * 1.8 * w, rel=CLOSE)
    assert event["impulse"]["friction"] == pytest.approx([2 * (after - 3)], rel=CLOSE)
    # All of it is in the ledger: m (v² + 2/5 r² ω²)/2 before and after.
    spin = (after - 3) / (0.4 * 0.5)
    lost = w**2 - 0.64 * w**2 + 9 - after**2 - 0.4 * 0.25 * spin**2
    assert motion.impact_loss[-1] == pytest.approx(lost, rel=CLOSE)
    assert motion.ledger["work"]["nonideal"] == pytest.approx(-lost, rel=CLOSE)
    assert motion.certificate.holds


def test_bounces_end_and_the_ball_rolls_on():
    """It grips at the first bounce, and then rolls with 5/7 of its speed; bounces end at w/g (1 + e)/(1 − e)."""
    motion = ball(0.5, 0.5).simulate(5, samples=51)
    assert motion.events[-1]["name"] == "contact"
    # Bounces slower than 1e-5 of the first are left out.
    assert motion.events[-1]["t"] == pytest.approx(np.sqrt(2 / G) * 3, rel=1e-4)
    assert motion.v[-1] == pytest.approx([15 / 7, 0, -30 / 7], rel=CLOSE, abs=CLOSE)
    assert motion.certificate.holds


def test_friction_that_falls_with_speed():
    system = ball(0.1, 0.5, speed=5.0).replace(
        nonideal=[da.Stribeck("floor", mu=0.1, mu_static=0.4, speed=1.0, exponent=1, point=["x + r*a"])]
    )
    motion = system.simulate(0.6, samples=7, backend="reference")
    # As on arrays: e^u + 3 = (e^5 + 3) exp(−0.35 p/m), p/m = 1.5 w.
    sliding = np.log((np.exp(5.0) + 3) * np.exp(-0.35 * 1.5 * np.sqrt(2 * G)) - 3)
    state = motion.events[0]["state"]
    assert state["x'"] + 0.5 * state["a'"] == pytest.approx(sliding, rel=1e-7)
    assert motion.certificate.holds


def test_a_massless_coordinate_meets_a_stop():
    """M is singular; y = x² carries no mass and has no say."""
    system = da.System(
        "slave",
        coordinates="x y",
        kinetic="x'^2/2",
        constraints=[da.Constraint("slave", "y - x^2"), da.Constraint("stop", "x", one_sided=True, restitution=0.5)],
        initial={"x": 1, "y": 1, "x'": -1, "y'": -2},
    )
    motion = system.simulate(2, samples=21, backend="reference")
    assert motion.events[0]["impulse"] == {"normal": pytest.approx(1.5, rel=CLOSE), "friction": []}
    assert motion.q[-1] == pytest.approx([0.5, 0.25], rel=CLOSE)
    assert motion.certificate.impact < 1e-12
    assert motion.certificate.holds
    # Without restitution it stays, and no force at all acts.
    resting = system.replace(constraints=[system.constraints[0], replace(system.constraints[1], restitution=None)])
    assert resting.simulate(2, samples=21, backend="reference").certificate.holds


def test_rocking_block_loses_what_housner_says():
    """ω⁺/ω⁻ = 1 − 3/2 sin²α at each impact, μ large enough to grip."""
    w, h, a = 0.3, 1.0, 0.2
    corners = {"left": "-", "right": "+"}
    system = da.System(
        "block",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*(w^2 + h^2)*a'^2/6",
        potential="m*g*y",
        constraints=[
            da.Constraint(name, f"y {sign} w*sin(a) - h*cos(a)", one_sided=True) for name, sign in corners.items()
        ],
        nonideal=[
            da.Coulomb(name, mu=5, point=[f"x {sign} w*cos(a) + h*sin(a)", f"y {sign} w*sin(a) - h*cos(a)"])
            for name, sign in corners.items()
        ],
        parameters={"m": 1, "w": w, "h": h, "g": G},
        initial={
            "x": w * np.cos(a) - h * np.sin(a), "y": w * np.sin(a) + h * np.cos(a), "a": a, "x'": 0, "y'": 0, "a'": 0
        },
    )  # fmt: skip
    motion = system.simulate(1, samples=21, backend="reference")
    (blow,) = motion.blows
    assert blow.after[2] / blow.before[2] == pytest.approx(1 - 1.5 * w**2 / (w**2 + h**2), rel=CLOSE)
    fallen = G * (w * np.sin(a) + h * np.cos(a) - h)
    assert blow.before[2] == pytest.approx(-np.sqrt(2 * fallen / (4 / 3 * (w**2 + h**2))), rel=CLOSE)
    assert {contact.name: contact.state for contact in blow.contacts} == {"left": "open", "right": "stick"}
    assert motion.certificate.holds


def cradle(count, impacts, e=1):
    names = [f"x{k}" for k in range(count)]
    return da.System(
        "cradle",
        coordinates=names,
        kinetic=" + ".join(f"{x}'^2/2" for x in names),
        constraints=[
            da.Constraint(f"gap {k}", f"{b} - {a} - 1", one_sided=True, restitution=e)
            for k, (a, b) in enumerate(pairwise(names))
        ],
        initial={x: k for k, x in enumerate(names)} | {"x0": -1} | {x + "'": float(x == "x0") for x in names},
        impacts=impacts,
    )


@pytest.mark.parametrize("count", [3, 5])
def test_newtons_cradle(count):
    motion = cradle(count, "sequence").simulate(2, samples=5, backend="reference")
    assert motion.v[-1] == pytest.approx(np.eye(count)[-1], abs=CLOSE)
    assert len(motion.blows) == count - 1
    assert motion.certificate.holds


def test_touching_balls_strike_as_the_system_says():
    together = cradle(3, "together").simulate(2, samples=5, backend="reference")
    assert together.v[-1] == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=CLOSE)
    ordered = cradle(3, ["gap 1", "gap 0"]).simulate(2, samples=5, backend="reference")
    assert ordered.v[-1] == pytest.approx([0, 0, 1], abs=CLOSE)
    for motion in (together, ordered):
        assert motion.certificate.holds


def quaternion_box(e, turn, corners):
    """A box of half edges (0.4, 0.3, 0.2) by its centre and a quaternion, whose M is singular along it."""
    half = np.array([0.4, 0.3, 0.2])
    J = [1 / 3 * (half[1] ** 2 + half[2] ** 2), (half[0] ** 2 + half[2] ** 2) / 3, (half[0] ** 2 + half[1] ** 2) / 3]
    rates = [
        "2*(e0*e1' - e1*e0' - e2*e3' + e3*e2')",
        "2*(e0*e2' - e2*e0' - e3*e1' + e1*e3')",
        "2*(e0*e3' - e3*e0' - e1*e2' + e2*e1')",
    ]
    up = ["2*(e1*e3 - e0*e2)", "2*(e2*e3 + e0*e1)", "(1 - 2*e1^2 - 2*e2^2)"]  # the third row of R, on |e| = 1
    floors = []
    for k, corner in enumerate(corners):
        height = " + ".join(f"({c * size})*{row}" for c, size, row in zip(corner, half, up, strict=True))
        floors.append(da.Constraint(f"corner {k}", f"z + {height}", one_sided=True, restitution=e))
    axis = np.array([1.0, 0.7, 0.0]) / np.hypot(1, 0.7)
    e4 = [np.cos(turn / 2), *(np.sin(turn / 2) * axis)]
    names = ["x", "y", "z", "e0", "e1", "e2", "e3"]
    system = da.System(
        "box",
        coordinates=names,
        kinetic="(x'^2 + y'^2 + z'^2)/2 + " + " + ".join(f"{j}*({w})^2/2" for j, w in zip(J, rates, strict=True)),
        potential=f"{G}*z",
        constraints=[da.Constraint("unit", "e0^2 + e1^2 + e2^2 + e3^2 - 1"), *floors],
        initial=dict(zip(names, [0, 0, 1.2, *e4], strict=True)) | {n + "'": 0 for n in names},
    )
    return system, half, np.array(J), np.array(e4)


BOTTOM = [(-1, -1, -1), (-1, 1, -1), (1, -1, -1), (1, 1, -1)]


def test_box_in_quaternions_lands_flat():
    system, half, _, _ = quaternion_box(0.5, 0.0, BOTTOM)
    motion = system.simulate(0.6, samples=7, backend="reference")
    w = np.sqrt(2 * G * (1.2 - half[2]))
    assert motion.blows[0].after == pytest.approx([0, 0, 0.5 * w, 0, 0, 0, 0], abs=CLOSE * w)
    assert sum(contact.normal for contact in motion.blows[0].contacts) == pytest.approx(1.5 * w, rel=CLOSE)
    assert motion.certificate.impact < 1e-9


def test_box_in_quaternions_lands_on_a_corner():
    """Free rigid body: p = (1 + e) w/(1/m + (r × n)·J⁻¹(r × n)), in axes of the body."""
    system, half, J, e4 = quaternion_box(0.5, 0.5, BOTTOM)
    motion = system.simulate(0.5, samples=6, backend="reference")
    e0, e1, e2, e3 = e4
    up = np.array([2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * e1**2 - 2 * e2**2])
    points = [np.array(corner) * half for corner in BOTTOM]
    r = min(points, key=lambda point: float(point @ up))
    w = np.sqrt(2 * G * (1.2 + r @ up))
    arm = np.cross(r, up)
    p = 1.5 * w / (1 + arm @ (arm / J))
    assert motion.events[0]["impulse"]["normal"] == pytest.approx(p, rel=CLOSE)
    assert motion.blows[0].after[2] == pytest.approx(-w + p, rel=CLOSE)
    assert motion.certificate.impact < 1e-9


def dumbbell(law):
    """Its lower end strikes a rough floor, and the direction of slipping turns within the blow."""
    return da.System(
        "dumbbell",
        coordinates="x1 y1 z1 x2 y2 z2",
        kinetic="m*(x1'^2 + y1'^2 + z1'^2)/2 + M*(x2'^2 + y2'^2 + z2'^2)/2",
        potential="m*g*z1 + M*g*z2",
        constraints=[
            da.Constraint("rod", "(x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2 - 1"),
            da.Constraint("floor", "z1", one_sided=True, restitution=0.5, impact=law),
        ],
        nonideal=[da.Coulomb("floor", mu=0.3, point=["x1", "y1", "z1"])],
        parameters={"m": 1, "M": 2, "g": G},
        initial={
            "x1": 0, "y1": 0, "z1": 0.5, "x2": 0.6, "y2": 0, "z2": 1.3,
            "x1'": 0.5, "y1'": 1.5, "z1'": 0, "x2'": 0.5, "y2'": 0.5, "z2'": 0,
        },
    )  # fmt: skip


@pytest.fixture(scope="module")
def turned():
    return dumbbell("stronge").simulate(0.5, samples=11, backend="reference")


class TestCertificate:
    def test_a_blow_that_turns_holds(self, turned):
        (blow,) = turned.blows
        assert [piece.kind for piece in blow.contacts[0].pieces] == ["turn", "turn"]
        assert turned.certificate.holds
        # The quadrature over the curve has four hundred points: well below the limit of 1e-8.
        assert turned.certificate.impact < 1e-10

    def changed(self, motion, **changes):
        (blow,) = motion.blows
        own = {key: changes.pop(key) for key in list(changes) if hasattr(blow.contacts[0], key) and key != "loss"}
        contact = replace(blow.contacts[0], **own)
        return impact_residual(replace(motion, blows=(replace(blow, contacts=(contact,), **changes),)))

    def test_it_sees_what_is_wrong(self, turned):
        (blow,) = turned.blows
        (contact,) = blow.contacts
        assert self.changed(turned) == turned.certificate.impact
        assert self.changed(turned, normal=contact.normal * 1.001) > 1e-5
        assert self.changed(turned, after=blow.after * 1.001) > 1e-5
        assert self.changed(turned, e=0.4) > 1e-2
        assert self.changed(turned, law="newton") > 1e-3
        straight = [replace(p, friction=p.friction * 0.99) for p in contact.pieces]
        assert self.changed(turned, pieces=tuple(straight)) > 1e-4
        assert impact_residual(replace(turned, impact_loss=turned.impact_loss * 1.01)) > 1e-4

    def test_it_sees_a_blow_without_its_friction(self):
        """A blow as it was before friction had a part in it: right momentum and restitution, but no friction."""
        motion = ball(0.3, 0.8).simulate(0.6, samples=5, backend="reference")
        smooth = ball(0.0, 0.8).simulate(0.6, samples=5, backend="reference")
        assert smooth.certificate.impact < 1e-9
        told = replace(motion, blows=smooth.blows, impact_loss=smooth.impact_loss)
        assert impact_residual(told) > 1e-2


class TestRecords:
    def test_saved_and_loaded(self, turned, tmp_path):
        turned.save(tmp_path / "motion.nc")
        again = da.Motion.load(tmp_path / "motion.nc")
        assert again.events == turned.events
        assert [blow.to_dict() for blow in again.blows] == [blow.to_dict() for blow in turned.blows]
        assert again.certified().certificate.impact == pytest.approx(turned.certificate.impact, rel=1e-3)
        assert json.loads(json.dumps(turned.events[0]))["impulse"]["normal"] > 0


class TestModel:
    def test_documents(self):
        system = cradle(3, ["gap 1", "gap 0"])
        law = system.replace(constraints=[replace(c, impact="stronge") for c in system.constraints])
        for again in (da.loads(da.dumps(law)), pickle.loads(pickle.dumps(law)), law.replace(name="other")):
            assert again.impacts == ("gap 1", "gap 0")
            assert [c.impact for c in again.constraints] == ["stronge", "stronge"]
        assert da.loads(da.dumps(cradle(3, "sequence"))).impacts == "sequence"
        assert "impacts" not in da.dumps(cradle(3, None))

    def test_an_order_follows_its_constraints(self):
        system = cradle(3, ["gap 1", "gap 0"])
        assert system.replace(constraints=system.constraints[:1]).impacts == ("gap 0",)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"impacts": "sequenc"}, "impacts: 'together' or 'sequence', or a list"),
            ({"impacts": ["floor", "flor"]}, "no one-sided constraint 'flor'.*'floor'"),
            ({"impacts": ["floor", "floor"]}, "'floor' is named twice"),
            ({"impacts": []}, "the list is empty"),
            ({"constraints": [da.Constraint("floor", "y", one_sided=True, impact="stronger")]}, "impact is one of"),
            ({"constraints": [da.Constraint("floor", "y", impact="stronge")]}, "impact belongs to one-sided"),
        ],
    )
    def test_faults(self, changes, message):
        with pytest.raises(ModelError, match=message):
            ball(0.1, 0.5).replace(nonideal=(), **changes)

    def test_faults_in_documents(self):
        text = da.dumps(ball(0.1, 0.5)).replace('impact = "newton"', "impact = 3")
        with pytest.raises(DocumentError, match="'impact' is a text"):
            da.loads(text)


@pytest.mark.parametrize("backend", ["reference", "auto"])
@pytest.mark.parametrize(("e", "name"), [(0.5, "impact"), (0.0, "contact")])
def test_a_blow_at_the_start_is_an_event(backend, e, name):
    """A ball that begins on the floor with a downward velocity."""
    system = da.System(
        "struck at once",
        coordinates="y",
        kinetic="m*y'^2/2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y", one_sided=True, restitution=e)],
        parameters={"m": 2, "g": 9.81},
        initial={"y": 0, "y'": -3},
    )
    motion = system.simulate(0.2, samples=5, backend=backend)
    (event,) = motion.events
    assert (event["name"], event["contact"], event["t"]) == (name, "floor", 0.0)
    assert event["impulse"]["normal"] == pytest.approx(2 * 3 * (1 + e), rel=CLOSE)
    assert event["state"]["y'"] == pytest.approx(3 * e, abs=CLOSE)
    assert motion.certificate.holds
    # A ball that rests there has none.
    assert system.replace(initial={"y": 0, "y'": 0}).simulate(0.2, samples=5, backend=backend).events == ()


def test_a_floor_stated_twice_is_struck_once():
    """Both statements approach, one of them pushes: an impact is told where there is an impulse."""
    floors = [da.Constraint(name, f"{scale}*y >= 0", restitution=0.5) for name, scale in (("floor", 1), ("again", 2))]
    ball = da.System(
        "ball", coordinates="y", kinetic="y'^2/2", potential="9.81*y", constraints=floors, initial={"y": 1, "y'": 0}
    )
    motion = ball.simulate(1.0)
    falls = np.sqrt(2 / 9.81)
    assert [event["name"] for event in motion.events] == ["impact", "impact"]
    assert [event["t"] for event in motion.events] == pytest.approx([falls, 2 * falls], rel=1e-9)  # up and down by half
    assert motion.events[0]["impulse"]["normal"] == pytest.approx(1.5 * 9.81 * falls, rel=1e-9)
    assert motion.certificate.holds


def test_a_rod_that_clatters_to_rest_in_sequence_holds():
    """Its last blows are as slow as the rounding of those before them: that is what they are measured against."""
    ends = {"near": (0.373, 0.0374), "far": (-0.5135, -0.0515)}
    at = {k: (f"x + {a}*cos(p) - {b}*sin(p)", f"y + {a}*sin(p) + {b}*cos(p)") for k, (a, b) in ends.items()}
    for start in (2.6289, 2.5, 2.7, 2.8):
        rod = da.System(
            "rod",
            coordinates="x y p",
            kinetic="(x'^2 + y'^2)/2 + 0.054*p'^2/2",
            potential="9.81*y",
            constraints=[da.Constraint(k, f"{point[1]} >= 0", restitution=0.3) for k, point in at.items()],
            nonideal=[da.Coulomb(k, 0.6346, mu_static=0.825, point=point) for k, point in at.items()],
            impacts="sequence",
            initial={"x": 0, "y": 1, "p": start, "x'": -0.0925, "y'": 0, "p'": -3.65},
        )
        motion = rod.simulate(3.0, samples=31)
        assert motion.certificate.impact < 1e-8
        assert motion.v[-1] == pytest.approx(np.zeros(3), abs=1e-9)


def test_walls_that_leave_no_room_are_told_as_that():
    """Without friction nobody speaks of its cones; at t = 10 both walls are at x = 0."""
    walls = {"low": "x >= 0", "high": "1 - t/10 - x >= 0"}
    ball = da.System("ball", coordinates="x", kinetic="x'^2/2", constraints=walls, initial={"x": 0.5, "x'": 0.1})
    with pytest.raises(da.MotionFailed, match="leave no room between them") as told:
        ball.simulate(12.0)
    assert "friction" not in str(told.value)


def test_a_slider_without_mass_is_told_as_that():
    """A spring that pulls a slider without mass: dry friction is not at fault."""
    slider = da.System(
        "slider",
        coordinates="x y z",
        kinetic="x'^2/2",
        potential="25*(x - y)^2 + 5*z",
        constraints={"floor": "z = 0"},
        nonideal=[da.Coulomb("floor", 0.3, point=("y", "z"))],
        initial={"x": 0, "y": 0, "z": 0, "x'": 1, "y'": 0, "z'": 0},
    )
    with pytest.raises(da.MotionFailed, match=r"sticking of 'floor' ends here.*y carries no mass") as told:
        slider.simulate(3.0)
    assert "Painlevé" not in str(told.value)


@pytest.mark.parametrize("seed", [4, 6, 7, 9, 11])
def test_a_disc_rattles_to_rest_in_a_groove(seed: int) -> None:
    """Dropped with spin between two slopes, without restitution. Its last bounces are too slow to be followed, and take
    the rest of its velocity: then it touches both slopes, and friction of neither slides.
    """
    rng = np.random.default_rng(seed)
    (a, b), mu, r = rng.uniform(0.3, 1.2, 2), rng.uniform(0.1, 0.9), 0.1
    values = {"a": a, "b": b, "r": r, "mu": mu, "g": 9.81}
    start = {"x": rng.uniform(-0.1, 0.1), "x'": rng.uniform(-0.3, 0.3), "p'": rng.uniform(-20, 20)}
    disc = da.System(
        "disc in a groove",
        coordinates="x y p",
        kinetic="(x'^2 + y'^2 + r^2*p'^2/2)/2",
        potential="g*y",
        constraints={"left": "sin(a)*x + cos(a)*y >= r", "right": "cos(b)*y - sin(b)*x >= r"},
        nonideal=[
            da.Coulomb("left", "mu", slide=("cos(a)*x' - sin(a)*y' + r*p'",)),
            da.Coulomb("right", "mu", slide=("cos(b)*x' + sin(b)*y' + r*p'",)),
        ],
        parameters=values,
        initial={"y": 0.6, "p": 0, "y'": 0, **start},
    )
    motion = disc.simulate(2.0, samples=21)
    bottom = np.linalg.solve([[np.sin(a), np.cos(a)], [-np.sin(b), np.cos(b)]], [r, r])
    assert [motion["x"][-1], motion["y"][-1]] == pytest.approx(bottom, abs=1e-9)
    assert np.abs(motion.v[-1]).max() < 1e-12
    assert {contact.state[-1] for contact in motion.contacts.values()} == {"stick"}
    assert motion.certificate.holds, motion.certificate.failures


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_elastic_blows_in_sequence_between_two_walls_end(backend):
    """A ball that touches both walls of its slot at the start: they would strike in turn for ever at t = 0."""
    walls = [da.Constraint(name, gap, restitution=1) for name, gap in (("left", "x >= 0"), ("right", "-x >= 0"))]
    slot = da.System(
        "slot",
        coordinates="x y",
        kinetic="x'^2 + y'^2",
        constraints=walls,
        initial={"x": 0, "y": 0, "x'": 1, "y'": 2},
        impacts="sequence",
    )
    motion = slot.simulate(1.0, samples=5, backend=backend)
    assert motion["y"][-1] == pytest.approx(2, rel=CLOSE)
    assert motion.v[-1] == pytest.approx([0, 2], abs=CLOSE)
    assert sum(blow.loss for blow in motion.blows) == pytest.approx(1, rel=CLOSE)
    assert motion.certificate.holds, motion.certificate.failures
    # Only after blows without end may they give nothing back together.
    assert impact_residual(replace(motion, blows=motion.blows[-1:])) > 1e-2


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
def test_a_dead_blow_of_two_contacts_is_no_elastic_one(law):
    """A particle falls into a smooth groove, whose walls hold it wherever nothing gives back: each takes half of the
    energy, of which Stronge's law wants e² = 0.64 back. 9.81·0.32 = 3.13 is the speed at which it falls.
    """

    def dropped(e: float) -> da.Motion:
        walls = {"left": "y - 0.5*x", "right": "y + 0.5*x"}
        return da.System(
            "groove",
            coordinates="x y",
            kinetic="(x'^2 + y'^2)/2",
            potential="9.81*y",
            constraints=[da.Constraint(k, f"{gap} >= 0", restitution=e, impact=law) for k, gap in walls.items()],
            initial={"x": 0, "y": 0.5, "x'": 0, "y'": 0},
        ).simulate(0.5, samples=3)

    right, dead = dropped(0.8), dropped(0.0)
    assert impact_residual(right) < 1e-12
    assert impact_residual(dead) < 1e-12
    (blow,) = dead.blows
    told = replace(blow, law=law, contacts=tuple(replace(contact, e=0.8) for contact in blow.contacts))
    assert impact_residual(replace(dead, system=right.system, blows=(told,))) > 0.1


def test_what_others_hold_closed_gives_back_no_work():
    """Two balls that touch run into a wall at 1 and 1/2, by Stronge's law. The wall, which took the work 3/8 of the
    impulse 3/2 at half of 1/2, gives 0.64 of that back, and so drives on the first ball that both leave as one, at
    v² = 0.24: the contact between them pushes back without work, though it took some.
    """
    motion = da.System(
        "two balls",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints=[
            da.Constraint("balls", "y - x >= 0", restitution=0.1, impact="stronge"),
            da.Constraint("wall", "-y >= 0", restitution=0.8, impact="stronge"),
        ],
        initial={"x": 0, "y": 0, "x'": 1, "y'": 0.5},
    ).simulate(0.01, samples=3)
    (blow,) = motion.blows
    np.testing.assert_allclose(blow.after, -np.sqrt(0.24), rtol=1e-12)
    assert [contact.e for contact in blow.contacts] == [0.1, 0.8]
    assert impact_residual(motion) < 1e-12
