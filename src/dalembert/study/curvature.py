"""How much the path of a motion bends, in the metric of the masses."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply
from dalembert.mechanics.principles.shared.powers_of_velocity import christoffel, powers_of, why_singular
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.language.symbols import t
from dalembert.motion.result.motion import Motion


def curvature(motion: Motion) -> Array:
    """Hertz's √K at the output points, K = |D²q/ds²|² = |w − (w·u)u|²/ṡ⁴ with lengths by M: w = q̈ + Γ^i_jk q̇_j q̇_k is
    the acceleration as the metric ds² = q̇ᵀM q̇ dt² sees it, u the unit tangent. NaN at rest.

    A particle of mass m on a path of curvature κ has κ/√m. With no forces it is what the constraints make necessary,
    the least there is (Hertz).

    >>> import dalembert as da
    >>> circle = da.library.pendulum(m=4.0, g=0.0, l=2.0, spin=1.0).simulate(1.0)
    >>> bool(abs(circle.curvature() - 1 / (4.0**0.5 * 2.0)).max() < 1e-9)
    True
    """
    system = motion.system.expanded
    powers = powers_of(system)
    if powers is None or any(t in entry.free_symbols for entry in powers.metric):
        raise DoesNotApply(
            f"{system.name}: curvature needs a kinetic energy quadratic in q' that is the same at all times"
        )
    reason = why_singular(system)
    if reason:
        raise DoesNotApply(f"{system.name}: curvature needs a metric: {reason}")
    n = len(system.coordinates)
    sampler = Sampler(standard_form(system))
    evaluate = sampler.function([*powers.metric, *christoffel(powers.metric, system, system.velocities)])
    found = np.full(motion.t.size, np.nan)
    for k, (q, v, a, time) in enumerate(zip(motion.q, motion.v, motion.a, motion.t, strict=True)):
        values = evaluate(Sample(q, v, float(time), system.parameter_values()))
        M, c = values[: n * n].reshape(n, n), values[n * n :]
        squared = float(v @ M @ v)
        if squared > 0:
            force = M @ a + c
            across = force - M @ v * float(force @ v) / squared
            found[k] = np.sqrt(max(float(across @ np.linalg.solve(M, across)), 0.0)) / squared
    return found
