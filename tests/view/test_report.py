"""Reports: what stands in them, that they load nothing, that texts from models stay texts."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from pages import Parsed, addresses_in_styles

import dalembert as da
from dalembert.cli.app import main
from dalembert.library import EXAMPLES
from dalembert.methods.table import METHODS
from dalembert.motion.result.certificate import MEASURES
from dalembert.view.report.ensemble import ensemble_page
from dalembert.view.report.section import Request
from dalembert.view.report.sections.certificate import WORDS
from dalembert.view.report.sections.reproduce import run_command
from dalembert.view.report.write import report_page

# Parts that are derived are given up at once: other tests look at these.
AT_ONCE = Request(seconds=1e-4)


@cache
def penny_motion() -> da.Motion:
    return da.library.penny().simulate(3.0, samples=61)


@cache
def penny_page() -> str:
    return report_page(penny_motion(), Request(command="dalembert run penny"))


def section(page: str, key: str) -> str:
    return page.split(f'<section id="{key}"')[1].split("</section>\n")[0].split('<section id="')[0]


def test_the_report_of_the_penny_has_all_its_parts():
    page = penny_page()
    parsed = Parsed(page)
    assert parsed.faults == []
    titles = [attributes["aria-label"] for attributes in parsed.of("section") if attributes.get("id")]
    assert titles == [
        "The motion", "The model as written", "Classification", "Equations of motion", "Forces", "Plots",
        "Formulations compared", "Equilibria", "Certificate", "Events and warnings", "How it was made",
    ]  # fmt: skip
    assert [each["href"] for each in parsed.of("a")][:2] == ["#motion", "#model"]
    for words in ("The certificate holds.", "nonholonomic", "degrees of freedom 2", "All that apply agree"):
        assert words in parsed.text
    assert "This report was made by dalembert run penny" in parsed.text
    assert "dalembert-player" in page
    assert 'class="still"' in page
    assert section(page, "equations").count("<math") > 20
    assert len(parsed.of("figure")) > 8
    assert len(page) < 5e6


def test_the_command_of_a_motion_that_an_event_ended_has_the_same_outputs():
    ball = da.System("fall", coordinates="y", kinetic="y'^2/2", potential="10*y", initial={"y": 1, "y'": 0},
                     events={"floor": da.Event("y", terminal=True)})  # fmt: skip
    motion = ball.simulate(2.0, samples=21)
    words = run_command(motion).split()
    options = dict(zip(words[3::2], words[4::2], strict=True))
    again = ball.simulate(float(options["--duration"]), samples=int(options["--samples"]))
    np.testing.assert_allclose(again.t, motion.t, rtol=1e-14)
    assert again.ended_by == "floor"


@pytest.mark.parametrize("method", METHODS)
def test_the_command_of_a_report_makes_the_same_motion(method, tmp_path, monkeypatch, capsys):
    """Under the name that the command knows, not the one that is shown; with the step of what has no tolerance."""
    given = {"step": 0.05, "order": 4} if method == "variational" else {}
    motion = da.library.pendulum().simulate(1.0, samples=6, method=method, **given)
    monkeypatch.chdir(tmp_path)
    motion.system.save("model.toml")
    monkeypatch.setattr("sys.argv", [*shlex.split(run_command(motion))[:-2], "--json"])
    with suppress(SystemExit):
        main()
    final = json.loads(capsys.readouterr().out)["final"]
    assert [final[name] for name in ("x", "y")] == pytest.approx([motion["x"][-1], motion["y"][-1]], rel=1e-12)


def test_it_loads_nothing_and_runs_only_the_players_script():
    page = penny_page()
    parsed = Parsed(page)
    assert parsed.loads() == []
    assert addresses_in_styles(page) == []
    policy = next(each["content"] for each in parsed.of("meta") if "http-equiv" in each)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[^' ]+';", policy)
    assert [each.get("type") for each in parsed.of("script")] == ["application/json", None]


def test_the_certificate_is_told_in_words_with_its_numbers():
    certificate = penny_motion().certificate
    text = Parsed(section(penny_page(), "certificate")).text
    for name, limit in certificate.thresholds.items():
        told = WORDS[name] in text
        assert told == (name not in ("contact", "impact")), "there are no contacts here"
        if told:
            assert f"{limit:.0e}".replace("-", "−") in text
    assert set(WORDS) == set(MEASURES)


def test_a_certificate_that_fails_is_told_first():
    motion = penny_motion()
    failed = replace(motion.certificate, holds=False, energy=0.5)
    page = report_page(replace(motion, certificate=failed), AT_ONCE)
    head = Parsed(page.split("<main>")[0]).text
    assert "The certificate does not hold." in head
    assert WORDS["energy"] in head
    assert "5.0e−01" in head
    rows = [attributes for attributes in Parsed(section(page, "certificate")).of("tr") if "class" in attributes]
    assert rows == [{"class": "bad"}]


def test_forces_at_both_ends_are_those_of_the_motion():
    motion, text = penny_motion(), Parsed(section(penny_page(), "forces")).text
    for k in (0, -1):
        for column in ("impressed x", "ideal y", "x'"):
            assert f"{motion[column][k] + 0.0:.6g}".replace("-", "−") in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_system_of_the_library_has_a_report(name):
    system = da.library.get(name)
    motion = system.simulate(min(system.settings.get("duration", 1.0), 1.0), samples=21)
    page = report_page(motion, AT_ONCE)
    parsed = Parsed(page)
    assert parsed.faults == []
    assert parsed.loads() == []
    assert "dalembert-player" in page, "it is drawn"
    assert len(parsed.of("figure")) > 3
    assert "could not be" not in parsed.text
    assert len(page) < 2e6


def test_what_takes_too_long_is_left_out_and_said():
    braked = da.library.penny().replace(forces={"phi": "-c*phi'"}, parameters={"c": 0.125})  # which no other test knows
    text = Parsed(report_page(braked.simulate(3.0, samples=61), AT_ONCE)).text
    for call in ("system.equations()", "system.compare()"):
        assert f"was left out; {call}" in text


EVIL = "<script>alert(1)</script> ]]> \"quoted\" 'too' <img src=x onerror=alert(1)> & </style></script>"


def evil_system() -> da.System:
    return da.System(
        EVIL,
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={f"c {EVIL}": "x^2 + y^2 = 1"},
        parameters={"m": 1, "g": 9.81},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
        events={f"e {EVIL}": "y + 0.5"},
        outputs={f"o {EVIL}": "x*y"},
        units={"x": "<i>m</i>"},
        description=EVIL,
    )


def test_texts_of_a_model_stay_texts():
    page = report_page(evil_system().simulate(1.0, samples=11), Request(command=EVIL, failure=EVIL))
    parsed = Parsed(page)
    assert parsed.faults == []
    assert parsed.loads() == []
    assert [each.get("type") for each in parsed.of("script")] == ["application/json", None]
    assert not any(key.startswith("on") for _, attributes in parsed.elements for key in attributes)
    assert parsed.text.count(EVIL) > 8
    assert parsed.of("i") == [], "of the unit"


def test_contacts_and_impacts_are_told():
    page = report_page(da.library.bouncing_ball().simulate(1.5, samples=31), AT_ONCE)
    text = Parsed(page).text
    assert WORDS["impact"] in text
    assert "lost in impacts" in text
    assert "impulse, normal" in text
    assert "var(--closed)" in page or "var(--open)" in page, "contacts as bands"


def lattice(count: int) -> da.System:
    q = [f"x{k}" for k in range(count)]
    return da.System(
        "lattice",
        coordinates=q,
        kinetic=" + ".join(f"{x}'^2/2" for x in q),
        potential=" + ".join(f"({x} - {y})^2/2" for x, y in pairwise(q)),
        initial={"x0": 0.1} | dict.fromkeys(q[1:], 0) | {f"{x}'": 0 for x in q},
    )


def test_a_large_system_is_told_in_part():
    page = report_page(lattice(70).simulate(1.0, samples=5), Request())
    parsed = Parsed(page)
    assert parsed.faults == []
    assert "The first 40 of 70 coordinates" in parsed.text
    assert "system.equations() gives it" in parsed.text
    assert len(page) < 1e6


def test_an_ensemble_has_a_report(tmp_path):
    # A velocity along the rod violates the constraint: half of the members cannot start.
    found = da.library.pendulum().sweep({"l": np.linspace(0.5, 1, 9), "x'": [0.0, 0.1]}, 0.2, certify=True)
    found.report(tmp_path / "sweep.html")
    page = (tmp_path / "sweep.html").read_text("utf-8")
    parsed = Parsed(page)
    assert parsed.faults == []
    assert parsed.loads() == []
    assert "9 of 18 members did not come to their end." in parsed.text
    assert "constraint 'rod' is violated in velocity" in parsed.text
    assert "It holds for every member that came to its end." in parsed.text
    assert "np.linspace(0.5, 1.0, 9)" in page
    assert 1 <= len(parsed.of("img")) <= 4
    code = re.search(r"import dalembert as da\n.*?</code>", page, re.DOTALL)[0]
    assert "system.sweep({" in code


def test_an_ensemble_has_units():
    system = da.System("fall", coordinates="y", kinetic="m*y'^2/2", potential="m*g*y", parameters={"m": 1, "g": 10},
                       initial={"y": 1, "y'": 0}, units={"y": "m", "t": "s", "energy": "J", "g": "m/s²"})  # fmt: skip
    found = system.sweep({"g": [9.0, 10.0]}, duration=0.2, points=3, keep=["samples"],
                         reduce={"top": ("max", "y"), "E": "energy"})  # fmt: skip
    units = {"g": "m/s²", "final.y": "m", "final.y'": "m/s", "top": "m", "E": "J", "time": "s"}
    assert {name: found.about["units"].get(name) for name in units} == units
    assert found.plot(of="final.y").axes[0].get_xlabel() == "g (m/s²)"
    plain = da.Ensemble(found.data, {**found.about, "reductions": {}}, found.model)
    fan = plain.plot().axes[0]  # of the samples, since these were asked for
    assert (fan.get_xlabel(), fan.get_ylabel()) == ("t (s)", "samples.y (m)")
    assert "final.y (m)" in Parsed(ensemble_page(found)).text


def test_an_ensemble_with_texts_of_a_model(tmp_path):
    found = evil_system().sweep({"m": [1.0, 2.0]}, 0.1)
    found.report(tmp_path / "sweep.html")
    parsed = Parsed((tmp_path / "sweep.html").read_text("utf-8"))
    assert parsed.faults == []
    assert parsed.of("script") == []
    assert EVIL in parsed.text


@pytest.mark.parametrize("seconds", [-1, 0, float("nan"), "long"])
def test_patience_is_a_positive_number(tmp_path, seconds):
    with pytest.raises(da.OutputError, match="seconds: what each part of a report may take is a positive number, got"):
        penny_motion().report(tmp_path / "penny.html", seconds=seconds)
    assert list(tmp_path.iterdir()) == []


def test_the_file_must_be_a_page(tmp_path):
    for write in (penny_motion().report, da.library.pendulum().sweep({"l": [1.0]}, 0.1).report):
        with pytest.raises(da.OutputError, match=r"report\.pdf.*\.html"):
            write(tmp_path / "report.pdf")
    with pytest.raises(da.OutputError, match="cannot be written"):
        penny_motion().report(tmp_path / "missing" / "report.html", seconds=1e-4)
