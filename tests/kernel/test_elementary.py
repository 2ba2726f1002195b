"""Sines and cosines of the kernels against forty digits."""

from __future__ import annotations

import ctypes
import subprocess

import mpmath
import numpy as np
import pytest

from dalembert.kernel.build import FLAGS, NATIVE, find_compiler
from dalembert.kernel.emit import layout

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler on this machine")
RUNTIME = layout.RUNTIME


FOUR = "da_sincos4(x, s, c)"
ALONE = "for (int k = 0; k < 4; k++) da_sincos1(x[k], s + k, c + k)"


@pytest.fixture(
    scope="module",
    params=[((), FOUR), (NATIVE, FOUR), ((), ALONE), (NATIVE, ALONE)],
    ids=["any processor", "this processor", "alone, any processor", "alone, this processor"],
)
def sincos(request, tmp_path_factory):
    """With and without fused multiplication and vector registers, four angles at once and one by one."""
    flags, call = request.param
    folder = tmp_path_factory.mktemp("elementary")
    source = "".join((RUNTIME / name).read_text(encoding="utf-8") for name in ("base/base.h", "base/elementary.h"))
    source += f"DA_API void run(const double *x, double *s, double *c) {{ {call}; }}\n"
    (folder / "f.c").write_text(source, encoding="utf-8")
    assert compiler is not None
    made = folder / "f.so"
    subprocess.run([*compiler.command, *FLAGS, *flags, str(folder / "f.c"), "-o", str(made), "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    library.run.argtypes = [ctypes.c_void_p] * 3

    def call(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s, c = np.zeros(4), np.zeros(4)
        library.run(x.ctypes.data, s.ctypes.data, c.ctypes.data)
        return s, c

    return call


def units(found: float, exact: mpmath.mpf) -> float:
    """The error in units of the last place of the exact value."""
    return abs(float((mpmath.mpf(float(found)) - exact) / np.spacing(abs(float(exact)))))


def test_units_in_the_last_place(sincos):
    rng = np.random.default_rng(5)
    angles = [rng.uniform(-size, size, 1500) for size in (1e-8, 1e-3, 1.0, 10.0, 1e3, 2e4)]
    # Next to multiples of a quarter turn, where the reduced angle loses most digits.
    quarters = rng.integers(-(10**4), 10**4, 2000) * (np.pi / 2)
    angles.append(quarters * (1 + rng.integers(-3, 4, 2000) * 1e-16))
    worst = 0.0
    with mpmath.workdps(40):
        for x in np.concatenate(angles).reshape(-1, 4):
            s, c = sincos(np.ascontiguousarray(x))
            for k in range(4):
                exact = mpmath.mpf(float(x[k]))
                worst = max(worst, units(s[k], mpmath.sin(exact)), units(c[k], mpmath.cos(exact)))
    # Half a unit each for the result and the reduced angle, and a little for the polynomial.
    assert worst < 1.5


@pytest.mark.parametrize("x", [[3e5, 1.0, -2e7, 0.0], [np.inf, 1.0, np.nan, 2.0], [0.0, -0.0, 1e300, 5e-324]])
def test_large_and_odd_angles(sincos, x):
    given = np.array(x)
    s, c = sincos(given)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(s, np.sin(given), rtol=4e-16, atol=0)
        np.testing.assert_allclose(c, np.cos(given), rtol=4e-16, atol=0)
