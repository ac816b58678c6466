// Draws a graph with WebGL. The nodes and edges are sent to the graphics card once; a frame only sends a few numbers.

import { Arrows } from "./graph_arrows.js";
import { linkProgram } from "./graph_program.js";

const VERTEX = `#version 300 es
precision highp float;
in vec2 place;
in float depth, room;
uniform vec2 scale, offset, size;
uniform float radius, chosen, layers, ratio, gap;
uniform sampler2D palette;
uniform vec4 single;
out vec4 colour;
out float pixels;
void main() {
  vec2 at = (place * scale + offset) / size;
  gl_Position = vec4(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, 0.0, 1.0);
  bool bright = chosen < 0.0 || abs(chosen - depth) < 0.5;
  float roomy = max(radius, min(4.0, min(0.25 * room * scale.x, 0.3 * gap * scale.y)));
  gl_PointSize = ratio * 2.0 * (roomy + (chosen >= 0.0 && bright ? 1.2 : 0.0)) + 1.0;
  pixels = gl_PointSize;
  colour = texture(palette, vec2((depth + 0.5) / layers, 0.5));
  colour.a = bright ? single.a : single.a * 0.2;
  if (single.r >= 0.0) colour = single;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
in float pixels;
uniform float points;
out vec4 result;
void main() {
  float alpha = colour.a;
  if (points > 0.5) {
    vec2 from = gl_PointCoord - 0.5;
    float far = 2.0 * length(from);
    alpha *= 1.0 - smoothstep(1.0 - min(1.0, 3.0 / pixels), 1.0, far);
  }
  result = vec4(colour.rgb * alpha, alpha);
}`;
const UNIFORMS = ["scale", "offset", "size", "radius", "chosen", "layers", "ratio", "palette", "single", "points", "gap"];
const THEMSELVES = -1;

/** Return an object that draws a model on a canvas, or null if the browser has no WebGL 2. */
export function webglDrawing(canvas, model) {
  const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, powerPreference: "high-performance" });
  return gl && new Drawing(gl, canvas, model);
}

class Drawing {
  kind = "WebGL";

  constructor(gl, canvas, model) {
    [this.gl, this.canvas, this.model, this.highlit] = [gl, canvas, model, 0];
    this.program = linkProgram(gl, VERTEX, FRAGMENT);
    this.at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.#attribute("place", model.places, 2, gl.FLOAT);
    this.#attribute("depth", model.depth, 1, gl.UNSIGNED_SHORT);
    this.#attribute("room", model.room, 1, gl.FLOAT);
    [this.edges, this.marks] = [this.#indices(model.edges), this.#indices(new Uint32Array())];
    [this.arrows, this.markArrows] = [new Arrows(gl, model), new Arrows(gl, model)];
    this.arrows.set(model.oneWay(model.edges));
    gl.useProgram(this.program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform1f(this.at.layers, model.last + 1);
    gl.uniform1f(this.at.gap, model.gap);
  }

  /** Set the colours: four bytes for each depth, and three bytes for highlighted edges. */
  colour(palette, accent) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, (this.palette ??= gl.createTexture()));
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.NEAREST],
      [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
    ])
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, palette.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, palette);
    this.accent = accent.map((byte) => byte / 255);
  }

  /** Set the edges to highlight, as pairs of nodes. */
  highlight(pairs) {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.marks);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, pairs, gl.DYNAMIC_DRAW);
    this.highlit = pairs.length;
    this.markArrows.set(this.model.oneWay(pairs));
  }

  /** Draw a frame, given the camera, the radius of nodes, the opacity of edges, and the emphasised depth or -1. */
  draw(camera, { radius, opacity, chosen }) {
    const { gl, at, canvas } = this;
    const { scale, offset } = camera.transform();
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2fv(at.scale, scale);
    gl.uniform2fv(at.offset, offset);
    gl.uniform2f(at.size, camera.width, camera.height);
    gl.uniform1f(at.ratio, canvas.width / camera.width);
    gl.uniform1f(at.radius, radius);
    gl.uniform1f(at.chosen, chosen);
    gl.uniform1f(at.points, 0);
    this.#lines(this.edges, this.model.edges.length, [THEMSELVES, 0, 0, opacity]);
    this.arrows.draw(camera, chosen, [THEMSELVES, 0, 0, Math.min(1, 1.6 * opacity)]);
    gl.useProgram(this.program);
    this.#nodes([THEMSELVES, 0, 0, 1]);
    this.#lines(this.marks, this.highlit, [...this.accent, 1]);
    this.markArrows.draw(camera, -1, [...this.accent, 1]);
    gl.useProgram(this.program);
    this.#nodesOf(this.marks, this.highlit, [...this.accent, 1]);
  }

  close() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  #lines(buffer, length, single) {
    const { gl, at } = this;
    if (!length) return;
    gl.uniform1f(at.points, 0);
    gl.uniform4fv(at.single, single);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.drawElements(gl.LINES, length, gl.UNSIGNED_INT, 0);
  }

  #nodes(single) {
    this.#points(single);
    this.gl.drawArrays(this.gl.POINTS, 0, this.model.count);
  }

  #nodesOf(buffer, length, single) {
    if (!length) return;
    this.#points(single);
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, buffer);
    this.gl.drawElements(this.gl.POINTS, length, this.gl.UNSIGNED_INT, 0);
  }

  #points(single) {
    this.gl.uniform1f(this.at.points, 1);
    this.gl.uniform4fv(this.at.single, single);
  }

  #attribute(name, values, parts, type) {
    const { gl } = this;
    const where = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(where);
    gl.vertexAttribPointer(where, parts, type, false, 0, 0);
  }

  #indices(values) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, values, gl.STATIC_DRAW);
    return buffer;
  }
}
