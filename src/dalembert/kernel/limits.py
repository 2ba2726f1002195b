"""Numbers that the integrations of both backends share. Kernels get them as macros (`DA_` and the name)."""

from __future__ import annotations

# After each so many steps a run is asked whether it still gets anywhere. Stiff motions pass through short layers
# (relaxation oscillations) that need many steps and end.
STALL_STEPS = 1000
STALL_STEPS_STIFF = 20_000
# It does not where it covers less than this share of the motion: at this rate it would need a hundred million steps …
STALL_SHARE = 1e-5
# … and its steps have collapsed against the longest one, or it would need a million million.
STALL_COLLAPSE = 1e-4
STALL_HOPELESS = 1e-9

# An explicit method runs at the limit of its stability where its step times the Jacobian exceeds this …
STIFF_LIMIT_DOP853 = 6.1
STIFF_LIMIT_DOPRI5 = 3.25
# … in so many steps without so many others in a row between them. While nothing is seen, one step in 16 is looked at.
STIFF_HITS = 15
STIFF_CALM = 6
STIFF_SAMPLE = 16
# Differences below this, relative to the state, are rounding.
STIFF_ROUNDING = 1e-14
# The user is told when so many steps were stiff: fewer take no time.
STIFF_WORTH = 1000

LIMITS: dict[str, float] = {name: value for name, value in globals().items() if name.isupper()}
