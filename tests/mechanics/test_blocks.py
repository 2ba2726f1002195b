"""Systems that fall apart: the same numbers as from dense algebra of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.solve import blocks
from dalembert.mechanics.solve.fundamental import minimum_norm, solve


def apart(rng: np.random.Generator, T: int) -> tuple[np.ndarray, ...]:
    """Thirty parts of one to three coordinates with zero to two constraints each, redundant ones among them, in an
    order that has nothing to do with the parts; and one row that is switched off.
    """
    sizes, counts = rng.integers(1, 4, 30), rng.integers(0, 3, 30)
    n, m = int(sizes.sum()), int(counts.sum()) + 1
    M, A, b = np.zeros((T, n, n)), np.zeros((T, m, n)), np.zeros((T, m))
    at = row = 0
    for size, count in zip(sizes, counts, strict=True):
        root = rng.normal(size=(T, size, size))
        M[:, at : at + size, at : at + size] = root @ root.transpose(0, 2, 1) + np.eye(size)
        own = rng.normal(size=(T, count, size))
        if count == 2 and size > 1:
            own[:, 1] = -2 * own[:, 0]  # the second follows from the first
        b[:, row : row + count] = np.einsum("tij,tj->ti", own, rng.normal(size=(T, size)))
        A[:, row : row + count, at : at + size] = own
        at, row = at + size, row + count
    p, r = rng.permutation(n), rng.permutation(m)
    Q, C = rng.normal(size=(T, n)), rng.normal(size=(T, n))
    return M[:, p][:, :, p], Q, A[:, r][:, :, p], b[:, r], C


@pytest.mark.parametrize("seed", range(5))
def test_the_fundamental_equation_part_by_part(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = apart(np.random.default_rng(seed), 4)
    assert blocks.parts_of(given[0], given[2]) is not None
    found = solve(*given)
    monkeypatch.setattr(blocks, "WORTHWHILE", 10**9)
    whole = solve(*given)
    for name in ("acceleration", "unconstrained", "ideal", "nonideal", "multipliers"):
        # Two ways through a hundred well conditioned equations.
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-8, atol=1e-9, err_msg=name)
    assert (found.rank == whole.rank).all()
    assert (found.dependent == whole.dependent).all()
    assert found.residual.max() < 1e-8


def test_the_nearest_state_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    M, _, A, b, _ = (part[0] for part in apart(np.random.default_rng(9), 1))
    found = minimum_norm(M, A, b)
    monkeypatch.setattr(blocks, "WORTHWHILE", 10**9)
    np.testing.assert_allclose(found, minimum_norm(M, A, b), rtol=1e-8, atol=1e-9)


def test_elimination_part_by_part() -> None:
    rng = np.random.default_rng(3)
    M = apart(rng, 6)[0]
    right = rng.normal(size=M.shape[:2])
    found = blocks.solve_by_parts(M, right)
    np.testing.assert_allclose(np.einsum("tij,tj->ti", M, found), right, atol=1e-10)  # rounding of well conditioned M


def test_a_direction_without_mass_is_named_in_a_large_system() -> None:
    n = 60
    system = da.System(
        "many",
        coordinates=[f"x{k}" for k in range(n)],
        kinetic=" + ".join(f"x{k}'^2/2" for k in range(n) if k != 41),
        potential=" + ".join(f"x{k}^2/2" for k in range(n)),
        initial={f"x{k}{mark}": 0.1 for k in range(n) for mark in ("", "'")},
    )
    with pytest.raises(da.DalembertError, match="x41"):
        system.simulate(0.1)
