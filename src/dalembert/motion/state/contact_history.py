"""What contacts did along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array

STATES = ("slip", "stick", "open")


@dataclass(frozen=True, eq=False)
class ContactHistory:
    """A contact at the output points. state: "slip", "stick" or "open". normal: the physical reaction, signed where it
    is that of one constraint. friction: the size of the friction force.
    """

    state: np.ndarray
    normal: Array
    friction: Array


@dataclass(frozen=True, eq=False)
class Held:
    """C with all friction in it (T, n), which constraints act (T, m), and the contacts by name. multipliers: (T, m), of
    the choice inside the cones where forces are not determined, NaN elsewhere; None where they are everywhere.
    """

    C: Array
    acting: np.ndarray
    contacts: Mapping[str, ContactHistory]
    multipliers: Array | None
