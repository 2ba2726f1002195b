"""What happens to contacts at the instants between legs: what ended a mode, the blows there, and the next mode."""

from __future__ import annotations

from collections.abc import Set
from copy import copy
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import DalembertError, InconsistentState, UndeterminedMotion
from dalembert.mechanics.solve.fundamental import UndeterminedDirection, solve
from dalembert.motion.contacts.decide.agreement import AGREES, lengths
from dalembert.motion.contacts.decide.decide import REST, Decision, Rest, decide
from dalembert.motion.contacts.decide.spare import mode_with_undetermined_forces
from dalembert.motion.contacts.impacts.corners import require_no_corner
from dalembert.motion.contacts.impacts.impacts import Impact, impacts_at
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, STICK, Ending, Mode
from dalembert.motion.contacts.modes.scale import Scale, scale_of
from dalembert.motion.contacts.modes.switched import SLOW
from dalembert.motion.contacts.run.bounces import BOUNCES, RISE, Bounced
from dalembert.motion.contacts.run.in_line import InLine
from dalembert.motion.contacts.run.ledger import Ledger
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.project import project
from dalembert.motion.state.state import State

# Contacts this much faster than what counts as rest stop together with one that has stopped, if all then stick.
ALMOST = 100.0
# Velocities have no meaning below this share of the tolerance, to which they are integrated: on the way to a stop in a
# plane, each digit of the speed takes several steps.
UNKNOWN = 1e-3
# On a surface that moves, slipping below so many tolerances of its velocity cannot be told from none.
CARRIED = 20.0
# Where a contact stops, its sliding velocity is rounding; faster than this share of the fastest sliding it has jumped.
PASSED = 1e-6
# A slip slower than this share of the fastest is not seen.
UNSEEN = 1e-4
# A gap below this share of the size of the state is closed at the start …
GAP = 1e-9
# … and one further below zero than this is no state of the system.
BEYOND = 1e-6
# A mass below this share of the others is none.
MASSLESS = 1e-9
# What velocities of a body that is held may be by rounding, as a share of the speed that forces would give it.
ROUNDING = 1e-15
# One that is open, and further below zero than rounding of its terms, is brought back there.
OVERLAP = 1e-14

# What is known before a mode is decided: what must not rest, the number of blows, and the last of them.
Mark = tuple[Rest, int, tuple[Impact, ...]]


