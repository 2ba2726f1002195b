"""What `system.equilibrium` answers: equilibria with their forces and stability, and ranges of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.results import Result, by_name, item_named, plain_values
from dalembert.statics.particles import reactions_on_particles
from dalembert.statics.stability import Stability


@dataclass(frozen=True)
class ContactForce:
    """Dry friction at rest: the reaction, the friction that holds (signed where it is along a line), and its limit."""

    normal: float
    friction: float
    limit: float

    @property
    def used(self) -> float:
        """The share of the possible friction that is needed; infinite where there is none."""
        if self.limit:
            return abs(self.friction) / self.limit
        return 0.0 if self.friction == 0 else float("inf")


@dataclass(frozen=True, eq=False)
class Equilibrium(Result):
    """A configuration at rest and all that keeps it there.

    system: as it was asked about, time frozen where it was given. q (n); multipliers (m): λ by constraint, zero where
    open; gradients (m, n): A, so that λ_k A_k is the generalized force of constraint k, sparse in large systems.
    nonideal (n): friction.
    determined: the reactions are the only ones possible; otherwise one choice among many, inside all cones.
    sizes (n): what counts as near in each coordinate is a share of this.
    margin: of a system with friction or one-sided constraints, how deep inside its cones the least safe contact is, as
    a share of the forces; None elsewhere. contacts: what friction does, by contact.
    """

    system: System
    q: Array
    multipliers: Array
    gradients: Array
    nonideal: Array
    determined: bool
    stability: Stability
    sizes: Array
    open: tuple[str, ...] = ()
    margin: float | None = None
    contacts: Mapping[str, ContactForce] | None = None

    @property
    def state(self) -> dict[str, float]:
        """The state by names, as `motion.final` has it, ready for `system.replace(initial=…)`."""
        q = self.system.coordinates
        return by_name(q, self.q) | by_name(q, np.zeros(len(q)), "'")

    def __getitem__(self, key: Any) -> float:
        return item_named(by_name(self.system.coordinates, self.q), key, "coordinate")

    @property
    def reactions(self) -> dict[str, float]:
        """λ of each constraint."""
        return by_name(self.system.constraints, self.multipliers)

    @property
    def forces(self) -> dict[str, Array]:
        """The generalized force of each constraint, (n,)."""
        rows: Any = self.gradients
        rows = rows.toarray() if is_large(self.system) and hasattr(rows, "toarray") else rows
        return {c.name: l * row for c, l, row in zip(self.system.constraints, self.multipliers, rows, strict=True)}

    @property
    def ideal(self) -> Array:
        """The generalized force of all constraints together, friction apart."""
        return np.asarray(self.gradients.T @ self.multipliers)

    @cached_property
    def on_particles(self) -> dict[str, Array]:
        """The reaction on each particle by liberation, (7.5) of Đukić 2012 at rest, under its name or named by its
        coordinates; empty where liberation does not apply, or would take too long.
        """
        if is_large(self.system):
            return {}
        return reactions_on_particles(self.system, self.q, self.open, self.multipliers)

    def to_dict(self) -> dict[str, Any]:
        names, s = [q.name for q in self.system.coordinates], self.stability
        found: dict[str, Any] = {
            "q": dict(zip(names, self.q, strict=True)),
            "multipliers": self.reactions,
            "ideal": dict(zip(names, self.ideal, strict=True)),
            "nonideal": dict(zip(names, self.nonideal, strict=True)),
            "particles": self.on_particles,
            "determined": self.determined,
            "stability": s.verdict,
            "decided_by": s.by,
            "curvatures": s.curvatures,
            "eigenvalues": [[z.real, z.imag] for z in s.eigenvalues],
            "frequencies": s.frequencies,
            "damped_frequencies": s.damped,
            "free_directions": s.free,
            "neutral_directions": list(s.neutral),
            "notes": list(s.notes),
        }
        if self.margin is not None:
            found["margin"], found["open"] = self.margin, list(self.open)
            found["contacts"] = {
                name: {"normal": c.normal, "friction": c.friction, "limit": c.limit}
                for name, c in (self.contacts or {}).items()
            }
        return {key: plain_values(value) for key, value in found.items()}

    def text(self) -> str:
        shown = np.where(np.abs(self.q) < 1e-13 * self.sizes, 0.0, self.q)  # rounding is no place
        place = ", ".join(f"{q.name} = {x:.8g}" for q, x in zip(self.system.coordinates, shown, strict=True))
        lines = [f"{place}: {self.stability.verdict} ({self.stability.by})"]
        if self.stability.frequencies.size:
            kind = "natural frequencies" if self.stability.verdict == "stable" else "linearised frequencies"
            lines.append(f"  {kind}: {_listed(self.stability.frequencies)}")
        if self.stability.damped.size:
            lines.append(f"  damped frequencies: {_listed(self.stability.damped)}")
        lines += [f"  {note}" for note in self.stability.notes]
        if self.stability.neutral:
            lines.append(f"  neutral (nothing changes along it): {', '.join(self.stability.neutral)}")
        if self.stability.free:
            lines.append(f"  directions that decide nothing: {self.stability.free}")
        for name, force in self.reactions.items():
            lines.append(f"  '{name}': " + ("open" if name in self.open else f"multiplier {force:.8g}"))
        for name, vector in self.on_particles.items():
            lines.append(f"  on ({name}): ({', '.join(f'{x:.8g}' for x in vector)})")
        for name, c in (self.contacts or {}).items():
            lines.append(f"  friction at '{name}': {c.friction:.8g} of at most {c.limit:.8g}, reaction {c.normal:.8g}")
        if not self.determined:
            lines.append("  statically indeterminate: these reactions are one choice among many")
        return "\n".join(lines)


def _listed(values: Array) -> str:
    return ", ".join(f"{x:.8g}" for x in values)


@dataclass(frozen=True)
class Range(Result):
    """Values of a coordinate or parameter at which the system can rest: intervals within `between`. ends: for each of
    them what gives way at its lower and upper end, or "end of search".
    """

    of: str
    between: tuple[float, float]
    intervals: tuple[tuple[float, float], ...]
    ends: tuple[tuple[str, str], ...]

    def __contains__(self, value: float) -> bool:
        return any(low <= value <= high for low, high in self.intervals)

    def to_dict(self) -> dict[str, Any]:
        return {"of": self.of, **{key: plain_values(getattr(self, key)) for key in ("between", "intervals", "ends")}}

    def text(self) -> str:
        low, high = self.between
        lines = [f"{self.of} from {low:.8g} to {high:.8g}: equilibrium is possible for"]
        for (a, b), (first, last) in zip(self.intervals, self.ends, strict=True):
            lines.append(f"  {a:.10g} … {b:.10g}   ({first}; {last})")
        return "\n".join(lines if self.intervals else [f"{lines[0]} no value"])


@dataclass(frozen=True, eq=False)
class Equilibria(Result):
    """The answer of `system.equilibrium`: those found, the one nearest to the guess first. Of a family without gaps, or
    held by the same friction, one is listed.

    reason: why none was found from the guess itself; tried: from how many configurations one was sought. range: where
    it was asked for.
    """

    system: System
    found: tuple[Equilibrium, ...]
    tried: int
    reason: str = ""
    range: Range | None = None

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, k: int) -> Equilibrium:
        if not self.found:
            raise IndexError(f"{self.system.name}: no equilibrium was found. {self.reason}")
        return self.found[k]

    @property
    def stable(self) -> tuple[Equilibrium, ...]:
        return tuple(e for e in self.found if e.stability.verdict in ("stable", "held", "rigid"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.system.name,
            "equilibria": [e.to_dict() for e in self.found],
            "tried": self.tried,
            "reason": self.reason,
            "range": None if self.range is None else self.range.to_dict(),
        }

    def text(self) -> str:
        count = "no equilibrium" if not self.found else f"{len(self.found)} equilibri{'um' if len(self) == 1 else 'a'}"
        lines = [f"{self.system.name}: {count} found from {self.tried} configuration{'s' if self.tried != 1 else ''}"]
        lines += [f"from the configuration given: {self.reason}"] if self.reason else []
        lines += [str(e) for e in self.found]
        lines += [str(self.range)] if self.range is not None else []
        return "\n".join(lines)
