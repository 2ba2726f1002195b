"""`System`: what it accepts, how it tells what is wrong, and that it cannot change afterwards."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da

x, y = da.coordinates("x y")
m, g, l = da.parameters("m g l")


def particle(**changes: Any) -> da.System:
    """A particle in a vertical plane, to be changed."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "parameters": {m: 2, g: 9.81},
        "initial": {x: 0, y: 0, x.d: 1, y.d: 0},
    }
    return da.System("particle", **{**parts, **changes})


def faults(**changes: Any) -> str:
    """All faults of a particle changed for the worse, as one text."""
    with pytest.raises(da.ModelError) as caught:
        particle(**changes)
    assert caught.value.exit_status == 2
    return "\n".join(caught.value.faults)


class TestInertia:
    """The three ways to give it lead to the same numbers."""

    ways = (
        {"kinetic": m * (x.d**2 + y.d**2) / 2, "potential": m * g * y},
        {"kinetic": None, "potential": None, "lagrangian": m * (x.d**2 + y.d**2) / 2 - m * g * y},
        {"kinetic": None, "potential": None, "mass": [[m, 0], [0, m]], "forces": {y: -m * g}},
        {"kinetic": None, "potential": m * g * y, "mass": sp.diag(m, m)},
        {"kinetic": "m*(x'^2 + y'^2)/2", "potential": "m*g*y"},
        {"kinetic": None, "potential": None, "mass": [["m", "0"], ["0", "m"]], "forces": {"y": "-m*g"}},
        {"kinetic": None, "potential": None, "mass": np.diag([2.0, 2.0]), "forces": {y: -2 * g}},
    )

    @pytest.mark.parametrize("way", ways)
    def test_same_motion(self, way: dict[str, Any]) -> None:
        now = particle(**way, constraints={"plane": y - x / 2}).at({x.d: 1, y.d: 0.5})
        np.testing.assert_allclose(now.M, 2 * np.eye(2), rtol=1e-15)  # one rounding
        np.testing.assert_allclose(now.Q, [0, -2 * 9.81], rtol=1e-15)
        # On a plane of slope 1/2 the acceleration is −g sinα along (cosα, sinα), sin²α = 1/5.
        np.testing.assert_allclose(now.acceleration, [-9.81 * 2 / 5, -9.81 / 5], rtol=1e-14)

    def test_none(self) -> None:
        assert "no inertia" in faults(kinetic=None)

    def test_two(self) -> None:
        assert "kinetic and lagrangian" in faults(lagrangian=m * x.d**2)
        assert "kinetic and mass" in faults(mass=sp.eye(2))

    def test_potential_twice(self) -> None:
        assert "already part of the lagrangian" in faults(kinetic=None, lagrangian=m * x.d**2)

    @pytest.mark.parametrize(
        "mass",
        [[[m]], [[m, 0]], [[m, 0], [0]], [[m, 0, 0], [0, m, 0], [0, 0, m]], [], 5, sp.eye(3), [m, m]],
    )
    def test_wrong_size(self, mass: Any) -> None:
        assert "mass" in faults(kinetic=None, mass=mass)

    def test_not_symmetric(self) -> None:
        assert "not symmetric" in faults(kinetic=None, mass=[[m, 1], [0, m]])

    def test_symmetric_only_after_simplification(self) -> None:
        one = sp.sin(x) ** 2 + sp.cos(x) ** 2
        particle(kinetic=None, mass=[[2, one], [1, 2]])

    def test_derivatives_where_they_do_not_belong(self) -> None:
        assert "accelerations" in faults(kinetic=m * x.dd**2)
        assert "velocity terms" in faults(potential=m * x.d)
        assert "accelerations" in faults(forces={x: x.dd})
        assert "positions and time" in faults(kinetic=None, mass=[[x.d**2, 0], [0, 1]])
        assert "accelerations" in faults(constraints={"c": y}, nonideal=[da.Work({x: x.dd})])

    @pytest.mark.parametrize("part", ["kinetic", "potential"])
    def test_a_constraint_force_in_an_energy(self, part: str) -> None:
        assert "constraint force" in faults(**{part: da.ideal(x) * x})

    def test_a_constraint_force_in_a_force(self) -> None:
        """Known only in work expressions: anywhere else it is a fault of the model, told when it is made."""
        assert "ideal(x)" in faults(forces={x: da.ideal(x)}, constraints={"c": y})

    def test_a_constraint_force_in_a_constraint(self) -> None:
        assert "ideal(x)" in faults(constraints={"c": y - da.ideal(x)})

    def test_the_force_of_something_that_is_no_coordinate(self) -> None:
        (z,) = da.coordinates("z")
        assert "z" in faults(constraints={"c": y}, nonideal=[da.Work({x: da.ideal(z)})])

    @pytest.mark.parametrize("value", [sp.nan, sp.oo, sp.zoo, -sp.oo, float("nan"), sp.I * x])
    def test_not_a_finite_real_number(self, value: Any) -> None:
        assert "potential" in faults(potential=value)

    @pytest.mark.parametrize("text", ["y*tan(pi/2)", "y*(x - x)^-1", "log(x - x)"])
    def test_not_a_finite_number_as_text(self, text: str) -> None:
        assert "potential" in faults(potential=text)


