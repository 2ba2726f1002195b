"""`Ensemble`: what a sweep gave, as one xarray Dataset with named dimensions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.ensemble.ask.values import label_of
from dalembert.ensemble.members.outcome import MEANING, Status
from dalembert.ensemble.result.pieces import pieces
from dalembert.errors import DocumentError, counted
from dalembert.results import Result, item_named, plain_values

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from dalembert.model.system import System

# Reasons that the text shows, and the length of each.
MOST_REASONS, REASON_LENGTH = 5, 100
# Variables that the text leaves to `status` and `steps`.
PLAIN = ("status", "reason", "steps", "alone", "in lanes", "on cpu", "ended by")


@dataclass(frozen=True, eq=False)
class Ensemble(Result):
    """The members of a sweep. `data` has one dimension for each value that was varied, and `time` where output times
    were kept; its variables are `status` and `reason` of each member, `final.NAME` (where it ended), `samples.NAME`,
    the observables and reductions by their names, of each event `NAME: count` and `NAME: time`, `steps`, `alone` (it
    was run one by one), `in lanes` (side by side with others), `on cpu` (a GPU was asked for, and did not run it) and
    `certificate.NAME`.

    about: what was asked for, as plain values. model: the system as a document, to look at members more closely.
    """

    data: xr.Dataset
    about: Mapping[str, Any]
    model: str

    # -- members

    @property
    def name(self) -> str:
        return str(self.about["name"])

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions of the members."""
        return tuple(map(str, self.data["status"].dims))

    @property
    def members(self) -> int:
        return int(self.data["status"].size)

    @property
    def seconds(self) -> float:
        return float(self.about["seconds"])

    @property
    def status(self) -> xr.DataArray:
        """What became of each member, as `Status`: 0 and 1 are good."""
        return self.data["status"]

    @property
    def reason(self) -> xr.DataArray:
        """Why members did not come to their end; empty for the others."""
        return self.data["reason"]

    @property
    def good(self) -> xr.DataArray:
        """Which members came to their end, by themselves or by an event."""
        return self.status <= int(Status.ENDED)

    @property
    def failed(self) -> int:
        """How many did not."""
        return sum(int((piece["status"].to_numpy() > Status.ENDED).sum()) for piece in self._pieces("status"))

    @property
    def run_alone(self) -> int:
        """How many members the compiled loop could not take; `about["why_alone"]` says why where that is all."""
        return sum(int(piece["alone"].to_numpy().sum()) for piece in self._pieces("alone"))

    @property
    def in_lanes(self) -> int:
        """How many members ran side by side in vector registers; `about["why_no_lanes"]` says why none did."""
        if "in lanes" not in self.data:
            return 0
        return sum(int(piece["in lanes"].to_numpy().sum()) for piece in self._pieces("in lanes"))

    @property
    def on_cpu(self) -> int:
        """How many members of a sweep on GPUs the processor ran; `about["why_cpu"]` says why where that is all."""
        return int(self.about.get("on cpu", 0))

    def failures(self) -> list[dict[str, Any]]:
        """Each member that failed: where it is along the dimensions, its status and its reason."""
        places = np.argwhere(~self.good.to_numpy())
        return [
            {
                "member": dict(zip(self.dims, map(int, place), strict=True)),
                "status": MEANING[Status(int(self.status.to_numpy()[tuple(place)]))],
                "reason": str(self.reason.to_numpy()[tuple(place)]),
            }
            for place in places
        ]

    def system_of(self, member: Mapping[str, int] | int) -> System:
        """The system with the values of one member, to `simulate` it with forces and certificate. member: places along
        the dimensions, as in `failures()`, or its number.
        """
        from dalembert.model.documents.document import loads

        if not isinstance(member, Mapping):
            at = np.unravel_index(int(member), self.status.shape)
            member = dict(zip(self.dims, map(int, at), strict=True))
        if not self.model:
            raise DocumentError(self.name, ["this model has no form as a document: use replace on the system itself"])
        here = self.data.isel(member)
        system = loads(self.model)
        parameters: dict[str, float] = {}
        initial: dict[str, float] = {}
        for name in self.about["varied"]:
            is_initial = name in self.about["initial"]
            (initial if is_initial else parameters)[name] = float(here[label_of(name, is_initial)])
        fixed = self.about["fixed"]
        parameters |= {name: value for name, value in fixed.items() if name not in self.about["initial"]}
        initial |= {name: value for name, value in fixed.items() if name in self.about["initial"]}
        system, held = system.replace(parameters=parameters, initial=initial), self.about.get("held")
        return system if held is None else system.replace(initial=system.consistent(hold=held))

    # -- numbers

    @cached_property
    def final(self) -> xr.Dataset:
        """Where members ended: t, the coordinates and their velocities, by name."""
        return self._part("final.")

    @property
    def samples(self) -> xr.Dataset:
        """The states at the output times, kept by keep="samples"; NaN beyond the end of a member."""
        found = self._part("samples.")
        if not found.data_vars:
            raise KeyError("no states between start and end were kept: sweep with keep='samples'")
        return found

    @property
    def certificate(self) -> xr.Dataset:
        """Largest residuals of each member, position, velocity, energy; and whether these are as small as must be."""
        found = self._part("certificate.")
        if not found.data_vars:
            raise KeyError("members were not certified: sweep with certify=True")
        return found

    def _part(self, prefix: str) -> xr.Dataset:
        names = {
            str(name): str(name).removeprefix(prefix) for name in self.data.data_vars if str(name).startswith(prefix)
        }
        return self.data[list(names)].rename(names)

    def __getitem__(self, key: Any) -> xr.DataArray:
        """A variable or coordinate by its name; a coordinate of the model along its samples, or else where it ended."""
        known: dict[str, xr.DataArray] = {str(name): self.data[name] for name in self.data.variables}
        for prefix in ("samples.", "final."):
            short = {name.removeprefix(prefix): array for name, array in known.items() if name.startswith(prefix)}
            known = short | known  # what has the name itself comes first
        return item_named(known, key, "variable")

    # -- as a result

    def text(self) -> str:
        lengths = " × ".join(f"{name} {self.data.sizes[name]}" for name in self.dims) or "no dimension"
        failed = f", {self.failed} failed" if self.failed else ""
        lines = [f"{self.name}: {counted(self.members, 'member')} ({lengths}){failed}, {self.seconds:.3g} s"]
        for name in self._coordinates():
            values = self.data[name].to_numpy()
            lines.append(f"  {name} = {values.min():.6g} … {values.max():.6g}")
        lines += [f"  {text}: {count}" for text, count in self._states().items()]
        if self.run_alone:
            why = f", because {self.about['why_alone']}" if self.about["why_alone"] else ""
            lines.append(f"  run one by one: {self.run_alone}{why}")
        if self.in_lanes:
            lines.append(f"  side by side in lanes: {self.in_lanes}")
        if self.on_cpu:
            why = f", because {self.about['why_cpu']}" if self.about["why_cpu"] else ""
            lines.append(f"  run by the processor, not by a GPU: {self.on_cpu}{why}")
        for reason, count in self._reasons()[:MOST_REASONS]:
            lines.append(f"  {count} × {reason[:REASON_LENGTH]}{'…' if len(reason) > REASON_LENGTH else ''}")
        lines += [f"  {name}: {low:.6g} … {high:.6g}, mean {mean:.6g}" for name, (low, high, mean) in self._spans()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        found = {
            "name": self.name,
            "members": self.members,
            "failed": self.failed,
            "seconds": self.seconds,
            "dims": {name: self.data.sizes[name] for name in self.dims},
            "status": self._states(),
            "reasons": [{"reason": reason, "count": count} for reason, count in self._reasons()],
            "run_alone": self.run_alone,
            "in_lanes": self.in_lanes,
            "variables": {n: dict(zip(("min", "max", "mean"), span, strict=True)) for n, span in self._spans()},
            **{key: self.about[key] for key in ("on", "seed", "duration", "rtol", "method", "why_alone")},
            **{key: self.about[key] for key in ("precision", "on cpu", "why_cpu") if key in self.about},
        }
        return {key: plain_values(value) for key, value in found.items()}

    def _coordinates(self) -> list[str]:
        return [label_of(name, name in self.about["initial"]) for name in self.about["varied"]]

    def _states(self) -> dict[str, int]:
        counts = np.zeros(len(Status), dtype=int)
        for piece in self._pieces("status"):
            counts += np.bincount(piece["status"].to_numpy().ravel(), minlength=len(Status))
        return {MEANING[status]: int(counts[status]) for status in Status if counts[status]}

    def _reasons(self) -> list[tuple[str, int]]:
        """Reasons without the times and numbers in them, most frequent first."""
        found: Counter[str] = Counter()
        for piece in self._pieces("status", "reason"):
            texts = piece["reason"].to_numpy()[piece["status"].to_numpy() > int(Status.ENDED)]
            found.update(_kind(str(text)) for text in texts.ravel())
        return found.most_common()

    def _spans(self) -> list[tuple[str, tuple[float, float, float]]]:
        """Least, greatest and mean value of each variable over the good members."""
        found = []
        for name in self.about["variables"]:
            if name in PLAIN or name.startswith("samples.") or name == "final.t" or self.data[name].dtype.kind != "f":
                continue
            low, high, total, count = np.inf, -np.inf, 0.0, 0
            for piece in self._pieces(name, "status"):
                values = piece[name].where(piece["status"] <= int(Status.ENDED)).to_numpy()
                values = values[np.isfinite(values)]
                if values.size:
                    low, high = min(low, float(values.min())), max(high, float(values.max()))
                    total, count = total + float(values.mean()) * values.size, count + values.size
            if count:
                found.append((name, (low, high, total / count)))
        return found

    def _pieces(self, *names: str) -> Iterator[xr.Dataset]:
        """Some variables, so many members at a time: they may not fit into memory together."""
        return pieces(self.data[list(names)], self.dims)

    # -- pictures and files

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        of: Any = None,
        kind: str | None = None,
        axes: Any = None,
        style: str = "light",
    ) -> Figure:
        """Draw one variable over the members; write it to `path` (png, pdf, svg) where that is given.

        of: its name; the first reduction, observable or coordinate unless given. kind: "map" over two dimensions,
        "basin" (the same for a discrete outcome), "line" over one, "fan" of quantiles along time, "histogram"; what
        suits the variable unless given. style: "light" or "dark".
        """
        from dalembert.view.plots.ensemble import plot_ensemble

        return plot_ensemble(self, path, of=of, kind=kind, axes=axes, style=style)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write what was varied, what became of the members, their numbers and pictures as one page for browsers, which
        loads nothing and prints well.
        """
        from dalembert.view.report.ensemble import write_ensemble_report

        write_ensemble_report(self, path)

    def to_xarray(self) -> xr.Dataset:
        return self.data.copy()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble: `.nc` (NetCDF) or `.zarr` (needs pip install 'dalembert[zarr]'); `load` reads both."""
        from dalembert.ensemble.result.files import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Ensemble:
        """Read an ensemble written by `save`, or the folder of a sweep that is complete."""
        from dalembert.ensemble.result.files import load

        return load(path)


def _kind(reason: str) -> str:
    """A reason without what differs from member to member: its time and its residual."""
    text = reason.split(": ", 1)[-1] if reason.startswith("t = ") else reason
    return text.split(": residual")[0].split(" beyond t = ")[0].split(", after ")[0]


def require_known(about: Mapping[str, Any], path: object) -> None:
    missing = [key for key in ("name", "seconds", "varied", "initial", "fixed", "why_alone") if key not in about]
    if missing:
        raise DocumentError(str(path), [f"this is no ensemble: it lacks {', '.join(missing)}"])
