"""Transpositional relations: the printed ones of Flannery 2011, and displaced states, possible or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from latex_document import compiles

import dalembert as da
from dalembert.mechanics.principles.shared import variations as transposition
from dalembert.mechanics.principles.shared.page_marks import Mark

x, y, z, psi, phi = da.coordinates("x y z psi phi")
R = da.parameters("R")[0]


def lines(system: da.System, section: str, **options) -> list[tuple[sp.Expr, sp.Expr]]:
    found = next(s for s in system.equations("transposition", **options).sections if s.title.startswith(section))
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
    section = da.library.skater().equations("transposition").section("(16)")
    for line, q in zip(section.lines, (x, y, phi), strict=True):
        assert str(line.left) == f"g_1{q.name}"
        assert sp.expand(line.terms[0][1] - sp.expand(hand).coeff(delta(q))) == 0
    rod = da.library.pendulum().replace(constraints={"rod": "x*x' + y*y' = 0"})
    assert str(rod.equations("transposition").section("(16)")).endswith("g_1j = 0   [rod]")


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


def test_dependent_displacements_are_solved_for():
    """(27): δx = R cos φ δψ, δy = R sin φ δψ, as the paper puts them into (59); with a choice of them, too."""
    solved = dict(lines(da.library.penny(), "dependent displacements"))
    assert sp.simplify(solved[delta(x)] - R * sp.cos(phi) * delta(psi)) == 0
    assert sp.simplify(solved[delta(y)] - R * sp.sin(phi) * delta(psi)) == 0
    other = dict(lines(da.library.penny(), "dependent displacements", dependent=["psi", "y"]))
    assert sp.simplify(other[delta(psi)] - delta(x) / (R * sp.cos(phi))) == 0
    assert sp.simplify(other[delta(y)] - sp.tan(phi) * delta(x)) == 0


def test_dependent_accelerations_are_solved_for():
    """(25) of the penny is (55) differentiated; (45) of an acceleration constraint has third derivatives."""
    solved = dict(lines(da.library.penny(), "dependent accelerations"))
    hand = R * psi.dd * sp.cos(phi) - R * psi.d * phi.d * sp.sin(phi)
    assert sp.simplify(solved[x.dd] - hand) == 0
    [(left, right)] = lines(curving(), "dependent accelerations")
    third = {s.name: s for s in right.atoms(Mark)}
    # ḣ = ẋ y‴ − x‴ ẏ − 2x ẋ, solved for x‴
    assert left.name == "x'''"
    assert sp.simplify(right - (x.d * third["y'''"] - 2 * x * x.d) / y.d) == 0


def test_the_choice_does_not_divide_by_zero_at_the_start():
    """sin φ = 0 at the skater's start: δx cannot be expressed there, δy can."""
    skater = da.library.skater()
    (left, right), *_ = lines(skater, "dependent displacements")
    assert left == delta(y)
    assert sp.simplify(right - sp.tan(phi) * delta(x)) == 0
    title = skater.equations("transposition").sections[1].title
    assert title.endswith("where cos(phi) is not zero")
    (left, right), *_ = lines(skater, "dependent displacements", dependent="x")
    assert left == delta(x)
    turned = skater.replace(initial={"phi": sp.pi / 2, "x'": 0, "y'": "v0"})
    assert lines(turned, "dependent displacements")[0][0] == delta(x)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["q"], "'q' is not a coordinate"),
        (["x", "y"], "one constraint makes one coordinate dependent, got x, y"),
        (["y", "y"], "one constraint makes one coordinate dependent, got y, y"),
        ([], "one constraint makes one coordinate dependent, got none"),
        (["phi"], "do not determine phi; y would do"),
    ],
)
def test_a_bad_choice_is_told(given, message: str):
    with pytest.raises(da.ModelError, match=message):
        da.library.skater().equations("transposition", dependent=given)


def test_no_choice_where_constraints_are_of_both_kinds():
    both = da.System("both", coordinates="x y z", kinetic="(x'^2 + y'^2 + z'^2)/2",
                     constraints={"g": "x' - y*z'", "h": "z'' = 1"})  # fmt: skip
    assert "constraints of one kind" in both.equations("transposition").reason
    with pytest.raises(da.ModelError, match="dependent: the paper has rules for constraints of one kind"):
        both.equations("transposition", dependent=["x", "z"])


def test_rules_of_the_skater_on_its_constraint():
    """(33) with δy = tan φ δx and ẏ = tan φ ẋ put in: δẏ − (δy)˙ = (ẋ δφ − φ̇ δx)/cos²φ."""
    rules = dict(lines(da.library.skater(), "rules"))
    hand = (x.d * delta(phi) - phi.d * delta(x)) / sp.cos(phi) ** 2
    assert sp.simplify(rules[transposition.transposed(y)] - hand) == 0


