"""Motions in a process whose C is made with sanitizers: python tests/kernel/sanitized_python.py CASE [broken]

broken: in the steps of large systems one force too many is read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dalembert as da
from dalembert.kernel.ready import large, library, runtime
from dalembert.motion.large import size

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("motion", "ensemble")]
GOOD, BAD = "k < da_now->force_count", "k <= da_now->force_count"


def make_all_anew() -> None:
    """Libraries that came compiled with an installed package have no sanitizers in them."""
    for module in (library, large, runtime):
        module.PREBUILT = module.PREBUILT.with_name(f"none-{module.PREBUILT.name}")


def break_it() -> None:
    def source() -> str:
        text = made()
        assert GOOD in text
        return text.replace(GOOD, BAD)

    made = large.source
    large._library = lambda: library.load(source, large.PREBUILT, large.LEVEL, ("-DBROKEN",))  # type: ignore[assignment]


def large_systems() -> None:
    """By elimination, with forces that work; with rods that depend on each other; and outputs inside steps."""
    from large_systems import chain, net, rods

    size.LARGE = 4
    for system in (chain(6, force=True), net(3), rods(5)):
        for method in ("dop853", "dopri5"):
            for samples in (3, 101):
                motion = system.simulate(0.3, rtol=1e-8, samples=samples, method=method)
                assert motion.backend == "native"
                assert motion.certificate.holds, motion.certificate


def contacts() -> None:
    """Several that share coordinates, on lines and in planes, that stick, slip, let go and bounce."""
    from test_contact_laws import linked, puck, slope

    systems = [(linked(), 1.0), (puck(), 0.6), (slope(), 0.3)]
    systems += [(da.library.get(name), 2.0) for name in ("bouncing_ball", "stacked_blocks", "stick_slip")]
    for system, end in systems:
        motion = system.simulate(end, samples=31)
        assert motion.certificate.contact < motion.certificate.thresholds["contact"], system.name


def plain() -> None:
    """Outputs much denser than steps, evenly and not, with constraints and without."""
    for name in ("penny", "redundant_double_pendulum", "quaternion_body", "pendulum"):
        for times in (np.linspace(0, 2, 501), np.linspace(0, 2, 7), np.linspace(0, 1.4, 40) ** 2):
            assert da.library.get(name).simulate(times=times).certificate.holds, name


def lanes() -> None:
    """Series and explicit steps; constraints on positions and on velocities; a member that cannot start."""
    from swept_systems import bead

    states = np.column_stack([np.ones(9), np.zeros(9), np.zeros(9), np.linspace(0.3, 2.0, 9)])
    off = states + 0.1 * (np.arange(9)[:, None] == 4)
    penny = {"alpha": np.linspace(0.1, 0.5, 11)}
    for system, given in ((da.library.penny(), penny), (bead(), states), (bead(), off)):
        for method in ("taylor", "dop853"):
            found = system.sweep(given, 1.0, lanes=True, method=method, points=21, keep=["x", "y'"])
            assert found.in_lanes >= found.members - 1


CASES: dict[str, Callable[[], None]] = {
    "large systems": large_systems,
    "contacts": contacts,
    "plain": plain,
    "lanes": lanes,
}

if __name__ == "__main__":
    make_all_anew()
    if "broken" in sys.argv[2:]:
        break_it()
    CASES[sys.argv[1]]()
    print("done")
