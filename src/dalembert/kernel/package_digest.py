"""Digests of this package and of its table of methods: what determines a source besides the model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from dalembert.kernel.limits import LIMITS
from dalembert.methods.table import METHODS, Method

PACKAGE = Path(__file__).parent
METHODS_PACKAGE = PACKAGE.parent / "methods"  # what a tableau says of itself decides the source too
PACKAGES = (PACKAGE, METHODS_PACKAGE)


def package_digest() -> str | None:
    """What determines a source that belongs to no model. None where the package on disk is no longer the one that was
    loaded (it was updated under a running process): then only the source itself tells what it is.
    """
    if states(*PACKAGES) != LOADED_STATES and code(*PACKAGES) != LOADED:
        return None
    return "\0".join([LOADED, table_text(), repr(LIMITS)])


def table_text() -> str:
    """A digest of the table of methods as it stands: one that was added to it is in no file of this package."""
    entries = tuple(METHODS.values())
    known = tuple(map(id, entries))  # a thousand coefficients take longer to compare than a short motion takes
    if known not in _digests:
        _digests[known] = entries, hashlib.sha256(repr(entries).encode()).hexdigest()
    return _digests[known][1]


# With the entries themselves, so that no other can come to have their id.
_digests: dict[tuple[int, ...], tuple[tuple[Method, ...], str]] = {}


def code(*packages: Path) -> str:
    """A digest of the sources of packages, C headers among them."""
    digest = hashlib.sha256()
    for package in packages:
        for file in _sources(package):
            with open(file, "rb") as stream:
                text = stream.read()
            digest.update(f"{os.path.relpath(file, package)} {len(text)}\n".encode())
            digest.update(text)
    return digest.hexdigest()


def states(*packages: Path) -> list[tuple[str, int, int]]:
    """The same files by size and time, which takes a tenth of the time: while these are the same, so is their text."""
    found = [(file, os.stat(file)) for package in packages for file in _sources(package)]
    return [(file, state.st_size, state.st_mtime_ns) for file, state in found]


def _sources(package: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(package):
        folders.sort()
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith((".py", ".h")))


LOADED_STATES = states(*PACKAGES)  # before their text is read
LOADED = code(*PACKAGES)
