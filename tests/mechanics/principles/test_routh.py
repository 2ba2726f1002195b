"""Routh's equations against the textbooks and against the fundamental equation; which coordinates are ignorable."""

from __future__ import annotations

import json

import pytest
import sympy as sp

import dalembert as da
from dalembert.mechanics.reduce.ignorable import ignorable

r, phi, theta, psi, x, y, z = da.coordinates("r phi theta psi x y z")
m, k, g, l, I1, I3, B = da.parameters("m k g l I1 I3 B")


def planet(**more) -> da.System:
    kinetic = m * (r.d**2 + r**2 * phi.d**2) / 2
    arguments = {"kinetic": kinetic, "potential": -k / r, "parameters": {m: 2, k: 3}} | more
    return da.System("planet", coordinates=[r, phi], **arguments)


def top() -> da.System:
    """A heavy symmetric top: θ from the vertical, precession φ, spin ψ."""
    return da.System(
        "heavy top",
        coordinates=[theta, phi, psi],
        kinetic=I1 * (theta.d**2 + phi.d**2 * sp.sin(theta) ** 2) / 2 + I3 * (psi.d + phi.d * sp.cos(theta)) ** 2 / 2,
        potential=m * g * l * sp.cos(theta),
        parameters={I1: 1.3, I3: 0.7, m: 1.1, g: 9.81, l: 0.4},
        initial={theta: 0.5, phi: 0.1, psi: 0.2, theta.d: 0.1, phi.d: 0.3, psi.d: 14.0},
    )


def test_the_planet_of_the_textbooks():
    """R = ½mṙ² + k/r − p²/(2mr²): the effective potential holds the centrifugal barrier."""
    found = planet().equations("routh")
    p = next(iter(found.momenta))
    assert p.name == "p_phi"
    assert sp.simplify(found.routhian - (m * r.d**2 / 2 + k / r - p**2 / (2 * m * r**2))) == 0
    assert found.momenta[p] == m * r**2 * phi.d
    assert sp.simplify(found.velocities[phi.d] - p / (m * r**2)) == 0
    text = found.text()
    assert "V_eff = -k/r + p_phi**2/(2*m*r**2)" in text
    assert r"\ddot{r}" in found.latex()
    assert found.to_dict()["velocities"] == {"phi'": "p_phi/(m*r**2)"}


def test_the_heavy_top_of_the_textbooks():
    """V_eff = (p_φ − p_ψ cos θ)²/(2 I₁ sin²θ) + p_ψ²/(2 I₃) + m g l cos θ, for both momenta at once."""
    found = top().equations("routh")
    by_name = {p.name: p for p in found.momenta}
    one, three = by_name["p_phi"], by_name["p_psi"]
    effective = (one - three * sp.cos(theta)) ** 2 / (2 * I1 * sp.sin(theta) ** 2) + three**2 / (2 * I3)
    effective += m * g * l * sp.cos(theta)
    assert sp.simplify(found.routhian - (I1 * theta.d**2 / 2 - effective)) == 0
    assert top().compare(["routh"]).agree
    assert top().compare(["routh"])["routh"].state_size == 2


def test_terms_linear_in_the_velocities():
    """In a magnetic field p_y = m ẏ + B x is not m ẏ, and x swings about p_y/B at the cyclotron frequency."""
    field = da.System(
        "charge", coordinates=[x, y], lagrangian=m * (x.d**2 + y.d**2) / 2 + B * x * y.d, parameters={m: 2.0, B: 3.0}
    )
    found = field.equations("routh")
    (p,) = found.momenta
    assert sp.simplify(found.routhian - (m * x.d**2 / 2 - (p - B * x) ** 2 / (2 * m))) == 0
    assert field.compare(["routh"]).agree


def test_everything_may_be_ignorable():
    free = da.System("free", coordinates=[x, y], kinetic=m * (x.d**2 + 2 * y.d**2) / 2, parameters={m: 2.0})
    found = free.compare(["routh"])
    assert found["routh"].applies
    assert found.agree
    assert "x' = p_x/m" in free.equations("routh").text()


