"""The walk of a run through the files of the package: how often a reader who follows it has to turn to another file.

`python tests/test_walk.py penny` prints the walk: every function at its first call, indented by depth, with the number
of switches so far where the file changes. Imports are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

from dalembert.kernel.build import find_compiler

# Stages that finish in their room before the next begins: about eighty pages turned, from the line that is typed to the
# summary that is printed, can be followed in one reading. It was 133 before the rooms were arranged for that.
MOST_SWITCHES = 80
PACKAGE = f"{os.sep}dalembert{os.sep}"


class Walk:
    """First calls in their order: file, function, depth."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, int]] = []
        self.seen: set[tuple[str, int]] = set()

    def look(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        key = (code.co_filename, code.co_firstlineno)
        if event != "call" or PACKAGE not in code.co_filename or code.co_name.startswith("<") or key in self.seen:
            return
        depth, caller = 0, frame.f_back
        while caller is not None:
            above = caller.f_back
            if caller.f_code.co_name == "<module>" and above is not None and "importlib" in above.f_code.co_filename:
                return  # while a module is imported
            depth += PACKAGE in caller.f_code.co_filename
            caller = above
        self.seen.add(key)
        self.calls.append((code.co_filename.rpartition(PACKAGE)[2], code.co_qualname, depth))

    def lines(self) -> list[str]:
        found, before, switches = [], self.calls[0][0], 0
        for file, name, depth in self.calls:
            switches += file != before
            turned = f"{switches:4} {file}" if file != before or not found else ""
            found.append(f"{turned:<46}{'  ' * depth}{name}")
            before = file
        return [*found, f"files {len({file for file, *_ in self.calls})} switches {switches}"]


def walk_of(words: list[str]) -> Walk:
    from dalembert.cli.app import main

    walk, sys.argv = Walk(), ["dalembert", "run", *words]
    sys.settrace(walk.look)  # it returns nothing: calls are looked at, lines are not
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.settrace(None)
    return walk


def test_a_run_turns_few_pages(tmp_path: Path) -> None:
    if find_compiler() is None:
        pytest.skip("no C compiler on this machine: the reference backend goes another way")
    settings = {name: value for name, value in os.environ.items() if name != "DALEMBERT_KERNEL"}
    # The first run keeps the model and its tape; the second is that of a user who has run it before.
    for words in (["-m", "dalembert", "run", "penny", "--json"], [__file__, "penny"]):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=settings, capture_output=True, text=True, check=True
        )
    _, files, _, switches = done.stdout.splitlines()[-1].split()
    assert int(files) > 40, done.stdout  # it is the walk of a whole run
    assert int(switches) <= MOST_SWITCHES, done.stdout


if __name__ == "__main__":
    print("\n".join(walk_of(sys.argv[1:]).lines()))
