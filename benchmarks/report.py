"""README.md and curves.png from results.json: numbers enter the text from there only."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

from curves import Point, draw, time_at
from targets import TARGETS

ERRORS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
HEAD = """# Benchmarks

This project beside its peers, measured by `run.py` in one go. **Work–precision**: the time a peer takes for a given
*true* error, not for an equal tolerance; the true values come from closed forms or from another formulation in higher
precision (`problems/`).

```sh
pip install -e ".[bench]"
python benchmarks/run.py            # all of it; --quick for a first look, --only andrews, --peers heyoka
```

How to read the tables: a cell is the time at that true error and, in brackets, how many times longer than dalembert.
Times are interpolated between neighbouring settings on a peer's best line and never extrapolated; a dash means that no
setting reached the error. Set-up is deriving, building and compiling, once per model, not counted in the times.
Motions are timed through each peer's Python call, from the initial state to the end, no output in between. Errors are
the largest deviation of the observed quantities at the end, relative where they exceed one. All times are seconds of
the processor, the least of the repeats, so that what else a machine does hardly counts.

Rows called "dalembert" are `prepared.run`, a call of the user's, by the kernel and the method that `auto` comes to when
it has run for a while; "kernel alone" is what is left without Python around it, by the method that `auto` begins with.
"""
NOTES = """
## What to know about the comparisons

- **Explicit equations.** heyoka, diffrax, cvodes and the C loop integrate ẏ = f(t, y) and know no constraints; they are
  given accelerations eliminated by hand (`peers/explicit.py`), the shortest we found. dalembert is given energies and
  constraints; beside the motion it integrates the work of all forces for its certificate, and it returns to the
  constraints after each step.
- **Soft constraints and fixed steps.** MuJoCo's loops are soft by design; Pinocchio keeps them by Baumgarte's
  correction inside a proximal solver, and has no integrator of its own (RK4 around it, in Python); Exudyn's
  generalised-α is of second order.
- **Four-bar mechanism.** At every passage through the horizontal a window can leave crossed. An error of order one
  means the wrong branch. MuJoCo's rows show its change of energy, where the true one is zero.
- **The best line is kind** to a peer whose time jumps between settings (dalembert does, where a step of the four-bar
  mechanism ends close to a crossing and dense algebra takes over): "every setting" shows the jumps.
- **Chain.** One evaluation of all accelerations. dalembert's straight-line function alone is built and timed; a kernel
  that integrates holds more, and takes longer to compile.
- **C by hand.** `peers/c_dop853.py`: the same method and step control for the penny alone, eight states.
- **Process start.** Of 0.49 s from cache, measured where heyoka took 0.51 s cold, importing SymPy, NumPy and CasADi
  took 0.38 s: a model in SymPy's expressions cannot start in half of heyoka's time, a document that was read before
  can.
"""


def write(results: dict[str, Any], problems: dict[str, Any], folder: Path) -> None:
    """All tables in README.md, and the picture beside it."""
    curves = {
        name: {
            peer: [Point(*row) for row in entry["rows"]]
            for peer, entry in results["problems"][name].items()
            if "rows" in entry
        }
        for name in problems
        if name in results["problems"]
    }
    draw(curves, {name: problem.title for name, problem in problems.items()}, folder / "curves.png")
    start = {name: tuple(value) for name, value in results.get("startup", {}).items()}
    earlier: dict[str, str] = results.get("earlier", {})  # what to say of results that were kept from another day
    versions = ", ".join(
        f"{name} {number}" for name, number in sorted(results["versions"].items()) if name != "dalembert"
    )
    parts = [
        HEAD,
        _paragraph(f"Measured on: {results['machine']}; {versions}.") + "\n",
        "![work–precision curves](curves.png)\n",
        "## Targets\n",
    ]
    parts.append("| target | wanted | measured | |\n| --- | --- | --- | --- |")
    parts += [target.row(curves, start) for target in TARGETS]
    if earlier:
        parts.append("\n" + _paragraph(f"Of an earlier day, as their sections say: {', '.join(earlier)}."))
    for name, problem in problems.items():
        if name in curves:
            parts.append(_section(problem, results["problems"][name], curves[name], earlier.get(name)))
    if start:
        parts.append("\n## From process start to the end of the first motion (penny)\n")
        if "startup" in earlier:
            parts.append(_paragraph(earlier["startup"]) + "\n")
        parts.append("| | whole process | derive and compile |\n| --- | --- | --- |")
        for name, (whole, made) in start.items():
            parts.append(f"| {name} | {_time(whole)} | {_time(made) if made else ''} |")
    parts.append(NOTES)
    if results.get("missing"):
        parts.append("## Not installed\n")
        parts += [f"- {name}: {reason}" for name, reason in results["missing"].items()]
    (folder / "README.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _section(problem: Any, entries: dict[str, Any], curves: dict[str, list[Point]], earlier: str | None) -> str:
    lines = [f"\n## {problem.title}\n", f"True values: {problem.recipe}.\n"]
    if earlier:
        lines.append(_paragraph(earlier) + "\n")
    if problem.kind == "acceleration":
        lines.append("| | set-up | one evaluation | error |\n| --- | --- | --- | --- |")
        ours = curves.get("dalembert", [])
        for peer, points in curves.items():
            ratio = f" ({points[0].seconds / ours[0].seconds:.3g}×)" if ours and peer != "dalembert" else ""
            lines.append(
                f"| {peer} | {_time(entries[peer]['setup'])} | {_time(points[0].seconds)}{ratio} "
                f"| {points[0].error:.1e} |"
            )
    else:
        lines.append("| | set-up | " + " | ".join(f"{error:.0e}" for error in ERRORS) + " |")
        lines.append("| --- " * (2 + len(ERRORS)) + "|")
        for peer, points in curves.items():
            cells = [_cell(points, curves.get("dalembert", []), error, peer == "dalembert") for error in ERRORS]
            lines.append(f"| {peer} | {_time(entries[peer]['setup'])} | {' | '.join(cells)} |")
    reasons = {peer: entry["cannot"] for peer, entry in entries.items() if "cannot" in entry and "by hand" not in peer}
    if reasons:
        said = "; ".join(f"**{peer}**: {reason}" for peer, reason in reasons.items())
        lines.append("\n" + _paragraph(f"Not here: {said}."))
    if problem.kind != "acceleration":
        lines.append("\n<details><summary>every setting</summary>\n")
        lines.append("| | setting | time | true error | |\n| --- | --- | --- | --- | --- |")
        for peer, points in curves.items():
            kind = entries[peer]["setting"]
            for p in points:
                error = f"{p.error:.1e}" if math.isfinite(p.error) else "none"
                lines.append(f"| {peer} | {kind} {p.setting:.0e} | {_time(p.seconds)} | {error} | {p.note} |")
        lines.append("\n</details>")
    return "\n".join(lines)


def _cell(points: list[Point], ours: list[Point], error: float, own: bool) -> str:
    here, base = time_at(points, error), time_at(ours, error)
    if here is None:
        return "—"
    return _time(here) + (f" ({here / base:.3g}×)" if base and not own else "")


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _paragraph(text: str) -> str:
    """Text in lines of at most 120 columns."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)
