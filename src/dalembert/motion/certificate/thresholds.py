"""What each measure of a certificate may reach."""

from __future__ import annotations


def thresholds(rtol: float, steps: int = 0) -> dict[str, float]:
    """What each measure may reach, from the tolerance of the integration and the number of its steps.

    Projection leaves rounding in position and velocity; without it, drift up to a hundred times the tolerance
    is what an accurate integration shows. Accelerations and forces come from algebra at a state, whatever the
    tolerance: rounding times the condition of A, which passes 1e6 only next to singular configurations.
    Energy gathers the error of all steps. Each may change the state by rtol of its size (the tolerance is a mean over
    the components: the largest of them by more), the energy by twice that share, and errors add up in one direction
    where a method loses energy with every step: ten tolerances for each step, of which a thousand are granted. A motion
    of very many steps is not granted more than a thousandth that way: nobody would call that kept.
    A repeated stretch is a few steps long; its ends carry the error of dense output, some ten tolerances. So do the
    velocities that are compared with the integral of the accelerations.
    """
    drift = min(max(100 * rtol, 1e-10), 1e-2)
    algebra = max(1e-8, min(10 * rtol, 1e-6))
    energy = min(max(1e4 * rtol, min(10 * steps * rtol, 1e-3), 1e-9), 5e-2)
    between = min(max(1e3 * rtol, 1e-8), 1e-2)
    return {
        "position": drift,
        "velocity": drift,
        "acceleration": algebra,
        "forces": algebra,
        "virtual_work": algebra,
        "gauss": algebra,
        "energy": energy,
        "contact": algebra,
        "repeat": between,
        "consistency": between,
        "impact": algebra,
    }
