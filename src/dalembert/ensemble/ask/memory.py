"""How much memory and disk a sweep takes, and how much there is."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

# Files in which Linux says what is free, and what a container may use and uses.
MEMINFO, LIMIT, USED = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def free_memory() -> int:
    """Bytes that may be used, as far as the system says."""
    found = [2**62]
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        found.append(max(int(LIMIT.read_text(encoding="ascii")) - int(USED.read_text(encoding="ascii")), 0))
    return min(found)


def free_disk(folder: Path) -> int:
    """Bytes that may be written below a folder, which need not exist yet."""
    there = next((place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()), Path("."))
    return shutil.disk_usage(there).free


def written_in(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def readable(size: float) -> str:
    """Bytes as a person says them.

    >>> readable(8_000), readable(2.5e12)
    ('8.0 kB', '2.5 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.1f} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1000
    return f"{size:.3g} PB"
