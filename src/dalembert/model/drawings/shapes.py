"""The shapes of a drawing: `da.Disk`, `da.Rod`, `da.Spring`, …: frozen values that a system keeps as `system.draw`.

A place has two or three components, a size is one: expressions in coordinates and their derivatives, definitions,
parameters and t, as text or SymPy's, as everywhere in a model. What each field holds is said by its `Kind`, by which
drawings are read (`model.drawings.read_drawings`), changed and written. A drawing never influences a motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, get_type_hints

FORCES = ("impressed", "ideal", "nonideal")


class Kind(Enum):
    """What a field of a shape holds."""

    PLACE = "a place of 2 or 3 components"
    DIRECTION = "a direction of 2 or 3 components"
    QUATERNION = "a quaternion of 4 components (w, x, y, z)"
    SIZES = "2 or 3 lengths"
    SCALAR = "an expression"
    PLACES = "a list of places of 2 or 3 components, or one place in terms of a variable, see over"
    RANGE = "a variable with its limits, as ('s', 0, '2*pi')"
    NUMBERS = "a list of rows of numbers"
    COUNT = "a positive whole number"
    SHARE = "a number from 0 to 1"
    FLAG = "true or false"
    TEXT = "a line of text"
    COLOUR = "a colour"
    FORCE = "impressed, ideal or nonideal"
    NAMES = "names of coordinates"


# Kinds that are made of expressions: one, and several.
ONE, SEVERAL = (Kind.SCALAR,), (Kind.PLACE, Kind.DIRECTION, Kind.QUATERNION, Kind.SIZES)


Place = Annotated[Any, Kind.PLACE]
Direction = Annotated[Any, Kind.DIRECTION]
Quaternion = Annotated[Any, Kind.QUATERNION]
Sizes = Annotated[Any, Kind.SIZES]
Scalar = Annotated[Any, Kind.SCALAR]
Places = Annotated[Any, Kind.PLACES]
Range = Annotated[Any, Kind.RANGE]
Numbers = Annotated[Any, Kind.NUMBERS]
Count = Annotated[int, Kind.COUNT]
Share = Annotated[float, Kind.SHARE]
Flag = Annotated[bool, Kind.FLAG]
Text = Annotated[str, Kind.TEXT]
Colour = Annotated[str, Kind.COLOUR]
Force = Annotated[str | None, Kind.FORCE]
Names = Annotated[Any, Kind.NAMES]
#: Fields that documents call by other names, which are no names in Python.
KEYS = {"a": "from", "b": "to"}


@dataclass(frozen=True)
class Part:
    """A field of a kind of shape. key: its name in documents. needed: it has no default."""

    name: str
    key: str
    kind: Kind
    needed: bool
    default: Any


@dataclass(frozen=True)
class Shape:
    """What all shapes have: a label beside it, a colour (a name such as "blue", or "#0072b2"), and how opaque it is,
    from 0 to 1.
    """

    name: ClassVar[str] = ""
    label: Text = field(default="", kw_only=True)
    color: Colour = field(default="", kw_only=True)
    opacity: Share = field(default=1.0, kw_only=True)

    @classmethod
    @cache
    def parts(cls) -> tuple[Part, ...]:
        hints = get_type_hints(cls, include_extras=True)
        return tuple(
            Part(f.name, KEYS.get(f.name, f.name), hints[f.name].__metadata__[0], f.default is MISSING, f.default)
            for f in fields(cls)
        )

    def map_expressions(self, change: Callable[[Any], Any]) -> Shape:
        """The same with every expression changed."""
        found: dict[str, Any] = {}
        for part in self.parts():
            kind, value = part.kind, getattr(self, part.name)
            if value is None:
                continue
            if kind in ONE:
                found[part.name] = change(value)
            elif kind in SEVERAL:
                found[part.name] = tuple(map(change, value))
            elif kind is Kind.PLACES:
                found[part.name] = tuple(tuple(map(change, place)) for place in value)
            elif kind is Kind.RANGE:
                found[part.name] = (value[0], *map(change, value[1:]))
        return replace(self, **found)

    def expressions(self) -> list[Any]:
        """Every expression of a shape that has been read."""
        found: list[Any] = []

        def keep(expression: Any) -> Any:
            found.append(expression)
            return expression

        self.map_expressions(keep)
        return found


@dataclass(frozen=True)
class Point(Shape):
    """A dot. radius: as large as looks well unless given."""

    name: ClassVar[str] = "point"
    at: Place
    radius: Scalar = None


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball, turned by `angle` about `axis`, or by the quaternion `rotation`; it has marks that show its turning."""

    name: ClassVar[str] = "sphere"
    center: Place
    radius: Scalar
    angle: Scalar = None
    axis: Direction = None
    rotation: Quaternion = None


