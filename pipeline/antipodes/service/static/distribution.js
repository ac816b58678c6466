// The view "Distribution": the number of positions at each depth, and some positions at the chosen depth.

import { CachedRequest } from "./cached_request.js";
import { barChart, countsTable } from "./chart.js";
import { button, element, formatCount } from "./elements.js";
import { markHere, thumbs } from "./gallery.js";

const EACH = 24;

export function mount(root, context) {
  const view = new DistributionView(context);
  root.append(view.element);
  view.update();
  return view;
}

/** Return two buttons for the scale of a chart; the address stores the choice. */
export function scaleSwitch(context) {
  const buttons = ["linear", "log"].map((scale) =>
    button(scale === "log" ? "Logarithmic" : "Linear", () => context.navigate({ scale: scale === "log" ? "log" : null }, { replace: true }), { class: "button", "data-scale": scale }));
  const group = element("div", { class: "row switch", role: "group", "aria-label": "Scale" }, ...buttons);
  const show = () => buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.scale === (context.state.scale ?? "linear"))));
  return { group, show };
}

class DistributionView {
  #context;
  #shown = "";
  #request;
  #limit = EACH;
  #listed = null;

  constructor(context) {
    this.#context = context;
    this.#request = new CachedRequest(context);
    this.scale = scaleSwitch(context);
    this.lead = element("p", { class: "muted small" });
    this.chart = element("div", { class: "chart-box" });
    this.numbers = element("div");
    this.found = element("div", { class: "found" });
    this.element = element("div", {}, element("div", { class: "row apart" }, this.lead, this.scale.group), this.chart, this.numbers, this.found);
    this.watcher = new ResizeObserver(() => this.#draw());
    this.watcher.observe(this.chart);
  }

  close() {
    this.watcher.disconnect();
  }

  update() {
    this.scale.show();
    this.#draw();
    markHere(this.found, this.#context);
    this.#positions();
  }

  get #depth() {
    const { depth } = this.#context.state;
    return depth !== undefined && /^\d+$/.test(depth) ? Number(depth) : null;
  }

  #draw() {
    const { layers, here: at, state, store } = this.#context;
    if (!layers || !layers.layers.length) return;
    const width = Math.max(300, Math.round(this.chart.clientWidth || 640));
    const here = at?.distance ?? null;
    const text = JSON.stringify([layers, here, state.scale, this.#depth, width]);
    if (text === this.#shown) return;
    this.#shown = text;
    const bars = layers.layers.map((count, depth) => ({ depth, count }));
    const choose = isAsked(store) ? (depth) => this.#choose(depth) : null;
    const focused = document.activeElement?.dataset?.depth;
    const chart = barChart({ bars, scale: state.scale, here, chosen: this.#depth, choose, width, label: "Positions at each depth" });
    this.chart.replaceChildren(chart);
    if (focused !== undefined) chart.querySelector(`[data-depth="${CSS.escape(focused)}"]`)?.focus();
    this.lead.textContent = lead(layers, store);
    const open = this.numbers.firstChild?.open;
    const table = countsTable(bars);
    table.open = open ?? false;
    this.numbers.replaceChildren(table);
  }

  #choose(depth) {
    this.#limit = EACH;
    this.#context.navigate({ depth: this.#depth === depth ? null : depth });
  }

  async #positions() {
    const depth = this.#depth;
    if (depth !== this.#listed?.depth) this.#list(null);
    if (depth === null || !isAsked(this.#context.store)) return;
    try {
      const found = await this.#request.ask("/positions", { depth, limit: this.#limit });
      if (found && depth === this.#depth) this.#list(found);
    } catch (error) {
      this.#list(null);
      this.#context.fail(error);
    }
  }

  #list(found) {
    if (found === this.#listed) return;
    this.#listed = found;
    this.found.replaceChildren(...(found ? this.#gallery(found) : []));
  }

  #gallery({ depth, count, positions, pictures }) {
    const title = element("h2", { text: `${formatCount(count, "position")} at depth ${depth}` });
    const more = positions.length < Math.min(count, 192) ? button("Show more", () => this.#more(), { class: "button" }) : null;
    const any = button("A random one", () => this.#random(depth), { class: "button" });
    return [element("div", { class: "row apart" }, title, any), thumbs(this.#context, positions, pictures), more].filter(Boolean);
  }

  #more() {
    this.#limit = Math.min(192, this.#limit * 3);
    this.#positions();
  }

  async #random(depth) {
    try {
      const { position } = await this.#context.api.get(this.#context.api.storePath(this.#context.name, "/random"), { depth });
      this.#context.go(position);
    } catch (error) {
      this.#context.fail(error);
    }
  }
}

/** Return whether the service can list positions of a store. */
function isAsked({ kind, problem }) {
  return kind === "table" && !problem;
}

function lead({ layers, radius, complete }, store) {
  const sum = layers.reduce((total, one) => total + one, 0);
  const far = complete ? `radius ${radius}` : `up to depth ${radius}, unfinished`;
  return `${formatCount(sum, "position")}, ${far}.${isAsked(store) ? " Choose a bar for positions at its depth." : ""}`;
}
