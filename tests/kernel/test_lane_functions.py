"""Functions of lanes against forty digits."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from dalembert.kernel.build import FLAGS, NATIVE, find_compiler
from dalembert.kernel.emit.layout import RUNTIME
from dalembert.kernel.lanes.source import FOLDER

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler on this machine")
RUN = """
DA_API long run_{0}(const double *x, double *y)
{{
    da_lane a;
    memcpy(&a, x, sizeof a);
    a = da_lane_{0}(a);
    memcpy(y, &a, sizeof a);
    return DA_LANES;
}}
"""
Call = Callable[[str, np.ndarray], np.ndarray]


@pytest.fixture(scope="module", params=[(), NATIVE], ids=["any processor", "this processor"])
def call(request: Any, tmp_path_factory: Any) -> Call:
    """With and without fused multiplication."""
    folder: Path = tmp_path_factory.mktemp("lanes")
    headers = (RUNTIME / "base/base.h", FOLDER / "lane.h")
    source = "".join(header.read_text(encoding="utf-8") for header in headers)
    source += "".join(RUN.format(name) for name in ("sin", "cos", "exp", "log", "sqrt"))
    (folder / "f.c").write_text(source, encoding="utf-8")
    assert compiler is not None
    command = [*compiler.command, "-O1", *FLAGS, *request.param, str(folder / "f.c"), "-o", str(folder / "f.so"), "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "f.so"))

    def values(name: str, x: np.ndarray) -> np.ndarray:
        run, found = getattr(library, f"run_{name}"), np.zeros(x.size)
        run.argtypes, run.restype = [ctypes.c_void_p] * 2, ctypes.c_long
        k = 0
        while k < x.size:  # of which any number of lanes is a part
            k += run(x[k:].ctypes.data, found[k:].ctypes.data)
        return found

    return values


def units(name: str, x: np.ndarray, found: np.ndarray) -> float:
    """The largest error in units of the last place of the exact value."""
    worst = 0.0
    with mpmath.workdps(40):
        for given, value in zip(x.tolist(), found.tolist(), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(given))
            worst = max(worst, abs(float((mpmath.mpf(value) - exact) / np.spacing(abs(float(exact))))))
    return worst


def drawn(*parts: np.ndarray) -> np.ndarray:
    every = np.concatenate(parts)
    return np.ascontiguousarray(every[: every.size // 16 * 16])


def test_units_in_the_last_place_of_lanes(call: Call) -> None:
    rng = np.random.default_rng(5)
    quarters = rng.integers(-(10**4), 10**4, 640) * (np.pi / 2)
    angles = drawn(*(rng.uniform(-size, size, 320) for size in (1e-8, 1e-3, 1.0, 10.0, 2e4)),
                   quarters * (1 + rng.integers(-3, 4, 640) * 1e-16))  # fmt: skip
    # Half a unit each for the result and the reduced angle or the logarithm, the rest for polynomials and quotients.
    for name in ("sin", "cos"):
        assert units(name, angles, call(name, angles)) < 2.0, name
    powers = drawn(*(rng.uniform(-size, size, 640) for size in (1e-6, 1.0, 700.0)))
    assert units("exp", powers, call("exp", powers)) < 2.0
    sizes = drawn(rng.uniform(0.5, 2.0, 640), 10.0 ** rng.uniform(-300, 300, 640), np.full(16, 1e-310))
    assert units("log", sizes, call("log", sizes)) < 2.0


def test_ends_of_the_range_of_lanes(call: Call) -> None:
    special = np.array([0.0, -0.0, np.inf, np.nan, -np.inf, 800.0, -800.0, 5e-324] * 2)
    with np.errstate(all="ignore"):
        for name in ("exp", "log", "sqrt"):
            # A unit in the last place of what is finite.
            np.testing.assert_allclose(call(name, special), getattr(np, name)(special), rtol=2.3e-16)
    # An angle beyond what the reduction serves has no value, so that its motion is left to the other way.
    assert np.isnan(call("sin", np.full(16, 1e12))).all()
    assert np.isnan(call("cos", np.array([np.inf, np.nan] * 8))).all()
