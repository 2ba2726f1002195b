"""`simulate`: the motion of a system from its initial state, with its forces and its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dalembert.kernel.waited import working_time
from dalembert.motion.large import size
from dalembert.motion.prepare import KEPT, hashable_key, prepare
from dalembert.motion.result.motion import Motion
from dalembert.remember import remember

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
    if len(system.coordinates) >= size.LARGE:
        from dalembert.motion.large.prepare import prepare_large  # needs SymPy

        return prepare_large(system, duration, times, options, events).run(progress=progress).motion()
    if times is not None or events is not None:
        return prepare(system, duration, times, options, events).run(progress=progress).motion()
    started = working_time()
    # The system made ready is kept with it: it is run again with most options.
    kept, key = system.kept, hashable_key("prepared", duration, options)
    made = partial(prepare, system, duration, None, options)
    prepared = made() if key is None else remember(kept, key, made, KEPT)
    return prepared.run_after(working_time() - started, progress=progress).motion()
