"""LaTeX of the equations: it compiles, and nothing runs over the margin."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sympy as sp
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.printing import escaped
from dalembert.mechanics.page.typeset import abbreviated, document, rows, width
from dalembert.mechanics.principles import FORMS

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
x, y = da.coordinates("x y")


def compiled(source: Path) -> str:
    """TeX's log; any error ends it."""
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name],
        cwd=source.parent, capture_output=True, text=True, encoding="latin-1", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def pages() -> dict[str, tuple[str, ...]]:
    """For each system of the library the forms it is typeset in: three, taken in turn, so that each form is met by six
    systems or more. Deriving a page takes seconds, setting it a tenth of one; that every form of every system is right
    is tested with `compare`. Two forms apply to few systems, and are set for those.
    """
    names, forms = da.library.names(), list(FORMS)
    turns = {name: [forms[(k + step) % len(forms)] for step in (0, 4, 8)] for k, name in enumerate(names)}
    few = {"bouncing_ball": "routh", "liberated_sphere": "routh", "quaternion_body": "hertz", "benenti_rods": "hertz"}
    return {name: tuple(dict.fromkeys([*found, *filter(None, [few.get(name)])])) for name, found in turns.items()}


@needs_tex
@pytest.mark.parametrize("name", da.library.names())
def test_library_systems_compile_and_stay_within_the_margin(name: str, tmp_path: Path):
    system, parts = da.library.get(name), []
    for form in pages()[name]:
        try:
            parts.append((form, system.equations(form)))
        except da.DoesNotApply as error:
            parts.append((form, error.reason))
    out = tmp_path / "out.tex"
    out.write_text(document(system.name, parts), encoding="utf-8")
    # Widths are estimated; a tenth of the margin (2 cm are 57 pt) is not seen.
    over = [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", compiled(out))]
    assert max(over, default=0.0) <= 6.0


def test_every_form_is_typeset():
    met = [form for found in pages().values() for form in found]
    assert min(met.count(form) for form in FORMS) >= 6


@needs_tex
def test_the_command_writes_all_forms(tmp_path: Path):
    out = tmp_path / "out.tex"
    result = CliRunner().invoke(app, ["equations", "bouncing_ball", "--form", "all", "--latex", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert all(rf"\subsection*{{{form}}}" in text for form in FORMS)
    compiled(out)


@needs_tex
def test_any_name_compiles(tmp_path: Path):
    theta, w = da.coordinates("θ"), da.parameters("ω0 Ж")
    system = da.System(
        "Đukić & φ_1: 100% #x {rod}’s \\ end^2 ~ → q̈ ∂ Ж",
        coordinates=theta,
        kinetic=theta[0].d ** 2 / 2,
        potential=w[0] * theta[0] ** 2 / 2 + w[1] * theta[0],
        constraints={"<50 %> & ½ ≥ ε": theta[0] - w[0]},
    )
    out = tmp_path / "out.tex"
    out.write_text(document(system.name, [("one", system.equations()), ("two", "≤ not & why_")]), encoding="utf-8")
    compiled(out)


def test_greek_and_accents_have_ascii():
    assert escaped("θ") == r"$\theta$"
    assert escaped("Λ λ") == r"$\Lambda$ $\lambda$"
    assert escaped("Đukić") == "Dukic"
    assert escaped("50%_a") == r"50\%\_a"


def test_a_fraction_is_as_wide_as_its_wider_part():
    assert width((x + y) / 2) == width(x + y)
    assert width(x / (x + y)) == width(x + y)


def test_a_long_sum_is_broken_and_loses_nothing():
    long = sp.Add(*(sp.Symbol(f"a_{k}") * x**k for k in range(1, 40)))
    broken = rows([Line(x.dd, (("", long),))])
    assert len(broken) > 2
    assert sum(row.count("a_{") for row in broken) == 39
    assert all(row.lstrip("&").strip().startswith((r"\quad +", r"\ddot")) for row in broken)


def test_wide_products_are_abbreviated_and_stay_equal():
    sums = [sp.Add(*(sp.Symbol(f"{name}_{k}") * x**k for k in range(1, 40))) for name in "ab"]
    line = Line(x.dd, (("Q", sums[0] / sums[1]), ("", sums[0] ** 2)))
    found = abbreviated([Section("motion", (line,))])
    assert found[-1].title == "where"
    values = [(line.left, line.terms[0][1]) for line in found[-1].lines]
    for (_, expected), (_, part) in zip(line.terms, found[0].lines[0].terms, strict=True):
        for _ in values:
            part = part.subs(values)
        assert sp.expand(sp.together(part - expected)) == 0


def test_all_forms_as_json():
    result = CliRunner().invoke(app, ["equations", "bouncing_ball", "--form", "all", "--json"])
    assert result.exit_code == 0
    assert '"forms"' in result.stdout


def test_equations_are_a_value():
    found = da.library.pendulum().equations("lagrange")
    assert isinstance(found, Equations)
    assert "lambda_1" in found.text()


def test_greek_letters_in_names_are_text_where_names_are() -> None:
    """`\\phi` is mathematics: inside `\\text` it stands between dollars."""
    system = da.System(
        "block", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="9.81*y", constraints={"φ floor": "y = 0"},
        nonideal=[da.Coulomb("φ floor", 0.3)],
    )  # fmt: skip
    assert r"\text{$\phi$ floor}" in system.equations("appell").latex()
