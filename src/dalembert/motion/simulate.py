"""`simulate`: the motion of a system from its initial state, with its forces and its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dalembert.motion.prepare import prepare
from dalembert.motion.result.motion import Motion

if TYPE_CHECKING:
    from dalembert.model.system import System


def simulate(
    system: System,
    duration: float | None,
    times: ArrayLike | None,
    options: Mapping[str, Any],
    events: Mapping[str, Any] | Iterable[Any] | None,
    progress: bool | None,
) -> Motion:
    """Integrate the motion from the initial state and certify it. `System.simulate` says what the options are."""
    return prepare(system, duration, times, options, events).run(progress=progress).motion()
