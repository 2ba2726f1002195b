"""What runs in the browser: scripts and style, read from their files and joined."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

#: The scripts in the order in which they are joined: each uses only names of those before it while it is read.
SCRIPTS = (
    "vectors", "samples", "smooth", "numbers", "colours", "elements", "camera", "geometry", "shaders", "renderer",
    "shapes", "clock", "view", "timeline", "plot_scale", "plots", "keyboard", "player",
)  # fmt: skip
_COMMENT = re.compile(r"^\s*//.*$|^\s+", re.MULTILINE)
_CSS_COMMENT = re.compile(r"/\*.*?\*/|^\s+", re.MULTILINE | re.DOTALL)


@cache
def script_text() -> str:
    """All scripts as one, in a scope of its own: it starts every player of the page. Once on a page is enough."""
    folder = files(__package__) / "js"
    texts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + _COMMENT.sub("", "".join(texts)) + "})();\n"


@cache
def style_text() -> str:
    """The style of players; it touches nothing else on a page."""
    return _CSS_COMMENT.sub("", (files(__package__) / "player.css").read_text("utf-8"))


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """What a page may do, for its `Content-Security-Policy`: run these scripts and these styles, and load nothing."""
    run, look = (" ".join(map(_hash, texts)) or "'none'" for texts in (scripts, styles))
    return f"default-src 'none'; script-src {run}; style-src {look}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
