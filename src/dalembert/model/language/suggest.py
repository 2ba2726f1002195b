"""What an unknown name may have been meant to be, for messages: here, because most of them need no SymPy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this, if any is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return next(iter(close or [other for other in names if other.lower() == name.lower()]), None)


def suggest(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' or the known names, to end a message about an unknown one."""
    names = sorted(set(known))
    if (close := nearest(name, names)) is not None:
        return f" Did you mean {close!r}?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f" Known here: {shown}." if names else ""
