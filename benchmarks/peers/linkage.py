"""The four-bar mechanism and the chain in joint angles, as engines for trees of bodies want them.

Crank k hinges at x = k, coupler k on the tip of crank k; loops close between the end of coupler k and the tip of
crank k + 1. The plane is x-z; angles are relative, positive from x towards z.
"""

from __future__ import annotations

import numpy as np
from problems import chain
from problems.base import Array
from problems.four_bar import SPEED, of_angles


def start(windows: int) -> tuple[Array, Array]:
    """Joint angles and rates, crank and coupler in turn: cranks upright, couplers level."""
    q = np.tile([np.pi / 2, -np.pi / 2], windows + 1)[: 2 * windows + 1]
    v = np.tile([-SPEED, SPEED], windows + 1)[: 2 * windows + 1]
    return q, v


def observe(q: Array) -> Array:
    """From the joint angles: the first and the last crank are joints of the ground."""
    return of_angles(q[0], q[-1])


def relative_chain(links: int) -> tuple[Array, Array]:
    """Relative angles of the chain and their rates."""
    angle, rate = chain.state(links)
    return np.diff(angle, prepend=0.0), np.diff(rate, prepend=0.0)
