"""The benchmark problems, by name."""

from __future__ import annotations

from . import andrews, appell_hamel, chain, double_pendulum, four_bar, pendulum, penny
from .base import Problem

PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        penny.PROBLEM,
        pendulum.PROBLEM,
        andrews.PROBLEM,
        *four_bar.PROBLEMS,
        *chain.PROBLEMS,
        appell_hamel.PROBLEM,
        double_pendulum.PROBLEM,
    )
}

__all__ = ["PROBLEMS", "Problem"]
