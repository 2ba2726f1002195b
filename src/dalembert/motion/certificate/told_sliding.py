"""Whether sliding velocities agree with the changes that a motion tells: nothing slides at the instant at which it
stops, sets off or turns back, and along a line it slides the other way after each reversal, and only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.graph.contacts import contact_graph
from dalembert.graph.kinks import kink_graph
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.motion.certificate.stretches import rounding_of_times

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# The changes at which a contact is at rest for an instant.
AT_REST = ("stick", "slip", "reversal")
# What is at rest for an instant may be seen this much of its own largest sliding velocity away from that, and this much
# of the fastest velocities, where no output has seen it slide: slow slips are ended, and bounces left out; and on a
# surface that moves, what sticks drifts by some tolerances.
STILL, SLOWER, DRIFTS = 1e-3, 1e-5, 100.0
# States told of one instant are one state, but for rounding: of places and velocities this share.
ONE = 1e-9


def sliding_agrees(motion: Motion, slide: Array, resting: float) -> bool:
    """slide: the sliding velocities (T, components) at the output points; resting: the speed that counts as rest."""
    events = [event for event in motion.events if "contact" in event and "state" in event]
    if not events:
        return True
    names = [coordinate.name + mark for mark in ("", "'") for coordinate in motion.system.coordinates]
    y = np.array([[event["state"][name] for name in names] for event in events])
    t, what = np.array([event["t"] for event in events]), [event["name"] for event in events]
    # Blows change velocities at once, and where a law jumps, so may what slides.
    loud = {blow.t for blow in motion.blows} | {e["t"] for e in events if e["name"] not in AT_REST or "impulse" in e}
    silent = np.array([time not in loud for time in t.tolist()])
    if not _are_one_state(motion, t, y, silent):
        return False
    if not motion.system.contacts or kink_graph(motion.system) is not None:
        return True
    at_changes = _slides_of(motion, t, y)
    return (
        _rest_for_an_instant(motion, events, silent, slide, at_changes)
        and _slide_between(motion, events, silent, at_changes, resting)
        and _turn_back(motion, t, what, events, slide, resting)
    )


def _are_one_state(motion: Motion, t: Array, y: Array, silent: np.ndarray) -> bool:
    """Whether what is told of one instant has one place, and where nothing strikes one velocity."""
    n = motion.q.shape[1]
    again = np.flatnonzero(np.diff(t) == 0.0)
    apart = np.abs(y[again + 1] - y[again])
    near = [ONE * max(largest(part), 1e-300) for part in (motion.q, motion.v)]
    return not ((apart[:, :n] > near[0]).any() or (apart[silent[again], n:] > near[1]).any())


def _slides_of(motion: Motion, t: Array, y: Array) -> Array:
    """The sliding velocities (P, components) at some states."""
    graph, n = contact_graph(motion.system), motion.q.shape[1]
    none, p = np.zeros((t.size, n)), motion.system.parameter_values()
    multipliers = np.zeros((t.size, motion.multipliers.shape[1]))
    return contact_states(graph, y[:, :n], y[:, n:], none, t, p, multipliers).slide


def _rest_for_an_instant(
    motion: Motion, events: list[Mapping[str, Any]], silent: np.ndarray, slide: Array, at_changes: Array
) -> bool:
    """Whether what changes is at rest just then."""
    numbers = {contact.name: k for k, contact in enumerate(motion.system.contacts)}
    components = contact_graph(motion.system).components
    slow = max(SLOWER, DRIFTS * motion.rtol) * max(largest(motion.v), _mean_speed(motion, events))
    for own, event, quiet in zip(at_changes, events, silent.tolist(), strict=True):
        if quiet and event["contact"] in numbers:
            at = components[numbers[event["contact"]]]
            seen = max(largest(slide[:, at]), largest(at_changes[:, at]))
            if largest(own[at]) > max(STILL * seen, slow):
                return False
    return True


def _mean_speed(motion: Motion, events: list[Mapping[str, Any]]) -> float:
    """The largest between outputs and changes: these may all be at rest, however fast the motion was meanwhile."""
    names = [coordinate.name for coordinate in motion.system.coordinates]
    t = np.concatenate([motion.t, [event["t"] for event in events]])
    q = np.concatenate([motion.q, [[event["state"][name] for name in names] for event in events]])
    order = np.argsort(t, kind="stable")
    took = np.diff(t[order])
    apart = took > rounding_of_times(motion.t)
    return largest(np.diff(q[order], axis=0)[apart] / took[apart, None])


def _slide_between(
    motion: Motion, events: list[Mapping[str, Any]], silent: np.ndarray, at_changes: Array, resting: float
) -> bool:
    """Whether what is told to slip while others change does not rest just then."""
    outputs, times = motion.t.searchsorted([event["t"] for event in events]) - 1, [event["t"] for event in events]
    for contact, at in zip(motion.system.contacts, contact_graph(motion.system).components, strict=True):
        own, state = {contact.name, *contact.constraints}, motion.contacts[contact.name].state
        changes = {event["t"] for event in events if event["contact"] in own}
        last: tuple[float, str] = (-np.inf, "")
        for k, event in enumerate(events):
            before = int(outputs[k])
            if event["contact"] in own:
                last = times[k], event["name"]
            elif silent[k] and times[k] not in changes and before >= 0:
                told = last[1] in ("slip", "reversal") if last[0] >= motion.t[before] else state[before] == "slip"
                if told and largest(at_changes[k, at]) <= resting:
                    return False
    return True


def _turn_back(
    motion: Motion, t: Array, what: list[str], events: list[Mapping[str, Any]], slide: Array, resting: float
) -> bool:
    """Whether contacts along a line slide the same way at two outputs in a row, where an even number of reversals, and
    nothing else, is told of them between, and the other way where it is an odd one.
    """
    near = rounding_of_times(motion.t)
    struck = np.array(sorted(blow.t for blow in motion.blows))
    for contact, at in zip(motion.system.contacts, contact_graph(motion.system).components, strict=True):
        if at.stop - at.start > 1:
            continue
        own = {contact.name, *contact.constraints}
        told = np.array([event["contact"] in own for event in events], dtype=bool)
        turned = told & np.array([name == "reversal" for name in what])
        u, slips = slide[:, at.start], motion.contacts[contact.name].state == "slip"
        clear = slips & (np.abs(u) > resting)
        # An output at the very time of a change may belong to either side.
        for times in (t[told], struck):
            clear &= times.searchsorted(motion.t - near) == times.searchsorted(motion.t + near, side="right")
        turns, others, blows = (
            np.diff(times.searchsorted(motion.t)) for times in (t[turned], t[told & ~turned], struck)
        )
        asked = clear[1:] & clear[:-1] & (others == 0) & (blows == 0)
        same = u[1:] * u[:-1] > 0.0
        if (asked & (same != (turns % 2 == 0))).any():
            return False
    return True
