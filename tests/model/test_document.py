"""Model documents: everything a system holds survives writing and reading; what is no document is refused."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.model.documents.document import TABLES

x, y, z = da.coordinates("x y z")
m, g, l, k, lam, omega = da.parameters("m g l k lambda ω")

INCLINE = """
name = "block on a rough incline"
coordinates = ["x", "y"]
[parameters]
m = 1.0
g = 9.81
theta = 0.5
mu = 0.3
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[forces]
[[constraints]]
name = "plane"
equation = "y = x*tan(theta)"
[[nonideal]]
law = "work"
constraint = "plane"
work = { x = "-mu*sqrt(ideal(x)^2 + ideal(y)^2)*x'/sqrt(x'^2 + y'^2)", y = "-mu*sqrt(ideal(x)^2 + ideal(y)^2)*y'/sqrt(x'^2 + y'^2)" }
[initial]
x = 0.0
y = 0.0
"x'" = 1.0
"y'" = 0.5463024898437905
[simulate]
duration = 2.0
rtol = 1e-9
samples = 201
"""  # noqa: E501  an inline table of TOML stands on one line

SMALL = """
name = "small"
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
"""


def systems() -> dict[str, da.System]:
    """Systems that use every part of a document, and every way to give it."""
    plain = {"kinetic": m * (x.d**2 + y.d**2) / 2, "parameters": {m: 2, g: 9.81, l: 1.5}}
    start = {x: 0, y: 0, x.d: 1, y.d: 0}
    return {
        "least": da.System("least", coordinates=[x], kinetic=x.d**2),
        "pendulum": da.System(
            "pendulum",
            coordinates=[x, y],
            potential=m * g * y,
            constraints={"rod": x**2 + y**2 - l**2},
            initial={
                x: l * sp.sin(1),
                y: -l * sp.cos(1),
                x.d: "sqrt(g*l)*cos(1)",
                y.d: "sqrt(g*l)*sin(1)",
                "t": 2,
            },
            settings={
                "duration": 3.0,
                "rtol": 1e-8,
                "samples": 11,
                "project": False,
                "method": "stiff",
                "atol": 1e-9,
            },
            description="A rod, one mass.\nSecond line, with 'quotes' and \"more\".",
            **plain,
        ),
        "lagrangian": da.System(
            "lagrangian",
            coordinates=[x, y],
            lagrangian=m * (x.d**2 + y.d**2) / 2 + x * y.d * sp.cos(da.t) - sp.exp(-(x**2)) + sp.Abs(y) ** 3,
            forces={x: -k * x.d + sp.sign(y), y: sp.Max(0, x) - sp.Min(x, y, 1)},
            parameters={m: sp.Rational(1, 3), k: sp.pi / 7},
            initial=start,
        ),
        "mass": da.System(
            "mass",
            coordinates=[x, y, z],
            mass=[[m + x**2, x * y, 0], [x * y, m, 0], [0, 0, 1 / (1 + x**2)]],
            potential=sp.sqrt(1 + x**2),
            forces={z: sp.atan2(y, 1 + x**2) + sp.log(2 + sp.cos(x)) + sp.tanh(y) * sp.sinh(x) / sp.cosh(x)},
            constraints={"a": x.d - y * z.d, "b": x.dd * x + sp.sin(y.dd), 'ünï "quoted" = name': z - da.t},
            nonideal=[
                da.Work({x: -da.ideal(x) * x.d, z: da.actual(y)}, constraint="b"),
                da.Work({y: -y.d / sp.sqrt(1 + y.d**2)}),
            ],
            parameters={m: 1e-7},
        ),
        "names": da.System(
            "имя: λ",
            coordinates=["φ", "lambda_1"],
            kinetic="lambda*φ'^2 + ω*lambda_1'^2",
            parameters={"lambda": 2, "ω": 3},
            initial={"φ": 0, "φ'": 1, "lambda_1": 2, "lambda_1'": -3},
        ),
        "floats": da.System(
            "floats",
            coordinates=[x],
            kinetic=0.1 * x.d**2 + 1e-5 * x.d**4,
            potential=0.30000000000000004 * x + 2.0**0.5 * x**3 + 1e22 * x**2,
            parameters={},
            initial={x: 0.1 + 0.2, x.d: 1 / 3},
        ),
        "incline": da.loads(INCLINE),
        "particles": da.library.liberated_pendulum(),
        "events": da.System(
            "events",
            coordinates=[x],
            kinetic=m * x.d**2 / 2,
            parameters={m: 1, l: 2},
            events={
                "there": da.Event(x - l, "rising", terminal=True),
                "third turn": da.Event(x.d * sp.cos(da.t), -1, terminal=3),
                "near": "x = l/2",
            },
        ),
    }


def same_number(one: sp.Expr, other: sp.Expr) -> bool:
    """Equal as expressions, or equal values of numbers: a double may come back as its decimal."""
    return one == other or (not sp.sympify(one).free_symbols and float(one) == float(other))


SYSTEMS = systems()


@pytest.mark.parametrize("name", SYSTEMS)
def test_round_trip(name: str) -> None:
    system = SYSTEMS[name]
    again = da.loads(da.dumps(system))
    exact = (
        "name",
        "coordinates",
        "constraints",
        "settings",
        "description",
        "mass",
        "lagrangian",
        "nonideal",
        "forces",
        "events",
    )
    for part in exact:
        assert getattr(again, part) == getattr(system, part), part
    for part in ("kinetic", "potential"):
        old, new = getattr(system, part), getattr(again, part)
        if old is None:
            assert new is None
            continue
        for symbol_value in (0.3, -1.7):
            place = dict.fromkeys(old.free_symbols, symbol_value)
            # Decimals of doubles are read exactly: the last bit of a coefficient may differ.
            assert float(new.subs(place)) == pytest.approx(float(old.subs(place)), rel=4e-16)
    for part in ("parameters", "initial"):
        old, new = getattr(system, part), getattr(again, part)
        assert list(new) == list(old)
        assert all(same_number(old[key], new[key]) for key in old), part


@pytest.mark.parametrize("name", SYSTEMS)
def test_documents_settle(name: str) -> None:
    """Writing what was read changes nothing any more (a double may first turn into its decimal)."""
    text = da.dumps(da.loads(da.dumps(SYSTEMS[name])))
    assert da.dumps(da.loads(text)) == text


def test_short_lists_stand_in_one_line() -> None:
    names = [f"a_coordinate_with_a_long_name_{k}" for k in range(5)]
    odd = "x [ y"  # a text that ends or begins like a list must not be taken for one
    ending = "],\u2028\x85"  # nor one with characters that end lines elsewhere be cut
    system = da.System(
        odd,
        coordinates=["x", "y"],
        mass=[["m", "0"], ["0", "m"]],
        parameters={"m": 2},
        constraints={"c [": "x = y"},
        draw=[da.Point((1, "x", 0))],
        description=ending,
    )
    text = da.dumps(system)
    assert 'coordinates = ["x", "y"]\n' in text
    assert 'matrix = [\n    ["m", "0"],\n    ["0", "m"],\n]\n' in text
    assert 'at = [1, "x", 0]\n' in text
    assert da.dumps(da.loads(text)) == text
    assert da.loads(text).description == ending
    long = da.dumps(da.System("long", coordinates=names, kinetic=" + ".join(f"{name}'**2" for name in names)))
    assert f'coordinates = [\n    "{names[0]}",\n' in long


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "sub model.toml"
    SYSTEMS["pendulum"].save(path)
    assert os.listdir(tmp_path) == ["sub model.toml"]
    again = da.load(str(path))
    assert da.dumps(again) == da.dumps(SYSTEMS["pendulum"])
    np.testing.assert_array_equal(again.initial_values()[0], SYSTEMS["pendulum"].initial_values()[0])


def test_saving_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    for path in (tmp_path / "missing" / "a.toml", tmp_path / "folder.toml"):
        with pytest.raises(da.OutputError, match=path.name):
            SYSTEMS["least"].save(path)
    assert os.listdir(tmp_path) == ["folder.toml"]
    assert os.listdir(tmp_path / "folder.toml") == []


def test_saving_replaces_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    SYSTEMS["mass"].save(path)
    SYSTEMS["least"].save(path)
    assert path.read_text(encoding="utf-8") == da.dumps(SYSTEMS["least"])


@pytest.mark.parametrize(
    "potential",
    [sp.Piecewise((y**2, y < 0), (0, True)), sp.sec(y), sp.asinh(y), sp.Heaviside(y), sp.erf(y)],
    ids=["Piecewise", "sec", "asinh", "Heaviside", "erf"],
)
def test_what_the_language_lacks_is_not_written(potential: sp.Expr, tmp_path: Path) -> None:
    """A document that could not be read again is refused when it is written, by name."""
    system = da.System("s", coordinates=[y], kinetic=y.d**2, potential=potential)
    try:
        text = da.dumps(system)
    except da.DalembertError:
        return
    again = da.loads(text).potential
    for value in (-0.7, 0.3):
        # The language may write a function by others: the same value to rounding.
        assert float(again.subs(y, value)) == pytest.approx(float(potential.subs(y, value)), rel=1e-14)


def test_parameters_without_a_value() -> None:
    """A system may lack values until a number is asked for; a document of it must still be readable."""
    system = da.System("s", coordinates=[y], kinetic=m * y.d**2)
    try:
        text = da.dumps(system)
    except da.DalembertError as error:
        assert "m" in str(error)  # noqa: PT017
        return
    assert da.loads(text).kinetic == system.kinetic


class TestIncline:
    """The document of the design page, its friction written out as work."""

    def test_parts(self) -> None:
        system = da.loads(INCLINE)
        theta, mu = da.parameters("theta mu")
        friction = -mu * sp.sqrt(da.ideal(x) ** 2 + da.ideal(y) ** 2) / sp.sqrt(x.d**2 + y.d**2)
        assert system.name == "block on a rough incline"
        assert system.kinetic == m * (x.d**2 + y.d**2) / 2
        assert system.potential == m * g * y
        assert system.constraints == (da.Constraint("plane", y - x * sp.tan(theta), "position"),)
        assert dict(system.nonideal[0].work) == {x: friction * x.d, y: friction * y.d}
        assert system.settings == {"duration": 2.0, "rtol": 1e-9, "samples": 201}

    def test_numbers(self) -> None:
        now = da.loads(INCLINE).at()
        along = -9.81 * np.sin(0.5) - 0.3 * 9.81 * np.cos(0.5)
        # Everything here is a handful of roundings.
        np.testing.assert_allclose(now.acceleration, along * np.array([np.cos(0.5), np.sin(0.5)]), rtol=1e-13)
        assert np.linalg.norm(now.ideal) == pytest.approx(9.81 * np.cos(0.5), rel=1e-13)
        assert np.linalg.norm(now.nonideal) == pytest.approx(0.3 * 9.81 * np.cos(0.5), rel=1e-13)

    def test_the_settings_are_used(self) -> None:
        motion = da.loads(INCLINE).simulate(0.1)
        assert motion.t.size == 201
        assert motion.rtol == 1e-9


def refused(text: str) -> str:
    with pytest.raises(da.DocumentError) as caught:
        da.loads(text, where="model.toml")
    assert str(caught.value).startswith("model.toml: ")
    assert caught.value.exit_status == 2
    return "\n".join(caught.value.faults)


class TestRefused:
    @pytest.mark.parametrize(
        "text",
        [
            "name = ",
            "name = 'a\n",
            "= 5",
            "[a",
            "{}",
            "name = 'a'\nname = 'b'",
            "a=" + "[" * 20_000,
            "\x00",
            "a = 1e",
        ],
    )
    def test_not_toml(self, text: str) -> None:
        assert "not TOML" in refused(text)

    def test_an_integer_too_long_to_read(self) -> None:
        refused(SMALL + "[parameters]\nm = " + "1" * 5000)

    @pytest.mark.parametrize("text", ["", "name = 'a'", "coordinates = ['x']"])
    def test_incomplete(self, text: str) -> None:
        told = refused(text)
        assert ("name of the model is missing" in told) == ("name" not in text)
        assert ("coordinates are missing" in told) == ("coordinates" not in text)

    def test_no_inertia(self) -> None:
        assert "no inertia" in refused("name = 'a'\ncoordinates = ['x']")

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ("[energies]\nkinetic = '1'", "'energy'"),
            ("[simulation]\nduration = 1", "'simulate'"),
            ("[simulate]\nduratoin = 1", "'duration'"),
            ("[[constraint]]\nname = 'a'", "'constraints'"),
            ("[[constraints]]\nname = 'a'\nequation = 'x = 0'\nlevle = 'position'", "'level'"),
            ("[[nonideal]]\nlaw = 'work'\nwrok = {x = '1'}", "'work'"),
            ("[forces]\nX = '1'", "'x'"),
            ("[initial]\n\"x''\" = 1", "x''"),
            ("[initial]\nq = 1", "'q'"),
        ],
    )
    def test_unknown_entries(self, more: str, words: str) -> None:
        assert words in refused(SMALL + more)

    def test_unknown_entry_in_the_energy(self) -> None:
        assert "'potential'" in refused(SMALL + "potental = '1'")

    def test_unknown_entry_at_the_top(self) -> None:
        assert "'coordinates'" in refused("coordinate = ['x']" + SMALL)

    def test_an_unknown_law_is_never_ignored(self) -> None:
        """A law that is read and then dropped would give the motion of another system."""
        plane = "[[constraints]]\nname = 'plane'\nequation = 'x = 0'\n"
        assert "'magic'" in refused(SMALL + plane + "[[nonideal]]\nlaw = 'magic'")

    @pytest.mark.parametrize("table", TABLES)
    def test_a_table_that_is_none(self, table: str) -> None:
        text = "name = 'small'\ncoordinates = ['x']\n" + f"{table} = 5\n"
        assert table in refused(text)

    @pytest.mark.parametrize("entry", ["constraints = 5", "constraints = ['x = 0']", "nonideal = {law = 'work'}"])
    def test_a_list_that_is_none(self, entry: str) -> None:
        assert "list of tables" in refused(entry + SMALL)

    @pytest.mark.parametrize(
        "text",
        [
            "name = 5\ncoordinates = ['x']\n[energy]\nkinetic = \"x'^2\"",
            "name = 'a'\ncoordinates = 'x'\n[energy]\nkinetic = \"x'^2\"",
            "name = 'a'\ncoordinates = [1]\n[energy]\nkinetic = \"x'^2\"",
            "name = 'a'\ncoordinates = []\n[energy]\nkinetic = \"x'^2\"",
            "name = 'a'\ncoordinates = ['x']\n[energy]\nkinetic = [1]",
            "name = 'a'\ncoordinates = ['x']\n[energy]\nkinetic = true",
            "name = 'a'\ncoordinates = ['x']\n[energy]\nkinetic = 1979-05-27",
            "name = 'a'\ncoordinates = ['x']\n[mass]\nmatrix = 5",
            "name = 'a'\ncoordinates = ['x']\n[mass]\nmatrix = '2'",
            "name = 'a'\ncoordinates = ['x', 'y']\n[mass]\nmatrix = [['1', '0'], ['0']]",
            "name = 'a'\ncoordinates = ['x', 'y']\n[mass]\nmatrix = ['10', '01']",
            SMALL + "[parameters]\nm = [1]",
            SMALL + "[parameters]\nm = {a = 1}",
            SMALL + "[parameters]\nm = true",
            SMALL + "[parameters]\nm = 1979-05-27",
            SMALL + "[parameters]\nm = inf",
            SMALL + "[parameters]\nm = nan",
            SMALL + "[parameters]\nm = ''",
            SMALL + "[parameters]\n'm 1' = 1",
            SMALL + "[parameters]\nm = " + "1" * 400,
            SMALL + "[initial]\nx = true",
            SMALL + "[initial]\nx = [0]",
            SMALL + "[initial]\nx = \"__import__('os')\"",
            SMALL + "[forces]\nx = [1]",
            SMALL + "[simulate]\nduration = 'long'",
            SMALL + "[simulate]\nsamples = 2.5",
            SMALL + "[simulate]\nproject = 1",
            SMALL + "[simulate]\nmethod = 1",
            SMALL + "[[constraints]]\nname = 5\nequation = 'x = 0'",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 0",
            SMALL + "[[constraints]]\nname = 'a'",
            SMALL + "[[constraints]]\nequation = 'x = 0'",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\nlevel = 'velocity'",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\n[[nonideal]]\nlaw = 5",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\n[[nonideal]]\nlaw = 'work'",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\n[[nonideal]]\nlaw = 'work'\nwork = 'x'",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\n[[nonideal]]\nlaw = 'work'\nwork = {y = '1'}",
            SMALL + "[[constraints]]\nname = 'a'\nequation = 'x = 0'\n[[nonideal]]\nconstraint = 'a'",
        ],
    )
    def test_wrong_values(self, text: str) -> None:
        refused(text)

    def test_faults_are_told_together(self) -> None:
        told = refused(SMALL + "[parameters]\nm = nan\nk = 'x'\n[initial]\nz = 1\n[simulate]\nrtol = 'small'")
        for words in ("parameter m", "parameter k", "'z'", "rtol"):
            assert words in told


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(da.DocumentError, match="no such file"):
            da.load(tmp_path / "none.toml")

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(da.DocumentError, match="folder"):
            da.load(tmp_path)

    def test_binary(self, tmp_path: Path) -> None:
        path = tmp_path / "binary.toml"
        path.write_bytes(bytes(range(256)) * 10)
        with pytest.raises(da.DocumentError, match="UTF-8"):
            da.load(path)

    def test_too_large(self, tmp_path: Path) -> None:
        path = tmp_path / "large.toml"
        path.write_bytes(b"#" * 6_000_000)
        with pytest.raises(da.DocumentError, match="larger"):
            da.load(path)

    def test_the_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "wrong.toml"
        path.write_text("name = 5", encoding="utf-8")
        with pytest.raises(da.DocumentError, match=r"wrong\.toml"):
            da.load(path)

    def test_lines_ending_as_on_windows(self, tmp_path: Path) -> None:
        path = tmp_path / "windows.toml"
        path.write_bytes(INCLINE.replace("\n", "\r\n").encode())
        assert da.dumps(da.load(path)) == da.dumps(da.loads(INCLINE))


def test_every_part_of_a_system_is_in_its_document() -> None:
    """A part that the document forgets would be lost in silence: all are used by some system above."""
    empty: dict[str, Any] = {
        "forces": {},
        "settings": {},
        "initial": {},
        "parameters": {},
        "nonideal": (),
        "constraints": (),
    }
    for part in dataclasses.fields(da.System):
        default = empty.get(part.name)
        assert any(getattr(system, part.name) not in (default, None, "") for system in SYSTEMS.values()), part.name
