"""The numbers of a system by name, for closed forms that follow its parameters and initial state."""

from __future__ import annotations

from dalembert.model.system import System


def values(system: System) -> dict[str, float]:
    """Parameters, initial coordinates `x`, initial velocities `x'` and the initial time `t`, by name.

    >>> from dalembert.library.systems.pendulum import pendulum
    >>> values(pendulum(l=2.0))["l"]
    2.0
    """
    found = {s.name: float(p) for s, p in zip(system.parameter_symbols, system.parameter_values(), strict=True)}
    q, v, start = system.initial_values()
    for coordinate, position, velocity in zip(system.coordinates, q, v, strict=True):
        found |= {coordinate.name: float(position), coordinate.d.name: float(velocity)}
    return found | {"t": float(start)}
