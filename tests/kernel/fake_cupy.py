"""What the runner of CUDA sources asks of CuPy, on a machine without a GPU: arrays are NumPy's, and the source is
compiled as plain C, in which one thread takes all members.
"""

from __future__ import annotations

import ctypes
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from dalembert.kernel.build import build, find_compiler

KINDS = {
    np.dtype(np.int64): ctypes.c_longlong,
    np.dtype(np.uint64): ctypes.c_ulonglong,
    np.dtype(np.int32): ctypes.c_int,
    np.dtype(np.float64): ctypes.c_double,
    np.dtype(np.float32): ctypes.c_float,
}


class Kernel:
    def __init__(self, function: Any) -> None:
        self.function, self.kernel = function, SimpleNamespace(ptr=0)
        function.restype = None

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
        # Arrays go as addresses, scalars by the type that they have: a wrong one would be read wrong, as on a GPU.
        self.function(
            *(
                ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else KINDS[a.dtype](a.item())
                for a in arguments
            )
        )


class RawModule:
    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        compiler = find_compiler()
        assert compiler is not None
        more = tuple(option for option in options if option.startswith("-D"))
        self.library, _ = build(code, compiler, None, 1, (*more, "-std=gnu11"))

    def get_function(self, name: str) -> Kernel:
        return Kernel(getattr(self.library, name))


class Device:
    attributes = {"MultiProcessorCount": 1}  # noqa: RUF012

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Event:
    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass


def fake_cupy(devices: int = 1, free: int = 10**9) -> Any:
    """With so many GPUs, which have so many bytes free."""
    runtime = SimpleNamespace(getDeviceCount=lambda: devices, memGetInfo=lambda: (free, free))
    driver = SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared: 1)
    cuda = SimpleNamespace(
        runtime=runtime, driver=driver, Device=Device, Event=Event, get_elapsed_time=lambda a, b: 1e3 * (b.at - a.at)
    )
    same = {name: getattr(np, name) for name in ("asarray", "zeros", "empty", "full", "argsort", "ascontiguousarray")}
    return SimpleNamespace(cuda=cuda, RawModule=RawModule, asnumpy=np.asarray, **same)
