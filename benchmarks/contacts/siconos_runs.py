"""One run of Siconos, started by `run.py` with the Python that Siconos is installed for.

    python siconos_runs.py '{"problem": "blocks", "step": 0.001, …}'   prints {"seconds": …, "values": […], "note": …}

Moreau and Jean's time stepping (θ = 1/2); the bouncing ball by Siconos' event-driven method, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import siconos.kernel as sk


def main() -> None:
    given = json.loads(sys.argv[1])
    run = {"blocks": blocks, "ball": ball, "ball, event-driven": ball_by_events, "puck": puck, "rocking": rocking}
    print(json.dumps(run[given.pop("problem")](**given)))


def blocks(step, duration, mass, place, speed, mu, wall, joint, belt, gravity):
    """In the frame of the belt, where the wall is a coordinate of its own, too heavy to be slowed down."""
    n = len(mass)
    size = 2 * n + 1
    M, K, f = np.eye(size), np.zeros((size, size)), np.zeros(size)
    M[-1, -1] = 1e12
    for i in range(n):
        M[2 * i, 2 * i] = M[2 * i + 1, 2 * i + 1] = mass[i]
        f[2 * i + 1] = -mass[i] * gravity
        _join(K, 2 * i, size - 1, wall)
        if i < n - 1:
            _join(K, 2 * i, 2 * i + 2, joint)
    q, v = np.zeros(size), np.zeros(size)
    q[:-1:2], v[:-1:2], v[-1] = place, np.array(speed) - belt, -belt
    ds = sk.LagrangianLinearTIDS(q, v, M)
    ds.setKPtr(K)
    ds.setFExtPtr(f)
    links = []
    for i in range(n):
        H = np.zeros((2, size))
        H[0, 2 * i + 1] = H[1, 2 * i] = 1
        links.append((sk.NewtonImpactFrictionNSL(0.0, 0.0, mu[i], 2), sk.LagrangianLinearTIR(H)))
    seconds = _stepped(ds, links, step, duration, _friction(2))
    end = ds.q()
    return {"seconds": seconds, "values": list(end[:-1:2] + belt * duration)}


def ball(step, duration, mass, height, restitution, gravity):
    ds, links = _ball(mass, height, restitution, gravity)
    seconds = _stepped(ds, links, step, duration, sk.LCP())
    return {"seconds": seconds, "values": [ds.q()[0], ds.velocity()[0]]}


def ball_by_events(step, duration, mass, height, restitution, gravity):
    ds, links = _ball(mass, height, restitution, gravity)
    nsds = _linked(ds, links, duration)
    simulation = sk.EventDriven(nsds, sk.TimeDiscretisation(0, step))
    simulation.insertIntegrator(sk.LsodarOSI())
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_IMPACT)
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_SMOOTH_ACC)
    simulation.initialize()
    started = time.process_time()
    while simulation.hasNextEvent():
        simulation.advanceToEvent()
        simulation.processEvents()
    return {"seconds": time.process_time() - started, "values": [ds.q()[0], ds.velocity()[0]]}


def puck(step, duration, mass, inertia, feet, mu, start, gravity):
    """Coordinates x, y, z, slopes a and b, θ, as in `problems.py`."""
    M = np.diag([mass, mass, mass, 0.3 * inertia, 0.3 * inertia, inertia])
    q, v = np.zeros(6), np.zeros(6)
    q[5], v[0], v[1], v[5] = start
    ds = sk.LagrangianLinearTIDS(q, v, M)
    force = np.array([0, 0, -mass * gravity, 0, 0, 0.0])  # kept: Siconos points into it
    ds.setFExtPtr(force)
    relations = in_c([_foot(*foot) for foot in feet])
    links = [(sk.NewtonImpactFrictionNSL(0.0, 0.0, mu, 3), relation) for relation in relations]
    seconds = _stepped(ds, links, step, duration, _friction(3))
    end = ds.q()
    return {"seconds": seconds, "values": [end[0], end[1], end[5]]}


def rocking(step, duration, mass, inertia, corners, mu, start, gravity):
    """A block in a plane: x, y of its centre, θ; two lower corners."""
    q, v, M = np.array(start[:3]), np.array(start[3:]), np.diag([mass, mass, inertia])
    ds = sk.LagrangianLinearTIDS(q, v, M)
    force = np.array([0, -mass * gravity, 0.0])
    ds.setFExtPtr(force)
    relations = in_c([_corner(*corner) for corner in corners])
    links = [(sk.NewtonImpactFrictionNSL(0.0, 0.0, mu, 2), relation) for relation in relations]
    seconds = _stepped(ds, links, step, duration, _friction(2))
    return {"seconds": seconds, "values": [ds.q()[2]]}


def in_c(formulas: list[tuple[str, list[list[str]]]]):
    """One relation per pair of a height and its rows (normal, then tangential), C expressions in q, compiled to a
    plug-in of Siconos: relations written in Python are not complete in its bindings.
    """
    lines = ["#include <math.h>"]
    for k, (height, rows) in enumerate(formulas):
        entries = [(i, j, entry) for i, row in enumerate(rows) for j, entry in enumerate(row)]
        for name, result, body in (
            (f"h{k}", "y", f"y[0] = {height};"),
            (f"G{k}", "G", " ".join(f"G[{i + j * len(rows)}] = {entry};" for i, j, entry in entries)),
        ):
            lines.append(
                f"void {name}(unsigned n, const double *q, unsigned m, double *{result}, unsigned l, double *z) {{"
                f" {body} }}"
            )
    folder = Path(tempfile.mkdtemp())
    source, library = folder / "ContactPlugin.c", folder / "ContactPlugin.so"
    source.write_text("\n".join(lines))
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True)
    return [
        sk.LagrangianScleronomousR(f"{folder}/ContactPlugin:h{k}", f"{folder}/ContactPlugin:G{k}")
        for k in range(len(formulas))
    ]


def _foot(p: float, q: float) -> tuple[str, list[list[str]]]:
    """Of a foot at (p, q) in the frame of the body: q = x, y, z, slopes a and b, θ."""
    dx, dy = f"({p}*cos(q[5]) - {q}*sin(q[5]))", f"({p}*sin(q[5]) + {q}*cos(q[5]))"
    rows = [["0", "0", "1", dx, dy, "0"], ["1", "0", "0", "0", "0", f"-{dy}"], ["0", "1", "0", "0", "0", dx]]
    return f"q[2] + q[3]*{dx} + q[4]*{dy}", rows


def _corner(p: float, q: float) -> tuple[str, list[list[str]]]:
    """Of a corner at (p, q) in the frame of the block: q = x, y, θ."""
    dx, dy = f"({p}*cos(q[2]) - {q}*sin(q[2]))", f"({p}*sin(q[2]) + {q}*cos(q[2]))"
    return f"q[1] + {dy}", [["0", "1", dx], ["1", "0", f"-{dy}"]]


def _join(K, i: int, j: int, stiffness: float) -> None:
    K[i, i] += stiffness
    K[j, j] += stiffness
    K[i, j] -= stiffness
    K[j, i] -= stiffness


def _ball(mass, height, restitution, gravity):
    ds = sk.LagrangianLinearTIDS(np.array([height]), np.zeros(1), np.array([[mass]]))
    ds.setFExtPtr(np.array([-mass * gravity]))
    return ds, [(sk.NewtonImpactNSL(restitution), sk.LagrangianLinearTIR(np.array([[1.0]])))]


def _friction(dimension: int):
    problem = sk.FrictionContact(dimension)
    options = problem.numericsSolverOptions()
    options.dparam[0], options.iparam[0] = 1e-10, 1000
    return problem


def _linked(ds, links, duration):
    nsds = sk.NonSmoothDynamicalSystem(0, duration)
    nsds.insertDynamicalSystem(ds)
    for law, relation in links:
        nsds.link(sk.Interaction(law, relation), ds)
    return nsds


def _stepped(ds, links, step, duration, problem) -> float:
    # A whole number of steps that ends at `duration`.
    step = duration / round(duration / step)
    simulation = sk.TimeStepping(
        _linked(ds, links, duration), sk.TimeDiscretisation(0, step), sk.MoreauJeanOSI(0.5), problem
    )
    started = time.process_time()
    for _ in range(round(duration / step)):
        simulation.computeOneStep()
        simulation.nextStep()
    return time.process_time() - started


if __name__ == "__main__":
    main()