class TestLevels:
    @pytest.mark.parametrize(
        ("expression", "level"),
        [
            (x - y, "position"),
            (x * da.t - 1, "position"),
            (x * y.d - x.d, "velocity"),
            (x.d**2 + y.d**2 - 1, "velocity"),
            (x.dd - y.d * x, "acceleration"),
            (x.dd**2 + y.dd**2 - 4, "acceleration"),
            ("y = x*l", "position"),
            ("x' = 2", "velocity"),
            ("x''*x = y'^2", "acceleration"),
            (sp.Eq(x.d, y), "velocity"),
            ("x' - x' + y", "position"),
        ],
    )
    def test_read_off(self, expression: Any, level: str) -> None:
        (constraint,) = particle(constraints={"c": expression}, parameters={m: 2, g: 9.81, l: 1}).constraints
        assert constraint.level == level

    def test_checked_not_obeyed(self) -> None:
        good = particle(constraints=[da.Constraint("c", "x' = y", "velocity")])
        assert good.constraints[0].level == "velocity"
        assert "velocity level" in faults(constraints=[da.Constraint("c", "x' = y", "position")])

    def test_unknown_level(self) -> None:
        assert "'speed'" in faults(constraints=[da.Constraint("c", "x' = y", "speed")])

    def test_sides_that_python_compared_are_told(self) -> None:
        assert "Python's == compares" in faults(constraints={"c": x == 2 * y})

    def test_an_equation_is_left_minus_right(self) -> None:
        (constraint,) = particle(constraints={"c": sp.Eq(x, 2 * y)}).constraints
        assert constraint.expression == x - 2 * y

    @pytest.mark.parametrize("expression", [m - 1, da.t - 1, 0, "x - x", sp.Eq(m, g)])
    def test_without_a_coordinate(self, expression: Any) -> None:
        assert "constrains nothing" in faults(constraints={"c": expression})

    @pytest.mark.parametrize("expression", ["3 = 4", "x - x = 1"])
    def test_that_can_never_hold(self, expression: Any) -> None:
        assert "can never hold" in faults(constraints={"c": expression})

    @pytest.mark.parametrize(
        "expression", ["sin(x)^2 + cos(x)^2 = 1", "(x + y)^2 = x^2 + 2*x*y + y^2", "x' - (x' + m) = 0"]
    )
    def test_that_is_the_same_whatever_the_coordinates(self, expression: Any) -> None:
        assert "constrains nothing" in faults(constraints={"c": expression})

    @pytest.mark.parametrize("expression", ["1e-30*x = 0", "x^9 = 0", "max(x, y) = 3", "sqrt(x - 5) = 1"])
    def test_that_only_looks_like_it(self, expression: Any) -> None:
        assert len(particle(constraints={"c": expression}).constraints) == 1

    @pytest.mark.parametrize("expression", [None, sp.Eq(x, x), [x], {"a": 1}, object()])
    def test_no_expression(self, expression: Any) -> None:
        assert "'c'" in faults(constraints={"c": expression})

    def test_names_given_and_counted(self) -> None:
        system = particle(constraints=[x - y, da.Constraint("second", x.d), ("third", x.dd)])
        assert [c.name for c in system.constraints] == ["c1", "second", "third"]

    def test_duplicate_names(self) -> None:
        assert "given twice" in faults(constraints=[da.Constraint("c", x), da.Constraint("c", y)])


