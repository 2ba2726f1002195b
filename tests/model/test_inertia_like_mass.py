"""An angle whose moment of inertia equals the mass is no place: friction is that of every other inertia beside it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

G, MU = 9.81, 0.3


def rod(inertia: float, order: str = "xys", law: str = "slide") -> da.System:
    """A rod that slides on its end, with y = sin s."""
    point = {"slide": ["x' + sin(s)*s'"]} if law == "slide" else {"point": ["x - cos(s)", "y - sin(s)"]}
    return da.System(
        "rod",
        coordinates=list(order),
        kinetic=f"(x'^2 + y'^2)/2 + {inertia}*s'^2/2",
        potential="9.81*y",
        constraints={"floor": "y >= sin(s)"},
        nonideal=[da.Coulomb("floor", MU, **point)],
        initial={"x": 0, "y": np.sin(1), "s": 1, "x'": 2, "y'": 0, "s'": 0},
    )


def slid(inertia: float, end: float) -> float:
    """By hand: N = m(ÿ + g), f = −μN sign(u), J s̈ = −N cos s + f sin s, y = sin s."""

    def rates(_, z):
        _, s, v, w = z
        f = -MU * np.sign(v + np.sin(s) * w)
        # ÿ = cos s s̈ − sin s ẇ², and J s̈ = N (f sin s − cos s)
        lever = f * np.sin(s) - np.cos(s)
        N = (G - np.sin(s) * w**2) / (1 - np.cos(s) * lever / inertia)
        return [v, w, f * N, N * lever / inertia]

    found = solve_ivp(rates, (0, end), [0, 1, 2, 0], rtol=1e-11, atol=1e-12)
    return float(found.y[0, -1])


@pytest.mark.parametrize("inertia", [1.0, 0.5, 1.0001])
@pytest.mark.parametrize("law", ["slide", "point"])
@pytest.mark.parametrize("order", [*map("".join, permutations("xys"))])
def test_a_rod_that_slides_on_its_end(inertia, law, order):
    motion = rod(inertia, order, law).simulate(0.4, rtol=1e-10, samples=5)
    assert motion["x"][-1] == pytest.approx(slid(inertia, 0.4), rel=1e-8)


@pytest.mark.parametrize("tilt", [1.0, 0.2])
def test_a_plate_on_four_feet_whose_tilts_have_one_inertia(tilt):
    """It translates at √5 and stops after v²/(2μg), whatever its moments of inertia, in the direction it had."""
    feet = {f"f{k}": (a, b) for k, (a, b) in enumerate([(1, 1), (-1, 1), (1, -1), (-1, -1)])}
    motion = da.System(
        "plate",
        coordinates="x y p z a b",
        kinetic=f"(x'^2 + y'^2 + z'^2)/2 + 0.15*p'^2 + {tilt}*(a'^2 + b'^2)/2",
        potential="9.81*z",
        constraints={name: f"z + ({a})*a - ({b})*b >= 0" for name, (a, b) in feet.items()},
        nonideal=[da.Coulomb(name, MU, slide=[f"x' - ({b})*p'", f"y' + ({a})*p'"]) for name, (a, b) in feet.items()],
        initial={"x'": 2, "y'": 1} | dict.fromkeys(["x", "y", "p", "z", "a", "b", "p'", "z'", "a'", "b'"], 0),
    ).simulate(2)
    way = 5 / (2 * MU * G)
    assert motion["x"][-1] == pytest.approx(way * 2 / np.sqrt(5), rel=1e-9)
    assert motion["y"][-1] == pytest.approx(way / np.sqrt(5), rel=1e-9)


@pytest.mark.parametrize("order", ["X Y th X2 Y2 th2", "X2 th th2 X Y2 Y", "Y X2 X th Y2 th2"])
def test_a_disc_that_slides_on_another_of_the_same_mass(order):
    """Its rim speed has unit directions only where the discs touch. By hand: N from the circle on which it moves, the
    angle b of the line of centres from the horizontal, m d b̈ = −m g cos b + f, J θ̈ = −f R, d = 2, R = 1.
    """
    g, mu, J = 9.81, 0.2, 0.3
    motion = da.System(
        "discs",
        coordinates=order,
        kinetic="m*(X'^2 + Y'^2 + X2'^2 + Y2'^2)/2 + 0.15*(th'^2 + th2'^2)",
        potential="m*9.81*Y2",
        constraints={"c": "(X2 - X)^2 + (Y2 - Y)^2 - 4", "px": "X", "py": "Y"},
        nonideal=[da.Coulomb("c", mu, slide=["((Y2-Y)*(X' - X2') + (X2-X)*(Y2' - Y'))/2 - th' - th2'"])],
        parameters={"m": 1},
        initial=dict.fromkeys([f"{q}{d}" for q in order.split() for d in ("", "'")], 0.0)
        | {"X2": 1.2, "Y2": 1.6, "th'": 3},
    ).simulate(0.3, rtol=1e-10)

    def rates(_, z):
        b, w, turn, other = z
        N = g * np.sin(b) - 2 * w**2
        f = -mu * N * np.sign(2 * w - turn - other)
        return [w, (-g * np.cos(b) + f) / 2, -f / J, -f / J]

    found = solve_ivp(rates, (0, 0.3), [np.arctan2(1.6, 1.2), 0, 3, 0], rtol=1e-11, atol=1e-12).y[:, -1]
    assert motion["th'"][-1] == pytest.approx(found[2], rel=1e-8)
    assert motion["X2"][-1] == pytest.approx(2 * np.cos(found[0]), rel=1e-8)


@pytest.mark.parametrize(
    ("coordinates", "gap", "slide", "told"),
    [
        ("x u a", "u >= 0.5*a", "x'", r"\(x, u\) or \(x, a\)"),
        ("p x y", "y >= x", "p'", "does not move with x, y"),
    ],
)
def test_what_cannot_be_told_is_asked(coordinates, gap, slide, told):
    """u may be a height, or a; x and y a place that the point does not move with, or two slides."""
    with pytest.raises(da.ModelError, match=told):
        da.System(
            "lever",
            coordinates=coordinates,
            kinetic=" + ".join(f"{q}'^2/{3 if q == 'p' else 2}" for q in coordinates.split()),
            constraints={"c": gap},
            nonideal=[da.Coulomb("c", MU, slide=[slide])],
            initial={f"{q}{d}": 0 for q in coordinates.split() for d in ("", "'")},
        )
