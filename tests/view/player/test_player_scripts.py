"""The functions of the player's scripts, beside closed forms and NumPy, in the browser that runs them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from dalembert.view.player.pack import numbers

SOURCES = ("vectors", "samples", "smooth", "numbers", "camera", "clock", "plot_scale")


@pytest.fixture(scope="module")
def answer(browser: Any) -> Any:
    """The value of an expression in the names of the scripts; values of `given` stand there as given[0], …"""
    browser.open("<!DOCTYPE html><title>scripts</title>")
    folder = files("dalembert.view.player") / "js"
    text = "\n".join((folder / f"{name}.js").read_text("utf-8") for name in SOURCES)
    return lambda expression, *given: browser.run(f"const given = arguments;\n{text}\nreturn {expression};", *given)


def test_rotations_turn_at_a_steady_rate_by_the_shorter_way(answer: Any) -> None:
    rng = np.random.default_rng(3)
    ends = rng.normal(size=(2, 4))
    ends /= np.linalg.norm(ends, axis=1, keepdims=True)
    shares = [0.0, 0.3, 0.77, 1.0]
    expected = Slerp([0, 1], Rotation.from_quat(ends, scalar_first=True))(shares)
    for sign in (1, -1):  # q and −q are the same rotation
        found = answer("given[2].map((part) => slerp(given[0], given[1], part))", ends[0].tolist(),
                       (sign * ends[1]).tolist(), shares)  # fmt: skip
        turned = Rotation.from_quat(found, scalar_first=True)
        assert np.max((turned * expected.inv()).magnitude()) < 1e-7  # acos near 1 costs half the digits
    axes = answer("axesOf(given[0])", ends[0].tolist())
    np.testing.assert_allclose(axes, Rotation.from_quat(ends[0], scalar_first=True).as_matrix().T, atol=1e-12)


def test_values_between_frames(answer: Any) -> None:
    rows = np.random.default_rng(5).normal(size=(30, 3))
    t = np.sort(np.random.default_rng(6).uniform(0, 3, 30))
    asked = [t[0] - 1, t[0], 0.5 * (t[4] + t[5]), 1.234, t[-1], t[-1] + 1]
    found = answer(
        "given[2].map((time) => valueAt(unpack(given[0]), placeIn(unpack(given[1]), time)))",
        numbers(rows), numbers(t, wide=True), asked,
    )  # fmt: skip
    expected = np.column_stack([np.interp(asked, t, column) for column in rows.T])
    np.testing.assert_allclose(found, expected, atol=1e-6)  # single precision of numbers of size 1


def test_both_sides_of_a_jump(answer: Any) -> None:
    """Two values at one time: before it the first holds, from it on the second."""
    ask = "given[0].map((time) => valueAt([[0], [1], [5], [6]], placeIn([0, 1, 1, 2], time))[0])"
    assert answer(ask, [0.5, 1.0, 1.5]) == [0.5, 5, 5.5]


def test_ways_between_frames_are_smooth_except_at_events(answer: Any) -> None:
    """A circle by frames 0.3 apart: straight lines are off by 1 − cos 0.15 = 1.1e-2, the curve by a tenth of it. With
    twice as many frames, a cubic with slopes of second order is eight times better. Near events lines are straight.
    """
    ask = """(() => { const smooth = smoothIntervals(given[1], given[2]);
      return given[3].map((time) => placeAlong(given[0], given[1], smooth, placeIn(given[1], time))); })()"""
    asked = np.linspace(0.7, 5.0, 87)
    errors = []
    for step in (0.3, 0.15):
        t = np.arange(0.0, 6.0, step)
        rows = np.column_stack([np.cos(t), np.sin(t), 0 * t])
        found = np.array(answer(ask, rows.tolist(), t.tolist(), [], asked.tolist()))
        errors.append(np.abs(found - np.column_stack([np.cos(asked), np.sin(asked), 0 * asked])).max())
    assert errors[0] < 1.1e-3
    assert errors[0] / errors[1] > 7
    bent = np.array(answer(ask, rows.tolist(), t.tolist(), [{"time": 3.02}], [3.07, 1.03]))
    straight = np.column_stack([np.interp([3.07, 1.03], t, column) for column in rows.T])
    np.testing.assert_allclose(bent[0], straight[0], atol=1e-12)
    assert np.abs(bent[1] - straight[1]).max() > 1e-4


def test_a_way_in_pieces_passes_through_all_frames(answer: Any) -> None:
    t = np.array([0.0, 0.1, 0.3, 0.4, 0.4, 0.6])  # with both sides of a jump
    rows = np.random.default_rng(4).normal(size=(6, 3))
    found = answer("wayOf(given[0], given[1], smoothIntervals(given[1], [{time: 0.4}]))", rows.tolist(), t.tolist())
    points = np.array(found["points"])
    assert np.all(np.isfinite(points))
    np.testing.assert_array_equal(points[found["starts"]], rows)
    assert found["starts"] == [0, 4, 8, 9, 10, 11]  # four pieces where it is smooth


def test_what_the_camera_sees(answer: Any) -> None:
    """All points are inside the view, and the outermost at its edge on both sides; for both kinds of projection."""
    points = np.random.default_rng(9).uniform([-0.9, -0.3, -0.2], [0.7, 0.5, 0.3], (30, 3))
    for flat in (True, False):
        for aspect in (0.5, 1.6, 3.0):
            m = answer(
                "(() => { const camera = new Camera(given[0], given[1]); const m = camera.matrices(given[2]);"
                " return product(m.projection, m.view); })()",
                flat, points.tolist(), aspect,
            )  # fmt: skip
            seen = np.column_stack([points, np.ones(30)]) @ np.array(m).reshape(4, 4)
            inside = seen[:, :3] / seen[:, 3:]
            assert np.abs(inside).max() < 1
            # In perspective the room is left at the depth of each point, and a few rounds find the middle to 1e-3.
            assert np.abs(inside[:, :2]).max() == pytest.approx(1 / 1.08, rel=1e-9 if flat else 1e-2)
            middles = (inside[:, :2].max(axis=0) + inside[:, :2].min(axis=0)) / 2
            np.testing.assert_allclose(middles, 0, atol=1e-9 if flat else 2e-3)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("roundStep(0.13)", 0.2), ("roundStep(2)", 2), ("roundStep(6e-5)", 1e-4), ("roundStep(0)", 1),
        ("numberText(-0.00123456)", "−0.001235"), ("numberText(2.5e-12, 3)", "2.5·10⁻¹²"), ("numberText(NaN)", "–"),
        ("tickText(0.30000000000000004, 0.1)", "0.3"), ("tickText(-2, 0.5)", "−2.0"), ("tickText(2e6, 1e6)", "2·10⁶"),
        ("ticksBetween(-0.05, 1.05, 4).ticks", [0, 0.5, 1]), ("powersBetween(1e-13, 2e-8, 10)", list(range(-13, -7))),
        ("powersBetween(1e-300, 1, 4).length < 6", True),
    ],
)  # fmt: skip
def test_numbers_as_text(answer: Any, expression: str, expected: object) -> None:
    found = answer(expression)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_real_time_and_the_end(answer: Any) -> None:
    """At speed 2, steps of 16 ms advance by 32; a pause of the browser is no leap; at the end it stops, or repeats."""
    script = """(() => {
      const clock = new Clock(1, 3, 2);
      clock.play();
      for (let k = 0; k <= 10; k++) clock.advance(1000 + 16 * k);
      const found = [clock.time];
      clock.advance(60000);
      found.push(clock.time);
      clock.advance(60250); clock.advance(60500); clock.advance(60750); clock.advance(61000);
      found.push(clock.time, clock.playing);
      clock.repeat = true;
      clock.play();
      for (let k = 0; k <= 5; k++) clock.advance(70000 + 250 * k);
      return [...found, clock.time, clock.playing];
    })()"""
    assert answer(script) == [pytest.approx(1.32), pytest.approx(1.82), 3, False, pytest.approx(1.5), True]


def test_scales(answer: Any) -> None:
    script = "(() => { const s = new Scale([1e-6, 1e2], 300, 20, true); return [s.pixel(1e-2), s.value(160)]; })()"
    assert answer(script) == [pytest.approx(160), pytest.approx(1e-2)]
    assert answer("withRoom([2, 2], false)") == [1, 3]