class TestDynamicSymbols:
    """SymPy's own functions of time mean the same as `da.coordinates`."""

    def pendulum(self) -> tuple[da.System, Any]:
        theta = dynamicsymbols("theta")
        rate = theta.diff(dynamicsymbols._t)
        system = da.System(
            "pendulum",
            coordinates=[theta],
            kinetic=m * l**2 * rate**2 / 2,
            potential=-m * g * l * sp.cos(theta),
            forces={theta: -rate},
            constraints={"steady": rate.diff(dynamicsymbols._t) - rate * theta},
            parameters={m: 1, g: 9.81, l: 2},
            initial={theta: 0.3, rate: 0.1},
        )
        return system, theta

    def test_equal_expressions(self) -> None:
        (q,) = da.coordinates("theta")
        system, _ = self.pendulum()
        assert system.coordinates == (q,)
        assert system.kinetic == m * l**2 * q.d**2 / 2
        assert system.potential == -m * g * l * sp.cos(q)
        assert system.forces == {q: -q.d}
        assert system.constraints[0].expression == q.dd - q.d * q
        assert system.initial == {q: 0.3, q.d: 0.1}

    def test_as_keys_of_a_state(self) -> None:
        system, theta = self.pendulum()
        now = system.at({theta: 0.5, theta.diff(): 2.0})
        np.testing.assert_allclose([now.q[0], now.v[0]], [0.5, 2.0], rtol=0)

    def test_as_keys_of_replace(self) -> None:
        (q,) = da.coordinates("theta")
        system, theta = self.pendulum()
        changed = system.replace(initial={theta.diff(): 2.0})
        assert changed.initial == {q: 0.3, q.d: 2.0}

    def test_symbols_with_other_assumptions_are_matched_by_name(self) -> None:
        mass = sp.Symbol("m", positive=True)
        system = da.System(
            "p", coordinates=[x], kinetic=mass * x.d**2 / 2, parameters={mass: 3}, initial={x: 0, x.d: 0}
        )
        assert pytest.approx(3) == system.at().M

    def test_third_derivatives_are_refused(self) -> None:
        q = dynamicsymbols("q")
        with pytest.raises(da.ModelError, match="q'''"):
            da.System("p", coordinates=[q], kinetic=q.diff() ** 2, constraints={"c": q.diff(dynamicsymbols._t, 3)})


class TestFrozen:
    def test_attributes(self) -> None:
        system = particle()
        with pytest.raises(dataclasses.FrozenInstanceError):
            system.name = "other"  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            del system.kinetic

    @pytest.mark.parametrize("part", ["forces", "parameters", "initial", "settings"])
    def test_mappings(self, part: str) -> None:
        system = particle(forces={x: 1}, settings={"duration": 1.0})
        with pytest.raises(TypeError):
            getattr(system, part)[x] = 5

    def test_laws(self) -> None:
        system = particle(constraints={"c": y}, nonideal=[da.Work({x: -x.d})])
        with pytest.raises(TypeError):
            system.nonideal[0].work[x] = 5  # type: ignore[index]

    def test_what_was_given_is_copied(self) -> None:
        values, work = {m: 2, g: 9.81}, {x: -x.d}
        system = particle(parameters=values, constraints={"c": y}, nonideal=[da.Work(work)])
        values[m], work[x] = 7, x
        assert system.parameters[m] == 2
        assert system.nonideal[0].work == {x: -x.d}


class TestReplace:
    def test_values_are_merged(self) -> None:
        system = particle(settings={"duration": 1.0})
        changed = system.replace(parameters={"m": 5}, initial={"x'": 3}, settings={"rtol": 1e-6})
        assert changed.parameters == {m: 5, g: 9.81}
        assert changed.initial == {x: 0, y: 0, x.d: 3, y.d: 0}
        assert changed.settings == {"duration": 1.0, "rtol": 1e-6}
        assert system.parameters[m] == 2
        assert system.settings == {"duration": 1.0}

    def test_numbers_of_contacts_as_if_built_anew(self) -> None:
        """Other numbers need no second look at a model, but for coefficients, of which some values are none."""
        parts: dict[str, Any] = {
            "constraints": [da.Constraint("floor", "y >= 0", restitution="e")],
            "nonideal": [da.Coulomb("floor", "mu", mu_static=0.5)],
        }
        values = {m: 2, g: 9.81, "e": 0.5, "mu": 0.3}
        system = particle(**parts, parameters=values, initial={x: 0, y: 1, x.d: 1, y.d: 0})
        for change in ({"g": 5.0}, {"mu": 0.1}, {"e": 0.9, "g": 4.0}, {"m": 2.0, "mu": 0.3}):
            other, anew = system.replace(parameters=change), particle(**parts, parameters={**values, **change})
            anew = anew.replace(initial=system.initial)
            assert np.array_equal(other.parameter_values(), anew.parameter_values())
            one, two = (each.simulate(1.5, samples=9) for each in (other, anew))
            assert np.array_equal(one["y"], two["y"])
            assert one["x"][-1] == two["x"][-1]
        for change, fault in (({"mu": -0.1}, "mu must be"), ({"mu": 0.6}, "smaller"), ({"e": 1.5}, "from 0 to 1")):
            with pytest.raises(da.ModelError, match=fault):
                system.replace(parameters=change)

    def test_other_parts_are_replaced(self) -> None:
        system = particle(forces={x: 1}, constraints={"a": x})
        changed = system.replace(forces={y: 2}, constraints={"b": y})
        assert changed.forces == {y: 2}
        assert [c.name for c in changed.constraints] == ["b"]

    def test_unknown_part(self) -> None:
        with pytest.raises(TypeError, match="kinetics"):
            particle().replace(kinetics=1)

    def test_faults_are_found_again(self) -> None:
        with pytest.raises(da.ModelError):
            particle().replace(initial={"z": 1})


