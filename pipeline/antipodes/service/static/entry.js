// The field for a position or moves, and the buttons that put other positions on the board.

import { LatestRequest, storePath } from "./api.js";
import { button, element } from "./elements.js";

export class Entry {
  #page;
  #context;
  #latest = new LatestRequest();

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

  /** Show the position on the board, unless the user is typing. */
  show(position) {
    if (document.activeElement !== this.field) this.field.value = position;
  }

  /** Ignore the answer to a request under way, because the board now shows another position. */
  drop() {
    this.#latest.stop();
  }

  /** Return the answer of the service, or undefined if another request was started meanwhile. */
  #ask(rest, query) {
    const { api, name } = this.#context;
    return this.#latest.ask((signal) => api.get(storePath(name, rest), query, signal));
  }

  /** Separate the rows of a pasted board by slashes, because the field has only one line. */
  #pasted(event) {
    const text = event.clipboardData.getData("text").trim();
    if (!text.includes("\n")) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = this.field;
    this.field.setRangeText(text.split(/\s*\n\s*/).join(" / "), selectionStart, selectionEnd, "end");
  }

  #submitted(event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (text) this.#reportErrors(() => this.#useText(text));
  }

  /** Run an action that sends requests, and show its errors. */
  async #reportErrors(act) {
    try {
      await act();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  /** Put the position that the text describes on the board, or make the moves that it names. */
  async #useText(text) {
    try {
      const seen = await this.#ask("/view", { position: text });
      if (seen) this.#enter(seen);
    } catch (error) {
      if (error.status !== 400 || !namesMoves(text, this.#context.store.sequence_names ?? [])) throw error;
      await this.#makeMoves(text);
    }
  }

  #enter({ position, picture, steps }) {
    this.#context.succeed();
    this.field.value = position;
    if (steps?.length) this.#page.walk(steps, picture);
    else this.#page.go(position);
  }

  /** Make a sequence of moves from the position on the board, or none of them if one is not legal. */
  async #makeMoves(moves) {
    const { position } = this.#page.trail.here;
    const seen = await this.#ask("/view", { position, moves });
    if (seen) this.#enter(seen);
  }

  #random() {
    const depth = this.depth.value.trim();
    return this.#reportErrors(async () => {
      const drawn = await this.#ask("/random", { depth: depth || null });
      if (drawn) this.#jump(drawn.position);
    });
  }

  /** Put the next one of the farthest positions on the board. */
  #farthest() {
    return this.#reportErrors(async () => {
      const found = await this.#ask("/antipodes", { limit: 24 });
      if (!found) return;
      const { positions } = found;
      const next = (positions.indexOf(this.#context.seen?.position) + 1) % positions.length;
      this.#jump(positions[next]);
    });
  }

  #jump(position) {
    this.#context.succeed();
    this.#page.go(position);
  }
}

/**
 * Return whether a text is more likely a sequence of moves than a position.
 *
 * In a sequence, at least one word is the name of a move, perhaps followed by digits or an apostrophe.
 */
function namesMoves(text, names) {
  const words = text.split(/[\s,:()[\]]+/);
  return words.some((word) => names.includes(word) || names.includes(word.replace(/[0-9'’′]+$/, "")));
}
