"""`--option NAME=VALUE`: arguments of library systems from the command line."""

from __future__ import annotations

import json

import pytest

import dalembert as da


def test_run_takes_the_arguments_of_the_library(dalembert):
    done = dalembert("run", "penny", "--option", "ratio=2", "--option", "alpha=0.5", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    same = da.library.penny(ratio=2, alpha=0.5).simulate()
    assert found["final"] == same.final
    outputs = found["outputs"]["N_a"]
    assert outputs["end"] == same["N_a"][-1]
    assert outputs["least"] == same["N_a"].min()


# What a verb cannot do without, besides a model.
NEEDS = {
    "compare": ("--form", "lagrange"),
    "between": ("--duration", "1", "--start", "x=0", "--start", "y=2", "--end", "x=2", "--end", "y=0"),
    "path": ("--energy", "50", "--start", "x=0", "--start", "y=2", "--end", "x=2", "--end", "y=0"),
}
VERBS = ["equations", "check", "compare", "equilibrium", "examples", "liberate", "reduce", "picture", "curvature"]


@pytest.mark.parametrize("verb", [*VERBS, "between", "path"])
def test_every_verb_takes_them(verb: str, dalembert):
    more = NEEDS.get(verb, ())
    done = dalembert(verb, "pendulum", "--option", "l=2", *more)
    assert done.status == 0, done.err
    refused = dalembert(verb, "pendulum", "--option", "length=2", *more)
    assert refused.status == 2
    assert "there is no option 'length'. Its options: m, g, l, angle, spin" in refused.err


def test_an_option_changes_what_is_shown(dalembert):
    lines = dalembert("examples", "penny", "--option", "ratio=3").out
    speed = float(next(line for line in lines.splitlines() if line.startswith("v0")).split("=")[1])
    assert speed == pytest.approx(da.library.penny(ratio=6).simulate(0.1)["v"][0] / 2, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ratio", "write NAME=VALUE"),
        ("ratio=", "write NAME=VALUE"),
        ("ratio=six", "a number is wanted, got 'six'"),
        ("ratio=__import__('os')", "a number is wanted"),
        ("ratio=1e999", "a number is wanted"),
        ("omega=0", "give the starting speed v0"),
        ("alpha=0", "give the starting speed v0"),
        ("beta=-1", "beta is a moment of inertia"),
        ("beta=-0.25", "beta is a moment of inertia"),
    ],
)
def test_bad_options_are_one_message(text: str, message: str, dalembert):
    done = dalembert("run", "penny", "--option", text)
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_numbers_may_be_constant_expressions(dalembert):
    shown = dalembert("examples", "penny", "--option", "alpha=pi/6", "--option", "ratio=2").out
    assert "alpha = 0.523598775598298" in shown


def test_all_faults_at_once(dalembert):
    done = dalembert("run", "penny", "--option", "rato=2", "--option", "m=heavy", "--option", "R=1", "--option", "R=2")
    assert done.status == 2
    assert "3 faults" in done.err
    assert "Did you mean 'ratio'" in done.err
    assert "--option R is given twice" in done.err


def test_documents_have_no_options(dalembert, document):
    done = dalembert("run", document(), "--option", "l=2")
    assert done.status == 2
    assert "--set NAME=VALUE" in done.err
    assert dalembert("examples", "--option", "l=2").status == 2


def test_python_gets_the_same_message():
    with pytest.raises(da.ModelError, match=r"no option 'rato'\. Did you mean 'ratio'"):
        da.library.get("penny", rato=2)
    with pytest.raises(da.ModelError, match="omega: a number is wanted, got 'fast'"):
        da.library.get("penny", omega="fast")
