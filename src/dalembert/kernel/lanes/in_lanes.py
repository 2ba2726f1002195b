"""C of single numbers as C of lanes: the same text, with another type."""

from __future__ import annotations

import re

from dalembert.kernel.cuda.reals import NUMBER, TYPE

# What stays as it is: comments, and tables of constants.
_KEPT = re.compile(r"(/\*.*?\*/|static const double [^;]*;)", re.DOTALL)
_NAMES = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log log1p expm1 erf fabs floor ceil pow atan2"
_FUNCTION = re.compile(rf"\b({'|'.join([*_NAMES.split(), 'sqrt', 'copysign', 'hypot'])})\(")
_OWN = re.compile(r"\bda_(min|max|sign|sincos)\(")


def in_lanes(source: str) -> str:
    """The same source with `da_lane` for `double`, functions of lanes, and every constant in all lanes. Comments and
    tables of constants stay as they are: a number times a lane is a lane.
    """
    return "".join(part if part.startswith(("/*", "static")) else _converted(part) for part in _KEPT.split(source))


def _converted(text: str) -> str:
    text = _OWN.sub(r"da_lane_\1(", _FUNCTION.sub(r"da_lane_\1(", text))
    return TYPE.sub("da_lane", NUMBER.sub(r"DA_R(\1)", text))
