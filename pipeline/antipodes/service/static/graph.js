// The graph of a table: its positions in layers by distance, and the moves between them. For a large table, it only shows
// the positions around the one on the board.

import { formatAddress } from "./address.js";
import { LatestRequest } from "./api.js";
import { button, element, formatCount } from "./elements.js";
import { listenToInput } from "./graph_input.js";
import { GraphModel } from "./graph_model.js";
import { Scene } from "./graph_scene.js";
import { hasMouse } from "./hints.js";
import { save } from "./saving.js";
import { useStyles } from "./style_sheets.js";

const HOVER = 70;
const KEPT = 300;
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const BY_MOUSE = "Drag to move; turn the wheel or press +, − or 0 to zoom; arrow keys follow the edges; click a position to go there.";
const BY_TOUCH = "Drag to move; pinch to zoom; tap a position to go there.";

export function mount(root, context) {
  const graph = new Graph(root, context);
  graph.update();
  return graph;
}

class Graph {
  constructor(root, context) {
    [this.context, this.loads, this.hovers, this.goes] = [context, new LatestRequest(), new LatestRequest(), new LatestRequest()];
    [this.current, this.hovered, this.seen] = [-1, -1, new Map()];
    this.styled = useStyles("graph.css");
    this.#build(root);
    listenToInput(this.stage, {
      pan: (right, down) => this.scene?.pan(right, down),
      enlarge: (factor, point) => this.scene?.enlarge(factor, point),
      click: (point) => this.#goTo(this.scene?.at(point) ?? -1),
      hover: (point) => this.#hover(point && this.scene ? this.scene.at(point) : -1),
    });
    this.stage.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show the current position on the board; load the graph again after a commit of the store. */
  async update() {
    try {
      if (this.#needsGraph()) await this.#load();
      if (this.scene) this.#follow();
    } catch (error) {
      this.context.fail(error);
    }
  }

  close() {
    [this.loads, this.hovers, this.goes].forEach((one) => one.stop());
    clearTimeout(this.waiting);
    this.scene?.close();
    this.root.remove();
  }

  #build(root) {
    this.stage = element("div", { class: "graph-stage", tabindex: "0", role: "application", "aria-roledescription": "graph" });
    this.depth = element("input", { type: "number", min: "0", placeholder: "all" });
    this.depth.addEventListener("change", () => this.#choose(this.depth.value === "" ? null : Number(this.depth.value)));
    this.words = element("p", { class: "small muted graph-words" });
    const tools = element(
      "div",
      { class: "row graph-tools", role: "group", "aria-label": "Graph" },
      this.words,
      element("label", { class: "row small" }, "Depth", this.depth),
      element(
        "span",
        { class: "row graph-zoom" },
        button("−", () => this.scene?.enlarge(1 / 1.5), { class: "button", "aria-label": "Zoom out" }),
        button("+", () => this.scene?.enlarge(1.5), { class: "button", "aria-label": "Zoom in" }),
        button("Fit", () => this.scene?.fit(), { class: "button", title: "Show the whole picture" }),
        button("PNG", () => this.#save(), { class: "button", title: "Save the visible part as a picture" }),
        button("Full", () => this.#fillScreen(), { class: "button", title: "Fill the screen" }),
        button("Here", () => this.#showCurrent(), { class: "button", title: "Bring the position on the board to the middle" }),
      ),
    );
    this.near = element("ul", { class: "graph-near" });
    this.here = element("p");
    this.text = element("details", { class: "graph-text" }, element("summary", { text: "The graph as text" }), this.here, this.near);
    const hint = element("p", { class: "small muted graph-hint", text: hasMouse() ? BY_MOUSE : BY_TOUCH });
    this.root = element("section", { class: "graph", "aria-label": "Graph of the positions" }, tools, this.stage, hint, this.text);
    root.append(this.root);
    this.spot = element("div", { class: "graph-spot", hidden: true }, element("span", { class: "graph-label" }));
    this.tip = element("div", { class: "graph-tip", role: "tooltip", hidden: true });
    this.ring = element("div", { class: "graph-ring", hidden: true });
  }

  /** Return whether a new graph is needed: after a commit, or if the position is not in this graph. */
  #needsGraph() {
    const { store, seen } = this.context;
    if (!this.model || this.version !== store.version) return true;
    return !this.model.whole && seen && seen.distance !== null && this.model.find(seen.index) < 0;
  }

  async #load() {
    const { api, name, store, state } = this.context;
    const [version, whole] = [store.version, store.graph];
    this.stage.setAttribute("aria-busy", "true");
    const query = whole ? {} : { position: state.position };
    const json = await this.loads.ask((signal) => api.get(api.storePath(name, "/graph"), query, signal));
    await this.styled;
    if (!json || !this.root.isConnected) return;
    this.version = version;
    const camera = this.model?.whole && json.whole ? this.scene.camera : undefined;
    this.scene?.close();
    this.model = new GraphModel(json);
    this.scene = new Scene(this.stage, this.model, (depth) => this.#choose(depth), camera);
    this.stage.removeAttribute("aria-busy");
    if (!this.shown) this.root.scrollIntoView({ block: "nearest" });
    this.shown = true;
    this.seen.clear();
    this.current = this.hovered = -1;
    this.#describe();
  }

  #follow() {
    const { state, here, seen } = this.context;
    const depth = /^\d{1,5}$/.test(state.depth ?? "") ? Number(state.depth) : -1;
    if (depth !== this.scene.chosen) this.scene.chooseDepth(depth);
    this.depth.value = depth < 0 ? "" : depth;
    this.#markCurrent(this.model.find(here?.index ?? seen?.index ?? null));
    this.#list();
  }

  /** Mark a node as the position on the board, with its shortest paths. */
  #markCurrent(node) {
    if (node !== this.current) {
      this.current = node;
      this.scene.highlight(node < 0 ? new Uint32Array() : this.model.shortest(node));
      if (node >= 0) this.scene.reveal(node);
    }
    this.spot.firstChild.textContent = node < 0 ? "" : this.model.depth[node];
    this.scene.mark(this.spot, node);
  }

  #describe() {
    const { model } = this;
    const layers = formatCount(model.span, "layer");
    const edges = movesOf(model);
    const widest = model.sizes.indexOf(Math.max(...model.sizes));
    const what = model.whole ? `${formatCount(model.count, "position")}` : `${formatCount(model.count, "position")} around the one on the board`;
    this.words.textContent = `${what}, ${edges}, ${layers}`;
    const wide = `the widest is depth ${widest}, with ${formatCount(model.sizes[widest] ?? 0, "position")}`;
    this.stage.setAttribute("aria-label", `${this.words.textContent}; ${wide}. ${BY_MOUSE}`);
    this.summary = `${what} and ${edges} between them, in ${layers}, from depth ${model.first} to ${model.last}; in the table, ${wide}.`;
    this.depth.max = model.last;
  }

  /** Show the position and its successors as text with links. */
  #list() {
    const { seen, store } = this.context;
    const at = seen ? ` On the board: ${seen.position}, distance ${distanceIn(seen, store)}; its successors:` : "";
    this.here.textContent = this.summary + at;
    this.near.replaceChildren(...(seen?.successors ?? []).map((next) => this.#linked(next)));
  }

  #linked(next) {
    const { name, state, store } = this.context;
    const { position, move } = next;
    const text = `${move ? `${move}: ` : ""}${position}, distance ${distanceIn(next, store)}`;
    const link = element("a", { href: formatAddress(name, { ...state, position }), text });
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#go(position);
    });
    return element("li", {}, link);
  }

  #choose(depth) {
    const wanted = depth === null || Number(this.context.state.depth ?? -1) === depth ? null : String(depth);
    this.context.navigate({ depth: wanted }, { replace: true });
  }

  #showCurrent() {
    if (this.current >= 0) this.scene.reveal(this.current, true);
  }

  async #save() {
    try {
      if (this.scene) save(await this.scene.picture(), `${this.context.name}-graph.png`);
    } catch (error) {
      this.context.fail(error);
    }
  }

  async #fillScreen() {
    try {
      await (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    } catch (error) {
      this.context.fail(error);
    }
  }

  #key(event) {
    if (event.target !== this.stage || !this.scene || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "+": () => this.scene.enlarge(1.5),
      "=": () => this.scene.enlarge(1.5),
      "-": () => this.scene.enlarge(1 / 1.5),
      0: () => this.scene.fit(),
    }[event.key] ?? (event.key in ARROWS ? () => this.#walk(ARROWS[event.key]) : null);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** Go along the edge whose direction on the screen is closest to the given direction. */
  #walk([right, down]) {
    if (this.current < 0) return;
    const [x, y] = this.scene.point(this.current);
    let [best, most] = [-1, 0.05];
    for (const near of this.model.neighbours(this.current)) {
      const [left, top] = this.scene.point(near);
      const along = ((left - x) * right + (top - y) * down) / (Math.hypot(left - x, top - y) || 1);
      if (along > most) [best, most] = [near, along];
    }
    if (best >= 0) this.#goTo(best);
    else this.context.say("there is no edge in this direction");
  }

  async #goTo(node) {
    if (node < 0) return;
    try {
      const view = await this.goes.ask((signal) => this.#view(node, signal));
      if (view) this.#go(view.position);
    } catch (error) {
      this.context.fail(error);
    }
  }

  #go(position) {
    const { go, navigate } = this.context;
    if (go) go(position);
    else navigate({ position });
  }

  /** Return the position of a node, from the cache or from the service. */
  async #view(node, signal) {
    const { api, name } = this.context;
    const { model, seen } = this;
    const index = model.index[node];
    if (!seen.has(index)) {
      const view = await api.get(api.storePath(name, "/view"), { index }, signal);
      if (model !== this.model) return undefined; // belongs to an earlier commit
      seen.set(index, view);
      if (seen.size > KEPT) seen.delete(seen.keys().next().value);
    }
    return seen.get(index);
  }

  /** Show the board of the node under the pointer if the pointer rests there for a moment. */
  #hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    clearTimeout(this.waiting);
    this.scene?.mark(this.ring, node);
    this.tip.hidden = true;
    this.stage.classList.toggle("over", node >= 0);
    if (node >= 0) this.waiting = setTimeout(() => this.#showTip(node), HOVER);
  }

  async #showTip(node) {
    try {
      const view = await this.hovers.ask((signal) => this.#view(node, signal));
      if (!view || this.hovered !== node) return;
      const board = view.picture ? [this.context.board(view.picture, "")] : [];
      this.tip.replaceChildren(...board, element("p", { text: `distance ${this.model.depth[node]}` }));
      const [left, top] = this.scene.point(node);
      const { width, height } = this.scene.camera;
      this.tip.classList.toggle("leftward", left > width / 2);
      this.tip.classList.toggle("upward", top > height / 2);
      this.scene.mark(this.tip, node);
    } catch (error) {
      this.context.fail(error);
    }
  }
}

function distanceIn({ distance }, { complete }) {
  return distance ?? (complete ? "none, as it is unreachable" : "not known yet");
}

/** Return the number of two-way moves and of one-way moves of a graph as text. */
function movesOf(model) {
  const all = model.edges.length / 2;
  const oneWay = model.oneWay(model.edges).length / 2;
  const both = model.directed ? (all - oneWay) / 2 : all;
  if (!oneWay) return formatCount(both, "move");
  return `${both ? `${formatCount(both, "two-way move")} and ` : ""}${formatCount(oneWay, "one-way move")}`;
}
