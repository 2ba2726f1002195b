"""The same chains in Pinocchio, Drake, MuJoCo and Exudyn, as far as each goes.

    python benchmarks/large/peers.py [--links 10 100 1000 10000] [--peers pinocchio drake mujoco exudyn] [--spatial]

Point masses of 1 kg on massless links of 1 m, in joint angles; a spatial chain has two hinges a link. Each try runs in
a process of its own with 8 GiB of memory and 120 s. Times are of the processor, per evaluation of all accelerations,
the state being set anew before each so that nothing is taken from a cache. Accelerations of planar chains are compared
with those of the C written by hand. Exudyn evaluates no accelerations by a public call: its row is one second of motion
in 100 implicit steps, masses in Cartesian coordinates and links as constraints, with its sparse solver.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from run import angles, by_hand

GRAVITY = 9.81
MEMORY = 8 << 30
SECONDS = 120
Evaluate = Callable[[], np.ndarray]


def state(links: int, spatial: bool) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles, each against the link before, and their rates."""
    planar = np.diff(angles(links), prepend=0.0)
    if not spatial:
        return planar, np.zeros(links)
    both = np.stack([0.1 * np.sin(np.arange(links)), planar], axis=1).ravel()
    return both, np.zeros(2 * links)


def pinocchio(links: int, spatial: bool) -> Evaluate:
    import pinocchio as pin

    point = pin.Inertia(1.0, np.array([0, 0, -1.0]), np.zeros((3, 3)))
    about_y = pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0]))
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -GRAVITY])
    joint = 0
    for k in range(links):
        place = pin.SE3(np.eye(3), np.array([0, 0, 0.0 if k == 0 else -1.0]))
        if spatial:
            joint = model.addJoint(joint, pin.JointModelRX(), place, f"x{k}")
            place = pin.SE3.Identity()
        joint = model.addJoint(joint, about_y, place, f"y{k}")
        model.appendBodyToJoint(joint, point, pin.SE3.Identity())
    data = model.createData()
    q, v = state(links, spatial)
    force = np.zeros(model.nv)
    return lambda: np.asarray(pin.aba(model, data, q, v, force))


def drake(links: int, spatial: bool) -> Evaluate:
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia

    end = np.array([0, 0, -1.0])
    point = SpatialInertia(1.0, end, UnitInertia.PointMass(end))
    nothing = SpatialInertia(0.0, np.zeros(3), UnitInertia(0, 0, 0))
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.array([0, 0, -GRAVITY]))
    before = plant.world_body()
    for k in range(links):
        place = RigidTransform([0, 0, 0.0 if k == 0 else -1.0])
        frame = plant.AddFrame(FixedOffsetFrame(f"f{k}", before, place))
        if spatial:
            hinge = plant.AddRigidBody(f"hinge{k}", nothing)
            plant.AddJoint(RevoluteJoint(f"x{k}", frame, hinge.body_frame(), np.array([1.0, 0, 0])))
            frame = hinge.body_frame()
        before = plant.AddRigidBody(f"link{k}", point)
        plant.AddJoint(RevoluteJoint(f"y{k}", frame, before.body_frame(), np.array([0, -1.0, 0])))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    derivatives = plant.AllocateTimeDerivatives()
    given = np.concatenate(state(links, spatial))

    def evaluate() -> np.ndarray:
        plant.SetPositionsAndVelocities(context, given)
        plant.CalcTimeDerivatives(context, derivatives)
        return np.asarray(derivatives.CopyToVector())[len(given) // 2 :]

    return evaluate


def mujoco(links: int, spatial: bool) -> Evaluate:
    import mujoco as mj

    spec = mj.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.option.disableflags = mj.mjtDisableBit.mjDSBL_CONTACT
    spec.memory = 4 << 30 if links > 1000 else -1
    body = spec.worldbody
    for k in range(links):
        # Its inertia must not be zero; this one changes accelerations by less than 1e-11.
        body = body.add_body(
            pos=[0, 0, 0.0 if k == 0 else -1.0], mass=1.0, ipos=[0, 0, -1.0], inertia=[1e-12] * 3, explicitinertial=True
        )
        if spatial:
            body.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=[1, 0, 0])
        body.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=[0, -1, 0])
    model = spec.compile()
    data = mj.MjData(model)
    q, v = state(links, spatial)

    def evaluate() -> np.ndarray:
        data.qpos[:], data.qvel[:] = q, v
        mj.mj_forward(model, data)
        return data.qacc

    return evaluate


