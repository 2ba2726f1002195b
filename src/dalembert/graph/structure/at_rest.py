"""A large system at rest, as sparse arrays: the potential with its slopes and curvatures, the masses, and what holds
the quantities together, constraints and definitions alike.

All instances of a template are evaluated in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.derive import Contribution
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.templates import Instance


@dataclass(frozen=True)
class _Group:
    """Instances of one template: their numbers among all, their quantities (nq, K), and what is given (ng, K)."""

    template: int
    numbers: np.ndarray
    quantities: np.ndarray
    given: Array


@dataclass(frozen=True)
class Held:
    """What must vanish: c, and its slopes G, a row for each constraint, then one for each definition d − f(z)."""

    c: Array
    G: Any


class AtRest:
    """A system of constraints on positions, whose forces at rest are its potential's, and loads that stay the same.

    z: all quantities, coordinates first. loads (n): forces on the coordinates.
    """

    def __init__(self, system: Structured, parameters: Array) -> None:
        self.system, self.p = system, parameters
        self._functions: dict[tuple[str, int], tuple[Contribution, Any]] = {}
        self.n, self.nz, self.m = system.coordinates, system.quantities, len(system.constraints)
        self._potential = self._groups(system.potential)
        self._kinetic = self._groups(system.kinetic)
        self._constraints = self._groups([instance for _, instance in system.constraints])
        defined = len(system.definitions) - system.rates_only
        self._definitions = self._groups(system.definitions[:defined])
        self._rates = self._groups(system.definitions[defined:])
        self._forces = self._groups([instance for _, instance in system.forces])
        self.loads: Array | None = self._loads()

    def _groups(self, instances: Sequence[Instance]) -> list[_Group]:
        by_template: dict[int, list[int]] = {}
        for k, instance in enumerate(instances):
            by_template.setdefault(instance.template, []).append(k)
        groups = []
        for template, numbers in by_template.items():
            own = [instances[k] for k in numbers]
            given = [[x if isinstance(x, float) else self.p[x] for x in one.given] for one in own]
            quantities = np.array([one.quantities for one in own], dtype=np.int64).reshape(len(own), -1)
            values = np.array(given, dtype=float).reshape(len(own), -1)
            groups.append(_Group(template, np.array(numbers), quantities.T, values.T))
        return groups

    def _values(self, role: str, groups: Iterable[_Group], z: Array) -> Iterator[tuple[_Group, dict[Any, Array]]]:
        """Of each group, all that is not zero everywhere, by target."""
        for group in groups:
            made, run = self._mapped(role, group)
            found = {target: np.full(group.numbers.size, value) for target, value in made.literal}
            if made.into:
                x, count = z[group.quantities], group.numbers.size
                values = run(x, np.zeros_like(x), group.given, np.zeros((1, count)))
                values = values if isinstance(values, tuple) else (values,)
                found |= {target: np.array(value).ravel() for target, value in zip(made.into, values, strict=True)}
            yield group, found

    def _mapped(self, role: str, group: _Group) -> tuple[Contribution, Any]:
        """What a template contributes, and its function for all instances of a group at once."""
        key = role, id(group)
        if key not in self._functions:
            made = self.system.derivatives.of(role, group.template)
            self._functions[key] = made, made.function.map(group.numbers.size)
        return self._functions[key]

    def _loads(self) -> Array | None:
        """Forces that are the same wherever the system rests; None where some are not."""
        loads = np.zeros(self.n)
        targets = np.array([target for target, _ in self.system.forces], dtype=np.int64)
        for group, values in self._values("at rest", self._forces, np.full(self.nz, np.nan)):
            if any(target[0] != "value" for target in values):
                return None  # it has slopes
            np.add.at(loads, targets[group.numbers], values.get(("value",), np.zeros(group.numbers.size)))
        return loads if np.isfinite(loads).all() else None

    def energy(self, z: Array) -> float:
        """V less T, which may be there at rest, and the work of loads."""
        parts = [values.get(("value",), np.zeros(1)).sum() for _, values in self._values("at rest", self._potential, z)]
        parts += [-values.get(("value",), np.zeros(1)).sum() for _, values in self._values("at rest", self._kinetic, z)]
        return float(sum(parts)) - float(self.loads @ z[: self.n] if self.loads is not None else 0.0)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """∂/∂z of the energy, and the sum of the sizes of its terms."""
        found, size = np.zeros(self.nz), np.zeros(self.nz)
        if self.loads is not None:
            found[: self.n] -= self.loads
            size[: self.n] += np.abs(self.loads)
        for sign, groups in ((1.0, self._potential), (-1.0, self._kinetic)):
            for group, values in self._values("at rest", groups, z):
                for target, value in values.items():
                    if target[0] == "slope":
                        np.add.at(found, group.quantities[target[1]], sign * value)
                        np.add.at(size, group.quantities[target[1]], np.abs(value))
        return found, size

    def curvature(self, z: Array, multipliers: Array) -> Any:
        """∂²/∂z² of the energy less what is held times its multipliers, (nz, nz)."""
        entries = _Entries()
        for sign, groups in ((1.0, self._potential), (-1.0, self._kinetic)):
            for group, values in self._values("at rest", groups, z):
                entries.add_curves(group, values, np.full(group.numbers.size, sign))
        for group, values in self._values("at rest", self._constraints, z):
            entries.add_curves(group, values, -multipliers[group.numbers])
        for group, values in self._values("at rest", self._definitions, z):
            entries.add_curves(group, values, multipliers[self.m + group.numbers])
        return entries.matrix(self.nz, self.nz)

    def masses(self, z: Array) -> Any:
        """∂²T/∂ż² (nz, nz): positive on displacements that the definitions allow."""
        entries = _Entries()
        for group, values in self._values("masses", self._kinetic, z):
            entries.add_curves(group, values, np.ones(group.numbers.size), "mass")
        return entries.matrix(self.nz, self.nz)

    def held(self, z: Array) -> Held:
        c, entries = np.zeros(self.m + self.nz - self.n), _Entries()
        for group, values in self._values("at rest", self._constraints, z):
            c[group.numbers] = values.get(("value",), 0.0)
            entries.add_slopes(group, group.numbers, values, 1.0)
        defined = self.nz - self.n - self.system.rates_only
        for group, values in self._values("at rest", self._definitions, z):
            rows = self.m + group.numbers
            c[rows] = z[self.n + group.numbers] - values.get(("value",), 0.0)
            entries.add_slopes(group, rows, values, -1.0)
        for group, values in self._values("placed rate definition", self._rates, z):
            entries.add_slopes(group, self.m + defined + group.numbers, values, -1.0)
        own = np.arange(self.n, self.nz)
        entries.add(self.m + own - self.n, own, np.ones(own.size))
        return Held(c, entries.matrix(c.size, self.nz))


class _Entries:
    """Entries of a sparse matrix, those at one place added up."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []
        self.values: list[Array] = []

    def add(self, rows: np.ndarray, columns: np.ndarray, values: Array) -> None:
        self.rows.append(rows)
        self.columns.append(columns)
        self.values.append(values)

    def add_curves(self, group: _Group, values: dict[Any, Array], weights: Array, name: str = "curve") -> None:
        for target, value in values.items():
            if target[0] == name:
                i, j = group.quantities[target[1]], group.quantities[target[2]]
                self.add(i, j, weights * value)
                if target[1] != target[2]:
                    self.add(j, i, weights * value)

    def add_slopes(self, group: _Group, rows: np.ndarray, values: dict[Any, Array], sign: float) -> None:
        for target, value in values.items():
            if target[0] == "slope":
                self.add(rows, group.quantities[target[1]], sign * value)

    def matrix(self, rows: int, columns: int) -> Any:
        from scipy.sparse import coo_array

        if not self.rows:
            return coo_array((rows, columns)).tocsr()
        where = np.concatenate(self.rows), np.concatenate(self.columns)
        return coo_array((np.concatenate(self.values), where), shape=(rows, columns)).tocsr()
