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
