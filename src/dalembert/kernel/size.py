"""Why a kernel is not made."""

from __future__ import annotations

from dalembert.errors import DalembertError
from dalembert.methods.table import METHODS

# Compiling takes a sixth to a third of a second per thousand instructions: beyond this, minutes.
MOST_INSTRUCTIONS = 300_000


class KernelTooLarge(DalembertError):
    """A kernel with more instructions than are worth compiling."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the kernel would have {size:,} instructions, more than the {limit:,} that are compiled; fewer "
            "coordinates make it shorter, and so do more of them with constraints between neighbours only"
        )
        self.size = size


class TaylorNotApplicable(DalembertError):
    """A model whose motion has no Taylor series that could be computed."""

    def __init__(self, reason: str) -> None:
        taylor = METHODS["taylor"]
        super().__init__(f"method {taylor.name!r} cannot run this: {reason}; use method={taylor.instead!r}")
