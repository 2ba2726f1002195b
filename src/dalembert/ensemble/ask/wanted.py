"""What a sweep is to keep of its members, and to what it is to reduce them: read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.friction.legs import contact_changes
from dalembert.model.language.suggest import nearest, suggest
from dalembert.model.language.symbols import is_name
from dalembert.motion.result.evaluate import read_expression

if TYPE_CHECKING:
    from dalembert.model.system import System

FINAL, SAMPLES, ENERGY, LYAPUNOV = "final", "samples", "energy", "lyapunov"
# What is made of an observable along the motion of a member, and what of an event.
OF_OBSERVABLES = {
    "min": "the least value at the output times",
    "max": "the greatest value at the output times",
    "range": "the greatest less the least",
    "mean": "the mean over time, by the trapezoidal rule between output times",
    "rms": "the root of the mean square, likewise",
    "final": "the value where the member ended",
}
OF_EVENTS = {
    "time": "when it was first passed",
    "last": "when it was last passed",
    "count": "how often it was passed",
}
ALONE = {ENERGY: "the energy where the member ended", LYAPUNOV: "the largest Lyapunov exponent, by a nearby twin"}
KINDS = {**OF_OBSERVABLES, **OF_EVENTS, **ALONE}


@dataclass(frozen=True)
class Reduction:
    """One number for each member. of: the observable or the event that it is made of, by name."""

    name: str
    kind: str
    of: str = ""


@dataclass(frozen=True)
class Wanted:
    """states: the states at the output times are kept. kept: the observables kept there. expressions: of these and of
    those that are reduced, by name; None is the energy. reductions: what they are reduced to.
    """

    states: bool
    kept: tuple[str, ...]
    expressions: Mapping[str, sp.Expr | None]
    reductions: tuple[Reduction, ...]

    @property
    def needs_points(self) -> bool:
        """Whether anything is wanted between start and end."""
        along = any(r.kind in OF_OBSERVABLES and r.kind != "final" for r in self.reductions)
        return self.states or bool(self.kept) or along


def read_wanted(system: System, keep: Any, reduce: Any) -> Wanted:
    """`ModelError` with every fault. `System.sweep` says what may be given. The system has the events of the sweep."""
    faults: list[str] = []
    expressions: dict[str, sp.Expr | None] = {}
    states, kept = _read_keep(system, keep, expressions, faults)
    reductions = _read_reductions(system, reduce, expressions, faults)
    names = [*kept, *(reduction.name for reduction in reductions)]
    faults += [f"reduce: {name!r} is kept under this name already" for name in set(names) if names.count(name) > 1]
    if not all(name.strip() for name in names):
        faults.append("keep, reduce: what is kept, and what becomes of a member, has a name that is not empty")
    if faults:
        raise ModelError(system.name, [f"sweep: {fault}" for fault in faults])
    return Wanted(states, tuple(kept), expressions, tuple(reductions))


def _read_keep(
    system: System, keep: Any, expressions: dict[str, sp.Expr | None], faults: list[str]
) -> tuple[bool, list[str]]:
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        keep = [keep]
    named = keep if isinstance(keep, Mapping) else {str(item): item for item in keep}
    kept = []
    for name, item in ((str(name), item) for name, item in named.items()):
        if isinstance(item, str) and item in (FINAL, SAMPLES):
            continue
        if (found := _expression(system, item, f"keep {name!r}", faults, (FINAL, SAMPLES))) is not None:
            kept.append(name)
            expressions[name] = found[0]
    return SAMPLES in {item for item in named.values() if isinstance(item, str)}, kept


def _read_reductions(
    system: System, reduce: Any, expressions: dict[str, sp.Expr | None], faults: list[str]
) -> list[Reduction]:
    if reduce is None:
        return []
    if not isinstance(reduce, Mapping):
        faults.append(f"reduce: names with what they are, as {{'top': ('max', 'y')}}, got {reduce!r}")
        return []
    found, events = [], [*(event.name for event in system.events), *contact_changes(system)]
    for name, given in reduce.items():
        kind, of = _kind_and_subject(given)
        where = f"reduce {name!r}"
        if kind not in KINDS:
            faults.append(f"{where}: unknown kind {kind!r}.{suggest(kind, KINDS)}")
        elif kind in ALONE:
            if of is not None:
                faults.append(f"{where}: {kind} is of the member as a whole; leave {of!r} away")
            subject = ""
            if kind == ENERGY:
                kind, subject = "final", _place(expressions, ENERGY, None, str(name))
            found.append(Reduction(str(name), kind, subject))
        elif of is None:
            of_what = "an event" if kind in OF_EVENTS else "an observable"
            faults.append(f"{where}: {kind} of what? Give {of_what} besides, as ('{kind}', …)")
        elif kind in OF_EVENTS:
            if of not in events:
                hint = suggest(str(of), events) if events else " The model has none: give events={…}."
                faults.append(f"{where}: there is no event {str(of)!r}.{hint}")
            found.append(Reduction(str(name), kind, str(of)))
        else:
            if (read := _expression(system, of, where, faults)) is not None:
                found.append(Reduction(str(name), kind, _place(expressions, str(of), read[0], str(name))))
    return found


def _place(expressions: dict[str, sp.Expr | None], text: str, expression: sp.Expr | None, name: str) -> str:
    """By which name an observable is known, where that text may already stand for another."""
    place = text if expressions.get(text, expression) == expression else f"of {name}"
    expressions[place] = expression
    return place


def _kind_and_subject(given: Any) -> tuple[str, Any]:
    """'energy', ('max', 'y') or the text 'max: y'."""
    if isinstance(given, str):
        kind, sign, of = given.partition(":")
        return kind.strip(), of.strip() if sign else None
    parts = list(given) if isinstance(given, Iterable) and not isinstance(given, sp.Basic) else [given]
    return str(parts[0]) if parts else "", parts[1] if len(parts) == 2 else None


def _expression(
    system: System, given: Any, where: str, faults: list[str], words: tuple[str, ...] = ()
) -> tuple[sp.Expr | None] | None:
    """The expression, in a tuple because that of the energy is None; None where it cannot be read. words: what else may
    be given there.
    """
    names = {*(symbol.name for symbol in system.symbols), *system.outputs}
    if isinstance(given, str) and given in system.outputs:
        return (system.defined.expand(system.outputs[given]),)
    if isinstance(given, str) and given == ENERGY and ENERGY not in names:
        return (None,)
    # These stand alone: they have no part in expressions, and outputs have names with spaces, too.
    whole = [*system.outputs, ENERGY, *words]
    alone = isinstance(given, str) and is_name(given)
    try:
        return (system.defined.expand(read_expression(system, given, whole if alone else ())),)
    except ModelError as error:
        faults += [f"{where}: {fault.removeprefix('evaluate: ')}" for fault in error.faults]
        if isinstance(given, str) and not alone and (meant := nearest(given, system.outputs)) is not None:
            faults[-1] += f" Did you mean the output {meant!r}?"
        return None
