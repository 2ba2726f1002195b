"""Every formulation of a system side by side: which ones apply, and by how much they differ.

The yardstick is the fundamental equation as motions use it, by CasADi's derivatives and factorisations. The other
formulations come from SymPy's derivatives and their own algebra.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, DoesNotApply, MissingValues, counted
from dalembert.mechanics.principles import FORMS, formulation
from dalembert.mechanics.principles.shared.formulation import Answer, NotHere, answer
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import Fundamental, is_positive
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.contacts.run.mode_of_state import initial_mode
from dalembert.motion.state.evaluation import Evaluation
from dalembert.results import Result, item_named, plain_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

# Formulations that differ by less than this, relative, agree. Each solves a few small linear systems: rounding leaves
# 1e-15 times their condition, and states of the library have conditions below 1e5.
AGREEMENT = 1e-9
STATES = 4
# Where forces cancel, rounding of what they are sums of is left, 1e-15 of it: no difference is relative to less than
# this share of their terms, nor of what bends a path by its own size.
CANCELLED = 1e-4


@dataclass(frozen=True)
class Row:
    """One formulation: whether it applies to the system and why not; its differences from the fundamental equation in
    acceleration and in the force of the constraints, relative, the largest over the states; the time of one evaluation.

    `contrast` marks a formulation that is shown because it is not the motion: its difference is no fault.
    """

    form: str
    applies: bool
    reason: str
    state_size: int | None = None
    acceleration_difference: float | None = None
    force_difference: float | None = None
    seconds: float | None = None
    contrast: bool = False

    @property
    def agrees(self) -> bool:
        """Whether it is the same motion with the same forces, or makes no claim."""
        if not self.applies or self.contrast:
            return True
        differences = (self.acceleration_difference, self.force_difference)
        return all(value is not None and value <= AGREEMENT for value in differences)


@dataclass(frozen=True)
class Comparison(Result):
    """The table of `compare`. `states` says at how many states the formulations were compared."""

    system: System
    states: int
    rows: tuple[Row, ...]

    @property
    def agree(self) -> bool:
        return all(row.agrees for row in self.rows)

    def __getitem__(self, form: str) -> Row:
        return item_named({row.form: row for row in self.rows}, form, "row")

    def to_dict(self) -> dict[str, Any]:
        keys = ("form", "applies", "reason", "acceleration_difference", "force_difference", "state_size", "seconds")
        rows = [{**{key: getattr(row, key) for key in keys}, "contrast": row.contrast} for row in self.rows]
        return {"name": self.system.name, "states": self.states, "agree": self.agree, "rows": plain_values(rows)}

    def headline(self) -> str:
        applied = sum(row.acceleration_difference is not None for row in self.rows)
        verdict = "all agree" if self.agree else "NOT all agree"
        places = counted(self.states, "state")
        return f"of {self.system.name!r} at {places}: {counted(applied, 'formulation')} compared, {verdict}"

    def text(self) -> str:
        head = f"{'formulation':<13} {'state':>5} {'acceleration':>13} {'forces':>10} {'time':>9}"
        lines = [
            f"{self.system.name}: relative differences from the fundamental equation, {counted(self.states, 'state')}",
            head,
        ]
        for row in self.rows:
            if row.acceleration_difference is None:
                lines.append(f"{row.form:<13} does not apply: {row.reason}")
                continue
            seconds = "" if row.seconds is None else f"{1e6 * row.seconds:.0f} µs"
            line = f"{row.form:<13} {row.state_size:>5} {row.acceleration_difference:>13.1e} "
            line += f"{row.force_difference:>10.1e} {seconds:>9}"
            note = row.reason if row.agrees else f"DISAGREES {row.reason}"
            lines.append(f"{line}  {note}".rstrip())
        lines.append("all that apply agree" if self.agree else "NOT all that apply agree")
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """The differences as a picture, written to `path` where that is given. axes: one panel to draw into."""
        from dalembert.view.plots.comparison import plot_comparison

        return plot_comparison(self, path, axes, style)


def compare(system: System, forms: Sequence[str] | None = None, states: int = STATES) -> Comparison:
    """Compare formulations at the initial state (where the model gives one) and at `states` further ones, drawn at
    random near it among those that satisfy the constraints.

    With dry friction or one-sided constraints, the mode that the initial state is in is compared.

    >>> import dalembert as da
    >>> da.library.pendulum().compare(["lagrange"]).agree
    True
    """
    system = system.expanded
    smooth = initial_mode(system) if needs_legs(system) else system
    sampler = Sampler(standard_form(smooth))
    evaluation = Evaluation(smooth, sampler.p)
    places: list[tuple[Sample, Fundamental]] = []
    trouble = ""
    for state in [*_initial(smooth, sampler), *sampler.states(states)]:
        try:
            solution = evaluation.solve(state.q, state.v, state.t)
            evaluation.require_consistent(solution, state.t)
        except (DalembertError, np.linalg.LinAlgError) as error:
            trouble = str(error)
            continue
        places.append((state, solution))
    if not places:
        raise DoesNotApply(f"{system.name}: there is no state at which formulations could be compared. {trouble}")
    rows = [_row(smooth, sampler, evaluation, form, places) for form in forms or FORMS]
    return Comparison(system, len(places), tuple(rows))


def _initial(system: System, sampler: Sampler) -> list[Sample]:
    try:
        q, v, t = system.initial_values()
    except MissingValues:
        return []
    return [Sample(q, v, t, sampler.p)]


def _row(
    system: System,
    sampler: Sampler,
    evaluation: Evaluation,
    form: str,
    places: Sequence[tuple[Sample, Fundamental]],
) -> Row:
    principle = formulation(system, form)
    if form == "fundamental":
        start = time.perf_counter()
        for state, _ in places:
            evaluation.solve(state.q, state.v, state.t)
        return Row(form, True, "", 2 * len(system.coordinates), 0.0, 0.0, (time.perf_counter() - start) / len(places))
    reason = principle.applies(system)
    contrast = bool(reason) and getattr(principle, "CONTRAST", False)
    if reason and not contrast:
        return Row(form, False, reason)
    ask = answer(system, sampler, principle.prepare(system, sampler))
    differences, elapsed, silent = [], [], ""
    for state, solution in places:
        start = time.perf_counter()
        try:
            found = ask(state)
        except NotHere as error:
            silent = str(error)
            continue
        elapsed.append(time.perf_counter() - start)
        terms = evaluation.size_of_forces(solution, state.q, state.v, state.t)
        differences.append(_difference(found, solution, state, terms))
    if not differences:
        return Row(form, False, silent)
    acceleration, force = np.max(np.array(differences), axis=0)
    size = principle.state_size(system)
    seconds = float(np.median(elapsed))
    return Row(form, not contrast, reason, size, float(acceleration), float(force), seconds, contrast)


def _difference(found: Answer, solution: Fundamental, state: Sample, terms: Array) -> tuple[float, float]:
    """Differences of acceleration and of constraint force, relative to the sizes of both and of what is free, in the
    metric of M: no unit of a coordinate changes them. terms: the sizes of what forces are sums of.
    """
    M, exact = solution.M, solution.ideal + solution.nonideal
    L = np.linalg.cholesky(M) if is_positive(M) else np.eye(M.shape[0])

    def length(vector: Array) -> float:
        return float(np.linalg.norm(L.T @ vector))

    def strength(force: Array) -> float:
        return float(np.linalg.norm(np.linalg.solve(L, force)))

    place = length(state.q)
    least = CANCELLED * max(strength(terms), length(state.v) ** 2 / place if place > 0 else 0.0, np.finfo(float).tiny)
    motion = length(solution.acceleration) + (length(solution.unconstrained) if is_positive(M) else 0.0)
    forces = strength(exact) + strength(solution.Q) + strength(solution.C)
    return (
        length(found.acceleration - solution.acceleration) / max(motion, least),
        strength(found.force - exact) / max(forces, least),
    )
