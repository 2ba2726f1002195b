"""The free motion beside a motion: what the system would do at each instant without its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def free_along(motion: Motion) -> tuple[Array, Array]:
    """a = M⁻¹Q (T, n), NaN where M is singular, and e = b − A a (T, m), zero for constraints that are open: how hard
    the constraints must work (Udwadia and Kalaba 1993).
    """
    M, Q, A, b = Evaluation(motion.system).dynamics_along(motion.q, motion.v, motion.t)
    free = np.full_like(Q, np.nan)
    for k in range(motion.t.size):
        if np.linalg.matrix_rank(M[k], hermitian=True) == M.shape[1]:
            free[k] = np.linalg.solve(M[k], Q[k])
    e = b - np.einsum("tij,tj->ti", A, free)
    return free, e if motion.acting is None else np.where(motion.acting, e, 0.0)
