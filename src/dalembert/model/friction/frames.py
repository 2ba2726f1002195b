"""Which coordinates are Cartesian, read off the inertia.

The kinetic energy of a particle is m(ẋ² + ẏ² + ż²)/2: two or three coordinates that stand side by side, with one mass
and no coupling among them, are taken for the Cartesian coordinates of a body. Coordinates of a chain of links or of a
polar description never look like that; an angle does only where its moment of inertia equals the mass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import sympy as sp

from dalembert.model.language.multiply_out import multiplied_out
from dalembert.model.language.symbols import Coordinate

Inertia: TypeAlias = sp.Expr | sp.ImmutableMatrix  # the kinetic energy, the Lagrangian, or the mass matrix


@dataclass(frozen=True)
class Frames:
    """`bodies`: coordinates that are Cartesian, together two or three for each body. `crowds`: more than three in a
    row of one mass, which could be several bodies in several ways. `others`: the rest.
    """

    bodies: tuple[tuple[Coordinate, ...], ...]
    crowds: tuple[tuple[Coordinate, ...], ...]
    others: tuple[Coordinate, ...]


def inertia_of(kinetic: sp.Expr | None, lagrangian: sp.Expr | None, mass: sp.ImmutableMatrix | None) -> Inertia | None:
    """The one that is given."""
    return next((given for given in (kinetic, lagrangian, mass) if given is not None), None)


@lru_cache(maxsize=64)  # a study makes the same system again and again, with other values
def frames_of(inertia: Inertia, coordinates: tuple[Coordinate, ...]) -> Frames:
    """The Cartesian coordinates of a system."""
    mass = _Mass(inertia, coordinates)
    runs: list[list[Coordinate]] = []
    for q in coordinates:
        if runs and all(mass.alike(other, q) for other in runs[-1]):
            runs[-1].append(q)
        else:
            runs.append([q])
    groups = [tuple(run) for run in runs]
    return Frames(
        tuple(group for group in groups if len(group) in (2, 3)),
        tuple(group for group in groups if len(group) > 3),
        tuple(group[0] for group in groups if len(group) == 1),
    )


def are_cartesian(
    inertia: Inertia, coordinates: tuple[Coordinate, ...], bodies: Sequence[tuple[Coordinate, ...]]
) -> bool:
    """Whether the coordinates of each of these bodies could be Cartesian."""
    mass = _Mass(inertia, coordinates)
    return all(mass.alike(body[0], other) for body in bodies for other in body[1:])


@lru_cache(maxsize=64)
def of_one_mass(inertia: Inertia, coordinates: tuple[Coordinate, ...]) -> tuple[tuple[Coordinate, ...], ...]:
    """All coordinates in groups of one mass without coupling, wherever they stand: those of a body are in one of them,
    though not alone.
    """
    mass, groups = _Mass(inertia, coordinates), list[list[Coordinate]]()
    for q in coordinates:
        own = next((group for group in groups if all(mass.alike(other, q) for other in group)), None)
        if own is None:
            groups.append([q])
        else:
            own.append(q)
    return tuple(map(tuple, groups))


@lru_cache(maxsize=64)
def mass_of(inertia: Inertia, coordinates: tuple[Coordinate, ...], q: Coordinate) -> sp.Expr:
    """The diagonal entry of the mass matrix that belongs to a coordinate."""
    return _Mass(inertia, coordinates).entry(q, q)


class _Mass:
    """Entries of the mass matrix, each computed when it is asked for."""

    def __init__(self, inertia: Inertia, coordinates: tuple[Coordinate, ...]) -> None:
        self.inertia, self.coordinates = inertia, coordinates
        self.momenta: dict[Coordinate, sp.Expr] = {}
        self.masses: dict[Coordinate, sp.Expr] = {}
        # The energy of many bodies is a long sum, of which each coordinate is in a few terms.
        self.terms: defaultdict[sp.Symbol, list[sp.Expr]] = defaultdict(list)
        for term in sp.Add.make_args(inertia) if isinstance(inertia, sp.Expr) else ():
            for symbol in term.free_symbols:
                self.terms[symbol].append(term)

    def entry(self, one: Coordinate, other: Coordinate) -> sp.Expr:
        if isinstance(self.inertia, sp.MatrixBase):
            return self.inertia[self.coordinates.index(one), self.coordinates.index(other)]
        if one not in self.momenta:
            self.momenta[one] = sp.diff(sp.Add(*self.terms[one.d]), one.d)
        if other.d not in self.momenta[one].free_symbols:
            return sp.S.Zero
        return multiplied_out(sp.diff(self.momenta[one], other.d))

    def own(self, q: Coordinate) -> sp.Expr:
        """The entry on the diagonal: of many bodies, each is compared with all."""
        if q not in self.masses:
            self.masses[q] = self.entry(q, q)
        return self.masses[q]

    def alike(self, one: Coordinate, other: Coordinate) -> bool:
        """Whether two coordinates have one mass that depends on neither, and no coupling."""
        mass, second = self.own(one), self.own(other)
        return bool(
            mass != 0
            and mass.free_symbols.isdisjoint((one, other))
            and self.entry(one, other) == 0
            and (mass == second or sp.expand(mass - second) == 0)
        )
