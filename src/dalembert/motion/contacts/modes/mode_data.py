"""The parameters of a switched system that say which mode it is in."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dalembert.model.language.symbols import Parameter

# Their names begin so.
DATA = "dalembert_"


class OfContact(NamedTuple):
    """slips, sticks, does_not_slip: what it does, as 1 or 0. may_break: it sticks, and the force that makes it break
    away is watched; idle: nothing ends what it does. slip_direction, push_sign: 1 or −1.
    """

    slips: Parameter
    sticks: Parameter
    may_break: Parameter
    idle: Parameter
    does_not_slip: Parameter
    slip_direction: Parameter
    push_sign: Parameter


class OfGate(NamedTuple):
    """Of a one-sided constraint. pushing: it is closed, and its force is watched; silent: closed, and not watched."""

    closed: Parameter
    open: Parameter
    pushing: Parameter
    silent: Parameter


#: The speed at which a contact on a surface has stopped.
SLOW_SPEED = Parameter.named(f"{DATA}slow_speed")


@lru_cache(maxsize=4096)
def of_contact(k: int) -> OfContact:
    """The data of contact number k."""
    return OfContact(*(Parameter.named(f"{DATA}{what}_{k}") for what in OfContact._fields))


@lru_cache(maxsize=4096)
def names_of_contact(k: int) -> tuple[str, ...]:
    """The names of the data of contact number k."""
    return tuple(symbol.name for symbol in of_contact(k))


@lru_cache(maxsize=4096)
def of_gate(j: int) -> OfGate:
    """The data of one-sided constraint number j."""
    return OfGate(*(Parameter.named(f"{DATA}{what}_{j}") for what in OfGate._fields))


@lru_cache(maxsize=4096)
def frame_symbols(k: int) -> tuple[tuple[Parameter, ...], ...]:
    """The three vectors from which the directions of contact number k are turned, see `frames`."""
    return tuple(tuple(Parameter.named(f"{DATA}frame_{k}_{i}{axis}") for axis in "xyz") for i in range(3))