class TestFaults:
    def test_collected_together(self) -> None:
        with pytest.raises(da.ModelError) as caught:
            da.System(
                "",
                coordinates=["x", "x", "2y", "sin"],
                kinetic="m*x'^2 + unknown",
                potential="x'",
                mass=[[1, 2]],
                forces={"w": "1", "x": "2 3"},
                constraints={"a": "1 = 2", "b": "x ="},
                nonideal=[da.Work({"x": "-x'"}, constraint="c"), "friction"],
                parameters={"m": float("nan"), "x": 1, "pi": 3, "k": "q"},
                initial={"z": 0, "x": "y + 1", "x'": True},
                settings={"durations": 1, "rtol": "small"},
            )
        told = caught.value.faults
        wanted = [
            "name of a system",
            "'x' is given twice",
            "'2y'",
            "'sin'",
            "unknown name 'unknown'",
            "potential",
            "mass",
            "'w' is not a coordinate",
            "forces x",
            "'a'",
            "'b'",
            "no constraint 'c'",
            "'friction'",
            "parameter m is NaN",
            "both a coordinate and a parameter",
            "'pi'",
            "parameter k",
            "'z'",
            "initial x",
            "initial x'",
            "'durations'",
            "rtol",
        ]
        for words in wanted:
            assert any(words in fault for fault in told), f"{words} not in {told}"
        assert f"{len(told)} faults" in str(caught.value)

    def test_one_fault_is_one_line(self) -> None:
        with pytest.raises(da.ModelError) as caught:
            particle(initial={"z": 1})
        assert "\n" not in str(caught.value)
        assert "particle" in str(caught.value)

    @pytest.mark.parametrize("given", [[], "", 5, None, [5], [None], ["x y"], [x.d]])
    def test_coordinates(self, given: Any) -> None:
        with pytest.raises(da.ModelError):
            da.System("p", coordinates=given, kinetic=1)

    @pytest.mark.parametrize("name", ["t", "pi", "sin", "ideal", "actual", "max", "Abs", "1x", "x-y", "x'", ""])
    def test_names(self, name: str) -> None:
        with pytest.raises(da.ModelError):
            da.System("p", coordinates=[name], kinetic=1)
        assert repr(name) in faults(parameters={name: 1, m: 1, g: 1})

    def test_names_inside_expressions(self) -> None:
        """A symbol that could never be given a value, or that a document could not hold, is told at once."""
        assert "m 1" in faults(kinetic=sp.Symbol("m 1") * x.d**2)
        assert "sin" in faults(kinetic=sp.Symbol("sin") * x.d**2)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "x", None, True, [1], "1/0", 1j, 10**400, m])
    def test_parameters(self, value: Any) -> None:
        assert "parameter m" in faults(parameters={m: value, g: 1})

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "y", y, None, True, [1], "1/0", 1j, "unknown"])
    def test_initial_values(self, value: Any) -> None:
        assert "initial x" in faults(initial={x: value})

    def test_initial_accelerations(self) -> None:
        assert "x''" in faults(initial={x.dd: 1})

    def test_laws_without_constraints(self) -> None:
        assert "no constraint" in faults(nonideal=[da.Work({x: -x.d})])

    @pytest.mark.parametrize(
        "constraints",
        [{"plane": y}, [da.Constraint("plane", y)], [("plane", y)]],
        ids=["mapping", "constraints", "pairs"],
    )
    def test_laws_find_their_constraint(self, constraints: Any) -> None:
        system = particle(constraints=constraints, nonideal=[da.Work({x: -x.d}, constraint="plane")])
        assert system.nonideal[0].constraint == "plane"
        assert "'plain'" in faults(constraints=constraints, nonideal=[da.Work({x: -x.d}, constraint="plain")])

    def test_laws_find_their_constraint_in_an_iterator(self) -> None:
        laws = iter([da.Work({x: -x.d}, constraint="plane")])
        system = particle(constraints=iter([da.Constraint("plane", y)]), nonideal=laws)
        assert len(system.constraints) == len(system.nonideal) == 1

    @pytest.mark.parametrize("part", ["forces", "constraints", "nonideal"])
    def test_wrong_kinds(self, part: str) -> None:
        assert part in faults(**{part: 5})


