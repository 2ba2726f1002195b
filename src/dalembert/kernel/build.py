"""Compile a kernel's source to a shared library, once: the result is kept on disk under a hash of everything
that made it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dalembert.errors import BuildError

FLAGS = ("-std=c11", "-O2", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC", "-shared")
NATIVE = ("-march=native",)
# Larger caches are cut back to half of this, oldest kernels first.
CACHE_BYTES = 256_000_000


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
    candidates.append((sys.executable, "-m", "ziglang", "cc"))
    for command in candidates:
        if command[0] != sys.executable and shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout.strip():
            return Compiler(command, done.stdout.splitlines()[0])
    return None


def cache_folder() -> Path:
    """Where kernels are kept: DALEMBERT_CACHE, or the user's cache folder."""
    if os.environ.get("DALEMBERT_CACHE"):
        return Path(os.environ["DALEMBERT_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dalembert"


def build(source: str, compiler: Compiler) -> tuple[ctypes.CDLL, bool]:
    """The library made from a source, and whether it came from the cache."""
    flags = (*FLAGS, *NATIVE)
    machine = f"{platform.machine()} {_processor()}"
    key = "\0".join([source, " ".join(flags), " ".join(compiler.command), compiler.version, machine])
    name = hashlib.sha256(key.encode("utf-8")).hexdigest()[:40] + ".so"
    folder = cache_folder()
    file = folder / name
    if file.is_file():
        try:
            library = ctypes.CDLL(str(file))
            os.utime(file)
        except OSError:
            pass  # damaged: made anew below
        else:
            return library, True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        workplace = tempfile.mkdtemp(prefix=".build-", dir=folder)
    except OSError:
        workplace = tempfile.mkdtemp(prefix="dalembert-")
    try:
        made = _compile(source, compiler, flags, Path(workplace))
        library = ctypes.CDLL(str(made))
        try:
            os.replace(made, file)
            _trim(folder)
        except OSError:
            pass  # it works all the same, only next time it is made again
        return library, False
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _compile(source: str, compiler: Compiler, flags: tuple[str, ...], workplace: Path) -> Path:
    text, made = workplace / "kernel.c", workplace / "kernel.so"
    try:
        text.write_text(source, encoding="utf-8")
        command = [*compiler.command, *flags, str(text), "-o", str(made), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise BuildError(f"a kernel could not be built in {workplace}: {error.strerror or error}") from None
    if done.returncode != 0 or not made.is_file():
        lines = done.stderr.strip().splitlines()
        raise BuildError(
            f"{' '.join(compiler.command)} could not compile a kernel: {lines[0] if lines else 'no message'}"
        )
    return made


def _trim(folder: Path) -> None:
    """Keep the cache within its size, oldest first."""
    files = sorted(folder.glob("*.so"), key=lambda file: file.stat().st_mtime)
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
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    wanted = [line for line in lines if line.startswith(("model name", "flags", "Features"))][:2]
    return hashlib.sha256("".join(wanted).encode()).hexdigest()[:16]
