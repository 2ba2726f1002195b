"""Pictures: what is drawn, and that every library system can be drawn."""

from __future__ import annotations

import pytest

import dalembert as da


def test_panels_show_what_they_say():
    motion = da.library.pendulum().simulate(1.0, samples=21)
    path, coordinates, forces, energy = motion.plot().axes
    assert path.get_title() == "path"
    assert list(path.lines[0].get_xdata()) == list(motion["x"])
    assert [line.get_label() for line in coordinates.lines] == ["x", "y"]
    assert {line.get_label() for line in forces.lines} == {"ideal x", "ideal y"}
    assert list(energy.lines[0].get_ydata()) == list(motion.energy)


def test_nonideal_forces_are_dashed():
    figure = da.library.incline_block().simulate(0.5, samples=11).plot()
    styles = {line.get_label(): line.get_linestyle() for line in figure.axes[2].lines}
    assert styles["nonideal x"] == "--"
    assert styles["ideal x"] == "-"


def test_the_free_motion_beside_it():
    """Asked for only: e by constraint, and q̈ − a by coordinate."""
    motion = da.library.penny().simulate(1.0, samples=21)
    assert len(motion.plot().axes) == 4
    axes = motion.plot(free=True).axes
    extent, change = axes[2], axes[5]
    assert [line.get_label() for line in extent.lines] == ["roll x", "roll y"]
    assert list(extent.lines[1].get_ydata()) == list(motion.e[:, 1])
    assert [line.get_label() for line in change.lines] == ["x''", "y''", "psi''"]
    # It spins as it would without constraints: no curve for phi. (19): what is drawn below is K times that above.
    now = da.library.penny().at()
    drawn = [line.get_ydata()[0] for line in change.lines]
    assert drawn == pytest.approx(list(now.K @ [line.get_ydata()[0] for line in extent.lines])[:3])


def test_without_mass_there_is_no_free_motion_to_draw():
    system = da.System(
        "follower",
        coordinates="x y",
        kinetic="x'^2/2",
        constraints={"follows": "y = x"},
        initial={"x": 0, "y": 0, "x'": 1, "y'": 1},
    )
    assert system.simulate(0.5, samples=5).plot(free=True).axes[2].get_title() == "no free motion: M is singular"


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_formats(suffix, tmp_path):
    file = tmp_path / f"picture.{suffix}"
    da.library.prescribed_acceleration().simulate(0.5, samples=5).plot(file)
    assert file.stat().st_size > 1000


def test_unknown_format_is_refused(tmp_path):
    motion = da.library.pendulum().simulate(0.5, samples=5)
    with pytest.raises(da.OutputError, match="xyz"):
        motion.plot(tmp_path / "picture.xyz")
    assert list(tmp_path.iterdir()) == []
