"""The type of every array of numbers in the package: double precision, of any shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
