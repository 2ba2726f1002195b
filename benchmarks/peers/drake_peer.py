"""Drake: MultibodyPlant in continuous time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from problems import Problem
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from . import linkage
from .base import Peer, Task
from .mujoco_peer import relative_angles

GRAVITY = np.array([0.0, 0.0, -9.81])


def chain(problem: Problem) -> Callable[[float], Task]:
    links = problem.data["links"]
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    centre = np.array([0, 0, -0.5])
    rod = SpatialInertia(1.0, centre, UnitInertia(1 / 12 + 1 / 4, 1 / 12 + 1 / 4, 1e-6))
    before, place = plant.world_body(), RigidTransform()
    for k in range(links):
        body = plant.AddRigidBody(f"link{k}", rod)
        joint = RevoluteJoint(
            f"j{k}",
            _frame(plant, before, place, k),
            body.body_frame(),
            np.array([0, -1.0, 0]),
        )
        plant.AddJoint(joint)
        before, place = body, RigidTransform([0, 0, -1.0])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    state = np.concatenate(linkage.relative_chain(links))
    derivatives = plant.AllocateTimeDerivatives()

    def run() -> Any:
        plant.SetPositionsAndVelocities(context, state)  # so that nothing is taken from the cache
        plant.CalcTimeDerivatives(context, derivatives)
        return derivatives

    return lambda _: Task(run, lambda given: np.cumsum(given.CopyToVector()[links:]), lambda given: "ABA")


def double_pendulum(problem: Problem) -> Callable[[float], Task]:
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    before, place, ends = plant.world_body(), RigidTransform(), []
    nothing = SpatialInertia(0.0, np.zeros(3), UnitInertia(0, 0, 0))
    for k in range(2):
        between = plant.AddRigidBody(f"hinge{k}", nothing)
        mass = plant.AddRigidBody(f"mass{k}", SpatialInertia(1.0, np.array([0, 0, -1.0]), UnitInertia(1.0, 1.0, 0.0)))
        plant.AddJoint(
            RevoluteJoint(f"x{k}", _frame(plant, before, place, k), between.body_frame(), np.array([1.0, 0, 0]))
        )
        plant.AddJoint(RevoluteJoint(f"y{k}", between.body_frame(), mass.body_frame(), np.array([0, 1.0, 0])))
        before, place = mass, RigidTransform([0, 0, -1.0])
        ends.append(mass)
    plant.Finalize()
    start = np.concatenate(relative_angles())

    def at(accuracy: float) -> Task:
        simulator = Simulator(plant)
        ResetIntegratorFromFlags(simulator, "runge_kutta3", 0.1)
        simulator.get_mutable_integrator().set_target_accuracy(accuracy)

        def run() -> Any:
            context = simulator.get_mutable_context()
            context.SetTime(0.0)
            plant.SetPositionsAndVelocities(context, start)
            simulator.Initialize()
            simulator.AdvanceTo(problem.duration)
            return context

        def observe(context: Any) -> np.ndarray:
            poses = [plant.EvalBodyPoseInWorld(context, body) for body in ends]
            return np.concatenate([pose.multiply(np.array([0, 0, -1.0])) for pose in poses])

        return Task(run, observe, lambda context: "RK3")

    return at


def _frame(plant: Any, body: Any, place: Any, k: int) -> Any:
    return plant.AddFrame(FixedOffsetFrame(f"on{k}_{body.name()}", body, place))


PEER = Peer(
    name="Drake",
    package="drake",
    models={"chain": chain, "double-pendulum": double_pendulum},
    cannot={
        "penny": "no nonholonomic constraint",
        "pendulum": "no Cartesian particle on a constraint: only the hinge, which is another problem",
        "andrews": "loops exist only in discrete time (SAP), of first order",
        "four-bar": "loops exist only in discrete time (SAP), of first order",
        "appell-hamel": "no constraint nonlinear in the velocities",
    },
    settings={"double-pendulum": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)},
    setting_name="accuracy",
)