def test_velocities_that_are_ignored_may_stand_elsewhere():
    """A force along r that depends on φ̇, and a constraint on accelerations with φ̇ in it, know φ̇ by the momentum."""
    blown = planet(forces={r: -0.3 * phi.d**2 * r.d})
    assert "p_phi**2" in blown.equations("routh").text()
    assert blown.compare(["routh"]).agree
    coordinates = [r, phi, z]
    led = da.System(
        "led", coordinates=coordinates, kinetic=m * (r.d**2 + r**2 * phi.d**2 + z.d**2) / 2, potential=-k / r,
        constraints={"lead": z.dd - phi.d * r.d}, parameters={m: 2, k: 3},
    )  # fmt: skip
    found = led.compare(["routh", "lagrange"])
    assert found["routh"].applies, found["routh"].reason
    assert found.agree, str(found)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"forces": {phi: -0.1 * phi.d}}, "phi is cyclic, but a force acts along it"),
        ({"forces": {r: -sp.sin(phi)}}, "phi is cyclic, but a force depends on it"),
        ({"constraints": {"rail": r - 2 - sp.cos(phi)}}, "phi is cyclic, but the constraint 'rail' acts along it"),
        ({"constraints": {"drive": r.d - sp.cos(phi)}}, "phi is cyclic, but the constraint 'drive' depends on it"),
        ({"events": {"lap": phi - 6}}, "phi is cyclic, but the event 'lap' looks at it"),
        ({"potential": -k / r + sp.cos(phi)}, "no coordinate is cyclic: L holds every one of them"),
    ],
)
def test_what_is_not_ignorable_is_told(changes, told):
    system = planet(**changes)
    with pytest.raises(da.DoesNotApply, match="the form 'routh' does not apply") as failed:
        system.equations("routh")
    assert told in str(failed.value)
    assert system.compare(["routh"])["routh"].reason == told


def test_momenta_that_do_not_give_velocities_back():
    c = da.parameters("c")[0]
    fast = da.System("fast", coordinates=[x, y], lagrangian=-m * c**2 * sp.sqrt(1 - (x.d**2 + y.d**2) / c**2) - x**2)
    assert ignorable(fast).kept["y"] == "y is cyclic, but L is not quadratic in its velocity"
    light = da.System("massless", coordinates=[x, y], kinetic=m * x.d**2 / 2, potential=x**2, constraints={"c": x - 1})
    assert "its momentum does not determine its velocity" in ignorable(light).kept["y"]
    given = da.System("given", coordinates=[x, y], mass=[[1 + x**2, 0], [0, 1]], forces={x: -x})
    assert "there is no Lagrangian" in ignorable(given).reason


def test_cyclic_in_disguise():
    """∂L/∂φ is zero though φ stands in L."""
    turned = planet(potential=-k / r + sp.cos(phi) ** 2 + sp.sin(phi) ** 2)
    assert ignorable(turned).coordinates == (phi,)
    assert phi not in turned.equations("routh").routhian.free_symbols
    assert turned.compare(["routh"]).agree


def test_shown_with_all_forms(tmp_path):
    from typer.testing import CliRunner

    from dalembert.cli.app import app

    def shown(system: da.System, *options: str) -> str:
        file = tmp_path / "planet.toml"
        system.save(file)
        done = CliRunner().invoke(app, ["equations", str(file), "--form", "all", *options])
        assert done.exit_code == 0, done.output
        return done.stdout

    forms = {part["form"]: part for part in json.loads(shown(planet(), "--json"))["forms"]}
    assert forms["routh"]["applies"]
    assert "p_phi" in forms["routh"]["momenta"]
    led = planet(forces={phi: -0.1 * phi.d})
    assert "routh: does not apply: phi is cyclic, but a force acts along it" in shown(led)


def test_more_coupled_ones_than_can_be_solved():
    """Six that are coupled: four are ignored, two stay; what is not coupled is ignored as well."""
    names = [f"q{k}" for k in range(6)]
    together = "+".join(f"{name}'" for name in names)
    kinetic = "+".join(f"{name}'^2/2" for name in names) + f" + ({together})^2*(1 + u^2) + u'^2 + w'^2/(2 + sin(u))"
    start = dict.fromkeys(names, 0) | {f"{name}'": 0.3 * k for k, name in enumerate(names)}
    start |= {"u": 0.3, "u'": 0.1, "w": 0, "w'": 1}
    many = da.System("many", coordinates=[*names, "u", "w"], kinetic=kinetic, potential="u^2", initial=start)
    found = ignorable(many)
    assert [q.name for q in found.coordinates] == [*names[:4], "w"]
    assert found.kept["q4"] == "q4 is ignorable, but coupled to 4 others that are ignored already"
    assert many.compare(["routh"]).agree
    reduced = many.reduce()
    whole, back = many.simulate(1.0, samples=11), reduced.reconstruct(reduced.simulate(1.0, samples=11))
    assert abs(whole.q - back.q).max() < 1e-8
