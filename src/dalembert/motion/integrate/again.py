"""A short run from the same start, again: one call of C on a block that was laid out by the first one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dalembert.arrays import Array
from dalembert.kernel import kernel as kernels
from dalembert.kernel.block import Block, Given
from dalembert.kernel.events import EventBuffer
from dalembert.kernel.kernel import KernelRun, PaceArgument
from dalembert.motion.integrate import kernel_choice
from dalembert.motion.integrate.kernel_choice import (
    Choice,
    Race,
    Wanted,
    is_worth_compiling,
    note_steps,
)
from dalembert.motion.integrate.trajectory import Trajectory

# What the results of a kernel come to: its run, the fastest state, what it has written about events.
Complete = Callable[[KernelRun, tuple[float, Array] | None, EventBuffer | None], Trajectory]


@dataclass(frozen=True, eq=False)
class Again:
    """start: the evaluation and the solution at the start that it belongs to, or the contacts and None, since systems
    with other numbers share settings. choice: the kernel that the first run had, which is looked for anew where others
    have come since. steps: that run took, as any other will. complete: from results to a trajectory, when that is asked
    for.
    """

    start: tuple[Any, Any]
    block: Block
    wanted: Wanted
    choice: Choice
    steps: int
    complete: Complete
    race: Race | None  # while it is open whether series would do it with less work
    known: tuple[int, int]  # how many kernels and races there were when it was made

    def run(self, of: Any, solution: Any) -> Any:
        """The block of the run from that start; None where it is to be done as if for the first time."""
        if self.start[0] is not of or self.start[1] is not solution:
            return None
        if (kernels.made_so_far, kernel_choice.races_so_far) != self.known:
            return None
        if self.race is not None and self.race.is_due(self.steps):
            return None
        if self.choice.worth:  # by tape: so many steps, and it is compiled
            if is_worth_compiling(self.wanted, self.choice):
                return None
            note_steps(self.wanted, self.steps)
        return self.block.run()

    def trajectory(self, made: Any) -> Trajectory:
        return self.complete(*self.block.results(made))


def lay_out(
    start: tuple[Any, Any],
    wanted: Wanted,
    choice: Choice,
    given: Given,
    pace: PaceArgument,
    steps: int,
    most: int,
    complete: Complete,
    race: Race | None,
    events: EventBuffer | None,
) -> Again:
    """After a run that took so many steps, for those that follow. most: steps that it may take at all."""
    known = (kernels.made_so_far, kernel_choice.races_so_far)
    return Again(start, Block(choice.kernel, given, pace, most, events), wanted, choice, steps, complete, race, known)
