"""Digests of this package and of its table of methods: what determines a source besides the model."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dalembert.kernel.limits import LIMITS
from dalembert.methods.table import METHODS, Method

PACKAGE = Path(__file__).parent
METHODS_PACKAGE = PACKAGE.parent / "methods"  # what a tableau says of itself decides the source too


def package_digest() -> str | None:
    """What determines a source that belongs to no model. None where the package on disk is no longer the one that was
    loaded (it was updated under a running process): then only the source itself tells what it is.
    """
    if code(PACKAGE, METHODS_PACKAGE) != LOADED:
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
        for file in sorted(package.rglob("*")):
            if file.suffix in (".py", ".h"):
                text = file.read_bytes()
                digest.update(f"{file.relative_to(package)} {len(text)}\n".encode())
                digest.update(text)
    return digest.hexdigest()


LOADED = code(PACKAGE, METHODS_PACKAGE)
