"""Whether LaTeX compiles, for the tests of this folder."""

from __future__ import annotations

import subprocess
from pathlib import Path


def compiles(latex: str, folder: Path) -> bool:
    document = f"\\documentclass{{article}}\\usepackage{{amsmath}}\\begin{{document}}{latex}\\end{{document}}"
    (folder / "page.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "page.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
