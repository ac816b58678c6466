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
    this.field.addEventListener("paste", (event) => this.#pasted(event));
    const form = element("form", { class: "row", on: { submit: (event) => this.#submitted(event) } }, this.field, button("Go", null, { type: "submit", class: "button" }));
    this.element = element("div", { class: "entry" }, label, form, this.#others());
  }

  #others() {
    const { store } = this.#context;
    this.depth = element("input", { type: "number", id: "depth", min: 0, placeholder: "any", inputmode: "numeric", "aria-label": "Depth of the random position" });
    this.depth.addEventListener("keydown", (event) => event.key === "Enter" && this.#random());
    const random = button("Random", () => this.#random(), { class: "button" });
    const start = button("Start", () => this.#page.go(store.start), { class: "button" });
    const far = button("Farthest", () => this.#farthest(), { class: "button" });
    return element("div", { class: "row jumps" }, start, far, element("span", { class: "joined" }, random, element("span", { class: "at muted small", text: "at depth" }), this.depth));
  }

  /** Show the position on the board, unless a person is typing. */
  show(position) {
    if (document.activeElement !== this.field) this.field.value = position;
  }

  /** Keep the rows of a board that is pasted: the field has one line. */
  #pasted(event) {
    const text = event.clipboardData.getData("text").trim();
    if (!text.includes("\n")) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = this.field;
    this.field.setRangeText(text.split(/\s*\n\s*/).join(" / "), selectionStart, selectionEnd, "end");
  }

  async #submitted(event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (!text) return;
    try {
      await this.#obey(text);
      this.#context.succeed();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  /** Put the position that a text says on the board, or make the moves that it names. */
  async #obey(text) {
    const { api, name, store } = this.#context;
    try {
      const seen = await api.get(of(name, "/view"), { position: text });
      this.field.value = seen.position;
      this.#page.go(seen.position);
    } catch (error) {
      if (error.status !== 400 || !namesMoves(text, store.sequence_names ?? [])) throw error;
      await this.#makeMoves(text);
    }
  }

  /** Make the moves of a sequence from the position on the board; nothing is made if one of them is not legal. */
  async #makeMoves(moves) {
    const { api, name } = this.#context;
    const { position } = this.#page.trail.here;
    const seen = await api.get(of(name, "/view"), { position, moves });
    this.field.value = seen.position;
    if (seen.steps?.length) this.#page.walk(seen.steps, seen.picture);
    else this.#page.go(seen.position);
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

/** Whether a text is more likely a sequence of moves than a position: one of its words has a name, perhaps repeated or undone. */
function namesMoves(text, names) {
  const words = text.split(/[\s,:()[\]]+/);
  return words.some((word) => names.includes(word) || names.includes(word.replace(/[0-9'’′]+$/, "")));
}
