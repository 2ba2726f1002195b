"""Kinds of constraints and integrability, by hand; each verdict has a neighbour for which it is the other one."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
import sympy as sp
from sympy import cos, exp, sin, sqrt
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.mechanics.classify.classify import classify
from dalembert.mechanics.classify.result import Classification, Kind
from dalembert.model.language.parse import parse_expression

x, y, z, psi, phi = da.coordinates("x y z psi phi")
R, b, k, alpha = da.parameters("R b k alpha")
t = da.t


def body(coordinates: list, constraints: dict, **changes) -> da.System:
    energy = sum(q.d**2 for q in coordinates) / 2
    return da.System("body", coordinates=coordinates, kinetic=energy, constraints=constraints, **changes)


def only(system: da.System) -> Kind:
    (kind,) = classify(system).constraints
    return kind


def constant_on(system: da.System, text: str) -> bool:
    """Whether df vanishes on the motions the velocity constraints allow: df is a combination of their forms."""
    clock = sp.Symbol("clock")  # by t itself SymPy's derivative would take coordinates for constants
    table = {q.name: q for q in system.coordinates} | {"t": clock} | {p.name: p for p in system.parameter_symbols}
    f = sp.sympify(text, locals=table)
    variables = (*system.coordinates, clock)
    rest = dict.fromkeys(system.velocities, 0)
    rows = []
    for constraint in system.constraints:
        e = constraint.expression.subs(t, clock)
        if constraint.level == "velocity":
            rows.append([*(sp.diff(e, v) for v in system.velocities), e.subs(rest)])
        else:
            rows.append([sp.diff(e, q) for q in variables])
    gradient = [sp.diff(f, q) for q in variables]
    values = {s: 0.3 + 0.37 * i for i, s in enumerate((*variables, *system.parameter_symbols))}
    forms = sp.Matrix(rows).subs(values).evalf()
    both = forms.col_join(sp.Matrix([gradient]).subs(values).evalf())

    def rank(matrix: sp.Matrix) -> int:
        return matrix.rank(iszerofunc=lambda e: abs(e) < 1e-10)

    assert any(gradient)
    return rank(forms) == rank(both)


# -- integrability ---------------------------------------------------------------------------------------------------


def test_penny_is_nonholonomic():
    found = classify(da.library.penny())
    assert found.holonomic is False
    assert found.degrees_of_freedom == 2
    assert found.configuration_freedoms == 4
    assert [kind.integrable for kind in found.constraints] == [False, False]
    assert found.integrals == ()
    assert found.redundant == ()
    assert found.cyclic == ("y", "psi", "phi")
    assert found.cyclic_held == {"y": ("roll y",), "psi": ("roll x", "roll y"), "phi": ("roll x", "roll y")}


def test_what_is_absent_from_the_lagrangian_and_held_is_told_so():
    """x of a pendulum is not in L, but the rod is about it. What falls freely is held by nothing."""
    held = da.System(
        "pendulum",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"rod": "x^2 + y^2 - 1"},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    )
    found = classify(held)
    assert (found.cyclic, found.cyclic_held) == (("x",), {"x": ("rod",)})
    assert "    x (absent from L, not from 'rod')" in found.text().splitlines()
    assert classify(held.replace(constraints={})).cyclic_held == {}


def test_knife_edge_and_the_same_with_its_heading_held():
    edge = {"edge": x.d * sin(phi) - y.d * cos(phi)}
    assert only(body([x, y, phi], edge)).integrable is False
    held = body([x, y, phi], {"heading": phi - alpha, **edge})
    found = classify(held)
    assert found.holonomic is True
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (1, 1)
    assert found.constraints[1].integrated == "x*sin(alpha) - y*cos(alpha)"


def test_disk_rolling_in_a_line():
    kind = only(body([x, psi], {"roll": x.d - R * psi.d}))
    assert kind.integrable is True
    assert kind.integrated == "-R*psi + x"
    assert kind.integrating_factor is None


def test_penny_that_may_not_turn():
    # Neither rolling condition is integrable alone; with φ' = 0 all three are.
    system = body(
        [x, y, psi, phi],
        {"roll x": x.d - R * psi.d * cos(phi), "roll y": y.d - R * psi.d * sin(phi), "straight": phi.d},
    )
    found = classify(system)
    assert found.holonomic is True
    assert found.configuration_freedoms == found.degrees_of_freedom == 1
    assert [kind.integrated for kind in found.constraints] == ["-R*psi*cos(phi) + x", "-R*psi*sin(phi) + y", "phi"]
    assert all(constant_on(system, kind.integrated) for kind in found.constraints)


INTEGRABLE = {
    # the survey's (28): a (b_z − c_y) + b (c_x − a_z) + c (a_y − b_x) = 0
    "exact": [y * z * x.d + x * z * y.d + x * y * z.d],
    "factor of one variable": [x * y.d - y * x.d],
    "exponential factor": [x.d - (x + y) * y.d],
    "homogeneous form": [(y**2 + y * z) * x.d + (x * z + z**2) * y.d + (y**2 - x * y) * z.d],
    "divided by a coefficient": [exp(x * y) * (x.d + 2 * z * z.d)],
    "with time": [t * x.d + x - y.d],
    "acatastatic": [x.d - k * cos(k * t)],
    # The angle of a point about the origin: SymPy's integral of y/(x² + y²) by x has cases for the sign of y².
    "polar angle": [z.d - (x * y.d - y * x.d) / (x**2 + y**2)],
    "two at once": [x.d - z * z.d, y.d - x * z * z.d],
}


@pytest.mark.parametrize("name", INTEGRABLE)
def test_integrable_forms_and_their_integrals(name):
    system = body([x, y, z], {f"c{i}": e for i, e in enumerate(INTEGRABLE[name])})
    found = classify(system)
    assert found.holonomic is True
    assert found.configuration_freedoms == 3 - len(system.constraints)
    for kind in found.constraints:
        assert kind.integrated is not None
        assert constant_on(system, kind.integrated)


def test_conditions_that_are_zero_on_one_side():
    """One over such a coefficient has no value there: that ended in a KeyError."""
    ramp = sp.Piecewise((y, y > 0), (0, True))
    # z' = y x' where y > 0, as a contact form; z' = ramp(y) y' has the integral z − y²/2 there and z elsewhere.
    assert only(body([x, y, z], {"c": z.d - ramp * x.d})).integrable is False
    assert only(body([x, y, z], {"c": z.d - ramp * y.d})).integrable is True


def test_integrating_factor_is_reported():
    kind = only(body([x, y], {"ray": x * y.d - y * x.d}))
    assert (kind.integrated, kind.integrating_factor) == ("y/x", "x**(-2)")


NOT_INTEGRABLE = {
    # (28) is −1, y² − x² … : not zero
    "contact": [z.d - y * x.d],
    "twisted": [y * x.d - x * y.d + z.d],
    "nearly exact": [y * z * x.d + x * z * y.d + 1.001 * x * y * z.d - z.d * y**2 / 1000],
    "only with time": [x.d - t * y.d],
    "acatastatic": [x.d - y * t],
}


@pytest.mark.parametrize("name", NOT_INTEGRABLE)
def test_nonintegrable_forms(name):
    system = body([x, y, z], {"c": NOT_INTEGRABLE[name][0]})
    found = classify(system)
    assert found.holonomic is False
    assert found.configuration_freedoms == 3
    assert found.constraints[0].integrated is None


def test_one_form_in_two_variables_is_always_integrable():
    # Even where no integral is found, Frobenius holds.
    assert only(body([x, y], {"c": x.d * (1 + x * y**2) - y.d * cos(x + y**2)})).integrable is True


def test_integrability_at_the_given_parameter_values():
    forms = {"c": y * x.d - k * x * y.d + z.d * (1 - k) * z}
    assert only(body([x, y, z], {"c": z.d - k * y * x.d}, parameters={"k": 2})).integrable is False
    assert only(body([x, y, z], {"c": z.d - k * y * x.d}, parameters={"k": 0})).integrable is True
    assert only(body([x, y, z], forms, parameters={"k": 1})).integrable is True


def test_cart_hides_a_position_constraint():
    # One rolling condition per wheel: their difference is 2bφ' = R(ψ₁' − ψ₂').
    one, two = da.coordinates("psi1 psi2")
    forward = x.d * cos(phi) + y.d * sin(phi)
    system = body(
        [x, y, phi, one, two],
        {
            "side": x.d * sin(phi) - y.d * cos(phi),
            "left": forward - b * phi.d - R * one.d,
            "right": forward + b * phi.d - R * two.d,
        },
    )
    found = classify(system)
    assert found.holonomic is False
    assert [kind.integrable for kind in found.constraints] == [False, False, False]
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (2, 4)
    (hidden,) = found.integrals
    assert constant_on(system, hidden)
    assert "hidden in combinations" in found.text()


def test_second_derived_system():
    # Engel's form in disguise: y' = z x', z' = u x' is nonholonomic of step two, u' = 0 makes all of it integrable.
    u = da.coordinates("u")[0]
    chain = {"first": y.d - z * x.d, "second": z.d - u * x.d}
    found = classify(body([x, y, z, u], chain))
    assert [kind.integrable for kind in found.constraints] == [False, False]
    assert found.configuration_freedoms == 4
    whole = body([x, y, z, u], chain | {"third": u.d})
    closed = classify(whole)
    assert closed.holonomic is True
    assert closed.configuration_freedoms == 1
    assert all(constant_on(whole, kind.integrated) for kind in closed.constraints)


def test_velocity_constraint_that_repeats_a_position_constraint():
    found = classify(body([x, y], {"circle": x**2 + y**2 - 1, "tangent": x * x.d + y * y.d}))
    assert found.holonomic is True
    assert found.redundant == ("tangent",)
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (1, 1)


# -- kinds -----------------------------------------------------------------------------------------------------------


def test_rheonomic_and_acatastatic():
    rod = only(da.library.moving_length_pendulum())
    assert (rod.level, rod.rheonomic, rod.catastatic) == ("position", True, False)
    assert only(da.library.pendulum()).rheonomic is False
    # Rheonomic and yet catastatic, and the other way round.
    sliding = only(body([x, y], {"c": x.d - t * y.d}))
    assert (sliding.rheonomic, sliding.catastatic) == (True, True)
    belt = only(body([x, y], {"c": x.d - k}))
    assert (belt.rheonomic, belt.catastatic) == (False, False)
    # Time that cancels is no time.
    assert only(body([x, y], {"c": x.d - y.d + (t + 1) ** 2 - t**2 - 2 * t - 1})).rheonomic is False


@pytest.mark.parametrize(
    ("constraint", "dependence", "degree"),
    [
        (x.d - R * y.d, "linear", 1),
        (x.d - R * y.d - 1, "linear", None),
        (x.d**2 + y.d**2 - z.d**2, "homogeneous", 2),
        (x.d**2 + y.d**2 - z.d**2 - 1, "nonlinear", None),
        (x * x.d**3 - y.d * z.d**2, "homogeneous", 3),
        (sqrt(x.d**2 + y.d**2) - z.d, "homogeneous", 1),
        (x.dd - y.dd, "linear", 1),
        (x.dd**2 + y.dd**2 - x.d**2, "nonlinear", None),
        (x.dd**2 + y.dd**2 - z.dd**2, "homogeneous", 2),
    ],
)
def test_dependence_on_the_velocities_or_accelerations(constraint, dependence, degree):
    kind = only(body([x, y, z], {"c": constraint}))
    assert kind.dependence == dependence
    assert kind.degree == (None if degree is None else Fraction(degree))


def test_nonlinear_constraints_are_no_position_constraints():
    appell = only(body([x, y, z], {"c": x.d**2 + y.d**2 - z.d**2}))
    assert appell.integrable is False
    assert only(da.library.isokinetic()).integrable is False
    # Two planes: each branch is a position constraint, and nothing is claimed.
    assert only(body([x, y], {"c": (x.d - y.d) * (x.d + y.d)})).integrable is None


def test_a_gradient_that_vanishes_at_rest_is_noted():
    found = classify(body([x, y, z], {"cone": x.d**2 + y.d**2 - z.d**2}))
    assert any("'cone'" in note and "rest" in note for note in found.notes)
    assert classify(body([x, y], {"roll": x.d - y.d})).notes == ()


def test_a_curved_acceleration_constraint_is_no_derivative():
    # Derivatives of constraints on velocities are planes in q̈; a circle is not.
    found = classify(da.library.prescribed_acceleration())
    assert found.holonomic is False
    assert found.constraints[0].integrable is False
    assert found.degrees_of_freedom == 1
    assert found.conservation.energy is None
    assert any("not decided" in note for note in found.notes)


# -- acceleration constraints: h, the level at which it can be said, and what is constant there
KNIFE = x.d * sin(phi) - y.d * cos(phi)
D_KNIFE = x.dd * sin(phi) - y.dd * cos(phi) + phi.d * (x.d * cos(phi) + y.d * sin(phi))
ACCELERATIONS = {
    "d/dt of a knife edge": (D_KNIFE, "velocity", KNIFE),
    "a sum": (x.dd - y.dd, "position", x.d - y.d),
    "with a force of position": (x.dd - y.d, "velocity", x.d - y),
    "areal velocity": (x * y.dd - y * x.dd, "velocity", x * y.d - y * x.d),
    "an integrating factor": (x.dd + x.d * y.d, "velocity", x.d * exp(y)),
    "another": (exp(x) * (y * x.dd + x.d * y.d), "velocity", x.d * y),
    "d²/dt² of a product": (x.dd * y + 2 * x.d * y.d + x * y.dd, "position", x.d * y + x * y.d),
    "driven": (x.dd - y * t, "acceleration", None),
    "coupled": (x.dd - y.d * x, "acceleration", None),
}


@pytest.mark.parametrize("name", ACCELERATIONS)
def test_acceleration_constraints_as_derivatives(name):
    h, level, psi = ACCELERATIONS[name]
    found = classify(body([x, y, phi], {"c": h}))
    (kind,) = found.constraints
    assert kind.reaches == level
    assert kind.integrable is (level != "acceleration")
    assert found.holonomic is (level == "position")
    assert found.configuration_freedoms == (2 if level == "position" else 3)
    if psi is None:
        assert kind.velocity is None
        return
    table = {q.name + "'": q.d for q in (x, y, phi)} | {q.name: q for q in (x, y, phi)}
    said = parse_expression(kind.velocity, table, where="here")
    assert sp.simplify(said - psi) == 0 or sp.simplify(said + psi) == 0


def test_a_derivative_that_is_integrable_twice_gives_both_constants():
    kind = only(body([x, y], {"c": x.dd - y.dd}))
    assert (kind.velocity, kind.integrated) == ("x' - y'", "-c*t + x - y")
    assert "integrable twice" in str(kind)


def test_derivative_of_a_knife_edge_with_its_heading_held():
    found = classify(body([x, y, phi], {"c": D_KNIFE, "straight": phi.d}))
    assert found.holonomic is True
    assert found.configuration_freedoms == 1


# -- powers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [(x.d - y.d) ** 2, sp.expand((x.d - y.d) ** 2), exp(x) * (x.d - y.d) ** 3])
def test_a_power_is_read_by_its_root(squared):
    found = classify(body([x, y], {"c": squared}))
    (kind,) = found.constraints
    assert (kind.root, kind.dependence, kind.integrable, kind.integrated) == ("x' - y'", "linear", True, "x - y")
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (1, 1)
    assert any("gradient vanishes wherever it holds" in note for note in found.notes)


def test_a_squared_knife_edge_is_as_nonholonomic_as_its_root():
    found = classify(body([x, y, phi], {"c": KNIFE**2}))
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (2, 3)


@pytest.mark.parametrize(
    "constraint",
    [
        x.d**2 + (x.d - y.d) ** 2,
        x**2 + y**2,
        (x - y) ** 2 + (x * y - 1) ** 2,
        x.dd**2 + (y.dd + x) ** 2,
    ],
    ids=["velocities", "positions", "a curve", "accelerations"],
)
def test_a_sum_of_squares_has_no_gradient_wherever_it_holds(constraint):
    found = classify(body([x, y], {"c": constraint}))
    assert any("the gradient of 'c' vanishes wherever it holds" in note for note in found.notes)
    assert not any("at rest" in note for note in found.notes)
    assert found.degrees_of_freedom is None


@pytest.mark.parametrize("constraint", [x.d**2 - y.d**2 - z.d**2, x * y, x**2 + y**2 - z**2, x.dd**2 - 4, x**2 + y - z])
def test_others_have_a_gradient_somewhere(constraint):
    found = classify(body([x, y, z], {"c": constraint}))
    assert not any("wherever it holds" in note for note in found.notes)
    assert found.degrees_of_freedom == 2


def test_two_readings_of_flannery_58():
    """g₁² + g₂² is no constraint that acts; ẋ² + ẏ² − R²ψ̇², equal to it on g₁ = 0 only, is one."""
    penny = da.library.penny()
    g1 = x.d * sp.cos(phi) + y.d * sp.sin(phi) - R * psi.d
    g2 = x.d * sp.sin(phi) - y.d * sp.cos(phi)
    printed = x.d**2 + y.d**2 - R**2 * psi.d**2
    assert sp.simplify(g1**2 + g2**2 - printed + 2 * R * psi.d * g1) == 0
    squares = penny.replace(constraints={"both": g1**2 + g2**2})
    assert any("'both' vanishes wherever it holds" in note for note in squares.classify().notes)
    assert "no gradient here, so that they do not act: both" in str(squares.at())
    with pytest.raises(da.ModelError, match="no gradient on its own surface"):
        squares.simulate(1)
    notes = da.library.quadratic_penny().classify().notes
    assert notes == ("the gradient of 'speed' vanishes at rest: there it loses rank",)


def test_products_of_constraints_are_not_called_nonintegrable():
    """ẋẏ = 0 is x = constant or y = constant: looked at on its two lines, not where they meet."""
    assert only(body([x, y], {"c": x.d * y.d}, initial={x: 0, y: 0, x.d: 1, y.d: 1})).integrable is None


def test_squares_that_hold_at_points_only_are_not_decided():
    """ẋ² + ẏ² = 0 is ẋ = ẏ = 0, which is integrable; its curvature says nothing."""
    for rest in (x.d**2 + y.d**2, (x.d - y.d) ** 2 + (x.d + y.d - 2) ** 2):
        found = body([x, y], {"c": rest}).classify()
        assert found.holonomic is None
        assert found.degrees_of_freedom is None


@pytest.mark.parametrize("kink", [sp.Abs(x.d - y.d), sp.Abs(x - y), sp.sqrt((x.d - y.d) ** 2)])
def test_a_kink_where_a_constraint_holds_is_told(kink):
    """The gradient of |u| = 0 jumps where it holds: that makes it neither redundant nor void."""
    found = body([x, y], {"c": kink}, initial={x: 0, y: 0, x.d: 1, y.d: 1}).classify()
    assert found.redundant == ()
    assert found.degrees_of_freedom is None
    assert any("the gradient of 'c' vanishes wherever it holds" in note for note in found.notes)


# -- decided by exact arithmetic --------------------------------------------------------------------------------------


def test_a_small_coefficient_decides_as_a_large_one():
    # Relative to its own terms (28) is of order one, however small they are.
    assert only(body([x, y, z], {"c": z.d - k * y * x.d}, parameters={"k": 1e-13})).integrable is False
    twist = z.d + x * x.d + y * y.d + k * (y * x.d - x * y.d)
    assert only(body([x, y, z], {"c": twist}, parameters={"k": 1e-9})).integrable is False
    assert only(body([x, y, z], {"c": twist}, parameters={"k": 0})).integrable is True


def test_parameters_that_fit_to_rounding_fit():
    # 0.1 + 0.2 is not 0.3 in floating point: the form is closed only with it.
    a, c = da.parameters("a c")
    form = (a + b) * y * x.d + c * x * y.d + z.d
    values = {"a": 0.1, "b": 0.2, "c": 0.1 + 0.2}
    assert only(body([x, y, z], {"c": form}, parameters=values)).integrable is True
    assert only(body([x, y, z], {"c": form}, parameters=values | {"c": 0.3001})).integrable is False


def test_integrable_only_on_the_surface_of_a_position_constraint():
    # On the sphere the term with its equation vanishes, and with it what is not integrable.
    sphere = x**2 + y**2 + z**2 - 1
    form = y * x.d - x * y.d + sphere * z.d
    found = classify(body([x, y, z], {"sphere": sphere, "c": form}))
    assert [kind.integrable for kind in found.constraints] == [True, True]
    assert found.configuration_freedoms == 1
    assert only(body([x, y, z], {"c": form})).integrable is False


def test_rolling_disc_and_chaplygin_sleigh_with_offset():
    # A disc that leans has five coordinates, rolls with three freedoms, and reaches all five.
    lean, roll_, heading = da.coordinates("lean spin heading")
    speed = R * (roll_.d + heading.d * sin(lean))
    side = R * lean.d * cos(lean)
    forward = x.d * cos(heading) + y.d * sin(heading)
    across = -x.d * sin(heading) + y.d * cos(heading)
    disc = body([x, y, lean, roll_, heading], {"along": forward - speed, "across": across - side})
    found = classify(disc)
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (3, 5)
    sleigh = body([x, y, phi], {"edge": x.d * sin(phi) - y.d * cos(phi) + b * phi.d})
    assert (classify(sleigh).degrees_of_freedom, classify(sleigh).configuration_freedoms) == (2, 3)


def test_trailers_need_brackets_of_brackets():
    # A car with three trailers: two freedoms, and every bracket adds one dimension; all six are reached.
    angles = da.coordinates("a0 a1 a2 a3")
    rows, dx, dy = {}, x.d, y.d
    for k, angle in enumerate(angles):
        rows[f"axle {k}"] = dx * sin(angle) - dy * cos(angle)
        dx, dy = dx + angle.d * sin(angle), dy - angle.d * cos(angle)
    found = classify(body([x, y, *angles], rows))
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (2, 6)


# -- the whole ---------------------------------------------------------------------------------------------------------


def test_no_constraints():
    found = classify(body([x, y], {}))
    assert found.holonomic is True
    assert found.degrees_of_freedom == found.configuration_freedoms == 2
    assert "no constraints" in str(found)


def test_dynamicsymbols():
    X, P = dynamicsymbols("x psi")
    radius, time = sp.symbols("R t")
    roll = X.diff(time) - radius * P.diff(time)
    system = da.System(
        "disk", coordinates=[X, P], kinetic=X.diff(time) ** 2 + P.diff(time) ** 2, constraints={"roll": roll}
    )
    assert classify(system).constraints[0].integrated == "-R*psi + x"


def test_dictionary_and_text():
    found = da.library.cart().classify()
    assert isinstance(found, Classification)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["degrees_of_freedom"] == 2
    assert data["holonomic"] is False
    assert data["energy_conserved"] is True
    assert {"name", "level", "integrable", "degree"} <= set(data["constraints"][0])
    assert {entry["name"] for entry in data["conserved"]} >= {"energy", "p_phi"}
    text = found.text()
    assert text == str(found)
    assert "nonholonomic" in text
    assert "degrees of freedom: 2" in text


def test_the_same_answer_every_time():
    assert classify(da.library.cart()) == classify(da.library.cart())


def test_decimal_numbers_show_no_rounding():
    """3·0.1 in floating point is 0.30000000000000004; text is read as fractions, and so are these."""
    system = da.System(
        "roller", coordinates=[x, psi], kinetic=0.5 * x.d**2 + 0.1 * psi.d**2 + 0.2 * psi.d**2, potential=3 * (0.1 * x),
        constraints={"rolls": 3 * (x.d - 0.1 * psi.d)},
    )  # fmt: skip
    found = classify(system)
    assert found.holonomic
    assert "0000" not in str(found)
    assert "energy: 3*psi'**2/10 + 3*x/10 + x'**2/2" in str(found)


def test_integrals_with_powers_too_large_to_write():
    """d/dt(x_i² x_{i+1}) = 0 along twelve coordinates: exact, and the integrals that are found double their powers."""
    x = da.coordinates(" ".join(f"x{i}" for i in range(12)))
    found = da.System(
        "products",
        coordinates=x,
        kinetic=sum(a.d**2 for a in x) / 2,
        constraints={f"c{i}": 2 * x[i] * x[i].d * x[i + 1] + x[i] ** 2 * x[i + 1].d for i in range(11)},
        initial={**dict.fromkeys(x, 1), **{a.d: (-2.0) ** i / 2.0**11 for i, a in enumerate(x)}},
    ).classify()
    assert found.degrees_of_freedom == 1
    assert all(kind.integrable for kind in found.constraints)
