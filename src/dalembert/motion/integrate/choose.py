"""Which backend and which method integrate: what is asked for, what is available, and whether the motion is stiff."""

from __future__ import annotations

from dataclasses import replace

from dalembert.arrays import Array
from dalembert.errors import BuildError, DalembertError, ModelError, MotionFailed
from dalembert.kernel.build import NO_COMPILER
from dalembert.kernel.limits import STIFF_LOOK, STIFF_WORTH
from dalembert.kernel.size import MOST_INSTRUCTIONS, KernelTooLarge, TaylorNotApplicable
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.methods.table import AUTO, METHODS, STIFF, method_for
from dalembert.motion.integrate.kernel_choice import has_kernels
from dalembert.motion.integrate.kinks import kink_count
from dalembert.motion.integrate.native import integrate_native, tell_once
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.race import race
from dalembert.motion.integrate.reference import integrate_reference
from dalembert.motion.integrate.settings import Settings, method_of
from dalembert.motion.integrate.stiffness import HIDDEN, PAYS, is_stiff, step_of, stiffness_warning
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

# At such tolerances rounding, magnified by the stiffness, hides it in the steps, and a fast mode is not yet dead at the
# first look: the modes are looked at again, after so many times as many steps.
LATER = (20, 400)
# So many events fit into any memory, with the samples that the native backend keeps of each on the stack.
MOST_EVENTS = 5000


def integrate(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    start: Fundamental,
    bar: Progress,
    work: Array | None = None,
) -> tuple[Trajectory, tuple[str, ...]]:
    """The trajectory from a consistent state, on the backend that is wanted or available, and what to say of that.

    Where the method is left to us, the explicit one is looked at after STIFF_LOOK steps and, if nothing is stiff by
    then, again where as many steps were short for the sake of stability; at tight tolerances also after many steps. A
    motion that is stiff then begins anew by the stiff method; if that takes too many steps after all, the explicit one
    is right. Where series may do it with less work, that is found out at the first look, or at the end of a run that
    is one of many.
    """
    given = (state, start, bar, work)
    later = [more * STIFF_LOOK for more in LATER] if settings.rtol < HIDDEN else []
    looks = (0,) if settings.method != AUTO else (STIFF_LOOK, *later, -STIFF_LOOK, 0)
    compiled = 0.0  # seconds, for races
    for look in looks:
        trajectory, notes = _by_backend(evaluation, settings, *given, look)
        if trajectory.looked is None:
            break
        stiff = _steps_if_stiff(evaluation, settings, state.t, trajectory)
        if stiff is not None:
            other = _by_stiff_method(evaluation, settings, trajectory, int(PAYS * stiff), *given)
            if other is not None:
                named = method_for(settings.rtol).name
                told = (
                    f"the motion is stiff: integrated by the stiff method in {other.steps} steps, where "
                    f"{trajectory.method} would take about {stiff:.2g}; method={named!r} takes them all the same",
                )
                return replace(other, compile_s=trajectory.compile_s + other.compile_s), (*notes, *told)
            return _by_backend(evaluation, settings, *given)  # nothing is recommended that did not pay
        if trajectory.undecided:
            compiled += race(evaluation, settings, state, start, bar, trajectory)
    if trajectory.undecided and trajectory.looked is None:
        compiled += race(evaluation, settings, state, start, bar, trajectory)  # for those that follow
    if compiled:
        trajectory = replace(trajectory, compile_s=trajectory.compile_s + compiled)
    if trajectory.steps < STIFF_WORTH:  # too few to speak of
        return trajectory, notes
    return trajectory, (*notes, *stiffness_warning(evaluation, settings, trajectory))


def _steps_if_stiff(evaluation: Evaluation, settings: Settings, t0: float, trajectory: Trajectory) -> float | None:
    """How many steps an explicit method that was stopped to be looked at would take in all, if the motion is stiff."""
    assert trajectory.looked is not None
    t, q, v = trajectory.looked
    end = float(settings.times[-1])
    step = step_of(t0, t, trajectory.steps, trajectory.stiff)
    stiff = is_stiff(evaluation, settings, q, v, t, step, t - t0, tried=True)
    return trajectory.steps + (end - t) / step if stiff else None


def _by_stiff_method(
    evaluation: Evaluation,
    settings: Settings,
    explicit: Trajectory,
    most: int,
    state: State,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
) -> Trajectory | None:
    """The trajectory by the stiff method on the backend of the explicit one, in `most` steps; None where it takes more,
    or where that backend cannot have it.
    """
    settings = replace(settings, method=STIFF, most_steps=most)
    if explicit.backend == "reference":
        other: Trajectory | None = integrate_reference(evaluation, settings, state, bar, work)
    else:
        try:
            other, _ = _natively(evaluation, settings, state, start, bar, work)
        except DalembertError:
            other = None
    if other is None or other.looked is not None or other.failure is not None or other.steps > most:
        return None
    return other


def _by_backend(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
    look: int = 0,
) -> tuple[Trajectory, tuple[str, ...]]:
    """The trajectory by the method of the settings, on the backend that is wanted or available. look: after so many
    steps, or stiff ones (below zero: only these), it is judged, see `integrate.stiffness`.
    """
    trajectory: Trajectory | None = None
    notes: tuple[str, ...] = ()
    if settings.backend != "reference":
        trajectory, notes = _natively(evaluation, settings, state, start, bar, work, look)
    if trajectory is None:
        method = METHODS[method_of(settings)]
        if not method.runs_on_reference and settings.backend == "reference":
            only = f"method {method.name!r} runs on the native backend only"
            raise ModelError(evaluation.system.name, [f"{only}; leave backend away, or use method={method.instead!r}"])
        if not method.runs_on_reference and method.instead is not None:
            other = METHODS[method.instead]
            notes += (f"method {method.name!r} runs on the native backend only: {other.title} was used instead",)
            settings = replace(settings, method=other.name)
        trajectory = integrate_reference(evaluation, settings, state, bar, work, look)
    return trajectory, notes


def _natively(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    start: Fundamental,
    bar: Progress,
    work: Array | None,
    look: int = 0,
) -> tuple[Trajectory | None, tuple[str, ...]]:
    """The trajectory on the native backend; or None where the reference must run after all, and what to say of it.
    Asked for by name, it must be able to run the system.
    """
    obstacle = None if "wanted" in settings.kept else _why_not_native(evaluation)  # a leg before it has run so
    if obstacle is not None and settings.backend == "native":
        raise ModelError(evaluation.system.name, [f"the native backend cannot run this: {obstacle}"])
    if obstacle is not None:
        if obstacle == NO_COMPILER:
            tell_once(obstacle)
        return None, ()
    try:
        trajectory = integrate_native(evaluation, settings, state, start, bar, work, look)
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
        nothing = failure_message(evaluation.system.name, state.t, "no state was accepted")
        raise MotionFailed(trajectory.failure or nothing)
    return trajectory, ()


def _why_not_native(evaluation: Evaluation) -> str | None:
    """Why a system cannot run natively, or None where it can."""
    system, kept = evaluation.system, evaluation.graph.kept
    if "event count" not in kept:
        kept["event count"] = len(system.events) + (kink_count(system) if system.may_have_kinks else 0)
    if (count := kept["event count"]) > MOST_EVENTS:
        return f"it takes at most {MOST_EVENTS} events and kinks of the model, and there are {count}"
    return None if has_kernels() else NO_COMPILER
