"""Smooth laws of a system as they are written, those that act together in one: each takes a graph of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.model.friction.contact import works_of
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.model.friction.laws import Work
    from dalembert.motion.result.motion import Motion


def smooth_works(motion: Motion, heating: bool = False) -> Iterator[tuple[Evaluation, NDArray[np.bool_]]]:
    """Systems with some of the laws alone, and at which points these act (T,): where all their constraints do. heating:
    only laws that say what becomes heat.
    """
    system, T = motion.system, motion.t.size
    places = {constraint.name: k for k, constraint in enumerate(system.constraints)}
    groups: defaultdict[bytes, list[Work]] = defaultdict(list)
    for law, work in zip(system.nonideal, works_of(system), strict=True):
        if work is None or (heating and not work.heat):
            continue
        acts = np.ones(T, dtype=bool)
        if motion.acting is not None:
            acts = np.asarray(motion.acting[:, [places[name] for name in law.constraints]].all(axis=1))
        groups[acts.tobytes()].append(work)
    for key, works in groups.items():
        yield Evaluation(system.replace(nonideal=works)), np.frombuffer(key, dtype=bool)
