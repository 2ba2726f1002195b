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

# SymPy keeps a thousand results of each of its functions, fewer than the pages of a few systems ask for again. Read as
# SymPy is imported, which nothing before this line does.
os.environ.setdefault("SYMPY_CACHE_SIZE", "50000")

# Matrices here are small, and every core has tests of its own: threads of the algebra library would wait for a core in
# the middle of each product, and where they do a classification takes ten times as long. Workers inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# How kernels are made for tests that are not about them. Most run a model for some milliseconds: its tape is there at
# once, and where one is compiled all the same, a compiler that does not optimise takes a third of the time.
QUICK = {"DALEMBERT_KERNEL": "tape", "DALEMBERT_OPTIMISE": "0"}
COMPILED = {"DALEMBERT_KERNEL": "compiled", "DALEMBERT_OPTIMISE": "1"}
# Folders and files whose tests are about kernels. Products and sums are fused from the first level on, so that code
# rounds as it does for users; `kernel` is about the making itself, with no level set.
OTHERWISE: dict[str, dict[str, str]] = {
    "kernel": {"DALEMBERT_KERNEL": "compiled", "DALEMBERT_OPTIMISE": "0"},
    "parity": COMPILED,
    "convergence": COMPILED,
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
