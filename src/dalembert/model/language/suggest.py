"""What an unknown name may have been meant to be, for messages: here, because most of them need no SymPy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' or the known names, to end a message about an unknown one."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not close:
        close = [other for other in names if other.lower() == name.lower()]
    if close:
        return f" Did you mean {close[0]!r}?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f" Known here: {shown}." if names else ""
