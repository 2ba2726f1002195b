"""Impacts on arrays: velocities after the blows of contacts that meet, with friction and restitution.

    M (v⁺ − v⁻) = Aᵀp_A + Σ_k (J_N,kᵀ p_N,k + J_T,kᵀ p_T,k),    A (v⁺ − v⁻) = 0,    u_k = J_k v + c_k

M may be singular where the constraints A hold, A may be redundant. All happens on the null space of A, where blows see
the inverse inertia W: v⁺ = v⁻ + W Σ Jᵀp.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

import numpy as np

from dalembert.arrays import Array, norm_of
from dalembert.errors import InconsistentConstraints, UndeterminedMotion
from dalembert.mechanics.solve.fundamental import MASS_TOLERANCE, RANK_TOLERANCE
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.model.constraints import IMPACT_ORDERS
from dalembert.motion.contacts.impacts.blow import LAWS, REVERSAL, SLIP, SMOOTH, STICK, Course, Jam, Path, follow_course
from dalembert.motion.contacts.impacts.blow_values import Blow, Meeting, Share
from dalembert.motion.contacts.impacts.braced import braced
from dalembert.motion.contacts.impacts.guided import GuidedCourse, GuideImpulse
from dalembert.motion.contacts.impacts.guides import Guide
from dalembert.motion.contacts.impacts.impulses import places_of
from dalembert.motion.contacts.impacts.together import together
from dalembert.remember import remember

TOGETHER, SEQUENCE = IMPACT_ORDERS
OPEN = "open"
# So many blows follow each other at most, which takes a quarter of a minute; seven unequal balls at once need 20,000.
MOST_BLOWS = 40_000
# Blows in sequence are looked at so many at a time: where the fastest approach has not fallen to this share of what it
# was among those before, the sequence has no end in sight.
MOST_UNSEEN, FALLING = 1000, 0.5
# In blows together, contacts that part are left out at first; after so many blows they are in.
MOST_AGAIN = 10
# A sequence of ever slower blows ends where they are slower than this share of the first: rounding.
ENDLESS = 1e-13
# Contacts whose blows change each other's velocity by less than this share do not feel each other: rounding.
COUPLED = 1e-12


def strike(
    M: Array,
    A: Array,
    meetings: Sequence[Meeting],
    v: Array,
    order: str | Sequence[str] = TOGETHER,
    slow: float = 0.0,
    guides: Sequence[Guide] = (),
) -> tuple[Blow, ...]:
    """The blows after which no contact approaches, one after the other.

    order: "together", all that approach in one blow with those that rest; "sequence", the fastest approach first; or
    names in the order in which they strike, again and again. slow: approaches slower than this are rest. guides: they
    rub where a contact strikes alone, along a line and with one coefficient.
    """
    struck = Struck(M, A, meetings, slow, guides)
    return tuple(struck.together(v) if order == TOGETHER else struck.in_sequence(v, order))


class Struck:
    def __init__(self, M: Array, A: Array, meetings: Sequence[Meeting], slow: float, guides: Sequence[Guide]) -> None:
        self.M, self.A, self.meetings = M, A, meetings
        self.rows = [meeting.rows() for meeting in meetings]
        self.lengths = np.array([norm_of(rows[0]) or 1.0 for rows in self.rows])
        root, self.react = remember(_felt, (A.shape, M.tobytes(), A.tobytes()), lambda: _inertia(M, A), KEPT)
        self.spread = [rows @ root for rows in self.rows]  # G_jk = spread_j spread_kᵀ
        self.G = [spread @ spread.T for spread in self.spread]
        self.gives = [root @ spread.T for spread in self.spread]  # W Jᵀ
        self.slow, self.guides, self.root = slow, guides, root
        self.normals = np.stack([rows[0] for rows in self.rows]) if meetings else np.zeros((0, M.shape[0]))
        self.offsets = np.array([meeting.offset for meeting in meetings])

    def velocity(self, k: int, v: Array) -> Array:
        return np.asarray(self.rows[k] @ v + self.meetings[k].offsets())

    def together(self, v: Array) -> list[Blow]:
        """Contacts that do not feel each other have blows of their own."""
        blows: list[Blow] = []
        fastest = 0.0
        for count in range(MOST_AGAIN + 2 * len(self.meetings)):
            speeds, limit, fastest = self._approach(v, fastest)
            closing = set(np.flatnonzero(speeds > limit).tolist())
            if not closing:
                return blows
            # What parts has no say, unless it is driven back again and again.
            touching = [k for k in range(speeds.size) if speeds[k] >= -limit or count >= MOST_AGAIN]
            for group in self._groups(touching):
                if closing.intersection(group):
                    blows.append(self._one(v, group[0]) if len(group) == 1 else self._all(v, group))
                    v = blows[-1].after
        raise self._endless(len(blows))

    def in_sequence(self, v: Array, order: str | Sequence[str]) -> list[Blow]:
        names = [meeting.name for meeting in self.meetings]
        first = [] if isinstance(order, str) else [names.index(name) for name in order if name in names]
        cycle = [*first, *(k for k in range(len(names)) if k not in first)]
        blows: list[Blow] = []
        fastest, turn = 0.0, 0
        earlier, lately = 0.0, 0.0  # the fastest approaches among so many blows, and among those before
        for _ in range(MOST_BLOWS + len(names) ** 2):
            speeds, limit, fastest = self._approach(v, fastest)
            closing = speeds > limit
            if not closing.any():
                return blows
            lately = max(lately, float(speeds.max()))
            if blows and len(blows) % MOST_UNSEEN == 0:
                if lately > FALLING * earlier > 0.0:
                    try:
                        ends = self._of_braced(v, speeds, limit, blows[-MOST_UNSEEN:])
                    except InconsistentConstraints as error:
                        # What it advises, to take them in sequence, is what has just been done.
                        raise self._endless(len(blows)) from error
                    if ends:
                        blows += ends
                        v, earlier, lately = blows[-1].after, 0.0, 0.0
                        continue
                earlier, lately = lately, 0.0
            if order == SEQUENCE:
                k = int(np.argmax(np.where(closing, speeds, -np.inf)))
            else:
                turn = next(j % len(cycle) for j in range(turn, turn + len(cycle)) if closing[cycle[j % len(cycle)]])
                k, turn = cycle[turn], turn + 1
            blows.append(self._one(v, k))
            v = blows[-1].after
        raise self._endless(len(blows))

    def _of_braced(self, v: Array, speeds: Array, limit: float, lately: Sequence[Blow]) -> list[Blow]:
        """The end of blows that would go to and fro for ever between contacts that are braced against each other (a
        ball between two walls that it touches both): one blow together, in which these give nothing back.
        """
        names = {share.name for blow in lately for share in blow.shares}
        struck = {k for k, meeting in enumerate(self.meetings) if meeting.name in names}
        blows: list[Blow] = []
        for group in self._groups([k for k in range(speeds.size) if k in struck or speeds[k] >= -limit]):
            spread = np.vstack([self.spread[k] for k in group])
            mu = np.array([max(self.meetings[k].mu(0.0), self.meetings[k].mu_static) for k in group])
            held = braced(spread @ spread.T, places_of([self.meetings[k].d for k in group]), mu)
            silent = {k for k, is_held in zip(group, held, strict=True) if is_held}
            if any(k in struck and speeds[k] > limit for k in silent):
                blows.append(self._all(v, group, silent))
                v = blows[-1].after
        return blows

    def _approach(self, v: Array, fastest: float) -> tuple[Array, float, float]:
        """How fast contacts close, as velocities of coordinates; what counts as rest; the fastest so far."""
        speeds = -(self.normals @ v + self.offsets) / self.lengths
        fastest = max(fastest, float(speeds.max(initial=0.0)))
        return speeds, max(self.slow, ENDLESS * fastest), fastest

    def _groups(self, touching: Sequence[int]) -> list[list[int]]:
        """Contacts joined by the velocities that their impulses give each other."""
        if len(touching) == 1:
            return [[*touching]]
        spread = np.vstack([self.spread[k] for k in touching])
        starts = np.cumsum([0, *(self.spread[k].shape[0] for k in touching)])[:-1]
        felt = np.maximum.reduceat(np.maximum.reduceat(np.abs(spread @ spread.T), starts, axis=0), starts, axis=1)
        sizes = np.array([float(np.linalg.norm(self.spread[k])) for k in touching])
        joined = felt > COUPLED * np.outer(sizes, sizes)
        left, groups = set(range(len(touching))), []
        while left:
            group = [min(left)]
            left.discard(group[0])
            for k in group:
                near = [j for j in np.flatnonzero(joined[k]).tolist() if j in left]
                group += near
                left.difference_update(near)
            groups.append([touching[k] for k in sorted(group)])
        return groups

    def _one(self, v: Array, k: int) -> Blow:
        meeting, u = self.meetings[k], self.velocity(k, v)
        e = meeting.restitution(-float(u[0]) / self.lengths[k])
        try:
            course, whole, e = self._followed(k, v, u, e)
        except InconsistentConstraints as error:
            raise InconsistentConstraints(f"{meeting.name!r}: {error}") from None
        guided = course.guide_impulses(whole) if isinstance(course, GuidedCourse) else ()
        path = course.path(whole) if isinstance(course, GuidedCourse) else whole
        total = np.array([whole.normal, *whole.friction])
        p = total if path is whole else np.array([path.normal, *path.friction])
        pressed = np.zeros(1 + meeting.d)
        pressed[0] = path.compression
        for piece in path.pieces if meeting.d else ():
            at = int(np.argmin(np.abs(piece.normal - path.compression)))
            if piece.normal[at] == path.compression:
                pressed[1:] = piece.friction[at]
        loss = -float(total @ (course.start + course.G @ total / 2)) - sum(guide.loss for guide in guided)
        after = (course.start + course.G @ total)[: u.size]
        share = Share(meeting.name, u, after, p, pressed, loss, e, path.state, path)
        return self.blow_of(v, [k], [share], meeting.law, path.limited, guided)

    def _followed(self, k: int, v: Array, u: Array, e: float) -> tuple[Course, Path, float]:
        """The blow of a contact alone, on its way and at its end, and the restitution that held."""
        meeting, guides = self.meetings[k], self._pressed(k)
        if not guides:
            course = Course(self.G[k], u, meeting.mu, meeting.mu_static)
            return course, follow_course(course, e, meeting.law), e
        guided = self._guided(k, v, guides)
        try:
            return guided, follow_course(guided, e, meeting.law), e
        except Jam:
            # Guides that hold whatever pushes them give nothing back.
            if e == 0.0 or not guided.is_held:
                raise
        guided = self._guided(k, v, guides)
        return guided, follow_course(guided, 0.0, meeting.law), 0.0

    def _pressed(self, k: int) -> list[Guide]:
        """The guides that a blow of contact k presses, itself or by the friction of others."""
        if not self.guides or not self.meetings[k].takes_guides:
            return []
        felt, left = [self.rows[k]], list(self.guides)
        found: list[Guide] = []
        while True:
            response = np.vstack(felt) @ self._reactions()
            sizes = np.linalg.norm(np.vstack(felt) @ np.abs(self.react.T), axis=1).max()
            near = [g for g in left if np.linalg.norm(response @ g.force.T) > COUPLED * sizes * np.linalg.norm(g.force)]
            if not near:
                return found
            found += near
            felt += [guide.tangent[None, :] for guide in near]
            left = [guide for guide in left if guide not in near]

    def _reactions(self) -> Array:
        """(n, m): the multipliers of the two-sided constraints per generalized impulse."""
        return np.asarray((self.react @ (self.M @ self.root @ self.root.T - np.eye(self.M.shape[0]))).T)

    def _guided(self, k: int, v: Array, guides: Sequence[Guide]) -> GuidedCourse:
        meeting = self.meetings[k]
        rows = np.vstack([self.rows[k], *(guide.tangent for guide in guides)])
        u = np.concatenate([self.velocity(k, v), [guide.tangent @ v + guide.offset for guide in guides]])
        spread = rows @ self.root
        response = (rows @ self._reactions()).T
        mu = meeting.mu(0.0)
        return GuidedCourse(meeting.name, spread @ spread.T, u, mu, meeting.mu_static, guides, response)

    def _all(self, v: Array, group: Sequence[int], silent: Set[int] = frozenset()) -> Blow:
        """silent: contacts that give nothing back."""
        meetings, u = [self.meetings[k] for k in group], {k: self.velocity(k, v) for k in group}
        laws = {meeting.law for k, meeting in zip(group, meetings, strict=True) if meeting.e > 0.0 and k not in silent}
        names = _names(meetings)
        if len(laws) > 1:
            raise InconsistentConstraints(
                f"{names} meet together, with different laws of impact ({', '.join(sorted(laws))}): give them one law, "
                'or take impacts = "sequence"'
            )
        law = laws.pop() if laws else LAWS[0]
        spread = np.vstack([self.spread[k] for k in group])
        G, start = spread @ spread.T, np.concatenate([u[k] for k in group])
        speeds = [norm_of(u[k][1:]) for k in group]
        e = [m.restitution(-float(u[k][0]) / self.lengths[k]) for k, m in zip(group, meetings, strict=True)]
        less = any(k in silent and of > 0.0 for k, of in zip(group, e, strict=True))
        e = [0.0 if k in silent else of for k, of in zip(group, e, strict=True)]
        sizes = [meeting.d for meeting in meetings]
        mu = np.array([m.mu(speed) for m, speed in zip(meetings, speeds, strict=True)])
        mu_static = np.array([meeting.mu_static for meeting in meetings])
        try:
            shock = together(G, start, sizes, mu, mu_static, np.array(e), law)
        except InconsistentConstraints as error:
            raise InconsistentConstraints(f"{names}: {error}") from None
        middle, end = start + G @ shock.compression, start + G @ shock.total
        shares = []
        for j, at in enumerate(places_of(sizes)):
            p, pressed = shock.total[at], shock.compression[at]
            loss = -float(pressed @ (start[at] + middle[at]) + (p - pressed) @ (middle[at] + end[at])) / 2
            state = state_of(p, start[at], end[at], float(np.abs(start).max()))
            shares.append(Share(meetings[j].name, start[at], end[at], p, pressed, loss, float(shock.e[j]), state))
        return self.blow_of(v, group, shares, law, shock.limited or less)

    def blow_of(
        self,
        v: Array,
        group: Sequence[int],
        shares: Sequence[Share],
        law: str,
        limited: bool,
        guided: Sequence[GuideImpulse] = (),
    ) -> Blow:
        change = sum((self.gives[k] @ s.impulse for k, s in zip(group, shares, strict=True)), np.zeros(v.size))
        pushed = sum((self.rows[k].T @ s.impulse for k, s in zip(group, shares, strict=True)), np.zeros(v.size))
        tangents = {guide.name: guide.tangent for guide in self.guides} if guided else {}
        for guide in guided:
            rubbed = tangents[guide.name] * guide.friction
            change, pushed = change + self.root @ (self.root.T @ rubbed), pushed + rubbed
        reacting = self.react @ (self.M @ change - pushed) if self.A.shape[0] else np.zeros(0)
        return Blow(v, v + change, tuple(shares), reacting, law, limited, tuple(guided))

    def _endless(self, count: int) -> InconsistentConstraints:
        return InconsistentConstraints(
            f"the blows of {_names(self.meetings)} follow each other without end, {count} so far at this instant: "
            "another order of impacts, or a smaller restitution, may end them"
        )


def _names(meetings: Sequence[Meeting]) -> str:
    """Some of them."""
    names = ", ".join(repr(meeting.name) for meeting in meetings[:6])
    return names if len(meetings) <= 6 else f"{names}, … ({len(meetings)} in all)"


def state_of(p: Array, before: Array, after: Array, size: float) -> str:
    if not p[0] > 0.0:
        return OPEN
    if p.size == 1:
        return SMOOTH
    # Velocities of rounding are rest.
    if np.linalg.norm(after[1:]) <= 1e-10 * size:
        return STICK
    return REVERSAL if before[1:] @ after[1:] < 0.0 else SLIP


def _inertia(M: Array, A: Array) -> tuple[Array, Array]:
    """`half_inverse`, and the multipliers of A per generalized force that it balances."""
    react = np.linalg.pinv(A.T, rcond=1e-12) if A.size else np.zeros((A.shape[0], M.shape[0]))
    return half_inverse(M, A), np.asarray(react, dtype=np.float64)


# One blow follows the other, and mostly with the same masses.
KEPT = 4
_felt: dict[Hashable, tuple[Array, Array]] = {}


def half_inverse(M: Array, A: Array) -> Array:
    """B with W = B Bᵀ, the inverse of the inertia on the null space of A: columns that A does not see, BᵀM B = 1."""
    scale = mass_scale(M)
    rows = A / scale
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0.0] / lengths[lengths > 0.0][:, None]
    N = np.eye(M.shape[0])
    if rows.size:
        _, sigma, Vt = np.linalg.svd(rows)
        N = Vt[int((sigma > RANK_TOLERANCE).sum()) :].T
    if not N.shape[1]:
        return np.zeros((M.shape[0], 0))
    values, vectors = np.linalg.eigh(N.T @ (M / np.outer(scale, scale)) @ N)
    if values[0] <= MASS_TOLERANCE * values[-1]:
        raise UndeterminedMotion(
            "an impact needs inertia in every direction that the constraints leave free: here one has none"
        )
    return np.asarray((N @ (vectors / np.sqrt(values))) / scale[:, None])
