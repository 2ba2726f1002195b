"""What can be asked of a system, `simulate`, `equations`, `at`, …: each verb hands over to the package that does it.

The verbs are the only places where `model` names packages to its right, and they import these only when called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Never, cast

from numpy.typing import ArrayLike

from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest

if TYPE_CHECKING:
    import sympy as sp

    from dalembert.ensemble.result.ensemble import Ensemble
    from dalembert.mechanics.classify.result import Classification
    from dalembert.mechanics.page.equations import Equations
    from dalembert.model.system import System, Value
    from dalembert.motion.instant import Instant
    from dalembert.motion.prepare import Prepared
    from dalembert.motion.result.motion import Motion
    from dalembert.statics.result import Equilibria
    from dalembert.study.between import Passage
    from dalembert.study.compare import Comparison
    from dalembert.study.displacements import Displacements
    from dalembert.study.path import Path
    from dalembert.study.reduced import ReducedSystem
    from dalembert.study.vakonomic import VakonomicMotion


class Verbs:
    """What can be asked of a system: of a `System`, and of what was kept of one, so that motions need no SymPy
    (`model.kept`).
    """

    # Kinks are looked for (`model.kinks`).
    may_have_kinks: bool = True

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What others make of it once, by whoever makes it."""
        return {}

    @cached_property
    def shared(self) -> dict[Any, Any]:
        """The same of all but its numbers, for all systems that differ in these alone."""
        return {}

    @property
    def as_written(self) -> System:
        """The system with all its expressions."""
        return cast("System", self)

    @property
    def _system(self) -> System:
        """What motions are made of, whatever it is."""
        return cast("System", self)

    @cached_property
    def cartesian_points(self) -> tuple[tuple[str, ...], ...]:
        """Coordinates that are the place of a point, two or three for each, as the kinetic energy shows."""
        from dalembert.model.places import cartesian_points

        return cartesian_points(self.as_written)

    @cached_property
    def has_plain_kinetic(self) -> bool:
        """Whether E = T + V: T has no part that stays at rest."""
        from dalembert.model.places import has_plain_kinetic

        return has_plain_kinetic(self.as_written)

    def equations(
        self,
        form: str = "fundamental",
        *,
        quasi_velocities: Mapping[str, Any] | None = None,
        dependent: Any = None,
        **unknown: Never,
    ) -> Equations:
        """The equations of motion: explicit, (26) of Udwadia 2005 with the three kinds of force kept apart, or in
        another `form`, by another principle: "lagrange", "gauss", "appell", "kane", "hamilton", "routh", "hertz",
        "action", "maupertuis", "liberation", "vakonomic", "transposition".

        quasi_velocities: of "appell" and "kane", names with expressions in the velocities; chosen unless given.
        dependent: of "transposition", coordinates whose displacements follow from the others.
        """
        from dalembert.mechanics.equations import equations

        return equations(
            self.as_written, form, {"quasi_velocities": quasi_velocities, "dependent": dependent, **unknown}
        )

    def classify(self) -> Classification:
        """The kind of each constraint, integrability, degrees of freedom, conserved quantities."""
        from dalembert.mechanics.classify.classify import classify

        return classify(self.as_written)

    def at(
        self,
        state: Mapping[Any, Value] | None = None,
        t: float | None = None,
        parameters: Mapping[Any, Value] | None = None,
    ) -> Instant:
        """Everything at one state: acceleration, forces, multipliers, rank. Missing parts come from the
        initial state.
        """
        from dalembert.motion.instant import at

        return at(self.as_written, state, t, parameters)

    def between(
        self, start: Mapping[Any, Value] | None, end: Mapping[Any, Value], duration: float, *, guess: Any = None
    ) -> Passage:
        """The motion from one configuration to another in a given time, by stationary action: with its action, and
        whether that is a minimum or a saddle.
        """
        from dalembert.study.between import between

        return between(self.as_written, start, end, duration, guess=guess)

    def compare(self, forms: Iterable[str] | None = None, *, states: int = 4) -> Comparison:
        """Every formulation side by side: which apply, why others do not, and by how much they differ."""
        from dalembert.study.compare import compare

        if isinstance(forms, str):
            forms = [forms]
        return compare(self.as_written, None if forms is None else [str(form) for form in forms], states)

    def equilibrium(
        self,
        state: Mapping[Any, Value] | None = None,
        *,
        t: float | None = None,
        starts: int = 1,
        range_of: Any = None,
        between: tuple[float, float] | None = None,
    ) -> Equilibria:
        """Configurations at rest with all forces, their stability and natural frequencies; with friction, whether the
        configuration can be held and over which range. See `dalembert.statics.find.equilibrium`.
        """
        from dalembert.statics.find import equilibrium

        return equilibrium(self.as_written, state, t=t, starts=starts, range_of=range_of, between=between)

    def consistent(
        self, initial: Mapping[Any, Value] | None = None, hold: Iterable[Any] = ()
    ) -> dict[sp.Symbol, float]:
        """The state nearest to `initial` (in the mass metric) that satisfies all constraints, with the
        symbols in `hold` kept.
        """
        from dalembert.motion.large.size import is_large
        from dalembert.motion.state.consistent import consistent

        if not is_large(self.as_written):
            return consistent(self.as_written, initial, hold)
        from dalembert.motion.large.nearest import nearest_of_large

        return consistent(self.as_written, initial, hold, nearest_of_large)

    def displacements(
        self,
        state: Mapping[Any, Value] | None = None,
        t: float | None = None,
        parameters: Mapping[Any, Value] | None = None,
    ) -> Displacements:
        """Whether displaced states are possible ones, constraint by constraint: the transpositional relations measured
        at a state.
        """
        from dalembert.study.displacements import displacements

        return displacements(self.as_written, state, t, parameters)

    def simulate(
        self,
        duration: float | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        samples: int | None = None,
        times: ArrayLike | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        progress: bool | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
        **unknown: Never,
    ) -> Motion:
        """The motion from the initial state, with its forces and its certificate.

        duration: how long, from the initial time.
        rtol: relative tolerance, 0.1 … 1e-13 (default 1e-9).
        atol: absolute tolerance (default: a thousandth of rtol, of the size that the motion will have).
        samples: number of equidistant output times (default 501); or times: the output times themselves, increasing.
        method: "auto", "dop853", "dopri5", "stiff" (an implicit method with the exact Jacobian), or "taylor" (Taylor
        series: quickest at tight tolerances on long runs, where "auto" takes them once they have been found to need
        less work; native backend, smooth models), or "variational" (steps of one length that make a discrete action
        stationary: momenta are kept to rounding and the energy within a bound for very long times; constraints on
        positions only).
        project: return to the constraints after each step (default True); False shows the drift.
        backend: "auto", "native" (compiled C), or "reference" (CasADi's virtual machine and SciPy).
        events: besides those of the system, names with expressions (or `da.Event`) whose passages through zero go to
        `motion.events`; a terminal one ends the motion.
        progress: a bar on long runs (default: on terminals and in notebooks).
        step, order: of the variational method, the longest step (it is shortened to end at output times, of which there
        are at most `samples`) and the order 2, 4 or 6 (default 2). The tolerance of such a motion, by which its
        certificate is judged, is the error of its steps as measured along it.
        max_step: the longest step of the other methods. Explicit functions of time are sampled in advance, so that
        pulses longer than 1/2000 of the duration are seen without it; it is for shorter ones, and for forces that act
        in a small place only.

        Options not given come from `settings`, the `[simulate]` table of the system's document. Raises
        `InconsistentState` where the initial state violates a constraint and `MotionFailed`, with the motion so far,
        where the integration cannot go on.
        """
        from dalembert.motion.simulate import simulate

        if unknown:
            raise ModelError(self._system.name, [_no_such_option("simulate", name, self.simulate) for name in unknown])
        options = {
            "rtol": rtol, "atol": atol, "samples": samples, "method": method, "project": project, "backend": backend,
            "step": step, "order": order, "max_step": max_step,
        }  # fmt: skip
        return simulate(self._system, duration, times, options, events, progress)

    def prepare(
        self,
        duration: float | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        samples: int | None = None,
        times: ArrayLike | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
        **unknown: Never,
    ) -> Prepared:
        """The system ready to be run from many states and with many values of its parameters; options as in `simulate`.

        >>> import dalembert as da
        >>> prepared = da.library.pendulum().prepare(1.0, rtol=1e-8)
        >>> run = prepared.run(parameters={"m": 2.0})
        >>> run.q.shape, run.motion().certificate.holds
        ((501, 2), True)
        """
        from dalembert.motion.large.size import is_large
        from dalembert.motion.prepare import prepare

        if unknown:
            raise ModelError(self._system.name, [_no_such_option("prepare", name, self.prepare) for name in unknown])
        options = {
            "rtol": rtol, "atol": atol, "samples": samples, "method": method, "project": project, "backend": backend,
            "step": step, "order": order, "max_step": max_step,
        }  # fmt: skip
        if is_large(self._system):
            from dalembert.motion.large.prepare import prepare_large

            return prepare_large(self._system, duration, times, options, events)
        return prepare(self._system, duration, times, options, events)

    def sweep(
        self,
        values: Any,
        duration: float | None = None,
        *,
        on: Any = "threads",
        keep: Any = "final",
        reduce: Mapping[str, Any] | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        together: bool = False,
        samples: int | None = None,
        seed: int | None = None,
        sampler: str | None = None,
        points: int | None = None,
        times: ArrayLike | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
        precision: str | None = None,
        certify: bool = False,
        repair: bool | Iterable[Any] = False,
        budget: Mapping[str, float] | None = None,
        threads: int | None = None,
        lanes: bool | None = None,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: bool | None = None,
        **unknown: Never,
    ) -> Ensemble:
        """The motions of many members: this system with other parameters, from other states.

        values: what varies, parameters and initial values (`"x"`, `"x'"`, `"t"`) by symbol or name. Lists and arrays
        give a grid, each name a dimension; a number is the same for all. `together=True` takes lists of one length
        side by side, along the dimension `member`; so do a list of mappings, a table of pandas, a key that is a tuple
        of names with an array (members, names), and `"state"` with an array of (q, q̇). Distributions of scipy.stats
        are drawn `samples` times, along the dimension `sample`, with a `seed`; sampler: "random", "sobol" or "latin".
        Initial values that the model gives as expressions of its parameters follow these.
        keep: "final", "samples" (the states at the output times), or observables to be kept there: names, outputs,
        expressions, "energy". points: how many output times (default 101); or the `times` themselves.
        reduce: names with what becomes of each member, one number: ("min" | "max" | "range" | "mean" | "rms" | "final",
        observable), ("time" | "last" | "count", event), "energy" (at the end), "lyapunov" (by a nearby twin).
        on: "threads", "processes" for models whose members are run one by one (contacts), or "cuda", the GPUs of this
        machine. threads: how many; the results do not depend on it. "dask" runs them on a Dask cluster of this machine,
        "dask:tcp://HOST:PORT" on that of a scheduler, and a client of Dask on its own. precision: "double", or on GPUs
        "single", which has some five digits (rtol 1e-5 unless given).
        lanes: members of smooth models side by side in the vector registers of each core, which changes no more than
        rounding; None: where there are so many that it pays; True: wherever it can be done; False: nowhere.
        certify: residuals of constraints and energy of each member. repair: members whose start violates a constraint
        start from the nearest state that does not, with the names given held; otherwise they have their status.
        budget: of each member, {"steps": …, "seconds": …}. out: a folder for the finished parts, from which an
        interrupted sweep is resumed, by the same call with resume=True. Other options as in `simulate`.

        >>> import dalembert as da
        >>> found = da.library.pendulum().sweep({"l": [0.5, 1.0], "g": [1.62, 9.81, 24.8]}, 1.0)
        >>> found.final["x"].shape, found.failed
        ((2, 3), 0)
        """
        from dalembert.ensemble.sweep import sweep

        if unknown:
            raise ModelError(self._system.name, [_no_such_option("sweep", name, self.sweep) for name in unknown])
        options = {
            "rtol": rtol, "atol": atol, "method": method, "project": project, "backend": backend, "step": step,
            "order": order, "max_step": max_step,
        }  # fmt: skip
        return sweep(
            self.as_written, values, duration, times, options, on=on, keep=keep, reduce=reduce, events=events,
            together=together, samples=samples, seed=seed, sampler=sampler, points=points, certify=certify,
            repair=repair, budget=budget, threads=threads, lanes=lanes, out=out, resume=resume, progress=progress,
            precision=precision,
        )  # fmt: skip

    def vakonomic(
        self,
        duration: float | None = None,
        *,
        multipliers: Mapping[str, float] | None = None,
        rtol: float = 1e-10,
        samples: int = 501,
    ) -> VakonomicMotion:
        """Not the motion: stationary action among paths that keep the constraints, from the initial state with μ as
        given (0 by default). `.against()` shows where it leaves the motion.
        """
        from dalembert.study.vakonomic import vakonomic

        return vakonomic(self.as_written, duration, multipliers, rtol, samples)

    def path(self, start: Any, end: Any, *, energy: float, guess: Any = "direct", samples: int = 201) -> Path:
        """The path between two points at a given energy, by Maupertuis' principle. See `dalembert.study.path.path`."""
        from dalembert.study.path import path

        return path(self.as_written, start, end, energy=energy, guess=guess, samples=samples)

    def reduce(self, keep: Iterable[Any] = ()) -> ReducedSystem:
        """A system with fewer coordinates and the same motion: solvable position constraints give independent
        coordinates, ignorable ones are replaced by their momenta. See `dalembert.study.reduced.reduce`.
        """
        from dalembert.study.reduced import reduce

        return reduce(self.as_written, keep)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a TOML document."""
        from dalembert.model.documents.write_document import save

        save(self.as_written, path)


def _no_such_option(verb: str, name: str, function: Callable[..., Any]) -> str:
    known = [key for key, value in signature(function).parameters.items() if value.kind is value.KEYWORD_ONLY]
    return f"{verb} has no option {name!r}.{suggest(name, ['duration', *known])}"
