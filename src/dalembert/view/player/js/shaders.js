// Programs for the graphics card. Light comes from above the right shoulder of the viewer.

const HEADER = "#version 300 es\nprecision highp float;\nprecision highp int;\n";

// Bodies: instances of one mesh, each with three axes, a place, a colour and a mark that shows its turning.
const BODY_VERTEX = HEADER + `
in vec3 place; in vec3 normal;
in vec3 axisX; in vec3 axisY; in vec3 axisZ; in vec3 at; in vec4 colour; in float mark;
uniform mat4 view; uniform mat4 projection;
out vec3 eyeNormal; out vec3 eyePlace; out vec3 own; out vec4 tint; flat out int marking;
void main() {
  vec3 world = at + place.x * axisX + place.y * axisY + place.z * axisZ;
  vec3 turned = normal.x * axisX / dot(axisX, axisX) + normal.y * axisY / dot(axisY, axisY)
    + normal.z * axisZ / dot(axisZ, axisZ);
  vec4 eye = view * vec4(world, 1.0);
  eyeNormal = mat3(view) * normalize(turned);
  eyePlace = eye.xyz; own = place; tint = colour; marking = int(mark + 0.5);
  gl_Position = projection * eye;
}`;

// The wire of a spring: place.x runs along it, place.y around. axisX: from one end to the other; axisY, axisZ: the
// radius of the coils in two directions across; mark: coils + radius of the wire.
const WIRE_VERTEX = HEADER + `
in vec3 place; in vec3 normal;
in vec3 axisX; in vec3 axisY; in vec3 axisZ; in vec3 at; in vec4 colour; in float mark;
uniform mat4 view; uniform mat4 projection;
out vec3 eyeNormal; out vec3 eyePlace; out vec3 own; out vec4 tint; flat out int marking;
const float LEAD = 0.07;
float angleOf(float s) { return 6.2831853 * floor(mark) * clamp((s - LEAD) / (1.0 - 2.0 * LEAD), 0.0, 1.0); }
vec3 centre(float s) {
  float reach = smoothstep(0.4 * LEAD, 1.3 * LEAD, s) * (1.0 - smoothstep(1.0 - 1.3 * LEAD, 1.0 - 0.4 * LEAD, s));
  return at + s * axisX + reach * (cos(angleOf(s)) * axisY + sin(angleOf(s)) * axisZ);
}
void main() {
  float s = place.x;
  vec3 tangent = normalize(centre(s + 0.0008) - centre(s - 0.0008));
  vec3 outward = normalize(cos(angleOf(s)) * axisY + sin(angleOf(s)) * axisZ);
  vec3 side = normalize(cross(tangent, outward));
  vec3 around = cos(place.y) * cross(side, tangent) + sin(place.y) * side;
  vec4 eye = view * vec4(centre(s) + fract(mark) * around, 1.0);
  eyeNormal = mat3(view) * around;
  eyePlace = eye.xyz; own = vec3(0.0); tint = colour; marking = 0;
  gl_Position = projection * eye;
}`;

