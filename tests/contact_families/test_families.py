"""A handful of each family of random systems; `trial.py` runs as many as one likes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest

from dalembert.kernel.build import find_compiler

from .case import Case
from .compare import faults, run

#: Seeds that between them meet every kind of the family: stops, starts, limits, one-sided, exactly together.
SEEDS = {
    "planes": (0, 3, 6, 8, 12, 17, 24),
    "curved": (0, 3, 4, 9, 12, 13, 16, 22),
    "rods": (0, 4, 9, 12, 128),
    "feet": (0, 1, 3, 4, 7, 10, 274, 91022),
    "belts": (0, 1, 4, 8, 10),
    "dropped": (0, 1, 2, 3, 5),
    "sleds": (1, 6, 2, 22, 25, 49),
}
#: Seconds that tell a hang from an answer, on a busy machine too: cases take one or two.
HANG = 120


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """A case without an answer is a failure of its own, not of the whole run."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(*_: object) -> None:
        raise TimeoutError(f"no answer in {HANG} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(HANG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@cache
def case_of(family: str, seed: int) -> Case:
    """A case with its reference, which takes as long as the motion."""
    return import_module(f".{family}", __package__).case(seed)


@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_motion_forces_and_cones_agree_with_the_reference(family, seed):
    case = case_of(family, seed)
    motion = run(case)
    assert faults(case, motion) == []
    assert motion.certificate.holds


@pytest.mark.skipif(find_compiler() is None, reason="no compiler")
@pytest.mark.parametrize(("family", "seed"), [(family, seeds[1]) for family, seeds in SEEDS.items()])
def test_the_reference_backend_agrees_too(family, seed):
    case = case_of(family, seed)
    assert faults(case, run(case, "reference")) == []
