"""One table of methods: what Python, C, the command line and the docs know of them is read there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.cli.app import app
from dalembert.errors import ModelError
from dalembert.graph.graph import graph_of
from dalembert.kernel.emit.source import kernel_source
from dalembert.methods.table import METHODS, method_for, method_names, rows

DOCS = Path(__file__).parents[2] / "docs" / "documents.md"
NATIVE = {name: method for name, method in METHODS.items() if method.code is not None}


def test_codes_and_titles_are_each_their_own() -> None:
    codes, titles = [m.code for m in NATIVE.values()], [m.title for m in METHODS.values()]
    assert len(set(codes)) == len(codes)
    assert len(set(titles)) == len(titles)
    assert all(m.instead in METHODS for m in METHODS.values() if not m.runs_on_reference)


def test_the_docs_have_the_table() -> None:
    """`python -c "from dalembert.methods.table import rows; print(*rows(), sep='\\n')"` writes it anew."""
    assert "\n".join(rows()) in DOCS.read_text(encoding="utf-8")


def test_simulate_tells_of_every_method() -> None:
    text = da.System.simulate.__doc__ or ""
    assert [name for name in method_names() if f'"{name}"' not in text] == []


def test_an_unknown_method_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ModelError) as found:
        da.library.pendulum().simulate(1, method="euler")
    assert all(name in str(found.value) for name in method_names())


def test_the_source_has_the_codes_and_the_methods_asked_for() -> None:
    system = da.library.pendulum()
    plain = kernel_source(system, graph_of(system), [0])
    codes = dict(re.findall(r"DA_METHOD_(\w+) = (\d+)", plain))
    assert codes == {name.upper(): str(method.code) for name, method in NATIVE.items()}
    for name, method in NATIVE.items():
        text = kernel_source(system, graph_of(system), [0], (name,))
        assert f"da_{method.prefix}_step(" in text
        assert (f"da_{method.prefix}_step(" in plain) == method.in_every_kernel


def test_auto_takes_what_suits_the_tolerance() -> None:
    assert [method_for(rtol).name for rtol in (0.1, 1e-4, 9e-5, 1e-13)] == ["dopri5", "dopri5", "dop853", "dop853"]
    motion = da.library.pendulum().simulate(0.1, samples=2, rtol=1e-3)
    assert motion.method == METHODS["dopri5"].title


def test_the_command_line_tells_of_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    monkeypatch.setenv("COLUMNS", "400")  # so that no word is broken
    text = re.sub(r"[\s│]+", " ", CliRunner().invoke(app, ["run", "--help"]).output)
    assert [name for name, method in METHODS.items() if f"{name}: {method.help}" not in text] == []
