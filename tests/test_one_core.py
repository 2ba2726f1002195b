"""Dense algebra keeps to one core inside, and is as it was outside."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from dalembert.one_core import on_one_core


def counts() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def several() -> object:
    """Two threads, as on a machine with cores to spare: tests run with one. Set without a limiter that stays, as the
    environment sets it: whoever holds one lets no other thread set a number.
    """
    limit = threadpool_limits(2, "blas")
    OpenBLASController.clear_controlling_thread()
    if counts() != {2}:
        pytest.skip("this library of linear algebra has no threads")
    yield
    limit.restore_original_limits()
    OpenBLASController.clear_controlling_thread()


@pytest.mark.usefixtures("several")
def test_inside_and_outside() -> None:
    with on_one_core():
        assert counts() == {1}
        with on_one_core():
            assert counts() == {1}
        assert counts() == {1}
    assert counts() == {2}
    with pytest.raises(ZeroDivisionError), on_one_core():
        1 / 0  # noqa: B018
    assert counts() == {2}


@pytest.mark.usefixtures("several")
def test_threads_that_overlap_leave_it_as_it_was() -> None:
    """The second one enters before the first one leaves, and leaves after it."""
    entered, one_has_left = Barrier(2), Barrier(2)

    def one(leaves_first: bool) -> None:
        with on_one_core():
            entered.wait(10)
            assert counts() == {1}
            if not leaves_first:
                one_has_left.wait(10)
                assert counts() == {1}
        if leaves_first:
            one_has_left.wait(10)

    for first in (True, False):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, (first, not first)))
        assert counts() == {2}


def test_a_library_that_comes_later_is_limited_too() -> None:
    """SciPy brings its own, after NumPy's was found."""
    program = (
        "import numpy; from threadpoolctl import threadpool_info; from dalembert.one_core import on_one_core\n"
        "with on_one_core(): pass\n"
        "import scipy.linalg\n"
        "with on_one_core(): print({one['num_threads'] for one in threadpool_info() if one['user_api'] == 'blas'})"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.strip() == "{1}"
