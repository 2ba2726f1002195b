"""Every system of the library has a scene of finite numbers that JSON can hold, can be drawn, and has a page."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as da
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.player.page import page_of
from dalembert.view.plots.panel import panels_of
from dalembert.view.scene.scene_of import scene_of


@pytest.mark.parametrize("name", da.library.names())
def test_every_system_is_drawn(name):
    motion = da.library.get(name).simulate(0.4, samples=9)
    scene = scene_of(motion, frames="outputs")
    json.dumps(scene.to_dict(), allow_nan=False)
    kinds = {shape["kind"] for shape in scene.shapes}
    assert kinds & {"disk", "box", "sphere", "rod"}, "a body, not dials"
    for shape in scene.shapes:
        for key in ("position", "from", "to", "vector", "rotation", "normal", "visible"):
            assert key not in shape or len(shape[key]) in (1, 9)
        if "rotation" in shape:
            np.testing.assert_allclose(np.linalg.norm(shape["rotation"], axis=1), 1, atol=1e-12)
    assert np.all(scene.bounds[1] >= scene.bounds[0])
    painter = Painter([scene], Style(width=160))
    first, last = painter.image(0).copy(), painter.image(8)
    assert first.shape == last.shape
    assert np.any(first[:, :, :3] != 255)
    assert np.any(first != last), "nothing moves"
    page = page_of([scene], panels_of(motion))
    assert page.count('<script type="application/json">') == 1
