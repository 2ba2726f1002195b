"""A sweep as one value: all that is needed to compute any range of its members, in this process or in another."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.ask.values import Values
from dalembert.ensemble.ask.wanted import LYAPUNOV, OF_EVENTS, Wanted
from dalembert.ensemble.members.control import Budget
from dalembert.ensemble.members.observe import Observables
from dalembert.ensemble.start.ahead import Ahead, look_ahead_of_members
from dalembert.ensemble.start.block import Block, Blocks
from dalembert.ensemble.start.repair import Repair
from dalembert.ensemble.start.starts import start_look
from dalembert.graph.functions import Graph, graph_of
from dalembert.graph.timed import timed_of
from dalembert.kernel.ready.member_starts import StartLook
from dalembert.kernel.ready.together import Together, together_of
from dalembert.kernel.waited import waited, working_time
from dalembert.model.friction.legs import needs_legs
from dalembert.motion.integrate.choose import MOST_EVENTS
from dalembert.motion.integrate.kernel_choice import has_kernels
from dalembert.motion.integrate.kinks import Kinks, with_switches
from dalembert.motion.integrate.native import stack_bytes
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.large.prepare import make_large_ready
from dalembert.motion.large.size import is_large
from dalembert.motion.prepare import Prepared
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.model.system import System


def made_ready(system: System, settings: Settings) -> Prepared:
    """To be run from any state, with any parameters: with loops over its parts where it is large."""
    if not is_large(system):
        return Prepared(system, settings)
    before = waited.seconds
    return make_large_ready(system, settings, working_time(), before)


@dataclass(frozen=True)
class Task:
    """repair: None, or which entries of (q, q̇) may be moved (2n,). single: GPUs compute in float32. lanes: see
    `in_lanes`.
    """

    system: System
    settings: Settings
    values: Values
    wanted: Wanted
    budget: Budget
    certify: bool = False
    repair: tuple[bool, ...] | None = None
    single: bool = False
    lanes: bool | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what belongs to this process."""
        names = ("system", "settings", "values", "wanted", "budget", "certify", "repair", "single", "lanes")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What others find out about it, once in a process."""
        return {}

    @property
    def n(self) -> int:
        return len(self.system.coordinates)

    @cached_property
    def events(self) -> tuple[str, ...]:
        return tuple(event.name for event in self.system.events)

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The events, and after them what contacts do, as far as reductions ask for it."""
        asked = [reduction.of for reduction in self.wanted.reductions if reduction.kind in OF_EVENTS]
        return tuple(dict.fromkeys((*self.events, *asked)))

    @property
    def along(self) -> bool:
        """Whether states between start and end are wanted."""
        return self.wanted.needs_points or self.certify

    @cached_property
    def blocks(self) -> Blocks:
        return Blocks(self.system, self.values)

    @cached_property
    def observables(self) -> Observables | None:
        return Observables(self.system, self.wanted.expressions) if self.wanted.expressions else None

    @cached_property
    def graph(self) -> Graph:
        return graph_of(self.system)

    @cached_property
    def together(self) -> Together | None:
        """What evaluates members at once, where they are run at once; None where each is run alone: `why_alone`."""
        return None if self.why_alone is not None else together_of(self.graph)

    @cached_property
    def start_look(self) -> StartLook:
        """What looks at the starts of members that are evaluated at once."""
        assert self.together is not None
        return start_look(self.graph, self.together)

    def make_shared(self) -> None:
        """Make what threads share before there are any: CasADi's expressions are built by one at a time."""
        _ = self.blocks, self.lock, self.kept, self.observables, self.mending
        _ = None if self.together is None else (self.start_look, timed_of(self.system))

    @cached_property
    def why_alone(self) -> str | None:
        """Why members are run one by one, if they are."""
        system = self.system
        if needs_legs(system):
            return "contacts are decided leg by leg"
        if is_large(system):
            return "the model is large"
        if self.settings.step is not None:
            return f"method {self.settings.method!r} has steps of one length"
        if self.settings.backend == "reference":
            return "the reference backend was asked for"
        if not has_kernels():
            return "there is no compiler"
        if self.graph.nonlinear:
            return "constraints are nonlinear in the accelerations"
        if together_of(self.graph) is None:
            return "forces depend on constraint forces"
        if len(self.switched[0].system.events) > MOST_EVENTS:
            return f"there are more than {MOST_EVENTS} events and kinks"
        return None

    @cached_property
    def switched(self) -> tuple[Evaluation, Kinks]:
        """What integrates: the model with its kinks switched, where it has any."""
        return with_switches(Evaluation(self.system, np.ones(len(self.system.parameter_symbols))))

    def kernel_parameters(self, p: Array) -> Array:
        """Parameters (K, P) as what integrates takes them: with the sides of kinks, which it sets itself."""
        own, _ = self.switched
        if own.system is self.system:
            return p
        at = {symbol: k for k, symbol in enumerate(self.system.parameter_symbols)}
        found = np.ones((len(p), len(own.system.parameter_symbols)))
        for k, symbol in enumerate(own.system.parameter_symbols):
            if symbol in at:
                found[:, k] = p[:, at[symbol]]
        return found

    @cached_property
    def stack(self) -> int:
        """Bytes of the stack of a thread that integrates."""
        n, m = self.n, len(self.system.constraints)
        return stack_bytes(n, m, 0 if self.together is None else len(self.switched[0].system.events))

    @cached_property
    def prepared(self) -> Prepared:
        """For members that are run alone. A run that takes more steps than granted ends unfinished."""
        return made_ready(self.system, replace(self.settings, most_steps=self.budget.steps, members=self.values.count))

    def member_system(self, block: Block, k: int) -> System:
        """With the parameters of member k of a block."""
        return self.system.replace(
            parameters=dict(zip(self.system.parameter_symbols, block.p[k].tolist(), strict=True))
        )

    @cached_property
    def mending(self) -> Repair | None:
        if self.repair is None or self.together is None:
            return None
        return Repair(self.graph, self.together, np.array(self.repair))

    @property
    def lyapunov(self) -> bool:
        return any(reduction.kind == LYAPUNOV for reduction in self.wanted.reductions)

    # -- forces that depend on time

    @property
    def is_timed(self) -> bool:
        """Whether anything depends on time explicitly."""
        return timed_of(self.system) is not None

    @property
    def looks_differ_by(self) -> tuple[str, ...]:
        """What varies, of all that looks ahead along time depend on, so that members have their own."""
        timed, varied = timed_of(self.system), self.blocks.varied
        if timed is None:
            return ()
        places, speeds = timed.places
        names = [self.system.parameter_symbols[k] for k in timed.parameters]
        names += [self.system.coordinates[k] for k in places] + [self.system.velocities[k] for k in speeds]
        return tuple(symbol.name for symbol in names if symbol.name in varied)

    def ahead(self, block: Block) -> Ahead:
        """What looks ahead along time say of members that are run at once."""
        assert self.together is not None
        return look_ahead_of_members(self.system, self.settings, self.together, block)

    @cached_property
    def lock(self) -> threading.Lock:
        """For what is made once, by whichever thread comes first."""
        return threading.Lock()
