"""MuJoCo: joint angles, loops as equality constraints (soft by design), RK4 with fixed steps; mj_forward for chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from problems import Problem
from problems.double_pendulum import ANGLES, RATES
from problems.four_bar import energy

from . import linkage
from .base import Gone, Peer, Task

ROD = '<inertial pos="{0}" mass="1" diaginertia="{1}"/>'
# A rod along x: thin, not without inertia about its own axis, which no motion here excites.
ALONG_X = ROD.format("0.5 0 0", "1e-6 0.083333333333333333 0.083333333333333333")
ALONG_Z = ROD.format("0 0 -0.5", "0.083333333333333333 0.083333333333333333 1e-6")
HINGE = '<joint type="hinge" axis="0 -1 0"/>'


def four_bar(problem: Problem) -> Callable[[float], Task]:
    windows = problem.data["windows"]
    bodies, loops = [], []
    for k in range(windows + 1):
        coupler = f'<body name="l{k}" pos="1 0 0">{HINGE}{ALONG_X}</body>' if k < windows else ""
        bodies.append(f'<body name="c{k}" pos="{k} 0 0">{HINGE}{ALONG_X}{coupler}</body>')
        if k < windows:
            loops.append(f'<connect body1="l{k}" body2="c{k + 1}" anchor="1 0 0"/>')
    text = (
        '<mujoco><compiler angle="radian"/>'
        '<option integrator="RK4" gravity="0 0 -9.81" iterations="100" tolerance="1e-14">'
        '<flag energy="enable" contact="disable"/></option>'
        f"<worldbody>{''.join(bodies)}</worldbody><equality>{''.join(loops)}</equality></mujoco>"
    )
    q, v = linkage.start(windows)
    before = energy(windows, np.pi / 2, -1.0)

    def note(data: Any) -> str:
        # MuJoCo measures heights from the ground as we do.
        gain = float(data.energy.sum()) - before
        return f"energy {gain:+.2g} J of {before:.3g} J"

    # The stiffest constraint its documentation allows: a time constant of two steps.
    return _stepping(problem, text, q, v, lambda data: linkage.observe(data.qpos), note, stiff=True)


def double_pendulum(problem: Problem) -> Callable[[float], Task]:
    """Two hinges for each rod, about x and then y; the masses nearly points."""
    point = '<inertial pos="0 0 -1" mass="1" diaginertia="1e-12 1e-12 1e-12"/>'
    hinges = '<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'

    def body(place: str, turns: str, inner: str) -> str:
        return f'<body pos="{place}">{turns}{inner}</body>'

    text = (
        '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
        '<option integrator="RK4" gravity="0 0 -9.81"/>'
        f"<worldbody>{body('0 0 0', hinges, point + body('0 0 -1', hinges, point))}</worldbody></mujoco>"
    )
    q, v = relative_angles()

    def observe(data: Any) -> np.ndarray:
        return np.concatenate([data.xipos[1], data.xipos[2]])

    return _stepping(problem, text, q, v, observe, lambda data: "", stiff=False)


def relative_angles() -> tuple[np.ndarray, np.ndarray]:
    """Angles of each rod about x and y in the frame of the body before it, and their rates, from the absolute ones."""
    h = 1e-30

    def turn(a: complex, b: complex) -> np.ndarray:
        ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
        return np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]]) @ np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])

    a1, b1, a2, b2 = (complex(x, h * r) for x, r in zip(ANGLES, RATES, strict=True))
    down = np.array([0, 0, -1.0])
    direction = turn(a1, b1).T @ turn(a2, b2) @ down
    # turn(a, b) down = (−sin b, sin a cos b, −cos a cos b)
    b = np.arcsin(-direction[0])
    a = np.arctan(direction[1] / -direction[2])
    angles = np.array([a1, b1, a, b])
    return angles.real, angles.imag / h


def _stepping(
    problem: Problem,
    text: str,
    q: np.ndarray,
    v: np.ndarray,
    observe: Callable[[Any], np.ndarray],
    note: Callable[[Any], str],
    *,
    stiff: bool,
) -> Callable[[float], Task]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)

    def at(step: float) -> Task:
        count = round(problem.duration / step)
        exact = problem.duration / count

        def run() -> Any:
            model.opt.timestep = exact
            if stiff:
                model.eq_solref[:] = [2 * exact, 1.0]
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = q, v
            mujoco.mj_step(model, data, count)
            mujoco.mj_forward(model, data)
            return data

        def see(given: Any) -> np.ndarray:
            if not np.isfinite(given.qpos).all() or abs(given.time - problem.duration) > step / 2:
                raise Gone("diverges and is reset")
            return observe(given)

        return Task(run, see, note)

    return at


def chain(problem: Problem) -> Callable[[float], Task]:
    links = problem.data["links"]
    text = ""
    for k in reversed(range(links)):
        text = f'<body pos="0 0 {0 if k == 0 else -1}">{HINGE}{ALONG_Z}{text}</body>'
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"><flag contact="disable"/></option>'
        f"<worldbody>{text}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = linkage.relative_chain(links)

    def run() -> Any:
        mujoco.mj_forward(model, data)
        return data

    return lambda _: Task(run, lambda given: np.cumsum(given.qacc))


STEPS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
PEER = Peer(
    name="MuJoCo",
    package="mujoco",
    models={"four-bar": four_bar, "chain": chain, "double-pendulum": double_pendulum},
    cannot={
        "penny": "no nonholonomic constraint: rolling exists only as contact with friction, which creeps",
        "pendulum": "no Cartesian particle on a constraint: only the hinge, which is another problem",
        "andrews": "loops are soft, with a time constant of at least two steps: see four-bar; not measured",
        "appell-hamel": "no constraint nonlinear in the velocities",
    },
    settings={
        "four-bar 40": (1e-2, 3e-3, 1e-3),
        "four-bar": STEPS,
        "double-pendulum": (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4),
    },
    setting_name="step",
)
