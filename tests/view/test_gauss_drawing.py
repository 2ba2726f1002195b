"""The picture of Gauss's principle shows what its data say."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.view.plots.style import LIGHT


def test_points_line_and_circle_are_where_the_data_are():
    now = da.library.incline_block().at()
    data = now.gauss_picture()
    (axes,) = now.picture().axes
    dots = [np.ravel(line.get_xydata()) for line in axes.lines if line.get_marker() == "o"]
    for dot, point in zip(dots, (data.unconstrained, data.free, data.projection), strict=True):
        assert dot == pytest.approx(point)
    (line,) = [line for line in axes.lines if line.get_label().startswith("allowed")]
    start, end = line.get_xydata()
    offset = data.projection - start
    assert offset[0] * (end - start)[1] == pytest.approx(offset[1] * (end - start)[0], abs=1e-9)
    radii = [patch.radius for patch in axes.patches]
    assert radii[-1] == pytest.approx(data.residual)  # the circle that touches the line
    assert axes.get_aspect() == 1
    assert "least $G$ = 74.12" in axes.get_title()


def test_the_corner_is_a_right_angle():
    axes = da.library.penny().at().picture().axes[0]
    (corner,) = [line for line in axes.lines if line.get_color() == LIGHT.ink]
    a, b, c = corner.get_xydata()
    assert (a - b) @ (c - b) == pytest.approx(0, abs=1e-12)


def test_a_curve_is_drawn_for_a_nonlinear_constraint():
    axes = da.library.prescribed_acceleration().at().picture().axes[0]
    curve = np.vstack([path.vertices for path in axes.collections[0].get_paths()])
    assert np.hypot(*curve.T) == pytest.approx(np.full(len(curve), 5.0), rel=1e-3)


@pytest.mark.parametrize("name", ["benenti_rods", "hinged_rods", "redundant_double_pendulum", "rough_incline"])
def test_every_kind_is_drawn_and_written(name: str, tmp_path):
    file = tmp_path / "gauss.png"
    da.library.get(name).at().picture(file)
    assert file.stat().st_size > 10_000


def test_no_constraints_at_all(tmp_path):
    x, y = da.coordinates("x y")
    free = da.System("free", coordinates=[x, y], kinetic=x.d**2 + y.d**2, initial={x: 0, y: 0, x.d: 0, y.d: 0})
    (axes,) = free.at().picture(tmp_path / "free.svg").axes
    assert "allowed: all of this plane" in [line.get_label() for line in axes.lines]


def test_unknown_format_is_refused(tmp_path):
    with pytest.raises(da.OutputError, match="xyz"):
        da.library.pendulum().at().picture(tmp_path / "gauss.xyz")
