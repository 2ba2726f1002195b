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

# An explicit method that is not asked for by name is looked at after so many steps, or where so many were stiff, if it
# has as many before it: whether the stiff method would do better. As few as the user would be told of.
STIFF_LOOK = STIFF_WORTH

# A singular configuration is reported where the smallest pivot of the constraints, relative to its diagonal, falls
# below this: two of them then include an angle below 1e-3, straight-line code is left, and branches of the motion may
# meet.
SINGULAR_PIVOT = 1e-6
# Its root s is searched for a minimum where it is below this (an angle of 45 degrees) at an accepted state, and if at
# the place where a straight line through zero would have its zero s is less than this share of the larger of its
# neighbours.
SINGULAR_NEAR = 0.7
SINGULAR_DIP = 0.5
# To this share of a step (the polynomial it is searched on is no more accurate), or until s² is rounding.
SINGULAR_TIME = 1e-8
SINGULAR_ROUNDING = 1e-15

LIMITS: dict[str, float] = {name: value for name, value in globals().items() if name.isupper()}
