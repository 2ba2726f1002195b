"""What is wrong with a law is told in one clear message each, in Python and in documents, all at once."""

from __future__ import annotations

from typing import Any

import pytest

import dalembert as da

x, y, phi = da.coordinates("x y phi")
m, mu, c = da.parameters("m mu c")


def parts(**changes: Any) -> dict[str, Any]:
    return {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "constraints": {"floor": y, "servo": x.dd - 1},
        "parameters": {m: 1, mu: 0.3, c: -1},
        **changes,
    }


def faults(*laws: Any, **changes: Any) -> tuple[str, ...]:
    with pytest.raises(da.ModelError) as caught:
        da.System("s", nonideal=laws, **parts(**changes))
    return caught.value.faults


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (da.Coulomb("flor", mu), "'floor'"),
        (da.Coulomb(["floor", "wall"], mu), "'wall'"),
        (da.Coulomb(5, mu), "5"),  # type: ignore[arg-type]
        (da.Coulomb([], mu), "at least one"),  # type: ignore[arg-type]
        (da.Coulomb(["floor", "floor"], mu), "each once"),  # type: ignore[arg-type]
        (da.Coulomb("servo", mu), "acceleration level"),
        (da.Coulomb("floor", -0.1), "-0.1"),
        (da.Coulomb("floor", c * mu), "-0.3"),
        (da.Coulomb("floor", None), "mu"),
        (da.Coulomb("floor", True), "mu"),
        (da.Coulomb("floor", "k"), "'k'"),
        (da.Coulomb("floor", [1]), "mu"),
        (da.Coulomb("floor", float("nan")), "mu"),
        (da.Coulomb("floor", x.dd), "accelerations"),
        (da.Coulomb("floor", da.ideal(x)), "constraint forces"),
        (da.Coulomb("floor", mu, 0.2), "mu_static = 0.2 is smaller than mu = 0.3"),
        (da.Coulomb("floor", mu, regularize=0), "regularize must be greater than zero"),
        (da.Coulomb("floor", mu, 0.4, regularize=0.1), "no effect"),
        (da.Coulomb("floor", mu, point=[]), "one to three"),
        (da.Coulomb("floor", mu, point=[x, y, x, y]), "one to three"),
        (da.Coulomb("floor", mu, point=[x, 0]), "component 2: 0 contains no coordinate"),
        (da.Coulomb("floor", mu, point=m), "does not move"),
        (da.Coulomb("floor", mu, point=x.d), "no velocities"),
        (da.Coulomb("floor", mu, point="z"), "'z'"),
        (da.Coulomb("floor", mu, point={"x": 1}), "point"),
        (da.Coulomb("floor", mu, point=[None]), "point"),
        (da.Coulomb("floor", mu, point=x - x), "does not move"),
        (da.Coulomb("floor", mu, point=y), "nothing slides"),
        (da.Coulomb("floor", mu, point=[y, 2 * y]), "nothing slides"),
        (da.Coulomb("floor", mu, point=[x, y, x + y]), "2 expressions"),
        (da.Viscous("floor", -1), "coefficient must be zero or greater"),
        (da.Quadratic("floor", "1 +"), "coefficient"),
        (da.Stribeck("floor", mu, None, 1), "mu_static"),
        (da.Stribeck("floor", mu, 0.1, 1), "smaller"),
        (da.Stribeck("floor", mu, 1, 0), "speed must be greater than zero"),
        (da.Stribeck("floor", mu, 1, 1, exponent=0), "exponent must be greater than zero"),
        (da.Stribeck("floor", mu, 1, 1, viscous=-1), "viscous"),
        ("coulomb", "da.Coulomb"),
        (da.Coulomb, "da.Coulomb"),
    ],
)
def test_one_message(law: Any, words: str) -> None:
    (told,) = faults(law)
    assert words in told


def test_no_constraint_at_all() -> None:
    assert "'floor'" in faults(da.Coulomb("floor", mu), constraints={})[0]


def test_held_in_all_directions() -> None:
    (told,) = faults(da.Coulomb(["floor", "wall"], mu), constraints={"floor": y, "wall": x})
    assert "all directions" in told


def test_constraints_of_one_direction() -> None:
    """In a plane and in space: they hold the point in one direction, and which of them carries it nothing says."""
    for names in ("x y", "x y z"):
        constraints = {"floor": "y = 0", "again": "2*y = 0", **({"wall": "x = 0"} if "z" in names else {})}
        with pytest.raises(da.ModelError, match="have the same reaction: name one of them"):
            da.System(
                "block", coordinates=names, kinetic=" + ".join(f"{q}'^2/2" for q in names.split()),
                constraints=constraints, nonideal=[da.Coulomb([*constraints], mu=0.3, point=tuple(names.split()))],
            )  # fmt: skip


def test_two_laws_of_dry_friction() -> None:
    (told,) = faults(da.Coulomb("floor", mu), da.Stribeck("floor", mu, 1, 1))
    assert "two laws" in told


