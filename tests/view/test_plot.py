"""Pictures of motions: what is drawn, that every axis says what it shows, and that nothing lies over a curve."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import dalembert as da
from dalembert.view.plots.panel import panels_of

# A short motion of each kind: without contacts, with friction, with blows, in space, of particles, of angles.
NAMES = ["penny", "stick_slip", "bouncing_ball", "spherical_pendulum", "liberated_rods", "hinged_rods", "appell_fall"]
#: Asked for by name, they have something to show or say that they have not.
ALL = ["paths", "coordinates", "velocities", "phase", "forces", "multipliers", "energy", "contacts", "outputs"]
ALL += ["certificate", "section", "extent", "deviation"]


@pytest.fixture(scope="module")
def motions() -> dict[str, da.Motion]:
    return {name: da.library.get(name).simulate(1.5, samples=61) for name in NAMES}


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def axes_of(figure: Figure, title: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_title(loc="left") == title)


def curves(axes: Axes) -> dict[str, np.ndarray]:
    return {
        str(line.get_label()): line.get_xydata() for line in axes.lines if not str(line.get_label()).startswith("_")
    }


def test_panels_show_what_they_say(motions):
    motion = motions["penny"]
    figure = motion.plot()
    assert titles(figure) == ["path", "coordinates", "forces", "energy", "error of the energy"]
    path, coordinates, forces, energy, _ = figure.axes
    assert path.lines[0].get_xdata() == pytest.approx(motion["x"])
    assert (path.get_xlabel(), path.get_ylabel()) == ("x", "y")
    assert list(curves(coordinates)) == ["x", "y", "ψ", "φ"]
    assert set(curves(forces)) == {"impressed x", "ideal x", "ideal y", "ideal ψ"}
    assert curves(forces)["ideal y"][:, 1] == pytest.approx(motion["ideal y"])
    drawn = curves(energy)
    assert drawn["E"][:, 1] == pytest.approx(motion.energy)
    assert drawn["T"][:, 1] == pytest.approx(motion["kinetic"])
    assert drawn["V"][:, 1] == pytest.approx(motion["potential"])


@pytest.mark.parametrize(("name", "style"), [*((name, "light") for name in NAMES), ("stick_slip", "dark")])
def test_every_axis_is_labelled_and_holds_something_and_no_legend_hides_it(motions, name, style):
    figure = motions[name].plot(style=style)
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()  # the layout is found then
    for axes in figure.axes:
        assert axes.get_title(loc="left")
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert axes.lines or axes.collections
        assert any(line.get_visible() for line in axes.get_xgridlines())
        legend = axes.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        for line in axes.lines:
            points = line.get_transform().transform(line.get_xydata())
            assert not inside(box, points).any()
        # What a legend tells fits into the picture.
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1 + 1  # a pixel


def test_powers_of_ten_stand_beside_the_legend():
    """Of an orbit in metres and joules; they stood on the first name of the legend."""
    start = {"x": 1.47e11, "y": 0, "x'": 0, "y'": 30290.0}
    earth = da.System("Earth", coordinates="x y", kinetic="m*(x'^2 + y'^2)/2", potential="-G*m/sqrt(x^2 + y^2)",
                      parameters={"m": 5.97e24, "G": 1.3274e20}, initial=start)  # fmt: skip
    figure = earth.simulate(3e7, samples=31).plot(panels=["coordinates", "energy balance"])
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes:
        power, legend = axes.yaxis.get_offset_text(), axes.get_legend()
        assert power.get_text().startswith("1e")
        assert power.get_window_extent().x1 <= legend.get_window_extent().x0 + 1
        assert power.get_window_extent().x0 >= 0


def inside(box, points: np.ndarray) -> np.ndarray:
    x, y = points.T
    return (x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)


@pytest.mark.parametrize("name", ["penny", "stick_slip", "liberated_rods"])
def test_what_is_asked_for_is_drawn_or_says_that_there_is_nothing(motions, name):
    figure = motions[name].plot(panels=ALL)
    for axes in figure.axes:
        assert axes.get_title(loc="left")
        says = [text.get_text() for text in axes.texts if text.get_text()]
        assert axes.axison != bool(says)
        assert says or axes.lines or axes.collections


def test_jumps_are_vertical(motions):
    """Just before and just after a blow the velocity stands at one time, as the record of the blow has it."""
    motion = motions["bouncing_ball"]
    points = curves(axes_of(motion.plot(panels=["velocities"]), "velocities"))[r"$\mathregular{\dot{y}}$"]
    blow = motion.blows[0]
    at = np.flatnonzero(points[:, 0] == blow.t)
    assert points[at, 1] == pytest.approx([blow.before[1], blow.after[1]])
    # The energy falls at once by what the blow lost, and lies flat before and after.
    energy = curves(axes_of(motion.plot(panels=["energy balance"]), "energy"))
    at = np.flatnonzero(energy["E"][:, 0] == blow.t)
    assert np.diff(energy["E"][at, 1])[0] == pytest.approx(-blow.loss)
    assert np.diff(energy["work, nonideal forces"][at, 1])[0] == pytest.approx(-blow.loss)


def test_both_sides_of_a_jump_have_the_forces_of_their_modes(motions):
    """On the belt friction holds against the spring until it gives way at μ_s N, and slides at μ N then."""
    motion = da.library.stick_slip().simulate(1.5, samples=9)  # far from the instant at which it gives way
    friction = curves(axes_of(motion.plot(panels=["forces x"]), "forces"))["nonideal x"]
    (slip,) = [event["t"] for event in motion.events if event["name"] == "slip"]
    values = {symbol.name: float(value) for symbol, value in motion.system.parameters.items()}
    before, after = friction[friction[:, 0] == slip, 1]
    load = values["m"] * values["g"]
    assert before == pytest.approx(values["mu_s"] * load)
    assert after == pytest.approx(values["mu"] * load)


def test_bands_of_contacts_change_where_events_are(motions):
    motion = motions["stick_slip"]
    axes = axes_of(motion.plot(), "contacts")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["belt"]
    edges = sorted({float(x) for part in axes.collections for path in part.get_paths() for x in path.vertices[:, 0]})
    assert edges == pytest.approx([0.0, *(event["t"] for event in motion.events), 1.5])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["stick", "slip"]


def test_events_are_marked_in_every_panel_over_time(motions):
    motion = motions["stick_slip"]
    (event,) = motion.events
    for axes in motion.plot(panels=["coordinates", "forces", "energy balance"]).axes:
        marks = [line for line in axes.lines if list(line.get_xdata()) == [event["t"]] * 2]
        assert len(marks) == 1
    assert "slip: belt" in [
        text.get_text() for text in motion.plot(panels="coordinates").axes[0].get_legend().get_texts()
    ]


def test_kinds_of_forces_have_strokes_of_their_own():
    figure = da.library.incline_block().simulate(0.5, samples=11).plot(panels=["forces"])
    dashes = {str(line.get_label()): line.is_dashed() for line in figure.axes[0].lines}
    assert dashes == {"impressed y": True, "ideal x": False, "ideal y": False, "nonideal x": True, "nonideal y": True}


def test_the_free_motion_beside_it():
    """Asked for only: e by constraint, and q̈ − a by coordinate."""
    motion = da.library.penny().simulate(1.0, samples=21)
    assert not any("free motion" in title for title in titles(motion.plot()))
    figure = motion.plot(free=True)
    extent, change = figure.axes[-2:]
    assert list(curves(extent)) == ["roll x", "roll y"]
    assert curves(extent)["roll y"][:, 1] == pytest.approx(motion.e[:, 1])
    names = [rf"$\mathregular{{\ddot{{{letter}}}}}$" for letter in "xyψ"]
    assert list(curves(change)) == names
    # It spins as it would without constraints: no curve for phi. (19): what is drawn below is K times that above.
    now = da.library.penny().at()
    drawn = [curves(change)[name][0, 1] for name in names]
    assert drawn == pytest.approx(list(now.K @ [values[0, 1] for values in curves(extent).values()])[:3])


def test_without_mass_there_is_no_free_motion_to_draw():
    system = da.System(
        "follower",
        coordinates="x y",
        kinetic="x'^2/2",
        constraints={"follows": "y = x"},
        initial={"x": 0, "y": 0, "x'": 1, "y'": 1},
    )
    axes = system.simulate(0.5, samples=5).plot(panels=["extent"]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["there is no free motion: M is singular"]
    assert not axes.axison


def test_a_section_is_the_states_at_its_event():
    x = da.System(
        "oscillator",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="x^2/2 + 2*y^2",
        events={"up": da.Event("x", direction=1)},
        initial={"x": 0, "y": 0.5, "x'": -1, "y'": 0},
    )
    motion = x.simulate(20.0, samples=11)
    (axes,) = motion.plot(panels=["section up, y, y'"]).axes
    points = axes.lines[0].get_xydata()
    # It passes x = 0 upwards at t = π, 3π, 5π: y = cos(2 t)/2 is at its largest every time.
    assert points == pytest.approx(np.tile([0.5, 0.0], (3, 1)), abs=1e-6)  # rtol 1e-9 grown over six periods
    assert axes.get_title(loc="left") == "section at up: 3 passages"


def test_axes_of_others_are_drawn_into(motions):
    figure, places = plt.subplots(1, 2)
    found = motions["penny"].plot(axes=places, panels=["coordinates", "phase x"])
    assert found is figure
    assert titles(figure) == ["coordinates", "phase portrait"]
    with pytest.raises(da.OutputError, match=r"has 3 panels \(coordinates, phase, forces\), got 2 axes"):
        motions["penny"].plot(axes=places, panels=["coordinates", "phase x", "forces"])
    plt.close(figure)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"panels": ["pahts"]}, r"no panel 'pahts'. Did you mean 'paths'\?"),
        ({"panels": ["forces q"]}, "'q' is no coordinate or constraint of this motion"),
        ({"panels": [3]}, "by its name, got 3"),
        ({"panels": 3}, "by its name, got 3"),
        ({"panels": []}, "nothing to draw"),
        ({"panels": ["section up"]}, "no event"),
        ({"style": "drak"}, r"no style 'drak'. Did you mean 'dark'\?"),
    ],
)
def test_what_there_is_not_is_told(motions, asked, message):
    motion = motions["stick_slip"] if "section" in str(asked) else motions["penny"]
    with pytest.raises(da.OutputError, match=message):
        motion.plot(**asked)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_formats(suffix, tmp_path):
    file = tmp_path / f"picture.{suffix}"
    da.library.prescribed_acceleration().simulate(0.5, samples=5).plot(file, panels=["coordinates"])
    assert file.stat().st_size > 1000


def test_unknown_format_is_refused(tmp_path):
    motion = da.library.pendulum().simulate(0.5, samples=5)
    with pytest.raises(da.OutputError, match="xyz"):
        motion.plot(tmp_path / "picture.xyz", panels=["phase"])
    assert list(tmp_path.iterdir()) == []


def test_interactive_pictures_draw_no_rounding() -> None:
    """A pendulum that hangs at rest: its height is a line in the middle, not a picture of the last digits."""
    pytest.importorskip("plotly")
    still = da.library.pendulum().replace(initial={"x": 0, "y": -1, "x'": 0, "y'": 0})
    motion = still.simulate(1.0, samples=5)
    figure = motion.plot(panels=["coordinates y"], interactive=True)
    low, high = figure.layout.yaxis.range
    drawn = np.concatenate([np.asarray(trace.y, dtype=float) for trace in figure.data])
    assert high - low > 1e6 * np.ptp(drawn)
    assert low < drawn.min() <= drawn.max() < high


def test_interactive_pictures_have_the_same_panels(motions, tmp_path):
    pytest.importorskip("plotly")
    file = tmp_path / "belt.html"
    figure = motions["stick_slip"].plot(file, interactive=True)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert texts == titles(motions["stick_slip"].plot())
    x = next(trace for trace in figure.data if trace.name == "x")
    assert np.asarray(x.y)[[0, -1]] == pytest.approx(motions["stick_slip"]["x"][[0, -1]])
    # Events are marked in every panel over time, over its height.
    marked = [panel for panel in panels_of(motions["stick_slip"]) if panel.over_time]
    assert len(figure.layout.shapes) == len(marked) * len(motions["stick_slip"].events)
    assert {shape.yref for shape in figure.layout.shapes} <= {f"y{k} domain" for k in ("", 2, 3, 4, 5, 6)}
    page = file.read_text(encoding="utf-8")
    assert "src=" not in page.split("<body>")[1].split("<script")[0]  # nothing is loaded from elsewhere
    with pytest.raises(da.OutputError, match=r"written as .html, not '.png'"):
        motions["stick_slip"].plot(tmp_path / "x.png", interactive=True)


def test_names_are_text_for_plotly_and_no_formulas_for_matplotlib():
    pytest.importorskip("plotly")
    name = "<b>$x$</b>"
    system = da.System(name, coordinates="x", kinetic="x'^2", initial={"x": 0, "x'": 1}, outputs={name: "x"})
    motion = system.simulate(1.0, samples=3)
    figure = motion.plot(panels=["outputs", "coordinates"], interactive=True)
    assert figure.layout.title.text.startswith("&lt;b&gt;$x$&lt;/b&gt;")
    assert motion.plot(panels=["outputs"]).axes[0].get_ylabel() == r"<b>\$x\$</b>"


def test_without_plotly_it_says_what_to_install(motions, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(da.OutputError, match=r"pip install 'dalembert\[plotly\]'"):
        motions["penny"].plot(interactive=True)
