"""`ensemble.report(file)`: what was varied, what became of the members, their numbers and pictures."""

from __future__ import annotations

import os

import numpy as np

from dalembert.ensemble.ask.values import label_of
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.errors import DalembertError, counted
from dalembert.view.markup.elements import Content, Html, element, fragment
from dalembert.view.markup.pictures import image
from dalembert.view.markup.tables import facts, long_table, number, table
from dalembert.view.plots.labels import with_unit
from dalembert.view.report.file import require_html, write_page
from dalembert.view.report.page import page
from dalembert.view.report.section import Section, note
from dalembert.view.report.sections.model import document_block
from dalembert.view.report.sections.reproduce import document_link, versions

# Pictures and failures that a reader looks at.
MOST_PICTURES, MOST_FAILURES = 4, 20
HOLDS = "certificate.holds"  # 1 or 0: told in words
# Values of a dimension that are written out; more are told by their ends.
MOST_VALUES = 8


def write_ensemble_report(ensemble: Ensemble, path: str | os.PathLike[str]) -> None:
    require_html(path)
    write_page(path, ensemble_page(ensemble))


def ensemble_page(ensemble: Ensemble) -> str:
    """The whole report of an ensemble as HTML."""
    sections = [
        Section("varied", "What was varied", varied_table(ensemble)),
        Section("members", "What became of the members", _members(ensemble)),
        Section("variables", "Numbers over the members", variables_table(ensemble)),
        Section("pictures", "Pictures", _pictures(ensemble)),
        Section("certificate", "Certificate", _certificate(ensemble)),
        Section("model", "The model as written", _model(ensemble)),
        Section("reproduce", "How it was made", _reproduce(ensemble)),
    ]
    return page(f"{ensemble.name}: {counted(ensemble.members, 'member')}", _head(ensemble), sections)


def _head(ensemble: Ensemble) -> Html:
    lengths = " × ".join(f"{name} {ensemble.data.sizes[name]}" for name in ensemble.dims) or "no dimension"
    subtitle = f"{lengths}; each over a time of {number(float(ensemble.about['duration']))}"
    parts = [element("p", subtitle, class_="subtitle")]
    if ensemble.failed:
        count = f"{ensemble.failed} of {counted(ensemble.members, 'member')} did not come to their end."
        parts.append(element("p", count, class_="bad"))
    else:
        parts.append(element("p", "All members came to their end.", class_="good"))
    doubtful = _not_certified(ensemble)
    if doubtful:
        parts.append(element("p", f"The certificate does not hold for {counted(doubtful, 'member')}.", class_="bad"))
    return fragment(parts)


def varied_table(ensemble: Ensemble) -> Html:
    rows: list[list[Content]] = []
    for name in ensemble.about["varied"]:
        label = label_of(name, name in ensemble.about["initial"])
        values = np.unique(ensemble.data[label].to_numpy())
        listed = ", ".join(number(float(x)) for x in values) if values.size <= MOST_VALUES else "…"
        shown = with_unit(label, ensemble.about.get("units", {}).get(label, ""))
        rows.append([shown, str(values.size), number(float(values[0])), number(float(values[-1])), listed])
    fixed: list[list[Content]] = [[name, number(float(value))] for name, value in ensemble.about["fixed"].items()]
    return fragment(
        table(("", "values", "least", "greatest", ""), rows),
        fragment(element("h3", "Set for all"), table((), fixed)) if fixed else None,
    )


def members_block(ensemble: Ensemble) -> Html:
    """How many ended how, and the reasons of those that did not."""
    found = ensemble.to_dict()
    rows: list[list[Content]] = [[text, str(count)] for text, count in found["status"].items()]
    if ensemble.run_alone:
        why = f", because {ensemble.about['why_alone']}" if ensemble.about["why_alone"] else ""
        rows.append([f"run one by one{why}", str(ensemble.run_alone)])
    if ensemble.on_cpu:
        why = f", because {ensemble.about['why_cpu']}" if ensemble.about["why_cpu"] else ""
        rows.append([f"run by the processor, not by a GPU{why}", str(ensemble.on_cpu)])
    reasons: list[list[Content]] = [[each["reason"], str(each["count"])] for each in found["reasons"]]
    return fragment(
        table((), rows),
        long_table(("why members failed", "members"), reasons, "reasons", most=MOST_FAILURES) if reasons else None,
    )


def _members(ensemble: Ensemble) -> Html:
    failures = ensemble.failures() if ensemble.failed else []
    rows: list[list[Content]] = [
        [", ".join(f"{name} {k}" for name, k in each["member"].items()), each["status"], each["reason"]]
        for each in failures[:MOST_FAILURES]
    ]
    first = table(("member", "status", "reason"), rows, class_="texts") if rows else None
    more = f"The first {MOST_FAILURES} of {len(failures)}; ensemble.failures() gives them all."
    return fragment(
        members_block(ensemble),
        fragment(element("h3", "Those that failed"), first) if first else None,
        note(more) if len(failures) > MOST_FAILURES else None,
    )


