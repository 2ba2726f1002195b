"""Whether the impacts of a motion obey their laws, from their velocities and impulses alone.

Nothing is solved again: the jump of momentum, the cones, the directions of slipping and the law of restitution are
looked at on each piece of the way that a blow has recorded; of blows without friction, all at once. The inverse inertia
comes from the whole [M Aᵀ; A 0], not from the null space on which blows are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array, norm_of
from dalembert.errors import InconsistentConstraints
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.guide_laws import GuideLaws
from dalembert.motion.certificate.impact_choices import follow_choices
from dalembert.motion.certificate.smooth_impacts import is_smooth, smooth_residual
from dalembert.motion.certificate.told_blows import blows_agree, is_named_right, losses_off
from dalembert.motion.contacts.impacts.blow import POISSON, SMOOTH, STICK, STRONGE, TURN, Path, Piece
from dalembert.motion.contacts.impacts.braced import braced
from dalembert.motion.contacts.impacts.guides import guides_at
from dalembert.motion.contacts.impacts.impacts import ContactImpulse, Impact, Rough
from dalembert.motion.contacts.impacts.impulses import places_of
from dalembert.motion.contacts.impacts.together import makes_energy
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.remember import remember

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

Coefficient = Callable[[float], float]

# So many inverses are kept at once.
KEPT = 4
# Of more blows than this every second, or third, … is looked at.
MOST = 500
# Sliding slower than this share of the velocities of a blow is rest: rounding, and the ends of decaying slips.
STILL = 1e-9
# Below this share of the fastest velocity of the motion a blow is measured against that: velocities are differences of
# such as were larger before, and their rounding, 1e-16 of these, is then a hundredth of what a blow may be off.
ROUNDED = 1e-6
# A contact that gives back less than this share of the work that it took gives back nothing: others hold it closed.
ROUNDED_WORK = 1e-12
# With Stronge's law a contact pushes back by more than this share of what its restitution makes of its compression.
PUSHES = 1e-3
# A blow of reduced restitution that loses more than this share is one that jumps with more of it by the second share.
LOST, MORE = 1e-9, 1e-6
# Bounces slower than this share of the velocities of the motion may be left out, or that rise by less than this share
# of its coordinates, where gaps are rounding.
SLOWEST, RISE = 1e-3, 1e-10


def impact_residual(motion: Motion, contacts: Contacts | None = None) -> float:
    """The largest departure of a blow from its laws, relative to the velocities of the blow in the metric of the
    masses; and of the losses of all from what the motion says it has lost, relative to the energy they exchange.
    """
    if not motion.blows:
        # What was lost without a blow has no law that could be checked.
        return float("inf") if np.any(motion.impact_loss) else 0.0
    contacts = Contacts(motion.system) if contacts is None else contacts
    if not (blows_agree(motion, contacts) and follow_choices(contacts, motion.blows)):
        return float("inf")
    smooth: list[Impact] = []
    others: list[Impact] = []
    for blow in motion.blows:
        (smooth if is_smooth(contacts, blow) else others).append(blow)
    worst = 0.0
    if others:
        fastest = max(float(np.abs(motion.v).max()), *(float(np.abs(blow.before).max()) for blow in motion.blows))
        every, inverses = max(-(-len(others) // MOST), 1), _Inverses()
        worst = max(_Checked(contacts, blow, fastest, inverses).worst() for blow in others[::every])
    most = contacts.points_at_once
    for first in range(0, len(smooth), most):
        worst = max(worst, smooth_residual(contacts, smooth[first : first + most]))
    if motion.impact_loss.size:
        worst = max(worst, losses_off(motion))
    return worst


class _Inverses:
    """Of the inertia with two-sided constraints, by their numbers: one blow follows the other with the same masses."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Array, Array]] = {}

    def of(self, M: Array, A: Array) -> tuple[Array, Array]:
        """The root of each coordinate's own mass, and the inverse of [M Aᵀ; A 0]."""
        return remember(self._kept, (A.shape, M.tobytes(), A.tobytes()), lambda: self._made(M, A), KEPT)

    def _made(self, M: Array, A: Array) -> tuple[Array, Array]:
        root, m = mass_scale(M), A.shape[0]
        whole = np.block([[M, A.T], [A, np.zeros((m, m))]])
        balance = np.concatenate([root, [norm_of(a / root) or 1.0 for a in A]])
        scaled = whole / np.outer(balance, balance)
        return root, np.linalg.pinv(scaled, rcond=1e-12) / np.outer(balance, balance)


