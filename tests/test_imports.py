"""Imports go leftward only, and `import dalembert` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import dalembert
from dalembert.kernel.build import find_compiler

ROOT = Path(dalembert.__file__).parent
ORDER = (
    "errors",
    "arrays",
    "remember",
    "collector",
    "one_core",
    "methods",
    "model",
    "results",
    "mechanics",
    "graph",
    "kernel",
    "motion",
    "statics",
    "study",
    "ensemble",
    "library",
    "view",
    "cli",
)
# Inside a package the same rule holds between its rooms, and the files that stand beside them.
ROOMS = {
    "model": (
        "language", "definitions", "constraints", "drawings", "friction", "events", "outputs", "simulation_options",
        "specify_functions", "units", "validate", "changes", "verbs", "kept", "system", "places", "kinks", "particles",
        "documents",
    ),
    "mechanics": (
        "standard_form", "solve", "algebra", "numbers", "pulses", "sample", "page", "classify", "explicit",
        "principles.shared", "reduce", "principles", "equations", "liberate",
    ),
    "kernel": (
        "limits", "package_digest", "size", "emit", "identity", "keep", "build", "waited", "ready", "rolled", "events",
        "kernel", "tape_kernel", "block", "members", "cuda", "lanes",
    ),
    "motion": (
        "state", "integrate", "contacts", "result", "certificate", "assemble", "run", "prepare", "export", "large",
        "simulate", "instant", "kept_models",
    ),
    "ensemble": ("ask", "start", "members", "place", "result", "bar", "sweep"),
    "view": ("figures", "plots", "scene", "player", "animate", "markup", "report", "notebook"),
    "motion.contacts": ("modes", "decide", "impacts", "run"),
}  # fmt: skip
# The verbs of a system and of results that draw themselves hand over to what is to their right, when called.
VERBS = {"model/verbs.py", "motion/instant.py", "motion/result/motion.py", "study/path.py", "study/vakonomic.py"}
VERBS |= {"study/between.py", "study/gauss_picture.py", "motion/result/trace.py", "library/orbits.py"}
VERBS |= {"ensemble/result/ensemble.py", "results.py", "study/compare.py"}
# A principle that another part of mechanics carries further hands over likewise.
VERBS |= {"mechanics/principles/liberation.py"}
ENTRANCES = {"__init__.py", "__main__.py"}  # of the package as a whole
MODULES = sorted({path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")} - ENTRANCES)


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imports(node: ast.AST, package: str, inside: bool = False) -> Iterator[tuple[str, bool, int]]:
    """(module, whether inside a function, line) of every import below a node, except for type checking only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield from imports(ast.Module([other], []), package, inside)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, inside, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = child.module or ""
            if child.level:
                parts = package.split(".")[: len(package.split(".")) - child.level + 1]
                base = ".".join([*parts, base] if base else parts)
            # `from dalembert import model` names the package in the alias.
            names = [f"{base}.{alias.name}" for alias in child.names] if base == "dalembert" else [base]
            yield from ((name, inside, child.lineno) for name in names)
        else:
            deeper = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from imports(child, package, deeper)


