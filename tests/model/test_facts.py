"""What SymPy keeps of functions for itself is let go, and found again when it is asked for."""

from __future__ import annotations

import sympy as sp

import dalembert as da
from dalembert.model.language.facts import forget_facts


def test_facts_are_let_go_and_found_again():
    (x,) = da.coordinates("x")
    parts = [sp.sin(x), sp.cos(x), sp.exp(x)]
    product = 2 * sp.Mul(*parts) + 1  # to multiply by them, SymPy asks whether they commute
    assert any(part._assumptions is not part.default_assumptions for part in parts)
    asked = [(part.is_real, part.is_positive, part.is_zero, set(part.nargs)) for part in parts]
    forget_facts([product])
    assert all(part._assumptions is part.default_assumptions for part in parts)
    assert parts[0].nargs is parts[1].nargs
    assert [(part.is_real, part.is_positive, part.is_zero, set(part.nargs)) for part in parts] == asked
    assert product == 2 * sp.Mul(*parts) + 1
