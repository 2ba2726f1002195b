"""A new principle is one module and one entry in `FORMS`: shown here with one that is written down in this file.

d'Alembert's principle by projection: Nᵀ(M q̈ − Q − C) = 0 on a basis N of null A, together with A q̈ = b.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.arrays import Array
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.principles import FORMS
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts, euler_operator
from dalembert.mechanics.principles.shared.formulation import Answer, Solver, has_modes
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import null_space


def applies(system: da.System) -> str:
    return has_modes(system)


def state_size(system: da.System) -> int:
    return 2 * len(system.coordinates)


def derive(system: da.System) -> Equations:
    lines = [Line(sp.S.Zero, (("", residual),)) for residual in euler_operator(system)]
    return Equations(
        system=system, form="projection", explicit=False, reason="", title="N^T (M q'' - Q - C) = 0",
        sections=(Section("vanish along every virtual displacement", tuple(lines)),),
    )  # fmt: skip


def prepare(system: da.System, sampler: Sampler) -> Solver:
    motion, constraints = affine_parts(sampler, euler_operator(system)), affine_parts(sampler, accelerations_of(system))

    def solve(state: Sample, C: Array) -> Answer:
        (M, r), (A, h) = motion(state), constraints(state)
        N = null_space(A)
        rows = np.vstack([N.T @ M, A])
        a = np.linalg.lstsq(rows, np.concatenate([N.T @ (C - r), -h]), rcond=None)[0]
        return Answer(a, M @ a + r)

    return solve


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMS, "projection", "a_new_principle")
    monkeypatch.setitem(sys.modules, "a_new_principle", sys.modules[__name__])


@pytest.mark.usefixtures("_registered")
@pytest.mark.parametrize("name", ["penny", "pendulum", "hinged_rods", "redundant_double_pendulum"])
def test_it_is_compared_with_the_others(name: str) -> None:
    comparison = getattr(da.library, name)().compare(["lagrange", "projection"])
    assert comparison.agree
    assert [row.form for row in comparison.rows] == ["lagrange", "projection"]
    assert comparison.rows[1].applies


@pytest.mark.usefixtures("_registered")
def test_it_is_read_like_the_others() -> None:
    page = da.library.pendulum().equations("projection")
    assert "vanish along every virtual displacement" in str(page)
    with pytest.raises(da.ModelError, match="projection"):
        da.library.pendulum().equations("projektion")  # it is suggested, too
