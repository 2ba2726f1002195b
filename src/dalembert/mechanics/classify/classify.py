"""`classify(system)`: the kind of each constraint, integrability, degrees of freedom, what is conserved.

The words are those of the textbooks: scleronomic or rheonomic, catastatic (a velocity constraint that rest
satisfies) or acatastatic, linear or homogeneous or nonlinear, holonomic where integrable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from dalembert.mechanics.classify.accelerations import Disguises, disguises
from dalembert.mechanics.classify.conserve import Conservation, conserved_quantities
from dalembert.mechanics.classify.flat import flat_where_it_holds
from dalembert.mechanics.classify.pfaffian import Integrability, Integrator
from dalembert.mechanics.classify.powers import Root, with_roots
from dalembert.mechanics.classify.result import Classification, Kind, verdict_of
from dalembert.mechanics.classify.special_functions import caution, exceptions
from dalembert.mechanics.classify.witness import witness
from dalembert.mechanics.page.decimals import as_read, exactly
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.sample import ZERO, Sample, Sampler
from dalembert.mechanics.solve.fundamental import independent_rows, null_space
from dalembert.mechanics.standard_form import diff, is_long, lagrangian, nonlinear_constraints
from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.language.constants import ExponentTooLarge
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System
from dalembert.one_core import on_one_core


@on_one_core()
def classify(system: System) -> Classification:
    """Classify a system; ranks, integrability and conservation are decided at random states of the model's
    own parameters.

    >>> import dalembert as da
    >>> x, y, theta = da.coordinates("x y theta")
    >>> skate = da.System("skate", coordinates=[x, y, theta], kinetic=(x.d**2 + y.d**2 + theta.d**2)/2,
    ...     constraints={"edge": x.d*sp.sin(theta) - y.d*sp.cos(theta)})
    >>> kind = classify(skate)
    >>> kind.holonomic, kind.degrees_of_freedom, kind.configuration_freedoms
    (False, 2, 3)
    """
    written = system
    given = exactly(system.expanded)  # decimal numbers would show the rounding of what is done with them
    system, roots = with_roots(given)
    sampler = Sampler(system)
    states = sampler.states(8)
    integrator = Integrator(sampler)
    integrability = integrator.integrability()
    hidden = disguises(sampler, states)
    kinds = tuple(_kind(constraint, sampler, states, integrability, hidden) for constraint in system.constraints)
    special = exceptions(system, {kind.name: kind.integrable for kind in kinds}, _integrable)
    kinds = tuple(replace(k, integrable=None, unless=special[k.name]) if k.name in special else k for k in kinds)
    kinds = tuple(replace(k, root=plain(roots[k.name].expression)) if k.name in roots else k for k in kinds)
    kinds = tuple(replace(k, witness=witness(integrator, k.name)) if k.integrable is False else k for k in kinds)
    rank, redundant = _rank(sampler, states)
    flat = [c.name for c in system.constraints if not c.one_sided and flat_where_it_holds(sampler, c)]
    flat += [name for name in redundant if name not in flat and _kinked_where_it_holds(sampler, states, name)]
    n = len(system.coordinates)
    conservation = _with_definitions(conserved_quantities(system, sampler), written)
    positions = integrability.dimension if hidden.positions is None else hidden.positions
    cyclic = _cyclic(sampler, states)
    return Classification(
        system=system.name,
        constraints=kinds,
        holonomic=_holonomic(kinds),
        degrees_of_freedom=None if rank is None or flat else n - rank,
        configuration_freedoms=None if flat else n - positions,
        redundant=tuple(name for name in redundant if name not in flat),
        integrals=tuple(
            plain(as_read(found.expression)) for found in integrability.integrals if found.constraint is None
        ),
        cyclic=cyclic,
        cyclic_held=_held(system, cyclic),
        conservation=conservation,
        notes=(
            *_notes(given, kinds, roots, integrability, conservation, bool(states), flat),
            *caution(given),
        ),
    )


@lru_cache(maxsize=16)  # systems are frozen; several principles ask
def integrability_of(system: System) -> Mapping[str, str]:
    """What `classify` says of the integrability of each constraint that is not at position level and not integrable."""
    system, _ = with_roots(system)
    found = _integrable(Sampler(system))
    special = exceptions(system, found, _integrable)
    words: dict[str, str] = {}
    for c in system.constraints:
        if c.level != "position" and not found[c.name]:
            verdict = None if c.name in special else found[c.name]
            words[c.name] = verdict_of(verdict, special.get(c.name))
    return words


def _integrable(sampler: Sampler) -> dict[str, bool | None]:
    """Which constraints are integrable, as far as that is decided."""
    states = sampler.states(8)
    integrability, hidden = Integrator(sampler).verdict(), disguises(sampler, states)
    constraints = sampler.system.constraints
    return {c.name: _kind(c, sampler, states, integrability, hidden).integrable for c in constraints}


def _holonomic(kinds: Sequence[Kind]) -> bool | None:
    """Whether all constraints are position constraints, as they stand or in disguise."""
    verdicts = [False if k.integrable and k.reaches == "velocity" else k.integrable for k in kinds]
    return False if False in verdicts else None if None in verdicts else True


def _notes(
    system: System,
    kinds: Sequence[Kind],
    roots: Mapping[str, Root],
    integrability: Integrability,
    conservation: Conservation,
    states: bool,
    flat: Sequence[str],
) -> Iterator[str]:
    for name, root in roots.items():
        yield (
            f"{name!r} is {plain(root.expression)} to the power {plain(root.power)}: its gradient vanishes wherever it "
            f"holds, so that it has no constraint force; write {plain(root.expression)} = 0"
        )
    for kind in kinds:
        if _degenerate(kind) and kind.name not in flat:
            yield f"the gradient of {kind.name!r} vanishes at rest: there it loses rank"
    for name in flat:
        yield (
            f"the gradient of {name!r} vanishes wherever it holds, as that of a sum of squares or of |u| does, so that "
            "it has no constraint force and freedoms cannot be told; write each square or u as a constraint of its own"
        )
    unnamed = [kind.name for kind in kinds if kind.level == "velocity" and kind.integrable and kind.integrated is None]
    if integrability.unwritten > len(unnamed):
        yield (
            f"random points show {integrability.unwritten} position constraints, hidden in the velocity constraints or "
            "combinations of them, that are not written out"
        )
    if not states:
        yield "no state that satisfies all constraints was found, so freedoms and conserved quantities are open"
    elif conservation.reason:
        yield f"conserved quantities are not decided: {conservation.reason}"
    if conservation.unsought:
        yield f"not looked for: {conservation.unsought}"
    free = [repr(constraint.name) for constraint in system.constraints if constraint.one_sided]
    if free:
        yield f"one-sided: {', '.join(free)}; all of this is said of motions that stay in contact"


def _kind(
    constraint: Constraint,
    sampler: Sampler,
    states: list[Sample],
    integrability: Integrability,
    hidden: Disguises,
) -> Kind:
    expression, system = constraint.expression, sampler.system
    generic = [sampler.start() for _ in range(6)]
    arguments = system.accelerations if constraint.level == "acceleration" else system.velocities
    dependence, degree = "linear", None
    catastatic: bool | None = None
    if constraint.level == "velocity":
        rest = expression.xreplace(dict.fromkeys(arguments, sp.S.Zero))
        catastatic = None if rest.has(sp.nan, sp.zoo, sp.oo) else sampler.vanishes(rest, generic)
    if constraint.level != "position":
        degree = _degree(expression, arguments, sampler)
        if not is_linear([expression], arguments):
            dependence = "nonlinear" if degree is None else "homogeneous"
    integrable = integrability.member.get(constraint.name)
    if constraint.level != "position" and dependence != "linear" and _is_curved(expression, sampler, states, arguments):
        # Where u² + w² = 0 holds there is no surface that could be curved.
        integrable = None if flat_where_it_holds(sampler, constraint) else False
    disguise = hidden.of.get(constraint.name)
    if disguise is not None:
        integrable = disguise.level != "acceleration"
    found = next((f for f in integrability.integrals if f.constraint == constraint.name), None)
    integrated = None if found is None else found.expression
    factor = None if found is None else found.factor
    reaches = constraint.level if not integrable else "position"
    if disguise is not None:
        integrated, factor, reaches = disguise.position, disguise.factor, disguise.level
    rheonomic = not sampler.vanishes(diff(expression, t), generic)
    return Kind(
        constraint.name,
        str(constraint.level),
        rheonomic,
        not rheonomic if constraint.level == "position" else catastatic,
        dependence,
        degree,
        integrable,
        None if integrated is None else _written(as_read(integrated)),
        None if factor is None or factor.is_number else _written(factor),
        None if integrable is None else reaches,
        plain(disguise.velocity) if disguise is not None and disguise.velocity is not None else None,
    )


def _written(expression: sp.Expr) -> str | None:
    """The text of an integral or a factor; None where its powers are larger than any document may hold."""
    try:
        return plain(expression)
    except ExponentTooLarge:
        return None


def _degree(expression: sp.Expr, arguments: tuple[sp.Symbol, ...], sampler: Sampler) -> Fraction | None:
    """p with Σ u ∂g/∂u = p g (Euler), where g is homogeneous in u."""
    euler = sp.Add(*(u * diff(expression, u) for u in arguments))
    accelerations = sampler.system.accelerations
    evaluate = sampler.function([expression, euler], accelerations)
    rows = [evaluate(sampler.start(), *sampler.random.uniform(-2, 2, len(accelerations))) for _ in range(8)]
    table = np.array(rows)
    table = table[np.all(np.isfinite(table), axis=1)]
    if len(table) < 3:
        return None
    ratios = table[:, 1] / np.where(table[:, 0] == 0, np.nan, table[:, 0])
    degree = Fraction(float(np.nan_to_num(ratios[0]))).limit_denominator(12)
    # A homogeneous function has the same ratio to rounding at every point; others differ in the first digit.
    return degree if np.all(np.abs(ratios - float(degree)) <= 1e-9 * max(1.0, abs(float(degree)))) else None


def _is_curved(expression: sp.Expr, sampler: Sampler, states: list[Sample], arguments: tuple[sp.Symbol, ...]) -> bool:
    """Whether the velocities allowed by ψ(q, q̇, t) = 0 at one place form a curved surface, or the accelerations
    allowed by h(q, q̇, q̈, t) = 0 in one state.

    Velocities on a position constraint form a plane, and so do accelerations on the derivative of a constraint on
    velocities: a curved surface is neither in disguise. The curvature is ∂²ψ/∂q̇² on the directions along the surface.
    """
    slopes = [diff(expression, u) for u in arguments]
    entries = [expression, *slopes, *(diff(s, u) for s in slopes for u in arguments)]
    n = len(arguments)
    of_accelerations = arguments == sampler.system.accelerations
    evaluate = sampler.function(entries, arguments if of_accelerations else ())
    for state in states:
        row = _values_on_constraint(evaluate, state, sampler, n) if of_accelerations else evaluate(state)
        if row is None or not np.all(np.isfinite(row)):
            continue
        gradient, H = row[1 : n + 1], row[n + 1 :].reshape(n, n)
        along = null_space(gradient[None, :])
        if np.linalg.norm(gradient) > 0 and np.max(np.abs(along.T @ H @ along), initial=0.0) > 1e-8 * np.max(np.abs(H)):
            return True
    return False


def _values_on_constraint(evaluate: Callable[..., Any], state: Sample, sampler: Sampler, n: int) -> np.ndarray | None:
    """The values at a random acceleration that satisfies the constraint, by Newton's method along its gradient."""
    a = sampler.random.uniform(-2, 2, n)
    for _ in range(40):
        row = evaluate(state, *a)
        gradient = row[1 : n + 1]
        size = float(gradient @ gradient)
        if not np.all(np.isfinite(row)) or size == 0:
            return None
        if abs(row[0]) <= 1e-10 * np.sqrt(size) * max(1.0, float(np.linalg.norm(a))):
            return np.asarray(row)
        a = a - gradient * row[0] / size
    return None


