"""Particles in a constant field whose total kinetic energy is held fixed: Gauss's thermostat."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Sphere, Trace
from dalembert.model.system import System

PARTICLE_OF = {"x1": "1", "y1": "1", "x2": "2", "y2": "2"}


DRAWING = [
    *(Arrow((0, y), ("2*field", 0), color="grey", label="field" if y == 5 else "") for y in (-1, 2, 5)),
    Trace(("x1", "y1"), color="red", opacity=0.6),
    Trace(("x2", "y2"), color="blue", opacity=0.6),
    Sphere(("x1", "y1"), 0.25, color="red", label="1"),
    Sphere(("x2", "y2"), 0.25, color="blue", label="2"),
]


def isokinetic(
    *,
    m1: float = 1.0,
    m2: float = 2.0,
    c1: float = 1.0,
    c2: float = -0.5,
    field: float = 1.0,
    K: float = 1.5,
    share: float = 0.7,
    heading1: float = 2.5,
    heading2: float = 1.0,
) -> System:
    """Two charges c1, c2 in a field along x, with m₁v₁²/2 + m₂v₂²/2 = K: a quadratic velocity constraint.

    At the start the first particle has K cos²(share) of the energy; the headings are the directions of the
    two velocities.
    """
    speeds = {"1": "sqrt(2*K/m1)*cos(share)", "2": "sqrt(2*K/m2)*sin(share)"}
    return System(
        "isokinetic particles",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        forces={"x1": "c1*field", "x2": "c2*field"},
        constraints={"thermostat": "m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2 - K"},
        parameters={
            "m1": m1,
            "m2": m2,
            "c1": c1,
            "c2": c2,
            "field": field,
            "K": K,
            "share": share,
            "heading1": heading1,
            "heading2": heading2,
        },
        initial={
            "x1": 0,
            "y1": 0,
            "x2": 0,
            "y2": 1,
            **{f"x{n}'": f"{speed}*cos(heading{n})" for n, speed in speeds.items()},
            **{f"y{n}'": f"{speed}*sin(heading{n})" for n, speed in speeds.items()},
        },
        settings={"duration": 10.0, "samples": 201},
        draw=DRAWING,
        description=(
            "Two charged particles in a field share a fixed kinetic energy. Gauss's principle finds the "
            "gentlest force that does this, a friction of either sign: the thermostat of molecular "
            "dynamics."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The closed form in mass-weighted velocities w = √m v, f = F/√m, for a field that is not zero:

    ẇ = f + λw with λ = −f·w/(2K). Let c be the cosine of the initial angle between w and f, s = |f|t/√(2K)
    and D = cosh s + c sinh s. The part of w along f is √(2K)(sinh s + c cosh s)/D, the part across w⊥(0)/D.
    """
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    names = list(PARTICLE_OF)
    root = np.sqrt([known[f"m{PARTICLE_OF[q]}"] for q in names])
    pull = {"x1": known["c1"] * known["field"], "x2": known["c2"] * known["field"]}
    f = np.array([pull.get(q, 0.0) for q in names]) / root
    size, radius = np.linalg.norm(f), np.sqrt(2 * known["K"])
    w0 = root * np.array([known[f"{q}'"] for q in names])
    along = f / size
    c = along @ w0 / radius
    across = w0 - radius * c * along
    s = size * elapsed / radius
    d = np.cosh(s) + c * np.sinh(s)
    cosine = (np.sinh(s) + c * np.cosh(s)) / d
    # the integrals over s of (sinh s + c cosh s)/D and of 1/D
    advance = np.log(d)
    steep, gentle = np.sqrt(1 + c), np.sqrt(1 - c)
    swept = 2 * (np.arctan2(steep * np.exp(s), gentle) - np.arctan2(steep, gentle))
    if steep * gentle > 0:  # otherwise everything moves along the field and the part across is zero
        swept = swept / (steep * gentle)
    w = radius * np.multiply.outer(cosine, along) + np.multiply.outer(1 / d, across)
    moved = radius / size * (radius * np.multiply.outer(advance, along) + np.multiply.outer(swept, across))
    multiplier = -size / radius * cosine
    found = {"multiplier thermostat": multiplier}
    for i, q in enumerate(names):
        found[q] = known[q] + moved[..., i] / root[i]
        found[f"{q}'"] = w[..., i] / root[i]
        found[f"ideal {q}"] = multiplier * root[i] * w[..., i]
    return found
