"""Pictures of an ensemble: a map over two dimensions, basins of a discrete outcome, a line, a fan, a histogram."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from dalembert.ensemble.members.outcome import MEANING, Status
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.errors import OutputError, counted
from dalembert.model.language.suggest import suggest
from dalembert.view.figures import Given, finish, panels, printable
from dalembert.view.plots.figure import SMALL, paint, plain_numbers, typeset
from dalembert.view.plots.labels import phrase, with_unit
from dalembert.view.plots.steady import steady_limits
from dalembert.view.plots.style import LIGHT, Style, style_named

if TYPE_CHECKING:
    import xarray as xr

KINDS = ("map", "basin", "line", "fan", "histogram")
# A variable of whole numbers with no more values than these is a discrete outcome.
MOST_OUTCOMES = 12
# Quantiles between which a fan has its bands, from the widest, and its line in the middle.
BANDS = ((0.0, 1.0), (0.05, 0.95), (0.25, 0.75))
BINS = 60


def plot_ensemble(
    ensemble: Ensemble,
    path: str | os.PathLike[str] | None = None,
    *,
    of: Any = None,
    kind: str | None = None,
    axes: Given = None,
    style: str = "light",
) -> Figure:
    """Draw one variable of an ensemble; `Ensemble.plot` says what may be asked for."""
    name = _first(ensemble) if of is None else getattr(of, "name", str(of))
    array = ensemble[name]
    if name == "reason":
        raise OutputError("reasons are texts, of which there is no picture; 'status' has one")
    if name not in ("status", "steps", "alone"):
        array = array.where(ensemble.good)
    suits = _kinds(array, ensemble)
    if kind is not None and kind not in KINDS:
        raise OutputError(f"there is no picture of kind {kind!r}.{suggest(kind, KINDS)}")
    if kind is not None and kind not in suits:
        raise OutputError(f"{name!r} has no {kind}: it has the dimensions {', '.join(map(str, array.dims)) or 'none'}")
    chosen = suits[0] if kind is None else kind
    if chosen in ("map", "basin"):
        array = array.sortby([*array.dims])  # values may have been given in any order
    look = style_named(style)
    figure, (place,) = panels(axes, 1, 1, (6.4, 4.8))
    if axes is None:
        figure.set_facecolor(look.paper)
    draw = {"map": _map, "basin": _basin, "line": _line, "fan": _fan, "histogram": _histogram}[chosen]
    draw(place, array, name, ensemble, look)
    paint(place, look, painted=axes is None or look is not LIGHT)
    if chosen in ("map", "basin"):
        place.grid(visible=False)
    failed = f", {ensemble.failed} failed" if ensemble.failed else ""
    if axes is None:
        figure.suptitle(
            f"{printable(ensemble.name)}   ·   {counted(ensemble.members, 'member')}{failed}",
            fontsize=12,
            color=look.ink,
        )
    return finish(figure, path)


def _first(ensemble: Ensemble) -> str:
    """What a sweep was probably made for."""
    names = [*ensemble.about["reductions"], *ensemble.about["kept"]]
    for start in ("samples.", "final."):
        names += [name for name in ensemble.data.data_vars if str(name).startswith(start) and name != "final.t"]
    return str(names[0])


def _kinds(array: xr.DataArray, ensemble: Ensemble) -> list[str]:
    """The kinds that a variable can be drawn as, the one that suits best first."""
    if "time" in array.dims:
        return ["fan"]
    grid = [name for name in array.dims if name in array.coords]
    if array.ndim == 2 and len(grid) == 2:
        return ["basin", "map", "histogram"] if _is_discrete(array) else ["map", "basin", "histogram"]
    if array.ndim == 1 and grid:
        return ["line", "histogram"]
    return ["histogram"]


def _is_discrete(array: xr.DataArray) -> bool:
    values = array.to_numpy()
    values = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    return bool(values.size) and np.unique(values).size <= MOST_OUTCOMES and bool((values == np.round(values)).all())


def _map(axes: Axes, array: xr.DataArray, name: str, ensemble: Ensemble, look: Style) -> None:
    down, across = map(str, array.dims)
    low, high = steady_limits(array.to_numpy().astype(float)) or (None, None)
    drawn = axes.pcolormesh(array[across], array[down], array.to_numpy(), shading="nearest", vmin=low, vmax=high)
    axes.set(xlabel=_label(across, ensemble), ylabel=_label(down, ensemble))
    _beside(axes.figure.colorbar(drawn, ax=axes, label=_label(name, ensemble)), look)


def _basin(axes: Axes, array: xr.DataArray, name: str, ensemble: Ensemble, look: Style) -> None:
    """One colour for each outcome."""
    down, across = map(str, array.dims)
    values = array.to_numpy().astype(float)
    outcomes = np.unique(values[np.isfinite(values)])
    places = np.searchsorted(outcomes, values).astype(float)
    places[~np.isfinite(values)] = np.nan
    count = max(len(outcomes), 1)
    colours: Any = ListedColormap(look.hues[:count]) if count <= len(look.hues) else "viridis"
    norm = BoundaryNorm(np.arange(count + 1) - 0.5, count if count <= len(look.hues) else 256)
    drawn = axes.pcolormesh(array[across], array[down], places, shading="nearest", cmap=colours, norm=norm)
    axes.set(xlabel=_label(across, ensemble), ylabel=_label(down, ensemble))
    bar = axes.figure.colorbar(drawn, ax=axes, ticks=range(len(outcomes)), label=_label(name, ensemble))
    bar.ax.set_yticklabels([printable(_outcome(name, value, ensemble)) for value in outcomes])
    _beside(bar, look)


def _beside(bar: Any, look: Style) -> None:
    """A bar of colours in the ink of a style."""
    bar.ax.tick_params(colors=look.ink, labelsize=SMALL)
    bar.ax.yaxis.label.set_color(look.ink)
    bar.outline.set_edgecolor(look.muted)


def _label(name: str, ensemble: Ensemble, shown: str = "") -> str:
    """A variable at an axis, by its name or as it is shown, with its unit."""
    return typeset(with_unit(shown or phrase(name), ensemble.about.get("units", {}).get(name, "")))


def _outcome(name: str, value: float, ensemble: Ensemble) -> str:
    events = ensemble.about["events"]
    if name == "status":
        return MEANING[Status(int(value))]
    if name == "ended by":
        return events[int(value)] if value >= 0 else "none"
    return f"{value:g}"


def _line(axes: Axes, array: xr.DataArray, name: str, ensemble: Ensemble, look: Style) -> None:
    (along,) = map(str, array.dims)
    order = np.argsort(array[along].to_numpy())
    style = "." if array.size > 400 else ".-"
    axes.plot(array[along].to_numpy()[order], array.to_numpy()[order], style, lw=1.2, ms=3, color=look.hues[0])
    axes.set(xlabel=_label(along, ensemble), ylabel=_label(name, ensemble))
    _plain(axes, array)


def _fan(axes: Axes, array: xr.DataArray, name: str, ensemble: Ensemble, look: Style) -> None:
    values = np.moveaxis(array.to_numpy(), array.dims.index("time"), -1).reshape(-1, array.sizes["time"])
    there = np.isfinite(values).any(axis=0)
    t = array["time"].to_numpy()[there]
    values = values[:, there]
    for depth, (low, high) in enumerate(BANDS):
        lower, upper = (np.nanquantile(values, q, axis=0) for q in (low, high))
        label = "all" if depth == 0 else f"{100 * (high - low):.0f} %"
        axes.fill_between(t, lower, upper, alpha=0.25, color=look.hues[0], lw=0, label=label)
    axes.plot(t, np.nanquantile(values, 0.5, axis=0), color=look.hues[0], lw=1.4, label="median")
    axes.set(xlabel=_label("time", ensemble, "t"), ylabel=_label(name, ensemble))
    _plain(axes, array)
    own: dict[str, Any] = {"frameon": False, "labelcolor": look.ink, "ncols": 4, "borderaxespad": 0.15}
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=SMALL, **own)


def _histogram(axes: Axes, array: xr.DataArray, name: str, ensemble: Ensemble, look: Style) -> None:
    values = array.to_numpy().astype(float).ravel()
    values = values[np.isfinite(values)]
    if values.size:
        bins = min(BINS, max(int(np.sqrt(values.size)), 5))
        axes.hist(values, bins=bins, range=steady_limits(values), color=look.hues[0])
    axes.set(xlabel=_label(name, ensemble), ylabel="members")


def _plain(axes: Axes, array: xr.DataArray) -> None:
    """No axis shows rounding errors, nor numbers as differences to another."""
    limits = steady_limits(array.to_numpy().astype(float))
    if limits is not None:
        axes.set_ylim(limits)
    plain_numbers(axes)
