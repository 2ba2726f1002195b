"""Contacts that hold more than they must: when they give way, and which forces are told, beside SciPy's programmes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, brentq, linprog, minimize

import dalembert as da
from dalembert.motion.contacts.decide import decide
from dalembert.motion.contacts.run import transitions
from dalembert.motion.contacts.run.transitions import Transitions

G = 9.81


def row(mass: np.ndarray, mu: np.ndarray, pushes: list[str]) -> da.System:
    """Blocks that touch, side by side on a rough floor."""
    each = range(mass.size)
    names = [f"{q}{k}" for k in each for q in "xy"]
    return da.System(
        "blocks in a row",
        coordinates=names,
        kinetic=" + ".join(f"m{k}*(x{k}'^2 + y{k}'^2)/2" for k in each),
        potential=" + ".join(f"m{k}*g*y{k}" for k in each),
        forces={f"x{k}": push for k, push in enumerate(pushes)},
        constraints={f"floor {k}": f"y{k} >= 0" for k in each}
        | {f"wall {k}": f"x{k} - x{k - 1} >= 1" for k in each[1:]},
        nonideal=[da.Coulomb(f"floor {k}", f"mu{k}", point=(f"x{k}", f"y{k}")) for k in each],
        parameters={"g": G} | {f"m{k}": mass[k] for k in each} | {f"mu{k}": mu[k] for k in each},
        initial=dict.fromkeys([*names, *(f"{q}'" for q in names)], 0) | {f"x{k}": k for k in each},
    )  # fmt: skip


def test_a_long_row_gives_way_together():
    """At Σ μ m g, to what forces of this size are known to."""
    n, slope = 16, 8.0
    system = row(np.ones(n), np.full(n, 0.3), [f"{slope}*t", *["0"] * (n - 1)])
    gives = 0.3 * n * G / slope
    motion = system.simulate(1.1 * gives, samples=13)
    assert [(e["name"], e["contact"]) for e in motion.events] == [("slip", f"floor {k}") for k in range(n)]
    assert motion.events[0]["t"] == pytest.approx(gives, rel=2e-9)  # forces to 1e-11 of the largest, n of them
    assert motion["x0"][-1] == pytest.approx(slope / n * (0.1 * gives) ** 3 / 6, rel=1e-6)
    assert motion.certificate.holds


@pytest.mark.parametrize("seed", range(3))
def test_random_rows_against_linear_programmes(seed):
    """Pushes that grow with time on all blocks, this way and that: they hold as long as some choice does."""
    rng, n = np.random.default_rng(seed), 5
    mass, mu, push = rng.uniform(0.5, 2, n), rng.uniform(0.1, 0.5, n), rng.uniform(-1, 2, n)
    limits = mu * mass * G
    # Friction f and walls w ≥ 0 with t push + f + w_k − w_{k+1} = 0, t as large as can be.
    walls = np.eye(n, n - 1, -1) - np.eye(n, n - 1)
    equations = np.hstack([push[:, None], np.eye(n), walls])
    bounds = [(0, None), *((-limit, limit) for limit in limits), *[(0, None)] * (n - 1)]
    best = linprog([-1.0, *[0] * (2 * n - 1)], A_eq=equations, b_eq=np.zeros(n), bounds=bounds)
    system = row(mass, mu, [f"{p}*t" for p in push])
    motion = system.simulate(1.2 * best.x[0], samples=25)
    assert motion.events[0]["t"] == pytest.approx(best.x[0], rel=1e-8)
    assert motion.certificate.holds
    # The smallest forces; that of a wall acts on two blocks.
    held, weights = motion.t < motion.events[0]["t"], np.array([*[1] * n, *[2] * (n - 1)])
    for i in np.flatnonzero(held):
        least = minimize(
            lambda x: (weights * x) @ x, np.zeros(2 * n - 1), jac=lambda x: 2 * weights * x, bounds=bounds[1:],
            constraints=LinearConstraint(equations[:, 1:], *[-motion.t[i] * push] * 2), method="SLSQP", tol=1e-14,
        )  # fmt: skip
        told = np.array([motion.contacts[f"floor {k}"].friction[i] for k in range(n)])
        assert told == pytest.approx(np.abs(least.x[:n]), abs=2e-5 * limits.max())  # squares to 1e-11, and SLSQP
    for k in range(n):
        assert motion.contacts[f"floor {k}"].normal[held] == pytest.approx(mass[k] * G, rel=1e-9)


def test_blocks_that_are_pulled_apart_part_where_they_set_off():
    """What touching blocks push each other with is not determined, and no passage of it through zero parts them."""
    system = row(np.ones(3), np.full(3, 0.3), ["-8*t", "0", "0"])
    motion = system.simulate(1.0, samples=11)
    assert [(e["name"], e["contact"]) for e in motion.events] == [("slip", "floor 0"), ("release", "wall 1")]
    for event in motion.events:
        assert event["t"] == pytest.approx(0.3 * G / 8, rel=1e-9)
    assert motion.certificate.holds


def test_a_plate_on_five_feet_gives_way_at_its_round_cones():
    """Pushed and turned ever harder, on feet whose weights are not determined either: as much as some choice holds."""
    angles = 2 * np.pi * np.arange(5) / 5
    feet, mu, force, torque = np.array([np.cos(angles), np.sin(angles)]).T, 0.3, 1.2, 0.5
    gaps = [f"z + ({b})*p - ({a})*r" for a, b in feet]
    plate = da.System(
        "plate", coordinates="x y z s p r", potential=f"{G}*z",
        kinetic="(x'^2 + y'^2 + z'^2)/2 + 0.2*s'^2/2 + 0.1*p'^2/2 + 0.1*r'^2/2",
        forces={"x": f"{force}*t", "s": f"{torque}*t"},
        constraints={f"foot {k}": f"{gap} >= 0" for k, gap in enumerate(gaps)},
        nonideal=[
            da.Coulomb(f"foot {k}", mu, point=[f"x + {a}*cos(s) - ({b})*sin(s)", f"y + {a}*sin(s) + ({b})*cos(s)", z])
            for k, ((a, b), z) in enumerate(zip(feet, gaps, strict=True))
        ],
        initial=dict.fromkeys([f"{q}{d}" for q in "xyzspr" for d in ("", "'")], 0),
    )  # fmt: skip

    def balance(x):
        """x: the time, the weights N, and friction at the feet."""
        t, N, f = x[0], x[1:6], x[6:].reshape(5, 2)
        turn = feet[:, 0] @ f[:, 1] - feet[:, 1] @ f[:, 0]
        return [force * t + f[:, 0].sum(), f[:, 1].sum(), torque * t + turn, N.sum() - G, *(feet.T @ N)]

    best = minimize(
        lambda x: -x[0], np.array([0.1, *[G / 5] * 5, *np.zeros(10)]), method="SLSQP", tol=1e-14,
        options={"maxiter": 500}, bounds=[(0, None)] * 6 + [(None, None)] * 10,
        constraints=[
            {"type": "eq", "fun": balance},
            {"type": "ineq", "fun": lambda x: (mu * x[1:6]) ** 2 - (x[6:].reshape(5, 2) ** 2).sum(axis=1)},
        ],
    )  # fmt: skip
    motion = plate.simulate(1.001 * best.x[0], samples=11)
    assert motion.events[0]["name"] == "slip"
    assert motion.events[0]["t"] == pytest.approx(best.x[0], rel=1e-6)  # SLSQP's own error
    held = motion.t < motion.events[0]["t"]
    loads = sum(motion.contacts[f"foot {k}"].normal for k in range(5))
    assert loads[held] == pytest.approx(G, rel=1e-9)
    for k in range(5):
        told = motion.contacts[f"foot {k}"]
        assert (told.friction - mu * told.normal)[held].max() <= 1e-8 * G


def test_constraints_that_depend_on_each_other_for_a_moment_only_are_not_left_out():
    """A floor and a dent that touch at one place: a belt carries the block away, where they cannot both hold."""
    carried = da.System(
        "carried", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential=f"{G}*y",
        constraints={"floor": "y >= 0", "dent": "y - x^4 >= 0"},
        nonideal=[da.Coulomb(name, 0.5, point=("x - t^2/2", "y")) for name in ("floor", "dent")],
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )  # fmt: skip
    with pytest.raises(da.MotionFailed, match="no acceleration satisfies the constraints together"):
        carried.simulate(1)


MU, MORE, MASS, PUSH, RATE = (0.3, 0.15), 1.3, 2.0, 0.33, 3.0


def sled() -> da.System:
    """A body on two feet that is pushed to and fro with up to a third of its weight, from rest. Its mass is at the
    height of its feet, so that each always carries half of it.
    """
    feet = [(f"x {sign} b*cos(a)", f"y {sign} b*sin(a)") for sign in "-+"]
    return da.System(
        "sled",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2 + a'^2)/2",
        potential="m*g*y",
        forces={"x": "push*m*g*sin(rate*t)"},
        constraints={f"foot {k}": f"{y} >= 0" for k, (_, y) in enumerate(feet)},
        nonideal=[da.Coulomb(f"foot {k}", f"mu{k}", mu_static=f"more*mu{k}", point=feet[k]) for k in range(2)],
        parameters={"m": MASS, "g": G, "b": 0.7, "push": PUSH, "rate": RATE, "more": MORE, "mu0": MU[0], "mu1": MU[1]},
        initial=dict.fromkeys(("x", "y", "a", "x'", "y'", "a'"), 0),
    )


def times_of_the_sled() -> tuple[float, float, float]:
    """It sets off at the limit of both feet, slides with friction of both, and stops, until the push is at the limit
    again the other way.
    """
    slides = G * sum(MU) / 2
    begins = float(np.arcsin(MORE * slides / (PUSH * G)) / RATE)

    def speed(t: float) -> float:
        return PUSH * G / RATE * (np.cos(RATE * begins) - np.cos(RATE * t)) - slides * (t - begins)

    return begins, float(brentq(speed, begins + 0.1, 2 * np.pi / RATE, xtol=1e-14)), begins + np.pi / RATE


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_feet_of_a_body_that_was_at_rest_before_stop_together(backend):
    """The speed against which rest is judged was reached between two instants of rest."""
    begins, stops, again = times_of_the_sled()
    assert stops < again - 0.05
    motion = sled().simulate(again + 0.05, samples=101, backend=backend)
    found = [(e["name"], e["contact"], e["t"]) for e in motion.events]
    wanted = [
        (name, f"foot {k}", t) for name, t in (("slip", begins), ("stick", stops), ("slip", again)) for k in (0, 1)
    ]
    assert [one[:2] for one in found] == [one[:2] for one in wanted]
    # Cone programmes are solved to 1e-9 of their forces, events to the tolerance of 1e-9.
    np.testing.assert_allclose([one[2] for one in found], [one[2] for one in wanted], rtol=1e-7)
    assert motion.certificate.holds


@pytest.mark.parametrize("samples", [3, 101])
def test_the_certificate_sees_a_body_that_sets_off_too_early(samples, monkeypatch):
    """One foot sticks, the other is said to slip though nothing moves, and holds less than it could."""
    monkeypatch.setattr(Transitions, "see_speed", lambda *_: None)
    monkeypatch.setattr(transitions, "ROUNDING", 0.0)
    monkeypatch.setattr(Transitions, "stopped_slipping", lambda *_: set())
    monkeypatch.setattr(decide, "held_by_others", lambda *_: [])
    monkeypatch.setattr(decide, "_held_after_all", lambda *_: None)
    again = times_of_the_sled()[2]
    motion = sled().simulate(again + 0.05, samples=samples)
    assert motion.events[-1]["t"] < again - 1e-3  # so it does
    assert motion.certificate.contact > motion.certificate.thresholds["contact"]


def blocks_pushed_to_and_fro() -> da.System:
    """Two that do not touch. They stop at the same instant, and are then pushed back by less than holds them."""
    return da.System(
        "two blocks",
        coordinates="x1 y1 x2 y2",
        kinetic="(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2",
        potential="10*(y1 + y2)",
        forces={f"x{k}": "0.5 + 4.5*sign(1 - t)" for k in (1, 2)},
        constraints={f"floor {k}": f"y{k} >= 0" for k in (1, 2)},
        nonideal=[da.Coulomb(f"floor {k}", 0.3, mu_static=0.45, point=(f"x{k}", f"y{k}")) for k in (1, 2)],
        initial={f"{q}{k}{mark}": 0 for q in "xy" for k in (1, 2) for mark in ("", "'")},
    )


def test_blocks_that_stop_at_once_stay_both():
    motion = blocks_pushed_to_and_fro().simulate(5, samples=21)
    # 5 − 3 for a second, then −4 − 3.
    wanted = [("stick", f"floor {k}", pytest.approx(1 + 2 / 7, rel=1e-9)) for k in (1, 2)]
    assert [(e["name"], e["contact"], e["t"]) for e in motion.events] == wanted
    assert motion["x1"][-1] == motion["x2"][-1] == pytest.approx(1 + 4 / 14, rel=1e-9)
    assert motion.certificate.holds


def test_the_certificate_sees_one_that_does_not_stay(monkeypatch):
    monkeypatch.setattr(Transitions, "see_speed", lambda *_: None)
    monkeypatch.setattr(transitions, "ROUNDING", 0.0)
    motion = blocks_pushed_to_and_fro().simulate(5, samples=21)
    assert motion["x2'"][-1] < -1  # the old fault
    assert motion.certificate.contact > motion.certificate.thresholds["contact"]


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_box_on_a_running_belt_against_a_rough_wall(backend):
    """It stands still: the belt slips under its corners, and those at the wall stick. Six forces, three equations: any
    choice must balance the box, with friction of the belt that belongs to the reactions that are told.
    """
    corners = {"f0": (-1, -1), "f1": (1, -1), "w1": (1, -1), "w2": (1, 1)}
    mu, half, g = 0.7, 0.5, 9.81
    constraints, laws = [], []
    for name, (a, b) in corners.items():
        x, y = f"x + {a * half}*cos(s) - {b * half}*sin(s)", f"y + {a * half}*sin(s) + {b * half}*cos(s)"
        gap = y if name.startswith("f") else f"3 - ({x})"
        constraints.append(da.Constraint(name, gap, one_sided=True))
        belt = " - t/2" if name.startswith("f") else ""
        laws.append(da.Coulomb(name, mu, mu_static=0.91, point=(x + belt, y)))
    motion = da.System(
        "box",
        coordinates="x y s",
        kinetic="(x'^2 + y'^2)/2 + s'^2/12",
        potential="9.81*y",
        constraints=constraints,
        nonideal=laws,
        initial={"x": 2.5, "y": 0.5, "s": 0, "x'": 0, "y'": 0, "s'": 0},
    ).simulate(1, samples=5, backend=backend)
    assert motion.certificate.holds, motion.certificate
    np.testing.assert_allclose(motion["x"], 2.5, atol=1e-12)
    for k in range(motion.t.size):
        N = {name: motion.contacts[name].normal[k] for name in corners}
        f = {name: motion.contacts[name].friction[k] for name in corners}
        assert min(N.values()) >= 0
        for name in ("f0", "f1"):
            assert motion.contacts[name].state[k] == "slip"
            assert f[name] == pytest.approx(mu * N[name], abs=1e-12)
        for name in ("w1", "w2"):
            assert f[name] <= 0.91 * N[name] + 1e-9  # the cone of the programme
            assert N[name] == pytest.approx(motion[f"multiplier {name}"][k], abs=1e-12)
        assert f["f0"] + f["f1"] == pytest.approx(N["w1"] + N["w2"], abs=1e-9)
        # The wall's friction points up: the torque of the belt turns the box that way.
        assert N["f0"] + N["f1"] + f["w1"] + f["w2"] == pytest.approx(g, abs=1e-9)
        turning = half * (f["f0"] + f["f1"] + N["f1"] - N["f0"] + N["w2"] - N["w1"] + f["w1"] + f["w2"])
        assert turning == pytest.approx(0, abs=1e-9)


def test_a_wall_that_only_touches_is_not_braced():
    """A block fills the slot between two belts and is pressed on the lower one: 2 sin t, and 0.3 (10 + 5 sin 3t). The
    upper one, which runs back, touches and does not press; with it the certificate said that the block could stay.
    """

    def gained(t: float, sign: float) -> float:
        """An integral of the force along the belts while the block slips."""
        return float(-2 * np.cos(t) + sign * (3 * t - np.cos(3 * t) / 2))

    stops = brentq(lambda t: gained(t, 1.0) - gained(0.0, 1.0) - 0.5, 0.0, 1.0)
    leaves = brentq(lambda t: 2 * np.sin(t) - 3 - 1.5 * np.sin(3 * t), 1.0, 1.5)
    returns = brentq(lambda t: gained(t, -1.0) - gained(leaves, -1.0), 1.7, 2.5)
    motion = da.System(
        "slot",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        forces={"x": "2*sin(t)", "y": "-10 - 5*sin(3*t)"},
        constraints={"low": "y >= 0", "high": "y <= 0"},
        nonideal=[da.Coulomb("low", 0.3, slide="x' - 0.5"), da.Coulomb("high", 0.4, slide="x' + 0.5")],
        initial=dict.fromkeys(("x", "y", "x'", "y'"), 0),
    ).simulate(3, samples=31)
    assert [(event["name"], event["contact"]) for event in motion.events] == [
        ("stick", "low"), ("slip", "low"), ("stick", "low"),
    ]  # fmt: skip
    # Located to the tolerance of 1e-9.
    assert [event["t"] for event in motion.events] == pytest.approx([stops, leaves, returns], abs=1e-7)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize(("belt", "rail"), [(0.1, 0.3), (0.3, 0.1), (0.2, 0.2), (0.3, 0.2)])
@pytest.mark.parametrize("push", [0.5, 5.0])
def test_what_slips_is_braked_whichever_way_an_undetermined_load_presses(push: float, belt: float, rail: float) -> None:
    """A block between a belt and a rail, both two-sided: only N_belt + N_rail = m g is known. Of what rubs and moves
    against its surface the friction is μ|N| along the motion of the surface, whatever sign was told for N; the rest of
    what m ẍ takes is held or rubbed by the other, within μ|N|.
    """
    system = da.System(
        "block between a belt and a rail",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"belt": "y = 0", "rail": "2*y = 0"},
        nonideal=[da.Coulomb("belt", belt, point="x - 0.3*t"), da.Coulomb("rail", rail, point="x")],
        forces={"x": f"{push}*sin(2*t)"},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )
    motion = system.simulate(2, samples=41, rtol=1e-8)
    total = motion["x''"] - push * np.sin(2 * motion.t)
    normal = {name: contact.normal for name, contact in motion.contacts.items()}
    assert normal["belt"] + normal["rail"] == pytest.approx(np.full(41, 9.81), rel=1e-9)
    speed = {"belt": motion["x'"] - 0.3, "rail": motion["x'"]}
    for mine, other, mu, limit in (("belt", "rail", belt, rail), ("rail", "belt", rail, belt)):
        moves = np.abs(speed[mine]) > 1e-6
        rubs = -mu * np.abs(normal[mine]) * np.sign(speed[mine])
        held = np.abs(total - rubs)[moves]
        # The programme that looks for loads inside the cones is solved to 1e-11 of the forces, told at outputs.
        assert (held <= limit * np.abs(normal[other][moves]) + 1e-7).all()
    assert motion.certificate.failures in ((), ("unique",))
