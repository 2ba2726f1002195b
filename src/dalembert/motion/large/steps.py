"""A large system integrated without Python between its evaluations: the runtime of steps on its compiled programs."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

from dalembert.graph.structure.equations import ACCELERATIONS, POSITIONS, VELOCITIES
from dalembert.kernel import kernel as kernels
from dalembert.kernel.kernel import ENTRY, KernelRun, PaceArgument, integrate_by
from dalembert.kernel.limits import SINGULAR_PIVOT, STIFF_WORTH
from dalembert.kernel.ready.large import WORKS, LargeSystem, Program, large_library
from dalembert.kernel.ready.many import LONG, address
from dalembert.kernel.rolled.functions import RolledFunction
from dalembert.methods.table import AUTO, METHODS
from dalembert.motion.integrate.kernel_choice import MEMBER_STEPS
from dalembert.motion.integrate.native import in_a_thread
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings, method_of, share_of, tolerances
from dalembert.motion.integrate.singular import singular_event
from dalembert.motion.integrate.stiffness import MOST_COORDINATES
from dalembert.motion.integrate.trajectory import MAY_END, STALLED, TOO_SHORT, Trajectory, failure_message
from dalembert.motion.large.forces import EntriesOf
from dalembert.motion.large.size import LeftToTheSmallWay
from dalembert.motion.large.state import LargeState
from dalembert.motion.state.state import State

# Of the methods, about; and a run is not begun by tables for fewer steps than these.
EVALUATIONS_A_STEP, FEWEST_STEPS = 12, 10
# Bytes on the stack of a run, and for each coordinate: some forty numbers of it and as many of its velocity, doubled.
STACK, STACK_EACH = 16 * 2**20, 2 * 2**10
HELD_SHORT = (
    "from about t = {since:.4g} steps are as short as stability asks, not accuracy: where the fast modes are damped, "
    "method='stiff' needs far fewer"
)


def integrate_by_steps(at: LargeState, settings: Settings, state: State, bar: Progress) -> Trajectory | None:
    """The trajectory of a system without events. None where Python has to look at each state: constraints seem to
    contradict each other, and do not; or the table of methods was changed. Raises `LeftToTheSmallWay` where that will
    do better.
    """
    library = large_library()
    if library is None:
        return None
    while True:
        # What a motion keeps of an output, and its certificate, take some evaluations more.
        compile_where_worth_it(at, settings, max(FEWEST_STEPS, settings.times.size // 2))
        run = _Run(at, settings, state)
        found = run.through(library, bar)
        at.model.by_table.done += int(found.report["evaluations"])
        if run.system.lacking:  # constraints depend on each other somewhere: programs for that were not made so far
            at.model.condensed(ACCELERATIONS)
            continue
        if run.is_better_stiff(found):
            raise LeftToTheSmallWay
        if run.is_to_be_compiled(found):
            compile_where_worth_it(at, settings, run.most)
            continue
        return run.trajectory(found)


def compile_where_worth_it(at: LargeState, settings: Settings, steps: int) -> None:
    """Where programs are done by tables, and so few steps or fewer are left to these. Members of a sweep all run alike,
    in whatever order.
    """
    left = at.model.evaluations_by_table()
    if left is not None and settings.members:
        left, steps = at.model.by_table.worth or 0, settings.members * MEMBER_STEPS
    if left is not None and left <= steps * EVALUATIONS_A_STEP:
        at.model.by_table.compile()
        at.begin_anew()


class _Run:
    """One run: what the runtime reads of a system, and is kept as long as it does."""

    def __init__(self, at: LargeState, settings: Settings, state: State) -> None:
        self.at, self.settings, self.start = at, settings, state
        accelerations = at.solve(state.q, state.v, state.t)[0][: at.n]
        self.atol = tolerances(settings, state.q, state.v, accelerations)
        self.is_small = at.n <= MOST_COORDINATES
        left = at.model.evaluations_by_table()
        self.by_table = 0 if left is None or settings.members else left // EVALUATIONS_A_STEP  # steps; 0: any number
        asked = settings.most_steps
        self.most = min(asked, self.by_table) if asked and self.by_table else max(asked, self.by_table)
        independent = np.ascontiguousarray(at.shares() > SINGULAR_PIVOT)
        self._kept: list[Any] = []
        self.system = self._system_of(independent)

    def through(self, library: ctypes.CDLL, bar: Progress) -> KernelRun:
        """Through all output times, in a thread of its own."""
        library.da_integrate_large.argtypes = [ctypes.c_void_p, *ENTRY]
        at, settings, state = self.at, self.settings, self.start
        entry = partial(library.da_integrate_large, ctypes.addressof(self.system))
        y0 = np.concatenate([state.q, state.v, np.zeros(WORKS)])
        none = np.empty(0)
        starts, bounds = (none, none) if settings.pace is None else (settings.pace.starts, settings.pace.bounds)
        look = -STIFF_WORTH if self.is_small and settings.method == AUTO else 0.0
        pace = PaceArgument(starts, bounds, share_of(settings), look, np.zeros(at.n), y0.size)
        given = (y0, state.t, none, settings.times, settings.rtol, self.atol, method_of(settings), settings.project)
        run = partial(integrate_by, entry, *given, pace=pace)
        return in_a_thread(run, STACK + STACK_EACH * at.n, state.t, bar, self.most)

    def is_to_be_compiled(self, found: KernelRun) -> bool:
        """Whether it stopped because it is now worth compiling."""
        return bool(self.by_table) and self.most == self.by_table and found.was_stopped(self.settings.times.size, None)

    def is_better_stiff(self, found: KernelRun) -> bool:
        """Whether it stopped because the small way, which has a stiff method, does better."""
        stopped = found.was_stopped(self.settings.times.size, None)
        return self.is_small and stopped and found.report["stiff_steps"] >= STIFF_WORTH

    def trajectory(self, found: KernelRun) -> Trajectory | None:
        at, settings, report, n = self.at, self.settings, found.report, self.at.n
        t, q, v = report["time"], found.last[:n], found.last[n : 2 * n]
        failure = None
        if found.status == kernels.INCONSISTENT:
            at.solve(q, v, t)
            names = EntriesOf(at).contradicting_constraints(q, v, t)
            if not names:
                return None
            if self.is_small:
                raise LeftToTheSmallWay
            failure = f"constraints contradict each other here: {', '.join(names)}. Remove or correct one of them."
        elif found.status != kernels.DONE:
            failure = _REASONS[found.status]
        stiff = report["stiff_steps"] >= STIFF_WORTH
        unfinished = found.was_stopped(settings.times.size, None)
        return Trajectory(
            t=settings.times[: found.y.shape[0]].copy(),
            y=found.y,
            guesses=None,
            method=METHODS[method_of(settings)].title,
            backend="native",
            steps=int(report["steps"]),
            evaluations=int(report["evaluations"]),
            compile_s=0.0,
            events=tuple(singular_event(when, pivot) for when, pivot in found.singular),
            failure=None if failure is None else failure_message(at.system.name, t, failure),
            looked=(t, q.copy(), v.copy()) if unfinished else None,
            warnings=(HELD_SHORT.format(since=report["stiff_since"]),) if stiff else (),
        )

    # -- the system as C reads it

    def _system_of(self, independent: np.ndarray) -> LargeSystem:
        at, model = self.at, self.at.model
        system = LargeSystem(
            coordinates=at.n,
            quantities=at.nz,
            constraints=at.m,
            watched=int(np.count_nonzero(independent) > 1),  # one direction depends on nothing
            works=int(model.works),
            independent=self._address(independent),
            on_rates=self._places(model.on_rates),
            on_rates_count=len(model.on_rates),
        )
        ways = {ACCELERATIONS: system.accelerations, POSITIONS: system.positions, VELOCITIES: system.velocities}
        for what, way in ways.items():
            at.solvers[what].fill(way, self._address, self._program)
        if model.works:
            sums, forces = model.sums, model.sums.forces
            system.sums, system.sums_quantities = self._program(model.functions["sums"]), sums.program.quantities
            system.sums_w = self._address(at.numbers("sums"))
            system.forces, system.pushed = self._places(forces[:, 0]), self._places(forces[:, 1])
            system.force_count, system.power = len(forces), int(sums.power)
            system.reach = self._places(sums.reach)
        return system

    def _program(self, function: RolledFunction) -> Program:
        self._kept.append(function)
        return Program(ctypes.cast(function.function, ctypes.c_void_p).value, address(function.table))

    def _places(self, places: Any) -> int:
        return self._address(np.ascontiguousarray(places, dtype=LONG))

    def _address(self, array: np.ndarray) -> int:
        self._kept.append(array)
        return address(array)


_REASONS = {
    kernels.STEP_TOO_SMALL: f"{TOO_SHORT} {MAY_END}",
    kernels.STALLED: STALLED,
    kernels.UNDEFINED: "the model has no finite value there.",
    kernels.NO_PROJECTION: "the state could not be returned to the constraints.",
}
