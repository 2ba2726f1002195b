"""C in double precision as C in the precision that is chosen when it is compiled."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"(/\*.*?\*/)", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")
TYPE = re.compile(r"\bdouble\b")


def in_chosen_precision(source: str) -> str:
    """The same source with `da_real` for `double` and every constant made of it: one double among floats would have
    the whole expression computed in double. Comments stay as they are.
    """
    parts = _COMMENT.split(source)
    return "".join(
        part if part.startswith("/*") else TYPE.sub("da_real", NUMBER.sub(r"DA_R(\1)", part)) for part in parts
    )
