"""Meshes from files, and curves: in their own axes, moved as wholes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import dalembert as da
from dalembert.view.animate.camera import Camera
from dalembert.view.animate.look import Look
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.scene.mesh_files import read_mesh
from dalembert.view.scene.scene_of import scene_of

CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def written(kind: str) -> bytes:
    """A tetrahedron of volume 1/6."""
    if kind == "obj":
        lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1}//1 {b + 1}/2/1 {c + 1}" for a, b, c in FACES]
        return "\n".join(["# a comment", *lines]).encode()
    if kind == "ascii":
        body = "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in face)
            + "endloop\nendfacet\n" for face in FACES
        )  # fmt: skip
        return f"solid body\n{body}endsolid\n".encode()
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in CORNERS[k]), 0) for face in FACES]
    return b"binary".ljust(80) + struct.pack("<I", len(FACES)) + b"".join(rows)


@pytest.mark.parametrize("kind", ["obj", "ascii", "binary"])
def test_files_of_triangles(tmp_path, kind):
    file = tmp_path / f"body.{'obj' if kind == 'obj' else 'stl'}"
    file.write_bytes(written(kind))
    vertices, faces = read_mesh(str(file), "model")
    assert vertices.shape == (4, 3)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(1 / 6)  # the volume inside, with all faces outwards


@pytest.mark.parametrize("content", [b"", b"v 1 2\nf 1 2 3", b"v 0 0 0\nf 1 2 3", b"v a b c"])
def test_files_that_are_no_mesh(tmp_path, content):
    file = tmp_path / "body.obj"
    file.write_bytes(content)
    with pytest.raises(da.ModelError, match="no mesh of triangles that can be read"):
        read_mesh(str(file), "model")


def test_a_missing_file_is_told_when_it_is_drawn():
    system = da.library.pendulum().replace(draw=[da.Mesh("nowhere.obj", at=("x", "y"))])
    with pytest.raises(da.ModelError, match=r"mesh 'nowhere\.obj' cannot be read"):
        scene_of(system.simulate(0.1, samples=3))


def test_curves_and_meshes_move_as_wholes():
    system = da.library.pendulum().replace(
        draw=[
            da.Curve(("l*cos(s)", "2*l*sin(s)"), over=("s", 0, "2*pi"), at=("x", "y"), angle="t"),
            da.Mesh(vertices=CORNERS, faces=FACES, at=("x", "y", 0), scale="2*l", rotation=(1, 0, 0, 0)),
        ]
    )
    motion = system.simulate(0.3, samples=4)
    curve, mesh = scene_of(motion, frames="outputs").shapes[:2]
    np.testing.assert_allclose(curve["points"][:, 0] ** 2 + curve["points"][:, 1] ** 2 / 4, 1)
    np.testing.assert_array_equal(curve["position"][:, :2], motion.q)
    np.testing.assert_allclose(curve["rotation"][:, 3], np.sin(motion.t / 2))
    np.testing.assert_array_equal(mesh["vertices"], 2 * np.array(CORNERS))


def test_a_mesh_shows_its_near_side_only():
    """A tetrahedron from the front: of the four faces those two that look this way, and red is seen."""
    system = da.library.pendulum().replace(draw=[da.Mesh(vertices=CORNERS, faces=FACES, color="red")])
    scene = scene_of(system.simulate(0.1, samples=3), frames="outputs")
    look = Look(Camera.of(3), scene.times, 0.01, False, "#000000", "#ffffff")
    (faces,) = look.marks(scene.shapes[0], 0)
    to_eye = Camera.of(3).axes[2]
    corners = np.array(CORNERS)[np.array(FACES)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(faces.points) == np.sum(normals @ to_eye > 0)
    image = Painter([scene], Style(width=160)).image(0).astype(int)
    assert np.sum(image[:, :, 0] - image[:, :, 2] > 80) > 200
