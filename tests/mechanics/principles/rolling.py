"""Nonholonomic systems whose equations in quasi-velocities are derived by hand here, for Appell and for Kane."""

from __future__ import annotations

import sympy as sp
from sympy import cos, sin, tan

import dalembert as da

m, r, g, a, J = da.parameters("m r g a J")


def disc() -> tuple[da.System, dict[str, sp.Expr]]:
    """A thin disc rolling on a plane: centre (X, Y), heading q1, lean q2, spin q3. In the axes e1 (along the heading),
    e2 (the axle), e3 (up in the disc) its angular velocity is (u1, u2, u3); the centre moves with r(u2 e1 − u1 e2).
    """
    X, Y, q1, q2, q3 = da.coordinates("X Y q1 q2 q3")
    u1, u2, u3 = q2.d, q3.d + q1.d * sin(q2), q1.d * cos(q2)
    system = da.System(
        "rolling disc",
        coordinates=[X, Y, q1, q2, q3],
        kinetic=m * (X.d**2 + Y.d**2 + r**2 * sin(q2) ** 2 * q2.d**2) / 2
        + m * r**2 / 4 * (u1**2 + u3**2) / 2
        + m * r**2 / 2 * u2**2 / 2,
        potential=m * g * r * cos(q2),
        constraints={
            "roll X": X.d - r * (u2 * cos(q1) + u1 * cos(q2) * sin(q1)),
            "roll Y": Y.d - r * (u2 * sin(q1) - u1 * cos(q2) * cos(q1)),
        },
        parameters={m: 2, r: 0.7, g: 9.81},
    )
    return system, {"u1": u1, "u2": u2, "u3": u3}


def disc_inertia(u: list[sp.Symbol], lean: sp.Symbol) -> list[sp.Expr]:
    """−F*_r. The axes turn with (u1, u3 tan, u3), so the centre accelerates by r(u̇2 + u1u3, −u̇1 + u2u3, …), and with
    the moments mr²/4, mr²/2, mr²/4 the angular momentum changes by
    mr²/4 (u̇1 + u3² tan − 2u2u3, 2u̇2, u̇3 + 2u1u2 − u1u3 tan). The centre's partial velocities are −r e2, r e1, 0.
    """
    u1, u2, u3 = u
    moment = m * r**2 / 4
    return [
        moment * (u1.d + u3**2 * tan(lean) - 2 * u2 * u3) + m * r**2 * (u1.d - u2 * u3),
        moment * 2 * u2.d + m * r**2 * (u2.d + u1 * u3),
        moment * (u3.d + 2 * u1 * u2 - u1 * u3 * tan(lean)),
    ]


def disc_rates(u: list[sp.Symbol], lean: sp.Symbol) -> list[sp.Expr]:
    """The balance of these with the torque m g r sin(lean) of the weight, solved."""
    u1, u2, u3 = u
    first = (4 * g * sin(lean) + 6 * r * u2 * u3 - r * u3**2 * tan(lean)) / (5 * r)
    return [first, -2 * u1 * u3 / 3, -2 * u1 * u2 + u1 * u3 * tan(lean)]


def sleigh() -> tuple[da.System, dict[str, sp.Expr]]:
    """Chaplygin's sleigh: a blade at (x, y), the centre of mass a distance a ahead of it. M depends on q."""
    x, y, phi = da.coordinates("x y phi")
    system = da.System(
        "sleigh",
        coordinates=[x, y, phi],
        kinetic=m * ((x.d - a * phi.d * sin(phi)) ** 2 + (y.d + a * phi.d * cos(phi)) ** 2) / 2 + J * phi.d**2 / 2,
        constraints={"blade": x.d * sin(phi) - y.d * cos(phi)},
        parameters={m: 2, a: 0.3, J: 0.4},
        initial={x: 0, y: 0, phi: 0.5, x.d: 2 * cos(sp.Rational(1, 2)), y.d: 2 * sin(sp.Rational(1, 2)), phi.d: 1.5},
    )
    return system, {"v": x.d * cos(phi) + y.d * sin(phi), "omega": phi.d}


def sleigh_gibbs(v: sp.Symbol, omega: sp.Symbol) -> sp.Expr:
    """½m|r̈|² + ½J ω̇²: the centre of mass accelerates by v̇ − aω² along the blade and aω̇ + vω across."""
    return m * ((v.d - a * omega**2) ** 2 + (a * omega.d + v * omega) ** 2) / 2 + J * omega.d**2 / 2


def sleigh_rates(v: sp.Symbol, omega: sp.Symbol) -> list[sp.Expr]:
    return [a * omega**2, -m * a * v * omega / (J + m * a**2)]
