"""The closed form of a billiard ball that slides and then rolls, from pooltool, started by `run.py` with its Python.

python pooltool_runs.py '{"radius": …, "mu": …, "velocity": [x, y], "spin": [x, y], "duration": …, "gravity": …}'
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from pooltool.constants import sliding
from pooltool.physics.evolve import evolve_ball_motion


def main() -> None:
    given = json.loads(sys.argv[1])
    rvw = np.array([[0, 0, given["radius"]], [*given["velocity"], 0], [*given["spin"], 0]], float)
    # Rolling and spinning friction as good as none: the ball rolls on.
    numbers = (given["radius"], given["mass"], given["mu"], 1e-14, 1e-14, given["gravity"], given["duration"])
    evolve_ball_motion(sliding, rvw.copy(), *numbers)  # compiles
    started = time.process_time()
    end, _ = evolve_ball_motion(sliding, rvw, *numbers)
    seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds, "values": [*end[0, :2], *end[1, :2], *end[2, :2]]}))


if __name__ == "__main__":
    main()