def _rank(sampler: Sampler, states: list[Sample]) -> tuple[int | None, tuple[str, ...]]:
    """The rank of A at a generic state and the constraints whose rows follow from those before."""
    names = [constraint.name for constraint in sampler.system.constraints]
    if not names:
        return 0, ()
    nonlinear = nonlinear_constraints(sampler.system)
    accelerations = sampler.system.accelerations
    # A of a constraint nonlinear in q̈ depends on q̈; any generic q̈ shows its generic rank.
    best: list[int] | None = None
    for state in states:
        numbers = sampler.constraint_rows(state, *sampler.random.uniform(0.3, 1.5, len(accelerations)))
        if np.all(np.isfinite(numbers)):
            rows = independent_rows(numbers)
            best = rows if best is None or len(rows) > len(best) else best
    if best is None:
        return None, ()
    return len(best), tuple(name for k, name in enumerate(names) if k not in best and name not in nonlinear)


def _kinked_where_it_holds(sampler: Sampler, states: list[Sample], name: str) -> bool:
    """Whether a row of A is zero on the constraint, but not beside it: of |u| = 0 it jumps from −∂u to ∂u there."""
    row = next(k for k, c in enumerate(sampler.system.constraints) if c.name == name)
    draw = sampler.random.uniform(0.3, 1.5, len(sampler.system.accelerations))
    rows = sampler.constraint_rows
    on, beside = ([rows(state, *draw)[row] for state in some] for some in (states, [sampler.start()]))
    return not np.any(on) and bool(np.any(beside))


