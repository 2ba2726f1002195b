// Bodies of unit size as triangles: places and normals, three numbers each.

// A surface over a grid of two numbers from 0 to 1; `point` gives a place and a normal.
function surface(across, along, point) {
  const [places, normals, triangles] = [[], [], []];
  for (let j = 0; j <= along; j++) {
    for (let i = 0; i <= across; i++) {
      const [place, normal] = point(i / across, j / along);
      places.push(...place);
      normals.push(...normal);
      if (i < across && j < along) {
        const corner = j * (across + 1) + i;
        triangles.push(corner, corner + 1, corner + across + 1, corner + 1, corner + across + 2, corner + across + 1);
      }
    }
  }
  return { places, normals, triangles };
}

function together(...parts) {
  const whole = { places: [], normals: [], triangles: [] };
  for (const part of parts) {
    const first = whole.places.length / 3;
    whole.places.push(...part.places);
    whole.normals.push(...part.normals);
    whole.triangles.push(...part.triangles.map((index) => index + first));
  }
  return whole;
}

const circle = (part) => [Math.cos(2 * Math.PI * part), Math.sin(2 * Math.PI * part)];

function sphere() {
  return surface(40, 24, (u, v) => {
    const [x, y] = circle(u);
    const polar = Math.PI * (v - 0.5);
    const place = [Math.cos(polar) * x, Math.cos(polar) * y, Math.sin(polar)];
    return [place, place];
  });
}

// Around the z axis; radii at both ends, z from `low` to 1.
function side(first, last, low, around = 48) {
  const tilt = (first - last) / (1 - low);
  return surface(around, 1, (u, v) => {
    const [x, y] = circle(u);
    const radius = first + (last - first) * v;
    return [[radius * x, radius * y, low + (1 - low) * v], unit([x, y, tilt])];
  });
}

function cap(radius, z, sign, around = 48) {
  return surface(around, 1, (u, v) => {
    const [x, y] = circle(u);
    return [[radius * v * x, radius * v * y, z], [0, 0, sign]];
  });
}

function box() {
  const faces = [];
  for (const [a, b, c] of [[0, 1, 2], [1, 2, 0], [2, 0, 1]]) {
    for (const sign of [-1, 1]) {
      faces.push(surface(1, 1, (u, v) => {
        const [place, normal] = [[0, 0, 0], [0, 0, 0]];
        [place[a], place[b], place[c], normal[c]] = [2 * u - 1, 2 * v - 1, sign, sign];
        return [place, normal];
      }));
    }
  }
  return together(...faces);
}

// A ring around the z axis.
function hoop() {
  return surface(96, 16, (u, v) => {
    const [x, y] = circle(u);
    const [out, up] = circle(v);
    return [[x * (1 + 0.05 * out), y * (1 + 0.05 * out), 0.05 * up], [x * out, y * out, up]];
  });
}

// Every triangle with corners of its own, so that edges stay sharp.
function facets(vertices, faces) {
  const [places, normals, triangles] = [[], [], []];
  for (const face of faces) {
    for (let k = 1; k + 1 < face.length; k++) {
      const corners = [face[0], face[k], face[k + 1]].map((index) => vertices[index]);
      const normal = unit(cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])));
      for (const corner of corners) {
        triangles.push(places.length / 3);
        places.push(...corner);
        normals.push(...normal);
      }
    }
  }
  return { places, normals, triangles };
}

const BODIES = {
  sphere,
  box,
  hoop,
  cylinder: () => together(side(1, 1, 0, 24), cap(1, 0, -1, 24), cap(1, 1, 1, 24)), // from the origin to z = 1
  disk: () => together(side(1, 1, -1, 72), cap(1, -1, -1, 72), cap(1, 1, 1, 72)), // z from -1 to 1
  cone: () => together(side(1, 0, 0, 32), cap(1, 0, -1, 32)), // tip at z = 1
  funnel: () => side(0, 1, 0, 48), // tip at the origin, open at z = 1
};

// The wire of a spring is bent in the shader: places hold how far along and around.
const WIRE = () => surface(8, 420, (u, v) => [[v, 2 * Math.PI * u, 0], [0, 0, 1]]);
