"""Systems that fall apart: the same numbers as from dense algebra of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.solve import blocks
from dalembert.mechanics.solve import fundamental as module
from dalembert.mechanics.solve.fundamental import minimum_norm, on_null_space, solve


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


def turned_by_quaternions(rng: np.random.Generator, T: int, dependent: bool) -> tuple[np.ndarray, ...]:
    """Bodies of four coordinates whose masses have no inertia along one direction, which a constraint sees, in units
    that differ by 1e6; every third is regular. dependent: the constraint of one body is stated twice.
    """
    bodies = 15
    n, m = 4 * bodies, bodies + 1
    M, A, b = np.zeros((T, n, n)), np.zeros((T, m, n)), np.zeros((T, m))
    for k in range(bodies):
        at, direction = slice(4 * k, 4 * k + 4), rng.normal(size=(T, 4))
        root = rng.normal(size=(T, 4, 4))
        if k % 3:
            root -= np.einsum("tij,tj,tk->tik", root, direction, direction) / (direction**2).sum(1)[:, None, None]
        unit = 10.0 ** rng.uniform(-3, 3)
        M[:, at, at], A[:, k, at], b[:, k] = unit * root.transpose(0, 2, 1) @ root, direction, rng.normal(size=T)
    if dependent:
        A[:, -1], b[:, -1] = 3 * A[:, 1], 3 * b[:, 1]
    else:
        A[:, -1, 4:8], b[:, -1] = rng.normal(size=(T, 4)), rng.normal(size=T)
    return M, rng.normal(size=(T, n)), A, b, rng.normal(size=(T, n))


@pytest.mark.parametrize("dependent", [False, True])
def test_singular_masses_part_by_part(dependent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the null space of the whole, state by state, of which no part needs one where constraints are
    independent.
    """
    given = turned_by_quaternions(np.random.default_rng(4), 3, dependent)
    whole = [on_null_space(*(part[k] for part in given)) for k in range(3)]
    if not dependent:
        monkeypatch.setattr(module, "on_null_space", None)
    found = solve(*given)
    assert np.isnan(found.unconstrained).all()
    for k, one in enumerate(whole):
        for name in ("acceleration", "ideal", "nonideal", "multipliers"):
            ours, theirs = getattr(found, name)[k], getattr(one, name)
            # Masses whose units differ by 1e6, and pivots of some hundredths.
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9 * np.abs(theirs).max(), err_msg=name)
        assert found.rank[k] == one.rank == (15 if dependent else 16)
        assert (found.dependent[k] == one.dependent).all()
        assert (found.M[k] == given[0][k]).all()


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
