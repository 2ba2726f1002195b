"""One contact in a blow, followed over its normal impulse (Routh 1860, Stronge 1990).

With p the normal impulse so far, ρ = dp_T/dp and G the inverse inertia that the contact feels (normal first),

    d(u_N, u_T)/dp = G (1, ρ),    ρ = −μ u_T/|u_T| while it slips,    ρ = −G_TT⁺ G_TN, |ρ| ≤ μ_s while it sticks.

Along a line the path is made of straight pieces. In a plane the direction of slipping turns: with ds = dp/|u_T| its
equation is smooth until the slipping stops, at s = ∞.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, norm_of
from dalembert.errors import InconsistentConstraints

SMOOTH, SLIP, STICK, REVERSAL = "smooth", "slip", "stick", "reversal"
ONWARD, TURN = "onward", "turn"  # kinds of pieces: slipping after a stop, slipping along a curve
NEWTON, POISSON, STRONGE = LAWS = ("newton", "poisson", "stronge")
# Slipping slower than this share of the speeds of the blow has stopped: a hundred units of rounding.
STOPPED = 1e-14
# A direction that turns by less than this share of what drives it does not turn: rounding of the products in G.
STRAIGHT = 1e-13
# Each step along a curved piece is kept in so many parts: steps are as long as a method of order eight lets them be, so
# that quadrature of fourth order on the parts has ten digits where the way turns sharply, too.
PARTS_OF_STEP = 16
# A blow has few pieces: slip, stick or slip back, in compression and in restitution.
MOST_PIECES = 20
# Units of s after which slipping that neither stops nor ends the blow is told to be a jam.
LONGEST = 1e9
# A normal velocity that rises by less than this share of G_NN per impulse does not rise: rounding.
RISES = 1e-12


class Jam(InconsistentConstraints):
    """No impulse ends a phase of a blow."""


@dataclass(frozen=True)
class Piece:
    """A part of a blow. kind: "slip", "onward" (slip after a stop) or "stick" along a straight piece, "turn" and
    "onward turn" along a curve, "smooth" without friction. normal (K,) and friction (K, d): the impulses from its start
    to its end.
    """

    kind: str
    normal: Array
    friction: Array


@dataclass(frozen=True)
class Path:
    """A blow of one contact. compression: the normal impulse when it ends; limited: whether the law of restitution
    would have made energy, so that the blow ended where its loss is zero.
    """

    pieces: tuple[Piece, ...]
    compression: float
    limited: bool

    @property
    def normal(self) -> float:
        return float(self.pieces[-1].normal[-1]) if self.pieces else 0.0

    @property
    def friction(self) -> Array:
        return self.pieces[-1].friction[-1] if self.pieces else np.zeros(0)

    @property
    def state(self) -> str:
        """What the contact did: "slip", "stick" (it ended so), "reversal" (it stopped and slipped on), "smooth"."""
        kinds = [piece.kind for piece in self.pieces]
        if not kinds or kinds[0] == SMOOTH:
            return SMOOTH
        return STICK if kinds[-1] == STICK else REVERSAL if any(k.startswith(ONWARD) for k in kinds) else SLIP


def follow(G: Array, u: Array, mu: Callable[[float], float], mu_static: float, e: float, law: str) -> Path:
    """The blow of a contact that closes with u = (u_N, u_T), u_N < 0, under a law of restitution e.

    newton: ends where u_N = −e u_N⁻. poisson: the impulse of restitution is e times that of compression. stronge: the
    normal impulse gives back e² of the work it took (Stronge 1990). None gives back more energy than there was.
    """
    return follow_course(Course(G, u, mu, mu_static), e, law)


def follow_course(blow: Course, e: float, law: str) -> Path:
    """The same of a blow that is ready to be followed."""
    approach = -float(blow.u[0])
    if approach <= 0.0:
        return Path((), 0.0, False)
    if blow.d == 0 and blow.G[0, 0] > 0.0:
        return _smooth(approach / float(blow.G[0, 0]), e)
    blow.run([lambda b: (b.u[0], b.slope[0], 0.0)])
    compression, absorbed = blow.p, blow.work
    limited = False
    if e > 0.0:
        ends = {
            NEWTON: lambda b: (b.u[0] - e * approach, b.slope[0], 0.0),
            POISSON: lambda b: (b.p - (1.0 + e) * compression, 1.0, 0.0),
            STRONGE: lambda b: (b.work - (1.0 - e * e) * absorbed, b.u[0], b.slope[0]),
        }
        # A blow with e = 1 that nothing rubs loses nothing: its rounding is no gain.
        room = 1e-12 * abs(absorbed)
        gains = lambda b: (b.gain - room, b.u @ b.ratio, b.slope @ b.ratio)  # noqa: E731
        limited = blow.run([ends[law], gains]) == 1
    return Path(tuple(blow.pieces), compression, limited)


def _smooth(compression: float, e: float) -> Path:
    """Where nothing rubs the way is straight, and all laws of restitution say the same; none may make energy."""
    ends, none = [0.0, compression, compression * (1.0 + min(e, 1.0))], np.zeros((2, 0))
    pieces = [Piece(SMOOTH, np.array(ends[k : k + 2]), none) for k in range(2 if e > 0.0 else 1)]
    return Path(tuple(pieces), compression, e > 1.0)


# A quantity f of a blow on a straight piece: f now, f′ and f″ by the normal impulse. It ends the piece where it rises
# to zero.
_End = Callable[["Course"], tuple[float, float, float]]


class Course:
    """A blow on its way: velocities u (normal first) and impulses, piece by piece."""

    def __init__(self, G: Array, u: Array, mu: Callable[[float], float], mu_static: float) -> None:
        self.G, self.start, self.mu, self.mu_static = G, u.copy(), mu, mu_static
        self.d = G.shape[0] - 1
        self.size = norm_of(u)
        self.u = u.copy()
        self.p, self.friction = 0.0, np.zeros(self.d)
        self.work = self.gain = 0.0  # of the normal impulse; of all of them
        self.ratio = self.slope = np.zeros(self.d + 1)
        self.pieces: list[Piece] = []
        self.stopped = False
        self.held: Sequence[int] = ()  # rows that do not move on the piece
        self.stopping: Sequence[int] = tuple(range(1, self.d + 1))  # those that are at rest where it stops

    def run(self, ends: Sequence[_End]) -> int:
        """Follow the blow until one of the quantities rises to zero: which."""
        for _ in range(MOST_PIECES):
            kind, stop = self._enter()
            if kind == TURN:
                ended = self._curve(ends)
            else:
                lengths = [_rises(*end(self)) for end in ends]
                length = min([stop, *lengths])
                if not length < np.inf:
                    raise _jam()
                self._straight(kind, length)
                ended = None
                if length == stop and stop < min(lengths):
                    self.u[list(self.stopping)] = 0.0
                else:
                    ended = lengths.index(length)
            if ended is not None:
                return ended
        raise _jam()

    def _enter(self) -> tuple[str, float]:
        """What kind of piece follows, and after which impulse its slipping would stop."""
        G, stop, d = self.G, np.inf, self.d
        ratio: Array
        speed = norm_of(self.u[1:])
        if d == 0:
            kind, ratio = SMOOTH, np.zeros(0)
        elif speed > STOPPED * self.size:
            way = self.u[1:] / speed
            ratio = -self.mu(speed) * way
            kind = ONWARD if self.stopped else SLIP
            pull = G[1:, 0] + G[1:, 1:] @ ratio
            turning = norm_of(pull - (pull @ way) * way)
            driven = norm_of(G[1:, 0]) + norm_of(G[1:, 1:] @ ratio)
            if turning > STRAIGHT * driven or self.mu(0.0) != self.mu(speed):
                return TURN, np.inf
            if pull @ way < -STRAIGHT * driven:
                stop = speed / -float(pull @ way)
        else:
            self.u[1:] = 0.0
            kind, ratio = STICK, -np.asarray(np.linalg.lstsq(G[1:, 1:], G[1:, 0], rcond=1e-12)[0])
            mu = self.mu(0.0)
            if np.linalg.norm(ratio) > max(self.mu_static, mu) * (1.0 + 1e-12):
                way, self.stopped = _breaking_way(G, mu), True
                kind, ratio = ONWARD, -mu * way
                if self.mu(self.size) != mu:
                    self.u[1:] = 2 * STOPPED * self.size * way
                    return TURN, np.inf
        self.held = self.stopping if kind == STICK else ()
        self._go(ratio)
        return kind, stop

    def _go(self, ratio: Array) -> None:
        """Friction per normal impulse on the piece that follows."""
        self.ratio = np.concatenate([[1.0], ratio])
        self.slope = self.G @ self.ratio
        if abs(self.slope[0]) <= RISES * self.G[0, 0]:
            self.slope[0] = 0.0

    def _straight(self, kind: str, length: float) -> None:
        before = self.p, self.friction
        self.p, self.friction = self.p + length, self.friction + length * self.ratio[1:]
        self.work += length * (float(self.u[0]) + length * float(self.slope[0]) / 2)
        self.gain += length * float(self.ratio @ (self.u + length * self.slope / 2))
        self.u = self.start + self.G @ np.array([self.p, *self.friction])
        if self.held:
            self.u[list(self.held)] = 0.0
        self.pieces.append(Piece(kind, np.array([before[0], self.p]), np.array([before[1], self.friction])))

    def _curve(self, ends: Sequence[_End]) -> int | None:
        """A piece of slipping that turns or whose coefficient changes: in ln|u_T| and the direction, over s."""
        from scipy.integrate import solve_ivp  # only here: most blows are straight

        G, size, d = self.G, self.size, self.d
        onward = self.stopped
        base_p, base_f, base_w, base_g = self.p, self.friction, self.work, self.gain
        speed = norm_of(self.u[1:])
        way0 = self.u[1:] / speed
        pace = float(np.linalg.norm(G[1:, 0]) + self.mu(speed) * np.linalg.norm(G[1:, 1:])) or 1.0
        unit = size / pace  # of impulses

        def read(y: Array) -> tuple[float, Array]:
            way = np.array([np.cos(y[1]), np.sin(y[1])]) if d == 2 else way0
            return float(np.exp(y[0])) * size, way

        def put(y: Array) -> None:
            r, way = read(y)
            self.p, self.friction = base_p + unit * y[2], base_f + unit * y[5:]
            self.u = self.start + G @ np.concatenate([[self.p], self.friction])
            self.work, self.gain = base_w + unit * size * y[3], base_g + unit * size * y[4]
            self.ratio = np.concatenate([[1.0], -self.mu(r) * way])
            self.slope = G @ self.ratio

        def rates(_: float, y: Array) -> Array:
            r, way = read(y)
            ratio = -self.mu(r) * way
            pull = (G[1:, 0] + G[1:, 1:] @ ratio) / pace
            normal = self.start[0] + G[0, 0] * (base_p + unit * y[2]) + G[0, 1:] @ (base_f + unit * y[5:])
            turn = way[0] * pull[1] - way[1] * pull[0] if d == 2 else 0.0
            share = r / size
            power = (normal + ratio @ (r * way)) / size
            return np.array([way @ pull, turn, share, share * normal / size, share * power, *(share * ratio)])

        def ending(k: int) -> Callable[[float, Array], float]:
            def value(_: float, y: Array) -> float:
                put(y)
                return ends[k](self)[0]

            return value

        events = [ending(k) for k in range(len(ends))]
        stops = lambda _, y: y[0] - np.log(STOPPED)  # noqa: E731
        for event in (*events, stops):
            event.terminal = True  # type: ignore[attr-defined]
        for event in events:
            event.direction = 1.0  # type: ignore[attr-defined]
        angle = float(np.arctan2(way0[1], way0[0])) if d == 2 else 0.0
        y0 = np.array([np.log(speed / size), angle, 0.0, 0.0, 0.0, *np.zeros(d)])
        found = solve_ivp(
            rates, (0.0, LONGEST), y0, "DOP853", dense_output=True, events=[*events, stops], rtol=1e-13, atol=1e-15
        )
        if found.status != 1:
            raise _jam()
        parts = np.arange(PARTS_OF_STEP * (found.t.size - 1) + 1) / PARTS_OF_STEP
        states = found.sol(np.interp(parts, np.arange(found.t.size), found.t))
        states[:, -1] = found.y[:, -1]
        put(found.y[:, -1])
        at_rest = len(found.t_events[-1]) > 0
        if at_rest:
            self.u[1:] = 0.0
        kind = f"{ONWARD} {TURN}" if onward else TURN
        self.pieces.append(Piece(kind, base_p + unit * states[2], base_f + unit * states[5:].T))
        return None if at_rest else next(k for k in range(len(ends)) if len(found.t_events[k]))


def _rises(value: float, slope: float, bend: float) -> float:
    """The first s > 0 at which value + slope s + bend s²/2 rises to zero; infinite where it does not."""
    if value >= 0.0:
        return 0.0 if slope > 0.0 or (slope == 0.0 and bend > 0.0) else np.inf
    if bend == 0.0:
        return -value / slope if slope > 0.0 else np.inf
    square = slope * slope - 2.0 * bend * value
    if square < 0.0:
        return np.inf
    root = float(np.sqrt(square))
    # Without cancellation: the root that is passed upwards.
    return -2.0 * value / (slope + root) if slope > 0.0 else (root - slope) / bend if bend > 0.0 else np.inf


def _breaking_way(G: Array, mu: float) -> Array:
    """The direction w in which a contact at rest slips: G_TN − μ G_TT w = f w with f ≥ 0, |w| = 1.

    |(μ G_TT + f)⁻¹ G_TN| falls with f, from more than one at f = 0, so there is one.
    """
    values, vectors = np.linalg.eigh(G[1:, 1:])
    pull, values = vectors.T @ G[1:, 0], mu * np.maximum(values, 0.0)
    low, high = 0.0, float(np.linalg.norm(pull))
    for _ in range(200):
        f = (low + high) / 2
        long = float(np.sum((pull / np.maximum(values + f, 1e-300)) ** 2)) > 1.0
        low, high = (f, high) if long else (low, f)
    way = vectors @ (pull / np.maximum(values + high, 1e-300))
    return np.asarray(way / np.linalg.norm(way))


def _jam() -> Jam:
    return Jam(
        "the impact jams: no impulse inside the cone of friction ends the approach (its normal velocity does not rise)"
    )
