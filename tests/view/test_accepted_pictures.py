"""Six pictures beside accepted ones. They are compared where pytest is given --mpl, as it is by default.

After a change that is meant, look at the new ones and accept them:

    pytest -n 0 tests/view/test_accepted_pictures.py --mpl-generate-path=tests/view/accepted
"""

from __future__ import annotations

import pytest
from matplotlib import ft2font
from matplotlib.figure import Figure

import dalembert as da
from dalembert.study.compare import Comparison, Row

# Another library of fonts sets letters otherwise, and with them all axes: without hints they make a difference of 27.
FONTS = "2.14.3"
pytestmark = pytest.mark.skipif(
    ft2font.__freetype_version__ != FONTS, reason=f"accepted pictures have letters of FreeType {FONTS}"
)
# Root mean square of the differences of pixels, of 255: zero with the same fonts. In the picture of the penny an axis
# without its label makes 2.1, a missing legend 3.0, a curve in another colour 3.3, a missing one 4.7; the grid 1.3.
compared = pytest.mark.mpl_image_compare(
    baseline_dir="accepted", tolerance=1.0, savefig_kwargs={"dpi": 45}, style="default", deterministic=True
)


@compared
def test_penny() -> Figure:
    motion = da.library.penny().simulate(6.0, samples=121)
    return motion.plot(panels=["paths", "coordinates", "forces", "energy balance"])


@compared
def test_ball_in_the_dark() -> Figure:
    motion = da.library.bouncing_ball().simulate(1.6, samples=81)
    return motion.plot(panels=["paths", "velocities", "energy", "contacts"], style="dark")


@compared
def test_belt() -> Figure:
    motion = da.library.stick_slip().simulate(4.0, samples=201)
    return motion.plot(panels=["phase", "forces x", "energy", "contacts"])


@compared
def test_gauss() -> Figure:
    return da.library.incline_block().at().picture()


@compared
def test_parting() -> Figure:
    return da.library.skater().vakonomic(1.0).against().plot()


@compared
def test_comparison() -> Figure:
    rows = (
        Row("fundamental", True, "", 4, 0.0, 0.0, 1e-5),
        Row("lagrange", True, "", 4, 3e-16, 2e-15, 1e-4),
        Row("kane", True, "", 4, 4e-6, 5e-7, 1e-4),
        Row("hertz", False, "a potential acts on y"),
        Row("vakonomic", False, "not the motion: not integrable", 5, 0.2, 0.1, 1e-4, True),
    )
    return Comparison(da.library.pendulum(), 5, rows).plot()
