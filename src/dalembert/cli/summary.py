"""The summary that `dalembert run` prints for a person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dalembert.arrays import Array
from dalembert.errors import counted
from dalembert.motion.result.certificate import CONTACT_MEASURES, MEANING, MEASURES
from dalembert.motion.result.motion import Motion
from dalembert.motion.result.summary import MOST_EVENTS, event_line, ledger_lines


def print_summary(motion: Motion, files: list[Path]) -> None:
    console = Console()
    ended = f", ended by '{escape(motion.ended_by)}'" if motion.ended_by is not None else ""
    console.print(f"[bold]{escape(motion.system.name)}[/bold]   t = {motion.t[0]:g} … {motion.t[-1]:g}{ended}")
    tables = [*_tables_of_the_end(motion, console), *([_outputs(motion)] if motion.outputs else [])]
    certificate = _certificate(motion)
    for table in tables:
        console.print(table)
    console.print(escape("\n".join(ledger_lines(motion))))
    console.print(certificate)
    for event in motion.events[:MOST_EVENTS]:
        console.print(escape(event_line(event)))
    if len(motion.events) > MOST_EVENTS:
        console.print(f"… {counted(len(motion.events) - MOST_EVENTS, 'more event')}; --json gives all")
    for warning in motion.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}")
    timing = motion.timing
    seconds = f"derive {timing.derive_s:.3f} s, compile {timing.compile_s:.3f} s, integrate {timing.integrate_s:.4f} s"
    seconds += f", forces {timing.forces_s:.4f} s, certificate {timing.certify_s:.4f} s"
    console.print(
        f"{motion.method} at rtol {motion.rtol:g}: {counted(timing.steps, 'step')}, "
        f"{counted(timing.evaluations, 'evaluation')}; {seconds}; "
        f"{motion.backend} backend{f', {timing.kernel}' if timing.kernel else ''}"
    )
    for file in files:
        console.print(f"wrote {escape(str(file))}", soft_wrap=True)


def _tables_of_the_end(motion: Motion, console: Console) -> list[Table]:
    """The last state with its forces: in one table, or in two where the lines are too short for all columns."""
    state = {"q": motion.q, "q̇": motion.v, "q̈": motion.a}
    # What is shown adds up to M q̈: inertial forces stand beside the others where there are any.
    kinds = ("impressed", *(["inertial"] if motion.inertial.any() else []), "ideal", "nonideal")
    forces = {kind: getattr(motion, kind) for kind in kinds}
    table = _table_of_the_end(motion, state | forces)
    if console.measure(table, options=console.options.update(max_width=10_000)).maximum <= console.width:
        return [table]
    return [_table_of_the_end(motion, state), _table_of_the_end(motion, forces)]


def _table_of_the_end(motion: Motion, columns: Mapping[str, Array]) -> Table:
    table = Table(title="at the end", title_justify="left", title_style="italic")
    table.add_column("")
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for k, coordinate in enumerate(motion.system.coordinates):
        table.add_row(coordinate.name, *(f"{values[-1, k]:.6g}" for values in columns.values()))
    return table


def _outputs(motion: Motion) -> Table:
    table = Table(title="outputs", title_justify="left", title_style="italic")
    table.add_column("")
    for heading in ("start", "end", "least", "greatest"):
        table.add_column(heading, justify="right", no_wrap=True)  # the names fold where lines are short
    for name, values in motion.outputs.items():
        numbers = (values[0], values[-1], values.min(), values.max())
        table.add_row(escape(name), *(f"{number:.6g}" for number in numbers))
    return table


def _certificate(motion: Motion) -> Table:
    certificate = motion.certificate
    verdict = "[green]holds[/green]" if certificate.holds else "[red]does not hold[/red]"
    table = Table(title=f"certificate: {verdict}", title_justify="left", title_style="italic")
    table.add_column("what")
    table.add_column("largest residual", justify="right", no_wrap=True)
    table.add_column("allowed", justify="right", no_wrap=True)
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
    table.add_row(f"rank of A, of {counted(len(motion.system.constraints), 'constraint')}", ranks, "")
    table.add_row("acceleration unique", "yes" if certificate.unique else "[red]no[/red]", "yes")
    return table
