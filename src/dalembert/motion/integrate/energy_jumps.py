"""Energies that jump where a kink is passed, which no motion here can do: they are refused before a run.

Where the mass of a moving thing jumps, at a place or at a time, its velocity has to jump as well; where a potential
jumps at a place, the force there is infinite. Between the jumps a run would look right and go on with wrong velocities.
`mass=` with `forces=` is another matter: M q̈ = Q is meant as it is written, and velocities are continuous.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.kinks import Kink, sides_of
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System
from dalembert.remember import remember

ENERGIES = {"kinetic": "the kinetic energy", "potential": "the potential energy", "lagrangian": "the Lagrangian"}
# What may jump at its kinks; abs, min and max do not.
JUMPING = (sp.Piecewise, sp.sign, sp.Heaviside)
# Relative to the energy. What is continuous differs by rounding, some 1e-15, or by that of constants written with few
# digits: such jumps are left to the certificate, which finds them in the energy balance.
JUMP = 1e-4
# States near which zeros of g are looked for, besides the initial one; and distances at which they are.
STATES, REACH = 3, np.concatenate([-np.logspace(3, -6, 200), [0.0], np.logspace(-6, 3, 200)])
HALVINGS = 80
KEPT = 64
_found: dict[Hashable, tuple[str, ...]] = {}


def require_continuous_energies(system: System) -> None:
    """Raise `ModelError` where an energy jumps."""
    energies = {
        name: value for name in ENERGIES if (value := getattr(system, name)) is not None and value.has(*JUMPING)
    }
    if not energies or system.functions:
        return
    values = tuple(sorted((s.name, float(value)) for s, value in system.parameters.items()))
    faults = remember(_found, (system.structure, values), lambda: tuple(_faults(system, energies)), KEPT)
    if faults:
        raise ModelError(system.name, faults)


def _faults(system: System, energies: Mapping[str, sp.Expr]) -> Iterator[str]:
    for name, energy in energies.items():
        switched, kinks = sides_of(energy)
        for kink in kinks:
            symbols = [s for s in kink.function.free_symbols if isinstance(s, Coordinate) or s == t]
            if any(isinstance(s, Coordinate) and s.order for s in symbols):
                continue  # momenta are continuous there, and with them velocities
            found = _Jump(system, switched, kinks, kink)
            if found.of_mass():
                yield (
                    f"{ENERGIES[name]} jumps where {kink.function} = 0: velocities would have to jump with the mass, "
                    "which is not computed. Let it change within a short stretch, by min and max, or give the "
                    "equations of motion by mass= and forces="
                )
            elif found.of_height() and symbols != [t]:
                yield (
                    f"{ENERGIES[name]} jumps where {kink.function} = 0: the force would be infinite there. Let it "
                    "change within a short stretch, by min and max"
                )


class _Jump:
    """How much an energy differs on the two sides of g = 0, at some states where that is so."""

    def __init__(self, system: System, switched: sp.Expr, kinks: tuple[Kink, ...], kink: Kink) -> None:
        chance = np.random.default_rng(0)
        one, two = (switched.xreplace(_sides(kinks, kink, side)) for side in (1, -1))
        g = kink.function.xreplace(_sides(kinks, kink, 0))
        self.n = len(system.coordinates)
        self.symbols = [*system.coordinates, t, *system.velocities]
        self.free = [k for k, symbol in enumerate(self.symbols) if symbol in g.free_symbols]
        known = {
            s: sp.Float(float(system.parameters.get(s, chance.uniform(0.5, 1.5)))) for s in system.parameter_symbols
        }
        self.run = numeric_function(self.symbols, [e.xreplace(known) for e in (g, one, two)])
        self.speeds = chance.uniform(0.5, 1.5, self.n)
        starts = [np.append(chance.normal(size=self.n), chance.uniform()) for _ in range(STATES)]
        if all(s in system.initial for s in system.coordinates) and len(system.parameters) == len(known):
            q, _, t0 = system.initial_values()
            starts.append(np.append(q, t0))
        self.starts, self.places = starts, [place for start in starts for place in self._places(start)]

    def of_mass(self) -> bool:
        return self._differs(lambda place: self._at(place, 1) + self._at(place, -1) - 2 * self._at(place, 0))

    def of_height(self) -> bool:
        return self._differs(lambda place: self._at(place, 0))

    def _differs(self, values: Callable[[Array], Array]) -> bool:
        size = max((float(np.abs(values(place)[1:]).max()) for place in (*self.starts, *self.places)), default=0.0)
        return any(abs(float(values(place)[1] - values(place)[2])) > JUMP * size for place in self.places)

    def _at(self, place: Array, speed: float) -> Array:
        """g and the energy on both sides (3,), or (3, T) at T places (n + 1, T); 0 where there is no value."""
        with np.errstate(all="ignore"):
            values = self.run(*place, *(speed * self.speeds))
        found = np.array([np.broadcast_to(np.asarray(value, dtype=float), place.shape[1:]) for value in values])
        return np.where(np.isfinite(found), found, 0.0)

    def _places(self, start: Array) -> Iterator[Array]:
        """Where g = 0 next to a state, along each of the variables it depends on."""
        for k in self.free:
            along = np.repeat(start[:, None], REACH.size, axis=1)
            along[k] += REACH
            signs = np.sign(self._at(along, 0)[0])
            for i in np.flatnonzero(signs[:-1] * signs[1:] <= 0)[:2]:
                low, high = along[:, i], along[:, i + 1]
                for _ in range(HALVINGS):
                    middle = (low + high) / 2
                    beyond = np.sign(self._at(middle, 0)[0]) == signs[i + 1]
                    low, high = (low, middle) if beyond else (middle, high)
                yield high


def _sides(kinks: tuple[Kink, ...], kink: Kink, side: int) -> dict[sp.Symbol, sp.Expr]:
    """The sides of all kinks: of one as given, of the others where they are. Those inside others come first."""
    found: dict[sp.Symbol, sp.Expr] = {kink.side: sp.Integer(side)}
    for other in kinks:
        if other is not kink:
            found[other.side] = sp.sign(other.function.xreplace(found))
    return found
