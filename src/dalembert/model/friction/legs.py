"""Which motions are made of legs. Without SymPy, so that others need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.model.system import System


def needs_legs(system: System) -> bool:
    """Whether a motion is made of legs, stick and slip or contact and flight, with other equations in each."""
    return bool(system.contacts) or any(constraint.one_sided for constraint in system.constraints)


# What a contact does, as `motion.events` names it.
CHANGES = ("stick", "slip", "reversal", "release", "impact", "contact")


def contact_changes(system: System) -> list[str]:
    """The names of what contacts may do: of any of them, "impact", and of each, "impact floor"."""
    if not needs_legs(system):
        return []
    one_sided = [constraint.name for constraint in system.constraints if constraint.one_sided]
    names = dict.fromkeys([*(contact.name for contact in system.contacts), *one_sided])
    return [*CHANGES, *(f"{change} {name}" for name in names for change in CHANGES)]
