"""What `dalembert run` prints fits into 80 columns, also where it is piped: no number is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

import dalembert as da
from dalembert.cli.summary import print_summary

# As wide as numbers get with six digits.
WIDE = "-1.23457e-123"


@pytest.fixture(scope="module")
def motions() -> dict[str, da.Motion]:
    return {name: da.library.get(name).simulate(0.5, samples=5) for name in ("penny", "hinged_rods", "stick_slip")}


@pytest.mark.parametrize("name", ["penny", "hinged_rods", "stick_slip"])
@pytest.mark.parametrize("columns", [80, 100])
def test_no_number_is_cut(motions, name, columns, monkeypatch, capsys):
    motion = motions[name]
    monkeypatch.setenv("COLUMNS", str(columns))
    parts = {key: np.full_like(motion.q, float(WIDE)) for key in ("q", "v", "a", "impressed", "inertial", "ideal")}
    wide = replace(motion, **parts, certificate=motion.certificate, warnings=())
    print_summary(wide, [])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= columns
    rows = [line for line in lines if line.startswith("│")]
    assert not any("…" in row for row in rows)
    names = [coordinate.name for coordinate in motion.system.coordinates]
    own = [row for row in rows if row.split()[1] in names]
    # q, q̇, q̈, impressed, ideal, and inertial forces, which are there now, of each coordinate.
    assert sum(row.count(WIDE) for row in own) == 6 * len(names)