@dataclass(frozen=True)
class Disk(Shape):
    """A wheel or a coin about `axis` (in a plane: about its normal), turned by `angle`. A spoke shows the turning: at
    angle 0 it points as nearly as it can to `mark`, by default downwards, −z; along x where the axis is that.
    thickness: along the axis. hollow: a hoop.
    """

    name: ClassVar[str] = "disk"
    center: Place
    radius: Scalar
    angle: Scalar = None
    axis: Direction = None
    mark: Direction = None
    thickness: Scalar = None
    hollow: Flag = False


@dataclass(frozen=True)
class Box(Shape):
    """A block with edges of the lengths `size`, turned by `angle` about `axis` (in a plane: its normal), or by the
    quaternion `rotation`.
    """

    name: ClassVar[str] = "box"
    center: Place
    size: Sizes
    angle: Scalar = None
    axis: Direction = None
    rotation: Quaternion = None


@dataclass(frozen=True)
class Rod(Shape):
    """A straight bar or string from a to b. width: its thickness, as looks well unless given."""

    name: ClassVar[str] = "rod"
    a: Place
    b: Place
    width: Scalar = None


@dataclass(frozen=True)
class Spring(Shape):
    """A coil from a to b."""

    name: ClassVar[str] = "spring"
    a: Place
    b: Place
    coils: Count = 10
    width: Scalar = None


@dataclass(frozen=True)
class Trace(Shape):
    """The way that a place has gone so far. seconds: of the last so many only."""

    name: ClassVar[str] = "trace"
    at: Place
    seconds: Scalar = None


@dataclass(frozen=True)
class Plane(Shape):
    """A ground or a wall through `at`, across `normal`, which points to its free side; in a plane it is a line.
    size: how far it goes, as far as the drawing unless given.
    """

    name: ClassVar[str] = "plane"
    at: Place
    normal: Direction
    size: Scalar = None


@dataclass(frozen=True)
class Curve(Shape):
    """A fixed curve: a list of places, or one place in terms of a variable, `("a*cos(s)", "a*sin(s)")` with
    `over=("s", 0, "2*pi")`, both of numbers and parameters only. It may move as a whole: to `at`, turned by `angle`
    about `axis`, or by the quaternion `rotation`.
    """

    name: ClassVar[str] = "curve"
    points: Places
    over: Range = None
    at: Place = None
    angle: Scalar = None
    axis: Direction = None
    rotation: Quaternion = None


@dataclass(frozen=True)
class Mesh(Shape):
    """A surface of triangles: from a `file` (.obj or .stl), or `vertices`, rows of 3 numbers, with `faces`, rows of 3
    numbers of vertices counted from 0. It moves as `Curve` does; scale: how much larger than written.
    """

    name: ClassVar[str] = "mesh"
    file: Text = ""
    vertices: Numbers = None
    faces: Numbers = None
    at: Place = None
    angle: Scalar = None
    axis: Direction = None
    rotation: Quaternion = None
    scale: Scalar = None


@dataclass(frozen=True)
class Arrow(Shape):
    """A vector from `at`, in the lengths of the drawing; or a force. force: "impressed", "ideal" or "nonideal"; it is
    `vector` where that is given, else what the motion has along the coordinates `of`, which must move `at` as Cartesian
    coordinates do (by default all that it depends on). All forces of a drawing have one scale.
    """

    name: ClassVar[str] = "arrow"
    at: Place
    vector: Direction = None
    force: Force = None
    of: Names = None


class Drawing(tuple[Shape, ...]):
    """Shapes that have been read: their expressions are in the symbols of a model."""

    @cached_property
    def symbols(self) -> frozenset[Any]:
        """What their expressions hold, without the variables of curves."""
        local = {(shape, shape.over[0]) for shape in self if isinstance(shape, Curve) and shape.over is not None}
        used = ((shape, s) for shape in self for e in shape.expressions() for s in e.free_symbols)
        return frozenset(symbol for shape, symbol in used if (shape, symbol.name) not in local)


SHAPES: dict[str, type[Shape]] = {
    shape.name: shape for shape in (Point, Sphere, Disk, Box, Rod, Spring, Trace, Plane, Curve, Mesh, Arrow)
}
