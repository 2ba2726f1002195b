"""Laws of friction: what they are as written, and the work or contact that a system makes of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import sympy as sp

import dalembert as da
from dalembert.model.friction.contact import SPEED, needs_legs

x, y, phi = da.coordinates("x y phi")
m, g, mu, c, vs, eps = da.parameters("m g mu c vs eps")
N = da.multiplier("floor")

LAWS: list[Any] = [
    da.Work({x: -c * x.d * da.multiplier("floor")}, "floor"),
    da.Viscous("floor", c),
    da.Quadratic("floor", 0.3, point=x),
    da.Coulomb("floor", mu),
    da.Coulomb("floor", "mu", "2*mu", point=["x - 0.5*t"]),
    da.Coulomb("floor", mu, regularize=1e-3),
    da.Stribeck("floor", mu, sp.Rational(5, 7), vs, exponent=1, viscous=c, point=(x, y)),
    da.Stribeck(["floor"], mu, 2 * mu, 0.1, regularize=eps),
]


def block(*laws: Any, **changes: Any) -> da.System:
    """A block on a horizontal floor."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "constraints": {"floor": y},
        "nonideal": laws,
        "parameters": {m: 2, g: 9.81, mu: 0.3, c: 0.4, vs: 0.1, eps: 0.01},
        "initial": {x: 0, y: 0, x.d: 1, y.d: 0},
    }
    return da.System("block", **{**parts, **changes})


class TestAsWritten:
    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.law)
    @pytest.mark.parametrize(
        "again",
        [
            lambda s: pickle.loads(pickle.dumps(s)),
            copy.deepcopy,
            lambda s: s.replace(),
            lambda s: da.loads(da.dumps(s)),
        ],
        ids=["pickle", "copy", "replace", "document"],
    )
    def test_kept(self, law: Any, again: Any) -> None:
        system = block(law)
        assert again(system).nonideal == system.nonideal
        assert again(system).structure == system.structure

    @pytest.mark.parametrize("law", [law for law in LAWS if "mu" not in vars(law).values()], ids=lambda law: law.law)
    def test_parameters_are_found(self, law: Any) -> None:
        """Those of text must be declared; those of expressions need not."""
        system = block(law, parameters={})
        wanted = {s for e in system.nonideal[0].expressions() for s in e.free_symbols} & {m, g, mu, c, vs, eps}
        assert {m, g} | wanted == set(system.parameter_symbols)

    def test_structure_tells_laws_apart(self) -> None:
        assert len({block(law).structure for law in LAWS}) == len(LAWS)
        assert block(LAWS[3]).structure == block(LAWS[3]).replace(parameters={mu: 0.5}).structure


class TestWorks:
    def test_viscous(self) -> None:
        (law,) = block(da.Viscous("floor", c)).works
        assert law == da.Work({x: -c * x.d}, "floor", {"floor": c * x.d**2})

    def test_quadratic(self) -> None:
        (law,) = block(da.Quadratic("floor", c)).works
        assert law == da.Work({x: -c * sp.Abs(x.d) * x.d}, "floor", {"floor": c * sp.Abs(x.d) * x.d**2})

    def test_regularized(self) -> None:
        (law,) = block(da.Coulomb("floor", mu, regularize=eps)).works
        size = mu * sp.Abs(N) / sp.sqrt(x.d**2 + eps**2)
        assert law == da.Work({x: -size * x.d}, "floor", {"floor": size * x.d**2})

    def test_regularized_stribeck(self) -> None:
        (law,) = block(da.Stribeck("floor", mu, 2 * mu, vs, viscous=c, regularize=eps)).works
        smooth = sp.sqrt(x.d**2 + eps**2)
        dry = (mu + mu * sp.exp(-((smooth / vs) ** 2))) * sp.Abs(N) / smooth
        assert sp.simplify(law.work[x] + (dry + c) * x.d) == 0

    def test_the_viscous_part_of_dry_friction_is_smooth(self) -> None:
        system = block(da.Stribeck("floor", mu, 2 * mu, vs, viscous=c))
        assert system.works == (da.Work({x: -c * x.d}, "floor", {"floor": c * x.d**2}),)
        (contact,) = system.contacts
        assert contact.mu == mu + mu * sp.exp(-((SPEED / vs) ** 2))
        assert contact.mu_static == 2 * mu

    def test_work_stays(self) -> None:
        law = da.Work({x: -x.d}, "floor")
        assert block(law).works == (law,)
        assert block(law).contacts == ()

    def test_the_motion_is_that_of_the_work_written_out(self) -> None:
        for law, force in ((da.Viscous("floor", c), -0.4), (da.Quadratic("floor", c), -0.4)):
            assert block(law).at().nonideal[0] == pytest.approx(force, rel=1e-15)  # one rounding