class _Checked:
    def __init__(self, contacts: Contacts, blow: Impact, fastest: float, inverses: _Inverses) -> None:
        self.blow, self.fastest = blow, fastest
        M, Q, A, _ = contacts.unconstrained(blow.q, blow.before, blow.t)
        self.falling = float(np.abs(Q) @ np.abs(blow.q))
        self.M, self.A = M, A[contacts.always]
        self.root, inverse = inverses.of(M, self.A)
        own = max(norm_of(self.root * v) for v in (blow.before, blow.after))
        self.size = max(own, ROUNDED * fastest * norm_of(self.root)) or 1.0
        names = [contacts.system.constraints[row].name for row in contacts.one_sided]
        self.sided = [Rough(contacts, names.index(c.name), blow.t, blow.q, blow.before) for c in blow.contacts]
        self.totals = [np.array([c.normal, *c.friction]) for c in blow.contacts]
        # Rows of each contact, normal first, tangents along the components of its own sliding velocity.
        self.rows = [np.array([rough.normal, *(rough.basis @ rough.tangents)]) for rough in self.sided]
        self.offsets = [np.array([rough.offset, *(rough.basis @ rough.slide_offset)]) for rough in self.sided]
        self.weights = [norm_of(rough.normal / self.root) or 1.0 for rough in self.sided]
        n = M.shape[0]
        self.inverse = inverse[:n, :n]
        # Guides rub where one contact strikes, along a line.
        guides = guides_at(contacts, blow.t, blow.q, blow.before)
        alone = len(self.rows) == 1 and self.sided[0].takes_guides
        rows = self.rows[0] if self.rows else np.zeros((1, n))
        self.guides = GuideLaws(guides if alone else (), blow.guides, rows, self.inverse, -inverse[n:, :n])

    def worst(self) -> float:
        blow = self.blow
        change = blow.after - blow.before
        pushed = self.M @ change - self.A.T @ blow.constraint_impulses - self.guides.impulse()
        for total, rows in zip(self.totals, self.rows, strict=True):
            pushed = pushed - rows.T @ total
        found = [norm_of(pushed / self.root) / self.size]
        for row in self.A:
            found.append(abs(float(row @ change)) / (norm_of(row / self.root) * self.size or 1.0))
        found.append(-self._work() / self.size**2)
        may_be_left_out = float(np.sum((self.root * SLOWEST * self.fastest) ** 2)) + RISE * self.falling
        found += [-blow.left_out / self.size**2, (blow.left_out - may_be_left_out) / self.size**2]
        ends = [(self._velocities(k, blow.before), self._velocities(k, blow.after)) for k in range(len(blow.contacts))]
        fastest = max((float(np.abs(u).max()) for u, _ in ends), default=0.0)
        named = all(is_named_right(c, *own, fastest) for c, own in zip(blow.contacts, ends, strict=True))
        if not (named and all(guide.state == Path(guide.pieces, 0.0, False).state for guide in blow.guides)):
            return float("inf")
        if self._has_lost_its_way(ends):
            return float("inf")
        for k in range(len(blow.contacts)):
            found += self._cone(k) + self._restitution(k)
            found += self._path(k) if blow.contacts[k].pieces else self._together(k)
        return max(found)

    def _has_lost_its_way(self, ends: Sequence[tuple[Array, Array]]) -> bool:
        """Whether a rough contact strikes alone and does not tell how: its end would then be measured by the laws of
        several contacts, which are others.
        """
        contact, *more = self.blow.contacts
        if more or contact.pieces or not self.sided[0].tangents.size or not contact.normal > 0.0:
            return False
        return float(-ends[0][0][0]) > STILL * self.weights[0] * self.size

    def _velocities(self, k: int, v: Array) -> Array:
        return np.asarray(self.rows[k] @ v + self.offsets[k])

    def _work(self) -> float:
        """−Σ p·(u⁻ + u⁺)/2: what is lost; and it is what the blow says."""
        lost = self.guides.lost(self.blow.before, self.blow.after)
        for k, total in enumerate(self.totals):
            u = self._velocities(k, self.blow.before) + self._velocities(k, self.blow.after)
            lost -= float(total @ u) / 2
        return min(lost, 0.0) - abs(lost - self.blow.loss)

    def _cone(self, k: int) -> list[float]:
        contact, rough, weight = self.blow.contacts[k], self.sided[k], self.weights[k]
        # A coefficient that falls with the speed is largest at rest.
        mu = max(rough.mu()(0.0), rough.mu_static)
        beyond = norm_of(contact.friction) - mu * contact.normal
        return [-contact.normal * weight / self.size, beyond * weight / self.size]

    def _restitution(self, k: int) -> list[float]:
        """The restitution that a blow used is that of the model, unless it is too slow to be seen, it would have made
        energy, or nothing could have been given back.
        """
        contact, model = self.blow.contacts[k], self.sided[k].meeting(0.0)
        if contact.e == model.e or (self.blow.limited and contact.pieces):
            return [contact.e - model.e]
        speed = -float(self._velocities(k, self.blow.before)[0]) / (norm_of(self.sided[k].normal) or 1.0)
        slow = model.e * speed <= SLOWEST * self.fastest or self._hardly_rises(k, model.e)
        braced = self.blow.limited and self._is_braced(k)
        if contact.e == 0.0 and (slow or self._is_held(max(model.mu(0.0), model.mu_static)) or braced):
            return [0.0]
        # Less than the law says, and nothing lost, or energy made with any more.
        limited = self.blow.limited and contact.e < model.e
        off = abs(self.blow.loss) / self.size**2 if limited else abs(contact.e - model.e)
        return [0.0 if limited and off > LOST and self._more_makes_energy() else off]

    def _hardly_rises(self, k: int, e: float) -> bool:
        """Whether what a contact would give back lifts it by no more than may be left out."""
        normal = self.rows[k][0]
        parting = e * float(self._velocities(k, self.blow.before)[0])
        return parting**2 <= 2.0 * RISE * self.falling * float(normal @ self.inverse @ normal)

    def _is_held(self, mu: float) -> bool:
        """Whether guides hold what the contact pushes: they give nothing back."""
        return bool(self.blow.guides) and self.guides.hold(mu)

    def _is_braced(self, k: int) -> bool:
        """Whether others in the blow can hold what contact k pushes, however hard, all inside their cones."""
        rows = np.vstack(self.rows)
        mu = np.array([max(rough.mu()(0.0), rough.mu_static) for rough in self.sided])
        return bool(braced(rows @ self.inverse @ rows.T, places_of([rows.shape[0] - 1 for rows in self.rows]), mu)[k])

    def _more_makes_energy(self) -> bool:
        """Whether a little more restitution would make energy: where other contacts join in with it, a blow that loses
        energy jumps to one that makes some.
        """
        rows, sizes = np.vstack(self.rows), [own.shape[0] - 1 for own in self.rows]
        u = np.concatenate([self._velocities(k, self.blow.before) for k in range(len(self.rows))])
        mu = np.array(
            [rough.mu()(norm_of(self._velocities(k, self.blow.before)[1:])) for k, rough in enumerate(self.sided)]
        )
        static = np.array([rough.mu_static for rough in self.sided])
        e = (1.0 + MORE) * np.array([contact.e for contact in self.blow.contacts])
        try:
            return makes_energy(rows @ self.inverse @ rows.T, u, sizes, mu, static, e, self.blow.law)
        except InconsistentConstraints:
            return True  # nor is there any blow with more

    # -- several contacts: the velocities at the end of each phase decide

    def _together(self, k: int) -> list[float]:
        blow, contact, weight = self.blow, self.blow.contacts[k], self.weights[k]
        before, after = self._velocities(k, blow.before), self._velocities(k, blow.after)
        total = self.totals[k]
        if blow.law not in (POISSON, STRONGE):
            parted = float(after[0]) + contact.e * min(float(before[0]), 0.0)
            return [*self._complementary(k, total[0], parted), *self._rubs(k, total, after)]
        pressed = np.array([contact.compression, *contact.compression_friction])
        pushed = sum(
            (rows.T @ np.array([c.compression, *c.compression_friction])
             for rows, c in zip(self.rows, blow.contacts, strict=True)),
            np.zeros(blow.q.size),
        )  # fmt: skip
        middle = self._velocities(k, blow.before + self.inverse @ pushed)
        found = [*self._complementary(k, pressed[0], float(middle[0])), *self._rubs(k, pressed, middle)]
        back = total - pressed
        found += self._rubs(k, back, after)
        if blow.law == POISSON:
            found += self._complementary(k, back[0] - contact.e * pressed[0], float(after[0]))
        else:
            took, gave = pressed[0] * (before[0] + middle[0]) / 2, back[0] * (middle[0] + after[0]) / 2
            nothing = gave <= -ROUNDED_WORK * took and self._is_held_closed(k, back[0], contact)
            found.append(abs(gave + contact.e**2 * took) / self.size**2 if took < 0 and not nothing else 0.0)
        return [*found, -float(back[0]) * weight / self.size]

    def _is_held_closed(self, k: int, back: float, contact: ContactImpulse) -> bool:
        """Whether others hold contact k closed while it pushes back, which then does no work: a ball in a row that the
        next one drives on. What never pushes back is not held, and of what is braced a blow says that it gave nothing.
        """
        return back > PUSHES * contact.e * contact.compression and not self._is_braced(k)

    def _complementary(self, k: int, push: float, parted: float) -> list[float]:
        """0 ≤ p ⊥ u ≥ 0, p as a velocity of the blow and u in the metric of the masses."""
        p, u = push * self.weights[k] / self.size, parted / (self.weights[k] * self.size)
        return [-p, -u, min(p, u)]

    def _rubs(self, k: int, p: Array, u: Array) -> list[float]:
        """Friction against the sliding, or at rest within its cone."""
        if p.size == 1:
            return []
        rough, weight, speed = self.sided[k], self.weights[k], norm_of(u[1:])
        if speed <= STILL * weight * self.size:
            limit = max(rough.mu()(0.0), rough.mu_static) * p[0]
            return [(norm_of(p[1:]) - limit) * weight / self.size]
        mu = rough.mu()(norm_of(self._velocities(k, self.blow.before)[1:]))
        return [norm_of(p[1:] + mu * p[0] * u[1:] / speed) * weight / self.size]

    # -- a contact alone: its way over the normal impulse

    def _path(self, k: int) -> list[float]:
        blow, contact, weight = self.blow, self.blow.contacts[k], self.weights[k]
        G, total = self.rows[k] @ self.inverse @ self.rows[k].T, self.totals[k]
        u = self._velocities(k, blow.before)
        mu, static = self.sided[k].mu(), self.sided[k].mu_static
        found, works = [], [0.0, 0.0]  # of compression, of restitution
        reached, compressed = np.zeros(u.size), np.zeros(u.size)
        for guide, miss in self.guides.misses(contact.pieces, blow.before, STILL * weight * self.size):
            found.append(miss * norm_of(guide.tangent / self.root) / self.size)
        rubbed = np.zeros(blow.q.size)
        for number, piece in enumerate(contact.pieces):
            p = np.column_stack([piece.normal, piece.friction])
            found.append(norm_of(p[0] - reached) * weight / self.size)
            reached = p[-1]
            way, phase = u + p @ G, 0 if piece.normal[-1] <= contact.compression * (1 + 1e-12) else 1
            if self.guides.told:
                others = self.guides.along(number, piece.normal.size)
                way = way + others @ self.inverse @ self.rows[k].T
                rubbed = rubbed if phase else others[-1]
            found += [
                miss * weight / self.size for miss in _misses(piece, way, G, mu, static, STILL * weight * self.size)
            ]
            compressed = compressed if phase else reached
            works[phase] += _work_along(piece, way, G)
        told = np.array([contact.compression, *contact.compression_friction])
        found.append(norm_of(compressed - told) * weight / self.size)
        found.append(norm_of(reached - total) * weight / self.size)
        found.append(-float(np.diff(np.concatenate([x.normal for x in contact.pieces])).min()) * weight / self.size)
        after = u + G @ reached + self.rows[k] @ self.inverse @ self.guides.impulse()
        pressed = u + self.rows[k] @ self.inverse @ rubbed
        return found + self._restored(contact, u, pressed, after, works, G, k)

    def _restored(
        self,
        contact: ContactImpulse,
        before: Array,
        others: Array,
        after: Array,
        works: Sequence[float],
        G: Array,
        k: int,
    ) -> list[float]:
        """others: the velocities that all but the contact would have given it when compression ends."""
        speed, impulse = self.weights[k] * self.size, self.size / self.weights[k]
        pressed = np.array([contact.compression, *contact.compression_friction])
        middle = float((others + G @ pressed)[0])
        by_law = {
            POISSON: (contact.normal - (1 + contact.e) * contact.compression) / impulse,
            STRONGE: (works[1] + contact.e**2 * works[0]) / self.size**2,
        }.get(self.blow.law, float(after[0] + contact.e * before[0]) / speed)
        if self.blow.limited:
            # Less than the law says, and nothing lost.
            return [abs(middle) / speed, by_law, abs(self.blow.loss) / self.size**2]
        return [abs(middle) / speed, abs(by_law)]


