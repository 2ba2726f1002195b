"""A kernel on disk is found by what determines its source: nothing of that may be left out."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import casadi as ca
import pytest

import dalembert as da
from dalembert.graph.graph import Graph, graph_of
from dalembert.kernel import package_digest as module
from dalembert.kernel.identity import identity
from dalembert.kernel.package_digest import PACKAGE, code

# What the emitter may import from outside its package. `Graph` and `System` are data, and in the key.
OUTSIDE = {"dalembert.errors", "dalembert.graph.functions", "dalembert.model.system"}
# The package of methods is in the key, and so are the limits that the kernel has from the fundamental equation.
OUTSIDE |= {f"dalembert.methods.{name}" for name in ("table", "tableau", "inside")}
OUTSIDE |= {"dalembert.mechanics.solve.fundamental"}


def system(**changes: object) -> da.System:
    parts: dict[str, object] = {
        "coordinates": "x y z",
        "kinetic": "m*(x'^2 + y'^2 + z'^2)/2",
        "potential": "m*g*z",
        "constraints": {"sphere": "x^2 + y^2 + z^2 = l^2", "roll": "x' = y*z'"},
        "parameters": {"m": 1, "g": 9.81, "l": 1},
    }
    return da.System("s", **{**parts, **changes})  # type: ignore[arg-type]


def key(
    of: da.System,
    rows: tuple[int, ...] = (0, 1),
    asked: tuple[str, ...] = (),
    completion: float = 0.0,
) -> str:
    found = identity(of, graph_of(of), rows, asked, completion)
    assert found is not None
    return found


def test_the_same_model_has_the_same_key():
    assert key(system()) == key(system())
    assert key(system()) == key(system(parameters={"m": 2, "g": 1, "l": 3})), "values of parameters are no part of it"


@pytest.mark.parametrize(
    "changes",
    [
        {"kinetic": "m*(x'^2 + y'^2 + 2*z'^2)/2"},
        {"potential": "m*g*z + x"},
        {"potential": "m*g*(z + 1e-16)"},
        {"forces": {"x": "-x'"}},
        {"constraints": {"sphere": "x^2 + y^2 + z^2 = l^2", "roll": "x' = -y*z'"}},
        {"constraints": {"sphere": "x^2 + y^2 + z^2 = l^2", "roll": "x'^2 = y*z'"}},
        {"constraints": {"roll": "x' = y*z'", "sphere": "x^2 + y^2 + z^2 = l^2"}},
        {"constraints": {"sphere": "x^2 + y^2 + z^2 = l^2"}},
        {"coordinates": "y x z"},
        {"coordinates": "x y z w", "kinetic": "m*(x'^2 + y'^2 + z'^2 + w'^2)/2"},
        {"nonideal": [da.Work({"x": "-x'"})]},
        {"nonideal": [da.Work({"x": "-ideal(z)"})]},
        {"nonideal": [da.Work({"x": -da.multiplier("sphere")})]},
        {"events": {"off": da.multiplier("sphere")}},
        {"parameters": {"m": 1, "g": 9.81, "l": 1, "k": 1}},
    ],
)
def test_another_model_has_another_key(changes: dict[str, object]):
    assert key(system(**changes)) != key(system())


def test_another_multiplier_makes_another_key():
    for where in (lambda of: {"nonideal": [da.Work({"x": of})]}, lambda of: {"events": {"off": of}}):
        assert key(system(**where(da.multiplier("sphere")))) != key(system(**where(da.multiplier("roll"))))


def test_other_options_make_another_key():
    keys = [
        key(system()),
        key(system(), rows=(0,)),
        key(system(), rows=(1,)),
        key(system(), rows=(1, 0)),
        key(system(), asked=("stiff",)),
        key(system(), completion=1.0),
        key(system(), completion=1.5),
        key(system(), asked=("taylor",)),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", [field.name for field in fields(Graph)])
def test_every_part_of_the_graph_counts(name: str):
    graph = graph_of(system())
    value = getattr(graph, name)
    x = ca.SX.sym("x")
    other = ca.Function(name, [x], [2 * x]) if isinstance(value, ca.Function) else (7, 8, 9)
    changed = replace(graph, **{name: other})
    assert identity(system(), changed, (0, 1), (), 0.0) != identity(system(), graph, (0, 1), (), 0.0)


@pytest.mark.parametrize(
    "name", ["emit/straight_line.py", "emit/functions.py", "limits.py", "runtime/run/step.h", "runtime/base/base.h"]
)
def test_another_emitter_or_runtime_makes_another_key(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    copy = tmp_path / "kernel"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert code(copy) == code(PACKAGE), "the place does not count"
    text = (copy / name).read_text(encoding="utf-8")
    (copy / name).write_text(text.replace("=", "= ", 1), encoding="utf-8")
    assert code(copy) != code(PACKAGE)
    before = key(system())
    monkeypatch.setattr(module, "PACKAGES", (copy, module.METHODS_PACKAGE))
    assert identity(system(), graph_of(system()), (0, 1), (), 0.0) is None, "updated under a running process"
    monkeypatch.setattr(module, "LOADED", code(*module.PACKAGES))  # as in another process
    assert key(system()) != before


def test_a_new_file_counts(tmp_path: Path):
    copy = tmp_path / "kernel"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "runtime" / "new.h").write_text("", encoding="utf-8")
    assert code(copy) != code(PACKAGE)


def test_the_emitter_takes_nothing_from_elsewhere():
    """What it imports from other packages of this project would influence the source without being in the key."""
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name in ("rolled", "cuda"):
            continue  # loops and programs for GPUs are known by their own source
        if file.parent.name == "ready" and file.stem not in ("library", "runtime"):
            continue  # they read what serves every model, and make no source
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file.name}: relative imports are not looked through here"
                names = [node.module or ""]
            else:
                continue
            for name in names:
                inside = not name.startswith("dalembert") or name.startswith("dalembert.kernel")
                assert inside or name in OUTSIDE, f"{file.name} imports {name}"


def test_the_key_is_the_same_in_every_process():
    """Whatever the order in which this process hashes strings."""
    script = (
        "import hashlib, dalembert as da\n"
        "from dalembert.graph.graph import graph_of\n"
        "from dalembert.kernel.identity import identity\n"
        "for s in (da.library.penny(), da.library.rough_incline(), da.library.benenti_rods()):\n"
        "    text = identity(s, graph_of(s), range(len(s.constraints)), ('stiff',), 0.5)\n"
        "    assert text is not None\n"
        "    print(hashlib.sha256(text.encode()).hexdigest())"
    )
    found = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1
