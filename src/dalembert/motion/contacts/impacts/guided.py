"""The blow of one contact whose push, and whose friction, press rough guides.

    du/dp = G (1, ρ, f),    λ' = response (1, ρ, f),    |f_g| ≤ μ_g |N_g|,    N_g = force_g λ'

per normal impulse p of the contact, with ρ its own friction and f_g that of guide g: all slide along lines, so that the
way is made of straight pieces. What slips rubs against it, what is at rest sticks or slips on. The sign of each N_g is
not known beforehand: all combinations are looked through, and the one that agrees with its own assumptions is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.motion.contacts.impacts.blow import ONWARD, SLIP, SMOOTH, STICK, STOPPED, Course, Path, Piece
from dalembert.motion.contacts.impacts.guides import Guide

# So many combinations of sticking, slipping and signs of reactions are looked through at most.
MOST = 5000
# Where there are more, so many changes of a first guess are made, and more with more guides.
PIVOTS = 60
# A combination agrees with its assumptions to this share of the reactions: rounding of the products.
AGREES = 1e-11
# Rates that differ by more than this share are different motions.
DIFFERENT = 1e-7
# Directions of a reaction of several constraints are found to rounding in a few turns, where they are found.
TURNS = 60
# Friction that changes reactions of several constraints by more than this share of itself may have several solutions.
CERTAIN = 0.9


@dataclass(frozen=True, eq=False)
class GuideImpulse:
    """What a rough guide did in a blow. normal: ∫|dN|, the impulse that limits its friction, whichever way its reaction
    pushed. friction: along its sliding velocity. state: "slip", "stick" or "reversal". pieces: the way, each part of it
    together with one of the contact that struck.
    """

    name: str
    normal: float
    friction: Array
    loss: float
    state: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class _Rub:
    """One friction of the blow: of the contact itself, whose reaction is the push, or of a guide. force: its reaction
    per impulse along each row.
    """

    name: str
    mu: float
    mu_static: float
    force: Array


# The direction in which each friction slips (0: it sticks), all frictions and the reactions that limit them.
_Way = tuple[tuple[int, ...], Array, Array]


class GuidedCourse(Course):
    """u: the velocities of the contact, normal first and at most one along it, then those of the guides. response:
    multipliers of the two-sided constraints per impulse along each of these rows.
    """

    def __init__(
        self, name: str, G: Array, u: Array, mu: float, mu_static: float, guides: Sequence[Guide], response: Array
    ) -> None:
        super().__init__(G, u, lambda speed: mu, mu_static)
        self.own = self.d - len(guides)
        self.rubs = [_Rub(name, mu, max(mu, mu_static), np.eye(1, u.size))] * self.own
        self.rubs += [_Rub(g.name, g.mu, g.mu_static, g.force @ response) for g in guides]
        self.pressed = np.zeros((1, len(guides)))  # ∫|dN| of the guides, at the ends of pieces
        self.ways: list[list[str]] = []  # of each piece, what each friction does
        self.rested: set[int] = set()  # frictions that have stopped
        self.load = np.zeros(len(guides))

    @property
    def is_held(self) -> bool:
        """Whether friction holds all that the contact pushes, so that its normal velocity does not rise."""
        return self.slope[0] == 0.0 and len(self.held) == self.d

    def _enter(self) -> tuple[str, float]:
        slow = STOPPED * self.size
        still = [k for k in range(self.d) if abs(self.u[k + 1]) <= slow]
        self.u[[k + 1 for k in still]] = 0.0
        directions = [0 if k in still else int(np.sign(self.u[k + 1])) for k in range(self.d)]
        sliding, ratio, load = self._agreeing(directions)
        self.load = load[self.own :]
        self.held = [k + 1 for k in range(self.d) if sliding[k] == 0]
        self.rested.update(still)
        kinds = [STICK if s == 0 else ONWARD if k in self.rested else SLIP for k, s in enumerate(sliding)]
        self.ways.append(kinds)
        self._go(ratio)
        stops = {
            k + 1: -float(self.u[k + 1] / self.slope[k + 1])
            for k in range(self.d)
            if directions[k] * self.slope[k + 1] < 0.0
        }
        stop = min(stops.values(), default=np.inf)
        self.stopping = [row for row, length in stops.items() if length <= stop * (1.0 + 1e-14)]
        return kinds[0] if self.own else SMOOTH, stop

    def _straight(self, kind: str, length: float) -> None:
        super()._straight(kind, length)
        self.pressed = np.vstack([self.pressed, self.pressed[-1] + length * self.load])

    # -- which combination agrees

    def _agreeing(self, directions: Sequence[int]) -> _Way:
        """What each friction does on the piece that follows, per normal impulse."""
        self._require_certain()
        options = [(s,) if s else (0, 1, -1) for s in directions]
        found: list[_Way] = []
        if sum(2 ** self._signed(sliding) for sliding in islice(product(*options), MOST)) < MOST:
            for sliding in product(*options):
                for signs in self._signs(sliding):
                    solved = self._solved(sliding, signs)
                    if solved is not None and not self._objections(sliding, directions, *solved):
                        found.append((sliding, *solved[:2]))
        else:
            found += self._pivoted(directions)
        if not found:
            raise InconsistentConstraints(
                f"no slipping or sticking agrees with the friction of {self._names()} in this blow: the guide jams; a "
                "smaller coefficient, or a compliant model, would not"
            )
        # Static friction holds what it can hold.
        most = max(sliding.count(0) for sliding, *_ in found)
        best = [one for one in found if one[0].count(0) == most]
        slopes = [self.G @ np.concatenate([[1.0], ratio]) for _, ratio, _ in best]
        size = float(np.abs(slopes[0]).max())
        if any(float(np.abs(slope - slopes[0]).max()) > DIFFERENT * size for slope in slopes[1:]):
            raise InconsistentConstraints(
                f"several ways of slipping agree with the friction of {self._names()} in this blow, so that its law "
                "does not determine what happens (Painlevé's paradox); a smaller coefficient or a compliant model would"
            )
        return best[0]

    def _pivoted(self, directions: Sequence[int]) -> list[_Way]:
        """The same where there are too many combinations: whatever contradicts its assumption changes over, all at
        once, one by one after a repetition.
        """
        sliding, signs = list(directions), [1] * self.d
        seen: set[tuple[int, ...]] = set()
        for _ in range(PIVOTS + 4 * self.d):
            key = (*sliding, *signs)
            careful = key in seen
            seen.add(key)
            solved = self._solved(sliding, signs)
            if solved is None:
                return []
            wrong = self._objections(sliding, directions, *solved)
            if not wrong:
                return [(tuple(sliding), *solved[:2])]
            for kind, k in wrong[:1] if careful else wrong:
                if kind == "sign":
                    signs[k] = -signs[k]
                elif kind == "cone":
                    sliding[k] = -int(np.sign(solved[0][k])) or 1
                else:
                    sliding[k] = 0
        return []

    def _signed(self, sliding: Sequence[int]) -> int:
        """How many reactions of slipping guides have a sign to be found."""
        return sum(1 for s in sliding[self.own :] if s)

    def _signs(self, sliding: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """The signs that the reactions of slipping guides may have."""
        return product(*((1, -1) if s and k >= self.own else (1,) for k, s in enumerate(sliding)))

    def _solved(self, sliding: Sequence[int], signs: Sequence[int]) -> tuple[Array, Array, list[int]] | None:
        """Frictions and the reactions that limit them, if what slips has reactions of these signs; and where they have
        not.
        """
        d = self.d
        ways: list[Array] = [sign * _unit(rub.force[:, 0]) for rub, sign in zip(self.rubs, signs, strict=True)]
        for _ in range(TURNS):
            system, right = np.zeros((d, d)), np.zeros(d)
            for k, (rub, s) in enumerate(zip(self.rubs, sliding, strict=True)):
                if s == 0:
                    system[k], right[k] = self.G[k + 1, 1:], -self.G[k + 1, 0]
                else:
                    limit = rub.mu * s * (ways[k] @ rub.force)
                    system[k], right[k] = limit[1:], -limit[0]
                    system[k, k] += 1.0
            ratio = np.linalg.lstsq(system, right, rcond=1e-12)[0]
            if np.abs(system @ ratio - right).max() > AGREES * max(np.abs(right).max(), np.abs(ratio).max()):
                return None
            reactions = [rub.force @ np.concatenate([[1.0], ratio]) for rub in self.rubs]
            turned = [k for k, s in enumerate(sliding) if s and reactions[k].size > 1]
            found = {k: _unit(reactions[k]) for k in turned}
            if all(np.abs(found[k] - ways[k]).max() <= 1e-14 for k in turned):
                break
            for k in turned:
                ways[k] = found[k]
        load = np.array([float(np.linalg.norm(reaction)) for reaction in reactions])
        wrong = [k for k, s in enumerate(sliding) if s and float(ways[k] @ reactions[k]) < -AGREES * self._press(k)]
        return np.asarray(ratio), load, wrong

    def _objections(
        self, sliding: Sequence[int], directions: Sequence[int], ratio: Array, load: Array, signs: Sequence[int]
    ) -> list[tuple[str, int]]:
        """What contradicts its assumption: the sign of a reaction, a cone, the way in which what was at rest slips."""
        slope = self.G @ np.concatenate([[1.0], ratio])
        found = [("sign", k) for k in signs]
        for k, (s, rub) in enumerate(zip(sliding, self.rubs, strict=True)):
            if s == 0 and abs(ratio[k]) > rub.mu_static * load[k] + AGREES * self._press(k):
                found.append(("cone", k))
            if s != 0 and directions[k] == 0 and s * slope[k + 1] < -AGREES * self._push(k):
                found.append(("way", k))
        return found

    def _require_certain(self) -> None:
        """Reactions of several constraints have a direction, which is found by turning; it is the only one where
        friction changes it by less than itself.
        """
        for rub in self.rubs:
            if rub.force.shape[0] == 1:
                continue
            felt = sum(other.mu * float(np.linalg.norm(rub.force[:, h + 1])) for h, other in enumerate(self.rubs))
            if felt > CERTAIN:
                raise InconsistentConstraints(
                    f"friction of {self._names()} changes the reaction of {rub.name!r} in this blow by as much as "
                    "itself, so that the guide may jam: with reactions of several constraints this is not decided; a "
                    "smaller coefficient is"
                )

    def _press(self, k: int) -> float:
        """The size of the reactions of friction k."""
        return float(np.abs(self.rubs[k].force).sum())

    def _push(self, k: int) -> float:
        """The size of what accelerates friction k."""
        return float(np.abs(self.G[k + 1]).sum())

    def _names(self) -> str:
        return ", ".join(repr(rub.name) for rub in self.rubs[self.own :])

    # -- what it was

    def path(self, whole: Path) -> Path:
        """That of the contact itself."""
        own = tuple(Piece(p.kind, p.normal, p.friction[:, : self.own]) for p in whole.pieces)
        return Path(own, whole.compression, whole.limited)

    def guide_impulses(self, whole: Path) -> tuple[GuideImpulse, ...]:
        found = []
        for g, rub in enumerate(self.rubs[self.own :]):
            column = self.own + g
            pieces, loss = [], 0.0
            for number, piece in enumerate(whole.pieces):
                rubbed = piece.friction[:, column]
                ends = self.start[column + 1] + np.column_stack([piece.normal, piece.friction]) @ self.G[column + 1]
                loss -= float(rubbed[1] - rubbed[0]) * float(ends.sum()) / 2
                kind = self.ways[number][column]
                pieces.append(Piece(kind, self.pressed[number : number + 2, g].copy(), rubbed[:, None].copy()))
            state = Path(tuple(pieces), 0.0, False).state
            impulse = np.array([float(whole.friction[column])])
            found.append(GuideImpulse(rub.name, float(self.pressed[-1, g]), impulse, loss, state, tuple(pieces)))
        return tuple(found)


def _unit(vector: Array) -> Array:
    size = float(np.linalg.norm(vector))
    return vector / size if size > 0.0 else np.eye(vector.size)[0]
