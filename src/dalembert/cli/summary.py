"""The summary that `dalembert run` prints for a person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dalembert.motion.certificate import CONTACT_MEASURES, MEASURES
from dalembert.motion.motion import Motion

MEANING = {
    "position": "position constraints φ = 0",
    "velocity": "velocity constraints φ̇ = 0, ψ = 0",
    "acceleration": "A q̈ = b",
    "forces": "M q̈ = sum of forces",
    "virtual_work": "virtual work of constraint forces",
    "gauss": "distance from the minimum of G",
    "energy": "energy balance",
    "contact": "laws of friction and contact",
    "repeat": "stretches integrated again",
    "impact": "laws of impacts",
    "consistency": "Δq̇ = ∫ q̈ dt between outputs",
}

# Events that fit on a screen beside the tables.
MOST_EVENTS = 20


def print_summary(motion: Motion, files: list[Path]) -> None:
    console = Console()
    ended = f", ended by '{escape(motion.ended_by)}'" if motion.ended_by is not None else ""
    console.print(f"[bold]{escape(motion.system.name)}[/bold]   t = {motion.t[0]:g} … {motion.t[-1]:g}{ended}")
    console.print(_state(motion))
    console.print(_ledger(motion))
    console.print(_certificate(motion))
    for event in motion.events[:MOST_EVENTS]:
        console.print(escape(_event(event)))
    if len(motion.events) > MOST_EVENTS:
        console.print(f"… {len(motion.events) - MOST_EVENTS} more events; --json gives all")
    for warning in motion.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}")
    timing = motion.timing
    seconds = f"derive {timing.derive_s:.3f} s, compile {timing.compile_s:.3f} s, integrate {timing.integrate_s:.4f} s"
    console.print(
        f"{motion.method} at rtol {motion.rtol:g}: {timing.steps} steps, {timing.evaluations} evaluations; {seconds}; "
        f"{motion.backend} backend"
    )
    for file in files:
        console.print(f"wrote {escape(str(file))}", soft_wrap=True)


def _event(event: Mapping[str, Any]) -> str:
    if "state" not in event:
        return ", ".join(f"{key} {value}" for key, value in event.items())
    state = ", ".join(f"{name} = {value:.6g}" for name, value in event["state"].items())
    detail = f"'{event['contact']}'" if "contact" in event else event["direction"]
    return f"{event['name']}: t = {event['t']:.10g}, {detail}; {state}"


def _state(motion: Motion) -> Table:
    table = Table(title="at the end", title_justify="left", title_style="italic")
    table.add_column("")
    # What is shown adds up to M q̈: inertial forces stand beside the others where there are any, and the table must
    # still fit on 80 signs.
    inertial = bool(motion.inertial.any())
    forces = ["impressed", "inertial", "ideal", "nonideal"] if inertial else ["impressed", "ideal", "nonideal"]
    if inertial and not motion.system.nonideal:
        forces.remove("nonideal")
    digits = 4 if len(forces) > 3 else 6
    for heading in ("q", "q̇", "q̈", *forces):
        table.add_column(heading, justify="right", min_width=len(heading))
    columns = (motion.q, motion.v, motion.a, *(getattr(motion, kind) for kind in forces))
    for k, coordinate in enumerate(motion.system.coordinates):
        table.add_row(coordinate.name, *(f"{values[-1, k]:.{digits}g}" for values in columns))
    return table


def _ledger(motion: Motion) -> str:
    ledger = motion.ledger
    worked = ", ".join(f"{kind} {work:.6g}" for kind, work in ledger["work"].items())
    lines = [f"energy {ledger['start']:.6g} → {ledger['end']:.6g}; work: {worked}"]
    lost = [f"'{name}' {heat:.6g}" for name, heat in ledger["heat"].items()]
    if lost:
        lines.append(f"heat of friction: {', '.join(lost)}")
    if "impact_loss" in ledger:
        lines.append(f"lost in impacts: {ledger['impact_loss']:.6g}")
    return escape("\n".join(lines))


def _certificate(motion: Motion) -> Table:
    certificate = motion.certificate
    verdict = "[green]holds[/green]" if certificate.holds else "[red]does not hold[/red]"
    table = Table(title=f"certificate: {verdict}", title_justify="left", title_style="italic")
    table.add_column("what")
    table.add_column("largest residual", justify="right")
    table.add_column("allowed", justify="right")
    for name in MEASURES:
        if name in CONTACT_MEASURES and motion.C is None:
            continue
        value, allowed = getattr(certificate, name), certificate.thresholds[name]
        mark = "" if value <= allowed else " [red]✗[/red]"
        table.add_row(MEANING[name], f"{value:.1e}{mark}", f"{allowed:.0e}")
    ranks = (
        f"{certificate.rank_min}"
        if certificate.rank_min == certificate.rank_max
        else (f"{certificate.rank_min} … {certificate.rank_max}")
    )
    table.add_row(f"rank of A, of {len(motion.system.constraints)} constraints", ranks, "")
    table.add_row("acceleration unique", "yes" if certificate.unique else "[red]no[/red]", "yes")
    return table
