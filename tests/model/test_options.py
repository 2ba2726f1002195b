"""Faults that are told with those of the whole model."""

from __future__ import annotations

import pytest

import dalembert as da

DOCUMENT = """
name = "several faults"
coordinates = ["x"]
[energy]
kinetic = "x'^2/2 + foo"
[initial]
x = 0
"x'" = 0
[simulate]
rtol = 5
method = "fastest"
duration = -1
samples = 1
"""


def test_values_of_simulate_are_listed_with_the_other_faults() -> None:
    with pytest.raises(da.DocumentError) as caught:
        da.loads(DOCUMENT)
    message = str(caught.value)
    for part in ("'foo'", "rtol is 5.0", "unknown method 'fastest'", "the duration is -1", "samples is 1"):
        assert part in message
    right = DOCUMENT.replace(" + foo", "").replace("5", "1e-5").replace("fastest", "stiff")
    assert da.loads(right.replace("-1", "1").replace("samples = 1", "samples = 3")).simulate().t.size == 3


@pytest.mark.parametrize("law", [da.Work("plane", {"x": "-x'"}), da.Work(["x"], "plane"), da.Work(3, "plane")])
def test_work_with_its_arguments_exchanged(law: da.Work) -> None:
    with pytest.raises(da.ModelError, match=r"da\.Work takes expressions by coordinates, then the name"):
        da.System("block", coordinates="x y", kinetic="x'^2 + y'^2", constraints={"plane": "y"}, nonideal=[law])
