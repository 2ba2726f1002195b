"""`reduce(system)`: a system with fewer coordinates and the same motion, which remembers the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.errors import InconsistentState, MissingValues, ModelError, counted
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.reduce.reduction import Reduction, reduction
from dalembert.mechanics.standard_form import diff, lagrangian
from dalembert.model.documents.write_document import dumps
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, name_of, t
from dalembert.model.system import VALUES, System
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


class ReducedSystem(System):
    """A `System` in fewer coordinates, with the same motion as `whole`.

    places: coordinates that constraints gave, by expressions in those that are left. ignored: coordinates replaced by
    their momenta. momenta: the new parameters that stand for momenta, with what they are in the coordinates and
    velocities of the system before (with the constraints solved). constants: of integration, with the functions of
    which they are the values. solved: what became of each constraint that is gone. left: what could not be eliminated,
    and why. `reconstruct(motion)` gives the whole motion.
    """

    whole: System
    reduction: Reduction
    places: Mapping[Coordinate, sp.Expr]
    ignored: tuple[Coordinate, ...]
    momenta: Mapping[sp.Symbol, sp.Expr]
    constants: Mapping[sp.Symbol, sp.Expr]
    solved: Mapping[str, str]
    left: tuple[str, ...]

    def __init__(self, whole: System, found: Reduction, arguments: Mapping[str, Any]) -> None:
        super().__init__(**arguments)
        routh = found.routhian
        ignored = () if routh is None else routh.ignored
        L = lagrangian(found.middle) if ignored else sp.S.Zero
        momenta = {} if routh is None else {p: tidy(diff(L, q.d)) for p, q in zip(routh.momenta, ignored, strict=True)}
        for key, value in {
            "whole": whole,
            "reduction": found,
            "places": MappingProxyType(dict(found.embedding.places)),
            "ignored": ignored,
            "momenta": MappingProxyType(momenta),
            "constants": MappingProxyType(dict(found.embedding.constants)),
            "solved": MappingProxyType(dict(found.embedding.solved)),
            "left": found.left,
        }.items():
            object.__setattr__(self, key, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reduce_again, (self.whole, self.reduction, self._arguments())

    def _replaced(self, changes: Mapping[str, Any]) -> System:
        """With other values it is still a reduction; with other equations a system like others."""
        found = super()._replaced(changes)
        return ReducedSystem(self.whole, self.reduction, found._arguments()) if set(changes) <= VALUES else found

    def reconstruct(self, motion: Motion, start: Mapping[Any, Any] | None = None) -> Motion:
        """The motion of the whole system that belongs to a motion of this one, with its forces and certificate.

        Coordinates that constraints gave follow from their expressions, ignored ones by quadrature of their velocities.
        start: where the ignored ones begin; as the whole system begins, unless given.
        """
        from dalembert.study.reconstruct import reconstruct

        return reconstruct(self, motion, start)

    def to_dict(self) -> dict[str, Any]:
        """What was eliminated and what was not, and the reduced model as a document: plain values, ready for JSON."""
        named = {"places": self.places, "momenta": self.momenta, "constants": self.constants}
        return {
            "name": self.name,
            "coordinates": [q.name for q in self.coordinates],
            **{key: {s.name: plain(value) for s, value in part.items()} for key, part in named.items()},
            "ignored": [q.name for q in self.ignored],
            "solved": dict(self.solved),
            "left": list(self.left),
            "document": dumps(self),
        }

    def __str__(self) -> str:
        return self.text()

    def _latex_lines(self) -> list[str]:
        """The reduced model, and below it what was eliminated: how the whole follows from it."""
        lines = super()._latex_lines()
        lines += [rf"{sp.latex(q)} &= {sp.latex(place)}" for q, place in self.places.items()]
        rates = () if self.reduction.routhian is None else self.reduction.routhian.velocities
        for q, rate in zip(self.ignored, rates, strict=True):
            lines.append(rf"{sp.latex(q.d)} &= {sp.latex(tidy(rate))}")
        kept = {**self.momenta, **self.constants}
        return lines + [rf"{sp.latex(c)} &= {sp.latex(value)} && \text{{constant}}" for c, value in kept.items()]

    def summary(self) -> str:
        """The same as `text`."""
        return self.text()

    def text(self) -> str:
        """What was eliminated, and what was not."""
        lines = [
            f"{self.whole.name}: {counted(len(self.whole.coordinates), 'coordinate')}, {len(self.coordinates)} left"
        ]
        lines += [f"  {q.name} = {plain(place)}" for q, place in self.places.items()]
        lines += [f"  {name!r} {how}" for name, how in self.solved.items() if how.startswith("follows")]
        rates = () if self.reduction.routhian is None else self.reduction.routhian.velocities
        for (p, value), q, rate in zip(self.momenta.items(), self.ignored, rates, strict=True):
            lines.append(
                f"  {q.name} is ignorable: {p.name} = {plain(value)} is constant, {q.name}' = {plain(tidy(rate))}"
            )
        lines += [f"  {c.name} = {plain(value)} is constant" for c, value in self.constants.items()]
        return "\n".join([*lines, *(f"  {told}" for told in self.left)])


def _reduce_again(whole: System, found: Reduction, arguments: dict[str, Any]) -> ReducedSystem:
    return ReducedSystem(whole, found, arguments)


def reduce(system: System, keep: Iterable[Any] = ()) -> ReducedSystem:
    """A system with fewer coordinates and the same motion.

    Position constraints that can be solved everywhere give independent coordinates; ignorable coordinates are replaced
    by their momenta, which are parameters then (p_phi) with the values that the initial state gives them. What cannot
    be eliminated is left, and `.left` says why. keep: coordinates that are to stay.

    >>> import dalembert as da
    >>> r, phi = da.coordinates("r phi")
    >>> planet = da.System("planet", coordinates=[r, phi], kinetic=(r.d**2 + r**2*phi.d**2)/2, potential=-1/r,
    ...     initial={r: 1, phi: 0, r.d: 0, phi.d: 1.2})
    >>> radial = reduce(planet)
    >>> radial.coordinates, radial.potential
    ((r,), -1/r + p_phi**2/(2*r**2))
    >>> print(radial.summary())
    planet: 2 coordinates, 1 left
      phi is ignorable: p_phi = phi'*r**2 is constant, phi' = p_phi/r**2
    """
    if isinstance(keep, (str, sp.Basic)):
        keep = [keep]
    if not isinstance(keep, Iterable):
        raise ModelError(system.name, [f"keep: names of coordinates are wanted, got {keep!r}"])
    system = system.expanded
    names, known = [name_of(item) for item in keep], [q.name for q in system.coordinates]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ModelError(system.name, [f"keep: {unknown[0]!r} is no coordinate.{suggest(unknown[0], known)}"])
    found = reduction(system, names)
    parameters, initial = _values(system, found)
    arguments = {**found.parts, "initial": initial}
    arguments["parameters"] = {**arguments["parameters"], **parameters}
    return ReducedSystem(system, found, arguments)


def _values(system: System, found: Reduction) -> tuple[dict[sp.Symbol, float], dict[sp.Symbol, Any]]:
    """Values of the new parameters, and the initial state in the coordinates left, as far as values are given."""
    coordinates = tuple(found.parts["coordinates"])
    wanted = (*coordinates, *(q.d for q in coordinates), t)
    given = {symbol: system.initial[symbol] for symbol in wanted if symbol in system.initial}
    try:
        q, v, t0 = system.initial_values()
    except MissingValues:
        return {}, given
    if not found.embedding.solved and found.routhian is None:
        return {}, given
    require_consistent_state(Evaluation(system), State(q, v, t0))
    state = {**dict(zip(system.coordinates, q, strict=True)), **dict(zip(system.velocities, v, strict=True)), t: t0}
    state |= dict(zip(system.parameter_symbols, system.parameter_values(), strict=True))
    for new in found.embedding.chosen:
        state[new.coordinate] = _numbers([new.value], state)[0]
    constants = found.embedding.constants
    parameters: dict[sp.Symbol, float] = dict(zip(constants, _numbers(list(constants.values()), state), strict=True))
    state |= parameters
    state |= _rates(system, found, state)
    if found.routhian is not None:
        L = lagrangian(found.middle)
        momenta = _numbers([diff(L, c.d) for c in found.routhian.ignored], state)
        parameters |= dict(zip(found.routhian.momenta, momenta, strict=True))
    return parameters, {symbol: given.get(symbol, state[symbol]) for symbol in wanted}


def _rates(system: System, found: Reduction, state: Mapping[sp.Symbol, float]) -> dict[sp.Symbol, float]:
    """Velocities of new coordinates: q̇ = J ẇ + ∂F/∂t, which a consistent state satisfies."""
    new = [c.coordinate for c in found.embedding.chosen if c.coordinate in found.middle.coordinates]
    if not new:
        return {}
    places = found.embedding.places
    swap = found.embedding.swap
    still = dict.fromkeys((w.d for w in new), sp.S.Zero)
    J = np.array(_numbers([diff(place, w) for place in places.values() for w in new], state)).reshape(-1, len(new))
    rest = np.array(_numbers([swap[q.d].xreplace(still) for q in places], state))
    moving = np.array([state[q.d] for q in places])
    speeds, *_ = np.linalg.lstsq(J, moving - rest, rcond=None)
    return {w.d: float(speed) for w, speed in zip(new, speeds, strict=True)}


def _numbers(expressions: list[sp.Expr], state: Mapping[sp.Symbol, float]) -> list[float]:
    if not expressions:
        return []
    values = [float(value) for value in numeric_function(list(state), expressions)(*state.values())]
    if not np.isfinite(values).all():
        raise InconsistentState(f"the initial state has no finite {expressions[int(np.argmin(np.isfinite(values)))]}")
    return values
