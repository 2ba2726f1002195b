"""Which mode a system with contacts takes at a state: the one whose own solution agrees with its assumptions.

A contact at rest sticks while the force that holds it lies within the cone of friction; otherwise it slips the way its
own acceleration goes. A reaction has the sign that was assumed for it. A closed one-sided constraint pushes, an open
one moves apart. These are conditions of complementarity: of each pair one holds with equality. They are solved for all
contacts together by pivoting from the last mode: what contradicts its assumption changes over, all at once, and one by
one, the first in order, where that comes back to where it was (Murty's rule, which ends where the solution is unique).

Friction that changes the reactions on which it depends may leave no solution, or several: what Painlevé found. Where it
does so to an extent that allows that, all combinations are looked through.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, InconsistentConstraints, UndeterminedMotion
from dalembert.motion.contacts.decide.agreement import (
    AGREES,
    Objection,
    agrees,
    goes_on,
    held_by_others,
    lengths,
    moment_at,
    objections,
    rate_of,
    state_after,
)
from dalembert.motion.contacts.decide.combinations import count_options, every_mode
from dalembert.motion.contacts.decide.coupling import friction_may_be_ambiguous
from dalembert.motion.contacts.decide.sifting import not_clearly_wrong
from dalembert.motion.contacts.decide.spare import shared_rows
from dalembert.motion.contacts.decide.undetermined import Giving, smallest_within_cones, within_cones
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode, ModeSolution
from dalembert.motion.contacts.modes.scale import Scale

# Velocities below this share of the fastest ones of the motion so far count as rest.
REST = 1e-9
# A reaction below this share of the forces, a moment later, pulls: far above rounding, and what forces change by in a
# moment is a thousand times more.
PULLS = 1e-9
# So often the direction is improved in which a contact on a surface breaks away.
MOST_TURNS = 100
# Changes of mode before pivoting is given up, and how many more for each contact.
MOST_PIVOTS = 40
# Up to this many combinations are looked through where friction may leave none or several.
MOST_COMBINATIONS = 3000


@dataclass
class Rest:
    """What counts as rest, and what must not rest now."""

    speed: float = 0.0  # the largest sliding speed so far
    leaving: set[int] = field(default_factory=set)  # contacts that break away
    pushes: dict[int, int] = field(default_factory=dict)  # signs of reactions that have just turned
    opening: set[int] = field(default_factory=set)  # one-sided constraints that let go
    given: Mode | None = None  # the mode with undetermined forces that has just given way
    loose: bool = False  # nothing closes that need not, if that can be


@dataclass(frozen=True)
class Situation:
    """A state whose mode is wanted. stopped: contacts at rest; touching: one-sided constraints that may be closed.
    frames: directions in tangent planes that fit here; slide: the sliding velocities along them.
    """

    contacts: Contacts
    scale: Scale
    t: float
    q: Array
    v: Array
    rest: Rest
    stopped: frozenset[int]
    touching: frozenset[int]
    frames: tuple[float, ...]
    slide: Array

    @property
    def name(self) -> str:
        return self.contacts.system.name


Decision = tuple[Mode, ModeSolution, Array]


def decide(
    contacts: Contacts,
    scale: Scale,
    t: float,
    q: Array,
    v: Array,
    rest: Rest,
    stopped: set[int],
    touching: set[int],
    last: Mode | None = None,
    guess: Mode | None = None,
) -> Decision:
    """The mode at a state, its instant, and the velocity with which it begins. last: the mode before; guess: the one
    that is tried first, where something is known of it.
    """
    frames = contacts.frames_at(q, v, t)
    slide = contacts.at(q, v, t, frames=frames).slide
    here = Situation(contacts, scale, t, q, v, rest, frozenset(stopped), frozenset(touching), frames, slide)
    found: Decision | None = None
    trouble: DalembertError | None = None
    if rest.loose:
        try:
            found = _pivoted(here, _all_open(here), last is not None)
        except DalembertError:
            found = None
        if found is not None:
            return found
    try:
        found = _pivoted(here, guess or _first_guess(here, last), last is not None)
    except DalembertError as error:
        trouble = error
    if found is not None and not friction_may_be_ambiguous(contacts, *found[:2], q, found[2], t, touching):
        return found
    if count_options(here) > MOST_COMBINATIONS:
        if found is None:
            raise _none(here, trouble)
        return found
    return _looked_through(here, found, trouble)


def solve_mode(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
    """The instant in a mode, its forces inside the cones of friction where they are not determined."""
    if mode.undetermined:
        return smallest_within_cones(contacts, mode, q, v, t)
    solution = contacts.solve(mode, q, v, t)
    if solution.redundant and STICK in mode.states:
        inside = within_cones(contacts, mode, solution, q, v, t)
        if isinstance(inside, ModeSolution):
            return inside
    return solution


# -- by pivoting


def _first_guess(here: Situation, last: Mode | None) -> Mode:
    """As before; what has stopped sticks, what touches is closed."""
    contacts, rest = here.contacts, here.rest
    closed = tuple(j in here.touching and j not in rest.opening for j in range(len(contacts.one_sided)))
    states, directions, pushes = [], [], []
    for k in range(len(contacts.contacts)):
        carrier, at = contacts.carrier[k], contacts.components[k]
        line = at.stop - at.start == 1
        moving = int(np.sign(here.slide[at][0])) or 1 if line else 0
        push = rest.pushes.get(k, 1 if last is None or carrier is not None else last.pushes[k])
        if carrier is not None and not closed[carrier]:
            states.append(OPEN)
        elif k in here.stopped and k not in rest.leaving:
            states.append(STICK)
        else:
            states.append(SLIP)
        directions.append(moving if states[-1] == SLIP else 1)
        pushes.append(push if states[-1] == SLIP else 1)
    mode = Mode(tuple(states), tuple(directions), tuple(pushes), closed, here.frames)
    return _leaving(here, mode, last)


def _all_open(here: Situation) -> Mode:
    """What must close is closed from there on."""
    contacts = here.contacts
    first = _first_guess(here, None)
    states = tuple(
        state if carrier is None else OPEN for state, carrier in zip(first.states, contacts.carrier, strict=True)
    )
    return replace(first, states=states, closed=(False,) * len(contacts.one_sided))


def _leaving(here: Situation, mode: Mode, last: Mode | None) -> Mode:
    """What breaks away along a line goes against the force that held it; its reaction keeps its sign."""
    for k in sorted(here.rest.leaving):
        held = replace(mode, states=_put(mode.states, k, STICK))
        try:
            s = here.contacts.solve(held, here.q, here.v, here.t)
        except DalembertError:
            continue
        at = here.contacts.components[k]
        mode = replace(mode, pushes=_put(mode.pushes, k, _push(here, s, k)))
        if at.stop - at.start == 1:
            mode = replace(mode, directions=_put(mode.directions, k, -int(np.sign(s.friction[at][0])) or 1))
    return mode


def _pivoted(here: Situation, mode: Mode, under_way: bool) -> Decision | None:
    """The solution, where pivoting from a mode ends. under_way: the motion has begun; one that begins just at a limit
    sticks, and its event says when it leaves.
    """
    ways: dict[int, Array] = {}  # in which contacts on surfaces set off, as far as known
    seen: set[Mode] = set()
    careful = False
    released: set[int] = set()  # contacts whose cones were left
    again: set[int] = set()  # those of them that stick once more, since others have come to hold them
    for _ in range(MOST_PIVOTS + 4 * len(here.contacts.contacts)):
        careful |= mode in seen
        seen.add(mode)
        begin = set_off(here, mode, ways)
        s = here.contacts.solve(mode, here.q, begin, here.t)
        given = here.rest.given is not None and mode.does_as(here.rest.given)
        redundant = s.redundant and STICK in mode.states
        inside = within_cones(here.contacts, mode, s, here.q, begin, here.t, given) if redundant else None
        if isinstance(inside, Giving):
            ways |= inside.ways
            released |= set(inside.ways)
            if not inside.ways:
                return None
            for k in inside.ways:
                mode = _slipping(here, mode, s, k, inside.ways[k])
            continue
        s = s if inside is None else inside
        sure = released | here.rest.leaving
        wrong = objections(here.contacts, mode, s, here.stopped, here.touching, here.rest.opening, sure)
        if not wrong:
            wrong = held_by_others(here.contacts, mode, s, here.stopped - here.rest.leaving - again)
            again |= released & {k for _, k in wrong}
        if not wrong:
            wrong = _about_to_leave(here, mode, s, begin) if under_way else []
            if not wrong:
                held = _held_after_all(here, mode, s, released, ways, under_way)
                if held is None or held in seen:
                    return mode, s, begin
                mode = held
                continue
        released |= {k for kind, k in wrong if kind == "cone"}
        for objection in wrong[:1] if careful else wrong:
            mode = _changed(here, mode, s, objection, ways)
    return None


def _held_after_all(
    here: Situation, mode: Mode, s: ModeSolution, released: set[int], ways: dict[int, Array], under_way: bool
) -> Mode | None:
    """The mode in which one more contact sticks: static friction holds what it can hold, and what has pushed a contact
    off its cone while modes were tried may have opened since. Only where static friction is larger than sliding one can
    both be.
    """
    larger = s.mu_static > s.mu * (1.0 + AGREES)
    if here.rest.given is not None or not larger.any():
        return None
    for k in sorted(released & here.stopped - here.rest.leaving):
        if mode.states[k] != SLIP or not larger[k]:
            continue
        trial = replace(mode, states=_put(mode.states, k, STICK), directions=_put(mode.directions, k, 1))
        trial = replace(trial, pushes=_put(trial.pushes, k, 1))
        try:
            begin = set_off(here, trial, dict(ways))
            then = here.contacts.solve(trial, here.q, begin, here.t)
        except DalembertError:
            continue
        inside = within_cones(here.contacts, trial, then, here.q, begin, here.t) if then.redundant else None
        if isinstance(inside, Giving):
            continue
        then = then if inside is None else inside
        sure = released - {k} | here.rest.leaving
        wrong = objections(here.contacts, trial, then, here.stopped, here.touching, here.rest.opening, sure)
        if not wrong and not (under_way and _about_to_leave(here, trial, then, begin)):
            return trial
    return None


def _about_to_leave(here: Situation, mode: Mode, s: ModeSolution, begin: Array) -> list[Objection]:
    """Contacts at the limit of their cones, but for rounding, that are beyond it a moment later: they slip now; and
    one-sided constraints that carry nothing now and would pull then: they open. No event would tell, for a function
    that begins beyond zero does not pass it.
    """
    over, carried, force = _excess(here, mode, s), _carried(here, mode, s), s.force_size
    near = [k for k, excess in over.items() if excess > -AGREES]
    loose = [j for j, load in carried.items() if abs(load) <= AGREES * force]
    if s.undetermined and (near or loose):  # which says nothing of forces that are one choice
        contacts, shared = here.contacts, shared_rows(s.solution.A)
        rows = {k: [contacts.rows[contacts.contacts[k].constraints[0]], *contacts.stick_rows(k)] for k in near}
        near = [k for k in near if shared.isdisjoint(rows[k])]
        loose = [j for j in loose if contacts.one_sided[j] not in shared]
    if not (near or loose):
        return []
    moment = moment_at(here.scale, here.q, begin, s.solution)
    later, faster = state_after(here.q, begin, s.acceleration, moment)
    try:
        then = here.contacts.solve(mode, later, faster, here.t + moment)
    except DalembertError:
        return []
    slips, pulls = _excess(here, mode, then), _carried(here, mode, then)
    found: list[Objection] = [("cone", k) for k in near if slips[k] > max(over[k], 0.0)]
    return found + [("open", j) for j in loose if pulls[j] < min(carried[j], -PULLS * force)]


def _carried(here: Situation, mode: Mode, s: ModeSolution) -> dict[int, float]:
    """The force of each one-sided constraint that is closed, negative where it pulls."""
    rows = here.contacts.one_sided
    return {j: float(s.steep[rows[j]] * s.multipliers[rows[j]]) for j, shut in enumerate(mode.closed) if shut}


def _excess(here: Situation, mode: Mode, s: ModeSolution) -> dict[int, float]:
    """By how much each contact that sticks is beyond its cone, as a share of its limit."""
    held, limits = lengths(here.contacts, s.friction), (s.mu_static * np.abs(s.normal)).tolist()
    return {
        k: force / limit - 1.0
        for k, (force, limit) in enumerate(zip(held, limits, strict=True))
        if mode.states[k] == STICK and limit > 0
    }


def _changed(here: Situation, mode: Mode, s: ModeSolution, objection: Objection, ways: dict[int, Array]) -> Mode:
    """The mode with one assumption changed over."""
    kind, k = objection
    if kind == "cone":
        f = s.friction[here.contacts.components[k]]
        ways[k] = -f / max(float(np.linalg.norm(f)), 1e-300)
        return _slipping(here, mode, s, k, ways[k])
    if kind == "push":
        return replace(mode, pushes=_put(mode.pushes, k, -mode.pushes[k]))
    if kind == "way":
        if k in here.rest.leaving:
            ways.pop(k, None)
            return replace(mode, directions=_put(mode.directions, k, -mode.directions[k]))
        return replace(mode, states=_put(mode.states, k, STICK))
    shut = kind == "close"
    mode = replace(mode, closed=_put(mode.closed, k, shut))
    for c, carrier in enumerate(here.contacts.carrier):
        if carrier == k:
            state = OPEN if not shut else STICK if c in here.stopped and c not in here.rest.leaving else SLIP
            mode = replace(mode, states=_put(mode.states, c, state))
            at = here.contacts.components[c]
            if state == SLIP and at.stop - at.start == 1:
                way = int(np.sign(here.slide[at][0])) or 1
                mode = replace(mode, directions=_put(mode.directions, c, way))
    return mode


def _slipping(here: Situation, mode: Mode, s: ModeSolution, k: int, way: Array) -> Mode:
    mode = replace(mode, states=_put(mode.states, k, SLIP))
    mode = replace(mode, pushes=_put(mode.pushes, k, _push(here, s, k)))
    return replace(mode, directions=_put(mode.directions, k, int(np.sign(way[0])) if way.size == 1 else 0))


def _push(here: Situation, s: ModeSolution, k: int) -> int:
    """The sign of a reaction. A one-sided constraint only pushes, whatever a solution says that holds too much."""
    two_sided = here.contacts.contacts[k].signed and here.contacts.carrier[k] is None
    return (int(np.sign(s.normal[k])) or 1) if two_sided else 1


def _put(values: tuple[Any, ...], k: int, value: object) -> tuple[Any, ...]:
    return (*values[:k], value, *values[k + 1 :])


# -- setting off on a surface


def set_off(here: Situation, mode: Mode, ways: dict[int, Array]) -> Array:
    """The velocity with which contacts at rest on surfaces begin to slip in a mode: slowly, the way they accelerate.

    Friction against the slipping and the acceleration along it depend on each other. First guess: the ways given, as
    velocities whose ratios count, or against the force that would hold the contact.
    """
    contacts, t, q, v = here.contacts, here.t, here.q, here.v
    starting = [
        k
        for k, at in enumerate(contacts.components)
        if k in here.stopped and mode.states[k] == SLIP and at.stop - at.start > 1
    ]
    if not starting:
        return v
    unknown = [k for k in starting if k not in ways]
    if unknown:
        holding = replace(mode, states=tuple(STICK if k in unknown else s for k, s in enumerate(mode.states)))
        held = contacts.solve(holding, q, v, t).friction
        ways |= {k: -_unit(held[contacts.components[k]]) for k in unknown}
    A = contacts.evaluation(mode).dynamics(q, v, t)[2]
    F = contacts.forces(q, v, t, mode.frames)
    rows = np.vstack([A, *(F[:, contacts.components[k]].T for k in starting)])
    begin, slow, share, last = v, here.scale.slow / 2, 1.0, np.inf
    for _ in range(MOST_TURNS):
        fastest = max(float(np.linalg.norm(ways[k])) for k in starting)
        if fastest == 0.0:
            return v  # nothing drives them
        aims = [slow / fastest * ways[k] - here.slide[contacts.components[k]] for k in starting]
        begin = v + np.linalg.lstsq(rows, np.concatenate([np.zeros(A.shape[0]), *aims]), rcond=1e-10)[0]
        s = contacts.solve(mode, q, begin, t)
        rate = rate_of(s)
        # As they really begin, for contacts of one body cannot set off each its own way; and then a moment later.
        taken = {k: s.slide[contacts.components[k]] / slow for k in starting}
        gained = {k: s.slide_rate[contacts.components[k]] / rate for k in starting}
        far = max(float(np.abs(_unit(taken[k]) - _unit(taken[k] + gained[k])).max()) for k in starting)
        # One that is slow beside others turns fast: a moment may be too long for it.
        share, last = (share / 2 if far > last else share), far
        turned = {k: way + share * gained[k] for k, way in taken.items()}
        if max(float(np.linalg.norm(way)) for way in turned.values()) > 0.0:
            ways |= turned
        if far < AGREES:
            break
    return begin


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-300)


# -- by looking through all


def _looked_through(here: Situation, known: Decision | None, trouble: DalembertError | None) -> Decision:
    """The mode among all combinations; says where there is none, or several that move differently."""
    found: list[Decision] = [] if known is None else [known]
    for mode in not_clearly_wrong(here, every_mode(here)):
        if (known is not None and mode == known[0]) or (here.rest.given is not None and mode.does_as(here.rest.given)):
            continue
        try:
            begin = set_off(here, mode, {})
            s = solve_mode(here.contacts, mode, here.q, begin, here.t)
        except DalembertError as error:
            trouble = error
            continue
        if agrees(here.contacts, mode, s, here.stopped, here.touching):
            found.append((mode, s, begin))
    if not found:
        raise _none(here, trouble)
    if len(found) > 1:
        # Some may be at their limit here, and beyond it right after.
        found = [one for one in found if goes_on(here, *one, solve_mode)] or found
    # Static friction holds what it can hold.
    most = max(mode.states.count(STICK) for mode, *_ in found)
    best = [one for one in found if one[0].states.count(STICK) == most]
    first = best[0][1].acceleration
    size = max(rate_of(s) for _, s, _ in best)
    if any(np.abs(s.acceleration - first).max() > 1e-5 * size for _, s, _ in best[1:]):
        raise InconsistentConstraints(
            f"{here.name}, t = {here.t:.10g}: several motions agree with the friction of {_names(here)} here, so that "
            "its law does not determine what happens (Painlevé's paradox); a smaller coefficient or a compliant model "
            "would"
        )
    return best[0]


def _none(here: Situation, trouble: DalembertError | None) -> DalembertError:
    if isinstance(trouble, UndeterminedMotion):  # what would slip has no mass
        return UndeterminedMotion(
            f"{here.name}, t = {here.t:.10g}: sticking of {_names(here)} ends here, and what follows cannot be found, "
            f"since dry friction decides by accelerations: {trouble}"
        )
    reason = f" ({trouble})" if trouble is not None else ""
    return InconsistentConstraints(
        f"{here.name}, t = {here.t:.10g}: no motion agrees with the friction of {_names(here)}: neither sticking "
        f"nor slipping either way satisfies its law here (Painlevé's paradox, or an impact){reason}"
    )


def _names(here: Situation) -> str:
    names = [contact.name for contact in here.contacts.contacts]
    names = names or [here.contacts.system.constraints[row].name for row in here.contacts.one_sided]
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