def test_quadratic_penny_has_the_pennys_rules_where_it_rolls():
    """With ẋ = Rψ̇ cos φ, ẏ = Rψ̇ sin φ they are (61): no second derivatives are left."""
    rules = dict(lines(da.library.quadratic_penny(), "rules"))
    rolling = {x.d: R * psi.d * sp.cos(phi), y.d: R * psi.d * sp.sin(phi)}
    turn = phi.d * delta(psi) - psi.d * delta(phi)
    assert sp.simplify(rules[transposition.transposed(x)].subs(rolling) - R * sp.sin(phi) * turn) == 0
    assert sp.simplify(rules[transposition.transposed(y)].subs(rolling) + R * sp.cos(phi) * turn) == 0


def test_wheels_of_the_cart_commute_in_their_difference():
    """Of three constraints one combination is integrable, 2bφ = R(ψ₂ − ψ₁): the rule of φ shows 0."""
    assert dict(lines(da.library.cart(), "rules"))[transposition.transposed(phi)] == 0
    solved = dict(lines(da.library.cart(), "dependent displacements"))
    psi1, psi2 = da.coordinates("psi1 psi2")
    b = da.parameters("b")[0]
    assert sp.simplify(solved[delta(phi)] - R * (delta(psi2) - delta(psi1)) / (2 * b)) == 0


@pytest.mark.parametrize("name", ["pendulum", "rotating_hoop_bead", "moving_length_pendulum"])
def test_position_constraints_have_rules_that_are_zero(name: str):
    """(19), the traditional commutation rule."""
    rules = lines(da.library.get(name), "rules")
    assert len(rules) == len(da.library.get(name).coordinates)
    assert all(right == 0 for _, right in rules)


# -- the basic relations are identities: they hold for any motion and any displacement of it


def varied() -> tuple[dict[sp.Basic, sp.Expr], sp.Symbol, sp.Symbol]:
    """Motions q(t) and displaced ones q(t) + ε η(t) whose velocities and accelerations are displaced independently,
    as numbers of the signs on the page.
    """
    t, e = da.t, sp.Symbol("e")
    motion = {x: sp.sin(t) + t, y: t**2 / 2 + sp.cos(2 * t), psi: sp.exp(t / 3), phi: t / 2 + t**3 / 7}
    eta = {x: 1 + t**2, y: sp.sin(3 * t), psi: t - t**3, phi: sp.cos(t) / 2}
    eta1 = {x: t, y: 1 - t, psi: t**2 + 2, phi: sp.exp(-t)}  # δq̇: not the derivative of δq
    eta2 = {x: 3 * t, y: sp.cos(t), psi: 1 + t, phi: t**2}
    swap: dict[sp.Basic, sp.Expr] = {}
    for q in motion:
        d = transposition
        swap |= {q: motion[q], q.d: motion[q].diff(t), q.dd: motion[q].diff(t, 2)}
        swap |= {d.higher(q, 3): motion[q].diff(t, 3), d.higher(q, 4): motion[q].diff(t, 4)}
        swap |= {d.displacement(q): eta[q], d.displacement_rate(q): eta[q].diff(t)}
        swap |= {d.transposed(q): eta1[q] - eta[q].diff(t), d.transposed(q, 2): eta2[q] - eta[q].diff(t, 2)}
        swap |= {d.transposed_rate(q): eta2[q] - eta1[q].diff(t)}
    swap["moved"] = {q: motion[q] + e * eta[q] for q in motion}
    swap["moved"] |= {q.d: motion[q].diff(t) + e * eta1[q] for q in motion}
    swap["moved"] |= {q.dd: motion[q].diff(t, 2) + e * eta2[q] for q in motion}
    return swap, t, e