def variables_table(ensemble: Ensemble) -> Html:
    """Least, greatest and mean value of each variable over the good members."""
    spans, units = ensemble.to_dict()["variables"], ensemble.about.get("units", {})
    rows: list[list[Content]] = [
        [with_unit(name, units.get(name, "")), *(number(span[key]) for key in ("min", "max", "mean"))]
        for name, span in spans.items()
        if name != HOLDS
    ]
    if not rows:
        return note("No member came to its end.")
    return long_table(("", "least", "greatest", "mean"), rows, "variables", where="ensemble.to_dict() has them all.")


def _pictures(ensemble: Ensemble) -> Html:
    about = ensemble.about
    finals = [str(name) for name in ensemble.data.data_vars if str(name).startswith("final.") and name != "final.t"]
    samples = [str(name) for name in ensemble.data.data_vars if str(name).startswith("samples.")]
    names = dict.fromkeys([*about["reductions"], *about["kept"], *samples, *finals])
    drawn: list[Html] = []
    for name in names:
        if len(drawn) == MOST_PICTURES:
            rest = f"The first {MOST_PICTURES} of {len(names)} variables; ensemble.plot(of=…) draws the others."
            return fragment(element("div", drawn, class_="figures"), note(rest))
        try:
            drawn.append(element("figure", image(ensemble.plot(of=name), f"{name} over the members")))
        except (DalembertError, KeyError, ValueError):
            continue  # of no number
    return element("div", drawn, class_="figures") if drawn else note("There is nothing to draw.")


def _not_certified(ensemble: Ensemble) -> int:
    if HOLDS not in ensemble.data:
        return 0
    holds = ensemble.data[HOLDS].where(ensemble.good).to_numpy().astype(float)
    return int((holds == 0).sum())


def _certificate(ensemble: Ensemble) -> Html:
    names = [str(name) for name in ensemble.data.data_vars if str(name).startswith("certificate.")]
    if not names:
        return note("Members were not certified; sweep with certify=True, or simulate one of them.")
    doubtful = _not_certified(ensemble)
    if doubtful:
        line = element("p", f"It does not hold for {counted(doubtful, 'member')}.", class_="bad")
    else:
        line = element("p", "It holds for every member that came to its end.", class_="good")
    return fragment(line, note("The largest residuals of each member are among the numbers above."))


def _model(ensemble: Ensemble) -> Html:
    return document_block(ensemble.model) if ensemble.model else note("This model has no form as a document.")


def _reproduce(ensemble: Ensemble) -> Html:
    about = ensemble.about
    link = document_link(ensemble.model)
    code = "\n".join(_code(ensemble))
    seconds = number(ensemble.seconds, ".3g")
    one = f"ensemble.system_of(k).simulate({float(about['duration'])!r})"
    return fragment(
        element("h3", "How to reproduce"),
        element("p", "The model as a file: ", link, ". Then") if link else note("The model has no form as a document."),
        element("pre", element("code", code), tabindex="0") if link else None,
        element("p", "One member with its forces and its certificate: ", element("code", one)),
        element("h3", "Timing"),
        facts(
            [
                ("all members", f"{seconds} s on {about['on']}"),
                ("method", f"{about['method']} at rtol {float(about['rtol']):g}"),
                ("seed", None if about["seed"] is None else str(about["seed"])),
            ]
        ),
        element("h3", "Versions"),
        facts(versions().items()),
    )


def _code(ensemble: Ensemble) -> list[str]:
    """Python that makes the same sweep, where its values lie on a grid; else where to find them."""
    about = ensemble.about
    values = []
    for name in about["varied"]:
        label = label_of(name, name in about["initial"])
        array = ensemble.data[label]
        if array.dims != (label,):
            return [
                "import dalembert as da", 'system = da.load("model.toml")',
                "# the values of each member stand in the saved ensemble:", "# ensemble.system_of(k) is one of them",
            ]  # fmt: skip
        values.append(f"    {name!r}: {_values(array.to_numpy())},")
    options = f"{float(about['duration'])!r}, rtol={float(about['rtol'])!r}, method={about['method']!r}"
    lines = [
        "import dalembert as da",
        "import numpy as np",
        'system = da.load("model.toml")',
        "ensemble = system.sweep({",
    ]
    if about["fixed"]:
        values += [f"    {name!r}: {float(value)!r}," for name, value in about["fixed"].items()]
    asked = [("events", about["events"]), ("reduce", about["reductions"]), ("keep", about["kept"])]
    more = [f"{option}={list(names)}" for option, names in asked if names]
    # What they were is not all kept with an ensemble; that they were there is said.
    note = [f"# and as they were given: {', '.join(more)}; points, repair, budget, … where they were"] if more else []
    return [*lines, *values, f"}}, {options})", *note]


def _values(values: np.ndarray) -> str:
    if values.size <= MOST_VALUES:
        return repr([float(x) for x in values])
    even = np.linspace(values[0], values[-1], values.size)
    # Numbers of an even grid differ from it by rounding alone.
    if np.allclose(values, even, rtol=1e-12, atol=1e-12 * float(np.abs(values).max())):
        return f"np.linspace({float(values[0])!r}, {float(values[-1])!r}, {values.size})"
    return f"…  # {values.size} values: ensemble.data has them"
