// The view "Pattern": how many positions at each distance match a pattern, compared with all positions.

import { CachedRequest } from "./cached_request.js";
import { barChart, countsTable } from "./chart.js";
import { scaleSwitch } from "./distribution.js";
import { button, element, formatCount } from "./elements.js";
import { markHere, thumbs } from "./gallery.js";

const SHOWN = 12;

export function mount(root, context) {
  const view = new PatternView(context);
  root.append(view.element);
  view.update();
  return view;
}

class PatternView {
  #context;
  #request;
  #pattern = "";
  #found = null;
  #shown = "";

  constructor(context) {
    this.#context = context;
    this.#request = new CachedRequest(context);
    this.field = element("input", { type: "text", id: "pattern", class: "wide mono", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const label = element("label", { for: "pattern", class: "label", text: "Pattern" });
    const form = element("form", { class: "row", on: { submit: (event) => this.#asked(event) } }, this.field, button("Count", null, { type: "submit", class: "button main" }));
    const help = element("p", { class: "muted small", text: "Write a pattern like a position: ? is any piece, [AB] is A or B, {ABC} is A, B and C in any order." });
    this.scale = scaleSwitch(context);
    this.lead = element("p");
    this.head = element("div", { class: "row apart", hidden: true }, this.lead, this.scale.group);
    this.legend = element("p", { class: "legend small muted", hidden: true }, legendItem("part", "matches the pattern"), legendItem("whole", "all positions, on a separate scale"));
    this.chart = element("div", { class: "chart-box" });
    this.numbers = element("div");
    this.ends = element("div");
    this.element = element("div", {}, label, form, help, this.head, this.chart, this.legend, this.numbers, this.ends);
    this.watcher = new ResizeObserver(() => this.#draw());
    this.watcher.observe(this.chart);
  }

  close() {
    this.watcher.disconnect();
  }

  #asked(event) {
    event.preventDefault();
    this.#context.navigate({ pattern: this.field.value.trim() || null });
  }

  async update() {
    const { pattern } = this.#context.state;
    if (document.activeElement !== this.field) this.field.value = pattern ?? this.field.value;
    this.scale.show();
    markHere(this.ends, this.#context);
    this.#draw();
    if ((pattern ?? "") !== this.#pattern) this.#show(pattern ?? "", null);
    if (!pattern) return this.#request.drop();
    try {
      const found = await this.#request.ask("/pattern", { pattern });
      if (!found || found === this.#found) return;
      this.#context.succeed();
      this.#show(pattern, found);
    } catch (error) {
      this.#show(pattern, null);
      this.#context.fail(error);
    }
  }

  /** Show the answer about a pattern, or nothing if the answer is null. */
  #show(pattern, found) {
    [this.#pattern, this.#found, this.#shown] = [pattern, found, ""];
    this.head.hidden = this.legend.hidden = found === null;
    this.chart.replaceChildren();
    this.numbers.replaceChildren();
    this.ends.replaceChildren(...(found ? [...this.#end("Nearest", found.nearest), ...this.#end("Farthest", found.farthest)] : []));
    this.#draw();
  }

  #draw() {
    const { layers, state } = this.#context;
    if (!this.#found || !layers) return;
    const { count, reached, by_distance: counts } = this.#found;
    const width = Math.max(300, Math.round(this.chart.clientWidth || 640));
    const text = JSON.stringify([this.#found.pattern, counts, state.scale, width, layers.layers.length]);
    if (text === this.#shown) return;
    this.#shown = text;
    const bars = Object.entries(counts).map(([depth, number]) => ({ depth: Number(depth), count: number }));
    const behind = layers.layers.map((number, depth) => ({ depth, count: number }));
    this.lead.textContent = `${formatCount(count, "position")} match${count === 1 ? "es" : ""}${reached === count ? "" : `, ${formatCount(reached)} of them reached`}.`;
    this.chart.replaceChildren(barChart({ bars, behind, scale: state.scale, here: null, width, label: "Matching positions at each depth" }));
    this.numbers.replaceChildren(countsTable(bars));
  }

  #end(name, side) {
    if (!side) return [];
    const positions = side.positions.slice(0, SHOWN);
    const title = element("h2", { text: `${name}: ${formatCount(side.count)} at depth ${side.distance}` });
    return [title, thumbs(this.#context, positions, (side.pictures ?? []).slice(0, SHOWN))];
  }
}

function legendItem(tone, text) {
  return element("span", { class: "legend-item" }, element("span", { class: `key ${tone}` }), text);
}
