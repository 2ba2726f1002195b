"""Compile a kernel's source to a shared library, once: the result is kept on disk under a hash of everything
that made it.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from dalembert.errors import BuildError
from dalembert.kernel.keep import KEPT_PREFIX, cache_folder

FLAGS = ("-std=c11", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC", "-shared")
NATIVE = ("-march=native",)
# What is said where no compiler answers.
NO_COMPILER = "no C compiler was found; install one, or pip install 'dalembert[compiler]'"
# The variable of the environment that says how much kernels are optimised at most.
OPTIMISE = "DALEMBERT_OPTIMISE"
# Larger caches are cut back to half of this, oldest kernels first.
CACHE_BYTES = 256_000_000
# A build that ended without cleaning up (killed, out of power) is cleared away after this.
ABANDONED_S = 86_400.0


@dataclass(frozen=True)
class Compiler:
    command: tuple[str, ...]
    version: str


@lru_cache(maxsize=1)
def find_compiler() -> Compiler | None:
    """The C compiler: CC, then cc, gcc, clang, then ziglang's; None where none answers."""
    candidates: list[tuple[str, ...]] = []
    if os.environ.get("CC"):
        candidates.append(tuple(shlex.split(os.environ["CC"])))
    candidates += [(name,) for name in ("cc", "gcc", "clang")]
    if find_spec("ziglang") is not None:  # the extra `compiler`: looked for before a process is started in vain
        candidates.append((sys.executable, "-m", "ziglang", "cc"))
    for command in candidates:
        if command[0] != sys.executable and shutil.which(command[0]) is None:
            continue
        version = _version(command)
        if version:
            return Compiler(command, version)
    return None


def _version(command: tuple[str, ...]) -> str | None:
    """The first line of the compiler's answer to --version, None where it gives none. Starting a process for it takes
    as long as a short motion, so the answer is kept on disk for as long as the program file is the same.
    """
    note = _version_note(command)
    if note is not None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            kept = note.read_text(encoding="utf-8").strip()
            if kept:
                return kept
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0 or not done.stdout.strip():
        return None
    version = done.stdout.strip().splitlines()[0]
    if note is not None:
        with contextlib.suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            written = note.with_name(f"{note.name}.{os.getpid()}")
            written.write_text(version, encoding="utf-8")
            os.replace(written, note)
    return version


def _version_note(command: tuple[str, ...]) -> Path | None:
    """Where the answer of this very program file is kept. None for commands with arguments: they start others."""
    program = shutil.which(command[0])
    if len(command) != 1 or program is None:
        return None
    try:
        file = Path(program).resolve()
        state = file.stat()
    except OSError:
        return None
    digest = hashlib.sha256(f"{program}\0{file}\0{state.st_size}\0{state.st_mtime_ns}".encode()).hexdigest()
    return cache_folder() / f"compiler-{digest[:40]}.txt"


def most_optimised() -> int:
    """DALEMBERT_OPTIMISE, 0 to 3: no kernel is optimised more than that, and so is sooner there, but slower."""
    asked = os.environ.get(OPTIMISE, "")
    return int(asked) if asked in ("0", "1", "2", "3") else 3


def build(
    source: str | Callable[[], str],
    compiler: Compiler,
    identity: str | None = None,
    level: int = 2,
    more: tuple[str, ...] = (),
) -> tuple[ctypes.CDLL, bool]:
    """The library made from a source, and whether it came from the cache.

    Where making the source takes time, it is given as a function, called only if need be, and `identity` is text that
    determines it. level: how much the compiler optimises; more: flags besides, left out where it does not know them.
    """
    if identity is None:
        source = identity = source if isinstance(source, str) else source()
    kept = find_built(identity, compiler, level, more)
    if kept is not None:
        return kept, True
    flags, file = (_flags(level, (*more, *NATIVE)), _flags(level, ())), _file(identity, compiler, level, more)
    folder = file.parent
    text = source if isinstance(source, str) else source()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        library = _library(text, compiler, flags, folder, file)
    except (BuildError, OSError):  # the folder cannot be written, or is full: it works elsewhere, and is not kept
        library = _library(text, compiler, flags, None, file)
    return library, False


