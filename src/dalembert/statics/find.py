"""`system.equilibrium(…)`: configurations at rest, with every force and their stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, MissingValues, ModelError
from dalembert.model.constraints import is_linear
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State
from dalembert.motion.state.without_gradient import require_gradient
from dalembert.statics.cones import Holding, at_contacts, deepest_forces
from dalembert.statics.directions import coordinates_to_move, persistent_directions
from dalembert.statics.families import SAME, apart, gather, merge_families
from dalembert.statics.frozen import frozen_at, mentions_time
from dalembert.statics.particles import supplementary_places
from dalembert.statics.ranges import Question, range_of_equilibria
from dalembert.statics.result import ContactForce, Equilibria, Equilibrium
from dalembert.statics.stability import stability
from dalembert.statics.statics import Balance, Parts, Statics

# A gap below this share of its change over the sizes of the coordinates is closed; as in motions.
GAP = 1e-9
# Beyond this many one-sided constraints, only those that touch at the guess are closed.
MOST_ONE_SIDED = 6
# An acceleration at rest this large, against that of the forces alone, is none of rounding.
MOVES = 1e-6


def equilibrium(
    system: System,
    state: Mapping[Any, Any] | None = None,
    *,
    t: float | None = None,
    starts: int = 1,
    range_of: Any = None,
    between: tuple[float, float] | None = None,
) -> Equilibria:
    """Equilibria of a system: Q(q, 0) + C + Aᵀλ = 0 with all constraints satisfied at rest.

    The search begins at the initial configuration, or at `state`, and, with `starts` above 1, at that many less one
    further configurations drawn around it, always the same. A model with time in it must be stopped at `t`. With dry
    friction, whole ranges of configurations are equilibria: the one given is judged, moved only where no friction could
    hold it; `range_of` names a coordinate or parameter over which to find the range, `between` two values.

    Large systems (64 coordinates and more) that have a potential and ideal constraints on positions are let down from
    the configuration given: what is found is stable, or a configuration that balanced from the start.

    >>> import dalembert as da
    >>> found = da.library.pendulum().equilibrium(starts=10)
    >>> sorted((round(e["y"], 9), e.stability.verdict) for e in found)
    [(-1.0, 'stable'), (1.0, 'unstable')]
    """
    if is_large(system) and starts == 1 and range_of is None and between is None:
        from dalembert.statics.large import large_at_rest, large_equilibrium

        at_rest = _at_rest(system, state, t)
        if (rest := large_at_rest(at_rest)) is not None:
            return large_equilibrium(at_rest, rest)
    asked = _at_rest(system.expanded, state, t)
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ModelError(system.name, [f"starts: a whole number of at least 1 is wanted, got {starts!r}"])
    q = asked.initial_values()[0]
    _require_rows(asked, q)
    whole = Evaluation(asked)
    require_gradient(whole, whole.graph.position_rows, State(q, np.zeros_like(q)))
    statics = Statics(asked)
    turns = statics.turns
    families: list[list[Equilibrium]] = []

    def settle(place: Array) -> tuple[Array, Array] | None:
        near = _judge(statics, place, None, far=False).found
        return None if near is None else (near[0].q, persistent_directions(statics, near[0], near[1]))

    reason, freed = "", supplementary_places(asked)
    for k, start in enumerate(_starts(q, statics.sizes, turns, starts)):
        start[freed] = q[freed]
        one, why = _from(statics, start)
        reason = why if k == 0 else reason
        if one is None or np.any(np.abs(one.q[freed]) > GAP * statics.sizes[freed]):
            continue
        if k:
            one = replace(one, q=_wrap(one.q, turns))
        gather(families, one, turns, settle)
    found = [family[0] for family in merge_families(families, turns, settle)]
    found[1:] = sorted(found[1:], key=lambda e: float(np.linalg.norm(apart(e.q, q, turns) / statics.sizes)))
    interval = None
    if range_of is not None:
        question = Question(_safety, turns)
        interval = range_of_equilibria(statics, q, range_of, between, question)
    elif between is not None:
        raise ModelError(system.name, ["between: say of what (range_of=…, --range-of …)"])
    return Equilibria(asked, tuple(found), starts, reason, interval)


def _at_rest(system: System, state: Mapping[Any, Any] | None, t: float | None) -> System:
    """The system with time stopped, all velocities zero and the guess as its initial state."""
    if t is not None:
        if isinstance(t, bool) or not isinstance(t, (int, float)) or not np.isfinite(t):
            raise ModelError(system.name, [f"t: a finite number is wanted, got {t!r}"])
        system = frozen_at(system, float(t))
    elif mentions_time(system):
        raise DoesNotApply(
            f"{system.name}: time appears in the model, so that nothing stays at rest. Stop it at a time "
            "(t=…, --time …), or use coordinates of the moving frame."
        )
    asked = system.replace(initial={**(state or {}), **{v.name: 0 for v in system.velocities}}, events=())
    missing = [q.name for q in asked.coordinates if q not in asked.initial]
    if missing:
        where = f"say where to begin (initial={{…}}, --initial {missing[0]}=…)"
        raise MissingValues(system.name, [f"no initial value for {', '.join(missing)}: {where}"])
    return asked


def _require_rows(system: System, q: Array) -> None:
    """Constraints whose meaning at rest can be told."""
    nonlinear = [c.name for c in system.constraints if not is_linear([c.expression], system.accelerations)]
    if nonlinear:
        raise DoesNotApply(
            f"{system.name}: {', '.join(map(repr, nonlinear))} is nonlinear in the accelerations: what it forbids at "
            "rest is not determined"
        )
    branching = Evaluation(system).branching_constraints(q, np.zeros_like(q), 0.0)
    if branching:
        raise DoesNotApply(
            f"{system.name}: the gradient of {', '.join(map(repr, branching))} vanishes at rest: which displacements "
            "it forbids there is not determined"
        )


# -- one configuration


def _from(statics: Statics, start: Array) -> tuple[Equilibrium | None, str]:
    """The equilibrium near a configuration, or why there is none."""
    judged = _judge(statics, start, None)
    if judged.found is None:
        return None, judged.why
    found = judged.found
    at, parts, holding = found
    system = statics.system
    if holding is not None:
        at = replace(at, multipliers=holding.multipliers, friction=holding.friction)
    _, _, reach = statics.balance(at.q, at.multipliers, at.friction)
    acting = [*parts.rows, *(statics.m + k for k in parts.components)]
    full = (
        np.linalg.matrix_rank(_unit(statics.sizes[:, None] * reach[:, acting]), tol=1e-9) == len(acting)
        if acting
        else True
    )
    if holding is None and Evaluation(system).graph.uses_reactions:
        _require_still(system, at.q)
    forces = None
    if holding is not None:
        forces = {name: ContactForce(*values) for name, values in at_contacts(statics, at.q, holding).items()}
    answer = Equilibrium(
        system=system,
        q=at.q,
        multipliers=at.multipliers,
        gradients=reach[:, : statics.m].T,
        nonideal=reach[:, statics.m :] @ at.friction,
        determined=bool(full) if holding is None else holding.determined,
        stability=stability(statics, at, parts),
        sizes=statics.sizes,
        open=tuple(c.name for k, c in enumerate(system.constraints) if k not in parts.rows),
        margin=None if holding is None else holding.margin,
        contacts=forces,
    )
    return answer, ""


Found = tuple[Balance, Parts, Holding | None]


@dataclass(frozen=True)
class _Judged:
    """How safely a system rests (negative: it does not), what was found, or why nothing and what gives way."""

    margin: float
    found: Found | None
    why: str
    weak: str


def _safety(statics: Statics, start: Array, kept: tuple[int, ...]) -> tuple[float, str]:
    """The margin near a configuration with the coordinates `kept` as they are, and what gives way."""
    judged = _judge(statics, start, kept)
    return judged.margin, judged.weak


def _judge(statics: Statics, start: Array, kept: tuple[int, ...] | None, far: bool = True) -> _Judged:
    """How safely the system rests near `start`.

    kept: coordinates that must not change, and others only where they must; None: all may, as little as possible.
    far: look for a balance also where Newton's method finds none.
    """
    held = needs_legs(statics.system)
    best = _Judged(
        -1.0,
        None,
        "no configuration was found that balances the forces; more may be tried (starts=…, --starts …)",
        "no balance",
    )
    for closed in _sets_of_closed(statics, start):
        parts = statics.parts(closed)
        at = statics.solve(
            start, parts, None if kept is None else coordinates_to_move(statics, start, parts, kept), far
        )
        if at is None:
            continue
        through = statics.gaps(at.q) < -GAP * statics.closing(at.q)
        if any(k not in closed for k, flag in zip(statics.one_sided, through, strict=True) if flag):
            continue
        if not held:
            return _Judged(1.0, (at, parts, None), "", "")
        holding = deepest_forces(statics, at, parts)
        if holding.holds:
            return _Judged(holding.margin, (at, parts, holding), "", "")
        if best.margin == -1.0 or holding.margin > best.margin:
            best = _Judged(holding.margin, None, *_gives_way(statics, at, holding))
        if statics.system.contacts:
            break  # friction is asked about what touches here, not about another place
    return best


def _sets_of_closed(statics: Statics, q: Array) -> Iterator[frozenset[int]]:
    """Sets of one-sided constraints to be tried as closed: first those that touch, then sets that differ from them,
    with few differences before many.
    """
    shut = statics.gaps(q) <= GAP * statics.closing(q)
    touching = frozenset(k for k, flag in zip(statics.one_sided, shut, strict=True) if flag)
    yield touching
    if len(statics.one_sided) > MOST_ONE_SIDED:
        return
    for count in range(1, len(statics.one_sided) + 1):
        for changed in combinations(statics.one_sided, count):
            yield touching ^ frozenset(changed)


def _gives_way(statics: Statics, at: Balance, holding: Holding) -> tuple[str, str]:
    """What would have to hold more than it can, in full and in short."""
    faults, weak = [], []
    for name, values in at_contacts(statics, at.q, holding).items():
        force = ContactForce(*values)
        if abs(force.friction) - force.limit > -holding.margin * at.force * (1 - 1e-6):
            faults.append(f"'{name}' needs a friction of {abs(force.friction):.6g}, it has at most {force.limit:.6g}")
            weak.append(f"'{name}' slips")
    for k in statics.one_sided:
        name = statics.system.constraints[k].name
        if holding.multipliers[k] < 0:
            faults.append(f"'{name}' would have to pull")
            weak.append(f"'{name}' lifts off")
    return "it cannot be held: " + "; ".join(faults), ", ".join(weak)


def _require_still(system: System, q: Array) -> None:
    """Work that depends on reactions was left out of the balance; at rest it must be zero."""
    evaluation = Evaluation(system)
    rest = np.zeros_like(q)
    solution = evaluation.solve(q, rest, 0.0)
    size = float(np.abs(solution.Q).max(initial=0.0) + np.abs(solution.ideal).max(initial=0.0))
    if np.abs(solution.M @ solution.acceleration).max(initial=0.0) > MOVES * size:
        raise DoesNotApply(
            f"{system.name}: the constraints do work that depends on their own reactions at rest; its balance is not "
            "solved here"
        )


def _unit(columns: Array) -> Array:
    lengths = np.linalg.norm(columns, axis=0)
    return columns / np.where(lengths > 0, lengths, 1.0)


# -- several


def _starts(q: Array, sizes: Array, turns: list[bool], count: int) -> Iterator[Array]:
    """The guess, and configurations around it: angles all around, others within a few times their sizes or their
    own values, and between the two.
    """
    yield q
    draw = np.random.default_rng(0)  # the same configurations each time
    angle = np.array(turns, dtype=bool)
    most = np.maximum(sizes, np.abs(q))
    for _ in range(count - 1):
        share = draw.uniform(0, 1)
        width = np.where(angle, np.pi, (2 * sizes) ** (1 - share) * (4 * most) ** share)
        yield q + width * draw.uniform(-1, 1, q.size)


def _wrap(q: Array, turns: list[bool]) -> Array:
    """Angles between −π and π; π and not −π."""
    turned = np.pi - np.mod(np.pi - q, 2 * np.pi)
    turned = np.where(turned <= -np.pi + SAME, turned + 2 * np.pi, turned)
    return np.where(turns, turned, q)
