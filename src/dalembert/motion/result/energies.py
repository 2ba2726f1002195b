"""Energies and momenta along a motion, by name: `motion["kinetic"]`, `["potential"]`, `["L"]`, `["H"]`, `["p_x"]`.

    L = T − V      p = ∂L/∂q̇      H = q̇ᵀp − L      (11)–(14) of Somani 2019

Where a model gives L alone, T is its part of second degree in the velocities and −V that of degree zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.principles.hamilton import momentum_symbols
from dalembert.mechanics.principles.shared.powers_of_velocity import momenta_of, powers_of
from dalembert.mechanics.standard_form import lagrangian, quadratic
from dalembert.model.language.symbols import t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def energy_names(system: System) -> list[str]:
    """What can be asked for: T and V where the model says what they are."""
    system = system.expanded if system.lagrangian is not None else system
    known = ["kinetic", "potential"] if system.lagrangian is None or powers_of(system) is not None else []
    return [*known, "L", "H", *(p.name for p in momentum_symbols(system))]


def energy_along(motion: Motion, name: str) -> Array:
    """One of them at the output points."""
    system = motion.system.as_written
    if name == "H":
        return np.array(motion.energy)  # the energy of a motion is q̇ᵀp − L
    if system.lagrangian is not None or name not in ("kinetic", "potential", "L"):
        system = system.expanded  # what is differentiated is written out
    arguments = (*system.coordinates, *system.velocities, t, *system.parameter_symbols)
    wanted, known = _expression(system, name), system.defined
    parts = [(symbol, known.written(symbol)) for symbol in known.needed([wanted])]
    with np.errstate(all="ignore"):
        value = numeric_function(arguments, [wanted], parts)(
            *motion.q.T, *motion.v.T, motion.t, *system.parameter_values()
        )[0]
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), motion.t.shape))


def _expression(system: System, name: str) -> sp.Expr:
    if name == "L":
        return lagrangian(system)
    if name not in ("kinetic", "potential"):
        symbols = [p.name for p in momentum_symbols(system)]
        return momenta_of(system)[symbols.index(name)]
    if system.lagrangian is not None:
        powers = powers_of(system)
        assert powers is not None  # or the name would not be known
        return quadratic(powers.metric, system.velocities) / 2 if name == "kinetic" else -powers.rest
    if name == "potential":
        return system.potential if system.potential is not None else sp.S.Zero
    return system.kinetic if system.kinetic is not None else quadratic(system.mass, system.velocities) / 2
