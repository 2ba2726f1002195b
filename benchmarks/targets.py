"""What the project wants to reach, and the measured ratio for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curves import Point, front, time_at

Curves = dict[str, dict[str, list[Point]]]
Startup = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Target:
    """`measure` gives the number to compare; `least` or `most` is the bound."""

    text: str
    measure: Callable[[Curves, Startup], float | None]
    least: float | None = None
    most: float | None = None
    unit: str = "×"

    def row(self, curves: Curves, startup: Startup) -> str:
        found = self.measure(curves, startup)
        above = "> " if self.least is not None and isinstance(found, AtLeast) else ""
        wanted = f"≥ {self.least:g}{self.unit}" if self.least is not None else f"≤ {self.most:g}{self.unit}"
        if found is None:
            return f"| {self.text} | {wanted} | not measured | |"
        good = found >= self.least if self.least is not None else found <= (self.most or 0.0)
        verdict = "reached" if good else f"missed by {self._by(found):.2g}×"
        return f"| {self.text} | {wanted} | {above}{found:.3g}{self.unit} | {verdict} |"

    def _by(self, found: float) -> float:
        return self.least / found if self.least is not None else found / (self.most or 1.0)


class AtLeast(float):
    """A ratio that the measurements only bound from below."""


KERNEL = "dalembert, kernel alone"


def faster(problem: str, peer: str, error: float, ours: str = "dalembert") -> Callable[[Curves, Startup], float | None]:
    """How many times longer the peer takes than dalembert (a row of ours) for the same true error.

    A peer that never came that close is counted with its most exact run: the true ratio is larger.
    """

    def ratio(curves: Curves, startup: Startup) -> float | None:
        peers = curves.get(problem, {})
        mine, theirs = (time_at(peers.get(name, []), error) for name in (ours, peer))
        line = front(peers.get(peer, []))
        if mine and theirs is None and line:
            return AtLeast(line[-1].seconds / mine)
        return theirs / mine if mine and theirs else None

    return ratio


def steadily(problem: str, peer: str, error: float) -> Callable[[Curves, Startup], float | None]:
    """As `faster`, by our slowest setting among those that meet the error without exceeding it a hundredfold."""

    def ratio(curves: Curves, startup: Startup) -> float | None:
        peers = curves.get(problem, {})
        ours = [p.seconds for p in peers.get("dalembert", []) if error / 100 <= p.error <= error]
        line = front(peers.get(peer, []))
        if not ours or not line:
            return None
        theirs = time_at(line, error)
        return AtLeast(line[-1].seconds / max(ours)) if theirs is None else theirs / max(ours)

    return ratio


def slower(problem: str, peer: str, error: float, ours: str = "dalembert") -> Callable[[Curves, Startup], float | None]:
    """How many times longer dalembert takes than the peer."""

    def ratio(curves: Curves, startup: Startup) -> float | None:
        value = faster(problem, peer, error, ours)(curves, startup)
        return 1 / value if value else None

    return ratio


def _seconds(name: str, part: int) -> Callable[[Curves, Startup], float | None]:
    return lambda curves, startup: startup[name][part] if name in startup else None


def _start(state: str, theirs_in: str) -> Callable[[Curves, Startup], float | None]:
    def ratio(curves: Curves, startup: Startup) -> float | None:
        ours, theirs = startup.get(f"dalembert, {state}"), startup.get(f"heyoka, {theirs_in}")
        return ours[0] / theirs[0] if ours and theirs else None

    return ratio


def _command(curves: Curves, startup: Startup) -> float | None:
    ours, theirs = startup.get("dalembert run, from cache"), startup.get("heyoka, cold")
    return ours[0] / theirs[0] if ours and theirs else None


TARGETS = (
    Target(
        "penny at 1e-9, kernel alone: time over that of the C loop by hand",
        slower("penny", "C by hand (DOP853)", 1e-9, KERNEL),
        most=1.1,
    ),
    Target("penny at 1e-8: time over heyoka's", slower("penny", "heyoka", 1e-8), most=1.0),
    Target("penny at 1e-8, kernel alone: time over heyoka's", slower("penny", "heyoka", 1e-8, KERNEL), most=1.0),
    Target("penny at 1e-9: faster than diffrax", faster("penny", "diffrax", 1e-9), least=20),
    Target("penny at 1e-9, kernel alone: faster than diffrax", faster("penny", "diffrax", 1e-9, KERNEL), least=20),
    Target("penny at 1e-9: faster than SciPy + lambdify", faster("penny", "SciPy + lambdify", 1e-9), least=200),
    Target("Andrews at 1e-7: faster than heyoka", faster("andrews", "heyoka", 1e-7), least=3),
    Target("Andrews at 1e-7: faster than idas", faster("andrews", "casadi idas", 1e-7), least=20),
    Target("chain of 100, accelerations: faster than Pinocchio's ABA", faster("chain 100", "Pinocchio", 1e-6), least=5),
    Target("chain of 100, accelerations: faster than MuJoCo", faster("chain 100", "MuJoCo", 1e-6), least=10),
    Target(
        "four-bar N = 40 at 1e-7: faster than Pinocchio with Baumgarte",
        faster("four-bar 40", "Pinocchio", 1e-7),
        least=20,
    ),
    Target("four-bar N = 40 at 1e-7: faster than Exudyn", faster("four-bar 40", "Exudyn", 1e-7), least=50),
    Target("the same, by the slowest setting: Pinocchio", steadily("four-bar 40", "Pinocchio", 1e-7), least=20),
    Target("the same, by the slowest setting: Exudyn", steadily("four-bar 40", "Exudyn", 1e-7), least=50),
    Target("four-bar N = 40 at 1e-4: faster than Exudyn", faster("four-bar 40", "Exudyn", 1e-4), least=50),
    Target(
        "penny: derive and compile, cold, the runtime there",
        _seconds("dalembert, another model ran before", 1),
        most=0.12,
        unit=" s",
    ),
    Target("penny: derive and compile, from cache", _seconds("dalembert, from cache", 1), most=0.02, unit=" s"),
    Target(
        "process start to first motion, cold, the runtime there: time over heyoka's cold",
        _start("another model ran before", "cold"),
        most=1.0,
    ),
    Target("the same with nothing there: time over heyoka's cold", _start("cold", "cold"), most=1.0),
    Target(
        "process start to first motion, from cache: time over heyoka's cold", _start("from cache", "cold"), most=0.5
    ),
    Target("the same by the command line: time over heyoka's cold", _command, most=0.5),
)
