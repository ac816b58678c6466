// Draws a graph on a plain canvas if there is no WebGL. While the picture moves, the last drawing is only transformed.

import { addHead } from "./graph_arrows.js";

/** Return an object that draws a model on a canvas. */
export function canvasDrawing(canvas, model) {
  return new Drawing(canvas, model);
}

class Drawing {
  kind = "canvas";

  constructor(canvas, model) {
    [this.canvas, this.model, this.marks] = [canvas, model, new Uint32Array()];
    this.sheet = document.createElement("canvas");
    this.drawn = null;
  }

  colour(palette, accent) {
    this.colours = Array.from({ length: palette.length / 4 }, (_, k) => `rgb(${palette.slice(4 * k, 4 * k + 3).join()})`);
    this.accent = `rgb(${accent.join()})`;
  }

  highlight(pairs) {
    this.marks = pairs;
  }

  /** Draw a frame, like the WebGL drawing; `moving` means that another frame follows soon. */
  draw(camera, { moving, ...look }) {
    const { canvas, sheet } = this;
    if (!moving || !this.drawn) this.#redraw(camera, look);
    const [then, now] = [this.drawn, camera.transform()];
    const by = now.scale[0] / then.scale[0];
    const ratio = canvas.width / camera.width;
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const [left, top] = [0, 1].map((k) => (now.offset[k] - then.offset[k] * by) * ratio);
    pen.drawImage(sheet, left, top, sheet.width * by, sheet.height * by);
  }

  close() {
    this.drawn = null;
  }

  #redraw(camera, { radius, opacity, chosen }) {
    const { sheet, canvas, model } = this;
    [sheet.width, sheet.height] = [canvas.width, canvas.height];
    this.drawn = camera.transform();
    this.pen = sheet.getContext("2d");
    this.pen.setTransform(canvas.width / camera.width, 0, 0, canvas.height / camera.height, 0, 0);
    this.places = onScreen(model.places, this.drawn);
    this.#edges(camera, opacity, chosen);
    this.#arrows(camera, opacity, chosen);
    for (let depth = model.first; depth <= model.last; depth += 1) this.#layer(camera, depth, radius, chosen);
    this.#lines(camera, this.marks, 0, this.marks.length, this.accent);
    const heads = model.oneWay(this.marks);
    this.#heads(camera, heads, 0, heads.length, this.accent);
  }

  #edges(camera, opacity, chosen) {
    for (const [depth, first, end] of this.#byDepth(this.model.edges)) {
      this.pen.globalAlpha = opacity * (chosen < 0 || chosen === depth ? 1 : 0.3);
      this.#lines(camera, this.model.edges, first, end, this.colours[depth]);
    }
    this.pen.globalAlpha = 1;
  }

  #arrows(camera, opacity, chosen) {
    const edges = (this.single ??= this.model.oneWay(this.model.edges));
    for (const [depth, first, end] of this.#byDepth(edges)) {
      this.pen.globalAlpha = Math.min(1, 1.6 * opacity) * (chosen < 0 || chosen === depth ? 1 : 0.2);
      this.#heads(camera, edges, first, end, this.colours[depth]);
    }
    this.pen.globalAlpha = 1;
  }

  /** The ranges of edges that start at nodes of one depth and are drawn in one stroke: [depth, first, end]. */
  *#byDepth(edges) {
    const { depth } = this.model;
    for (let first = 0; first < edges.length; ) {
      const here = depth[edges[first]];
      let end = first + 2;
      while (end < edges.length && depth[edges[end]] === here) end += 2;
      yield [here, first, end];
      first = end;
    }
  }

  #lines(camera, edges, first, end, colour) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.beginPath();
    for (const [from, to] of this.#ends(camera, edges, first, end)) {
      pen.moveTo(...from);
      pen.lineTo(...to);
    }
    pen.stroke();
  }

  #heads(camera, edges, first, end, colour) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.beginPath();
    for (const [from, to] of this.#ends(camera, edges, first, end)) addHead(pen, from, to);
    pen.fill();
  }

  /** Yield the end points of each edge that may be visible. */
  *#ends(camera, edges, first, end) {
    const { places } = this;
    for (let k = first; k < end; k += 2) {
      const [a, b] = [2 * edges[k], 2 * edges[k + 1]];
      if (outside(places[a], places[b], camera.width) || outside(places[a + 1], places[b + 1], camera.height)) continue;
      yield [[places[a], places[a + 1]], [places[b], places[b + 1]]];
    }
  }

  #layer(camera, depth, radius, chosen) {
    const { pen, places, model } = this;
    const [begin, end] = model.layer(depth);
    const [wide, high] = this.drawn.scale;
    const roomy = Math.max(radius, Math.min(4, 0.25 * (model.room[begin] ?? 0) * wide, 0.3 * model.gap * high));
    const side = 2 * (roomy + (chosen === depth ? 1.2 : 0));
    pen.fillStyle = this.colours[depth];
    pen.globalAlpha = chosen < 0 || chosen === depth ? 1 : 0.2;
    for (let node = begin; node < end; node += 1) {
      const [x, y] = [places[2 * node], places[2 * node + 1]];
      if (x < -side || y < -side || x > camera.width + side || y > camera.height + side) continue;
      pen.fillRect(x - side / 2, y - side / 2, side, side);
    }
    pen.globalAlpha = 1;
  }
}

function onScreen(places, { scale, offset }) {
  return places.map((place, k) => place * scale[k % 2] + offset[k % 2]);
}

function outside(a, b, size) {
  return (a < 0 && b < 0) || (a > size && b > size);
}
