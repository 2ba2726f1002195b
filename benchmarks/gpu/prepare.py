"""Writes a folder that a machine with a GPU can measure: `python gpu/prepare.py FOLDER`, run in benchmarks/.

Sources and runners of all cases, members with their true ends and those of the CPU, the script that measures. The other
machine needs NumPy, CuPy and, for what is beside, JAX and diffrax.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from gpu.cases import CASES, Case, fall
from peers import explicit
from problems import andrews, appell_hamel

from dalembert.library.systems.penny import exact
from dalembert.motion.export import cuda_program

JUDGED = 200
RTOLS = (1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10)
WANTED = 1e-8  # the error to which double precision is measured


def ends(case: Case, values: dict[str, np.ndarray], rtol: float) -> np.ndarray:
    """(members, 2n), by the CPU."""
    system, found = case.system(), []
    for k in range(JUDGED):
        own = system.replace(parameters={name: float(array[k]) for name, array in values.items()})
        run = own.prepare(case.duration, rtol=rtol, method="dop853", backend="native").run()
        if run.failure:
            raise RuntimeError(f"{case.name}, member {k}: {run.failure}")
        found.append(np.concatenate([run.q[-1], run.v[-1]]))
    return np.array(found)


def truth(case: Case, values: dict[str, np.ndarray]) -> np.ndarray:
    """Closed form for the penny, tight tolerance for the others."""
    if case.name != "penny":
        return ends(case, values, 1e-13)
    system, rows = case.system(), []
    names = [*(x.name for x in system.coordinates), *(x.name for x in system.velocities)]
    for k in range(JUDGED):
        own = system.replace(parameters={name: float(array[k]) for name, array in values.items()})
        end = exact(own, np.array([case.duration]))
        rows.append([end[name][0] for name in names])
    return np.array(rows)


def error(found: np.ndarray, true: np.ndarray) -> float:
    n = true.shape[1] // 2
    return float(np.max(np.abs(found - true)[:, :n] / np.maximum(1.0, np.abs(true[:, :n]))))


def samples() -> dict[str, np.ndarray]:
    """States of ten pennies at 101 times, by the CPU at rtol 1e-9."""
    case = CASES[0]
    chance = np.random.default_rng(7)
    values = {name: chance.uniform(*bounds, 10) for name, bounds in case.vary.items()}
    found = []
    for k in range(10):
        own = case.system().replace(parameters={name: float(array[k]) for name, array in values.items()})
        run = own.prepare(case.duration, samples=101, rtol=1e-9, method="dop853", backend="native").run()
        found.append(np.concatenate([run.q, run.v], axis=1))
    return {"samples": np.array(found), **values}


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for case in CASES:
        chance = np.random.default_rng(7)
        values = {name: chance.uniform(*bounds, JUDGED) for name, bounds in case.vary.items()}
        true = truth(case, values)
        rtol = next(r for r in RTOLS if error(ends(case, values, r), true) <= WANTED)
        for rolled in (False, True):
            program = cuda_program(case.system(), case.duration, rolled=rolled, rtol=rtol, method="dop853")
            program.write(folder / f"{case.name}{'_rolled' if rolled else ''}.cu")
        usual = cuda_program(case.system(), case.duration, rtol=rtol, method="dop853").source.rolled
        np.savez(folder / f"{case.name}.npz", true=true, cpu=ends(case, values, rtol), **values)
        index[case.name] = {
            "duration": case.duration, "rtol": rtol, "members": case.members,
            "vary": {name: list(bounds) for name, bounds in case.vary.items()}, "rolled": usual,
            "error_cpu": error(np.load(folder / f"{case.name}.npz")["cpu"], true),
        }  # fmt: skip
        print(case.name, index[case.name], flush=True)
    cuda_program(fall(), 3.0).write(folder / "fall.cu")
    np.savez(folder / "penny_samples.npz", **samples())
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    here = Path(__file__).parent
    for name in ("measure.py", "beside.py"):
        shutil.copy(here / name, folder / name)
    from dalembert.kernel.cuda import run

    shutil.copy(run.__file__, folder / "runner.py")
    parts = [andrews.loops, andrews.slopes, andrews.curvature, andrews.mass_and_force, appell_hamel.acceleration]
    parts += [explicit.andrews_acceleration, explicit._sum, explicit._ldl]
    head = "import types\nfrom typing import Any\nimport numpy as np\nNumbers = Any\nArray = Any\nDATA = {}\n"
    body = "\n\n".join(inspect.getsource(part) for part in parts)
    data = f"\nANDREWS = {andrews.DATA!r}\nAPPELL_HAMEL = {appell_hamel.DATA!r}\n"
    names = ("mass_and_force", "slopes", "curvature")
    tail = "andrews = types.SimpleNamespace(" + ", ".join(f"{name}={name}" for name in names) + ")\n"
    (folder / "accelerations.py").write_text(f"from __future__ import annotations\n{head}{body}{data}{tail}")


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