class Transitions:
    """From what ended one mode to the next, with what is remembered of the instants before.

    met: the one-sided constraints in the last impact. halted: the contacts at rest where one of them has ended the last
    leg by stopping. impacts: all blows so far. undetermined: whether a mode had forces that are not determined.
    """

    def __init__(self, contacts: Contacts) -> None:
        self.contacts, self.ledger = contacts, Ledger(contacts.heats)
        self.scale = Scale(1.0, 1.0, 1.0, SLOW)  # known from the start on
        self.met: set[int] = set()
        self.halted: set[int] = set()
        self.impacts: list[Impact] = []
        self.undetermined = False
        self.caught: list[int] = []  # which are blows without a collision of this instant, whose work is to be counted
        self.loose = False  # whether the next mode closes nothing that need not be closed
        self._rest = Rest()
        self._farthest = 0.0  # the largest terms of gaps at the impacts so far
        self._approach = 0.0  # the fastest at which a one-sided constraint closed
        self._fastest = 0.0  # the largest velocity at the instants between legs so far

    def copy(self) -> Transitions:
        """The same, to go on with by itself."""
        other = copy(self)
        other.met, other.halted, other.impacts = set(self.met), set(self.halted), [*self.impacts]
        other.caught = [*self.caught]
        other._rest = replace(self._rest)
        return other

    def mark(self) -> Mark:
        """What is known before a mode is decided, to `decide_anew` from."""
        return self._rest, len(self.impacts), tuple(self.impacts[-1:])

    def decide_anew(self, mark: Mark) -> None:
        """Forget the mode that was decided after a mark: the next one closes nothing that need not be closed."""
        self._rest, count, last = mark
        self.impacts[max(count - 1, 0) :] = last
        self.caught, self.loose = [], True

    # -- the start

    def start(self, q: Array, v: Array, t: float, span: float) -> tuple[Array, set[int]]:
        """Velocity after impacts at the start, and the one-sided constraints that touch. Refuses a state off the
        constraints, or beyond a one-sided one. span: how long the motion will be.
        """
        contacts, system = self.contacts, self.contacts.system
        self.scale = scale_of(contacts, q, v, t, span)
        gap, rate = self.gaps(q, v, t)
        small, slow = GAP * self.reach(q), REST * max(largest(v), 1e-300)
        beyond = [
            system.constraints[contacts.one_sided[k]].name for k in range(gap.size) if gap[k] < -BEYOND * self.reach(q)
        ]
        if beyond:
            raise InconsistentState(
                f"{system.name}: the initial state violates the one-sided {', '.join(map(repr, beyond))}, which must "
                "not be negative: use system.consistent(…), or 'dalembert run --repair'"
            )
        touching = {k for k in range(gap.size) if gap[k] <= small and rate[k] <= slow}
        require_no_corner(contacts, sorted(touching), q, t, self.reach(q))
        ones = (1,) * len(contacts.contacts)
        shut = tuple(k in touching and rate[k] >= -slow for k in range(gap.size))
        resting = Mode((OPEN,) * len(ones), ones, ones, shut, contacts.frames_at(q, v, t))
        require_consistent_state(contacts.evaluation(resting), State(q, v, t))
        self._require_inertia(q, v, t, touching)
        if any(rate[k] < -slow for k in touching):
            v, _, touching = self._impact(t, q, v, self.ledger.empty())  # the ledger begins after it
        return v, touching

    def _require_inertia(self, q: Array, v: Array, t: float, touching: set[int]) -> None:
        """Refuse masses that leave the motion undetermined whatever contacts do: where these are closed, friction may
        hold what has no mass, but nothing what has less than none.
        """
        contacts = self.contacts
        M, Q, A, b = contacts.unconstrained(q, v, t)
        diagonal = M.diagonal()
        if (diagonal > 0.0).all() and np.count_nonzero(M) == diagonal.size:
            return
        rows = [*contacts.always, *(contacts.one_sided[k] for k in sorted(touching))]
        try:
            solve(M, Q, A[rows], b[rows], np.zeros_like(Q))
        except UndeterminedDirection as error:
            may_hold = touching or any(carrier is None for carrier in contacts.carrier)
            if error.eigenvalue < -MASSLESS or not may_hold:
                names = [coordinate.name for coordinate in contacts.system.coordinates]
                raise UndeterminedMotion(f"{contacts.system.name}, t = {t:.6g}: {error.message(names)}") from None

    # -- the mode

    def mode_at(self, t: float, q: Array, v: Array, touching: set[int]) -> Decision:
        """The mode of a state after `start`, its instant and the velocity with which it begins."""
        return decide(self.contacts, self.scale, t, q, v, self._rest, self.contacts_at_rest(q, v, t), touching)

    def mode_with(
        self, t: float, q: Array, v: Array, resting: set[int], touching: set[int], last: Mode | None
    ) -> Decision:
        """The mode where these contacts are at rest, too."""
        stopped = self.contacts_at_rest(q, v, t) | resting
        return decide(self.contacts, self.scale, t, q, v, self._rest, stopped, touching, last)

    def enter(
        self,
        t: float,
        q: Array,
        v: Array,
        stopped: set[int],
        touching: set[int],
        last: Mode | None,
        rtol: float,
        guess: Mode | None = None,
    ) -> Decision:
        """The mode, its instant and the velocity with which it begins. rtol: to which velocities are known. guess: the
        mode that is tried first, in place of the last one.
        """
        slow = self._stopping_speed(q, v, t, rtol)
        if slow != self.scale.slow:
            self.scale = replace(self.scale, slow=slow)
        self._rest.loose = self.loose
        mode, found, v = self._decide(t, q, v, stopped, touching, last, guess)
        self.undetermined |= found.undetermined
        if found.undetermined:
            mode = mode_with_undetermined_forces(self.contacts, mode, found)
        self._rest = Rest(speed=self._rest.speed)
        return mode, found, v

    def _stopping_speed(self, q: Array, v: Array, t: float, rtol: float) -> float:
        """The speed at which a contact on a surface has stopped. On a surface that moves, slow slipping is the
        difference of large velocities, which are known to the tolerance.
        """
        if not self.contacts.on_surfaces:
            return self.scale.slow  # along lines nobody asks
        frames = self.contacts.frames_at(q, v, t)
        carried = self.contacts.at(q, v, t, frames=frames).slide - self.contacts.forces(q, v, t, frames).T @ v
        moving = CARRIED * rtol * largest(carried)
        return max(SLOW * self.scale.slide, UNKNOWN * rtol * self.scale.slide, moving)

    def _decide(
        self, t: float, q: Array, v: Array, stopped: set[int], touching: set[int], last: Mode | None, guess: Mode | None
    ) -> Decision:
        """The mode, its instant and the velocity with which it begins. Contacts that have almost stopped when another
        one stops stop with it, if then all of them stick: those of a body that only translates stop at one instant.
        """
        if self.halted:
            together = self.contacts_at_rest(q, v, t, ALMOST) - self._rest.leaving
            if together - stopped:
                try:
                    found = decide(
                        self.contacts, self.scale, t, q, v.copy(), self._rest, stopped | together, touching, last
                    )
                except DalembertError:
                    found = None
                if found is not None and all(found[0].states[k] in (STICK, OPEN) for k in stopped | together):
                    self.halted |= together
                    return found
        return decide(self.contacts, self.scale, t, q, v, self._rest, stopped, touching, last, guess)

    # -- the end of a mode

    def after(
        self, mode: Mode, ending: Ending, t: float, q: Array, v: Array, work: Array, jumped: bool = False
    ) -> tuple[Array, Array, set[int], set[int]]:
        """Velocity and work after what ended a mode, the contacts at rest, and the one-sided constraints that touch.
        jumped: whether a surface to which something sticks has another speed from here on.
        """
        k, self.met, self.halted = ending.which, set(), set()
        closed = {j for j, shut in enumerate(mode.closed) if shut}
        stuck = mode.sticking
        if jumped:
            stuck &= self.contacts_at_rest(q, v, t, ALMOST)
        stopped = self.contacts_at_rest(q, v, t) | (stuck if ending.kind != "jump" else set())
        if ending.kind == "stop":
            if not self.is_passed(k, q, v, t):
                stopped |= {k}
                self.halted = stopped
                self.loose = not self._is_pressed(mode, k, t, q, v)
        elif ending.kind == "break":
            self._rest.leaving = {k}
        elif ending.kind == "turn":
            self._rest.pushes = {k: -mode.pushes[k]}
        elif ending.kind == "open":
            self._rest.opening = {k}
        elif ending.kind == "give":
            self._rest.given = mode
        elif ending.kind == "close":
            v, work, closed = self._impact(t, q, v, work)
            stopped = self.contacts_at_rest(q, v, t)
        return v, work, stopped, closed

    def _is_pressed(self, mode: Mode, k: int, t: float, q: Array, v: Array) -> bool:
        """Whether something presses contact k. Where nothing does, nothing holds it as it stops: of a disc that just
        fits between two walls and is thrown up, friction could hold it at the top only by reactions out of nothing.
        """
        if sum(mode.closed) < 2:
            return True  # one alone is not braced
        try:
            s = self.contacts.solve(mode, q, v, t)
        except DalembertError:
            return True
        return bool(abs(s.normal[k]) > AGREES * s.force_size)

    def _impact(self, t: float, q: Array, v: Array, work: Array) -> tuple[Array, Array, set[int]]:
        """Velocity and work after an impact of all one-sided constraints that now meet, and those that then touch."""
        gap, rate = self.gaps(q, v, t)
        slow = REST * max(largest(v), 1e-300)
        reach = self.reach(q)
        near = {j for j in range(gap.size) if gap[j] <= GAP * reach}
        touching = sorted(InLine(self.contacts, t, q, v, gap, rate).within_reach(near, reach))
        require_no_corner(self.contacts, touching, q, t, reach)
        self._approach = max(self._approach, *(-rate[j] for j in touching))
        blows, met = impacts_at(self.contacts, touching, t, q, v, slow, self.slowest_bounce(t, q, v))
        # A constraint stated twice approaches twice, and one of the two strikes.
        struck = {contact.name for blow in blows for contact in blow.contacts if contact.normal}
        own = self.contacts.system.constraints
        self.met |= {j for j in met if own[self.contacts.one_sided[j]].name in struck}
        self.impacts += blows
        before, v = v, blows[-1].after if blows else v
        rate = self.gaps(q, v, t)[1]
        work = self.ledger.after_impact(self.contacts, work, t, q, before, v, sum(blow.loss for blow in blows))
        # What would part more slowly than the slowest bounce stays closed, if forces keep it so.
        slow = max(slow, self.slowest_bounce(t, q, v))
        return v, work, {j for j in touching if rate[j] <= slow}

    def closed_together(self, t: float, q: Array, v: Array, touching: set[int]) -> set[int]:
        """Those of the one-sided constraints that touch which may be closed together, see `InLine`."""
        if len(touching) < 2:
            return touching
        line, slow = InLine(self.contacts, t, q, v, *self.gaps(q, v, t)), self.slowest_bounce(t, q, v)
        return line.at_rest(line.within_reach(touching, self.reach(q)), slow)

    def closing_again(self, t: float, q: Array, v: Array, mode: Mode) -> set[int]:
        """The open one-sided constraints at zero that a velocity would pass: no event would see them close."""
        gap, rate = self.gaps(q, v, t)
        slow, near = REST * max(largest(v), 1e-300), GAP * self.reach(q)
        return {j for j, shut in enumerate(mode.closed) if not shut and gap[j] <= near and rate[j] < -slow}

    def differ(self, one: Array, other: Array) -> bool:
        """Whether two velocities differ by more than what counts as rest."""
        return largest(one - other) > REST * max(largest(one), largest(other))

    def without_overlap(self, t: float, q: Array, v: Array, mode: Mode) -> Array:
        """The places where no open one-sided constraint is below zero: no event would see it close. The return to those
        that are closed may bring others there that touch the same bodies.
        """
        overlapping = self.gaps(q, v, t)[0] < -OVERLAP * self.reach(q)
        if not any(below and not shut for below, shut in zip(overlapping, mode.closed, strict=True)):
            return q
        shut = {j for j, closed in enumerate(mode.closed) if closed or overlapping[j]}
        return self.with_closed(t, q, v, shut)[0]

    def without_slow_bounces(self, t: float, q: Array, v: Array, touching: set[int]) -> Array:
        """The velocity where all that touches stays closed, as after an impact without bounce; what is at rest there
        sticks.
        """
        return self.with_closed(t, q, v, touching, self.contacts_at_rest(q, v, t))[1]

    def with_closed(
        self, t: float, q: Array, v: Array, closed: set[int], resting: Set[int] = frozenset()
    ) -> tuple[Array, Array]:
        """The nearest state in which these one-sided constraints are closed; of the contacts on them these stick."""
        carrier, ones = self.contacts.carrier, (1,) * len(self.contacts.contacts)
        shut = tuple(j in closed for j in range(len(self.contacts.one_sided)))
        states = tuple(STICK if k in resting and carrier[k] in closed else OPEN for k in range(len(ones)))
        mode = Mode(states, ones, ones, shut, self.contacts.frames_at(q, v, t))
        return project(self.contacts.evaluation(mode), q, v, t)[:2]

    @property
    def fastest_approach(self) -> float:
        """The fastest at which a one-sided constraint has closed so far."""
        return self._approach

    def take_bounces(self, found: Bounced) -> None:
        """Bounces that a kernel has gone through by itself."""
        self.impacts += found.impacts
        far = found.impacts[int(np.abs(found.q).max(axis=1).argmax())]
        self._farthest = max(self._farthest, self._terms_of_gaps(far.t, far.q, far.after))
        self._approach = max(self._approach, found.approach)

    def take_catch(self, impact: Impact) -> None:
        """A blow without a collision, by which bodies are caught where the next mode begins."""
        self.caught.append(len(self.impacts))
        self.impacts.append(impact)

    def work_after_settling(self, t: float, q: Array, before: Array, after: Array, work: Array) -> Array:
        """The work after catches, and after an impact with bounces that are left out."""
        if self.caught:
            left = 0.0
            for which in self.caught:
                caught = self.impacts[which]
                work, left = self.ledger.after_settling(self.contacts, work, t, q, before, caught.before)
                work = self.ledger.after_impact(self.contacts, work, t, q, caught.before, caught.after, caught.loss)
                self.impacts[which], before = replace(caught, left_out=left), caught.after
            work, more = self.ledger.after_settling(self.contacts, work, t, q, before, after)
            self.impacts[self.caught[-1]] = replace(self.impacts[self.caught[-1]], left_out=left + more)
            self.caught = []
            return work
        if after is before or not self.impacts or self.impacts[-1].t != t:
            return work
        work, lost = self.ledger.after_settling(self.contacts, work, t, q, before, after)
        self.impacts[-1] = replace(self.impacts[-1], left_out=lost)
        return work

    # -- what counts as rest, and as closed

    def see_speed(self, t: float, y: Array) -> None:
        """How fast contacts slide at a state within a leg. A body that sets off from rest and stops again is at rest at
        both ends: what is slow would be slow against rounding, and of its feet only the first to stop would stick.
        """
        n = self.contacts.n
        self._rest.speed = max(self._rest.speed, largest(self.contacts.at(y[:n], y[n : 2 * n], t).slide))

    def contacts_at_rest(self, q: Array, v: Array, t: float, almost: float = 1.0) -> set[int]:
        """The contacts at rest. almost: how much faster than what counts as rest they may be."""
        if not self.contacts.contacts:
            return set()
        slide = self.contacts.at(q, v, t).slide
        self._rest.speed = max(self._rest.speed, largest(slide))
        # A body that never slides and comes to rest has velocities of rounding: those of before say what is slow.
        self._fastest = max(self._fastest, largest(v))
        # Of one that never moved before it is pushed off, all of these are rounding, beside what forces would give it.
        limit = max(REST * max(self._rest.speed, 1e-3 * self._fastest), ROUNDING * self.scale.speed)
        # On a surface, a leg has ended at `slow`; others beside it are as slow but for rounding.
        on_surface = max(limit, 2 * self.scale.slow)
        return {
            k
            for k, (speed, at) in enumerate(zip(lengths(self.contacts, slide), self.contacts.components, strict=True))
            if speed <= almost * (limit if at.stop - at.start == 1 else on_surface)
        }

    def stopped_slipping(self, t: float, q: Array, v: Array, mode: Mode, stopped: set[int]) -> set[int]:
        """The contacts that slip in a mode that was decided when they moved, and are at rest with these velocities."""
        slipping = mode.slipping - stopped
        return slipping & self.contacts_at_rest(q, v, t) if slipping else slipping

    def is_passed(self, k: int, q: Array, v: Array, t: float) -> bool:
        """Whether a contact whose sliding velocity has changed its sign never was at rest: the speed of its surface
        jumps here, and it slips on the other way.
        """
        speed = lengths(self.contacts, self.contacts.at(q, v, t).slide)[k]
        return speed > max(PASSED * self._rest.speed, 2 * self.scale.slow)

    def gaps(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The gaps and their rates, as lengths and velocities of the coordinates however the equation is scaled."""
        found, steep = self.contacts.at(q, v, t), self.contacts.steepness(q, v, t)
        return found.gap / steep, found.gap_rate / steep

    def reach(self, q: Array) -> float:
        """The size of places, never zero."""
        return max(largest(q), self.scale.length)

    def unseen(self, t: float, q: Array, v: Array) -> float:
        """The speed of slips that are too slow to be seen beside the fastest so far."""
        return max(UNSEEN * self._rest.speed, self.slowest_bounce(t, q, v))

    def slowest_bounce(self, t: float, q: Array, v: Array) -> float:
        """The speed of the slowest bounce: a share of the fastest impact, and so fast that it rises visibly."""
        rate = largest(self.contacts.free(q, v, t))
        self._farthest = max(self._farthest, self._terms_of_gaps(t, q, v))
        return max(BOUNCES * self._approach, float(np.sqrt(2 * RISE * self._farthest * rate)))

    def _terms_of_gaps(self, t: float, q: Array, v: Array) -> float:
        """The largest sum of terms of a gap, as a length, which its rounding is a share of. Coordinates that no gap
        depends on say nothing of it: an angle, in small units a large number, or a place along the floor.
        """
        normal = self.contacts.unconstrained(q, v, t)[2][list(self.contacts.one_sided)]
        terms = np.abs(normal) @ np.abs(q) / self.contacts.steepness(q, v, t)
        return float(terms.max(initial=0.0))