def _misses(piece: Piece, u: Array, G: Array, mu: Coefficient, static: float, still: float) -> list[float]:
    """How far a piece of the way is from its law, as impulses. u (K, 1 + d): the velocities along it."""
    rubbed = piece.friction[1:] - piece.friction[:-1]
    if piece.kind == SMOOTH or u.shape[1] == 1:
        return [float(np.abs(rubbed).max(initial=0.0))]
    pushed, speeds = piece.normal[1:] - piece.normal[:-1], np.linalg.norm(u[:, 1:], axis=1)
    scale = max(float(np.linalg.norm(G[1:, 1:])), 1e-300)
    if piece.kind == STICK:
        held = float(np.linalg.norm(rubbed, axis=1).max()) - max(static, mu(0.0)) * float(pushed.max())
        return [held, float(np.maximum(speeds - still, 0.0).max()) / scale]
    if TURN in piece.kind:
        return [_along_curve(u, G, mu, rubbed, pushed)]
    fast = int(np.argmax(speeds))
    if speeds[fast] <= still:
        return []
    way = u[fast, 1:] / speeds[fast]
    aside = float(np.abs(u[:, 1:] - speeds[:, None] * way).max())
    return [
        float(np.linalg.norm(rubbed + mu(float(speeds[fast])) * pushed[:, None] * way, axis=1).max()),
        aside / scale,
    ]


