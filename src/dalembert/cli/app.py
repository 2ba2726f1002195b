"""The command `dalembert`: one verb per file. Errors become one message and an exit status; tracebacks are
for defects only.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from dalembert import __version__
from dalembert.errors import DalembertError

if TYPE_CHECKING:
    import typer

# Each in a file of its name.
VERBS = (
    "run", "sweep", "check", "equations", "compare", "reduce", "liberate", "equilibrium", "path", "between",
    "curvature", "picture", "animate", "export", "examples", "doctor",
)  # fmt: skip


def application(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command with some of its verbs: only their files are loaded."""
    import typer  # not for plain lines

    def tell_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"dalembert {__version__}")
            raise typer.Exit

    def options(
        version: bool = typer.Option(
            False, "--version", callback=tell_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        """Constrained mechanics: equations, motion, every force, and a certificate."""

    app = typer.Typer(
        name="dalembert",
        help="Constrained mechanics: equations, motion, every force, and a certificate.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    for verb in verbs:
        app.command()(getattr(import_module(f"dalembert.cli.{verb}"), verb))
    return app


def __getattr__(name: str) -> typer.Typer:
    """`app`, with all verbs, made when it is asked for."""
    if name != "app":
        raise AttributeError(name)
    globals()["app"] = made = application()
    return made


def _call(words: list[str]) -> None:
    """Do what a line says: a plain one at once; any other is read by typer, with its verb alone where it has one."""
    if words[:1] == ["run"]:
        from dalembert.cli.plain_line import read_plain_line
        from dalembert.cli.simulate import simulate_and_write

        plain = read_plain_line(words[1:])
        if plain is not None:
            sys.exit(simulate_and_write(plain))
    from dalembert.cli.install_completion import complete_named_shell

    if not complete_named_shell(words):
        app = application(words[:1] if words and words[0] in VERBS else VERBS)
        app(prog_name="dalembert")  # under `python -m` too: completion asks by this name


def _tell(message: Warning | str, category: type[Warning], *where: object, **options: object) -> None:
    """A warning as a line of its own, without the place in the code that it comes from."""
    print(f"dalembert: {message}", file=sys.stderr)


def main() -> None:
    """Entry point: 0 good, 2 bad input, 3 the motion could not be completed or its certificate does not hold."""
    for stream in (sys.stdout, sys.stderr):
        # Letters with dots, Greek and box drawing must not end a run on a terminal that lacks them.
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")
    warnings.showwarning = _tell
    # What is loaded stays until the end, so that garbage is looked for seldom.
    usual = gc.get_threshold()
    gc.set_threshold(100_000, *usual[1:])
    try:
        _call(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except DalembertError as error:
        print(f"dalembert: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader went away (a closed pager): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        print("dalembert: this model needs more memory than there is", file=sys.stderr)
        sys.exit(3)
    finally:
        gc.set_threshold(*usual)
        gc.freeze()  # nor need anybody look through it when the process ends


if __name__ == "__main__":
    main()
