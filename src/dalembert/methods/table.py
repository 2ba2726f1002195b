"""The integration methods, one entry each. Whatever knows a method reads it here: the checks of options, both backends,
the C source, help texts, messages and the table in the docs.

A new explicit method is one more entry with its tableau: steps, estimates, interpolant and the reference backend follow
from it. An implicit one has a header in C as well; `kernel/runtime/steps/radau.h` says what it must offer.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.methods.dop853 import DOP853
from dalembert.methods.dopri5 import DOPRI5
from dalembert.methods.tableau import Tableau


@dataclass(frozen=True)
class Method:
    """name: what users write. title: what results say. orders: of convergence; none where it follows from rtol, several
    where users choose.

    code: its number in C, None where it does not run natively. control: the estimated error of a step falls with this
    power of its size. tableau: of an explicit method. header: C by hand, below `kernel/runtime`, whose functions are
    named after the file. scipy: the class of the reference backend, where it is not made from the tableau. stiff: an
    implicit method, for stiff motions, which needs the slopes of the accelerations. series: it needs their series.
    in_every_kernel: others are compiled for those who ask. instead: what takes its place where it cannot go.
    equal_steps: all of the length `step=`, which users give, instead of what the tolerance asks for.
    """

    name: str
    title: str
    help: str
    orders: tuple[int, ...]
    code: int | None = None
    tableau: Tableau | None = None
    header: str | None = None
    scipy: str | None = None
    stiff: bool = False
    series: bool = False
    own_control: int | None = None
    in_every_kernel: bool = False
    instead: str | None = None
    equal_steps: bool = False

    @property
    def control(self) -> int:
        if self.own_control is not None:
            return self.own_control
        return self.tableau.falls if self.tableau is not None else self.orders[0]

    @property
    def prefix(self) -> str:
        """Of its functions in C, after `da_`."""
        return self.name if self.header is None else self.header.rpartition("/")[2].removesuffix(".h")

    @property
    def runs_on_reference(self) -> bool:
        """By a class of SciPy's, or one made from its tableau: not of an estimate in two parts, nor of an interpolant
        with slopes of its own.
        """
        if self.code is None or self.scipy is not None:
            return True
        return self.tableau is not None and self.tableau.is_plain

    @property
    def is_explicit(self) -> bool:
        """Whether stability may ask for short steps."""
        return self.code is not None and not self.stiff


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="dop853",
            title="DOP853",
            help="explicit, order 8, by Dormand and Prince: the choice below rtol 1e-4",
            orders=(8,),
            code=8,
            tableau=DOP853,
            scipy="DOP853",
            in_every_kernel=True,
        ),
        Method(
            name="dopri5",
            title="DOPRI5",
            help="explicit, order 5, by Dormand and Prince: the choice from rtol 1e-4 upwards",
            orders=(5,),
            code=5,
            tableau=DOPRI5,
            scipy="RK45",
            in_every_kernel=True,
        ),
        Method(
            name="stiff",
            title="Radau",
            help="implicit, order 5, Radau IIA with the exact Jacobian: for stiff motions",
            orders=(5,),
            code=4,
            header="steps/radau.h",
            scipy="Radau",
            stiff=True,
            own_control=4,
        ),
        Method(
            name="taylor",
            title="Taylor",
            help="Taylor series: quickest at tight tolerances on long runs of smooth models; native backend only",
            orders=(),
            code=9,
            header="steps/taylor.h",
            series=True,
            own_control=8,
            instead="dop853",
        ),
        Method(
            name="variational",
            title="variational",
            help="equal steps, of a length to be given, that make a discrete action stationary: energy within a bound "
            "for very long times; constraints on positions only",
            orders=(2, 4, 6),
            equal_steps=True,
        ),
    )
}
AUTO = "auto"
STIFF = "stiff"  # what `auto` goes over to …
SERIES = "taylor"  # … and this, in long runs of models for which it has won a race
# From this tolerance upwards the fifth-order pair needs fewer evaluations than the eighth-order one.
LOOSE_RTOL = 1e-4


def method_names() -> tuple[str, ...]:
    """What `method=` takes."""
    return (AUTO, *METHODS)


def method_help() -> str:
    """All of them in a sentence, for the command line."""
    others = f"{STIFF} where the motion is stiff, {SERIES} where that takes less work"
    return f"{AUTO} (the default: by rtol, {others})" + "".join(
        f"; {method.name}: {method.help}" for method in METHODS.values()
    )


def method_for(rtol: float) -> Method:
    """What `auto` begins with."""
    return METHODS["dopri5" if rtol >= LOOSE_RTOL else "dop853"]


def rows() -> list[str]:
    """The table of methods as lines of Markdown."""
    lines = ["| `method` | in results | order | backends | |", "|---|---|---|---|---|"]
    for method in METHODS.values():
        order = ", ".join(str(order) for order in method.orders) or "from rtol"
        backends = [name for name, runs in _backends(method) if runs]
        lines.append(f"| `{method.name}` | {method.title} | {order} | {' and '.join(backends)} | {method.help} |")
    return lines


def _backends(method: Method) -> list[tuple[str, bool]]:
    return [("native", method.code is not None), ("reference", method.runs_on_reference)]
