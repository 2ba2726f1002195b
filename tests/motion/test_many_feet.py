"""A body on many feet: far more contacts than coordinates, whose equations are solved where they stand."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.graph.functions import graph_of
from dalembert.kernel.emit.coupled import is_worth_writing_out
from dalembert.motion.contacts.modes.contacts import Contacts

G, MU = 9.81, 0.3


def body(feet: int, **initial: float) -> da.System:
    """On a ring of feet; a and b are its slopes."""
    turn = [(f"(p{k}*cos(th) - q{k}*sin(th))", f"(p{k}*sin(th) + q{k}*cos(th))") for k in range(feet)]
    ring = 2 * np.pi * np.arange(feet) / feet
    names = [q + mark for q in ("x", "y", "z", "a", "b", "th") for mark in ("", "'")]
    return da.System(
        f"body on {feet} feet",
        coordinates="x y z a b th",
        kinetic="(x'^2 + y'^2 + z'^2)/2 + J*(0.3*a'^2 + 0.3*b'^2 + th'^2)/2",
        potential="g*z",
        constraints={f"foot{k}": f"z + a*{dx} + b*{dy} >= 0" for k, (dx, dy) in enumerate(turn)},
        nonideal=[
            da.Coulomb(f"foot{k}", MU, point=(f"x + {dx}", f"y + {dy}", f"z + a*{dx} + b*{dy}"))
            for k, (dx, dy) in enumerate(turn)
        ],
        parameters={"g": G, "J": 0.1}
        | {f"p{k}": 0.4 * np.cos(angle) for k, angle in enumerate(ring)}
        | {f"q{k}": 0.4 * np.sin(angle) for k, angle in enumerate(ring)},
        initial=dict.fromkeys(names, 0.0) | initial,
    )


@pytest.mark.parametrize("feet", [12, 16])
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_disk_spun_on_feet_stops_and_stands(feet: int, backend: str) -> None:
    """All friction acts at one radius, μ g r against J. At the stop each foot asks for another acceleration, of the
    square of what is left of the turning.
    """
    ring = [(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in 2 * np.pi * np.arange(feet) / feet]
    names = ("x", "y", "z", "th", "a", "b")
    disk = da.System(
        "disk",
        coordinates=names,
        kinetic="(x'^2 + y'^2 + z'^2 + J*(th'^2 + a'^2 + b'^2))/2",
        potential="10*z",
        constraints={f"foot{k}": f"z + {p}*b + {q}*a >= 0" for k, (p, q) in enumerate(ring)},
        nonideal=[
            da.Coulomb(
                f"foot{k}",
                0.3,
                slide=(f"x' - th'*({p}*sin(th) + {q}*cos(th))", f"y' + th'*({p}*cos(th) - {q}*sin(th))"),
            )
            for k, (p, q) in enumerate(ring)
        ],
        parameters={"J": 0.1},
        initial=dict.fromkeys([name + mark for name in names for mark in ("", "'")], 0.0) | {"th'": 4.0},
    )
    motion = disk.simulate(0.5, samples=11, backend=backend)
    ends = 4 * 0.1 / (0.3 * 10 * 0.5)
    turned = np.minimum(motion.t, ends)
    np.testing.assert_allclose(motion["th"], 4 * turned - 2 / ends * turned**2, atol=1e-7)  # rtol 1e-9, to 0.5
    assert motion.certificate.holds


def printed(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """On the terminal, by libraries in C too, which keep it in a buffer of their own."""
    ctypes.CDLL(None).fflush(None)
    return capfd.readouterr()


def test_forty_feet_that_turn_and_stop(capfd: pytest.CaptureFixture[str]) -> None:
    """Loads are not determined, and those told are the smallest, all alike: the plane motion under them by SciPy.
    Rank-deficient equations are judged without a word on the terminal, where one JSON object may be expected.
    """
    start, angles = {"x'": 1.0, "y'": 0.3, "th": 0.2, "th'": 2.0}, 2 * np.pi * np.arange(40) / 40

    def slope(_: float, y: np.ndarray) -> list[float]:
        dx, dy = 0.4 * np.cos(angles + y[2]), 0.4 * np.sin(angles + y[2])
        u = np.array([y[3] - dy * y[5], y[4] + dx * y[5]])
        fx, fy = -MU * G / 40 * u / np.hypot(*u)
        return [*y[3:], fx.sum(), fy.sum(), (dx * fy - dy * fx).sum() / 0.1]

    system = body(40, **start)
    assert not is_worth_writing_out(graph_of(Contacts(system).switched.system))
    motion = system.simulate(1.0, rtol=1e-8, samples=11)
    plane = solve_ivp(slope, (0, 0.4), [0, 0, 0.2, 1, 0.3, 2], "DOP853", t_eval=[0.2, 0.4], rtol=1e-11, atol=1e-12)
    found = np.hstack([motion.q, motion.v])[[2, 4]][:, [0, 1, 5, 6, 7, 11]]
    assert found == pytest.approx(plane.y.T, abs=1e-7)  # rtol 1e-8 over a few tens of steps
    assert {event["name"] for event in motion.events} == {"stick"}
    assert motion.v[-1] == pytest.approx(np.zeros(6), abs=1e-12)
    assert motion.certificate.contact < 1e-7
    assert not motion.certificate.unique
    assert printed(capfd) == ("", "")


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("turned", [1e-10, 1e-8])
def test_an_angle_of_next_to_nothing_costs_no_steps(turned: float, backend: str) -> None:
    """Its torques are differences of forces, with their rounding. Held to a thousandth of the tolerance of its own size
    it took thousands of steps, and at 1e-10 found no end. It slides to rest by μ g.
    """
    motion = body(4, **{"x'": 2.0, "th": turned}).simulate(0.5, samples=6, backend=backend)
    np.testing.assert_allclose(motion["x'"], 2 - MU * G * motion.t, rtol=1e-8)
    assert motion.timing.steps < 200
    assert motion.certificate.contact < 1e-8


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_cube_in_quaternions_slides_to_rest(backend: str) -> None:
    """The length of the quaternion carries the square of rounding as its mass, which made forces of rounding seem as
    large as any: its certificate failed.
    """
    corners = [
        (
            f"({p} - 2*{p}*(c^2 + d^2) + 2*{q}*(b*c - a*d) - (b*d + a*c))",
            f"({q} - 2*{q}*(b^2 + d^2) + 2*{p}*(b*c + a*d) - (c*d - a*b))",
            f"(-0.5 + b^2 + c^2 + 2*{p}*(b*d - a*c) + 2*{q}*(c*d + a*b))",
        )
        for p in (-0.5, 0.5)
        for q in (-0.5, 0.5)
    ]
    spins = ("-b*a' + a*b' + d*c' - c*d'", "-c*a' - d*b' + a*c' + b*d'", "-d*a' + c*b' - b*c' + a*d'")
    names = [q + mark for q in "xyzabcd" for mark in ("", "'")]
    motion = da.System(
        "cube",
        coordinates="x y z a b c d",
        kinetic="(x'^2 + y'^2 + z'^2)/2 + (" + " + ".join(f"({spin})^2" for spin in spins) + ")/3",
        potential="9.81*z",
        constraints={"unit": "a^2 + b^2 + c^2 + d^2 = 1"}
        | {f"corner{k}": f"z + {dz} >= 0" for k, (_, _, dz) in enumerate(corners)},
        nonideal=[
            da.Coulomb(f"corner{k}", MU, point=(f"x + {dx}", f"y + {dy}", f"z + {dz}"))
            for k, (dx, dy, dz) in enumerate(corners)
        ],
        initial=dict.fromkeys(names, 0.0) | {"x'": 1.2, "y'": 1.6, "z": 0.5, "a": 1.0},
    ).simulate(1.0, samples=6, backend=backend)
    np.testing.assert_allclose(motion["x'"], 0.6 * np.maximum(0, 2 - MU * G * motion.t), atol=1e-8)
    assert motion.certificate.holds, motion.certificate
