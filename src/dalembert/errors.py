"""Every error this package raises on purpose: one base class, one class per cause.

`exit_status` is what the command line returns: 2 for bad input, 3 for a motion that could not be completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


class DalembertError(Exception):
    """Base of all errors of this package."""

    exit_status = 2


class ExpressionError(DalembertError):
    """An expression in the document language that cannot be read."""


class AmbiguousDerivative(DalembertError):
    """A derivative by time that would take what moves for constant, or that a model has no symbols for."""


class ModelError(DalembertError):
    """A model that cannot be a mechanical system. All faults found are in `faults`."""

    def __init__(self, where: str, faults: Sequence[str]) -> None:
        self.where = where
        self.faults = tuple(faults)
        if len(self.faults) == 1:
            text = f"{where}: {self.faults[0]}"
        else:
            text = f"{where}: {len(self.faults)} faults\n" + "\n".join(f"  - {fault}" for fault in self.faults)
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.where, self.faults)


class DocumentError(ModelError):
    """A model document (TOML) that cannot be read."""


class MissingValues(ModelError):
    """Parameters or initial values that were not given. They are never invented."""


class InconsistentState(DalembertError):
    """An initial state that violates a constraint."""


class InconsistentConstraints(DalembertError):
    """Constraints that cannot hold together: b is not in the range of A."""

    SAYS = "no acceleration satisfies the constraints together (b not in range of A"


class UndeterminedMotion(DalembertError):
    """The mass matrix leaves a direction free that no constraint determines."""


class UndefinedModel(DalembertError):
    """The model has no finite value at a state (a division by zero, a root of a negative number)."""


class DoesNotApply(DalembertError):
    """A formulation that says nothing about a system; `reason` says why."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.reason)


class BranchError(DalembertError):
    """A constraint nonlinear in the accelerations that has no solution, or no unique one of least G."""


class MotionFailed(DalembertError):
    """The integration stopped early. `motion` holds what was computed until then, if anything was."""

    exit_status = 3

    def __init__(self, message: str, motion: Motion | None = None) -> None:
        super().__init__(message)
        self.motion = motion


class BuildError(DalembertError):
    """The compiler refused a kernel, there is none, or the kernel would be too long for it."""


class OutputError(DalembertError):
    """A result could not be written."""


class ClusterError(DalembertError):
    """The machines that were to compute cannot be reached, are not fit for it, or were lost."""


def counted(count: int, noun: str) -> str:
    """A count with its noun, for messages.

    >>> counted(1, "state"), counted(0, "state"), counted(2, "more event")
    ('1 state', '0 states', '2 more events')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
