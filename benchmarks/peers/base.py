"""How a peer is asked: prepare a problem once, then solve it at one setting after another."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from problems import Problem

# One measurement lasts at least this long: a clock reading costs far less, and interruptions of the machine far more.
LEAST_S = 0.01
MOST_RUNS = 2000


class Cannot(Exception):
    """A peer cannot express a problem; the message says why."""


class Gone(Exception):
    """A run ended before its end; the message says where."""


@dataclass(frozen=True)
class Task:
    """One problem at one setting: `run` is what is timed, `observe` turns what it gives into the observed quantities.

    `observe` may raise Gone. note: what a reader must know beside the number, as a function of what `run` gave.
    """

    run: Callable[[], Any]
    observe: Callable[[Any], Any]
    note: Callable[[Any], str] = lambda given: ""
    repeats: int = 1  # that `run` does by itself


@dataclass(frozen=True)
class Outcome:
    seconds: float
    error: float
    note: str = ""


@dataclass
class Peer:
    """A library and the ways it solves the problems.

    models: problem name -> prepare(problem) -> (setting -> Task). "chain" serves all chains.
    cannot: problem name -> why not. settings: problem name -> fixed steps or tolerances in place of the problem's own.
    """

    name: str
    package: str
    models: dict[str, Callable[[Problem], Callable[[float], Task]]]
    cannot: dict[str, str]
    settings: dict[str, Sequence[float]] = field(default_factory=dict)
    setting_name: str = "rtol"
    seconds: dict[str, float] = field(default_factory=dict)
    _ready: dict[str, Callable[[float], Task]] = field(default_factory=dict)

    def sweep(self, problem: Problem) -> Sequence[float]:
        return _match(self.settings, problem.name) or problem.tolerances

    def prepare(self, problem: Problem) -> Callable[[float], Task]:
        """The model, built and compiled once; what that took is kept in `seconds`."""
        if problem.name not in self._ready:
            make = _match(self.models, problem.name)
            if make is None:
                raise Cannot(_match(self.cannot, problem.name) or "not measured")
            started = processor_seconds()
            self._ready[problem.name] = make(problem)
            self.seconds[problem.name] = processor_seconds() - started
        return self._ready[problem.name]

    def task(self, problem: Problem, setting: float) -> tuple[Outcome, Callable[[], Outcome]]:
        """A first outcome, which may be spoilt by caches still cold, and a measurement that can be repeated."""
        made = self.prepare(problem)(setting)
        return measure(problem, made, 0.0), partial(measure, problem, made, LEAST_S)

    def solve(self, problem: Problem, setting: float) -> Outcome | Cannot:
        """Seconds, error and note of one problem at one setting, or why it cannot be expressed."""
        try:
            return self.task(problem, setting)[1]()
        except Cannot as reason:
            return reason


def processor_seconds() -> float:
    """Of this process and of those that it has waited for, compilers among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def measure(problem: Problem, made: Task, least: float) -> Outcome:
    """The mean over as many runs as fit into `least` seconds of the processor, at least one."""
    runs, started = 0, time.process_time()
    while True:
        given = made.run()
        runs += 1
        elapsed = time.process_time() - started
        if elapsed >= least or runs >= MOST_RUNS:
            break
    try:
        error, note = problem.error(made.observe(given)), made.note(given)
    except Gone as gone:
        error, note = math.inf, str(gone)
    return Outcome(elapsed / runs / made.repeats, error, note)


def _match(table: dict[str, Any], name: str) -> Any:
    fitting = [key for key in table if name == key or name.startswith(f"{key} ") or key == "*"]
    return table[max(fitting, key=len)] if fitting else None