def names_for_type_checkers(file: Path) -> set[str]:
    """What a module imports, or imports for type checkers."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        for one in node.body if isinstance(node, ast.If) and is_type_checking(node.test) else [node]:
            if isinstance(one, ast.ImportFrom):
                found |= {alias.asname or alias.name for alias in one.names}
            elif isinstance(one, (ast.FunctionDef, ast.ClassDef)):
                found.add(one.name)
            elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                found.add(one.target.id)
    return found


@pytest.mark.parametrize("module", [dalembert, dalembert.library])
def test_type_checkers_know_all_that_is_exported(module) -> None:
    file = Path(module.__file__)
    lists = [
        node.value
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    written = ast.literal_eval(lists[0])  # raises where it is put together by code, which type checkers do not run
    assert set(written) == set(module.__all__)
    assert set(written) <= names_for_type_checkers(file)


def test_systems_of_the_library_are_exported() -> None:
    assert set(dalembert.library.EXAMPLES) <= set(dalembert.library.__all__)
    assert dir(dalembert.library) == sorted(dalembert.library.__all__)


def faults(module: str, source: str) -> list[str]:
    """Every import of a module that goes the wrong way."""
    own = module.removesuffix(".py").split("/")[0]
    package = ".".join(["dalembert", *module.split("/")[:-1]])
    found = []
    for name, inside, line in imports(ast.parse(source), package):
        parts = name.split(".")
        if parts[0] != "dalembert" or len(parts) < 2:
            if name == "dalembert" and own not in ("cli", "library", "view"):
                found.append(f"{module}:{line} imports the whole package")
            continue
        if parts[1] not in ORDER:
            continue  # a name of the top package, such as System: checked where it is defined
        wrong = ORDER.index(parts[1]) > ORDER.index(own) or is_in_later_room(parts[1:], module)
        if wrong and not (inside and module in VERBS):
            found.append(f"{module}:{line} imports {name}, which is to the right of {own}")
    return found


def room_of(parts: Sequence[str], package: str) -> int | None:
    """The place of a module among the rooms of a package: the longest name that fits."""
    depth = package.count(".") + 1
    if ".".join(parts[:depth]) != package:
        return None
    names = [".".join(parts[depth : depth + k]) for k in (2, 1)]
    return next((ROOMS[package].index(name) for name in names if name in ROOMS[package]), None)


def is_in_later_room(imported: Sequence[str], module: str) -> bool:
    own = module.removesuffix(".py").removesuffix("/__init__").split("/")
    for package in ROOMS:
        here, there = room_of(own, package), room_of(imported, package)
        if here is not None and there is not None and there > here:
            return True
    return False


def test_every_room_has_its_place() -> None:
    for package, rooms in ROOMS.items():
        folder = ROOT.joinpath(*package.split("."))
        there = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
        assert there - {"__init__"} == {room.split(".")[0] for room in rooms}, package


def test_every_package_has_its_place() -> None:
    known = {module.removesuffix(".py").split("/")[0] for module in MODULES}
    assert known <= set(ORDER), f"not in the order of packages: {sorted(known - set(ORDER))}"
    assert len(MODULES) > 20


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_left(module: str) -> None:
    assert faults(module, (ROOT / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("model/language/parse.py", "from dalembert.motion.result.motion import Motion", 1),
        ("model/language/parse.py", "import dalembert.graph.graph", 1),
        ("model/language/parse.py", "from dalembert import motion", 1),
        ("model/language/parse.py", "from ...motion import motion", 1),
        ("model/language/parse.py", "def f():\n    from dalembert.motion import motion", 1),
        ("model/language/parse.py", "try:\n    import dalembert.view.plot\nexcept ImportError:\n    pass", 1),
        ("model/verbs.py", "from dalembert.motion.result.motion import Motion", 1),
        ("model/verbs.py", "def f():\n    from dalembert.motion.result.motion import Motion", 0),
        ("motion/simulate.py", "from dalembert.model.system import System\nfrom dalembert.errors import ModelError", 0),
        ("model/language/parse.py", "if TYPE_CHECKING:\n    from dalembert.motion.result.motion import Motion", 0),
        (
            "model/language/parse.py",
            "if TYPE_CHECKING:\n    pass\nelse:\n    from dalembert.motion.result.motion import Motion",
            1,
        ),
        ("errors.py", "from dalembert.model.language.parse import suggest", 1),
        ("model/language/parse.py", "from dalembert.model.language.symbols import t\nfrom . import symbols", 0),
        ("model/language/parse.py", "import dalembert", 1),
        ("cli/run.py", "import dalembert", 0),
        ("motion/state/project.py", "from dalembert.motion.integrate.settings import Settings", 1),
        ("motion/integrate/native.py", "from dalembert.motion.state.project import project", 0),
        ("motion/contacts/modes/modes.py", "from dalembert.motion.contacts.run.legs import run", 1),
        ("mechanics/reduce/ignorable.py", "from dalembert.mechanics.principles.shared.formulation import Answer", 0),
        ("mechanics/reduce/ignorable.py", "from dalembert.mechanics.principles.routh import derive", 1),
    ],
)
def test_the_check_itself(module: str, source: str, wrong: int) -> None:
    assert len(faults(module, source)) == wrong


HEAVY = ("sympy", "numpy", "casadi", "scipy", "matplotlib", "xarray", "pandas")


def loaded_after(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter has loaded after some code."""
    report = f"{code}\nimport sys\nprint(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_the_package_alone_is_light() -> None:
    assert loaded_after("import dalembert") == set()


def test_writing_and_reading_models_is_light() -> None:
    code = (
        "import dalembert as da\n"
        "s = da.System('s', coordinates=['x'], kinetic=\"x'^2\", constraints={'c': 'x = 0'})\n"
        "da.loads(da.dumps(s))"
    )
    assert loaded_after(code) == {"sympy", "numpy"}


def test_building_a_library_is_light() -> None:
    assert loaded_after("import dalembert.kernel.build") == set()


def test_one_instant_needs_no_integrator_and_no_table() -> None:
    code = (
        "import dalembert as da\nda.System('s', coordinates=['x'], kinetic=\"x'^2\", initial={'x': 0, \"x'\": 0}).at()"
    )
    assert loaded_after(code) == {"sympy", "numpy", "casadi"}


def test_a_native_motion_needs_no_scipy_and_no_table() -> None:
    code = (
        "import dalembert as da\n"
        "s = da.System('s', coordinates=['x'], kinetic=\"x'^2\", initial={'x': 0, \"x'\": 1})\n"
        "assert s.simulate(1.0, samples=3).backend == 'native'"
    )
    if find_compiler() is None:
        pytest.skip("no C compiler on this machine")
    assert loaded_after(code) == {"sympy", "numpy", "casadi"}


def test_the_collector_is_left_as_it_was() -> None:
    code = "import gc\ngc.{0}able()\nimport dalembert\ndalembert.System\nprint(gc.isenabled())"
    for state, expected in (("en", "True"), ("dis", "False")):
        done = subprocess.run([sys.executable, "-c", code.format(state)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_everything_public_is_there() -> None:
    for name in dalembert.__all__:
        assert getattr(dalembert, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        dalembert.nothing  # noqa: B018
