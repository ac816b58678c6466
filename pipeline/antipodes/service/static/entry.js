// The field for a position or moves, and the buttons that put other positions on the board.

import { of } from "./api.js";
import { button, element } from "./elements.js";

export class Entry {
  #page;
  #context;

  constructor(page) {
    this.#page = page;
    this.#context = page.context;
    const names = this.#context.store.moves;
    const label = element("label", { for: "entry", class: "label", text: names ? "Position, or moves from here" : "Position" });
    this.field = element("input", { type: "text", id: "entry", class: "wide mono", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const form = element("form", { class: "row", on: { submit: (event) => this.#submitted(event) } }, this.field, button("Go", null, { type: "submit", class: "button" }));
    this.element = element("div", { class: "entry" }, label, form, this.#others());
  }

  #others() {
    const { store } = this.#context;
    const zero = store.depth_zero ?? "start";
    this.depth = element("input", { type: "number", id: "depth", min: 0, placeholder: "any", inputmode: "numeric", "aria-label": "Depth of the random position" });
    this.depth.addEventListener("keydown", (event) => event.key === "Enter" && this.#random());
    const random = button("Random", () => this.#random(), { class: "button" });
    const start = button(zero === "goal" ? "Goal" : "Start", () => this.#page.go(store.start), { class: "button" });
    const far = button("Farthest", () => this.#farthest(), { class: "button" });
    return element("div", { class: "row jumps" }, start, far, element("span", { class: "joined" }, random, element("span", { class: "at muted small", text: "at depth" }), this.depth));
  }

  /** Show the position on the board, unless a person is typing. */
  show(position) {
    if (document.activeElement !== this.field) this.field.value = position;
  }

  async #submitted(event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (!text) return;
    try {
      const seen = await this.#meant(text);
      this.#context.succeed();
      this.field.value = seen.position;
      this.#page.go(seen.position);
    } catch (error) {
      this.#context.fail(error);
    }
  }

  /** What a text means: a position, or else moves from the position on the board. */
  async #meant(text) {
    const { api, name, store, seen } = this.#context;
    const view = of(name, "/view");
    try {
      return await api.get(view, { position: text });
    } catch (error) {
      const named = store.moves?.some((move) => text.split(/\s+/).some((word) => word.startsWith(move) || move.startsWith(word)));
      if (error.status !== 400 || !named) throw error;
      return await api.get(view, { position: seen?.position, moves: text });
    }
  }

  async #random() {
    const depth = this.depth.value.trim();
    try {
      const { position } = await this.#context.api.get(of(this.#context.name, "/random"), { depth: depth || null });
      this.#context.succeed();
      this.#page.go(position);
    } catch (error) {
      this.#context.fail(error);
    }
  }

  /** One of the farthest positions: the next one each time. */
  async #farthest() {
    const { api, name, seen } = this.#context;
    try {
      const { positions } = await api.get(of(name, "/antipodes"), { limit: 24 });
      const next = (positions.indexOf(seen?.position) + 1) % positions.length;
      this.#context.succeed();
      this.#page.go(positions[next]);
    } catch (error) {
      this.#context.fail(error);
    }
  }
}
