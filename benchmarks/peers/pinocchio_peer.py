"""Pinocchio: ABA for trees, constraintDynamics (proximal, with Baumgarte's correction) for loops, RK4 around them.

Pinocchio integrates no motion itself; the loop here is Python, its cost per evaluation a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from problems import Problem

from . import linkage
from .base import Gone, Peer, Task
from .mujoco_peer import relative_angles

# A rod about its centre; thin, but not without inertia about its own axis.
ROD_X = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([1e-6, 1 / 12, 1 / 12]))
ROD_Z = pin.Inertia(1.0, np.array([0, 0, -0.5]), np.diag([1 / 12, 1 / 12, 1e-6]))
POINT = pin.Inertia(1.0, np.array([0, 0, -1.0]), np.zeros((3, 3)))
# Positive from x towards z, as in linkage.
TURN = pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0]))


def at_point(x: float, y: float, z: float) -> Any:
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def four_bar(problem: Problem) -> Callable[[float], Task]:
    windows = problem.data["windows"]
    model = pin.Model()
    cranks, couplers = [], []
    for k in range(windows + 1):
        crank = model.addJoint(0, TURN, at_point(k, 0, 0), f"c{k}")
        model.appendBodyToJoint(crank, ROD_X, pin.SE3.Identity())
        cranks.append(crank)
        if k < windows:
            coupler = model.addJoint(crank, TURN, at_point(1, 0, 0), f"l{k}")
            model.appendBodyToJoint(coupler, ROD_X, pin.SE3.Identity())
            couplers.append(coupler)
    tip = at_point(1, 0, 0)
    loops = pin.StdVec_RigidConstraintModel()
    for k, coupler in enumerate(couplers):
        loop = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, coupler, tip, cranks[k + 1], tip, pin.ReferenceFrame.LOCAL
        )
        loops.append(loop)
    data = model.createData()
    q0, v0 = linkage.start(windows)
    zero = np.zeros(model.nv)
    # The accuracy at which the proximal iteration stops, its regularisation, and its length.
    proximal = pin.ProximalSettings(1e-12, 1e-9, 20)

    def at(step: float) -> Task:
        # Critically damped within ten steps: faster correction makes RK4 unstable, slower lets the loops drift.
        rate = 0.1 / step
        parts = pin.StdVec_RigidConstraintData()
        for loop in loops:
            parts.append(loop.createData())
        pin.initConstraintDynamics(model, data, loops, parts)

        def run() -> Any:
            for loop in loops:
                loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(rate**2, 2 * rate))
            return rk4(
                lambda q, v: pin.constraintDynamics(model, data, q, v, zero, loops, parts, proximal),
                problem,
                step,
                q0,
                v0,
            )

        return Task(run, lambda q: linkage.observe(_whole(q)))

    return at


def double_pendulum(problem: Problem) -> Callable[[float], Task]:
    model = pin.Model()
    before, place = 0, at_point(0, 0, 0)
    ends = []
    for name in "ab":
        first = model.addJoint(before, pin.JointModelRX(), place, f"{name}x")
        before = model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"{name}y")
        model.appendBodyToJoint(before, POINT, pin.SE3.Identity())
        ends.append(before)
        place = at_point(0, 0, -1)
    data = model.createData()
    q0, v0 = relative_angles()
    zero = np.zeros(model.nv)

    def at(step: float) -> Task:
        def observe(q: np.ndarray) -> np.ndarray:
            pin.forwardKinematics(model, data, _whole(q))
            return np.concatenate([data.oMi[joint].act(np.array([0, 0, -1.0])) for joint in ends])

        return Task(lambda: rk4(lambda q, v: pin.aba(model, data, q, v, zero), problem, step, q0, v0), observe)

    return at


def rk4(
    f: Callable[[np.ndarray, np.ndarray], np.ndarray], problem: Problem, h: float, q: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """The classical Runge–Kutta method with a fixed step."""
    count = round(problem.duration / h)
    h = problem.duration / count
    for _ in range(count):
        a1 = f(q, v).copy()
        v2 = v + h / 2 * a1
        a2 = f(q + h / 2 * v, v2).copy()
        v3 = v + h / 2 * a2
        a3 = f(q + h / 2 * v2, v3).copy()
        v4 = v + h * a3
        a4 = f(q + h * v3, v4)
        q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if not abs(v[0]) < 1e6:
            return np.full_like(q, np.nan)
    return q


def _whole(q: np.ndarray) -> np.ndarray:
    if not np.isfinite(q).all():
        raise Gone("diverges")
    return q


def chain(problem: Problem) -> Callable[[float], Task]:
    links = problem.data["links"]
    model = pin.Model()
    joint = 0
    for k in range(links):
        joint = model.addJoint(joint, TURN, at_point(0, 0, 0 if k == 0 else -1), f"j{k}")
        model.appendBodyToJoint(joint, ROD_Z, pin.SE3.Identity())
    data = model.createData()
    q, v = linkage.relative_chain(links)
    zero = np.zeros(model.nv)
    return lambda _: Task(lambda: pin.aba(model, data, q, v, zero), np.cumsum, lambda given: "ABA")


PEER = Peer(
    name="Pinocchio",
    package="pin",
    models={"four-bar": four_bar, "chain": chain, "double-pendulum": double_pendulum},
    cannot={
        "penny": "constraints join frames; none is nonholonomic",
        "pendulum": "no Cartesian particle on a constraint: only the hinge, which is another problem",
        "andrews": "can be expressed as bodies and loops; not measured",
        "appell-hamel": "no constraint nonlinear in the velocities",
    },
    settings={
        "four-bar 40": (1e-2, 5e-3, 3e-3),
        "four-bar": (1e-2, 3e-3, 1e-3),
        "double-pendulum": (1e-2, 5e-3, 2e-3, 1e-3),
    },
    setting_name="step",
)
