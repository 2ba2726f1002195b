"""A part of a report, and what was asked of the report as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.view.markup.elements import Html, element

# What each of the parts that are derived may take, in seconds of the processor: longer than any system of the library.
PATIENCE_S = 10.0


@dataclass(frozen=True)
class Section:
    """A chapter with a title; `key` is what links point to."""

    key: str
    title: str
    body: Html


@dataclass(frozen=True)
class Request:
    """seconds: what equations, classification, comparison and equilibria may take, each. command: the line that made
    the motion. failure: why it stopped before its end.
    """

    seconds: float = PATIENCE_S
    command: str = ""
    failure: str = ""


def note(text: str) -> Html:
    """A line that says what is not there, and why."""
    return element("p", text, class_="note")


def left_out(what: str, seconds: float, call: str) -> Html:
    """What took too long, and how to get it."""
    return element(
        "p", f"{what} took longer than {seconds:g} s and was left out; ", element("code", call), " has no such limit.",
        class_="note",
    )  # fmt: skip


def left_out_of_large(what: str, count: int, call: str) -> Html:
    """What is not tried for systems of very many coordinates."""
    return element(
        "p", f"{what} of a system with {count} coordinates would fill pages and was left out; ", element("code", call),
        " gives it.", class_="note",
    )  # fmt: skip
