"""Where the system can rest."""

from __future__ import annotations

from dalembert.errors import DalembertError, counted
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.statics.result import Equilibria, Equilibrium
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.report.patience import OutOfTime, within
from dalembert.view.report.section import Request, Section, left_out, left_out_of_large, note

# Configurations from which equilibria are sought: the initial one, and others around it.
STARTS = 6
CALL = "system.equilibrium(starts=…)"


def equilibria_section(system: System, asked: Request) -> Section:
    return Section("equilibria", "Equilibria", _body(system, asked))


def _body(system: System, asked: Request) -> Html:
    if is_large(system):
        return left_out_of_large("The search for equilibria", len(system.coordinates), CALL)
    try:
        return equilibria_block(within(asked.seconds, lambda: system.equilibrium(starts=STARTS)))
    except OutOfTime:
        return left_out("The search for equilibria", asked.seconds, CALL)
    except DalembertError as error:
        return note(f"No equilibrium was sought: {error}")


def equilibria_block(found: Equilibria) -> Html:
    tried = counted(found.tried, "configuration")
    if not found.found:
        return note(f"None was found from {tried}. {found.reason}".strip())
    line = element("p", f"{len(found)} found from {tried}, the nearest to the initial state first.")
    return fragment(line, map(equilibrium_block, found.found))


def equilibrium_block(found: Equilibrium) -> Html:
    """Where it is, whether it is stable, and below it all that keeps it there."""
    first, *more = found.text().splitlines()
    return fragment(
        element("p", element("b", first)),
        element("ul", [element("li", line.strip()) for line in more]) if more else None,
    )
