"""Members on the workers of a Dask cluster: one of this machine, or any that a client or an address leads to."""

from __future__ import annotations

import pickle
import queue
import socket
import time as clock
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.parts import Kept, Parts
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place.executors import RESUME
from dalembert.ensemble.place.local_cluster import EMPTY_S, Patience, local_cluster
from dalembert.ensemble.place.threads import cores
from dalembert.ensemble.place.worker import Done, hand_over, own_build, run_ranges
from dalembert.errors import ClusterError, DalembertError, ModelError

# How long a scheduler may take to answer, in seconds.
CONNECT_S = 10
# A task of Dask takes client and scheduler some milliseconds. So it has as many ranges as take a worker about so many
# seconds, as far as is known from those before; but so few that each thread of a worker has another to come.
TASK_S, SHARES = 1.0, 2
# Tasks that are handed to the scheduler ahead: enough for it to see that more workers would help; few enough that
# results do not heap up where they wait to be fetched.
AHEAD, AHEAD_EACH = 16, 4
# Tasks of each thread before it is known how long they take, of one range each: more than two, so that Dask sees many
# of a kind. And how often workers are counted, in seconds.
FIRST, LOOK_S = 3, 10.0
# How long results are waited for at once, in seconds, before progress is shown.
WAIT_S = 0.25
# Attempts at a task after one that failed by no fault of the sweep (a disk or a network that was away).
RETRIES = 2


@dataclass(frozen=True)
class Cluster:
    """An executor, see there. where: the name of the system. on: "dask", "dask:ADDRESS", or a client.

    parts: the folder of the sweep, if it has one. Workers that see it write their chunks themselves, and `note` is
    called for each in place of `finish`.
    """

    where: str
    on: Any
    parts: Parts | None = None
    note: Callable[[Kept], None] | None = None

    def __call__(
        self,
        task: Task,
        ranges: Sequence[tuple[int, int]],
        control: Control,
        finish: Callable[[Chunk], None],
        wait: Callable[[], None],
        workers: int | None,
    ) -> None:
        content = self._pack(task)
        with self._client(min(cores() if workers is None else workers, len(ranges))) as (client, look):

            def pause() -> None:
                look()
                wait()

            try:
                with closing(_results(client, content, ranges, self.parts, pause)) as results:
                    self._take(results, finish)
            except BaseException:
                control.cancel()
                raise

    def _take(self, results: Iterable[Chunk | Kept | DalembertError], finish: Callable[[Chunk], None]) -> None:
        for result in results:
            if isinstance(result, DalembertError):
                raise result
            if isinstance(result, Chunk):
                finish(result)
            elif self.note is not None:
                self.note(result)

    def _pack(self, task: Task) -> bytes:
        import cloudpickle

        try:
            return bytes(cloudpickle.dumps(task))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            fault = f"sweep: this system cannot be handed to another process ({error}): use on='threads'"
            raise ModelError(self.where, [fault]) from None

    @contextmanager
    def _client(self, workers: int) -> Iterator[tuple[Any, Callable[[], None]]]:
        """A client, and what looks now and then whether there is anything to wait for."""
        if not isinstance(self.on, str):
            yield self.on, lambda: None  # whoever opened it closes it
        elif self.on == "dask":
            with local_cluster(workers) as cluster, _connect(self.where, cluster) as client:
                yield client, Patience(cluster.scheduler)
        else:
            with _connect(self.where, _address(self.on)) as client:
                yield client, lambda: None


def executor(where: str, on: Any) -> Cluster:
    """The executor on what `on` says: "dask", "dask:ADDRESS", or a client. What is wrong with it is told here, before
    anything is computed.
    """
    if find_spec("distributed") is None:
        raise ModelError(where, ["sweep: Dask is not installed: pip install 'dalembert[dask]', or use on='threads'"])
    if isinstance(on, str) and on != "dask":
        with _connect(where, _address(on)):
            pass
    elif not isinstance(on, str):
        from distributed import Client

        if not isinstance(on, Client):
            raise ModelError(where, [f"sweep: on= is the name of a place or a client of Dask, got {on!r}"])
        if on.asynchronous or on.status != "running":
            fault = "is asynchronous" if on.asynchronous else f"is {on.status}"
            raise ModelError(where, [f"sweep: the client of Dask {fault}; give one that is open and waits for results"])
    return Cluster(where, on)


def _address(on: str) -> str:
    return on.partition(":")[2]