class TestContacts:
    def test_coulomb(self) -> None:
        (contact,) = block(da.Coulomb("floor", mu)).contacts
        assert (contact.name, contact.constraints, contact.signed) == ("floor", ("floor",), True)
        assert contact.normal == N
        assert contact.slide == (x.d,)
        assert [dict(force) for force in contact.force] == [{x: 1}]
        assert contact.mu == contact.mu_static == mu

    def test_pickled(self) -> None:
        (contact,) = block(da.Coulomb("floor", mu, 0.5)).contacts
        assert pickle.loads(pickle.dumps(contact)) == contact

    def test_sliding(self) -> None:
        (contact,) = block(da.Coulomb("floor", mu)).contacts
        assert contact.slipping_work() == da.Work({x: -mu * sp.Abs(N) * sp.sign(x.d)}, "floor")

    def test_a_coefficient_that_changes(self) -> None:
        (contact,) = block(da.Coulomb("floor", mu * (1 + x**2))).contacts
        assert contact.mu == mu * (1 + x**2)

    def test_never_ignored(self) -> None:
        """Leaving the law out would give the motion of another system."""
        assert needs_legs(block(da.Coulomb("floor", mu)))
        assert needs_legs(block(constraints={"floor": y >= 0}))

    def test_smooth_laws_need_no_legs(self) -> None:
        assert not needs_legs(block(da.Viscous("floor", c), da.Coulomb("floor", mu, regularize=eps)))


class TestEquations:
    def test_shown_sliding(self) -> None:
        found = block(da.Coulomb("floor", mu)).equations()
        assert "sign(x')" in found.text()
        assert "shown sliding" in found.text()
        assert "sticks" in found.reason
        assert "multiplier" not in "".join(line for line in found.text().splitlines() if "m*x''" in line)

    def test_one_sided(self) -> None:
        assert "one-sided" in block(constraints={"floor": y >= 0}).equations().text()

    def test_latex(self) -> None:
        shown = block(da.Coulomb("floor", mu), constraints={"floor": y >= 0})._repr_latex_()
        assert r"\lambda_{\text{floor}}" in shown
        assert r"0 &\le y" in shown
        assert r"\lambda" in block(da.Coulomb("floor", mu)).equations().latex()

    def test_one_sided_is_noted(self) -> None:
        assert any("one-sided" in note for note in block(constraints={"floor": y >= 0}).classify().notes)

    def test_nothing_is_said_to_be_conserved(self) -> None:
        assert block(da.Coulomb("floor", mu)).classify().conservation.energy is None


def test_the_heat_of_a_law_is_carried_into_other_coordinates():
    (r,) = da.coordinates("r")
    law = da.Work({x: -x.d}, "floor", heat={"floor": x.d**2})
    turned = law.in_coordinates({x: r, x.d: r.d}, lambda forces: {r: forces[x]})
    assert dict(turned.work) == {r: -r.d}
    assert dict(turned.heat) == {"floor": r.d**2}
