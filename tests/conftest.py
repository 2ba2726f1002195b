"""What all tests share: a kernel cache of their own, so that they neither use nor fill the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Random models are drawn the same each time: a failure is then a change, and is there for everyone.
settings.register_profile("the same each time", derandomize=True)
settings.load_profile("the same each time")


@pytest.fixture(scope="session", autouse=True)
def _kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One folder for all workers of a run: kernels that several of them need are compiled once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    before = os.environ.get("DALEMBERT_CACHE")
    os.environ["DALEMBERT_CACHE"] = str(shared / "kernels")
    # Most tests run a kernel for some milliseconds: compiled half as well, it is there in half the time. What is tested
    # for its own sake, in `kernel`, `parity` and `convergence`, is compiled as for users.
    os.environ.setdefault("DALEMBERT_OPTIMISE", "1")
    # And most need no kernel of their own: the tape of a model is there at once.
    os.environ.setdefault("DALEMBERT_KERNEL", "tape")
    yield
    if before is None:
        del os.environ["DALEMBERT_CACHE"]
    else:
        os.environ["DALEMBERT_CACHE"] = before


@pytest.fixture(autouse=True)
def _as_for_users(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if {"kernel", "parity", "convergence"} & set(request.path.parts):
        monkeypatch.delenv("DALEMBERT_OPTIMISE", raising=False)
        monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