def _connect(where: str, to: Any) -> Any:
    """A client of a cluster, or of the scheduler at an address. It is not made the one that Dask takes by itself."""
    from distributed import Client
    from distributed.comm import get_address_host_port

    try:
        if isinstance(to, str):  # a client that gets no answer tries again and again, and is long in closing
            socket.create_connection(get_address_host_port(to), CONNECT_S).close()
        return Client(to, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        told = f"no scheduler of Dask answers at {to!r}" if isinstance(error, OSError) else f"{to!r}: {error}"
        raise ModelError(
            where, [f"sweep: {told}; write on='dask:tcp://HOST:PORT', as the scheduler tells it where it starts"]
        ) from None


def _results(
    client: Any, content: bytes, ranges: Sequence[tuple[int, int]], parts: Parts | None, wait: Callable[[], None]
) -> Generator[Chunk | Kept | DalembertError, None, None]:
    """What workers give for each range, in any order. What is left when nobody asks any more is cancelled."""
    import dask

    name, build, left, pace = f"dalembert-{uuid.uuid4().hex}", own_build(), deque(ranges), Pace()
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):  # it is sent once, and must be
        sweep = client.submit(hand_over, content, key=f"{name}-sweep", pure=False)
    pending: dict[Any, tuple[int, int]] = {}
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    at_work, asked, seen = 1, float("-inf"), clock.monotonic()
    try:
        while True:
            if clock.monotonic() - asked > LOOK_S:  # workers come and go
                there, asked = sum(client.nthreads().values()), clock.monotonic()
                at_work, seen = max(1, there), asked if there else seen
                if asked - seen > EMPTY_S:
                    warnings.warn("sweep: the cluster of Dask has no workers; members wait for some", stacklevel=2)
                    seen = float("inf")  # it is told once
            most = max(AHEAD, AHEAD_EACH * at_work) if pace.is_known else FIRST * at_work
            batch: list[list[tuple[int, int]]] = []
            while left and len(pending) + len(batch) < most:
                size = pace.ranges(len(left), at_work)
                batch.append([left.popleft() for _ in range(min(size, len(left)))])
            if batch:
                given = {"content": sweep, "sweep": name, "build": build, "parts": parts}
                # Keys of one group: such tasks wait at the scheduler for whichever worker is free. Others are handed to
                # the one that has the sweep, and taken away from it again once a second.
                how = {"key": [(name, one[0][0]) for one in batch], "retries": RETRIES, "pure": False}
                futures = client.map(run_ranges, batch, **how, **given)
                pending.update({f: (one[0][0], one[-1][1]) for f, one in zip(futures, batch, strict=True)})
                for future in futures:
                    future.add_done_callback(done.put)
            if not pending:
                return
            ready = _take(done)
            lost = [future for future in ready if future.status in ("error", "cancelled")]
            # One whose worker was lost after it was done is computed again meanwhile.
            if ready:
                for one in _gathered(client, [future for future in ready if future not in lost]):
                    pace.note(one)
                    yield from one.results
            if lost:
                raise _fault(lost[0], *pending[lost[0]])
            for future in ready:
                del pending[future]
            wait()
    finally:
        if pending and client.status == "running":
            client.cancel(list(pending))


class Pace:
    """How long ranges take, from those that are done."""

    def __init__(self) -> None:
        self._seconds = self._count = 0.0

    @property
    def is_known(self) -> bool:
        return self._count > 0

    def note(self, done: Done) -> None:
        """Earlier ones count less: the first of each worker make all that the others use."""
        self._seconds = self._seconds / 2 + done.seconds
        self._count = self._count / 2 + len(done.results)

    def ranges(self, left: int, threads: int) -> int:
        """Of the next task, where so many ranges are left for so many threads."""
        if not self.is_known:
            return 1
        wanted = TASK_S * self._count / max(self._seconds, 1e-9)
        return max(1, int(min(wanted, left / (SHARES * threads))))


def _take(done: queue.SimpleQueue[Any]) -> list[Any]:
    """What is done; after a moment without any, nothing."""
    found = []
    try:
        found.append(done.get(timeout=WAIT_S))
        while True:
            found.append(done.get_nowait())
    except queue.Empty:
        return found


def _gathered(client: Any, futures: list[Any]) -> list[Any]:
    try:
        return list(client.gather(futures))
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError):  # which is what a lost connection raises
            raise
        raise ClusterError(f"sweep: the cluster of Dask was closed, or was lost; {RESUME}") from None


def _fault(future: Any, first: int, last: int) -> BaseException:
    """Why a range was given up, in words where they are known."""
    from distributed import KilledWorker

    if future.status == "cancelled":
        return ClusterError(f"sweep: the scheduler of Dask was lost, or gave the work up; {RESUME}")
    error: BaseException = future.exception()
    if isinstance(error, KilledWorker):
        count = error.allowed_failures + 1
        return ClusterError(
            f"sweep: {count} workers ended, one after the other, at members {first} to {last - 1}: out of memory, or "
            f"stopped from outside; their logs say more; {RESUME}"
        )
    if isinstance(error, ImportError) or (isinstance(error, AttributeError) and "Can't get" in str(error)):
        return ClusterError(
            f"sweep: a worker cannot load what it is to run ({error}): install {own_build().text()} there too"
        )
    return error
