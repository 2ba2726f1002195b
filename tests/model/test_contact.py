"""The geometry of sliding points against hand-derived cases: reaction, sliding velocity, direction of the force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin, sqrt, tan

import dalembert as da
from dalembert.model.friction.contact import Contact

x, y, z, phi, r = da.coordinates("x y z phi r")
x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
m, m1, m2, g, k, l, R, J, theta, vb, h, mu = da.parameters("m m1 m2 g k l R J theta vb h mu")
VALUES = {m: 2, m1: 2, m2: 3, g: 9.81, k: -1.7, l: 1.5, R: 0.4, J: 0.6, theta: 0.5, vb: 0.3, h: 0.2, mu: 0.25}
PLANE = m * (x.d**2 + y.d**2) / 2
SPACE = m * (x.d**2 + y.d**2 + z.d**2) / 2
BODY = PLANE + J * phi.d**2 / 2
TWO = m1 * (x1.d**2 + y1.d**2) / 2 + m2 * (x2.d**2 + y2.d**2) / 2
λ = da.multiplier("c")


def system(coordinates: Any, kinetic: Any, constraints: Any, *laws: Any, **more: Any) -> da.System:
    if not isinstance(constraints, dict):
        constraints = {"c": constraints}
    parts = {"parameters": VALUES, "nonideal": laws, **more}
    return da.System("s", coordinates=coordinates, kinetic=kinetic, constraints=constraints, **parts)


def contact(coordinates: Any, kinetic: Any, constraints: Any, **law: Any) -> Contact:
    names = list(constraints) if isinstance(constraints, dict) else "c"
    (found,) = system(coordinates, kinetic, constraints, da.Coulomb(names, mu, **law)).contacts
    return found


def same(one: Any, other: Any) -> bool:
    """Equal as functions: at random points, to rounding."""
    difference = sp.sympify(one) - sp.sympify(other)
    rng = np.random.default_rng(3)
    symbols = sorted(difference.free_symbols, key=str)
    for _ in range(3):
        place = {s: sp.Float(VALUES.get(s, rng.uniform(-1, 1))) for s in symbols}
        if abs(complex(difference.xreplace(place).evalf())) > 1e-12:  # a handful of roundings of values near 1
            return False
    return True


def forces(found: Contact) -> list[dict[Any, Any]]:
    return [dict(force) for force in found.force]


def check(found: Contact, normal: Any, slide: list[Any], force: list[dict[Any, Any]]) -> None:
    assert same(found.normal, normal), found.normal
    assert len(found.slide) == len(slide)
    assert all(same(u, wanted) for u, wanted in zip(found.slide, slide, strict=True)), found.slide
    for have, wanted in zip(forces(found), force, strict=True):
        assert all(same(have.get(q, 0), wanted.get(q, 0)) for q in {*have, *wanted}), have


def test_a_floor_is_exactly_that() -> None:
    found = contact([x, y], PLANE, y)
    assert (found.normal, found.slide, forces(found)) == (λ, (x.d,), [{x: 1}])
    found = contact([x, y, z], SPACE, z)
    assert (found.normal, found.slide, forces(found)) == (λ, (x.d, y.d), [{x: 1}, {y: 1}])


class TestIncline:
    SLOPE = y - x * tan(theta)
    SCALINGS = (SLOPE, y * cos(theta) - x * sin(theta), -k * SLOPE, 2 * SLOPE)

    @pytest.mark.parametrize("plane", SCALINGS, ids=str)
    def test_the_scale_of_the_equation_does_not_matter(self, plane: sp.Expr) -> None:
        found = contact([x, y], PLANE, plane)
        start = {x: 0.3, y: 0.3 * tan(theta), x.d: 2, y.d: 2 * tan(theta)}
        now = system([x, y], PLANE, plane, potential=m * g * y, initial=start).at()
        place = {**VALUES, λ: now.multipliers[0], x.d: 2, y.d: 2 * np.tan(0.5)}
        # A few roundings.
        assert abs(found.normal.subs(place)) == pytest.approx(2 * 9.81 * np.cos(0.5), rel=1e-14)
        speed = float(found.slide[0].subs(place))
        assert abs(speed) == pytest.approx(2 / np.cos(0.5), rel=1e-14)
        along = [float(found.force[0][q].subs(place)) * np.sign(speed) for q in (x, y)]
        np.testing.assert_allclose(along, [np.cos(0.5), np.sin(0.5)], rtol=1e-14)

    def test_a_displacement_along_it(self) -> None:
        """One expression: how far it has slid. The reaction is then that of the Cartesian coordinates."""
        found = contact([x, y], PLANE, y - x * tan(theta), point=x / cos(theta))
        check(found, λ / cos(theta), [x.d / cos(theta)], [{x: 1 / cos(theta)}])


def test_bead_on_a_circle() -> None:
    found = contact([x, y], PLANE, x**2 + y**2 - l**2)
    size = sqrt(x**2 + y**2)
    check(found, 2 * size * λ, [(y * x.d - x * y.d) / size], [{x: y / size, y: -x / size}])


def test_bead_in_polar_coordinates() -> None:
    """The point by its Cartesian coordinates; r = l holds it, the force is a torque."""
    place = [r * sin(phi), -r * cos(phi)]
    found = contact([r, phi], m * (r.d**2 + r**2 * phi.d**2) / 2, r - l, point=place)
    check(found, λ, [-r * phi.d], [{phi: -r}])


def test_particle_on_a_sphere() -> None:
    found = contact([x, y, z], SPACE, x**2 + y**2 + z**2 - l**2)
    place, square = sp.Matrix([x, y, z]), x**2 + y**2 + z**2
    tangent = sp.eye(3) - place * place.T / square
    slide = tangent * sp.Matrix([x.d, y.d, z.d])
    wanted = [dict(zip((x, y, z), tangent.row(j), strict=True)) for j in range(3)]
    check(found, 2 * sqrt(square) * λ, list(slide), wanted)


def test_bead_on_a_wire_in_space() -> None:
    """Two surfaces that are not at right angles: the reaction is the length of the sum, the sliding one-dimensional."""
    found = contact([x, y, z], SPACE, {"a": z - y, "b": z - 2 * y + x})
    a, b = da.multiplier("a"), da.multiplier("b")
    assert not found.signed
    assert found.name == "a + b"
    # Along (1, 1, 1)·s: z = y and z = 2y − x.
    normal = sqrt(b**2 + (a + 2 * b) ** 2 + (a + b) ** 2)
    slide = (x.d + y.d + z.d) / sqrt(3)
    sign = 1 if same(found.slide[0], slide) else -1
    check(found, normal, [sign * slide], [dict.fromkeys((x, y, z), sign / sqrt(3))])


class TestLeaningRod:
    """A rod of length 2l at the angle phi, its lower end on the floor, its upper end at a wall."""

    low, high = (x + l * cos(phi), y - l * sin(phi)), (x - l * cos(phi), y + l * sin(phi))

    def test_floor(self) -> None:
        found = contact([x, y, phi], BODY, self.low[1], point=self.low)
        check(found, λ, [x.d - l * sin(phi) * phi.d], [{x: 1, phi: -l * sin(phi)}])

    def test_wall(self) -> None:
        found = contact([x, y, phi], BODY, self.high[0], point=self.high)
        check(found, λ, [-y.d - l * cos(phi) * phi.d], [{y: -1, phi: -l * cos(phi)}])

    def test_both(self) -> None:
        laws = [da.Coulomb("floor", mu, point=self.low), da.Coulomb("wall", mu / 2, point=list(self.high))]
        both = system([x, y, phi], BODY, {"floor": self.low[1], "wall": self.high[0]}, *laws).contacts
        assert [found.name for found in both] == ["floor", "wall"]

    def test_a_slanted_wall_in_any_scale(self) -> None:
        slanted = self.high[0] * cos(theta) + self.high[1] * sin(theta)
        found = contact([x, y, phi], BODY, 5 * slanted, point=self.high)
        velocity = [x.d + l * sin(phi) * phi.d, y.d + l * cos(phi) * phi.d]
        check(
            found,
            5 * λ,
            [velocity[0] * sin(theta) - velocity[1] * cos(theta)],
            [{x: sin(theta), y: -cos(theta), phi: l * sin(phi) * sin(theta) - l * cos(phi) * cos(theta)}],
        )


class TestTwoBodies:
    STACK = y2 - y1 - h

    @pytest.mark.parametrize("point", [(x2 - x1, y2 - y1), x2 - x1], ids=["vector", "displacement"])
    def test_stacked_blocks(self, point: Any) -> None:
        found = contact([x1, y1, x2, y2], TWO, self.STACK, point=point)
        check(found, λ, [x2.d - x1.d], [{x1: -1, x2: 1}])

    def test_each_on_its_own_plane(self) -> None:
        """Particles of different mass are told apart without a point."""
        found = contact([x1, y1, x2, y2], TWO, y2 - x2 * tan(theta))
        assert set(found.force[0]) == {x2, y2}

    def test_equal_masses(self) -> None:
        same_mass = m * (x1.d**2 + y1.d**2 + x2.d**2 + y2.d**2) / 2
        found = contact([x1, y1, x2, y2], same_mass, self.STACK, point=(x2 - x1, y2 - y1))
        check(found, λ, [x2.d - x1.d], [{x1: -1, x2: 1}])


def test_belt() -> None:
    found = contact([x, y], PLANE, y, point=["x - vb*t", "y"])
    check(found, λ, [x.d - vb], [{x: 1}])
    assert same(contact([x, y], PLANE, y, point=x - vb * da.t).slide[0], x.d - vb)


class TestTurning:
    PIN = {"px": x - l * cos(phi), "py": y - l * sin(phi)}  # noqa: RUF012

    def test_pin(self) -> None:
        found = contact([x, y, phi], BODY, self.PIN, point=R * phi)
        check(found, sqrt(da.multiplier("px") ** 2 + da.multiplier("py") ** 2), [R * phi.d], [{phi: R}])
        assert not found.signed

    def test_scaled_pin(self) -> None:
        found = contact([x, y, phi], BODY, {"px": 3 * self.PIN["px"], "py": -2 * self.PIN["py"]}, point=R * phi)
        assert same(found.normal, sqrt(9 * da.multiplier("px") ** 2 + 4 * da.multiplier("py") ** 2))

    def test_pin_between_bodies(self) -> None:
        """Both feel the same force; what counts is one of them."""
        a, b = da.coordinates("a b")
        kinetic = TWO + J * (a.d**2 + b.d**2) / 2
        joint = {
            "px": x1 + l * cos(a) - x2 + l * cos(b),
            "py": y1 + l * sin(a) - y2 + l * sin(b),
        }
        found = contact([x1, y1, a, x2, y2, b], kinetic, joint, point=R * (b - a))
        check(found, sqrt(da.multiplier("px") ** 2 + da.multiplier("py") ** 2), [R * (b.d - a.d)], [{a: -R, b: R}])

    def test_wheel_that_may_slip(self) -> None:
        found = contact([x, y, phi], BODY, y - R, point=x + R * phi)
        check(found, λ, [x.d + R * phi.d], [{x: 1, phi: R}])

    def test_knife_edge(self) -> None:
        """A velocity constraint: the reaction is across the edge, the sliding along it."""
        found = contact([x, y, phi], BODY, x.d * sin(phi) - y.d * cos(phi), point=[x, y])
        check(found, λ, [-x.d * cos(phi) - y.d * sin(phi)], [{x: -cos(phi), y: -sin(phi)}])

    def test_puck_on_a_table(self) -> None:
        found = contact([x, y, z], SPACE, z - h, point=[x, y])
        check(found, λ, [x.d, y.d], [{x: 1}, {y: 1}])


class TestAsked:
    """Where what slides cannot be told from the model, the point is asked for."""

    @pytest.mark.parametrize(
        ("coordinates", "kinetic", "constraint"),
        [
            ([x, y, phi], BODY, y - R),  # a wheel or a block?
            ([r, phi], m * (r.d**2 + r**2 * phi.d**2) / 2, r - l),
            ([x1, y1, x2, y2], TWO, y2 - y1 - h),
            ([x1, y1, x2, y2], m * (x1.d**2 + y1.d**2 + x2.d**2 + y2.d**2), y1),
            ([x, y, phi], (x.d**2 + y.d**2 + phi.d**2) / 2, y),
            ([x, y], m * x.d**2 / 2 + m1 * y.d**2 / 2, y - x),
            ([x, y], m * (x.d**2 + y.d**2 + x.d * y.d), y - x),
            ([x], m * x.d**2, x),
        ],
    )
    def test_default(self, coordinates: Any, kinetic: Any, constraint: Any) -> None:
        with pytest.raises(da.ModelError, match="point="):
            contact(coordinates, kinetic, constraint)

    def test_numbers_as_masses(self) -> None:
        """One of three equal numbers may be a moment of inertia, unless the names say that all are places."""
        found = contact([x, y, z], (x.d**2 + y.d**2 + z.d**2) / 2, z - h)
        check(found, λ, [x.d, y.d], [{x: 1}, {y: 1}])

    @pytest.mark.parametrize(
        "inertia",
        [
            {"kinetic": None, "lagrangian": PLANE - m * g * y},
            {"kinetic": None, "mass": [[m, 0], [0, m]], "forces": {y: -m * g}},
            {"kinetic": (x.d**2 + y.d**2) / 2},
            {"kinetic": m * x.d**2 / 2 + y.d**2 * m / 2 + x.d},
        ],
    )
    def test_inertia_in_any_form(self, inertia: Any) -> None:
        parts = {"parameters": VALUES, "nonideal": [da.Coulomb("c", mu)], **inertia}
        (found,) = da.System("s", coordinates=[x, y], constraints={"c": y}, **parts).contacts
        assert found.slide == (x.d,)

    def test_the_size_of_a_reaction(self) -> None:
        same_mass = m * (x1.d**2 + y1.d**2 + x2.d**2 + y2.d**2) / 2 + J * phi.d**2
        with pytest.raises(da.ModelError, match="different names"):
            contact([x1, y1, x2, y2, phi], same_mass, x2 - x1, point=R * phi)
        with pytest.raises(da.ModelError, match="Cartesian"):
            contact([r, phi], m * (r.d**2 + r**2 * phi.d**2) / 2, r - l * phi, point=r)


def on_feet(inertia: str, point: list[str]) -> da.System:
    """A body with small tilts b, c on a foot; `inertia` is that of c, K that of b."""
    names = ("x", "y", "z", "a", "b", "c")
    return da.System(
        "feet",
        coordinates=names,
        kinetic=f"m*(x'^2 + y'^2 + z'^2)/2 + J*a'^2/2 + K*b'^2/2 + {inertia}*c'^2/2",
        potential="m*g*z",
        constraints=[da.Constraint("foot", "z + w*b + w*c", one_sided=True)],
        nonideal=[da.Coulomb("foot", mu=0.3, point=point)],
        parameters={"m": 1, "g": 9.81, "J": 1, "K": 0.5, "w": 0.3} | ({"L": 0.5} if inertia == "L" else {}),
        initial=dict.fromkeys([*names, *(f"{name}'" for name in names)], 0) | {"x'": 1},
    )


def test_tilts_of_one_inertia_are_not_taken_for_a_place() -> None:
    """b and c stand side by side with one inertia, as Cartesian coordinates do; the point moves with x and y."""
    points = [["x - w*a", "y + w*a"], ["x - w*a + h*c", "y + w*a - h*b"], ["x - w*a", "y + w*a", "z + w*b + w*c"]]
    for point in points:
        texts = [text.replace("h", "w") for text in point]
        (equal,), (named,) = on_feet("K", texts).contacts, on_feet("L", texts).contacts
        assert equal.normal == named.normal == da.multiplier("foot"), "∂φ/∂z is one"
        assert equal.slide == named.slide


def test_bodies_that_feel_different_reactions_are_named() -> None:
    with pytest.raises(da.ModelError, match=r"here \(x, y, z\) and \(b, c\).*all three"):
        on_feet("K", ["2*x", "2*y"])


def test_an_angle_that_is_held_gives_a_torque() -> None:
    """A bead on a rough rod that turns, in polar coordinates: the multiplier of th = 2 t is m r² a, no force. With the
    velocity along the normal N = λ/r. A film needs no N.
    """
    rod, th = {"c": phi - 2 * da.t}, m * (r.d**2 + r**2 * phi.d**2) / 2
    for law in ({"slide": (r.d,)}, {"point": (r,)}):
        with pytest.raises(da.ModelError, match=r"phi is no length, for its inertia .* changes with r,"):
            contact([r, phi], th, rod, **law)
    with pytest.raises(da.ModelError, match="velocity along the normal as one more component of slide"):
        contact([r, phi], th, {"c": r * (phi - 2 * da.t)}, slide=(r.d,))
    found = contact([r, phi], th, rod, slide=(r.d, r * (phi.d - 2)))
    assert same(sp.Abs(found.normal), sp.Abs(λ) / sp.Abs(r))
    assert same(sp.Abs(found.slide[0]), sp.Abs(r.d))
    (film,) = system([r, phi], th, rod, da.Viscous("c", mu, slide=(r.d,))).works
    assert dict(film.work) == {r: -mu * r.d}
