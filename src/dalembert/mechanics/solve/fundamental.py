"""The fundamental equation of constrained motion on arrays, ideal and nonideal, for A of any rank.

    M q̈ = Q + Q_i + Q_ni                                                             (26) of Udwadia 2005
    Q_i = M^(1/2) B⁺ (b − A a),   Q_ni = M^(1/2) (I − B⁺B) M^(−1/2) C,   B = A M^(−1/2),   a = M⁻¹Q

Neither M^(1/2) nor a pseudoinverse is formed. With M = L Lᵀ, any factor may stand for M^(1/2), and one
singular value decomposition of L⁻¹Aᵀ (its columns scaled to length one) gives rank, forces and multipliers.
Where M is singular the same motion is found on the null space of A: q̈ = x + N z with A x = b, A N = 0,
(NᵀMN) z = Nᵀ(Q + C − M x); it is unique iff NᵀMN is positive definite, which for M ≥ 0 says that [M; A] has
full column rank (Udwadia and Phohomsiri 2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints, ModelError, UndeterminedMotion, counted
from dalembert.mechanics.solve.blocks import block, parts_of
from dalembert.mechanics.solve.check_arrays import check_arrays
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.results import Result, plain_values

# A constraint whose direction differs from a combination of the others by less than this (relative, in the
# mass metric) counts as dependent. States on the constraints carry residuals near 1e-13, which a redundant
# mechanism turns into singular values of about that size times its curvature; true geometry shows differences
# far above 1e-9.
RANK_TOLERANCE = 1e-9

# M scaled to a unit diagonal whose least eigenvalue falls below this goes the null-space way. That way is
# right for regular M too, so the number only decides which of two correct methods runs; rounding in a
# singular M leaves eigenvalues near 1e-16.
MASS_TOLERANCE = 1e-12
# The least eigenvalue is looked at only when a squared pivot of Cholesky is below this: a singular matrix
# shows at least that.
SUSPICIOUS_PIVOT = 1e-4

# A q̈ = b must hold to this, relative to the size of its terms. Consistent systems reach 1e-14 times the
# condition of A.
CONSISTENCY_TOLERANCE = 1e-8


# Along a motion, directions in which the constraints are almost dependent (next to a singular configuration) are
# weighted as by PROXIMAL_PASSES passes of a proximal iteration with this regularisation. Above singular values of
# 3e-4 it changes nothing; below 3e-5 it keeps rounding, divided by their squares, out of the motion.
PROXIMAL = 1e-8
PROXIMAL_PASSES = 20


@dataclass(frozen=True)
class Fundamental(Result):
    """The solution of the fundamental equation; leading axes are the batch.

    acceleration, unconstrained (NaN where M is singular), ideal, nonideal: (…, n). multipliers λ: (…, m),
    with M q̈ = Q + C + Aᵀλ; not unique where constraints depend on each other, though Aᵀλ is; the smallest is
    given. rank: (…). dependent: (…, m), True for a constraint that is a combination of those before it.
    residual: (…, m), the relative size of A q̈ − b. M, Q, A, b, C: the data.
    """

    acceleration: Array
    unconstrained: Array
    ideal: Array
    nonideal: Array
    multipliers: Array
    rank: NDArray[np.int_]
    dependent: NDArray[np.bool_]
    residual: Array
    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array

    def text(self) -> str:
        lines = [self.headline()]
        for name in ("acceleration", "unconstrained", "ideal", "nonideal", "multipliers"):
            values = np.array2string(getattr(self, name), precision=8, threshold=50, prefix=" " * 17)
            lines.append(f"  {name:<14} {values}")
        return "\n".join(lines)

    def headline(self) -> str:
        batch = f" at {' × '.join(map(str, self.rank.shape))} states" if self.rank.ndim else ""
        ranks = " … ".join(map(str, sorted({int(self.rank.min()), int(self.rank.max())}))) if self.rank.size else "none"
        n, m = self.M.shape[-1], self.A.shape[-2]
        return f"solution{batch}: {counted(n, 'coordinate')}, {counted(m, 'constraint')}, rank {ranks}"

    def to_dict(self) -> dict[str, Any]:
        return {key: plain_values(value) for key, value in vars(self).items()}

    def at(self, k: int) -> Fundamental:
        """The solution at one point of a batch."""
        return Fundamental(
            self.acceleration[k], self.unconstrained[k], self.ideal[k], self.nonideal[k], self.multipliers[k],
            self.rank[k], self.dependent[k], self.residual[k], self.M[k], self.Q[k], self.A[k], self.b[k], self.C[k],
        )  # fmt: skip

    def gauss(self, z: ArrayLike | None = None) -> Array:
        """G_ni(z) = (Mz − Q − C)ᵀ M⁻¹ (Mz − Q − C), (16); at the acceleration itself where z is not given.

        The pseudoinverse stands for M⁻¹ where M is singular: a direction without mass has no say in G.
        """
        z = self.acceleration if z is None else self._accelerations(z)
        force = np.einsum("...ij,...j->...i", self.M, z) - self.Q - self.C
        scale = mass_scale(self.M)
        scaled = self.M / (scale[..., :, None] * scale[..., None, :])
        inverse = np.linalg.pinv(scaled, rcond=MASS_TOLERANCE, hermitian=True)
        return np.einsum("...i,...ij,...j->...", force / scale, inverse, force / scale)

    def _accelerations(self, given: ArrayLike) -> Array:
        n = self.M.shape[-1]
        try:
            z = np.asarray(given, dtype=float)
            fits = z.shape[-1:] == (n,)
            np.broadcast_shapes(z.shape, self.Q.shape)
        except (TypeError, ValueError):
            fits = False
        if not fits:
            wanted = f"accelerations of shape (…, {n}) are wanted, to go with Q of shape {self.Q.shape}"
            raise ModelError("gauss", [f"{wanted}; got {given!r}"])
        return z


def fundamental(M: ArrayLike, Q: ArrayLike, A: ArrayLike, b: ArrayLike, C: ArrayLike | None = None) -> Fundamental:
    """Solve the fundamental equation for arrays M (…, n, n), Q (…, n), A (…, m, n), b (…, m), C (…, n) or
    None.

    Leading axes are broadcast against each other. Raises `InconsistentConstraints` where b is not in the
    range of A, and `UndeterminedMotion` where neither M nor the constraints determine a direction.

    >>> import numpy as np
    >>> block = fundamental(np.eye(2), [0, -9.81], [[-1.0, 1.0]], [0.0])   # on a plane at 45 degrees
    >>> block.acceleration.round(3), block.ideal.round(3), int(block.rank)
    (array([-4.905, -4.905]), array([-4.905,  4.905]), 1)
    """
    arrays = check_arrays(M, Q, A, b, C)
    result = solve(*arrays)
    _require_consistent(result)
    return result


def solve(
    M: Array,
    Q: Array,
    A: Array,
    b: Array,
    C: Array,
    tolerance: float = RANK_TOLERANCE,
    natural: Array | None = None,
) -> Fundamental:
    """`fundamental` on checked arrays of matching shapes, without the test of consistency (`residual` tells).

    natural (m,) is given along a motion: the largest length that each row of A has had, in the metric of M⁻¹. Rows are
    then scaled by it, and almost dependent directions weighted as `PROXIMAL` says.
    """
    m = A.shape[-2]
    found = _by_parts(M, Q, A, b, C, tolerance, natural)
    if found is not None:
        return found
    scale = mass_scale(M)
    L = _cholesky(M / (scale[..., :, None] * scale[..., None, :]))
    if L is None:
        return _each(M, Q, A, b, C, tolerance)
    L = scale[..., :, None] * L
    sides = np.concatenate([np.swapaxes(A, -1, -2), Q[..., None], C[..., None]], axis=-1)
    sides = np.linalg.solve(L, sides)
    y, c = sides[..., m], sides[..., m + 1]
    if m == 0:
        q2 = _back(L, y + c)
        none, zero = np.zeros((*M.shape[:-2], 0)), np.zeros_like(Q)
        count = np.zeros(M.shape[:-2], dtype=int)
        return Fundamental(q2, _back(L, y), zero, C.copy(), none, count, none.astype(bool), none, M, Q, A, b, C)
    proximal = natural is not None
    directions, length = _unit_columns(sides[..., :m], natural)
    U, sigma, Vt = np.linalg.svd(directions, full_matrices=False)
    kept = sigma > tolerance
    inverse = _inverse(sigma, kept, proximal)
    e = (b - _row(sides[..., :m], y)) / length
    coefficients = inverse * _mul(Vt, e)
    z = _mul(U, coefficients)
    if not proximal:
        # One step of refinement: near a singular configuration it wins back digits lost in small singular values.
        more = inverse * _mul(Vt, e - _row(directions, z))
        coefficients, z = coefficients + more, z + _mul(U, more)
    along = np.where(kept, _row(U, c), 0.0)
    z_ni = c - _mul(U, along)
    a, q2 = _back(L, y), _back(L, y + z + z_ni)
    multipliers = _row(Vt, inverse * (coefficients - along)) / length
    rank = kept.sum(axis=-1)
    reach = length * np.linalg.norm(np.stack([y, z, z_ni]), axis=-1).sum(axis=0)[..., None]
    residual = _residual(A, b, q2, a, reach)
    dependent = _dependent(directions, rank, tolerance)
    return Fundamental(q2, a, _mul(L, z), _mul(L, z_ni), multipliers, rank, dependent, residual, M, Q, A, b, C)


def minimum_norm(W: Array, A: Array, r: Array, natural: Array | None = None) -> Array:
    """The x of least xᵀWx with A x = r (least squares in r where the rows of A are dependent).

    W must be positive definite. natural: as in `solve`.
    """
    parts = parts_of(W, A)
    if parts is None:
        return _minimum_norm(W, A, r, natural)
    x = np.zeros(W.shape[0])
    for at, rows in parts:
        lengths = None if natural is None else natural[rows]
        x[at] = _minimum_norm(block(W, at, at), block(A, rows, at), r[rows], lengths)
    return x


def _minimum_norm(W: Array, A: Array, r: Array, natural: Array | None) -> Array:
    """`minimum_norm` of one part, or of several of one shape."""
    if A.shape[-2] == 0:
        return np.zeros(W.shape[:-1])
    L: Array = np.asarray(np.linalg.cholesky(W), dtype=np.float64)
    columns: Array = np.asarray(np.linalg.solve(L, np.swapaxes(A, -1, -2)), dtype=np.float64)
    directions, length = _unit_columns(columns, natural)
    U, sigma, Vt = np.linalg.svd(directions, full_matrices=False)
    inverse = _inverse(sigma, sigma > RANK_TOLERANCE, natural is not None)
    return _back(L, _mul(U, inverse * _mul(Vt, r / length)))


def null_space(A: Array, tolerance: float = RANK_TOLERANCE) -> Array:
    """An orthonormal basis (n, n − rank) of the virtual displacements: A N = 0."""
    if A.shape[0] == 0:
        return np.eye(A.shape[1])
    directions, _ = _unit_columns(A.T)
    U, sigma, _ = np.linalg.svd(directions, full_matrices=True)
    return U[:, int(np.sum(sigma > tolerance)) :]


def independent_rows(A: Array, M: Array | None = None, tolerance: float = RANK_TOLERANCE) -> list[int]:
    """Indices of the rows of A (m, n) that are no combination of the rows before them, in the metric of M⁻¹."""
    columns = A.T if M is None else np.linalg.solve(np.linalg.cholesky(M), A.T)
    directions, _ = _unit_columns(columns)
    return [k for k, flag in enumerate(_combinations(directions, tolerance)) if not flag]


# -- parts


def _cholesky(scaled: Array) -> Array | None:
    """The Cholesky factor of matrices of unit diagonal; None where one of them is singular to rounding or not
    positive.
    """
    try:
        L: Array = np.asarray(np.linalg.cholesky(scaled), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(L, axis1=-2, axis2=-1) ** 2
    if np.min(pivots, initial=1.0) < SUSPICIOUS_PIVOT and np.min(np.linalg.eigvalsh(scaled)) < MASS_TOLERANCE:
        return None
    return L


def is_positive(W: Array) -> bool:
    """Whether a symmetric matrix (n, n) is positive definite beyond rounding, whatever the units of its
    coordinates.
    """
    masses = W.diagonal()
    if np.count_nonzero(W) == np.count_nonzero(masses):  # nothing beside the diagonal
        return bool((masses > 0.0).all())
    scale = mass_scale(W)
    return _cholesky(W / np.outer(scale, scale)) is not None


def _mul(matrix: Array, vector: Array) -> Array:
    return (matrix @ vector[..., None])[..., 0]


def _row(matrix: Array, vector: Array) -> Array:
    """matrixᵀ vector."""
    return (vector[..., None, :] @ matrix)[..., 0, :]


def _back(L: Array, vector: Array) -> Array:
    """L⁻ᵀ vector."""
    solved: Any = np.linalg.solve(np.swapaxes(L, -1, -2), vector[..., None])
    return solved[..., 0]


def _inverse(sigma: Array, kept: NDArray[np.bool_], proximal: bool) -> Array:
    """1/σ for the kept singular values, 0 for the others; with the weights of a proximal iteration where wanted."""
    inverse = np.where(kept, 1.0, 0.0) / np.where(kept, sigma, 1.0)
    if not proximal:
        return inverse
    return inverse * (1.0 - (PROXIMAL / (sigma**2 + PROXIMAL)) ** PROXIMAL_PASSES)


def row_lengths(W: Array, A: Array) -> Array:
    """The lengths of the rows of A (m, n) in the metric of W⁻¹."""
    return np.linalg.norm(np.linalg.solve(np.linalg.cholesky(W), A.T), axis=0)


def _unit_columns(columns: Array, natural: Array | None = None) -> tuple[Array, Array]:
    """Columns scaled to length one (zero columns stay zero) and their lengths: rescaling a constraint changes nothing.

    Columns shorter than their `natural` length are scaled by that: a gradient that passes through zero then fades out
    instead of being blown up to a full direction made of rounding.
    """
    length = np.sqrt(np.einsum("...ij,...ij->...j", columns, columns))
    if natural is not None:
        length = np.maximum(length, natural)
    length = np.where(length > 0, length, 1.0)
    return columns / length[..., None, :], length


def _residual(A: Array, b: Array, q2: Array, a: Array, reach: Array) -> Array:
    """|A q̈ − b| relative to its terms. `reach` bounds what each row could see of the accelerations, in the
    mass metric.

    A row whose own terms all cancel (nothing pulls along it) still carries the rounding of the others through
    M: 1e-16 of its reach. With CONSISTENCY_TOLERANCE the factor 1e-4 allows 1e-12 of it, rounding times a
    condition of 1e4.
    """
    size = np.abs(b) + _mul(np.abs(A), np.abs(q2) + np.abs(np.where(np.isnan(a), 0.0, a))) + 1e-4 * reach
    return np.abs(_mul(A, q2) - b) / np.where(size > 0, size, 1.0)


def _combinations(directions: Array, tolerance: float) -> list[bool]:
    """For each column, whether it lies in the span of the columns before it (Gram–Schmidt, twice for
    rounding).
    """
    rows = np.zeros((min(directions.shape), directions.shape[0]))
    count, flags = 0, []
    for column, present in zip(directions.T, np.any(directions, axis=0), strict=True):
        size = 0.0
        if present and count < rows.shape[0]:
            basis = rows[:count]
            rest = column - basis.T @ (basis @ column)
            rest -= basis.T @ (basis @ rest)
            size = math.sqrt(float(rest @ rest))
        flags.append(size <= tolerance)
        if size > tolerance:
            rows[count] = rest / size
            count += 1
    return flags


def _dependent(directions: Array, rank: NDArray[np.int_], tolerance: float) -> NDArray[np.bool_]:
    m = directions.shape[-1]
    flags = np.zeros((*directions.shape[:-2], m), dtype=bool)
    if (rank == m).all():
        return flags
    if directions.ndim == 2:  # one state, as at every step of a motion
        return np.array(_combinations(directions, tolerance), dtype=bool)
    for index in np.argwhere(rank < m):
        flags[tuple(index)] = _combinations(directions[tuple(index)], tolerance)
    return flags


def _by_parts(
    M: Array, Q: Array, A: Array, b: Array, C: Array, tolerance: float, natural: Array | None
) -> Fundamental | None:
    """`solve` for a large system that falls apart; None where it does not."""
    parts = parts_of(M, A)
    if parts is None:
        return None
    batch, m = M.shape[:-2], A.shape[-2]
    forces = {name: np.empty_like(Q) for name in ("acceleration", "unconstrained", "ideal", "nonideal")}
    rows_of = {name: np.zeros((*batch, m)) for name in ("multipliers", "residual")}
    rank, dependent = np.zeros(batch, dtype=int), np.zeros((*batch, m), dtype=bool)
    for at, rows in parts:
        lengths = None if natural is None else natural[rows]
        own = block(M, at, at), Q[..., at], block(A, rows, at), b[..., rows], C[..., at]
        found = _completed(*own, tolerance, lengths)
        try:
            found = solve(*own, tolerance, lengths) if found is None else found
        except UndeterminedDirection:
            return None  # by all coordinates it can be named
        for name, values in forces.items():
            values[..., at] = getattr(found, name)
        for name, values in rows_of.items():
            values[..., rows] = getattr(found, name)
        dependent[..., rows] = found.dependent
        rank += found.rank.sum(axis=-1)
    singular = np.isnan(forces["unconstrained"]).any(axis=-1)  # some M of a part: then that of all
    forces["unconstrained"][singular] = np.nan
    return Fundamental(**forces, **rows_of, rank=rank, dependent=dependent, M=M, Q=Q, A=A, b=b, C=C)


def _completed(
    M: Array, Q: Array, A: Array, b: Array, C: Array, tolerance: float, natural: Array | None
) -> Fundamental | None:
    """Many small parts whose masses are singular, all at once: with A q̈ = b, M + AᵀA and Q + Aᵀb make the same motion
    by the same forces, and virtual displacements cannot tell one from the other. None where M is regular, where that
    does not make it so, or where constraints depend on each other, whose multipliers would be others.
    """
    scale = mass_scale(M)
    units = scale[..., :, None] * scale[..., None, :]
    if A.shape[-2] == 0 or _cholesky(M / units) is not None:
        return None
    length = np.sqrt(np.einsum("...ij,...ij->...i", A / scale[..., None, :], A / scale[..., None, :]))
    length = np.where(length > 0, length, 1.0)
    rows, wanted = A / length[..., None], b / length
    turned = np.swapaxes(rows, -1, -2)
    filled = M + turned @ rows
    if _cholesky(filled / units) is None:
        return None
    found = solve(filled, Q + _mul(turned, wanted), A, b, C, tolerance, natural)
    if (found.rank < A.shape[-2]).any():
        return None
    return replace(found, unconstrained=np.full_like(Q, np.nan), M=M, Q=Q)


def _each(M: Array, Q: Array, A: Array, b: Array, C: Array, tolerance: float) -> Fundamental:
    """A batch in which some M is singular: one by one, each by the way that fits it."""
    if M.ndim == 2:
        return on_null_space(M, Q, A, b, C, tolerance)
    parts = [solve(M[k], Q[k], A[k], b[k], C[k], tolerance) for k in range(M.shape[0])]
    names = (
        "acceleration",
        "unconstrained",
        "ideal",
        "nonideal",
        "multipliers",
        "rank",
        "dependent",
        "residual",
    )
    stacked: dict[str, Any] = {name: np.stack([getattr(part, name) for part in parts]) for name in names}
    return Fundamental(**stacked, M=M, Q=Q, A=A, b=b, C=C)


def on_null_space(M: Array, Q: Array, A: Array, b: Array, C: Array, tolerance: float = RANK_TOLERANCE) -> Fundamental:
    """One instant solved on the null space of A: for singular M, and as an independent check for regular M."""
    n = M.shape[0]
    scale = mass_scale(M)
    # Coordinates scaled by the root of their own mass, so that units do not decide what counts as massless.
    Ms, As = M / np.outer(scale, scale), A / scale
    Qs, Cs = Q / scale, C / scale
    directions, length = _unit_columns(As.T)
    U, sigma, Vt = np.linalg.svd(directions, full_matrices=True)
    rank = int(np.sum(sigma > tolerance))
    V1, N, T = U[:, :rank], U[:, rank:], Vt[:rank]
    x = V1 @ ((T @ (b / length)) / sigma[:rank])
    H = N.T @ Ms @ N
    eigenvalues, vectors = np.linalg.eigh((H + H.T) / 2)
    if eigenvalues.size and eigenvalues[0] <= MASS_TOLERANCE * n:
        raise UndeterminedDirection((N @ vectors[:, 0]) / scale, float(eigenvalues[0]))
    inverse = vectors / eigenvalues @ vectors.T
    x0 = x + N @ (inverse @ (N.T @ (Qs - Ms @ x)))
    # Refine once, for the same reason as in the regular case.
    x0 = x0 + N @ (inverse @ (N.T @ (Qs - Ms @ x0)))
    moved = N @ (inverse @ (N.T @ Cs))
    q2 = (x0 + moved) / scale
    ideal, nonideal = scale * (Ms @ x0 - Qs), scale * (Ms @ moved)
    reaction = Ms @ (x0 + moved) - Qs - Cs
    multipliers = T.T @ ((V1.T @ reaction) / sigma[:rank]) / length
    dependent = _dependent(directions, np.array(rank), tolerance)
    nothing = np.full(n, np.nan)
    reach = length * (np.linalg.norm(x0) + np.linalg.norm(moved) + np.linalg.norm(Qs))
    residual = _residual(A, b, q2, nothing, reach)
    return Fundamental(q2, nothing, ideal, nonideal, multipliers, np.array(rank), dependent, residual, M, Q, A, b, C)


class UndeterminedDirection(UndeterminedMotion):
    """Carries the direction in coordinates, so that a caller who knows their names can say it better."""

    def __init__(self, direction: Array, eigenvalue: float) -> None:
        self.direction = direction / np.max(np.abs(direction))
        self.eigenvalue = eigenvalue
        super().__init__(self.message([f"q{k + 1}" for k in range(direction.size)]))

    def __reduce__(self) -> tuple[Any, ...]:
        return UndeterminedDirection, (self.direction, self.eigenvalue)

    def message(self, names: Sequence[str]) -> str:
        parts = [f"{value:+.3g} {name}" for value, name in zip(self.direction, names, strict=True) if abs(value) > 1e-6]
        why = "has negative mass" if self.eigenvalue < -1e-9 else "carries no mass"
        return (
            f"the motion is not determined: the direction {' '.join(parts)} {why} and no constraint fixes it. "
            "Give it a mass, constrain it, or remove the coordinate."
        )


def _require_consistent(result: Fundamental) -> None:
    if result.residual.size and not np.all(result.residual <= CONSISTENCY_TOLERANCE):
        worst = np.unravel_index(int(np.argmax(result.residual)), result.residual.shape)
        where = f" of batch member {tuple(int(k) for k in worst[:-1])}" if len(worst) > 1 else ""
        raise InconsistentConstraints(
            "the constraints contradict each other: b is not in the range of A; "
            f"constraint {int(worst[-1]) + 1}{where} is missed by {float(result.residual[worst]):.2g} "
            "(relative residual). Remove or correct one of them."
        )
