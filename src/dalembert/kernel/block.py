"""An integration that is done again and again, laid out once: the counterpart of `runtime/run/block.h`.

Arguments and results stand in one block of numbers, which is copied for each run: that and one call of C take a tenth
of the time in which sixteen arguments are made ready.
"""

from __future__ import annotations

import ctypes
from itertools import accumulate
from typing import Any

import numpy as np

from dalembert.kernel.events import EventBuffer
from dalembert.kernel.kernel import CHANGES, HEAD, PASSED, Array, Kernel, KernelRun, PaceArgument
from dalembert.methods.table import METHODS


class _Head(ctypes.Structure):
    """da_block of runtime/run/block.h."""

    _fields_ = (
        *(
            (name, ctypes.c_long)
            for name in ("y0", "p", "times", "atol", "out", "report", "starts", "bounds", "weights", "fastest")
        ),
        *((name, ctypes.c_long) for name in ("requests", "bounces", "record", "count", "parts")),
        *((name, ctypes.c_double) for name in ("t0", "rtol", "share", "look", "reached")),
        *((name, ctypes.c_int) for name in ("method", "project", "stop")),
    )


NONE = np.empty(0)
# The first arguments of `Kernel.integrate`: y0, t0, parameters, times, rtol, atol, method, project.
Given = tuple[Array, float, Array, Array, float, Array, str, bool]


class Block:
    """One integration that no event ends."""

    def __init__(
        self, kernel: Kernel, given: Given, pace: PaceArgument, steps: int, events: EventBuffer | None = None
    ) -> None:
        """steps: after so many it ends unfinished. events: as the run before had them, which passed as many."""
        y0, t0, parameters, times, rtol, atol, method, project = given
        starts, bounds, weights = pace.arrays
        width, count, head = len(y0), len(times), -(-ctypes.sizeof(_Head) // 8)
        asked = (NONE, NONE) if events is None else events.as_numbers()
        inputs = (y0, parameters, times, atol, starts, bounds, weights, *asked)
        room = 0 if events is None else events.count * (3 + width)
        sizes = (head, *map(len, inputs), HEAD + CHANGES + PASSED + width, count * width, 2 + width, room)
        at = list(accumulate(sizes))  # where each begins that comes after the one before
        numbers = np.zeros(at[-1])
        for begin, values in zip(at, inputs, strict=False):
            numbers[begin : begin + len(values)] = values
        y0_at, p_at, times_at, atol_at, starts_at, bounds_at, weights_at, *at_events = at[:9]
        report_at, out_at, fastest_at, record_at, _ = at[9:]
        places = (y0_at, p_at, times_at, atol_at, out_at, report_at, starts_at, bounds_at, weights_at, fastest_at)
        of_events = [place if len(values) else 0 for place, values in zip(at_events, asked, strict=True)]
        _, _, parts, share, look, _ = pace.numbers
        code = METHODS[method].code
        numbers_of_run = (t0, rtol, share, look, t0, code, int(project), steps)
        beginning = _Head(*places, *of_events, record_at, count, parts, *numbers_of_run)
        self.template = bytes(beginning).ljust(8 * head, b"\0") + numbers[head:].tobytes()
        self.kind: Any = ctypes.c_double * at[-1]
        self.entry = kernel.block_entry
        self.data = kernel, events  # whose functions and arrays must live as long as this
        self.events, self.requests, self.record = events, at_events[0], record_at
        self.report, self.states_at, self.fastest = report_at, out_at, fastest_at
        self.count, self.width = count, width

    def run(self) -> Any:
        """The block of a run that came to its end; None of one that did not. Other threads run meanwhile."""
        made = self.kind.from_buffer_copy(self.template)
        return None if self.entry(ctypes.addressof(made)) else made

    def states(self, made: Any) -> Array:
        """Those at the output times (count, width)."""
        numbers: Array = np.frombuffer(made)
        return numbers[self.states_at : self.states_at + self.count * self.width].reshape(self.count, self.width)

    def results(self, made: Any) -> tuple[KernelRun, tuple[float, Array] | None, EventBuffer | None]:
        """What `Kernel.integrate` gives of it, the fastest state as `PaceArgument.fastest_state` has it, and what it
        has written about events.
        """
        numbers = np.frombuffer(made)
        found = numbers[self.fastest : self.fastest + 2 + self.width]
        fastest = (float(found[1]), found[2:].copy()) if found[0] > 0 else None
        events = None if self.events is None else self.events.written_in(made, self.requests, numbers[self.record :])
        return KernelRun(0, self.states(made), numbers[self.report : self.states_at]), fastest, events
