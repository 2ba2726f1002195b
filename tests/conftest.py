"""What all tests share: a kernel cache of their own, so that they neither use nor fill the user's."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import settings

# Random models are drawn the same each time: a failure is then a change, and is there for everyone.
settings.register_profile("the same each time", derandomize=True)
settings.load_profile("the same each time")

# How kernels are made for tests that are not about them. Most run a kernel for some milliseconds, and a compiler that
# does not optimise is there with it in a third of the time (0.3 s instead of 1.1 s for a pendulum).
QUICK = {"DALEMBERT_OPTIMISE": "0"}
# Folders and files whose tests are about kernels. Products and sums are fused from the first level on, so that code
# rounds as it does for users; `kernel` is about the making itself, with nothing set.
OTHERWISE: dict[str, dict[str, str]] = {
    "kernel": {},
    "test_backends.py": {"DALEMBERT_OPTIMISE": "1"},
    "test_four_bar.py": {"DALEMBERT_OPTIMISE": "1"},
    "convergence": {"DALEMBERT_OPTIMISE": "1"},
}


def pytest_configure(config: pytest.Config) -> None:
    """One folder for all workers of a run: kernels that several of them need are compiled once. It is there before
    tests are collected, because some modules make motions as they are read.
    """
    for name, value in QUICK.items():
        os.environ.setdefault(name, value)
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it
        folder = tempfile.mkdtemp(prefix="dalembert-kernels-")
        os.environ["DALEMBERT_CACHE"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(autouse=True)
def _kernels_made_otherwise(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in OTHERWISE.keys() & set(request.path.parts):
        for name in QUICK:
            monkeypatch.delenv(name, raising=False)
        for name, value in OTHERWISE[part].items():
            monkeypatch.setenv(name, value)
