"""What keeps a worker process of a local Dask cluster running, from its very beginning."""

from __future__ import annotations

from typing import Any

from distributed import Nanny
from distributed.core import Status
from tornado.ioloop import PeriodicCallback

# How often a worker is started that ends while it starts, and how often one is looked at, in milliseconds.
STARTS, LOOK_MS = 4, 1000


class Keeper(Nanny):
    """Dask's own starts a worker again that ends once it runs. One that was killed while it started ended the whole
    cluster; one that was killed in the moment before it counts as running was given up without a word.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._exit: int | None = None
        self.periodic_callbacks["keep"] = PeriodicCallback(self._keep, LOOK_MS)

    async def instantiate(self) -> Status:
        for _ in range(STARTS):
            self._exit = None
            status = await super().instantiate()
            # A worker that ends by itself would do so again: as in scripts whose sweep is not below `if __name__ …`.
            if status != Status.stopped or (self._exit is not None and 0 <= self._exit < 255):
                break
        return status

    def _on_worker_exit_sync(self, exitcode: int) -> None:
        """255 is Dask's number where nobody could read the status."""
        self._exit = exitcode
        super()._on_worker_exit_sync(exitcode)

    async def _keep(self) -> None:
        if self.status == Status.running and self.process is not None and self.process.status == Status.stopped:
            await self.instantiate()
