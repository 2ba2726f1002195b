"""What `classify` answers with: the kinds of constraints, freedoms, what is cyclic and what is conserved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dalembert.mechanics.classify.conserve import Conservation
from dalembert.results import Result


@dataclass(frozen=True)
class Kind(Result):
    """What kind of constraint one is.

    `dependence` on the velocities (on the accelerations for an acceleration constraint): "linear",
    "homogeneous" or "nonlinear"; `degree` where it is homogeneous. `catastatic`, `integrable`: None where the
    question has no answer or none was found. `integrated`: f where f(q, t) = constant says the same, obtained
    with `integrating_factor`.

    An acceleration constraint is `integrable` where it is the derivative of a constraint on velocities, ψ = c with the
    constant c of the motion; `velocity` is ψ. `reaches` is the lowest level at which the same can be said: "position"
    for what is integrable to the end.

    `root`: the constraint is a power of this expression, and all the rest is said of the root.

    `witness`: of a constraint linear in the velocities that is not integrable, Frobenius' condition with the value that
    it should not have, as `a·curl a = -1 ≠ 0`; the constraint itself is ω1, where there are several.
    `unless`: not integrable for functions in general, but for such special ones; then `integrable` is None.
    """

    name: str
    level: str
    rheonomic: bool
    catastatic: bool | None
    dependence: str
    degree: Fraction | None
    integrable: bool | None
    integrated: str | None = None
    integrating_factor: str | None = None
    reaches: str | None = None
    velocity: str | None = None
    root: str | None = None
    witness: str | None = None
    unless: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "degree": None if self.degree is None else float(self.degree)}

    def text(self) -> str:
        parts = [f"{self.level} level", "rheonomic" if self.rheonomic else "scleronomic"]
        if self.catastatic is not None:
            parts.append("catastatic" if self.catastatic else "acatastatic")
        if self.level != "position":
            what = "accelerations" if self.level == "acceleration" else "velocities"
            degree = f" of degree {self.degree}" if self.dependence == "homogeneous" else ""
            parts.append(f"{self.dependence}{degree} in the {what}")
            parts.append(self._verdict())
        text = f"{self.name}: {', '.join(parts)}"
        if self.velocity is not None:
            text += f": {self.velocity} = c"
        if self.integrated is not None:
            text += f"{':' if self.velocity is None else ','} {self.integrated} = constant"
        if self.integrating_factor:
            text += f" (integrating factor {self.integrating_factor})"
        return text + (f"; said of its root, {self.root} = 0" if self.root else "")

    def _verdict(self) -> str:
        if not self.integrable:
            shown = f" ({self.witness})" if self.witness else ""
            return verdict_of(self.integrable, self.unless) + shown
        if self.level == "acceleration":
            written = self.velocity is not None
            verdict = "integrable twice" if self.reaches == "position" else "integrable once"
        else:
            verdict, written = "integrable", self.integrated is not None
        return verdict if written else f"{verdict}, as random points show"


def verdict_of(integrable: bool | None, unless: str | None) -> str:
    """The words for a constraint that is not integrable, or not known to be."""
    if unless is not None:
        return f"not integrable in general, integrable where {unless}"
    return "integrability not decided" if integrable is None else "not integrable"


# So many constraints are named that hold a cyclic coordinate.
MOST_NAMED = 3


@dataclass(frozen=True)
class Classification(Result):
    """The classification of a system.

    `holonomic`: every constraint is integrable. `degrees_of_freedom`: n − rank A at a generic state that satisfies
    the constraints. `configuration_freedoms`: n − the number of independent position constraints, those in disguise
    included. `redundant`: constraints that follow from those before them. `integrals`: position constraints found
    in combinations of several constraints. `cyclic`: coordinates absent from L; `cyclic_held`: the constraints in
    which such a coordinate or its velocity stands all the same, by its name: they may change its momentum.
    `conservation`: what is conserved under all forces and constraints. `notes`: what else a reader should know.
    """

    system: str
    constraints: tuple[Kind, ...]
    holonomic: bool | None
    degrees_of_freedom: int | None
    configuration_freedoms: int | None
    redundant: tuple[str, ...]
    integrals: tuple[str, ...]
    cyclic: tuple[str, ...]
    conservation: Conservation
    notes: tuple[str, ...] = ()
    cyclic_held: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def cyclic_texts(self) -> list[str]:
        """Cyclic coordinates, with what holds them."""
        texts = []
        for name in self.cyclic:
            held = self.cyclic_held.get(name, ())
            more = f" and {len(held) - MOST_NAMED} more" if len(held) > MOST_NAMED else ""
            by = ", ".join(map(repr, held[:MOST_NAMED])) + more
            texts.append(f"{name} (absent from L, not from {by})" if held else name)
        return texts

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.system,
            "constraints": [kind.to_dict() for kind in self.constraints],
            "holonomic": self.holonomic,
            "degrees_of_freedom": self.degrees_of_freedom,
            "configuration_freedoms": self.configuration_freedoms,
            "redundant": list(self.redundant),
            "integrals": list(self.integrals),
            "cyclic": list(self.cyclic),
            "cyclic_held": {name: list(held) for name, held in self.cyclic_held.items()},
            **self.conservation.to_dict(),
            "notes": list(self.notes),
        }

    def text(self) -> str:
        verdict = {True: "holonomic", False: "nonholonomic", None: "holonomic or not: not decided"}
        lines = [f"{self.system}: {verdict[self.holonomic] if self.constraints else 'no constraints'}"]
        lines.append(f"  degrees of freedom: {_number(self.degrees_of_freedom)}")
        lines.append(f"  freedoms of configuration: {_number(self.configuration_freedoms)}")
        for title, items in (
            ("constraints", [str(kind) for kind in self.constraints]),
            ("position constraints hidden in combinations", [f"{f} = constant" for f in self.integrals]),
            ("redundant, following from those before", list(self.redundant)),
            ("cyclic coordinates", self.cyclic_texts()),
            ("conserved", [str(quantity) for quantity in self.conservation.quantities] or ["nothing found"]),
            ("notes", list(self.notes)),
        ):
            if items:
                lines += [f"  {title}:", *(f"    {item}" for item in items)]
        return "\n".join(lines)


def _number(value: int | None) -> str:
    return "not decided" if value is None else str(value)