@pytest.mark.parametrize(
    ("system", "numbers"),
    [
        (da.library.penny(), ("(17)", "(39)", "(41)")),
        (da.library.quadratic_penny(), ("(17)", "(39)", "(41)")),
        ("pendulum", ("(18)",)),
        ("curving", ("(37)",)),
    ],
    ids=["penny", "quadratic penny", "pendulum", "curving"],
)
def test_basic_relations_are_identities(system, numbers):
    """Both sides for a motion and displacements that obey nothing at all, at t = 0.7, with δ as a derivative by ε."""
    from dalembert.mechanics.principles.shared.basic_relations import SIGNS

    system = {"pendulum": da.library.pendulum, "curving": curving}[system]() if isinstance(system, str) else system
    swap, t, e = varied()
    moved = swap.pop("moved")
    values = {symbol: sp.Rational(3, 2) for symbol in system.parameter_symbols}
    along = {**swap, **{q: swap[q] for q in swap}}
    checked = 0
    for section in system.equations("transposition").sections:
        number = next((n for n in numbers if n in section.title), None)
        if number is None:
            continue
        for line in section.lines:
            c = next(c for c in system.constraints if c.name == line.label)
            form = (
                sum(c.expression.diff(q) * q.d for q in system.coordinates) if c.level == "position" else c.expression
            )
            rate = sum(form.diff(q) * q.d + form.diff(q.d) * q.dd for q in system.coordinates)
            signs = {
                SIGNS["g"]: form.subs(moved).diff(e).subs(e, 0), SIGNS["h"]: form.subs(moved).diff(e).subs(e, 0),
                SIGNS["f'"]: form.subs(moved).diff(e).subs(e, 0), SIGNS["g'"]: rate.subs(moved).diff(e).subs(e, 0),
                SIGNS["(f)'"]: c.expression.subs(moved).diff(e).subs(e, 0).diff(t),
            }  # fmt: skip
            signs[SIGNS["(g)'"]] = signs[SIGNS["g"]].diff(t)
            condition = transposition.condition(system, c).xreplace(along)
            inner = transposition.right_side(system, c).xreplace(along)
            for symbol in (line.left + sum(term for _, term in line.terms)).atoms(Mark):
                if symbol.name.startswith("d/dt(") and line.left.has(symbol):
                    signs[symbol] = condition.diff(t)
                elif symbol.name.startswith("d/dt("):
                    signs[symbol] = inner.diff(t)
                elif symbol.name.startswith("d2/dt2("):
                    signs[symbol] = condition.diff(t, 2)
            difference = line.left - sum(term for _, term in line.terms)
            found = difference.xreplace(signs).xreplace(along).xreplace(values)
            assert abs(sp.N(found.xreplace(values).subs(t, sp.Rational(7, 10)), 30)) < 1e-20, (
                section.title,
                line.label,
            )
            checked += 1
    assert checked >= len(numbers)


def test_commuting_and_the_identity_40():
    """(20) is (17) with δq̇ = (δq)˙; (40) is checked by differentiating ġ."""
    penny = da.library.penny()
    (_, right), *_ = lines(penny, "if delta and d/dt commuted")
    constraint = penny.constraints[0]
    assert sp.expand(right - sp.Add(*[m for m in right.atoms(Mark) if m.name.startswith("d/dt")])
                     + transposition.right_side(penny, constraint)) == 0  # fmt: skip
    for (left, _), name in zip(lines(penny, "an identity"), ["psi'", "phi'"] * 2, strict=True):
        assert left.name == f"d(g')/d({name})"
    g = penny.constraints[0].expression
    rate = sum(g.diff(q) * q.d + g.diff(q.d) * q.dd for q in penny.coordinates)
    shown = dict(lines(penny, "an identity")[:2])
    for left, right in shown.items():
        velocity = psi.d if "psi" in left.name else phi.d
        assert sp.expand(right - rate.diff(velocity)) == 0


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


def disguised(name: str) -> da.System:
    initial = {x: 0.3, y: 0.4, z: 0.5, x.d: 0.5, y.d: 0.5, z.d: -0.7 + (0.2 if name == "moving" else 0)}
    return da.System(
        "disguised", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + z.d**2) / 2, potential=2 * z + x * y,
        constraints={name: DISGUISED[name]}, initial=initial,
    )  # fmt: skip


@pytest.mark.parametrize("name", DISGUISED)
def test_displaced_states_of_position_constraints_in_disguise_are_possible(name: str):
    found = disguised(name).displacements()
    assert found.possible
    assert found[name].commuting_order > 1.95


@pytest.mark.parametrize("name", DISGUISED)
def test_integrable_constraints_show_zero_in_33(name: str):
    assert all(right == 0 for _, right in lines(disguised(name), "rules"))


def test_an_acceleration_constraint_with_a_factor_shows_zero_in_52():
    """e^x times the second derivative of (x² + y²)/2."""
    circle = {"circle": sp.exp(x) * (x * x.dd + y * y.dd + x.d**2 + y.d**2)}
    system = curving(constraints=circle, initial={x.d: 0.4, y.d: -0.3, x: 0.3, y: 0.4})
    assert all(right == 0 for _, right in lines(system, "rules"))


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


@pytest.mark.parametrize(("size", "damping"), [(1e-9, 0.0), (1.0, 3000.0)])
def test_time_scales_that_show_only_in_accelerations(size: float, damping: float):
    """From rest, a swing of 1e-5 s and a damper that dies out in 1/3000 s: each was followed over seconds, a hundred
    thousand swings or a growth by e^50, so that no answer came.
    """
    pendulum = da.System(
        "pendulum", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="9.81*y",
        forces={"x": "-k*x'", "y": "-k*y'"}, constraints={"rod": "x^2 + y^2 = l^2"},
        parameters={"l": size, "k": damping}, initial={"x": 0.6 * size, "y": -0.8 * size, "x'": 0, "y'": 0},
    )  # fmt: skip
    found = pendulum.displacements()
    assert found.possible  # as of every position constraint
    assert found["rod"].commuting < 1e-9


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
