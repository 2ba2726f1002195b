"""`motion.report(file)`: the chapters of a motion in their order, written as one file."""

from __future__ import annotations

import os
from math import isfinite

from dalembert.errors import OutputError, counted
from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.tables import number
from dalembert.view.report.file import require_html, write_page
from dalembert.view.report.page import page
from dalembert.view.report.section import PATIENCE_S, Request
from dalembert.view.report.sections.certificate import certificate_section, failing_words
from dalembert.view.report.sections.classification import classification_section
from dalembert.view.report.sections.comparison import comparison_section
from dalembert.view.report.sections.drawing import drawing_section
from dalembert.view.report.sections.equations import equations_section
from dalembert.view.report.sections.equilibria import equilibria_section
from dalembert.view.report.sections.events import events_section
from dalembert.view.report.sections.forces import forces_section
from dalembert.view.report.sections.model import model_section
from dalembert.view.report.sections.pictures import pictures_section
from dalembert.view.report.sections.reproduce import reproduce_section


def write_report(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    seconds: float | None = None,
    command: str = "",
    failure: str = "",
) -> None:
    """Write the report of a motion to a file; `Request` says what may be asked for."""
    require_html(path)
    seconds = PATIENCE_S if seconds is None else seconds
    if not (isinstance(seconds, (int, float)) and isfinite(seconds) and seconds > 0):
        raise OutputError(f"seconds: what each part of a report may take is a positive number, got {seconds!r}")
    write_page(path, report_page(motion, Request(seconds, command, failure)))


def report_page(motion: Motion, asked: Request) -> str:
    """The whole report of a motion as HTML."""
    system = motion.system.as_written
    sections = [
        drawing_section(motion),
        model_section(system),
        classification_section(system, asked),
        equations_section(system, asked),
        forces_section(motion),
        pictures_section(motion),
        comparison_section(system, asked),
        equilibria_section(system, asked),
        certificate_section(motion),
        events_section(motion),
        reproduce_section(motion, system, asked),
    ]
    return page(system.name, _head(motion, asked), sections)


def _head(motion: Motion, asked: Request) -> Html:
    """What must not be missed: when, how much, whether it holds, what went wrong."""
    ended = f", ended by “{motion.ended_by}”" if motion.ended_by is not None else ""
    span = f"t = {number(float(motion.t[0]))} … {number(float(motion.t[-1]))}{ended}"
    system = motion.system
    size = f"{counted(len(system.coordinates), 'coordinate')}, {counted(len(system.constraints), 'constraint')}"
    parts = [element("p", f"{span}; {counted(motion.t.size, 'point')}; {size}", class_="subtitle")]
    if asked.failure:
        parts.append(element("p", f"The motion stopped before its end. {asked.failure}", class_="bad"))
    if motion.certificate.holds:
        parts.append(element("p", "The certificate holds.", class_="good"))
    else:
        failing = element("ul", [element("li", words) for words in failing_words(motion.certificate)])
        parts.append(element("div", "The certificate does not hold.", failing, class_="bad", role="alert"))
    if motion.warnings:
        count = counted(len(motion.warnings), "warning")
        parts.append(element("p", element("a", count, href="#events"), ": ", motion.warnings[0], class_="note"))
    return fragment(parts)