def _with_definitions(found: Conservation, system: System) -> Conservation:
    """The energy as the model writes it, with its definitions, where it is long without them: that of a chain of 200
    links fills a megabyte.
    """
    if not system.definitions or system.kinetic is None or system.forces:
        return found
    energy = system.kinetic + (system.potential if system.potential is not None else sp.S.Zero)
    quantities = (
        replace(q, expression=energy) if q.name == "energy" and is_long(q.expression) else q for q in found.quantities
    )
    return replace(found, quantities=tuple(quantities))


def _cyclic(sampler: Sampler, states: list[Sample]) -> tuple[str, ...]:
    """Coordinates with ∂L/∂q = 0."""
    points = states or [sampler.start() for _ in range(6)]
    if sampler.numbers is not None:
        slopes = [sampler.numbers.gradient(state) for state in points]
        zero = np.all([np.abs(slope) <= ZERO * size for slope, size in slopes], axis=0)
        return tuple(q.name for q, is_zero in zip(sampler.system.coordinates, zero, strict=True) if is_zero)
    L = lagrangian(sampler.system)
    return tuple(q.name for q in sampler.system.coordinates if sampler.vanishes(diff(L, q), points))


def _held(system: System, cyclic: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """For those that stand in constraints, themselves or by their velocities, the names of these."""
    inside = {
        c.name: {x.base for x in symbols_in(c.expression) if isinstance(x, Coordinate)} for c in system.constraints
    }
    held = {name: tuple(c for c, names in inside.items() if name in names) for name in cyclic}
    return {name: constraints for name, constraints in held.items() if constraints}


def _degenerate(kind: Kind) -> bool:
    """Homogeneous of a degree above one: ∂ψ/∂q̇ is zero at q̇ = 0."""
    return kind.level == "velocity" and kind.dependence == "homogeneous" and kind.degree is not None and kind.degree > 1
