"""`Certificate`: what was measured of a motion, against what is allowed. `motion/certificate` measures it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from unicodedata import combining

from dalembert.results import Result, plain_values

#: Of motions with contacts only.
CONTACT_MEASURES = ("contact", "impact")
AT_POINTS = ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss")
MEASURES = (*AT_POINTS, "energy", *CONTACT_MEASURES, "repeat", "consistency")

MEANING = {
    "position": "position constraints φ = 0",
    "velocity": "velocity constraints φ̇ = 0, ψ = 0",
    "acceleration": "A q̈ = b",
    "forces": "M q̈ = sum of forces",
    "virtual_work": "virtual work of constraint forces",
    "gauss": "distance from the minimum of G",
    "energy": "energy balance",
    "contact": "laws of friction and contact",
    "repeat": "stretches integrated again",
    "impact": "laws of impacts",
    "consistency": "Δq̇ = ∫ q̈ dt between outputs",
}


@dataclass(frozen=True)
class Certificate(Result):
    """The largest relative residual of each kind along the motion, and whether all are below their thresholds.

    position, velocity: φ; φ̇ and ψ, relative to the gradient times the size of the state.
    acceleration: A q̈ − b (or h), relative to its terms.
    forces: M q̈ − Q − Q_i − Q_ni, and M q̈ − Q − C − Aᵀλ.
    virtual_work: Nᵀ(M q̈ − Q − C), Nᵀ Q_i and Nᵀ(Q_ni − C) on a basis N of null A.
    gauss: distance of q̈ from the minimiser of G_ni in the mass metric.
    energy: E(t) − E(0) − work of everything that is not potential; and the heat of friction: against the integral of
    friction times sliding velocity where outputs are dense and contacts do not change, and in all, where no surface
    moves by itself, against what friction and impacts took.
    contact: how far friction leaves its law (the cone where it sticks, μ|N| against the motion where it slips),
    reactions of one-sided constraints pull, or their gaps are negative.
    repeat: how far stretches between output points, integrated again from the laws by another method, end from the
    motion's own states; with contacts also pieces that begin or end with a change of contacts. A dozen of each are
    looked at, those that would need many steps not judged.
    consistency: Δq̇ − ∫ q̈ dt between neighbouring output points, where these are dense enough for a quadrature to judge;
    not with contacts, where friction turns faster than outputs show.
    impact: how far blows leave their laws: the jump of momentum, the cones, the direction of friction, restitution,
    an energy that does not grow, the sum of what they lose.
    unique: whether M and the constraints determine q̈ everywhere, and the reactions that friction depends on;
    undetermined: the constraints whose reactions they do not.
    """

    position: float
    velocity: float
    acceleration: float
    forces: float
    virtual_work: float
    gauss: float
    energy: float
    contact: float
    rank_min: int
    rank_max: int
    unique: bool
    holds: bool
    thresholds: dict[str, float] = field(default_factory=dict)
    repeat: float = 0.0  # not known of motions saved before it was measured
    consistency: float = 0.0  # nor this
    undetermined: tuple[str, ...] = ()
    impact: float = 0.0  # nor is this

    @property
    def failures(self) -> tuple[str, ...]:
        """The measures above their thresholds."""
        failed = [name for name, limit in self.thresholds.items() if not getattr(self, name) <= limit]
        return tuple(failed if self.unique else [*failed, "unique"])

    def text(self) -> str:
        """The verdict and every measure, one to a line."""
        lines = [f"certificate: {'holds' if self.holds else 'does not hold'}"]
        for name, limit in self.thresholds.items():
            value = getattr(self, name)
            beyond = "" if value <= limit else "  ✗"
            lines.append(f"  {_padded(MEANING[name])} {value:.1e}, allowed {limit:.0e}{beyond}")
        ranks = sorted({self.rank_min, self.rank_max})
        lines.append(f"  {_padded('rank of A')} {' … '.join(map(str, ranks))}")
        lines.append(f"  {_padded('acceleration unique')} {'yes' if self.unique else 'no  ✗'}")
        if self.undetermined:
            lines.append(f"  {_padded('reactions not determined')} {', '.join(self.undetermined)}")
        return "\n".join(lines)

    def headline(self) -> str:
        return "that holds" if self.holds else f"that does not hold: {', '.join(self.failures)}"

    def to_dict(self) -> dict[str, Any]:
        return {key: plain_values(value) for key, value in asdict(self).items()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Certificate:
        """One that was written as JSON, which has no tuples, and None for a measure that is no number."""
        measured: dict[str, Any] = {key: float("nan") if value is None else value for key, value in values.items()}
        return Certificate(**{**measured, "undetermined": tuple(values.get("undetermined", ()))})


def _padded(text: str) -> str:
    """To one width; dots over letters take none."""
    return text + " " * (35 - sum(not combining(letter) for letter in text))
