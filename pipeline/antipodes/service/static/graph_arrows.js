// Arrowheads in the middle of one-way edges, drawn with WebGL or as paths on a canvas.

import { linkProgram } from "./graph_program.js";

/** Length of a head in pixels, or its share of a short edge; half its width per length; its place on the edge; minimum length. */
const HEAD = { length: 10, share: 0.3, width: 0.42, place: 0.6, least: 2.5 };

const VERTEX = `#version 300 es
precision highp float;
in vec2 begin, end;
in float depth;
uniform vec2 scale, offset, size;
uniform float chosen, layers;
uniform sampler2D palette;
uniform vec4 single;
out vec4 colour;
void main() {
  vec2 from = begin * scale + offset, way = end * scale + offset - from;
  float far = length(way);
  float large = min(${HEAD.length.toFixed(1)}, ${HEAD.share} * far);
  vec2 along = large < ${HEAD.least} ? vec2(0.0) : way / far;
  float side = gl_VertexID == 0 ? 0.0 : gl_VertexID == 1 ? 1.0 : -1.0;
  vec2 at = from + ${HEAD.place} * way - large * abs(side) * along + ${HEAD.width} * large * side * vec2(-along.y, along.x);
  at /= size;
  gl_Position = vec4(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, 0.0, 1.0);
  colour = texture(palette, vec2((depth + 0.5) / layers, 0.5));
  colour.a = chosen < 0.0 || abs(chosen - depth) < 0.5 ? single.a : single.a * 0.2;
  if (single.r >= 0.0) colour = single;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
out vec4 result;
void main() {
  result = vec4(colour.rgb * colour.a, colour.a);
}`;
const UNIFORMS = ["scale", "offset", "size", "chosen", "layers", "palette", "single"];
const NUMBERS = 5;

/** The arrowheads of some edges, drawn with WebGL. */
export class Arrows {
  constructor(gl, model) {
    [this.gl, this.model, this.count] = [gl, model, 0];
    this.program = linkProgram(gl, VERTEX, FRAGMENT);
    this.at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(this.program, name)]));
    [this.array, this.buffer] = [gl.createVertexArray(), gl.createBuffer()];
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    [["begin", 2, 0], ["end", 2, 2], ["depth", 1, 4]].forEach((one) => this.#attribute(...one));
    gl.bindVertexArray(null);
  }

  /** Set the edges that get arrowheads, as pairs of nodes; the head points to the second node. */
  set(pairs) {
    const { gl, model } = this;
    const { places, depth } = model;
    this.count = pairs.length / 2;
    const values = new Float32Array(NUMBERS * this.count);
    for (let k = 0; k < this.count; k += 1) {
      const [from, to] = [pairs[2 * k], pairs[2 * k + 1]];
      values.set([places[2 * from], places[2 * from + 1], places[2 * to], places[2 * to + 1], depth[from]], NUMBERS * k);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  /** Draw the heads in the colours of their depths, or in the colour `single` if its red component is not negative. */
  draw(camera, chosen, single) {
    if (!this.count) return;
    const { gl, at, model } = this;
    const { scale, offset } = camera.transform();
    gl.useProgram(this.program);
    gl.uniform2fv(at.scale, scale);
    gl.uniform2fv(at.offset, offset);
    gl.uniform2f(at.size, camera.width, camera.height);
    gl.uniform1f(at.chosen, chosen);
    gl.uniform1f(at.layers, model.last + 1);
    gl.uniform4fv(at.single, single);
    gl.bindVertexArray(this.array);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 3, this.count);
    gl.bindVertexArray(null);
  }

  #attribute(name, parts, first) {
    const { gl } = this;
    const where = gl.getAttribLocation(this.program, name);
    gl.enableVertexAttribArray(where);
    gl.vertexAttribPointer(where, parts, gl.FLOAT, false, 4 * NUMBERS, 4 * first);
    gl.vertexAttribDivisor(where, 1);
  }
}

/** Add the arrowhead of an edge between two points to the current path of a canvas context. */
export function addHead(pen, [ax, ay], [bx, by]) {
  const [right, down] = [bx - ax, by - ay];
  const far = Math.hypot(right, down);
  const large = Math.min(HEAD.length, HEAD.share * far);
  if (large < HEAD.least) return;
  const [x, y] = [right / far, down / far];
  const tip = [ax + HEAD.place * right, ay + HEAD.place * down];
  const [left, top] = [tip[0] - large * x, tip[1] - large * y];
  const half = HEAD.width * large;
  pen.moveTo(...tip);
  pen.lineTo(left - half * y, top + half * x);
  pen.lineTo(left + half * y, top - half * x);
  pen.closePath();
}
