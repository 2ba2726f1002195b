"""The N four-bar mechanism: at every passage through the horizontal all its links lie on one line, and each window may
go on as a parallelogram (the motion) or crossed. No residual tells a wrong branch; the closed form of the motion does.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler

GRAVITY, DURATION = 9.81, 10.0


def mechanism(windows: int) -> da.System:
    """Uniform links of 1 m and 1 kg; coordinates of the tips of the cranks. M couples neighbours."""
    tips, couplers = range(windows + 1), range(windows)
    kinetic = [f"(x{k}'^2 + y{k}'^2)/6" for k in tips]
    kinetic += [
        f"(x{k}'^2 + y{k}'^2 + x{k}'*x{k + 1}' + y{k}'*y{k + 1}' + x{k + 1}'^2 + y{k + 1}'^2)/6" for k in couplers
    ]
    heights = [f"y{k}/2" for k in tips] + [f"(y{k} + y{k + 1})/2" for k in couplers]
    rods = {f"crank {k}": f"(x{k} - {k})^2 + y{k}^2 = 1" for k in tips}
    rods |= {f"coupler {k}": f"(x{k + 1} - x{k})^2 + (y{k + 1} - y{k})^2 = 1" for k in couplers}
    initial: dict[str, float] = {}
    for k in tips:
        initial |= {f"x{k}": k, f"y{k}": 1, f"x{k}'": 1, f"y{k}'": 0}
    return da.System(
        f"{windows} four-bar",
        coordinates=" ".join(f"x{k} y{k}" for k in tips),
        kinetic=" + ".join(kinetic),
        potential=f"{GRAVITY}*(" + " + ".join(heights) + ")",
        constraints=rods,
        initial=initial,
    )


def true_tip(windows: int) -> np.ndarray:
    """All cranks turn together: ((N + 1)/3 + N) θ̈ = −g ((N + 1)/2 + N) cos θ, integrated to rounding."""
    inertia, pull = (windows + 1) / 3 + windows, GRAVITY * ((windows + 1) / 2 + windows)
    found = solve_ivp(
        lambda t, u: [u[1], -pull / inertia * np.cos(u[0])],
        (0, DURATION),
        [np.pi / 2, -1.0],
        rtol=1e-13,
        atol=1e-13,
        method="DOP853",
    )
    return np.array([np.cos(found.y[0, -1]), np.sin(found.y[0, -1])])


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
# Ten tolerances a decade where a run takes a millisecond, fewer where it takes a quarter of a second.
@pytest.mark.parametrize(("windows", "tolerances"), [(1, 61), (10, 25), (40, 13)])
def test_every_tolerance_ends_on_the_right_branch(windows, tolerances):
    system, tip = mechanism(windows), true_tip(windows)
    for rtol in np.logspace(-5, -11, tolerances):
        motion = system.simulate(DURATION, rtol=rtol, samples=2, backend="native")
        ends = motion.q[-1].reshape(-1, 2) - np.outer(np.arange(windows + 1), [1, 0])
        # A crossed window is off by order one. Sixteen passages magnify the error of integration about a hundredfold.
        assert np.abs(ends - tip).max() < max(1e4 * rtol, 1e-6), rtol
        assert motion.backend == "native"
        # Tighter, rounding at the passages (pivots of 1e-9 and less) outweighs the tolerance, and the energy shows it.
        assert motion.certificate.holds or rtol < 5e-11


def test_the_reference_stays_on_the_branch_too():
    system, tip = mechanism(1), true_tip(1)
    for rtol in (1e-5, 1e-8, 1e-11):
        motion = system.simulate(DURATION, rtol=rtol, samples=2, backend="reference")
        ends = motion.q[-1].reshape(-1, 2) - np.array([[0, 0], [1, 0]])
        assert np.abs(ends - tip).max() < max(1e4 * rtol, 1e-6), rtol
