"""What panels are made of: points of a model, labels with units, residuals over time, curves by fewer points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.certificate.over_time import residuals_over_time
from dalembert.view.plots.labels import symbol
from dalembert.view.plots.panel import Panel, decimate, panels_of
from dalembert.view.plots.panels.paths import output_points


@pytest.mark.parametrize("most", [8, 50, 1000])
def test_fewer_points_keep_ends_and_extremes(most):
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 20_000)
    y = rng.normal(size=x.size)
    y[7_777], y[12_345] = 50.0, -60.0
    few, values = decimate(x, y, most)
    assert few.size <= most
    assert (few[0], few[-1]) == (x[0], x[-1])
    assert (values.min(), values.max()) == (-60.0, 50.0)
    assert np.array_equal(values, y[np.searchsorted(x, few)])  # points of the curve, in their order


def test_fewer_points_keep_parts_apart():
    x = np.linspace(0, 1, 10_000)
    y = np.where(np.abs(x - 0.5) < 1e-3, np.nan, x)
    few, values = decimate(x, y, 100)
    gap = np.flatnonzero(np.isnan(values))
    assert gap.size
    assert 0.499 < few[gap[0]] < 0.501


def test_a_short_curve_stays_as_it_is():
    x, y = np.arange(5.0), np.zeros(5)
    assert decimate(x, y, 8)[0] is x


@pytest.mark.parametrize(
    ("name", "shown"),
    [("psi", "ψ"), ("psi1'", "ψ̇₁"), ("x'", "ẋ"), ("x2''", "ẍ₂"), ("Omega", "Ω"), ("mu needed", "μ needed"),
     ("tip'", "tip'"), ("F_i", "F_i"), ("roll x", "roll x")],
)  # fmt: skip
def test_names_as_they_are_written_by_hand(name, shown):
    assert symbol(name) == shown


def only(motion: da.Motion, name: str) -> Panel:
    (panel,) = panels_of(motion, [name])
    return panel


def test_points_are_read_off_the_inertia_not_off_names():
    def body(kinetic: str, **more) -> da.System:
        start = dict.fromkeys(("a", "b", "a'"), 0.1) | {"b'": 0.3}
        return da.System("body", coordinates="a b", kinetic=kinetic, parameters={"m": 2}, initial=start, **more)

    assert body("m*(a'^2 + b'^2)/2").cartesian_points == (("a", "b"),)
    assert body("m*(a'^2 + a^2*b'^2)/2").cartesian_points == ()  # polar
    assert body("m*(a'^2 + b'^2)/2", units={"a": "rad", "b": "rad"}).cartesian_points == ()
    assert body("m*(a'^2 + b'^2)/2", potential="cos(a)").cartesian_points == ()  # an angle, it seems
    panel = only(body("m*(a'^2 + b'^2)/2").simulate(1.0, samples=3), "paths")
    assert (panel.x_label, panel.y_label, panel.equal) == ("a", "b", True)
    # Two wheels of one moment of inertia are no point.
    assert da.library.cart().cartesian_points == (("x", "y"),)


def test_bodies_of_one_mass_are_told_apart_by_numbers():
    kinetic = "m*(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2"
    system = da.System("two", coordinates="x1 y1 x2 y2", kinetic=kinetic, parameters={"m": 1})
    assert system.cartesian_points == (("x1", "y1"), ("x2", "y2"))


@pytest.mark.parametrize(
    ("coordinates", "masses", "points"),
    [
        ("x_A y_A x_B y_B", "mmmm", (("x_A", "y_A"), ("x_B", "y_B"))),
        ("x1 x2 y1 y2", "mnmn", (("x1", "y1"), ("x2", "y2"))),
        ("u1 v1 u2 v2", "mmmm", (("u1", "v1"), ("u2", "v2"))),
        ("x y", "mn", ()),
    ],
)
def test_points_are_told_apart_by_names_where_the_inertia_agrees(coordinates, masses, points):
    kinetic = " + ".join(f"{m}*{q}'^2/2" for q, m in zip(coordinates.split(), masses, strict=True))
    system = da.System("points", coordinates=coordinates, kinetic=kinetic, parameters={"m": 1, "n": 2})
    assert system.cartesian_points == points


def test_points_with_names_share_a_panel():
    start = {"x_A": 0, "y_A": 0, "x_B": 1, "y_B": 1} | {f"{q}_{k}'": 1 for q in "xy" for k in "AB"}
    kinetic = "(x_A'^2 + y_A'^2 + x_B'^2 + y_B'^2)/2"
    motion = da.System("two", coordinates="x_A y_A x_B y_B", kinetic=kinetic, initial=start).simulate(1.0, samples=3)
    panel = only(motion, "paths")
    assert (panel.x_label, panel.y_label) == ("x", "y")
    assert [curve.label for curve in panel.curves if curve.role == "line"] == ["x_A, y_A", "x_B, y_B"]
    (one,) = panels_of(motion, ["paths x_B, y_B"])  # labels may have commas of their own
    np.testing.assert_array_equal(one.curves[0].x, motion["x_B"])
    (both,) = panels_of(motion, ["paths x_B, y_B, x_A, y_A"])
    assert len([curve for curve in both.curves if curve.role == "line"]) == 2


def test_a_bead_on_a_wave_is_a_point():
    """Its x stands inside a sine, and is no angle for all that."""
    kinetic, wave = "m*(x'^2 + y'^2)/2", {"wire": "y - sin(x)"}
    system = da.System("bead", coordinates="x y", kinetic=kinetic, constraints=wave, parameters={"m": 1})
    assert system.cartesian_points == (("x", "y"),)


def test_outputs_that_come_in_pairs_are_points():
    names = ["tip x", "tip y", "x_B", "y_B", "z_B", "speed", "max", "tail x"]
    assert output_points(names) == {
        "tip": {"x": "tip x", "y": "tip y"},
        "B": {"x": "x_B", "y": "y_B", "z": "z_B"},
    }
    pendulum = da.System(
        "pendulum", coordinates="phi", kinetic="phi'^2/2", potential="-10*cos(phi)",
        outputs={"bob x": "sin(phi)", "bob y": "-cos(phi)"}, initial={"phi": 1, "phi'": 0},
    )  # fmt: skip
    motion = pendulum.simulate(1.0, samples=21)
    curve = only(motion, "paths").curves[0]
    assert np.hypot(curve.x, curve.y) == pytest.approx(np.ones(21))


def test_a_drawing_shows_points_where_the_model_has_no_others():
    """The end of the second rod, from the angles."""
    motion = da.library.hinged_rods().simulate(1.0, samples=21)
    panel = only(motion, "paths")
    length = float(motion.system.parameters[da.parameters("l")[0]])
    phi, psi = motion["phi"], motion["psi"]
    assert panel.curves[0].x == pytest.approx(length * (np.sin(phi) + np.sin(psi)))
    assert panel.curves[0].y == pytest.approx(-length * (np.cos(phi) + np.cos(psi)))
    assert panel.curves[0].t is motion.t


def test_a_point_in_space_has_two_views_and_one_in_a_plane_one():
    motion = da.library.spherical_pendulum().simulate(2.0, samples=21)
    views = panels_of(motion, ["paths"])
    assert [(view.x_label, view.y_label) for view in views] in ([("x", "y"), ("x", "z")], [("x", "y"), ("y", "z")])
    flat = motion.system.replace(initial={"x": 0, "y": 1, "z": 0, "x'": 0, "y'": 0, "z'": 0})
    (view,) = panels_of(flat.simulate(1.0, samples=11), ["paths"])
    assert (view.x_label, view.y_label) == ("y", "z")


def test_nothing_moves_nothing_is_drawn_but_told():
    system = da.System("rest", coordinates="s", kinetic="s'^2", initial={"s": 1, "s'": 0})
    motion = system.simulate(1.0, samples=3)
    assert [panel.name for panel in panels_of(motion)] == ["coordinates", "energy"]
    assert only(motion, "phase").text == "nothing moves"
    assert only(motion, "forces").text == "no forces act"


def test_units_stand_at_axes_and_follow_for_rates_and_forces():
    system = da.library.pendulum().replace(units={"x": "m", "y": "m", "t": "s", "energy": "J"})
    motion = system.simulate(1.0, samples=11)
    labels = {name: only(motion, name).y_label for name in ("coordinates", "velocities", "forces", "energy balance")}
    assert labels == {
        "coordinates": "x, y (m)",
        "velocities": "ẋ, ẏ (m/s)",
        "forces": "generalised force (N)",
        "energy balance": "energy (J)",
    }
    assert only(motion, "coordinates").x_label == "t (s)"
    assert only(motion, "paths").x_label == "x (m)"


def test_units_that_differ_stand_with_their_curves():
    system = da.library.penny().replace(units={"x": "m", "y": "m", "psi": "rad", "phi": "rad"})
    panel = only(system.simulate(0.5, samples=5), "coordinates")
    assert panel.y_label == "x, y, ψ, φ"
    assert [curve.label for curve in panel.curves] == ["x (m)", "y (m)", "ψ (rad)", "φ (rad)"]


@pytest.mark.parametrize("name", ["pendulum", "incline_block"])
def test_residuals_over_time_reach_what_the_certificate_says(name):
    """Of a motion that somebody has spoilt, so that residuals are no rounding."""
    motion = da.library.get(name).simulate(1.0, samples=21)
    rng = np.random.default_rng(1)
    spoilt = {key: getattr(motion, key) + 1e-3 * rng.normal(size=motion.q.shape) for key in ("q", "v", "a", "ideal")}
    spoilt = replace(motion, **spoilt).certified()
    found = residuals_over_time(spoilt)
    for measure, values in found.items():
        # The certificate is measured by C in another order of operations.
        assert values.max() == pytest.approx(getattr(spoilt.certificate, measure), rel=1e-9), measure
        assert values.max() > 1e-5
    panel = only(spoilt, "certificate")
    assert panel.title.startswith("certificate does not hold: position")
    limits = spoilt.certificate.thresholds
    drawn = {curve.label: curve.y for curve in panel.curves}
    assert drawn["virtual work"] == pytest.approx(found["virtual_work"] / limits["virtual_work"])
    assert list(drawn["allowed"]) == [1.0, 1.0]


def test_works_beside_blows_close_the_balance():
    motion = da.library.bouncing_ball().simulate(1.2, samples=31)
    energy = {curve.label: curve for curve in only(motion, "energy balance").curves}
    work, whole = energy["work, nonideal forces"], energy["E"]
    assert np.array_equal(work.x, whole.x)
    assert whole.y - whole.y[0] == pytest.approx(work.y, abs=1e-8 * whole.y[0])  # rtol of the motion


def test_large_systems_have_panels():
    n = 70
    names = [f"s{k}" for k in range(n)]
    kinetic = " + ".join(f"{name}'^2/2" for name in names)
    potential = " + ".join(f"{name}^2/2" for name in names)
    start = dict.fromkeys(names, 1.0) | {f"{name}'": 0.0 for name in names}
    motion = da.System("many", coordinates=names, kinetic=kinetic, potential=potential, initial=start).simulate(
        0.5, samples=5
    )
    found = {panel.name: panel for panel in panels_of(motion)}
    assert found["coordinates"].title == "coordinates (10 of 70)"
    assert found["forces"].title == "forces (10 of 70)"
    assert only(motion, "certificate").text
