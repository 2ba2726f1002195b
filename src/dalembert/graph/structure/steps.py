"""What is computed at a state of a large system, as a list of small steps on one array of numbers.

A step is a code (what is computed; the same for all steps that look alike) and the places it works on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dalembert.graph.structure.derive import Contribution, Derivatives
from dalembert.graph.structure.step_list import Code, StepList
from dalembert.graph.structure.templates import Instance


@dataclass(frozen=True)
class Structured:
    """A system as instances of templates. Quantities 0 … n − 1 are coordinates, those after them defined ones; of the
    last `rates_only` of these, only the rate is defined.

    constraints: whether each is one on velocities, and its instance. forces: the coordinate each acts on.
    """

    coordinates: int
    definitions: Sequence[Instance]
    kinetic: Sequence[Instance]
    potential: Sequence[Instance]
    forces: Sequence[tuple[int, Instance]]
    constraints: Sequence[tuple[bool, Instance]]
    parameters: int
    derivatives: Derivatives
    rates_only: int = 0
    timed: bool = False  # the time stands in the model itself
    moving: bool = False  # it stands in definitions: quantities move by themselves
    placed: Mapping[str, int] = field(default_factory=dict)  # the number of each quantity that the model defines

    @property
    def quantities(self) -> int:
        return self.coordinates + len(self.definitions)

    def has_value(self, k: int) -> bool:
        """Whether the k-th definition gives a value, and not only a rate."""
        return k < len(self.definitions) - self.rates_only


@dataclass
class Program:
    """Steps in their order. The first places hold the quantities, their rates, the time and the parameters."""

    quantities: int
    parameters: int
    steps: StepList = field(default_factory=StepList)
    numbers: dict[float, int] = field(default_factory=dict)  # that never change, with their places
    contributions: dict[Code, Contribution] = field(default_factory=dict)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = 2 * self.quantities + 1 + self.parameters

    def place(self) -> int:
        self.size += 1
        return self.size - 1

    def number(self, value: float) -> int:
        """The place of a number."""
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = self.place()
        return found

    def contribute(
        self, role: str, instance: Instance, made: Contribution, into: Sequence[int], news: Sequence[bool] = ()
    ) -> None:
        """A step that computes what an instance contributes. news: whether each place is written for the first time;
        without, all are.
        """
        code = (role, instance.template, tuple(news))
        self.contributions.setdefault(code, made)
        start = 2 * self.quantities + 1
        given = [self.number(k) if isinstance(k, float) else start + k for k in instance.given]
        z = instance.quantities
        inputs = [*z, *(self.quantities + i for i in z), *given, 2 * self.quantities]
        self.steps.add(code, (*inputs, *into))

    def step(self, *code: object, at: Sequence[int]) -> None:
        self.steps.add(code, at)

    def forget_steps(self) -> None:
        """Once they are compiled, nobody needs them."""
        self.steps = StepList()
