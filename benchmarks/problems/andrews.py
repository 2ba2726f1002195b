"""Andrews' squeezing mechanism to 0.03 s: seven angles, three closed loops, a spring and a driving torque.

As in Hairer and Wanner 1996, section VII.7, and the test set for initial value
problem solvers (Bari). One freedom; the crank angle β is monotonic, so that the reference integrates β alone.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from dalembert import System

from .base import Array, Problem
from .precise import tight_end

DURATION = 0.03
ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
DATA = {
    "m1": 0.04325,
    "m2": 0.00365,
    "m3": 0.02373,
    "m4": 0.00706,
    "m5": 0.07050,
    "m6": 0.00706,
    "m7": 0.05498,
    "i1": 2.194e-6,
    "i2": 4.410e-7,
    "i3": 5.255e-6,
    "i4": 5.667e-7,
    "i5": 1.169e-5,
    "i6": 5.667e-7,
    "i7": 1.912e-5,
    "xa": -0.06934,
    "ya": -0.00227,
    "xb": -0.03635,
    "yb": 0.03273,
    "xc": 0.014,
    "yc": 0.072,
    "d": 0.028,
    "da": 0.0115,
    "e": 0.02,
    "ea": 0.01421,
    "rr": 0.007,
    "ra": 0.00092,
    "ss": 0.035,
    "sa": 0.01874,
    "sb": 0.01043,
    "sc": 0.018,
    "sd": 0.02,
    "ta": 0.02308,
    "tb": 0.00916,
    "u": 0.04,
    "ua": 0.01228,
    "ub": 0.00449,
    "zf": 0.02,
    "zt": 0.04,
    "fa": 0.01421,
    "mom": 0.033,
    "c0": 4530.0,
    "l0": 0.07785,
}
# θ = 0 at rest; the rest follows from the constraints, near these published values (rounded).
GUESS = (-0.0617, 0.0, 0.4553, 0.2227, 0.4874, -0.2227, 1.2305)
LOOPS = {
    "B x": "rr*cos(beta) - d*cos(beta + theta) - ss*sin(gamma) - xb",
    "B y": "rr*sin(beta) - d*sin(beta + theta) + ss*cos(gamma) - yb",
    "A x upper": "rr*cos(beta) - d*cos(beta + theta) - e*sin(phi + delta) - zt*cos(delta) - xa",
    "A y upper": "rr*sin(beta) - d*sin(beta + theta) + e*cos(phi + delta) - zt*sin(delta) - ya",
    "A x lower": "rr*cos(beta) - d*cos(beta + theta) - zf*cos(omega + epsilon) - u*sin(epsilon) - xa",
    "A y lower": "rr*sin(beta) - d*sin(beta + theta) - zf*sin(omega + epsilon) + u*cos(epsilon) - ya",
}
# Twice the kinetic energy, body by body.
KINETIC = (
    "(m1*ra^2 + i1)*beta'^2 + m2*((rr^2 - 2*da*rr*cos(theta) + da^2)*beta'^2 + 2*(da^2 - da*rr*cos(theta))*beta'*theta'"
    " + da^2*theta'^2) + i2*(beta' + theta')^2 + (m3*(sa^2 + sb^2) + i3)*gamma'^2"
    " + m4*((e - ea)^2*(phi' + delta')^2 + 2*zt*(e - ea)*sin(phi)*(phi' + delta')*delta' + zt^2*delta'^2)"
    " + i4*(phi' + delta')^2 + (m5*(ta^2 + tb^2) + i5)*delta'^2"
    " + m6*((zf - fa)^2*(omega' + epsilon')^2 - 2*u*(zf - fa)*sin(omega)*(omega' + epsilon')*epsilon' + u^2*epsilon'^2)"
    " + i6*(omega' + epsilon')^2 + (m7*(ua^2 + ub^2) + i7)*epsilon'^2"
)
SPRING = "sqrt((sd*cos(gamma) + sc*sin(gamma) + xb - xc)^2 + (sd*sin(gamma) - sc*cos(gamma) + yb - yc)^2)"


def loops(q: Array, cos=np.cos, sin=np.sin) -> list:
    """The residuals of LOOPS, for peers: `cos` and `sin` may be those of any library."""
    c = DATA
    be, th, ga, ph, de, om, ep = (q[k] for k in range(7))
    x = c["rr"] * cos(be) - c["d"] * cos(be + th)
    y = c["rr"] * sin(be) - c["d"] * sin(be + th)
    return [
        x - c["ss"] * sin(ga) - c["xb"],
        y + c["ss"] * cos(ga) - c["yb"],
        x - c["e"] * sin(ph + de) - c["zt"] * cos(de) - c["xa"],
        y + c["e"] * cos(ph + de) - c["zt"] * sin(de) - c["ya"],
        x - c["zf"] * cos(om + ep) - c["u"] * sin(ep) - c["xa"],
        y - c["zf"] * sin(om + ep) + c["u"] * cos(ep) - c["ya"],
    ]


def slopes(q: Array, cos=np.cos, sin=np.sin) -> list[dict[int, object]]:
    """∂(loops)/∂q by rows: the nonzero entries."""
    c = DATA
    be, th, ga, ph, de, om, ep = (q[k] for k in range(7))
    x0, x1 = -c["rr"] * sin(be) + c["d"] * sin(be + th), c["d"] * sin(be + th)
    y0, y1 = c["rr"] * cos(be) - c["d"] * cos(be + th), -c["d"] * cos(be + th)
    ec, es = c["e"] * cos(ph + de), c["e"] * sin(ph + de)
    fc, fs = c["zf"] * cos(om + ep), c["zf"] * sin(om + ep)
    return [
        {0: x0, 1: x1, 2: -c["ss"] * cos(ga)},
        {0: y0, 1: y1, 2: -c["ss"] * sin(ga)},
        {0: x0, 1: x1, 3: -ec, 4: -ec + c["zt"] * sin(de)},
        {0: y0, 1: y1, 3: -es, 4: -es - c["zt"] * cos(de)},
        {0: x0, 1: x1, 5: fs, 6: fs - c["u"] * cos(ep)},
        {0: y0, 1: y1, 5: -fc, 6: -fc - c["u"] * sin(ep)},
    ]


def curvature(q: Array, v: Array, cos=np.cos, sin=np.sin) -> list:
    """b in A q̈ = b, the negative of the velocity terms."""
    c = DATA
    be, th, ga, ph, de, om, ep = (q[k] for k in range(7))
    b1, t1, g1, p1, d1, o1, e1 = (v[k] for k in range(7))
    x = c["rr"] * cos(be) * b1**2 - c["d"] * cos(be + th) * (b1 + t1) ** 2
    y = c["rr"] * sin(be) * b1**2 - c["d"] * sin(be + th) * (b1 + t1) ** 2
    return [
        x - c["ss"] * sin(ga) * g1**2,
        y + c["ss"] * cos(ga) * g1**2,
        x - c["e"] * sin(ph + de) * (p1 + d1) ** 2 - c["zt"] * cos(de) * d1**2,
        y + c["e"] * cos(ph + de) * (p1 + d1) ** 2 - c["zt"] * sin(de) * d1**2,
        x - c["zf"] * cos(om + ep) * (o1 + e1) ** 2 - c["u"] * sin(ep) * e1**2,
        y - c["zf"] * sin(om + ep) * (o1 + e1) ** 2 + c["u"] * cos(ep) * e1**2,
    ]


def mass_and_force(
    q: Array, v: Array, cos=np.cos, sin=np.sin, sqrt=np.sqrt
) -> tuple[dict[tuple[int, int], object], list]:
    """M (upper triangle, nonzero entries) and Q, as the test set writes them."""
    c = DATA
    th, ga, ph, om = q[1], q[2], q[3], q[5]
    b1, t1, p1, d1, o1, e1 = v[0], v[1], v[3], v[4], v[5], v[6]
    ez, ff = c["e"] - c["ea"], c["zf"] - c["fa"]
    M = {
        (0, 0): c["m1"] * c["ra"] ** 2
        + c["m2"] * (c["rr"] ** 2 - 2 * c["da"] * c["rr"] * cos(th) + c["da"] ** 2)
        + (c["i1"] + c["i2"]),
        (0, 1): c["m2"] * (c["da"] ** 2 - c["da"] * c["rr"] * cos(th)) + c["i2"],
        (1, 1): c["m2"] * c["da"] ** 2 + c["i2"],
        (2, 2): c["m3"] * (c["sa"] ** 2 + c["sb"] ** 2) + c["i3"],
        (3, 3): c["m4"] * ez**2 + c["i4"],
        (3, 4): c["m4"] * (ez**2 + c["zt"] * ez * sin(ph)) + c["i4"],
        (4, 4): c["m4"] * (c["zt"] ** 2 + 2 * c["zt"] * ez * sin(ph) + ez**2)
        + (c["m5"] * (c["ta"] ** 2 + c["tb"] ** 2) + c["i4"] + c["i5"]),
        (5, 5): c["m6"] * ff**2 + c["i6"],
        (5, 6): c["m6"] * (ff**2 - c["u"] * ff * sin(om)) + c["i6"],
        (6, 6): c["m6"] * (ff**2 - 2 * c["u"] * ff * sin(om) + c["u"] ** 2)
        + (c["m7"] * (c["ua"] ** 2 + c["ub"] ** 2) + c["i6"] + c["i7"]),
    }
    x = c["sd"] * cos(ga) + c["sc"] * sin(ga) + (c["xb"] - c["xc"])
    y = c["sd"] * sin(ga) - c["sc"] * cos(ga) + (c["yb"] - c["yc"])
    length = sqrt(x * x + y * y)
    pull = c["c0"] * (c["l0"] - length) / length
    Q = [
        c["mom"] - c["m2"] * c["da"] * c["rr"] * t1 * (t1 + 2 * b1) * sin(th),
        c["m2"] * c["da"] * c["rr"] * b1**2 * sin(th),
        pull * x * (c["sc"] * cos(ga) - c["sd"] * sin(ga)) + pull * y * (c["sd"] * cos(ga) + c["sc"] * sin(ga)),
        c["m4"] * c["zt"] * ez * d1**2 * cos(ph),
        -c["m4"] * c["zt"] * ez * p1 * (p1 + 2 * d1) * cos(ph),
        -c["m6"] * c["u"] * ff * e1**2 * cos(om),
        c["m6"] * c["u"] * ff * o1 * (o1 + 2 * e1) * cos(om),
    ]
    return M, Q


def dense(entries: dict[tuple[int, int], object]) -> Array:
    M = np.zeros((7, 7))
    for (i, j), value in entries.items():
        M[i, j] = M[j, i] = value
    return M


def _rows(q: Array) -> Array:
    A = np.zeros((6, 7))
    for k, row in enumerate(slopes(q)):
        for column, value in row.items():
            A[k, column] = value
    return A


def start() -> Array:
    """θ = 0, the other angles by Newton from the guess."""

    def miss(rest: Array) -> list:
        return loops(np.insert(rest, 1, 0.0))

    found = root(miss, np.delete(np.array(GUESS), 1), tol=1e-15)
    q = np.insert(found.x, 1, 0.0)
    for _ in range(3):
        A = _rows(q)[:, [0, 2, 3, 4, 5, 6]]
        q[[0, 2, 3, 4, 5, 6]] -= np.linalg.solve(A, loops(q))
    if np.abs(loops(q)).max() > 1e-16:
        raise RuntimeError(f"the loops do not close: {np.abs(loops(q)).max():.1e}")
    return q


def true_end() -> Array:
    """β alone: the other angles follow from the loops (Newton), the equation of motion from the null vector of A."""
    near = start()

    def place(beta: float) -> Array:
        q = near.copy()
        q[0] = beta
        for _ in range(8):
            step = np.linalg.solve(_rows(q)[:, 1:], loops(q))
            q[1:] -= step
            if np.abs(step).max() < 1e-15:
                break
        near[:] = q
        return q

    def f(t: float, y: Array) -> Array:
        q = place(y[0])
        A = _rows(q)
        along = np.concatenate([[1.0], -np.linalg.solve(A[:, 1:], A[:, 0])])
        v = along * y[1]
        entries, Q = mass_and_force(q, v)
        M = dense(entries)
        turn = np.concatenate([[0.0], np.linalg.solve(A[:, 1:], curvature(q, v))])
        return np.array([y[1], along @ (np.array(Q) - M @ turn) / (along @ M @ along)])

    end = tight_end(f, [near[0], 0.0], DURATION)
    return place(end[0])


def system() -> System:
    initial = dict(zip(ANGLES, start(), strict=True)) | {f"{name}'": 0.0 for name in ANGLES}
    return System(
        "Andrews' squeezer",
        coordinates=" ".join(ANGLES),
        kinetic=f"({KINETIC})/2",
        potential=f"c0*({SPRING} - l0)^2/2",
        forces={"beta": "mom"},
        constraints=LOOPS,
        parameters=DATA,
        initial=initial,
    )


PROBLEM = Problem(
    name="andrews",
    title="Andrews' squeezer, 0.03 s",
    duration=DURATION,
    data=DATA,
    system=system,
    observe=lambda q, v: q,
    compute=true_end,
    recipe="minimal coordinate β, loops closed by Newton, SciPy DOP853 at rtol 1e-13: seven angles at 0.03 s",
)
