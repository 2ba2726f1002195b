"""Impacts of a system: from its one-sided constraints and laws of friction to blows, and the record of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from dalembert.arrays import Array, norm_of
from dalembert.errors import DalembertError, InconsistentConstraints
from dalembert.graph.contacts import ContactState
from dalembert.graph.convert import Converter
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.model.language.symbols import t as time
from dalembert.motion.contacts.impacts.blow import LAWS, Piece
from dalembert.motion.contacts.impacts.blow_values import Blow, Meeting, Share
from dalembert.motion.contacts.impacts.caught import Moment, over_a_moment
from dalembert.motion.contacts.impacts.guided import GuideImpulse
from dalembert.motion.contacts.impacts.guides import guides_at
from dalembert.motion.contacts.impacts.impact_on_arrays import strike
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, Mode
from dalembert.motion.state.project import relative_residual
from dalembert.results import Result, plain_values

# Directions of sliding that move by less than this share of the others do not move: rounding.
FLAT = 1e-9
# A blow keeps a constraint whose relative residual after it is rounding.
KEPT = 1e-9


@dataclass(frozen=True, eq=False)
class ContactImpulse:
    """What a one-sided constraint did in a blow: its normal impulse, as large as its reaction is a force, and friction
    along the components of its sliding velocity; both in all, and when compression ended. e: the restitution that held.
    state: "slip", "stick", "reversal", "smooth" (no friction) or "open". pieces: the way of a contact alone.
    """

    name: str
    normal: float
    friction: Array
    compression: float
    compression_friction: Array
    loss: float
    e: float
    state: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, eq=False)
class Impact(Result):
    """A blow: M (after − before) = Aᵀ constraint_impulses + what the contacts push and rub, and the guides rub: those
    two-sided constraints with friction that it presses. limited: restitution was less than its law says, which would
    have made energy. left_out: the energy of bounces right after it that are too slow to be followed, and are not made;
    it is lost too.
    """

    t: float
    law: str
    q: Array
    before: Array
    after: Array
    contacts: tuple[ContactImpulse, ...]
    constraint_impulses: Array
    limited: bool
    left_out: float = 0.0
    guides: tuple[GuideImpulse, ...] = ()

    @property
    def loss(self) -> float:
        return sum(contact.loss for contact in self.contacts) + sum(guide.loss for guide in self.guides)

    def text(self) -> str:
        lines = [f"impact at t = {self.t:.10g}, energy lost {self.loss + self.left_out:.6g}"]
        for c in self.contacts:
            rubbed = f", friction {float(np.linalg.norm(c.friction)):.6g}" if c.friction.size else ""
            lines.append(f"  '{c.name}': {c.state}, normal impulse {c.normal:.6g}{rubbed}")
        for g in self.guides:
            rubbed = f"friction {float(np.linalg.norm(g.friction)):.6g}"
            lines.append(f"  guide '{g.name}': {g.state}, normal impulse {g.normal:.6g}, {rubbed}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {key: plain_values(value) for key, value in vars(self).items()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Impact:
        contacts = []
        for entry in data["contacts"]:
            arrays = {key: np.array(entry[key], dtype=float) for key in ("friction", "compression_friction")}
            contacts.append(ContactImpulse(**{**entry, **arrays, "pieces": _pieces(entry)}))
        guides = tuple(
            GuideImpulse(**{**entry, "friction": np.array(entry["friction"], dtype=float), "pieces": _pieces(entry)})
            for entry in data.get("guides", ())
        )
        arrays = {key: np.array(data[key], dtype=float) for key in ("q", "before", "after", "constraint_impulses")}
        return Impact(**{**data, **arrays, "contacts": tuple(contacts), "guides": guides})


def _pieces(entry: Mapping[str, Any]) -> tuple[Piece, ...]:
    return tuple(
        Piece(piece["kind"], np.array(piece["normal"]), _vectors(piece["friction"], len(entry["friction"])))
        for piece in entry["pieces"]
    )


def _vectors(rows: Sequence[Sequence[float]], size: int) -> Array:
    return np.array(rows, dtype=float).reshape(len(rows), size)


def impacts_at(
    contacts: Contacts, touching: Sequence[int], t: float, q: Array, v: Array, slow: float, slowest: float
) -> tuple[tuple[Impact, ...], set[int]]:
    """The blows of the one-sided constraints that touch (by number), and those that approached. slow: what counts as
    rest; slowest: the speed of the slowest bounce; both as velocities of the coordinates.
    """
    made = [Rough(contacts, k, t, q, v) for k in touching]
    M, _, A, _ = contacts.unconstrained(q, v, t)
    meetings = [rough.meeting(slowest) for rough in made]
    try:
        blows = strike(M, A[contacts.always], meetings, v, contacts.system.impacts, slow, guides_at(contacts, t, q, v))
        _require_kept(contacts, blows, t, q)
    except DalembertError as error:
        raise InconsistentConstraints(f"{contacts.system.name}, t = {t:.10g}: impact: {error}") from None
    by_name = {rough.name: rough for rough in made}
    lengths = {rough.name: norm_of(rough.normal) for rough in made}
    met = {
        by_name[share.name].which
        for blow in blows
        for share in blow.shares
        if share.before[0] < -slow * lengths[share.name]
    }
    return tuple(_impact(blow, by_name, t, q) for blow in blows), met


def moment_of(
    contacts: Contacts, touching: Sequence[int], t: float, q: Array, v: Array, slow: Set[int], resting: Set[int]
) -> tuple[Moment, Impact | None]:
    """What the one-sided constraints that touch (by number) do over a moment, and the blow that catches bodies between
    them. slow: contacts that a moment may stop; resting: those of them at rest.
    """
    made = [Rough(contacts, k, t, q, v) for k in touching]
    M, _, A, _ = contacts.unconstrained(q, v, t)
    ones = (1,) * len(contacts.contacts)
    flying = Mode((OPEN,) * len(ones), ones, ones, (False,) * len(contacts.one_sided), contacts.frames_at(q, v, t))
    seen = contacts.at(q, v, t, contacts.instant(flying, q, v, t).acceleration, frames=flying.frames)
    drives = [rough.rates(seen) for rough in made]
    stops, rests = ([contacts.rubbing[k] in some for k in touching] for some in (slow, resting))
    moment = over_a_moment(M, A[contacts.always], [rough.meeting(0.0) for rough in made], v, drives, stops, rests)
    if moment.blow is None:
        return moment, None
    return moment, _impact(moment.blow, {rough.name: rough for rough in made}, t, q)


def _require_kept(contacts: Contacts, blows: Sequence[Blow], t: float, q: Array) -> None:
    """Refuse blows that leave a constraint nonlinear in the velocities: impulses along its gradient before them, which
    would do for linear ones, do not lead back to it, and no law of mechanics says which others would.
    """
    whole = contacts.whole
    for blow in blows if whole.graph.curved else ():
        values, slopes = whole.velocity(q, blow.after, t)
        off = relative_residual(values, slopes, max(norm_of(blow.before), norm_of(blow.after)))
        rows = (*whole.graph.position_rows, *whole.graph.velocity_rows)
        names = [
            contacts.system.constraints[row].name
            for row, o in zip(rows, off, strict=True)
            if row in whole.graph.curved and o > KEPT
        ]
        if names:
            raise InconsistentConstraints(
                f"{', '.join(map(repr, names))} is nonlinear in the velocities, and no law says with which of them a "
                "blow ends. End the motion there by an event, or state the constraint linearly."
            )


class Rough:
    """One-sided constraint number `which` at a state, with the friction it carries: u_N = normal·v + offset; the
    sliding velocity along orthonormal directions, tangents v + slide_offset, is basisᵀ times its own components.
    """

    def __init__(self, contacts: Contacts, which: int, t: float, q: Array, v: Array) -> None:
        self.contacts, self.which, self.t, self.q, self.v = contacts, which, t, q, v
        self.constraint = contacts.system.constraints[contacts.one_sided[which]]
        self.name = self.constraint.name
        n, frames = contacts.n, contacts.frames_at(q, v, t)  # so that who reads the record finds the same directions
        A = contacts.unconstrained(q, v, t)[2]
        seen = contacts.at(q, v, t, frames=frames)
        self.normal, self.offset = A[contacts.one_sided[which]].copy(), 0.0
        self.offset = float(seen.gap_rate[which] - self.normal @ v)
        self.tangents, self.slide_offset, self.basis = np.zeros((0, n)), np.zeros(0), np.zeros((0, 0))
        self.contact: Contact | None = None
        self.mu_now, self.mu_static, self.lever = 0.0, 0.0, 1.0
        k = contacts.rubbing[which]
        if k is None:
            return
        at, lever = contacts.components[k], float(seen.lever[k])
        if not lever > 0.0:
            return
        self.contact, self.lever = contacts.contacts[k], lever
        self.mu_now, self.mu_static = float(seen.mu[k]), float(seen.mu_static[k])
        # A normal impulse is as large as the force that the reaction would be.
        self.normal, self.offset = self.normal / lever, self.offset / lever
        rows = contacts.forces(q, v, t, frames)[:, at].T
        offset = seen.slide[at] - rows @ v
        if np.abs(offset).max(initial=0.0) <= FLAT * np.abs(rows @ v).max(initial=0.0) * 1e-3:
            offset = np.zeros(offset.size)
        self.basis = _directions(rows, offset)
        self.tangents, self.slide_offset = self.basis.T @ rows, self.basis.T @ offset

    @property
    def takes_guides(self) -> bool:
        """Whether the friction of guides has a part in its blows: where it slides along a line with one coefficient."""
        speedy = self.contact is not None and SPEED in self.contact.mu.free_symbols
        return self.basis.shape[1] <= 1 and not speedy

    def mu(self) -> Callable[[float], float]:
        """The coefficient of friction at this state, of the sliding speed."""
        if self.contact is None or SPEED not in self.contact.mu.free_symbols:
            constant = self.mu_now
            return lambda speed: constant
        system = self.contacts.system
        values = dict(zip(system.parameter_symbols, map(sp.Float, system.parameter_values()), strict=True))
        values |= dict(zip(system.coordinates, map(sp.Float, self.q), strict=True))
        values |= dict(zip(system.velocities, map(sp.Float, self.v), strict=True))
        expression = self.contact.mu.xreplace({**values, time: sp.Float(self.t)})
        s = ca.SX.sym("speed")
        function = ca.Function("mu", [s], [Converter({SPEED: s})(expression)])
        return lambda speed: float(function(speed))

    def meeting(self, slowest: float) -> Meeting:
        return Meeting(
            name=self.name,
            normal=self.normal,
            offset=self.offset,
            tangents=self.tangents,
            slide_offset=self.slide_offset,
            mu=self.mu(),
            mu_static=self.mu_static,
            e=self.contacts.restitutions[self.which],
            law=self.constraint.impact or LAWS[0],
            slowest=slowest,
            takes_guides=self.takes_guides,
        )

    def rates(self, seen: ContactState) -> Array:
        """What its velocities change by, with the accelerations of `seen`."""
        slide = np.zeros(0)
        if self.contact is not None:
            k = self.contacts.rubbing[self.which]
            assert k is not None
            slide = self.basis.T @ seen.slide_rate[self.contacts.components[k]]
        return np.append(seen.gap_acceleration[self.which] / self.lever, slide)

    def impulse_of(self, share: Share) -> ContactImpulse:
        pieces = () if share.path is None else share.path.pieces
        return ContactImpulse(
            name=self.name,
            normal=float(share.impulse[0]),
            friction=self.basis @ share.impulse[1:],
            compression=float(share.compression[0]),
            compression_friction=self.basis @ share.compression[1:],
            loss=share.loss,
            e=share.e,
            state=share.state,
            pieces=tuple(Piece(p.kind, p.normal, p.friction @ self.basis.T) for p in pieces),
        )


def left_out(contacts: Contacts, impacts: Sequence[Impact]) -> tuple[str, ...]:
    """What to say of friction that impacts would have and these do not."""
    if not impacts or not contacts.contacts:
        return ()
    used = set(contacts.rubbing)
    # Friction of two-sided constraints matters where these had a share in a blow.
    always = [c.name for k, c in enumerate(contacts.system.constraints) if k not in contacts.one_sided]
    sliding = {contacts.contacts[k].name for k in contacts.sliding_guides}
    names: dict[str, None] = {}
    shared: dict[str, None] = {}  # those of them whose reactions are not determined
    for impact in impacts:
        least = FLAT * max((contact.normal for contact in impact.contacts), default=0.0)
        struck = {name for name, p in zip(always, impact.constraint_impulses, strict=True) if abs(p) > least}
        struck |= {contact.name for contact in impact.contacts if contact.normal > 0}
        rubbing = {guide.name for guide in impact.guides}
        without = [
            c.name
            for k, c in enumerate(contacts.contacts)
            if k not in used and c.name not in rubbing and struck & set(c.constraints)
        ]
        if sliding.intersection(without):
            determined = {guide.name for guide in guides_at(contacts, impact.t, impact.q, impact.before)}
            shared |= {name: None for name in without if name in sliding - determined}
        names |= {name: None for name in without if name not in shared}
    found = []
    if shared:
        found.append(
            f"friction of {', '.join(map(repr, shared))} has no part in the impacts: constraints depend on each other, "
            "and nothing determines how they share a blow. Remove what is redundant"
        )
    if names:
        found.append(
            f"friction of {', '.join(map(repr, names))} has no part in the impacts: only sliding on one-sided "
            "constraints which carry it alone has one, and sliding along a line with one coefficient on two-sided "
            'constraints, where one contact strikes at a time (impacts = "sequence") along a line'
        )
    return tuple(found)


def with_impulses(events: Sequence[Mapping[str, Any]], impacts: Sequence[Impact]) -> tuple[Mapping[str, Any], ...]:
    """The events of contacts with the impulses of their instant, all blows of it together."""
    sums: dict[tuple[float, str], tuple[float, list[float]]] = {}
    for impact in impacts:
        for contact in impact.contacts:
            key, normal, friction = (impact.t, contact.name), contact.normal, contact.friction.tolist()
            if key in sums:
                normal, friction = sums[key][0] + normal, [x + y for x, y in zip(sums[key][1], friction, strict=True)]
            sums[key] = normal, friction
    if not sums:
        return tuple(events)
    found = []
    for event in events:
        key = event["t"], event.get("contact", "")
        if key in sums and event["name"] in ("impact", "contact", "release"):
            normal, friction = sums[key]
            event = {**event, "impulse": {"normal": normal, "friction": [*friction]}}
        found.append(event)
    return tuple(found)


def _impact(blow: Blow, by_name: Mapping[str, Rough], t: float, q: Array) -> Impact:
    told = tuple(by_name[share.name].impulse_of(share) for share in blow.shares)
    return Impact(
        t=t,
        law=blow.law,
        q=q.copy(),
        before=blow.before,
        after=blow.after,
        contacts=told,
        constraint_impulses=blow.constraint_impulses,
        limited=blow.limited,
        guides=blow.guides,
    )


def _directions(rows: Array, offset: Array) -> Array:
    """Orthonormal directions, as columns, in which a point slides or is slid: of three components that span a plane,
    two.
    """
    if rows.shape[0] == 1:
        return np.ones((1, 1))
    size = max(float(np.abs(rows).max(initial=0.0)), 1e-300)
    drift = float(np.abs(offset).max(initial=0.0))
    U, sigma, _ = np.linalg.svd(np.column_stack([rows / size, offset / drift if drift > 0.0 else offset]))
    return np.asarray(U[:, : int((sigma > FLAT).sum())])
