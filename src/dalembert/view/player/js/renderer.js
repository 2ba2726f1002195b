// One WebGL2 context draws every view of the page, each copied to its own canvas: browsers give few contexts, and a
// plain canvas keeps its picture on paper.

const INSTANCE = 17; // three axes, place, colour, mark
const INSTANCE_PARTS = [["axisX", 3], ["axisY", 3], ["axisZ", 3], ["at", 3], ["colour", 4], ["mark", 1]];
const LINE = 11; // two points, colour, width
const LINE_PARTS = [["first", 3], ["second", 3], ["colour", 4], ["width", 1]];

class Renderer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.gl = this.canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!this.gl) return;
    this.lost = false;
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.begin();
      redrawAll();
    });
    this.begin();
  }

  begin() {
    this.meshes = new Map();
    this.polylines = new WeakMap();
    this.bodies = this.program(BODY_VERTEX, BODY_FRAGMENT);
    this.wires = this.program(WIRE_VERTEX, BODY_FRAGMENT);
    this.lines = this.program(LINE_VERTEX, LINE_FRAGMENT);
    this.planes = this.program(PLANE_VERTEX, PLANE_FRAGMENT);
    this.corners = this.buffer(new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]));
    this.changing = this.gl.createBuffer();
    this.linesArray = this.gl.createVertexArray();
    this.planeArray = this.gl.createVertexArray();
  }

  program(vertex, fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(program) || gl.getShaderInfoLog(gl.getAttachedShaders(program)[0]));
    }
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms, place: (name) => gl.getAttribLocation(program, name) };
  }

  buffer(data, target = this.gl.ARRAY_BUFFER) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(target, buffer);
    this.gl.bufferData(target, data, this.gl.STATIC_DRAW);
    return buffer;
  }

  // An attribute read from the buffer that is bound now.
  attribute(program, name, count, stride, offset, perInstance) {
    const gl = this.gl;
    const place = program.place(name);
    if (place < 0) return;
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, count, gl.FLOAT, false, 4 * stride, 4 * offset);
    gl.vertexAttribDivisor(place, perInstance ? 1 : 0);
  }

  attributes(program, parts, stride, offset = 0) {
    for (const [name, count] of parts) {
      this.attribute(program, name, count, stride, offset, true);
      offset += count;
    }
  }

  // A mesh by its name or by the shape that has it, kept on the card.
  mesh(key, make, program) {
    if (!this.meshes.has(key)) {
      const gl = this.gl;
      const { places, normals, triangles } = make();
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      this.buffer(new Float32Array(places));
      this.attribute(program, "place", 3, 3, 0, false);
      this.buffer(new Float32Array(normals));
      this.attribute(program, "normal", 3, 3, 0, false);
      this.buffer(new Uint32Array(triangles), gl.ELEMENT_ARRAY_BUFFER);
      const instances = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, instances);
      this.attributes(program, INSTANCE_PARTS, INSTANCE);
      gl.bindVertexArray(null);
      this.meshes.set(key, { array, instances, count: triangles.length });
    }
    return this.meshes.get(key);
  }

  // Draw a picture of `drawing` (see shapes.js) into a canvas.
  draw(target, drawing, camera, background) {
    const gl = this.gl;
    const [width, height] = [target.width, target.height];
    if (this.canvas.width < width) this.canvas.width = width;
    if (this.canvas.height < height) this.canvas.height = height;
    gl.viewport(0, this.canvas.height - height, width, height);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(true);
    gl.clearColor(...background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);

    const { view, projection } = camera.matrices(width / height);
    this.seen = { view, projection, both: product(projection, view), pixels: [width, height], flat: camera.flat };
    this.drawBodies(drawing.solid);
    this.drawLines(drawing);
    gl.depthMask(false);
    for (const plane of drawing.planes) this.drawPlane(plane);
    this.drawBodies(drawing.clear);
    gl.depthMask(true);
    target.getContext("2d").drawImage(this.canvas, 0, 0, width, height, 0, 0, width, height);
  }

  drawBodies(batches) {
    const gl = this.gl;
    for (const [key, batch] of batches) {
      const program = key === "wire" ? this.wires : this.bodies;
      gl.useProgram(program.program);
      gl.uniformMatrix4fv(program.uniforms.view, false, this.seen.view);
      gl.uniformMatrix4fv(program.uniforms.projection, false, this.seen.projection);
      gl.uniform1f(program.uniforms.flatness, this.seen.flat ? 1 : 0);
      const mesh = this.mesh(key, batch.make, program);
      gl.bindVertexArray(mesh.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.instances);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(batch.data), gl.DYNAMIC_DRAW);
      gl.drawElementsInstanced(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0, batch.data.length / INSTANCE);
    }
    gl.bindVertexArray(null);
  }

  drawLines({ segments, polylines }) {
    const gl = this.gl;
    const program = this.lines;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(program.uniforms.both, false, this.seen.both);
    gl.uniform2f(program.uniforms.pixels, ...this.seen.pixels);
    gl.bindVertexArray(this.linesArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    this.attribute(program, "corner", 2, 2, 0, false);
    if (segments.length) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.changing);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(segments), gl.DYNAMIC_DRAW);
      this.attributes(program, LINE_PARTS, LINE);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, segments.length / LINE);
    }
    // Long lines stay on the card; a segment is a point and the next one of the same list.
    gl.disableVertexAttribArray(program.place("colour"));
    gl.disableVertexAttribArray(program.place("width"));
    for (const { points, count, colour, width } of polylines) {
      if (count < 2) continue;
      if (!this.polylines.has(points)) this.polylines.set(points, this.buffer(new Float32Array(points.flat())));
      gl.bindBuffer(gl.ARRAY_BUFFER, this.polylines.get(points));
      this.attribute(program, "first", 3, 3, 0, true);
      this.attribute(program, "second", 3, 3, 3, true);
      gl.vertexAttrib4f(program.place("colour"), ...colour);
      gl.vertexAttrib1f(program.place("width"), width);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count - 1);
    }
    gl.bindVertexArray(null);
  }

  drawPlane({ middle, alongX, alongY, colour, lines, cells }) {
    const gl = this.gl;
    const { program, uniforms } = this.planes;
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.both, false, this.seen.both);
    gl.uniform3f(uniforms.middle, ...middle);
    gl.uniform3f(uniforms.alongX, ...alongX);
    gl.uniform3f(uniforms.alongY, ...alongY);
    gl.uniform4f(uniforms.colour, ...colour);
    gl.uniform4f(uniforms.lines, ...lines);
    gl.uniform2f(uniforms.cells, ...cells);
    gl.bindVertexArray(this.planeArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    this.attribute(this.planes, "corner", 2, 2, 0, false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
  }
}
