"""`Motion`: the numbers of a motion in time, the forces that make it, and its certificate. A frozen value."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.motion.result import summary
from dalembert.motion.result.certificate import Certificate
from dalembert.motion.state.contact_history import ContactHistory
from dalembert.results import Table, item_named

if TYPE_CHECKING:
    import pandas as pd
    import sympy as sp
    import xarray as xr
    from matplotlib.figure import Figure

    from dalembert.model.system import System
    from dalembert.motion.contacts.impacts.impacts import Impact
    from dalembert.motion.result.trace import Trace
    from dalembert.study.vakonomic import VakonomicMotion
    from dalembert.view.animate.inline import InlinePage
    from dalembert.view.figures import Given

VECTORS = ("q", "v", "a", "impressed", "inertial", "ideal", "nonideal")
WORKS = ("impressed", "ideal", "nonideal")
# What the output points have besides states, and all that may be computed when asked for.
AT_POINTS = ("a", "impressed", "inertial", "ideal", "nonideal", "multipliers", "rank", "energy")
COMPUTED = frozenset((*AT_POINTS, "warnings", "certificate"))


@dataclass(frozen=True)
class Timing:
    """Seconds spent, and how often the equations were evaluated. forces_s: on all that belongs to the output points,
    and certify_s on the certificate, zero as long as nobody has asked for them.

    kernel: "compiled" for code of this model, "tape" for its instructions as data; empty on the reference backend.
    """

    derive_s: float = 0.0
    compile_s: float = 0.0
    integrate_s: float = 0.0
    steps: int = 0
    evaluations: int = 0
    kernel: str = ""
    forces_s: float = 0.0
    certify_s: float = 0.0


class Later(Protocol):
    """What computes, when asked for, what a motion does not hold yet."""

    def part(self, motion: Motion, name: str) -> dict[str, Any]:
        """Values by name, the one asked for among them."""


def _none() -> Any:
    return None


@dataclass(frozen=True, eq=False)
class Motion(Table):
    """A motion at its output times.

    t: (T,). q, v, a and the forces impressed, inertial, ideal, nonideal: (T, n), with M a = impressed +
    inertial + ideal + nonideal. multipliers: (T, m). rank, energy: (T,). work: (T, 3), done since the start
    by nonpotential impressed forces (with explicit time dependence), by ideal and by nonideal constraint
    forces. heat: energy that friction has turned into heat since the start, (T,) for each name of a constraint (or
    several, "a + b") that laws of friction belong to: ∫ friction · sliding velocity, on a moving surface more or less
    than the system gave. impact_loss: (T,), lost in impacts so far. `motion["x"]`, `motion["x'"]`, `motion["x''"]`,
    `motion["ideal x"]`, `motion["multiplier rod"]`,
    `motion["energy"]`, `motion["work ideal"]`, `motion["heat plane"]`, `motion["impact loss"]` and
    the outputs of the system give columns by name;
    `motion["kinetic"]`, `["potential"]`, `["L"]`, `["H"]`, momenta `["p_x"]`, and the definitions of the system with
    their rates are computed when asked for, as are expressions, `evaluate`; `motion[["x", "y"]]` is (T, 2).

    events: what happened on the way, in order of time: {"name", "t", "state": {"x", "x'", …}, "direction"} for each
    passage of an event of the system, {"name": "rank change", "t", "from", "to"} where constraints became dependent
    or independent, {"name", "contact", "t", "state"} where a contact changed (names "stick", "slip", "reversal",
    "release", "impact", "contact"), with "impulse": {"normal", "friction"} where there was a blow. ended_by: the name
    of the event that ended the motion, whose time and state are the last point, or None.

    contacts: of a system with friction, what each contact did, by name. C (T, n) and acting (T, m): there, the forces
    of friction, and which constraints act (a one-sided one may be open); None elsewhere. blows: the impacts, each with
    its velocities before and after and its impulses. fastest (2n + 4): t, q, v and work where a step ended with the
    largest velocities, which outputs may miss; None where that is not known.

    Accelerations, forces, energy, rank, warnings and certificate of a computed motion are computed when first asked for
    (`motion.assemble`), and kept; `timing` then says what that took.
    """

    system: System
    t: Array
    q: Array
    v: Array
    a: Array
    impressed: Array
    inertial: Array
    ideal: Array
    nonideal: Array
    multipliers: Array
    rank: np.ndarray
    energy: Array
    work: Array
    rtol: float
    method: str
    backend: str
    events: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)
    timing: Timing = field(default_factory=Timing)
    ended_by: str | None = None
    heat: Mapping[str, Array] = field(default_factory=dict)
    impact_loss: Array = field(default_factory=lambda: np.zeros(0))
    C: Array | None = None
    acting: np.ndarray | None = None
    contacts: Mapping[str, ContactHistory] = field(default_factory=dict)
    blows: tuple[Impact, ...] = ()
    fastest: Array | None = None
    certificate: Certificate = field(default_factory=_none)  # measured on the finished arrays, see `certified`

    if not TYPE_CHECKING:  # type checkers know the fields

        def __getattr__(self, name: str) -> Any:
            """Called for what is not there: parts that are computed when first asked for."""
            held = self.__dict__
            later = held.get("_later")  # another thread may take it away at any time
            if name not in COMPUTED or later is None:
                if name in held:  # by another thread, just now
                    return held[name]
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            held.update(later.part(self, name))
            if held.keys() >= COMPUTED:
                held.pop("_later", None)
            return held[name]

    def __getstate__(self) -> dict[str, Any]:
        """All of it, computed: what is pickled or copied stands for itself."""
        for name in COMPUTED:
            getattr(self, name)
        return {key: value for key, value in vars(self).items() if key != "_later"}

    def text(self) -> str:
        """The last state with its forces, the balance of energy, events, warnings, and the certificate."""
        return summary.text_of(self)

    def headline(self) -> str:
        return summary.headline_of(self)

    def to_dict(self) -> dict[str, Any]:
        """What `dalembert run --json` prints: the ends, the balance, the certificate, in plain values. All points are
        in `columns()`, `to_xarray()` and `to_dataframe()`.
        """
        return summary.values_of(self)

    def certified(self) -> Motion:
        """The same motion with its certificate measured anew."""
        from dalembert.motion.certificate.certify import certify

        return replace(self, certificate=certify(self))

    def columns(self) -> dict[str, Array]:
        """Every named column: coordinates, velocities, accelerations, forces, multipliers, energy, work."""
        names = [coordinate.name for coordinate in self.system.coordinates]
        found, blows, outputs = {"t": self.t}, self.can_lose_by_impacts, self.outputs
        for marks, values in (("", self.q), ("'", self.v), ("''", self.a)):
            found |= {name + marks: values[:, k] for k, name in enumerate(names)}
        for kind in VECTORS[3:]:
            found |= {f"{kind} {name}": getattr(self, kind)[:, k] for k, name in enumerate(names)}
        found |= {f"multiplier {c.name}": self.multipliers[:, k] for k, c in enumerate(self.system.constraints)}
        found["energy"] = self.energy
        found |= {f"work {kind}": self.work[:, k] for k, kind in enumerate(WORKS)}
        found |= {f"heat {name}": heat for name, heat in self.heat.items()}
        if blows:
            found["impact loss"] = self.impact_loss
        for name, contact in self.contacts.items():
            found |= {f"normal {name}": contact.normal, f"friction {name}": contact.friction}
        return found | outputs

    def __getitem__(self, key: str | sp.Symbol | Sequence[str | sp.Symbol]) -> Array:
        if isinstance(key, (list, tuple)):
            return np.stack([self[item] for item in key], axis=1) if key else np.zeros((self.t.size, 0))
        name = _name_of(key)
        known = self._of_coordinate(name)
        if known is not None:
            return known
        columns = self.columns()
        if name in columns:
            return columns[name]
        from dalembert.motion.result.energies import energy_along, energy_names
        from dalembert.motion.result.evaluate import definition_names

        defined = definition_names(self.system.as_written)  # no columns, but they have names, as energies and momenta
        if name in defined:
            return self.evaluate(name)
        computed = energy_names(self.system.as_written)
        return (
            energy_along(self, name) if name in computed else item_named(columns, name, "column", [*computed, *defined])
        )

    def _of_coordinate(self, name: str) -> Array | None:
        """A column that belongs to a coordinate, without those of all others: there may be very many."""
        kind, space, of = name.rpartition(" ")
        base = of.rstrip("'")
        order = len(of) - len(base)
        k = self._coordinate_numbers.get(base)
        if k is None or order > 2 or (space and (kind not in VECTORS[3:] or order)):
            return None
        return np.asarray(getattr(self, kind or VECTORS[order]))[:, k]

    @cached_property
    def _coordinate_numbers(self) -> dict[str, int]:
        return {coordinate.name: k for k, coordinate in enumerate(self.system.coordinates)}

    def __call__(self, t: ArrayLike) -> dict[str, Any]:
        """The state at any time within the motion, {"t", "x", "x'", …}, as `system.at` and `replace(initial=…)` take
        it; at several times arrays. It is as exact as the motion at its outputs: rtol of the size that each coordinate
        and velocity has along it. Where interpolation between outputs does not reach that, the motion is integrated
        from the output before (`motion.result.between_outputs`).

        >>> import dalembert as da
        >>> swing = da.library.pendulum().simulate(2.0, samples=5)
        >>> finer = da.library.pendulum().simulate(2.0, samples=41)
        >>> bool(abs(swing(0.95)["x"] - finer["x"][19]) < 1e-8)
        True
        """
        from dalembert.motion.result.between_outputs import state_columns_at

        return state_columns_at(self, t)

    def evaluate(self, expression: Any) -> Array:
        """An expression at the output points, (T,): text in the document language or SymPy's, in coordinates and their
        derivatives, definitions and theirs, t, parameters, `ideal(x)` and `multiplier(constraint)`.

        >>> import dalembert as da
        >>> swing = da.library.pendulum().simulate(1.0, samples=3)
        >>> swing.evaluate("sqrt(x^2 + y^2)/l").round(9)
        array([1., 1., 1.])
        """
        from dalembert.motion.result.evaluate import evaluate

        return evaluate(self, expression)

    @property
    def ledger(self) -> dict[str, Any]:
        """The energy at the start and at the end, and what changed it in between: end − start = the sum of the works.

        Heat and what impacts lose are no further terms: they say what became of energy that friction and impacts took.
        """
        return summary.ledger_of(self)

    @cached_property
    def outputs(self) -> dict[str, Array]:
        """The named outputs of the system, each (T,)."""
        from dalembert.motion.state.outputs import outputs_of

        return outputs_of(self.system, self.t, self.q, self.v, self.a, self.ideal, self.multipliers)

    @cached_property
    def _free(self) -> tuple[Array, Array]:
        from dalembert.motion.result.free_motion import free_along

        return free_along(self)

    @property
    def unconstrained(self) -> Array:
        """a = M⁻¹Q at every point: the acceleration if there were no constraints; NaN where M is singular."""
        return self._free[0]

    @property
    def constraint_force(self) -> Array:
        """F^c = M a − Q at every point: ideal + nonideal."""
        return self.ideal + self.nonideal

    @property
    def e(self) -> Array:
        """b − A a at every point, (T, m): the extent to which the free motion misses each constraint."""
        return self._free[1]

    @property
    def can_lose_by_impacts(self) -> bool:
        return any(constraint.one_sided for constraint in self.system.constraints)

    @property
    def final(self) -> dict[str, float]:
        """Time and state at the end."""
        names = [coordinate.name for coordinate in self.system.coordinates]
        state = dict(zip(names, map(float, self.q[-1]), strict=True))
        rates = {name + "'": float(x) for name, x in zip(names, self.v[-1], strict=True)}
        return {"t": float(self.t[-1]), **state, **rates}

    # -- other forms

    def to_xarray(self) -> xr.Dataset:
        """The motion as a labelled dataset with dimensions time, coordinate, constraint, source."""
        from dalembert.motion.result.dataset import dataset_of

        return dataset_of(self)

    def to_dataframe(self) -> pd.DataFrame:
        """The motion as a table with one row per output time and every named column."""
        import pandas as pd

        from dalembert.motion.result.units import units_by_column

        table = pd.DataFrame(self.columns()).set_index("t")
        table.attrs["units"] = units_by_column(self)
        return table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the motion: `.nc` (NetCDF, complete, can be loaded again, with units) or `.csv` (the named columns)."""
        target = Path(path)
        if target.suffix == ".csv":
            write_atomically(target, self._csv().encode("utf-8"))
        elif target.suffix == ".nc":
            write_atomically(target, bytes(self.to_xarray().to_netcdf(engine="scipy")))
        else:
            raise OutputError(
                f"{target}: a motion is saved as .nc or .csv, not {target.suffix or 'without a suffix'!r}"
            )

    def _csv(self) -> str:
        """The named columns as text. Written here because pandas would take longer to import than a whole
        run.
        """
        columns = self.columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(np.column_stack(list(columns.values())).tolist())
        return text.getvalue()

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Motion:
        """Read a motion written by `save` as `.nc`."""
        from dalembert.motion.result.dataset import read_motion

        return read_motion(path)

    def curvature(self) -> Array:
        """Hertz's curvature (T,): of the path of the whole configuration in the metric of the masses, ds² = q̇ᵀM q̇ dt²;
        NaN where it is at rest. That of the curve which a point draws is `trace("x", "y").curvature`.
        """
        from dalembert.study.curvature import curvature

        return curvature(self)

    def trace(self, *coordinates: str | sp.Symbol) -> Trace:
        """The curve of a point by its two or three Cartesian coordinates: distance, speed, curvature, radius.

        Between outputs it is interpolated; where there are impacts, ask for enough samples.
        """
        from dalembert.motion.result.trace import trace

        return trace(self, coordinates)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        panels: str | Sequence[str] | None = None,
        axes: Given = None,
        style: str = "light",
        interactive: bool = False,
        free: bool = False,
        outputs: bool = False,
    ) -> Figure:
        """A picture of the motion, written to `path` (png, pdf, svg) where that is given.

        panels: by name, of "paths", "coordinates", "velocities", "phase", "forces", "multipliers", "energy",
        "contacts", "outputs", "certificate", "section", "extent", "deviation"; some take names, "forces x". Without
        them paths, coordinates, forces, energy and contacts, of what has something to show. free: also "extent", how
        far the free motion misses the constraints, and "deviation", what they make of it; outputs: those of the system.
        axes: one for each panel, to draw into. style: "light" or "dark". interactive: by Plotly, for a browser; `path`
        is a page then (html).

        >>> import dalembert as da
        >>> swing = da.library.pendulum().simulate(1.0, samples=21)
        >>> [axes.get_title(loc="left") for axes in swing.plot(panels=["phase x", "energy balance"]).axes]
        ['phase portrait', 'energy']
        """
        from dalembert.view.plots.motion import plot

        return plot(
            self, path, panels=panels, axes=axes, style=style, interactive=interactive, free=free, outputs=outputs
        )  # fmt: skip

    def report(self, path: str | os.PathLike[str], *, seconds: float | None = None) -> None:
        """Write all there is to know about the motion as one page for browsers, which loads nothing and prints well:
        model, drawing, classification, equations, forces, plots, formulations compared, equilibria, certificate.

        seconds: what the parts that are derived may take, each, of the processor's time; 10 unless given. Those that
        take longer are left out, and the report says so.
        """
        from dalembert.view.report.write import write_report

        write_report(self, path, seconds=seconds)

    def animate(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fps: float = 30.0,
        speed: float = 1.0,
        style: Mapping[str, Any] | str | None = None,
        forces: bool = True,
        beside: Motion | VakonomicMotion | Iterable[Motion | VakonomicMotion] = (),
        ghost: Motion | VakonomicMotion | None = None,
        progress: bool | None = None,
    ) -> Path | InlinePage:
        """Write the motion as `.gif`, `.mp4` or `.html`, as `system.draw` shows it; returns the file. Without one, a
        notebook shows it in the place of the result.

        fps: frames for each second of showing, in which `speed` seconds of the motion pass: 1 is real time. style:
        "light" or "dark", or {"theme", "width", "height", "azimuth", "elevation"}, sizes in pixels, angles in degrees.
        forces: with arrows for impressed, ideal and nonideal forces, all in one scale, and cones of friction. beside:
        other motions, each next to the one before. ghost: a motion, or a vakonomic path, drawn faintly over this one.
        progress: a bar; by default on terminals only.
        """
        from dalembert.view.animate.animate import animate

        return animate(
            self, path, fps=fps, speed=speed, style=style, forces=forces, beside=beside, ghost=ghost, progress=progress
        )


def _name_of(key: str | sp.Symbol) -> str:
    if isinstance(key, str):
        return key
    from dalembert.model.language.symbols import name_of  # needs SymPy, which has made the symbol

    return name_of(key)