def _along_curve(u: Array, G: Array, mu: Coefficient, rubbed: Array, pushed: Array) -> float:
    """dp_T/dp = −μ u_T/|u_T| along a curve, by the trapezoid corrected by slopes: an error of fourth order."""
    speeds = np.linalg.norm(u[:, 1:], axis=1)
    # A slip that decays to rounding has no direction there.
    seen = speeds > 1e-7 * speeds.max()
    coefficients = np.array([mu(float(s)) for s in speeds])
    way = u[:, 1:] / np.maximum(speeds, 1e-300)[:, None]
    ratio = -coefficients[:, None] * way
    pull = G[1:, 0] + ratio @ G[1:, 1:]
    along = np.einsum("ki,ki->k", pull, way)
    turning = -coefficients[:, None] * (pull - along[:, None] * way) / np.maximum(speeds, 1e-300)[:, None]
    h = 1e-6 * speeds.max()
    steeper = np.array([(mu(float(s) + h) - mu(max(float(s) - h, 0.0))) / (h + min(float(s), h)) for s in speeds])
    slope = turning - (steeper * along)[:, None] * way
    both = seen[1:] & seen[:-1]
    step = pushed[:, None]
    guess = step * (ratio[1:] + ratio[:-1]) / 2 + step**2 * (slope[:-1] - slope[1:]) / 12
    return float(np.abs(np.where(both[:, None], rubbed - guess, 0.0)).sum(axis=0).max())


def _work_along(piece: Piece, u: Array, G: Array) -> float:
    """∫u_N dp by the corrected trapezoid, exact on straight pieces."""
    pushed = piece.normal[1:] - piece.normal[:-1]
    return float(pushed @ (u[1:, 0] + u[:-1, 0]) / 2) - _bend(piece, G)


def _bend(piece: Piece, G: Array) -> float:
    """What the trapezoid misses where du_N/dp changes: Σ h² (f′₁ − f′₀)/12, the slopes by differences."""
    pushed = piece.normal[1:] - piece.normal[:-1]
    if pushed.size < 2 or piece.friction.shape[1] == 0:
        return 0.0
    rates = np.gradient(piece.friction, piece.normal, axis=0, edge_order=2) if np.all(pushed > 0) else None
    if rates is None:
        return 0.0
    slope = G[0, 0] + rates @ G[0, 1:]
    return float((pushed**2) @ np.diff(slope) / 12)
