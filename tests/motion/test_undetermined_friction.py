"""Contacts that hold more than they must: when they give way, and which forces are told, beside SciPy's programmes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog, minimize

import dalembert as da

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
