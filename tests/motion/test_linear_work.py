"""What is done for a large system grows with its size and no faster: calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
import sympy as sp
from large_systems import chain, chain_by_velocities, plain_chain, rods, tree

import dalembert as da
from dalembert.graph.structure.eliminate import solution_of
from dalembert.graph.structure.equations import ACCELERATIONS, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.graph.structure.sums import sums_of

SIZES = (24, 48, 96)


def calls(action: Callable[[], object]) -> int:
    """How many functions of Python are called."""
    count = 0

    def watch(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def derive(system: da.System) -> None:
    structured = structured_of(system)
    assert structured is not None
    solution_of(equations_of(structured, ACCELERATIONS), structured.coordinates)
    sums_of(structured)


def is_linear(counts: list[int]) -> bool:
    """Twice the size costs at most twice as much more; a twentieth for what hashing and sorting happen to do."""
    return counts[2] - counts[1] <= 2.1 * (counts[1] - counts[0])


@pytest.mark.parametrize("make", [chain, rods, tree, chain_by_velocities], ids=lambda make: make.__name__)
def test_building_and_deriving(make: Callable[[int], da.System]):
    systems = [make(links) for links in SIZES]
    building, deriving = [], []
    for system in systems:
        parts = {name: dict(getattr(system, name)) for name in ("definitions", "parameters", "initial")}
        constraints = {c.name: c.expression for c in system.constraints}
        given = {"coordinates": system.coordinates, "kinetic": system.kinetic, "potential": system.potential}
        sp.core.cache.clear_cache()
        building.append(calls(lambda: da.System("again", constraints=constraints, **given, **parts)))  # noqa: B023
        deriving.append(calls(lambda: derive(system)))  # noqa: B023
    assert is_linear(building), building
    assert is_linear(deriving), deriving


def test_sums_written_plainly():
    """Their text grows with the square of the links, and so does what is done; not with the cube."""
    systems = [plain_chain(links) for links in SIZES]
    counts = [calls(lambda: derive(system)) for system in systems]  # noqa: B023
    assert counts[2] <= 4 * counts[1]
