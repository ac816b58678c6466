// A graph on a stage: the canvas, the ruler of depths, and the markers above it, redrawn when something changes.

import { element } from "./elements.js";
import { Camera } from "./graph_camera.js";
import { canvasDrawing } from "./graph_canvas.js";
import { depthColours, isDark, onThemeChange, styleColour } from "./graph_colours.js";
import { webglDrawing } from "./graph_webgl.js";

const RULER_STEP = 26;
const SETTLED = 160;
const GLIDE = 260;
const SLOW = { milliseconds: 120, frames: 4 };

export class Scene {
  /** `choose(depth)` is called when the user clicks a depth on the ruler; `camera` may come from an earlier scene. */
  constructor(stage, model, choose, camera = new Camera()) {
    [this.stage, this.model, this.choose] = [stage, model, choose];
    [this.camera, this.chosen, this.marks] = [camera, -1, new Map()];
    this.ruler = element("div", { class: "graph-ruler", "aria-hidden": "true" });
    this.stage.replaceChildren(this.ruler);
    this.#openCanvas(false);
    this.sizes = new ResizeObserver(() => this.#resize());
    this.sizes.observe(stage);
    this.endTheme = onThemeChange(() => this.#recolour());
    this.#resize();
  }

  /** Request that the scene is redrawn in the next frame. */
  change(moving = false) {
    this.moving ||= moving;
    if (this.asked !== undefined) return;
    const since = performance.now();
    this.asked = requestAnimationFrame(() => this.#frame(performance.now() - since));
  }

  /** Emphasise one layer, or none if the depth is -1. */
  chooseDepth(depth) {
    this.chosen = depth;
    this.change();
  }

  /** Highlight edges, as pairs of nodes. */
  highlight(pairs) {
    this.pairs = pairs;
    this.drawing.highlight(pairs);
    this.change();
  }

  /** Put an element over a node, or hide it if the node is -1. */
  mark(made, node) {
    if (!made.isConnected) this.stage.append(made);
    made.hidden = node < 0;
    this.marks.set(made, node);
    if (node >= 0) moveTo(made, this.point(node));
    this.change();
  }

  /** Move the picture so that a node is on the screen. It glides, unless the user prefers reduced motion. */
  reveal(node, always = false) {
    const place = this.#placeOf(node);
    if (!always && this.camera.shows(place)) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.camera.centre(place);
    else this.#glide(place);
    this.change();
  }

  pan(right, down) {
    this.gliding = null;
    this.camera.pan(right, down);
    this.change(true);
  }

  enlarge(factor, point) {
    this.gliding = null;
    this.camera.enlarge(factor, point);
    this.change(true);
  }

  fit() {
    this.gliding = null;
    this.camera.fit();
    this.change();
  }

  /** Return the node at or near a point of the stage; -1 if there is none. */
  at(point) {
    return this.model.nearest(this.camera, point, Math.max(10, this.radius + 4));
  }

  /** Return the point of the stage, in pixels, that shows a node. */
  point(node) {
    return this.camera.screen(...this.#placeOf(node));
  }

  /** Return the visible part as a PNG, in a higher resolution than on the screen, with the background colour of the page. */
  async picture() {
    const { canvas, camera } = this;
    const ratio = Math.min(3, 8192 / Math.max(camera.width, camera.height));
    const sheet = element("canvas", { width: Math.round(camera.width * ratio), height: Math.round(camera.height * ratio) });
    const pen = sheet.getContext("2d");
    pen.fillStyle = `rgb(${styleColour("--surface", this.stage).join()})`;
    pen.fillRect(0, 0, sheet.width, sheet.height);
    [canvas.width, canvas.height] = [sheet.width, sheet.height];
    this.#draw(false);
    pen.drawImage(canvas, 0, 0);
    this.#resize();
    return new Promise((resolve) => sheet.toBlob(resolve, "image/png"));
  }

  close() {
    cancelAnimationFrame(this.asked);
    clearTimeout(this.settling);
    this.sizes.disconnect();
    this.endTheme();
    this.drawing.close();
  }

  /** Radius of a node in pixels: larger in graphs with few nodes, and when zoomed in. */
  get radius() {
    const { width, height, zoom } = this.camera;
    const room = Math.sqrt((width * height) / (this.model.count + 1)) * 0.2;
    return Math.min(9, Math.max(1, Math.min(room, 5)) * Math.max(0.8, zoom ** 0.55));
  }

  /** Opacity of the edges; the more edges overlap, the fainter they are. */
  get opacity() {
    const { model, camera } = this;
    const covering = model.edges.length / 2 / (model.span * camera.width * camera.zoom);
    return Math.min(0.7, Math.max(0.03, 0.9 / (0.6 + 1.2 * covering)));
  }

  #openCanvas(withoutWebgl) {
    this.canvas?.remove();
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.stage.prepend(this.canvas);
    this.drawing = (withoutWebgl ? null : webglDrawing(this.canvas, this.model)) ?? canvasDrawing(this.canvas, this.model);
    this.stage.dataset.drawing = this.drawing.kind;
    this.canvas.addEventListener("webglcontextlost", () => this.#useCanvas());
    this.#recolour();
    if (this.pairs) this.drawing.highlight(this.pairs);
  }

  /** Continue without WebGL, because the browser lost the graphics card or emulates it too slowly. */
  #useCanvas() {
    if (!this.stage.isConnected || this.drawing.kind === "canvas") return;
    this.#openCanvas(true);
    this.#resize();
  }

  /** Switch to a plain canvas if several frames in a row are late: WebGL is probably emulated, which is slower. */
  #watchDelay(waited) {
    this.late = waited > SLOW.milliseconds ? (this.late ?? 0) + 1 : 0;
    const { drawing } = this;
    if (this.late < SLOW.frames || drawing.kind === "canvas") return;
    this.#useCanvas();
    drawing.close();
  }

  #recolour() {
    this.palette = depthColours(this.model.last + 1, isDark());
    this.drawing.colour(this.palette, styleColour("--farther", this.stage));
    this.change();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    const ratio = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.max(1, width * ratio), Math.max(1, height * ratio)];
    this.camera.resize(Math.max(1, width), Math.max(1, height));
    this.change();
  }

