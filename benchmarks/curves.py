"""Work–precision curves: time at a given true error, and the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path


@dataclass(frozen=True)
class Point:
    """One setting of one peer on one problem: the least time of the repeats."""

    setting: float
    seconds: float
    error: float
    note: str


def front(points: list[Point]) -> list[Point]:
    """Points that no other one beats in both time and error, from the largest error to the smallest."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.error, p.seconds)):
        if math.isfinite(point.error) and (not best or point.seconds < best[-1].seconds):
            best.append(point)
    return best[::-1]


def time_at(points: list[Point], error: float) -> float | None:
    """Seconds for an error at most this, on the line between neighbours in logarithms; None where it is not reached.

    Where the cheapest point is already better than asked, its time counts: nothing is extrapolated.
    """
    line = front(points)
    if not line or line[-1].error > error:
        return None
    if line[0].error <= error:
        return line[0].seconds
    for above, below in pairwise(line):
        if below.error <= error < above.error:
            if below.error == 0.0:
                return below.seconds
            share = math.log(above.error / error) / math.log(above.error / below.error)
            return above.seconds * (below.seconds / above.seconds) ** share
    return None


def draw(curves: dict[str, dict[str, list[Point]]], titles: dict[str, str], file: Path) -> None:
    """One panel for each problem, time against true error."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name, peers in curves.items() if any(len(front(points)) > 1 for points in peers.values())]
    if not names:
        return
    columns = min(3, len(names))
    rows = math.ceil(len(names) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 4 * rows), squeeze=False, layout="constrained")
    everyone = sorted({peer for name in names for peer in curves[name]}, key=lambda peer: (peer != "dalembert", peer))
    shades = plt.get_cmap("tab20").colors
    colours = {
        peer: "black" if peer == "dalembert" else shades[2 * k % 20 + k // 11] for k, peer in enumerate(everyone)
    }
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, names, strict=False):
        for peer, points in curves[name].items():
            shown = [p for p in points if math.isfinite(p.error) and p.error > 0]
            style = {"linewidth": 2.2, "zorder": 3} if peer == "dalembert" else {"linewidth": 1.2}
            axis.loglog(
                [p.error for p in shown],
                [p.seconds for p in shown],
                "o-",
                ms=3,
                color=colours[peer],
                label=peer,
                **style,
            )
        axis.invert_xaxis()
        axis.set_title(titles[name], fontsize=10)
        axis.set_xlabel("true error")
        axis.set_ylabel("seconds")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.savefig(file, dpi=110)
    plt.close(figure)
