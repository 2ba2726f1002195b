"""A motion in a few lines, and in plain values: its ends, its balance, its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dalembert.errors import counted
from dalembert.results import by_name, plain_values

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Events that fit on a screen beside the rest.
MOST_EVENTS = 20


def headline_of(motion: Motion) -> str:
    verdict = "holds" if motion.certificate and motion.certificate.holds else "does not hold"
    span = f"t = {motion.t[0]:g} … {motion.t[-1]:g}"
    ended = f", ended by {motion.ended_by!r}" if motion.ended_by is not None else ""
    return f"of {motion.system.name!r}: {span}{ended}, {counted(motion.t.size, 'point')}, certificate {verdict}"


def text_of(motion: Motion) -> str:
    ended = f", ended by '{motion.ended_by}'" if motion.ended_by is not None else ""
    span = f"t = {motion.t[0]:g} … {motion.t[-1]:g}"
    lines = [f"{motion.system.name}: {span}{ended}, {counted(motion.t.size, 'point')}"]
    # What is shown adds up to M q̈: inertial forces stand beside the others where there are any.
    kinds = ("impressed", *(["inertial"] if motion.inertial.any() else []), "ideal", "nonideal")
    columns = {"q": motion.q, "q'": motion.v, "q''": motion.a, **{kind: getattr(motion, kind) for kind in kinds}}
    width = max([6, *(len(q.name) for q in motion.system.coordinates)])
    lines.append(f"  {'at the end':<{width}}" + "".join(f" {heading:>12}" for heading in columns))
    for k, q in enumerate(motion.system.coordinates):
        numbers = "".join(f" {values[-1, k] + 0.0:>12.6g}" for values in columns.values())
        lines.append(f"  {q.name:<{max(width, len('at the end'))}}{numbers}")
    lines += [f"  {line}" for line in ledger_lines(motion)]
    for name, output in motion.outputs.items():
        lines.append(f"  {name}: {output[0]:.6g} → {output[-1]:.6g}, between {output.min():.6g} and {output.max():.6g}")
    lines += [f"  {event_line(event)}" for event in motion.events[:MOST_EVENTS]]
    if len(motion.events) > MOST_EVENTS:
        lines.append(f"  … {len(motion.events) - MOST_EVENTS} more events")
    lines += [f"  warning: {warning}" for warning in motion.warnings]
    return "\n".join([*lines, motion.certificate.text()])


def ledger_of(motion: Motion) -> dict[str, Any]:
    """`Motion.ledger`."""
    found: dict[str, Any] = {"start": float(motion.energy[0]), "end": float(motion.energy[-1])}
    found["work"] = {kind: float(motion.work[-1, k]) for k, kind in enumerate(("impressed", "ideal", "nonideal"))}
    found["heat"] = {name: float(heat[-1]) for name, heat in motion.heat.items()}
    if any(constraint.one_sided for constraint in motion.system.constraints):
        found["impact_loss"] = float(motion.impact_loss[-1])
    return found


def ledger_lines(motion: Motion) -> list[str]:
    ledger = ledger_of(motion)
    worked = ", ".join(f"{kind} {work:.6g}" for kind, work in ledger["work"].items())
    lines = [f"energy {ledger['start']:.6g} → {ledger['end']:.6g}; work: {worked}"]
    lost = [f"'{name}' {heat:.6g}" for name, heat in ledger["heat"].items()]
    if lost:
        lines.append(f"heat of friction: {', '.join(lost)}")
    if "impact_loss" in ledger:
        lines.append(f"lost in impacts: {ledger['impact_loss']:.6g}")
    return lines


def event_line(event: Mapping[str, Any]) -> str:
    if "state" not in event:
        return ", ".join(f"{key} {value}" for key, value in event.items())
    state = ", ".join(f"{name} = {value:.6g}" for name, value in event["state"].items())
    detail = f"'{event['contact']}'" if "contact" in event else event["direction"]
    return f"{event['name']}: t = {event['t']:.10g}, {detail}; {state}"


def values_of(motion: Motion) -> dict[str, Any]:
    """Ends, balance and certificate; all points are in `columns`, `to_xarray` and `to_dataframe`."""
    q = motion.system.coordinates
    kinds = ("acceleration", "impressed", "inertial", "ideal", "nonideal")
    start = dict(zip(kinds, (motion.a, *(getattr(motion, kind) for kind in kinds[1:])), strict=True))
    found: dict[str, Any] = {
        "name": motion.system.name,
        "coordinates": [coordinate.name for coordinate in q],
        "final": motion.final,
        "start": {
            **{kind: by_name(q, values[0]) for kind, values in start.items()},
            "multipliers": by_name(motion.system.constraints, motion.multipliers[0]),
            "rank": motion.rank[0],
        },
        "certificate": motion.certificate.to_dict(),
        "ledger": motion.ledger,
        "events": [dict(event) for event in motion.events],
        "ended_by": motion.ended_by,
    }
    if motion.contacts:
        found["contacts"] = {
            name: {
                when: {"state": str(part.state[k]), "normal": part.normal[k], "friction": part.friction[k]}
                for when, k in (("start", 0), ("end", -1))
            }
            for name, part in motion.contacts.items()
        }
    if motion.outputs:
        found["outputs"] = {
            name: {"start": values[0], "end": values[-1], "least": values.min(), "greatest": values.max()}
            for name, values in motion.outputs.items()
        }
    warnings = list(motion.warnings)  # what they take is part of the timing
    found |= {"timing": asdict(motion.timing), "backend": motion.backend, "warnings": warnings}
    plain: dict[str, Any] = plain_values(found)
    return plain
