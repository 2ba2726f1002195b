"""`html_of(result)`: the page of a result in a notebook, by its class; the text of those that have none of their own.

The functions are loaded when something is shown: whoever computes needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dalembert.view.markup.elements import Html, element

if TYPE_CHECKING:
    from dalembert.results import Result

#: By the class of a result, the function that shows it, and its module here.
PAGES = {
    "Motion": ("motion", "motion_page"),
    "Certificate": ("numbers", "certificate_page"),
    "Instant": ("numbers", "instant_page"),
    "Classification": ("studies", "classification_page"),
    "Comparison": ("studies", "comparison_page"),
    "Equilibrium": ("studies", "equilibrium_page"),
    "Equilibria": ("studies", "equilibria_page"),
    "Ensemble": ("ensemble", "ensemble_page"),
}


def html_of(result: Result) -> Html:
    for kind in type(result).__mro__:
        if kind.__name__ in PAGES and kind.__module__.startswith("dalembert."):
            module, name = PAGES[kind.__name__]
            show: Callable[[Any], Html] = getattr(import_module(f"{__package__}.{module}"), name)
            return show(result)
    return element("pre", result.text())
