"""`simulate`: the motion of a system from its initial state, with its forces and its certificate."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import BuildError, DalembertError, ModelError, MotionFailed, UndefinedModel
from dalembert.kernel.limits import STIFF_LOOK
from dalembert.kernel.size import MOST_INSTRUCTIONS, KernelTooLarge, TaylorNotApplicable
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.events import with_events
from dalembert.model.friction.contact import needs_legs, torqueless
from dalembert.model.system import System
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.determined import told
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.run.at_outputs import points_of
from dalembert.motion.contacts.run.coefficients import negative_coefficients
from dalembert.motion.contacts.run.legs import Legs, integrate_legs
from dalembert.motion.integrate.ahead import looking_ahead
from dalembert.motion.integrate.native import integrate_native, tell_once, why_not_native
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.reference import integrate_reference
from dalembert.motion.integrate.settings import Settings, settings_of
from dalembert.motion.integrate.stiffness import PAYS, is_stiff, step_of, stiffness_warning
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.result.motion import Motion, Timing
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.motion.state.project import project as project_state
from dalembert.motion.state.without_gradient import faded, require_gradient, without_gradient

# Below this tolerance rounding, magnified by the stiffness, hides it in the steps, and a fast mode is not yet dead at
# the first look: the modes are looked at once more, after so many times as many steps.
HIDDEN, LATER = 1e-10, 20


def simulate(
    system: System,
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
) -> Motion:
    """Integrate the motion from the initial state and certify it.

    duration: how long, from the initial time.
    rtol: relative tolerance, 0.1 … 1e-13 (default 1e-9).
    atol: absolute tolerance (default: see `settings.tolerances`).
    samples: number of equidistant output times (default 501); or times: the output times themselves, increasing.
    method: "auto", "dop853", "dopri5", "stiff" (an implicit method with the exact Jacobian), or "taylor" (Taylor
    series: quickest at tight tolerances on long runs; native backend, smooth models), or "variational" (steps of one
    length that make a discrete action stationary: momenta are kept to rounding and the energy within a bound for very
    long times; constraints on positions only).
    project: return to the constraints after each step (default True); False shows the drift.
    backend: "auto", "native" (compiled C), or "reference" (CasADi's virtual machine and SciPy).
    events: besides those of the system, names with expressions (or `da.Event`) whose passages through zero go to
        `motion.events`; a terminal one ends the motion.
    progress: a bar on long runs (default: on terminals).
    step, order: of the variational method, the longest step (it is shortened to end at output times, of which there are
        at most `samples`) and the order 2, 4 or 6 (default 2). The tolerance of such a motion, by which its certificate
        is judged, is the error of its steps as measured along it.
    max_step: the longest step of the other methods. Explicit functions of time are sampled in advance, so that pulses
        longer than 1/2000 of the duration are seen without it; it is for shorter ones, and for forces that act in a
        small place only.

    Options not given come from the `[simulate]` table of the system's document. Raises `InconsistentState`
    where the initial state violates a constraint and `MotionFailed`, with the motion so far, where the
    integration cannot go on.
    """
    started = clock.perf_counter()
    if events is not None:
        system = with_events(system, events)
    given = {
        "rtol": rtol,
        "atol": atol,
        "samples": samples,
        "method": method,
        "project": project,
        "backend": backend,
        "step": step,
        "order": order,
        "max_step": max_step,
    }
    options = {**system.settings, **{key: value for key, value in given.items() if value is not None}}
    q, v, t0 = system.initial_values()
    settings = settings_of(system, duration, times, t0, options)
    evaluation = Evaluation(system)
    if settings.method == "variational":
        from dalembert.motion.integrate.variational import integrate_variational, require_action  # loads parts of SciPy

        require_action(system)
    else:
        settings = looking_ahead(evaluation, settings, q, v)
    if needs_legs(system):
        return _with_contacts(system, evaluation, settings, q, v, t0, started, progress)
    require_consistent_state(evaluation, q, v, t0)
    if settings.project:
        q, v, _ = project_state(evaluation, q, v, t0)
    start = evaluation.solve(q, v, t0)
    evaluation.require_consistent(start, t0)
    _require_energy(evaluation, q, v, t0)
    warnings = _vanishing(evaluation, q, v, t0)
    derived = clock.perf_counter()
    with Progress(system.name, t0, float(settings.times[-1]), progress) as bar:
        if settings.method == "variational":
            notes: tuple[str, ...] = ()
            trajectory, measured = integrate_variational(evaluation, settings, q, v, t0, bar)
            settings = replace(settings, rtol=measured)
        else:
            trajectory, notes = _integrate(evaluation, settings, q, v, t0, start, bar)
    integrated = clock.perf_counter() - derived - trajectory.compile_s
    timing = Timing(derived - started, trajectory.compile_s, integrated, trajectory.steps, trajectory.evaluations)
    warnings = (*warnings, *notes, *trajectory.warnings)
    return _finished(*_motion(evaluation, trajectory, settings.rtol, warnings, timing))


def _with_contacts(
    system: System,
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t0: float,
    started: float,
    progress: bool | None,
) -> Motion:
    """The motion of a system with friction or one-sided constraints: leg by leg."""
    _require_energy(evaluation, q, v, t0)
    _vanishing(evaluation, q, v, t0)
    derived = clock.perf_counter()
    notes: list[str] = []
    with Progress(system.name, t0, float(settings.times[-1]), progress) as bar:

        def integrate(
            of: Evaluation, during: Settings, q: Array, v: Array, t: float, start: Fundamental, work: Array
        ) -> Trajectory:
            trajectory, more = _integrate(of, during, q, v, t, start, bar, work)
            notes.extend(more)
            return trajectory

        legs = integrate_legs(Contacts(system), settings, q, v, t0, integrate)
    trajectory = legs.trajectory
    integrated = clock.perf_counter() - derived - trajectory.compile_s
    timing = Timing(derived - started, trajectory.compile_s, integrated, trajectory.steps, trajectory.evaluations)
    told = negative_coefficients(legs.contacts, trajectory, legs.modes)
    warnings = (*torqueless(system), *told, *dict.fromkeys(notes), *trajectory.warnings)
    return _finished(*_motion(evaluation, trajectory, settings.rtol, warnings, timing, legs))


def _finished(motion: Motion, failure: str | None) -> Motion:
    if failure is not None:
        raise MotionFailed(failure, motion)
    return motion


def _require_energy(evaluation: Evaluation, q: Array, v: Array, t: float) -> None:
    if not np.isfinite(evaluation.energetics(q, v, t).energy):
        raise UndefinedModel(
            f"{evaluation.system.name}: the energy has no finite value at the initial state; look at the potential"
        )


def _integrate(
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t0: float,
    start: Fundamental,
    bar: Progress,
    work: Array | None = None,
) -> tuple[Trajectory, tuple[str, ...]]:
    """The trajectory from a consistent state, on the backend that is wanted or available, and what to say of that.

    Where the method is left to us, the explicit one is looked at after STIFF_LOOK steps and, if nothing is stiff by
    then, again where as many steps were short for the sake of stability; at tight tolerances also after many steps. A
    motion that is stiff then begins anew by the stiff method; if that takes too many steps after all, the explicit one
    is right.
    """
    given = (q, v, t0, start, bar, work)
    later = (LATER * STIFF_LOOK,) if settings.rtol < HIDDEN else ()
    looks = (0,) if settings.method != "auto" else (STIFF_LOOK, *later, -STIFF_LOOK, 0)
    for look in looks:
        trajectory, notes = _by_backend(evaluation, replace(settings, look=look), *given)
        if trajectory.looked is None:
            break
        stiff = _judged(evaluation, settings, t0, trajectory)
        if stiff is not None:
            other = _by_stiff_method(evaluation, settings, trajectory, int(PAYS * stiff), *given)
            if other is not None:
                told = (
                    f"the motion is stiff: integrated by the stiff method in {other.steps} steps, where "
                    f"{trajectory.method} would take about {stiff:.2g}; method='dop853' takes them all the same",
                )
                return replace(other, compile_s=trajectory.compile_s + other.compile_s), (*notes, *told)
            return _by_backend(evaluation, settings, *given)  # nothing is recommended that did not pay
    return trajectory, (*notes, *stiffness_warning(evaluation, settings, trajectory))


def _judged(evaluation: Evaluation, settings: Settings, t0: float, trajectory: Trajectory) -> float | None:
    """How many steps an explicit method that was stopped to be looked at would take in all, if the motion is stiff."""
    assert trajectory.looked is not None
    t, q, v = trajectory.looked
    end = float(settings.times[-1])
    step = step_of(t0, t, trajectory.steps, trajectory.stiff)
    return trajectory.steps + (end - t) / step if is_stiff(evaluation, settings, q, v, t, step, t - t0) else None


def _by_stiff_method(
    evaluation: Evaluation,
    settings: Settings,
    explicit: Trajectory,
    most: int,
    q: Array,
    v: Array,
    t0: float,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
) -> Trajectory | None:
    """The trajectory by the stiff method on the backend of the explicit one, in `most` steps; None where it takes more,
    or where that backend cannot have it.
    """
    settings = replace(settings, method="stiff", most_steps=most)
    if explicit.backend == "reference":
        other: Trajectory | None = integrate_reference(evaluation, settings, q, v, t0, bar, work)
    else:
        try:
            other, _ = _natively(evaluation, settings, q, v, t0, start, bar, work)
        except DalembertError:
            other = None
    if other is None or other.looked is not None or other.failure is not None or other.steps > most:
        return None
    return other


def _by_backend(
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t0: float,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
) -> tuple[Trajectory, tuple[str, ...]]:
    """The trajectory by the method of the settings, on the backend that is wanted or available."""
    trajectory: Trajectory | None = None
    notes: tuple[str, ...] = ()
    if _runs_native(evaluation, settings):
        trajectory, notes = _natively(evaluation, settings, q, v, t0, start, bar, work)
    if trajectory is None:
        if settings.method == "taylor":
            notes += ("method 'taylor' runs on the native backend only: DOP853 was used instead",)
            settings = replace(settings, method="dop853")
        trajectory = integrate_reference(evaluation, settings, q, v, t0, bar, work)
    return trajectory, notes


def _runs_native(evaluation: Evaluation, settings: Settings) -> bool:
    """Whether the native backend is tried. Asked for by name, it must be able to run the system."""
    if settings.backend == "reference":
        if settings.method == "taylor":
            raise ModelError(
                evaluation.system.name,
                ["method 'taylor' runs on the native backend only; leave backend away, or use method='dop853'"],
            )
        return False
    obstacle = why_not_native(evaluation)
    if obstacle is None:
        return True
    if settings.backend == "native":
        raise ModelError(evaluation.system.name, [f"the native backend cannot run this: {obstacle}"])
    if "compiler" in obstacle:
        tell_once(obstacle)
    return False


def _natively(
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t0: float,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
) -> tuple[Trajectory | None, tuple[str, ...]]:
    """The trajectory on the native backend; or None where the reference must run after all, and what to say of it."""
    try:
        trajectory = integrate_native(evaluation, settings, q, v, t0, start, bar, work)
    except TaylorNotApplicable as error:
        raise ModelError(evaluation.system.name, [str(error)]) from None
    except KernelTooLarge as error:
        if settings.backend == "native":
            remedy = "backend='reference' runs it as it is, slowly"
            raise BuildError(f"{evaluation.system.name}: {error}; {remedy}") from None
        more = (
            "" if error.size > MOST_INSTRUCTIONS else "; backend='native' compiles it all the same, in a minute or so"
        )
        return None, (f"computed on the reference backend, which is slow at this size: {error}{more}",)
    except BuildError as error:
        if settings.backend == "native":
            raise
        tell_once(str(error))
        return None, ()
    if trajectory.t.size == 0:
        raise MotionFailed(trajectory.failure or failure_message(evaluation.system.name, t0, "no state was accepted"))
    return trajectory, ()


def _motion(
    evaluation: Evaluation,
    trajectory: Trajectory,
    rtol: float,
    warnings: tuple[str, ...],
    timing: Timing,
    legs: Legs | None = None,
) -> tuple[Motion, str | None]:
    """The motion with its forces and certificate, and why it is not complete, if it is not."""
    n, t, y = evaluation.n, trajectory.t, trajectory.y
    failure = trajectory.failure
    try:
        held = None if legs is None else points_of(legs.contacts, trajectory, legs.modes)
        points = evaluate_points(evaluation, t, y[:, :n], y[:, n : 2 * n], trajectory.guesses, held)
    except DalembertError as error:
        # The last point may lie where the model has no value any more; the points before it do not.
        failure = failure or failure_message(evaluation.system.name, float(t[-1]), str(error))
        if t.size == 1:
            raise MotionFailed(failure) from None
        guesses = None if trajectory.guesses is None else trajectory.guesses[:-1]
        shorter = replace(trajectory, t=t[:-1], y=y[:-1], guesses=guesses, failure=failure)
        fewer = None if legs is None else replace(legs, trajectory=shorter, modes=legs.modes[:-1])
        return _motion(evaluation, shorter, rtol, warnings, timing, fewer)
    solution = points.solution
    if legs is None:  # with contacts, a row of zeros is a constraint that does not act
        warnings = (*warnings, *faded(evaluation, t, y[:, :n], y[:, n : 2 * n], solution.A))
    places = evaluation.graph.heats if legs is None else legs.contacts.heats
    motion = Motion(
        system=evaluation.system,
        t=t,
        q=y[:, :n].copy(),
        v=y[:, n : 2 * n].copy(),
        a=solution.acceleration,
        impressed=solution.Q - points.inertial,
        inertial=points.inertial,
        ideal=solution.ideal,
        nonideal=solution.nonideal,
        multipliers=solution.multipliers,
        rank=solution.rank,
        energy=points.energy,
        work=y[:, 2 * n : 2 * n + 3].copy(),
        heat={name: y[:, 2 * n + 3 + k].copy() for k, name in enumerate(places)},
        impact_loss=np.zeros(t.size) if legs is None else y[:, -1].copy(),
        rtol=rtol,
        method=trajectory.method,
        backend=trajectory.backend,
        events=trajectory.events,
        ended_by=trajectory.ended,
        warnings=warnings,
        timing=timing,
        C=None if held is None else held.C,
        acting=None if held is None else held.acting,
        contacts={} if held is None else held.contacts,
        blows=() if legs is None else legs.impacts,
        fastest=_fastest(trajectory, n),
    )
    certificate = certify(motion, evaluation, None if legs is None else legs.contacts)
    if certificate.undetermined:
        motion = replace(motion, warnings=(*warnings, told(certificate.undetermined)))
    return replace(motion, certificate=certificate), failure


def _fastest(trajectory: Trajectory, n: int) -> Array | None:
    if trajectory.fastest is None:
        return None
    t, y = trajectory.fastest
    return np.concatenate([[t], y[: 2 * n + 3]])


def _vanishing(evaluation: Evaluation, q: Array, v: Array, t: float) -> tuple[str, ...]:
    """A constraint whose gradient vanishes at the start (a quadratic one at rest) constrains nothing there; one whose
    gradient vanishes wherever it is satisfied never acts at all, and is refused.
    """
    flat, nearly = without_gradient(evaluation, q, v, t)
    names = [constraint.name for constraint in evaluation.system.constraints]
    require_gradient(evaluation, nearly, q, v, t)
    return tuple(
        f"constraint '{names[k]}' has no gradient at the initial state, so it does not act there: "
        "start from a state where it does, or write it in a form that is not degenerate"
        for k in flat
    )
