"""Jacobi's functions and the elliptic integrals the closed forms need, all in the parameter m = k².

SciPy is imported inside: building a system must not wait for it.
"""

from __future__ import annotations

import numpy as np


def jacobi(u: np.ndarray, m: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """sn, cn, dn and the amplitude am of u, the last one continuous over any number of periods."""
    from scipy.special import ellipj

    return ellipj(u, m)


def first_kind(amplitude: np.ndarray | float, m: float) -> np.ndarray:
    """F(amplitude | m), the inverse of the amplitude."""
    from scipy.special import ellipkinc

    return ellipkinc(amplitude, m)


def third_kind(n: float, amplitude: np.ndarray | float, m: float) -> np.ndarray:
    """Π(n; amplitude | m) = ∫ dφ / ((1 − n sin²φ) √(1 − m sin²φ)), n < 1, at any amplitude.

    By Carlson's symmetric forms, and the complete integral for each half turn.
    """
    from scipy.special import elliprf, elliprj

    half_turns = np.round(np.asarray(amplitude) / np.pi)

    def within_half_turn(phi: np.ndarray | float) -> np.ndarray:
        s, c2 = np.sin(phi), np.cos(phi) ** 2
        delta2 = 1 - m * s**2
        return s * elliprf(c2, delta2, 1.0) + n / 3 * s**3 * elliprj(c2, delta2, 1.0, 1 - n * s**2)

    return 2 * half_turns * within_half_turn(np.pi / 2) + within_half_turn(amplitude - np.pi * half_turns)