def _library(
    source: str, compiler: Compiler, flags: tuple[tuple[str, ...], ...], beside: Path | None, file: Path
) -> ctypes.CDLL:
    """Made in a folder of its own in another, or where temporary files go, and kept as `file` if that can be. flags:
    the best ones, and those that all compilers know.
    """
    workplace = tempfile.mkdtemp(prefix="dalembert-" if beside is None else ".build-", dir=beside)
    best, known = flags
    try:
        try:
            made = compile_source(source, compiler, best, Path(workplace))
        except BuildError:
            # Some compilers do not know all of them, or not the processor they run on: the code is a little slower.
            made = compile_source(source, compiler, known, Path(workplace))
        try:
            library = ctypes.CDLL(str(made))
        except OSError as error:  # a place from which nothing may run, or a compiler for another machine
            raise BuildError(f"a kernel was built in {workplace}, but cannot be loaded: {error}") from None
        with contextlib.suppress(OSError):
            os.replace(made, file)
            _trim(file.parent)
        return library
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def find_built(identity: str, compiler: Compiler, level: int = 2, more: tuple[str, ...] = ()) -> ctypes.CDLL | None:
    """The library of this identity, if it is on disk and whole."""
    file = _file(identity, compiler, level, more)
    if not file.is_file():
        return None
    try:
        library = ctypes.CDLL(str(file))
        os.utime(file)
    except OSError:
        return None
    return library


def _flags(level: int, more: tuple[str, ...]) -> tuple[str, ...]:
    return (f"-O{min(level, most_optimised())}", *FLAGS, *more)


def _file(identity: str, compiler: Compiler, level: int, more: tuple[str, ...]) -> Path:
    """Where a library is kept: under a hash of everything that makes it."""
    machine = f"{platform.machine()} {_processor()}"
    parts = [identity, " ".join([*_flags(level, more), *NATIVE]), " ".join(compiler.command), compiler.version, machine]
    key = "\0".join(parts)
    return cache_folder() / (hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40] + ".so")


def compile_source(source: str, compiler: Compiler, flags: tuple[str, ...], workplace: Path) -> Path:
    """The library made of a source, in a folder that is there."""
    text, made = workplace / "kernel.c", workplace / "kernel.so"
    try:
        text.write_text(source, encoding="utf-8")
        command = [*compiler.command, *flags, str(text), "-o", str(made), "-lm"]
        # What a compiler that is killed leaves of its own lies in the workplace too, and goes with it.
        own = {**os.environ, "TMPDIR": str(workplace)}
        done = subprocess.run(command, capture_output=True, text=True, env=own)
    except OSError as error:
        raise BuildError(f"a kernel could not be built in {workplace}: {error.strerror or error}") from None
    if done.returncode != 0 or not made.is_file():
        lines = done.stderr.strip().splitlines()
        raise BuildError(
            f"{' '.join(compiler.command)} could not compile a kernel: {lines[0] if lines else 'no message'}"
        )
    return made


def _trim(folder: Path) -> None:
    """Keep the cache within its size, oldest first, and clear away what builds that were killed have left."""
    for left in [*folder.glob(".build-*"), *folder.glob(f"{KEPT_PREFIX}*")]:
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - ABANDONED_S:
                left.unlink() if left.is_file() else shutil.rmtree(left, ignore_errors=True)
    # Kernels, models that were read, their tapes, and who has won races.
    kept = [file for suffix in ("so", "model", "tape", "race") for file in folder.glob(f"*.{suffix}")]
    files = sorted(kept, key=lambda file: file.stat().st_mtime)
    total = sum(file.stat().st_size for file in files)
    if total <= CACHE_BYTES:
        return
    for file in files:
        total -= file.stat().st_size
        file.unlink(missing_ok=True)
        if total <= CACHE_BYTES // 2:
            return


@lru_cache(maxsize=1)
def _processor() -> str:
    """The processor's name and abilities: -march=native makes code for this one only."""
    wanted = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            # The first processor only: the kernel takes its time to describe each one.
            for line in lines:
                if line.startswith(("model name", "flags", "Features")):
                    wanted.append(line.rstrip("\n"))
                if len(wanted) == 2 or (wanted and not line.strip()):
                    break
    except OSError:
        return platform.processor()
    return hashlib.sha256("".join(wanted).encode()).hexdigest()[:16]