def test_all_at_once() -> None:
    told = faults(
        da.Coulomb("flor", -1, point=m), da.Viscous("floor", "k"), da.Work({x: da.multiplier("wall")}), forces={"w": 1}
    )
    for words in ("'floor'", "mu must", "does not move", "'k'", "multiplier(wall)", "'w'"):
        assert any(words in fault for fault in told), words


def test_a_faulty_constraint_is_told_once() -> None:
    (told,) = faults(da.Coulomb("floor", mu), constraints={"floor": "y ="})
    assert "constraint 'floor'" in told


DOCUMENT = """
name = "block"
coordinates = ["x", "y"]
[parameters]
m = 1.0
mu = 0.3
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
[[constraints]]
name = "plane"
equation = "y = x/2"
[[nonideal]]
"""


@pytest.mark.parametrize(
    ("law", "wanted"),
    [
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 'mu'", da.Coulomb("plane", mu)),
        (
            "law = 'coulomb'\nconstraint = ['plane']\nmu = 0.5\nmu_static = '2*mu'\npoint = ['x', 'y']",
            da.Coulomb(("plane",), 0.5, 2 * mu, (x, y)),
        ),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 1\npoint = 'x'\nregularize = 1", None),
        ("law = 'viscous'\nconstraint = 'plane'\ncoefficient = 2", da.Viscous("plane", 2)),
        ("law = 'quadratic'\nconstraint = 'plane'\ncoefficient = 'mu'", da.Quadratic("plane", mu)),
        ("law = 'stribeck'\nconstraint = 'plane'\nmu = 'mu'\nmu_static = 1\nspeed = 2", da.Stribeck("plane", mu, 1, 2)),
        ("law = 'work'\nwork = {x = '-mu*multiplier(plane)'}", da.Work({x: -mu * da.multiplier("plane")})),
    ],
)
def test_documents(law: str, wanted: Any) -> None:
    (found,) = da.loads(DOCUMENT + law).nonideal
    assert wanted is None or found == wanted


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ("law = 'coulom'", "Did you mean 'coulomb'"),
        ("law = 'magic'", "coulomb, quadratic, rolling, spinning, stribeck, viscous, work"),
        ("law = 'coulomb'\nconstraint = 'plane'", "no 'mu'"),
        ("law = 'coulomb'\nmu = 1", "no 'constraint'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 1\nwork = {}", "unknown entry 'work'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 1\nmustatic = 2", "'mu_static'"),
        ("law = 'coulomb'\nconstraint = 5\nmu = 1", "'constraint'"),
        ("law = 'coulomb'\nconstraint = [5]\nmu = 1", "'constraint'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = true", "'mu'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = [1]", "'mu'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = nan", "mu"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 1\npoint = 5", "'point'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = 1\npoint = ['x', 5]", "'point'"),
        ("law = 'coulomb'\nconstraint = 'plane'\nmu = \"__import__('os')\"", "mu"),
        ("law = 'viscous'\nconstraint = 'plane'\nmu = 1", "'coefficient'"),
        ("law = 'work'\nconstraint = ['plane']\nwork = {x = '1'}", "'constraint'"),
        ("law = 'work'\nwork = {x = 'multiplier(plain)'}", "'plane'"),
        ("law = 'work'\nwork = {x = 'multiplier(2)'}", "multiplier"),
    ],
)
def test_bad_documents(law: str, words: str) -> None:
    with pytest.raises(da.DocumentError) as caught:
        da.loads(DOCUMENT + law)
    assert words in str(caught.value)


def test_a_name_that_no_document_can_say() -> None:
    work = da.Work({x: da.multiplier("floor (wet)")})
    system = da.System("s", nonideal=[work], **parts(constraints={"floor (wet)": y}))
    with pytest.raises(da.ModelError, match=r"'floor \(wet\)'"):
        da.dumps(system)


def test_a_law_by_a_name_of_two_words_is_kept_by_a_document() -> None:
    work = da.Work({x: da.multiplier("the floor")})
    system = da.System("s", nonideal=[work], **parts(constraints={"the floor": y}))
    again = da.loads(da.dumps(system))
    assert [dict(law.work) for law in again.nonideal] == [dict(law.work) for law in system.nonideal]


def test_friction_without_a_direction_at_rest_names_the_law() -> None:
    """v/|v| at rest is 0/0; the law that knows what happens there has a name."""
    work = da.Work({x: -mu * x.d / (x.d**2) ** 0.5})
    start = {x: 0, y: 0, x.d: 0, y.d: 0}
    system = da.System("s", nonideal=[work], **parts(constraints={"floor": y}, initial=start))
    with pytest.raises(da.UndefinedModel, match=r"da\.Coulomb"):
        system.simulate(1.0)
    other = system.replace(nonideal=[da.Work({x: 1 / x})])
    with pytest.raises(da.UndefinedModel, match="division by zero"):
        other.simulate(1.0)
