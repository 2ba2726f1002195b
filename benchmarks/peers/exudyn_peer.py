"""Exudyn: bodies in the plane, revolute joints, generalised-α with fixed steps, set up as in its own four-bar test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerBodyRigid,
    NodeRigidBody2D,
    ObjectGround,
    RevoluteJoint2D,
    RigidBody2D,
)
from problems import Problem
from problems.four_bar import SPEED, of_angles

from .base import Gone, Peer, Task

# Above this many links its sparse factorisation is the faster one.
SPARSE = 20


def four_bar(problem: Problem) -> Callable[[float], Task]:
    windows = problem.data["windows"]
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    gravity = [0, -problem.data["g"], 0]

    def body(place: list[float], speed: list[float]) -> tuple[int, int, int]:
        """A rod; its node and the markers of its ends."""
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=place, initialVelocities=speed))
        rod = mbs.AddObject(RigidBody2D(nodeNumber=node, physicsMass=1.0, physicsInertia=1 / 12))
        mbs.AddLoad(
            LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=rod)), loadVector=gravity)
        )
        ends = [mbs.AddMarker(MarkerBodyPosition(bodyNumber=rod, localPosition=[x, 0, 0])) for x in (-0.5, 0.5)]
        return node, *ends

    def join(first: int, second: int) -> None:
        mbs.AddObject(RevoluteJoint2D(markerNumbers=[first, second]))

    ground = mbs.AddObject(ObjectGround())
    cranks = [body([k, 0.5, np.pi / 2], [SPEED / 2, 0, -SPEED]) for k in range(windows + 1)]
    couplers = [body([k + 0.5, 1.0, 0.0], [SPEED, 0, 0]) for k in range(windows)]
    for k, (_, foot, _) in enumerate(cranks):
        join(mbs.AddMarker(MarkerBodyRigid(bodyNumber=ground, localPosition=[k, 0, 0])), foot)
    for k, (_, left, right) in enumerate(couplers):
        join(cranks[k][2], left)
        join(right, cranks[k + 1][2])
    mbs.Assemble()

    def at(step: float) -> Task:
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(problem.duration / step)
        settings.timeIntegration.endTime = problem.duration
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = problem.duration
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
        settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
        settings.timeIntegration.newton.useModifiedNewton = True
        if windows > SPARSE:
            settings.linearSolverType = exu.LinearSolverType.EigenSparse

        def run() -> Any:
            try:
                mbs.SolveDynamic(settings)
            except ValueError as error:
                return str(error)
            return [mbs.GetNodeOutput(cranks[k][0], exu.OutputVariableType.Coordinates)[2] for k in (0, windows)]

        def observe(given: Any) -> np.ndarray:
            if isinstance(given, str):
                raise Gone("Newton does not converge")
            return of_angles(*(np.pi / 2 + angle for angle in given))

        return Task(run, observe)

    return at


JOINTS = "joints and connectors between bodies only; a user function for this constraint would be Python at every step"
PEER = Peer(
    name="Exudyn",
    package="exudyn",
    models={"four-bar": four_bar},
    cannot={
        "penny": JOINTS,
        "appell-hamel": JOINTS,
        "pendulum": "second-order fixed steps: not measured here, see four-bar",
        "double-pendulum": "second-order fixed steps: not measured here, see four-bar",
        "andrews": "can be expressed as bodies and joints; not measured",
        "chain": "accelerations are not offered apart from a step",
    },
    settings={"four-bar 40": (1e-2, 3e-3, 1e-3), "four-bar": (1e-2, 3e-3, 1e-3, 3e-4)},
    setting_name="step",
)
