"""How the numbers were made, with what, and how to make them again."""

from __future__ import annotations

import base64
import platform
import shlex
from importlib.metadata import PackageNotFoundError, version

from dalembert.errors import DalembertError, counted
from dalembert.kernel.build import find_compiler
from dalembert.methods.table import AUTO, METHODS
from dalembert.model.documents.write_document import dumps
from dalembert.model.system import System
from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.tables import facts, number
from dalembert.view.report.section import Request, Section, note

PACKAGES = {"NumPy": "numpy", "SymPy": "sympy", "CasADi": "casadi", "SciPy": "scipy"}
# A document larger than this would make the report too large to send.
MOST_BYTES = 1_000_000
FILE, REPORT = "model.toml", ("--report", "report.html")


def reproduce_section(motion: Motion, system: System, asked: Request) -> Section:
    link = document_link(document_of(system))
    body = fragment(
        element("h3", "How to reproduce"),
        element("p", "The model as a file: ", link, ". Then") if link else note("The model has no form as a document."),
        element("pre", element("code", run_command(motion)), tabindex="0") if link else None,
        element("p", "This report was made by ", element("code", asked.command), ".") if asked.command else None,
        element("h3", "Timing"),
        facts(_timing(motion)),
        element("h3", "Versions"),
        facts(versions().items()),
    )
    return Section("reproduce", "How it was made", body)


def run_command(motion: Motion) -> str:
    """The line that makes the same motion of the document."""
    first, last = float(motion.t[0]), float(motion.t[-1])
    if motion.ended_by is not None and motion.t.size > 2:
        # An event ended it between two outputs: to the second of them, so that the others are where they were.
        last = first + float(motion.t[1] - motion.t[0]) * (motion.t.size - 1)
    words = ["dalembert", "run", FILE, "--duration", f"{last - first!r}", "--samples", str(motion.t.size)]
    title, _, order = motion.method.partition(", order ")
    known = {method.title: name for name, method in METHODS.items()}
    words += ["--method", known.get(title, AUTO)]  # what changed its method on the way does so again
    if order:  # steps of one length, which are no matter of tolerance
        step = (float(motion.t[-1]) - first) / max(motion.timing.steps, 1)
        return shlex.join([*words, "--step", f"{step!r}", "--order", order, *REPORT])
    words += ["--rtol", f"{motion.rtol!r}"]
    if motion.backend != "native":
        words += ["--backend", motion.backend]
    return shlex.join([*words, *REPORT])


def document_of(system: System) -> str:
    """The document of a system; empty where it has none."""
    try:
        return dumps(system)
    except DalembertError:
        return ""


def document_link(text: str) -> Html | None:
    """A link that saves the document, which it holds; None where there is none, or it is too long."""
    content = text.encode("utf-8", "replace")
    if not content or len(content) > MOST_BYTES:
        return None
    address = f"data:application/toml;base64,{base64.b64encode(content).decode()}"
    return element("a", FILE, href=address, download=FILE)


def _timing(motion: Motion) -> list[tuple[str, str]]:
    timing = motion.timing
    _ = motion.certificate  # what it took is part of the timing
    spent = (
        ("deriving", timing.derive_s), ("compiling", timing.compile_s), ("integrating", timing.integrate_s),
        ("forces", motion.timing.forces_s), ("certificate", motion.timing.certify_s),
    )  # fmt: skip
    found = [(name, f"{number(seconds, '.3g')} s") for name, seconds in spent]
    work = f"{counted(timing.steps, 'step')}, {counted(timing.evaluations, 'evaluation')}"
    kernel = f", {timing.kernel}" if timing.kernel else ""
    found += [("method", f"{motion.method} at rtol {motion.rtol:g}: {work}"), ("backend", motion.backend + kernel)]
    return found


def versions() -> dict[str, str]:
    """What the numbers depend on besides the model."""
    from dalembert import __version__

    found = {"dalembert": __version__, "Python": f"{platform.python_version()} on {platform.platform()}"}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    compiler = find_compiler()
    found["C compiler"] = "none" if compiler is None else compiler.version
    return found
