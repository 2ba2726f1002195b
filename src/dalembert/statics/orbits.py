"""With one coordinate: whether motions about a minimum of the potential come back with less energy, or with more.

Where the power of velocities is now positive, now negative, its sum over a whole swing decides (Poincaré's return map):
a swing that begins at rest at a distance a ends at rest at a distance a′ on the same side; it won energy where a′ > a.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from dalembert.errors import DalembertError
from dalembert.motion.state.evaluation import Evaluation
from dalembert.statics.statics import Balance, Statics

# Distances, in sizes of the coordinate: far enough for what is of fourth order, 1e-6 of a swing, to be seen; the lowest
# order is to decide, and does at both.
NEAR = (3e-2, 1e-2)
# What a swing wins or loses is seen where it is this share of it: integration keeps 1e-11.
SEEN, RTOL = 1e-9, 1e-13


def gains_of_swings(statics: Statics, at: Balance, frequency: float) -> tuple[float, ...]:
    """Of a swing on each side at each distance, (a′ − a)/a; 0 where it is not seen. Empty where one does not return."""
    evaluation = Evaluation(statics.system, statics.p)
    origin, size = float(at.q[0]), float(statics.sizes[0])

    def slope(_: float, y: np.ndarray) -> list[float]:
        # In units of the swing itself, so that no tolerance depends on others.
        place, speed = np.array([origin + scale * y[0]]), np.array([scale * frequency * y[1]])
        return [y[1], float(evaluation.solve(place, speed, 0.0).acceleration[0]) / (scale * frequency**2)]

    def back(time: float, y: np.ndarray) -> float:
        return float(y[1]) if time > np.pi / 2 else float(-side)  # not where it begins

    back.terminal = True  # type: ignore[attr-defined]
    gains = []
    for distance in NEAR:
        scale = distance * size
        for side in (1.0, -1.0):
            back.direction = -side  # type: ignore[attr-defined]
            try:
                swing = solve_ivp(slope, (0, 4 * np.pi), [side, 0.0], "DOP853", events=back, rtol=RTOL, atol=1e-15)
            except (DalembertError, ValueError):
                return ()
            if not swing.t_events[0].size:
                return ()
            gain = side * float(swing.y_events[0][0][0]) - 1
            gains.append(gain if abs(gain) > SEEN else 0.0)
    return tuple(gains)
