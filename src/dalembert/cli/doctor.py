"""`dalembert doctor`: what is installed, and whether it works here."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import typer

from dalembert import __version__
from dalembert.cli.arguments import JSON
from dalembert.cli.models import print_json
from dalembert.errors import counted
from dalembert.kernel.build import NO_COMPILER, find_compiler
from dalembert.kernel.keep import cache_folder
from dalembert.kernel.ready.runtime import runtime_library

PARTS = (
    "sympy", "casadi", "numpy", "scipy", "clarabel", "xarray", "pandas", "matplotlib", "typer", "rich", "tomli-w",
    "latex2mathml", "platformdirs",
)  # fmt: skip


def doctor(json: bool = JSON) -> None:
    """Show versions and backends, and run a small motion with a known answer."""
    versions = {}
    for part in PARTS:
        try:
            versions[part] = version(part)
        except PackageNotFoundError:
            versions[part] = "missing"
    works, detail = _self_test()
    compiler, cache = find_compiler(), cache_folder()
    kernels = list(cache.glob("*.so")) if cache.is_dir() else []
    size = sum(file.stat().st_size for file in kernels) / 1e6
    # Without arguments the answer says it all; with them, as of ziglang's, the command says whose answer it is.
    tapes = runtime_library() is not None
    until = "models run as tapes, which is slower" if tapes else "the reference backend is used"
    found_compiler = f"{NO_COMPILER}; until then {until}"
    if compiler is not None:
        command = " ".join(compiler.command)
        found_compiler = compiler.version if len(compiler.command) == 1 else f"{compiler.version} ({command})"
    report = {
        "dalembert": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": versions,
        "compiler": found_compiler,
        "cache": {"folder": str(cache), "kernels": len(kernels), "megabytes": round(size, 3)},
        "backends": {"native": compiler is not None or tapes, "reference": True},
        "self_test": {"works": works, "detail": detail},
    }
    if json:
        print_json(report)
    else:
        typer.echo(f"dalembert {__version__}, Python {platform.python_version()}, {platform.platform()}")
        for part, found in versions.items():
            typer.echo(f"  {part:<12} {found}")
        typer.echo(f"C compiler: {found_compiler}")
        typer.echo(f"kernel cache: {cache}, {counted(len(kernels), 'kernel')}, {size:.1f} MB")
        typer.echo(f"self test: {'works' if works else 'FAILED'} ({detail})")
    if not works:
        raise typer.Exit(3)


def _self_test() -> tuple[bool, str]:
    """A free fall on a 45° plane: x = −g t²/4, known exactly."""
    from dalembert.model.system import System

    plane = System(
        "block on a plane",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"plane": "y = x"},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )
    motion = plane.simulate(1.0, samples=2)
    miss = abs(motion.final["x"] + 9.81 / 4)
    return bool(miss < 1e-9 and motion.certificate.holds), f"error {miss:.1e}, certificate {motion.certificate.holds}"
