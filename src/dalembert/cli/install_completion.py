"""`--install-completion SHELL` and `--show-completion SHELL`: for a shell that is named.

Typer's options find the shell they are called from, and would pass over a name that follows them.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer
from typer.completion import get_completion_script, install  # type: ignore[attr-defined]  # it has them, unlisted

from dalembert.errors import DalembertError

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
INSTALL, SHOW = "--install-completion", "--show-completion"


def complete_named_shell(words: Sequence[str]) -> bool:
    """Do what the words of a command line ask for a shell they name. False: they ask for nothing of the kind."""
    option, shell, *_ = (*words, "", "")
    if option not in (INSTALL, SHOW) or not shell or shell.startswith("-"):
        return False
    if shell not in SHELLS:
        raise DalembertError(f"{option}: there is no completion for {shell!r}; there is for {', '.join(SHELLS)}")
    if option == SHOW:
        typer.echo(get_completion_script(prog_name="dalembert", complete_var="_DALEMBERT_COMPLETE", shell=shell))
    else:
        _, path = install(shell=shell, prog_name="dalembert")
        typer.echo(f"{shell} completion installed in {path}\nCompletion will take effect once you restart the terminal")
    return True
