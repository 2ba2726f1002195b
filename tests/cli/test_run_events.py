"""`dalembert run` with events, from the document and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ellipk

import dalembert as da
from dalembert.cli.events import with_given_events

# Released horizontally: at the bottom after K(sin²(π/4)) √(l/g), with l = 0.9.
QUARTER = ellipk(0.5) * np.sqrt(0.9 / 9.81)


def test_from_the_command_line(dalembert, document):
    done = dalembert(
        "run", document(), "--duration", "5", "--event", "bottom: x", "--until", "back: x' = 0 falling", "--json"
    )
    assert done.status == 0
    data = json.loads(done.out)
    assert [event["name"] for event in data["events"]] == ["bottom", "bottom", "back"]
    bottom, again, back = data["events"]
    # The integration's error at rtol 1e-9.
    assert bottom["t"] == pytest.approx(QUARTER, rel=1e-8)
    assert again["t"] == pytest.approx(3 * QUARTER, rel=1e-8)
    assert (bottom["direction"], again["direction"], back["direction"]) == ("falling", "rising", "falling")
    assert data["ended_by"] == "back"
    assert data["final"] == {"t": back["t"], **back["state"]}
    assert back["t"] == pytest.approx(4 * QUARTER, rel=1e-8)
    assert "failure" not in data


def test_from_the_document(dalembert, document):
    path = document(("[initial]", '[[events]]\nname = "low"\nexpression = "y = -l"\nterminal = true\n[initial]'))
    # The circle only touches this line.
    assert json.loads(dalembert("run", path, "--duration", "3", "--json").out)["ended_by"] is None
    path = document(("[initial]", '[[events]]\nname = "low"\nexpression = "y = -l/2"\nterminal = true\n[initial]'))
    done = dalembert("run", path)
    assert done.status == 0
    assert "ended by 'low'" in done.out
    assert "low: t = " in done.out


def test_many_events_do_not_flood_the_summary(dalembert, document):
    done = dalembert("run", document(), "--event", "clock: sin(400*t)")
    assert done.status == 0
    assert done.out.count("clock: t = ") == 20
    assert "43 more events" in done.out


def test_all_faults_at_once(dalembert, document, tmp_path):
    done = dalembert(
        "run",
        document(),
        "--event",
        "x",
        "--event",
        "a: xx",
        "--until",
        "b: x'' rising",
        "--until",
        "b: y",
        "--out",
        "o",
    )
    assert done.status == 2
    assert all(
        word in done.err for word in ("NAME: EXPRESSION", "'xx'", "accelerations", "'b': the name is given twice")
    )
    assert "Traceback" not in done.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("text", "direction"),
    [("x rising", "rising"), ("(x) falling", "falling"), ("x = 0.1 rising", "rising"), ("x' - falling", "any")],
)
def test_direction_after_the_expression(text, direction):
    """A parameter may have the name of a direction."""
    system = da.System("s", coordinates=["x"], kinetic="x'^2", parameters={"falling": 1})
    (event,) = with_given_events(system, [f"e: {text}"], []).events
    assert event.direction_name == direction