def exudyn(links: int, spatial: bool) -> Evaluate:
    import exudyn as exu
    from exudyn.itemInterface import (
        DistanceConstraint,
        Force,
        MarkerNodePosition,
        MassPoint,
        NodePoint,
        NodePointGround,
    )

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    swing = 0.1 * np.sin(np.arange(links)) if spatial else np.zeros(links)
    bend = angles(links)
    arms = np.stack([np.sin(bend) * np.cos(swing), np.sin(swing), -np.cos(bend) * np.cos(swing)], axis=1)
    before = mbs.AddMarker(MarkerNodePosition(nodeNumber=mbs.AddNode(NodePointGround())))
    for place in np.cumsum(arms, axis=0):
        node = mbs.AddNode(NodePoint(referenceCoordinates=list(place)))
        mbs.AddObject(MassPoint(physicsMass=1.0, nodeNumber=node))
        marker = mbs.AddMarker(MarkerNodePosition(nodeNumber=node))
        mbs.AddLoad(Force(markerNumber=marker, loadVector=[0, 0, -GRAVITY]))
        mbs.AddObject(DistanceConstraint(markerNumbers=[before, marker], distance=1.0))
        before = marker
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 100
    settings.timeIntegration.endTime = 1.0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.solutionSettings.writeSolutionToFile = False

    def move() -> np.ndarray:
        mbs.SolveDynamic(settings)
        return np.asarray(mbs.systemData.GetODE2Coordinates())

    return move


PEERS = {"pinocchio": pinocchio, "drake": drake, "mujoco": mujoco, "exudyn": exudyn}


def measure(peer: str, links: int, spatial: bool) -> dict[str, float]:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started = time.process_time()
    evaluate = PEERS[peer](links, spatial)
    row = {"set-up": time.process_time() - started}
    found = np.array(evaluate())
    spent = 0.0
    row["seconds"] = np.inf
    for _ in range(30 if peer != "exudyn" else 2):
        started = time.process_time()
        evaluate()
        took = time.process_time() - started
        row["seconds"] = min(row["seconds"], took)
        spent += took
        if spent > 20:
            break
    if peer != "exudyn" and not spatial:
        exact = accelerations_by_hand(links)
        row["error"] = float(np.abs(np.cumsum(found) - exact).max() / np.abs(exact).max())
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return row


def accelerations_by_hand(links: int) -> np.ndarray:
    _, (_, _, out, _) = by_hand(links, angles(links), np.zeros(links))()
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, nargs="*", default=[10, 100, 1000, 10_000])
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--spatial", action="store_true")
    parser.add_argument("--one", nargs=3)
    asked = parser.parse_args()
    if asked.one:
        peer, links, spatial = asked.one
        print(json.dumps(measure(peer, int(links), spatial == "spatial")))
        return
    kind = "spatial" if asked.spatial else "planar"
    print("| peer | chain | links | set-up | seconds | largest relative difference from C by hand | memory |")
    for peer in asked.peers:
        for links in asked.links:
            print(f"| {peer} | {kind} | {links:,} | {one_row(peer, links, kind)} |", flush=True)


def one_row(peer: str, links: int, kind: str) -> str:
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--one", peer, str(links), kind], capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"more than {SECONDS} s"
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return f"fails ({lines[-1][:60] if lines else f'signal {-done.returncode}'})"
    row = json.loads(done.stdout.strip().splitlines()[-1])
    error = f"{row['error']:.0e}" if "error" in row else "–"
    return f"{row['set-up']:.2f} s | {row['seconds']:.3g} s | {error} | {row['memory'] / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
