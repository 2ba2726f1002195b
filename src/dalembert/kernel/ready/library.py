"""The library that serves every model: from the package where it came compiled, else compiled here and kept on disk.

Nothing in it belongs to one model, so that a motion need not wait for a compiler.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import sys
import tempfile
import time as clock
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from dalembert.errors import BuildError
from dalembert.kernel.build import FLAGS, Compiler, build, compile_source, find_compiler
from dalembert.kernel.emit.operations import BINARY, UNARY
from dalembert.kernel.package_digest import package_digest
from dalembert.kernel.waited import waited

SOURCES = Path(__file__).parent / "c"
# In the order of the source. Each file is C with sizes as arguments.
FILES: tuple[str, ...] = (
    "library.h",
    "../../runtime/base/base.h",
    "../../runtime/base/elementary.h",
    "tape.h",
    "tape_make.h",
    "many.h",
    "dense.h",
    "solve_points.h",
    "branches.h",
    "forces.h",
    "check_points.h",
    "modes.h",
    "sparse.h",
    "multipliers.h",
    "along.h",
    "again.h",
    "quadrature.h",
    "certify.h",
    "shortest.h",
    "contact_forces.h",
    "contact_laws.h",
    "bounces.h",
    "start.h",
    "member_starts.h",
    "step_bounds.h",
)
# Level 3 takes twice the time to compile, and what it makes is a few per cent faster at most.
LEVEL = 2
# Not called as a module beside it, or Python would import it in its place.
PREBUILT = Path(__file__).parent / ("libready.dll" if sys.platform == "win32" else "libready.so")
# A second one beside each, for the x86 processors of the last ten years.
WIDE = ("-march=x86-64-v3",)
# What it asks of a processor, as Linux names it.
ABILITIES = frozenset(("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"))


def source() -> str:
    """All of it as one C source."""
    return "\n".join([operations_macro(), *map(file_text, FILES)])


def file_text(name: str) -> str:
    """One of the files."""
    return (SOURCES / name).read_text(encoding="utf-8")


def operations_macro() -> str:
    """DA_TAPE_OPERATIONS of c/tape.h: the operations that straight-line code has, in the same forms."""
    known = [f"BINARY({op}, {form.format('x', 'y')})" for op, form in BINARY.items()]
    known += [f"UNARY({op}, {form.format('x')})" for op, form in UNARY.items()]
    lines = " \\\n    ".join(known)
    codes = max(*BINARY, *UNARY) + 1
    return f"#define DA_TAPE_CODES {codes}\n#define DA_TAPE_OPERATIONS(BINARY, UNARY) \\\n    {lines}\n"


@lru_cache(maxsize=1)
def ready_library() -> ctypes.CDLL | None:
    """The library; None where it did not come with the package and no compiler is there to make it."""
    return load(source, PREBUILT, LEVEL)


def load(make: Callable[[], str], prebuilt: Path, level: int, more: tuple[str, ...] = ()) -> ctypes.CDLL | None:
    """A library that serves every model: as it came with the package, or compiled here and kept. Its source is made
    only where it is compiled; what determines it names it before, so that one of another version is not taken for it.
    """
    wide = wide_of(prebuilt)
    files = (wide, prebuilt) if wide.is_file() and has_wide_registers() else (prebuilt,)
    name, digest = determined_by(make, prebuilt)
    for file in files:
        if file.is_file():
            with contextlib.suppress(OSError):  # made for another machine
                library = ctypes.CDLL(str(file))
                library.da_ready_digest.restype = ctypes.c_char_p
                if library.da_ready_digest().decode() == digest:
                    return library
    compiler = find_compiler()
    if compiler is None:
        return None
    started = clock.perf_counter()
    try:
        return build(lambda: with_digest(make, digest), compiler, name, level, more)[0]
    except BuildError:
        return None
    finally:
        waited.seconds += clock.perf_counter() - started


def has_wide_registers() -> bool:
    """Whether code for registers of 256 bits runs here, as far as the system says."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        # Of the first processor only: the system takes its time to describe each one.
        flags = next((line for line in lines if line.startswith("flags")), "")
        return set(flags.split()) >= ABILITIES
    return False


def wide_of(prebuilt: Path) -> Path:
    """The library for processors with wide registers that came beside one for all."""
    return prebuilt.with_name(f"{prebuilt.stem}_wide{prebuilt.suffix}")


def prebuild(
    folder: Path,
    compiler: Compiler,
    prebuilt: Path,
    make: Callable[[], str],
    level: int,
    more: tuple[str, ...],
    wide: bool = False,
) -> Path:
    """The library as it comes with the package, made in a folder, for every processor of the family, or for those with
    wide registers.
    """
    digest = determined_by(make, prebuilt)[1]
    flags = (f"-O{level}", *FLAGS, *more, *(WIDE if wide else ()))
    with tempfile.TemporaryDirectory(dir=folder) as workplace:
        made = compile_source(with_digest(make, digest), compiler, flags, Path(workplace))
        return made.replace(folder / (wide_of(prebuilt) if wide else prebuilt).name)


def with_digest(make: Callable[[], str], digest: str) -> str:
    """A source that tells by which it is known."""
    return f'#define DA_READY_DIGEST "{digest}"\n{make()}'


def determined_by(make: Callable[[], str], prebuilt: Path) -> tuple[str, str]:
    """What determines a source, and a digest of it."""
    name = f"{prebuilt.stem}\0{package_digest() or make()}"
    return name, hashlib.sha256(name.encode()).hexdigest()
