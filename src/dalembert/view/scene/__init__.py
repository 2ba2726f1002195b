"""A motion as plain data of shapes over frames, which the renderers of files and the player of pages show.

`Scene.to_dict()` is what they agree on:

    {"name": text, "dimensions": 2 | 3, "times": [seconds of each frame],
     "bounds": [[least x, y, z], [largest x, y, z]],         of all shapes over all frames, without planes
     "force_scale": length of an arrow per unit of force, or null,
     "shapes": [{"kind", "label", "color": "#rrggbb", "opacity", "role", …}],
     "events": [{"time", "name", "position": [x, y, z] | null, "kind": "impact" | "event" | "stick" | "slip"}]}

role: "" | "impressed" | "ideal" | "nonideal" | "contact" | "ghost" | "ground". What else a shape has, where "rows" are
one row [x, y, z] per frame, or a single row where nothing changes, and a rotation is a unit quaternion [w, x, y, z]
from the axes of the shape to those of the drawing:

    point    position: rows, radius
    sphere   position: rows, rotation: rows, radius
    disk     position, rotation: rows, radius, thickness, hollow: its axis is z and its spoke along x
    box      position, rotation: rows, size: [a, b, c] along its axes
    rod      from, to: rows, width
    spring   from, to: rows, width, coils
    trace    position: rows; it is drawn up to the frame shown; seconds: how far back, or null
    plane    position, normal, rotation: rows, size: the length of its sides; its normal is z
    curve    points: [[x, y, z], …] in its own axes, position, rotation: rows
    mesh     vertices, faces in its own axes, position, rotation: rows
    arrow    position, vector: rows, in lengths of the drawing
    cone     position, normal: rows, angle: half of its opening, size: its height
    dial     position, rotation: rows, radius; a round scale with a hand along x

"visible": [true, false, …] per frame stands where a shape is not always there. In two dimensions z = 0.
"""
