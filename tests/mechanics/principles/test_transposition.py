"""Transpositional relations: the printed ones of Flannery 2011, and displaced states, possible or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from latex_document import compiles

import dalembert as da
from dalembert.mechanics.principles import transposition
from dalembert.mechanics.principles.marks import Mark

x, y, z, psi, phi = da.coordinates("x y z psi phi")
R = da.parameters("R")[0]


def lines(system: da.System, section: str) -> list[tuple[sp.Expr, sp.Expr]]:
    found = next(s for s in system.equations("transposition").sections if s.title.startswith(section))
    return [(line.left, sp.Add(*(term for _, term in line.terms))) for line in found.lines]


def delta(q: sp.Symbol) -> sp.Symbol:
    return transposition.displacement(q)


def test_penny_has_the_printed_rules():
    """(61a), and (61b) with the factor R that is missing in print."""
    rules = dict(lines(da.library.penny(), "rules"))
    turn = phi.d * delta(psi) - psi.d * delta(phi)
    assert sp.simplify(rules[transposition.transposed(x)] - R * sp.sin(phi) * turn) == 0
    assert sp.simplify(rules[transposition.transposed(y)] + R * sp.cos(phi) * turn) == 0
    assert rules[transposition.transposed(psi)] == rules[transposition.transposed(phi)] == 0


def test_knife_edge_by_hand():
    """g = ẋ sin φ − ẏ cos φ: g_x = φ̇ cos φ, g_y = φ̇ sin φ, g_φ = −(ẋ cos φ + ẏ sin φ)."""
    [(_, right)] = lines(da.library.skater(), "relations")
    hand = phi.d * sp.cos(phi) * delta(x) + phi.d * sp.sin(phi) * delta(y)
    hand -= (x.d * sp.cos(phi) + y.d * sp.sin(phi)) * delta(phi)
    assert sp.expand(right - hand) == 0


def test_quadratic_penny_by_hand():
    """g = ẋ² + ẏ² − R²ψ̇²: g_kj δq_j = 2ẍ δx + 2ÿ δy − 2R²ψ̈ δψ."""
    (_, right), _ = lines(da.library.quadratic_penny(), "relations")
    assert sp.expand(right - 2 * x.dd * delta(x) - 2 * y.dd * delta(y) + 2 * R**2 * psi.dd * delta(psi)) == 0


def curving(**changes) -> da.System:
    """A constraint on accelerations that prescribes ẋÿ − ẍẏ, curvature times speed cubed."""
    parts = {
        "coordinates": [x, y],
        "kinetic": (x.d**2 + y.d**2) / 2,
        "forces": {x: 1.3, y: -x},
        "constraints": {"bend": x.d * y.dd - x.dd * y.d - 1 - x**2},
        "initial": {x: 0.3, y: 0.4, x.d: 0.5, y.d: 0.5},
    }
    return da.System("curving", **{**parts, **changes})


def test_acceleration_constraint_by_hand():
    """∂h/∂ẍ = −ẏ, ∂h/∂ÿ = ẋ, ∂h/∂ẋ = ÿ, ∂h/∂ẏ = −ẍ, ∂h/∂x = −2x, so that by (38)
    Δh = −3ÿ (δx)˙ + 3ẍ (δy)˙ + (2x − y‴) δx + x‴ δy.
    """
    [(_, right)] = lines(curving(), "relations")
    third = {s.name: s for s in right.atoms(Mark)}
    hand = -3 * y.dd * transposition.displacement_rate(x) + 3 * x.dd * transposition.displacement_rate(y)
    hand += (2 * x - third["y'''"]) * delta(x) + third["x'''"] * delta(y)
    assert sp.expand(right - hand) == 0
    rules = dict(lines(curving(), "rules"))  # (52): H = ∂h/∂ẍ = −ẏ
    assert sp.simplify(rules[transposition.transposed(x, 2)] + right / y.d) == 0
    assert rules[transposition.transposed(y, 2)] == 0


@pytest.mark.parametrize("name", ["penny", "skater", "cart", "quadratic_penny", "isokinetic", "appell_hamel"])
def test_displaced_states_of_nonintegrable_constraints_are_not_possible(name: str):
    found = da.library.get(name).displacements()
    assert not found.possible
    wrong = [r for r in found.relations if not r.here]
    assert wrong
    for relation in wrong:
        # To first order, the constraint is missed by the right side of the relation.
        assert relation.commuting == pytest.approx(np.abs(relation.right).max(), rel=0.02)
        assert relation.commuting_order == pytest.approx(1, abs=0.02)
        assert relation.related_order > 1.95
        assert relation.related < 0.01 * relation.commuting


def test_the_pennys_right_sides():
    """At φ = 0 with δψ, δφ free: g_kj δq_j is 0 along x and R (ψ̇ δφ − φ̇ δψ) along y, by (61)."""
    system = da.library.penny()
    found = system.displacements()
    psi_, phi_ = found.basis[2], found.basis[3]
    v0, omega, radius = (float(system.parameters[da.parameters(n)[0]]) for n in ("v0", "omega", "R"))
    np.testing.assert_allclose(found["roll y"].right, v0 * phi_ - radius * omega * psi_, rtol=1e-9, atol=1e-12)
    assert found["roll x"].here
    assert not found["roll x"].possible


DISGUISED = {
    "exact": x * x.d + y * y.d + z * z.d,
    "with a factor": sp.exp(x) * (x * x.d + y * y.d + z * z.d),
    "moving": x * x.d + y * y.d + z * z.d - sp.cos(da.t) * sp.Rational(1, 10),
}


@pytest.mark.parametrize("name", DISGUISED)
def test_displaced_states_of_position_constraints_in_disguise_are_possible(name: str):
    initial = {x: 0.3, y: 0.4, z: 0.5, x.d: 0.5, y.d: 0.5, z.d: -0.7 + (0.2 if name == "moving" else 0)}
    system = da.System(
        "disguised", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + z.d**2) / 2, potential=2 * z + x * y,
        constraints={name: DISGUISED[name]}, initial=initial,
    )  # fmt: skip
    found = system.displacements()
    assert found.possible
    assert found[name].commuting_order > 1.95


def test_accelerations():
    bent = curving().displacements()["bend"]
    assert not bent.possible
    assert bent.commuting == pytest.approx(np.abs(bent.right).max(), rel=0.02)
    assert bent.commuting_order == pytest.approx(1, abs=0.02)
    assert bent.related_order > 1.95
    # The second derivative of x² + y²: a position constraint in disguise, with (51) in the place of (31).
    circle = {"circle": x * x.dd + y * y.dd + x.d**2 + y.d**2}
    found = curving(constraints=circle, initial={x.d: 0.4, y.d: -0.3, x: 0.3, y: 0.4}).displacements()["circle"]
    assert found.possible
    assert found.commuting_order > 1.95


def test_position_constraints_are_possible():
    assert da.library.rotating_hoop_bead().displacements().possible
    assert da.library.redundant_double_pendulum().displacements({"x1'": 0.0}).possible


def test_it_is_a_relation_and_no_motion():
    row = da.library.penny().compare(["transposition"])["transposition"]
    assert not row.applies
    assert "relation between displacements" in row.reason
    assert "δ and d/dt commute" in str(da.library.skater().displacements())
    with pytest.raises(da.DoesNotApply, match="no constraints"):
        da.System("free", coordinates=[x], kinetic=x.d**2, initial={x: 0, x.d: 0}).displacements()
    with pytest.raises(da.DoesNotApply, match="no constraints"):
        da.System("free", coordinates=[x], kinetic=x.d**2).equations("transposition")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("system", [da.library.cart(), curving()], ids=["cart", "curving"])
def test_latex_compiles(system: da.System, tmp_path: Path):
    assert compiles(system.equations("transposition").latex(), tmp_path)
