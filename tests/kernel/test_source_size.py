"""Sources that compile in linear time: as many lines more as there are links, in functions of bounded length."""

from __future__ import annotations

import re

import pytest

import dalembert as da
from dalembert.errors import BuildError
from dalembert.graph.graph import graph_of
from dalembert.kernel import build
from dalembert.kernel.emit.source import kernel_source
from dalembert.kernel.emit.straight_line import PIECE
from dalembert.motion.integrate import native


def chain(links: int) -> da.System:
    """Rods in the plane, each a free body, hanging straight: every hinge two constraints."""
    hinges: dict[str, str] = {}
    for k in range(links):
        before = ("", "") if k == 0 else (f" - x{k - 1} - sin(a{k - 1})/2", f" - y{k - 1} + cos(a{k - 1})/2")
        hinges[f"hinge {k} x"] = f"x{k} - sin(a{k})/2{before[0]}"
        hinges[f"hinge {k} y"] = f"y{k} + cos(a{k})/2{before[1]}"
    names = [f"{letter}{k}" for k in range(links) for letter in "xya"]
    return da.System(
        f"chain of {links} links",
        coordinates=" ".join(names),
        kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)/2 + a{k}'^2/24" for k in range(links)),
        potential="9.81*(" + " + ".join(f"y{k}" for k in range(links)) + ")",
        constraints=hinges,
        initial=dict.fromkeys(names, 0.0) | {f"y{k}": -k - 0.5 for k in range(links)} | {f"{q}'": 0 for q in names},
    )


def functions(links: int) -> dict[str, int]:
    """The functions of the source and how many lines they have."""
    system = chain(links)
    text = kernel_source(system, graph_of(system), range(len(system.constraints)))
    found = re.finditer(r"^DA_\w+ [^\n;]*?(\w+)\([^;{]*\)\n\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {match[1]: match[2].count("\n") for match in found}


def test_no_function_is_long() -> None:
    """The time to compile one function grows with more than its length."""
    lengths = functions(100)
    # Three times PIECE or more in one piece each, if they were not cut.
    assert {"da_fast_0", "da_fast_1", "da_fast_2", "da_factor_0", "da_backsolve_0", "da_constants"} <= set(lengths)
    # PIECE lines of operations, and at most as many again to take over live values and to hand them on.
    assert max(lengths.values()) < 2 * PIECE


def test_lines_grow_with_the_links() -> None:
    short, long = sum(functions(50).values()), sum(functions(100).values())
    # The runtime is in both; dense factors would make it four times as long and more.
    assert long < 2.2 * short


def needs_compiler() -> None:
    if build.find_compiler() is None:
        pytest.skip("no C compiler on this machine")


def test_a_kernel_too_large_for_the_native_backend_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_compiler()
    monkeypatch.setattr(native, "MOST_INSTRUCTIONS", 100)
    with pytest.raises(
        BuildError, match=r"hinged rods.*: .* more than the 100 that are compiled; .*backend='reference'"
    ):
        da.library.hinged_rods().simulate(0.05, samples=2, backend="native")


def test_one_that_is_too_large_either_way_offers_no_other_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """backend="auto" falls back, and does not recommend what would fail."""
    needs_compiler()
    monkeypatch.setattr(native, "AUTO_INSTRUCTIONS", 100)
    monkeypatch.setattr("dalembert.motion.integrate.choose.MOST_INSTRUCTIONS", 100)
    motion = da.library.hinged_rods().simulate(0.05, samples=2)
    assert motion.backend == "reference"
    (warning,) = motion.warnings
    assert "100" in warning
    assert "backend='native'" not in warning
