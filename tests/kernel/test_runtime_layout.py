"""The headers of the runtime: short, narrow, each in a room and in some kernel."""

from __future__ import annotations

import dalembert as da
from dalembert.graph.graph import graph_of
from dalembert.kernel.emit import layout, source
from dalembert.kernel.emit.dispatch import dispatch, methods_of, steppers
from dalembert.methods.table import METHODS

HEADERS = {path.relative_to(layout.RUNTIME).as_posix(): path for path in layout.RUNTIME.rglob("*.h")}


def test_headers_are_short_and_narrow() -> None:
    for name, path in HEADERS.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) < 500, name
        assert [line for line in lines if len(line) > 120] == [], name
        assert name.count("/") == 1, f"{name} is in no room"


def test_what_is_made_from_tableaux_is_narrow_too() -> None:
    methods = methods_of(METHODS)
    lines = (steppers(methods) + dispatch(methods)).splitlines()
    assert [line for line in lines if len(line) > 120] == []


def test_every_header_is_in_some_kernel() -> None:
    known = {*source.BASE, *source.AT_A_STATE, *source.WATCH, *source.INSIDE, *source.RUN}
    known |= {*source.NONLINEAR, *source.MULTIPLIERS, *source.ACTUAL}
    known |= {method.header for method in METHODS.values() if method.header is not None}
    assert known == set(HEADERS)


def test_the_integration_is_a_list_of_stages() -> None:
    """Each stage once, in the order in which a step passes them."""
    system = da.library.pendulum()
    text = source.kernel_source(system, graph_of(system), [0]).partition("DA_API int da_integrate(")[2]
    names = ("begin", "choose", "attempt", "arrive", "look_inside", "advance", "write_report")
    stages = [f"da_{name}(" for name in names]
    body = text.partition("\n}\n")[0]
    assert [body.count(stage) for stage in stages] == [1] * len(stages)
    assert sorted(stages, key=body.index) == stages