class TestValues:
    def test_missing_parameters_are_listed(self) -> None:
        system = particle(parameters={}, initial={x: l})
        with pytest.raises(da.MissingValues) as caught:
            system.parameter_values()
        for name in ("m", "g", "l"):
            assert name in str(caught.value).split("parameter ")[1]

    def test_missing_initial_values_are_listed(self) -> None:
        with pytest.raises(da.MissingValues, match="y, x'"):
            particle(initial={x: 0, y.d: 1}).initial_values()

    def test_order_of_parameters(self) -> None:
        system = particle(initial={x: l}, parameters={g: 3, m: 2, l: 1})
        assert [s.name for s in system.parameter_symbols] == ["g", "l", "m"]
        np.testing.assert_array_equal(system.parameter_values(), [3, 1, 2])

    def test_initial_values_from_parameters(self) -> None:
        system = particle(
            parameters={m: 2, g: 9, l: 4},
            initial={x: "l*cos(pi/3)", y: -sp.sqrt(l), x.d: "sqrt(g*l)", y.d: sp.Rational(1, 3), "t": "l/8"},
        )
        q, v, start = system.initial_values()
        np.testing.assert_allclose(q, [2, -2], rtol=1e-15)  # exact but for one rounding
        np.testing.assert_allclose(v, [6, 1 / 3], rtol=1e-15)
        assert start == 0.5

    def test_time_is_zero_unless_given(self) -> None:
        assert particle().initial_values()[2] == 0.0

    @pytest.mark.parametrize("text", ["1/l", "sqrt(l - 1)", "log(l)"])
    def test_initial_values_that_are_no_numbers(self, text: str) -> None:
        system = particle(parameters={m: 2, g: 9, l: 0}).replace(initial={"x": text})
        with pytest.raises(da.ModelError, match="not a finite number"):
            system.initial_values()


class TestCopies:
    def system(self) -> da.System:
        return particle(
            kinetic=None,
            mass=[[m + x**2, 0], [0, m]],
            constraints={"knife": x * y.d - x.d},
            nonideal=[da.Work({x: -da.ideal(x) * x.d, y: da.actual(y)}, constraint="knife")],
            settings={"duration": 2.0},
            description="to be copied",
            initial={x: "m/4", y: 0, x.d: 1, y.d: 4 / m},
        )

    @pytest.mark.parametrize("copied", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy, lambda s: s.replace()])
    def test_equal(self, copied: Any) -> None:
        system = self.system()
        again = copied(system)
        for part in dataclasses.fields(system):
            assert getattr(again, part.name) == getattr(system, part.name), part.name

    def test_a_pickled_system_works(self) -> None:
        system = self.system()
        again = pickle.loads(pickle.dumps(system))
        np.testing.assert_array_equal(again.at().acceleration, system.at().acceleration)
        assert again.replace(parameters={"m": 3}).parameters[m] == 3

    def test_repr(self) -> None:
        assert repr(self.system()) == "<System 'particle': coordinates x, y; 1 constraint>"


@pytest.mark.parametrize("constraint", ["max(0, y - 2)*x' = 0", "max(0, t - 1)*x' = 0"])
def test_a_constraint_that_acts_on_one_side_constrains(constraint):
    """At random points between −0.9 and 0.9 it vanishes, whatever the coordinates: beyond, it does not."""
    rail = da.System(
        "rail",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints={"rail": constraint},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 1},
    )
    motion = rail.simulate(3.0, samples=7)
    assert motion.certificate.holds
    assert motion.rank[0] == 0
    assert motion.rank[-1] == 1