  /** Draw a frame; `waited` is the number of milliseconds since it was requested. */
  #frame(waited) {
    const { moving } = this;
    [this.asked, this.moving] = [undefined, false];
    this.#advance();
    if (moving) this.#watchDelay(waited);
    this.#draw(moving);
    for (const [made, node] of this.marks) if (node >= 0) moveTo(made, this.point(node));
    this.#drawRuler();
    clearTimeout(this.settling);
    if (moving && this.drawing.kind === "canvas") this.settling = setTimeout(() => this.change(), SETTLED);
  }

  #draw(moving) {
    this.drawing.draw(this.camera, { radius: this.radius, opacity: this.opacity, chosen: this.chosen, moving });
  }

  #placeOf(node) {
    return this.model.places.subarray(2 * node, 2 * node + 2);
  }

  #glide(to) {
    const from = this.camera.unit([this.camera.width / 2, this.camera.height / 2]);
    this.gliding = { from, to, begun: performance.now() };
  }

  #advance() {
    if (!this.gliding) return;
    const { from, to, begun } = this.gliding;
    const part = Math.min(1, (performance.now() - begun) / GLIDE);
    const eased = 1 - (1 - part) ** 3;
    this.camera.centre([0, 1].map((k) => from[k] + (to[k] - from[k]) * eased));
    if (part < 1) this.change(true);
    else this.gliding = null;
  }

  /** Label the depths at the left edge, as many as there is room for. */
  #drawRuler() {
    const depths = this.#labelledDepths();
    while (this.ruler.children.length < depths.length) this.ruler.append(this.#label());
    [...this.ruler.children].forEach((label, k) => this.#setLabel(label, depths[k]));
  }

  *#candidateDepths(step) {
    for (let depth = this.model.first; depth <= this.model.last; depth += 1) {
      if (depth % step === 0 || depth === this.chosen || depth === this.model.last) yield depth;
    }
  }

  #labelledDepths() {
    const { model, camera } = this;
    const gap = (camera.high * camera.zoom) / Math.max(1, model.span - 1);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((one) => one * gap >= RULER_STEP) ?? 5000;
    const top = (depth) => camera.screen(0, model.height(depth))[1];
    const seen = [...this.#candidateDepths(step)].filter((depth) => top(depth) > -20 && top(depth) < camera.height + 20);
    const clear = (depth, near) => near === undefined || depth === near || Math.abs(top(depth) - top(near)) >= RULER_STEP * 0.7;
    return seen.filter((depth) => depth === this.chosen || (clear(depth, this.#chosenOnRuler()) && (depth === model.last || clear(depth, model.last))));
  }

  #chosenOnRuler() {
    return this.chosen >= this.model.first && this.chosen <= this.model.last ? this.chosen : undefined;
  }

  #label() {
    const made = element("button", { type: "button", tabindex: "-1" });
    made.addEventListener("click", () => this.choose(Number(made.textContent)));
    return made;
  }

  #setLabel(label, depth) {
    label.hidden = depth === undefined;
    if (label.hidden) return;
    const text = String(depth);
    if (label.textContent !== text) {
      label.textContent = text;
      label.title = `Highlight depth ${depth}`;
    }
    label.classList.toggle("chosen", depth === this.chosen);
    label.style.setProperty("--tick", `rgb(${this.palette.slice(4 * depth, 4 * depth + 3).join()})`);
    moveTo(label, [0, this.camera.screen(0, this.model.height(depth))[1]]);
  }
}

function moveTo(made, [left, top]) {
  made.style.transform = `translate(${left}px, ${top}px)`;
}
