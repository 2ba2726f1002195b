"""Which motions are made of legs. Without SymPy, so that others need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.model.system import System


def needs_legs(system: System) -> bool:
    """Whether a motion is made of legs, stick and slip or contact and flight, with other equations in each."""
    return bool(system.contacts) or any(constraint.one_sided for constraint in system.constraints)