const BODY_FRAGMENT = HEADER + `
in vec3 eyeNormal; in vec3 eyePlace; in vec3 own; in vec4 tint; flat in int marking;
uniform float flatness; // 1: seen without perspective, so that the eye is far away
out vec4 result;
float band(float distance, float half_width) { // 1 inside, smooth at its edge
  float soft = max(fwidth(distance), 1e-5);
  return 1.0 - smoothstep(half_width - soft, half_width + soft, abs(distance));
}
float marked() {
  if (marking == 1) { // a disk: one broad spoke, a ring near the rim, a hub; a stripe across the rim
    float radius = length(own.xy);
    if (abs(own.z) < 0.999 && radius > 0.999) return band(own.y, 0.07) * step(0.0, own.x);
    float spoke = band(own.y, 0.06) * step(0.0, own.x) * step(radius, 0.97);
    return max(max(spoke, 0.7 * band(radius - 0.9, 0.025)), band(radius, 0.13));
  }
  if (marking == 2) { // a sphere: octants, light and dark
    float edge = own.x * own.y * own.z;
    float soft = max(fwidth(edge), 1e-5);
    return 0.45 * smoothstep(-soft, soft, edge);
  }
  if (marking == 3) return band(own.y, 0.1) * step(0.0, own.x); // a hoop: a piece of it
  return 0.0;
}
void main() {
  vec3 toEye = normalize(mix(-eyePlace, vec3(0.0, 0.0, 1.0), flatness));
  vec3 n = normalize(eyeNormal);
  if (dot(n, toEye) < 0.0) n = -n;
  vec3 base = pow(tint.rgb, vec3(2.2));
  float lightness = dot(base, vec3(0.2126, 0.7152, 0.0722));
  vec3 other = lightness > 0.3 ? base * 0.12 : mix(base, vec3(1.0), 0.75);
  base = mix(base, other, marked());
  vec3 key = normalize(vec3(0.35, 0.65, 0.75));
  vec3 fill = normalize(vec3(-0.7, -0.15, 0.5));
  float diffuse = 0.72 * max(dot(n, key), 0.0) + 0.18 * max(dot(n, fill), 0.0);
  float ambient = 0.26 + 0.10 * n.y;
  float shine = pow(max(dot(n, normalize(key + toEye)), 0.0), 48.0) * mix(0.30, 0.12, flatness);
  vec3 lit = base * (ambient + diffuse) + vec3(shine);
  result = vec4(pow(lit, vec3(1.0 / 2.2)) * tint.a, tint.a);
}`;

// Lines of a width in pixels: each segment between two points is a rectangle that faces the viewer.
const LINE_VERTEX = HEADER + `
in vec2 corner; in vec3 first; in vec3 second; in vec4 colour; in float width;
uniform mat4 both; uniform vec2 pixels;
out vec4 tint;
void main() {
  vec4 a = both * vec4(first, 1.0);
  vec4 b = both * vec4(second, 1.0);
  const float LEAST = 1e-3; // an end behind the eye is moved in front of it
  if (a.w < LEAST && b.w > LEAST) a = mix(a, b, (LEAST - a.w) / (b.w - a.w));
  if (b.w < LEAST && a.w > LEAST) b = mix(b, a, (LEAST - b.w) / (a.w - b.w));
  vec2 run = (b.xy / b.w - a.xy / a.w) * pixels;
  vec2 along = length(run) > 1e-6 ? normalize(run) : vec2(1.0, 0.0);
  vec2 aside = vec2(-along.y, along.x);
  vec4 here = mix(a, b, corner.x);
  vec2 shift = (aside * corner.y + along * (2.0 * corner.x - 1.0)) * width * 0.5;
  here.xy += shift * 2.0 / pixels * here.w;
  here.z -= 4e-4 * here.w; // a little nearer, so that lines on a surface are whole
  tint = colour;
  gl_Position = here;
}`;

const LINE_FRAGMENT = HEADER + `
in vec4 tint; out vec4 result;
void main() { result = vec4(tint.rgb * tint.a, tint.a); }`;

// A plane with a grid that fades towards its edge.
const PLANE_VERTEX = HEADER + `
in vec2 corner;
uniform vec3 middle; uniform vec3 alongX; uniform vec3 alongY; uniform mat4 both;
out vec2 own;
void main() {
  own = vec2(2.0 * corner.x - 1.0, corner.y);
  gl_Position = both * vec4(middle + own.x * alongX + own.y * alongY, 1.0);
}`;

const PLANE_FRAGMENT = HEADER + `
in vec2 own;
uniform vec4 colour; uniform vec4 lines; uniform vec2 cells; // cells: of the grid between the middle and the edge
out vec4 result;
float grid(vec2 at) {
  vec2 step_ = fwidth(at);
  vec2 distance = abs(fract(at - 0.5) - 0.5) / max(step_, vec2(1e-6));
  vec2 line = (1.0 - clamp(distance - 0.3, 0.0, 1.0)) * (1.0 - smoothstep(0.3, 0.6, step_));
  return max(line.x, line.y);
}
void main() {
  vec2 far = smoothstep(vec2(1.0), vec2(0.8), abs(own));
  float alpha = mix(colour.a, lines.a, grid(own * cells));
  vec3 tone = mix(colour.rgb, lines.rgb, grid(own * cells));
  alpha *= far.x * far.y;
  result = vec4(tone * alpha, alpha);
}`;
