"""Numbers that the integrations of both backends share. Kernels get them as macros (`DA_` and the name)."""

from __future__ import annotations

from dalembert.mechanics.solve.fundamental import PROXIMAL, PROXIMAL_PASSES, RANK_TOLERANCE  # noqa: F401  # they reach C too

# After each so many steps a run is asked whether it still gets anywhere. Stiff motions pass through short layers
# (relaxation oscillations) that need many steps and end.
STALL_STEPS = 1000
STALL_STEPS_STIFF = 20_000
# It does not where it covers less than this share of the motion: at this rate it would need a hundred million steps …
STALL_SHARE = 1e-5
# … and its steps have collapsed against the longest one, or it would need a million million.
STALL_COLLAPSE = 1e-4
STALL_HOPELESS = 1e-9

# An explicit method runs at the limit of its stability where that (`Tableau.limit`) is exceeded in so many steps
# without so many others in a row between them. While nothing is seen, one step in 16 is looked at.
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
# Where s² is below this at accepted states too, constraints are redundant: rounding is all that has a minimum.
SINGULAR_ALWAYS = 1e-12

# Changes of rank and singular configurations passed, of which so many are kept; more are counted.
KEPT_CHANGES = 64

# A step with outputs inside is taken again, shorter, where they err by more than this many tolerances. Where accuracy
# limits the steps they err by about one. So many times at most: rounding may look like an error.
INSIDE_TOLERANCES = 4.0
INSIDE_AGAIN = 5

# A step covers at most about one period of the fastest motion in it: eight pieces show the function g of an event where
# it follows the motion. Where g varies faster (the sine of an angle in free flight), the grid is doubled, up to sixteen
# periods in a step.
EVENT_PIECES = 8
EVENT_MOST_PIECES = 128
# Cubics through the even samples foretell the odd ones to this share of their range while a period of g has at least
# about eight samples: pieces then hold one extremum at most.
EVENT_FORETOLD = 0.1
# Odd samples are moved by this share of a piece: on an even grid, a fast oscillation could pass for a slow one.
EVENT_SHIFT = 0.118
# Below this, relative to what the state and its rounding contribute to it, g counts as zero: projection leaves as much.
EVENT_NOISE = 32 * 2.0**-52
# The same at the start of a motion, where a state that was computed elsewhere is zero to fewer digits.
EVENT_START_NOISE = 1e-12
# The interpolant lies off the constraints by about the tolerance. Where g is farther from zero than this many
# tolerances of what it is made of, the return to them, which costs as much as a stage of the step, cannot matter.
EVENT_FAR = 1e3
# Where g stays this many times its own range away from zero, there is nothing to resolve.
EVENT_ALOOF = 4.0
# A least distance from zero is flat there: closer than the root of rounding, no difference can be seen.
EVENT_FLAT = 1e-8

# A gap bounces alone where all others are open by more than this share of their terms: farther than what may count as
# touching, a share of 1e-9 of the places.
BOUNCE_APART = 1e-6

# The interpolant is less accurate than a step, and a model that cannot be continued beyond a kink spoils both. So a
# step over a kink is taken again to end there, so many times at most, unless the kink lies this near to an end of it.
KINK_NEAR = 1e-3
KINK_AGAIN = 6
# Where steps become too short within so many of the shortest ones after a passage, passages follow each other ever
# faster.
KINK_ZENO = 1e3
# Where a step of so many of the shortest ones leads to where the model has no value, it ends. A longer one may have
# led over an event before that, as over a gap that closes.
UNDEFINED_STEPS = 1e3
# A constraint that asks for another velocity beyond a kink, by more than this share of it (or a thousand rtol), has a
# corner there.
KINK_CORNER = 1e-6

# Velocities after a step err by about a tolerance. Where the constraints ask for others by more than this many, the
# step has led over a corner of theirs; as shares of the speed, never less than the first nor more than the last.
EDGE_TOLERANCES = 1e3
EDGE_LEAST = 1e-6
EDGE_MOST = 0.1
# Forces have some rounding units; this many of what they make of velocities in a step are no corner.
EDGE_ROUNDING = 1e3 * 2.0**-52
# Where steps become too short within so many of the shortest ones after that, it is why.
EDGE_NEAR = 1e6

# Above this the redundant constraints of a state on the constraints contradict each other; below, it is rounding in
# projected states.
DRIFT_TOLERANCE = 1e-6
# A gradient below this share of its natural length counts as vanishing.
FADED = 1e-9
# Residuals of constraints count relative to their gradient times the size of the state. Below this a step of projection
# moves the state by rounding only.
PROJECT_ROUNDING = 4e-15
# The size of a state is not taken smaller than this, so that a state of rest at the origin has a scale.
PROJECT_LEAST_SIZE = 1e-8

# Eigenvalues of S = A M⁻¹ Aᵀ of a large system, with rows of length one, below this count as zero: rounding leaves some
# 1e-15, and the least one of a chain of a hundred thousand links is 1e-10. They are squares: directions that differ by
# less than 1e-6 are one.
LEAST_EIGENVALUE = 1e-12

# Differences in velocities are taken with steps shorter by the first until two in a row agree to the second, a share,
# so many times at most: from 6e-6 of a unit of velocity to a thousandth of the slowest slipping.
SLOPE_FINER = 16.0
SLOPE_SMOOTH = 1e-3
SLOPE_REFINED = 6

# Work that depends on the constraint force: Newton's method, so many steps at most, ends when what is left is rounding
# of the forces that enter.
ACTUAL_PASSES = 50
ACTUAL_SETTLED = 1e-13
# Where the equations for the force determine it to fewer than four digits of sixteen, they count as singular.
ACTUAL_SINGULAR = 1e-12

# All of them, those of the fundamental equation among them, which it has from its own package.
LIMITS: dict[str, float] = {name: value for name, value in globals().items() if name.isupper()}
