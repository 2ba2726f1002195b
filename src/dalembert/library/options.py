"""The options of a library system: checked against what its builder takes, and read from texts NAME=VALUE.

A text is a number or a constant such as pi/6, read by the parser of model documents: nothing in it is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

from dalembert.errors import ExpressionError, ModelError
from dalembert.model.language.parse import parse_expression
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System

WORDS = {"true": True, "yes": True, "false": False, "no": False}


def build_with(name: str, build: Callable[..., System], options: Mapping[str, Any]) -> System:
    """The system with these options; those that it does not have, or that make no system, are one clear error."""
    known = signature(build).parameters
    faults = [unknown_option(option, known) for option in options if option not in known]
    if faults:
        raise ModelError(name, faults)
    try:
        return build(**options)
    except (ArithmeticError, TypeError, ValueError) as error:
        given = ", ".join(f"{key} = {value!r}" for key, value in options.items())
        raise ModelError(name, [f"no system can be built with {given}: {error}"]) from None


def unknown_option(option: str, known: Iterable[str]) -> str:
    """The message about an option that a system does not have."""
    close = suggest(option, known)
    meant = close if "Did you mean" in close else ""  # else it lists the names too, in another order
    return f"there is no option {option!r}.{meant} Its options: {', '.join(known)}"


def read_options(name: str, build: Callable[..., System], texts: Iterable[str]) -> dict[str, Any]:
    """Options from texts NAME=VALUE; every fault is told at once."""
    known, found, faults = signature(build).parameters, {}, []
    for text in texts:
        option, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not option or not value:
            faults.append(f"--option {text!r}: write NAME=VALUE")
        elif option not in known:
            faults.append(unknown_option(option, known))
        elif option in found:
            faults.append(f"--option {option} is given twice")
        else:
            try:
                found[option] = _value(value, known[option])
            except (ExpressionError, ArithmeticError, TypeError, ValueError) as error:
                faults.append(f"--option {option}: a {_kind(known[option])} is wanted, got {value!r} ({error})")
    if faults:
        raise ModelError(name, faults)
    return found


def _kind(parameter: Parameter) -> str:
    return {bool: "yes or no", str: "text"}.get(type(parameter.default), "number")


def _value(text: str, parameter: Parameter) -> Any:
    """What a text says, of the kind that the option has by default; numbers where that is None."""
    if isinstance(parameter.default, str):
        return text
    if isinstance(parameter.default, bool):
        if text.lower() not in WORDS:
            raise ValueError("write yes or no")
        return WORDS[text.lower()]
    value = float(parse_expression(text, {}, where=parameter.name))
    return int(value) if isinstance(parameter.default, int) and value.is_integer() else value
