// Edit the board: choose two places, and what stands there is swapped.

import { of, Problem } from "./api.js";
import { button, element } from "./elements.js";

export class Editor {
  #page;
  #context;
  #first = null;

  constructor(page) {
    this.#page = page;
    this.#context = page.context;
    this.places = element("div", { class: "places" });
    this.words = element("p", { class: "small muted", role: "status" });
    this.element = element("div", { class: "editor", role: "group", "aria-label": "Edit the board", hidden: true }, this.words, this.places);
  }

  toggle(opener) {
    this.element.hidden = !this.element.hidden;
    opener.setAttribute("aria-expanded", String(!this.element.hidden));
    if (!this.element.hidden) this.show();
  }

  /** Show the position as one button for each symbol. */
  show() {
    if (this.element.hidden || !this.#page.stage.picture) return;
    this.#first = null;
    this.words.textContent = "Choose two pieces to swap them.";
    const { rows, separator } = this.#symbols();
    this.separator = separator;
    this.rows = rows;
    let number = 0;
    const columns = columnsOf(this.#page.stage.picture, rows);
    this.places.replaceChildren(...laidOut(rows, columns).map((row) => element("div", { class: "place-row" }, ...row.map((symbol) => this.#place(symbol, number++)))));
  }

  /** The symbols of the position, in the rows in which it is written. */
  #symbols() {
    const text = this.#page.trail.here?.position ?? "";
    const spaced = text.includes(" ");
    const rows = text.split("/").map((row) => (spaced ? row.trim().split(/\s+/) : [...row]));
    return { rows, separator: spaced ? " " : "" };
  }

  #place(symbol, number) {
    return button(symbol, (event) => this.#choose(event.currentTarget, number), { class: "place", "aria-pressed": "false", "aria-label": `${symbol} on place ${number + 1}` });
  }

  #choose(place, number) {
    if (this.#first === null) {
      this.#first = number;
      place.setAttribute("aria-pressed", "true");
      this.words.textContent = "Now the other one.";
    } else if (this.#first === number) {
      this.show();
    } else {
      this.#swap(this.#first, number);
    }
  }

  async #swap(one, other) {
    const symbols = this.rows.flat();
    [symbols[one], symbols[other]] = [symbols[other], symbols[one]];
    const rows = this.rows.map((row) => symbols.splice(0, row.length).join(this.separator));
    const position = rows.join(this.separator ? " / " : "/");
    try {
      const seen = await this.#context.api.get(of(this.#context.name, "/view"), { position });
      if (seen.distance === null && this.#context.store.complete) throw new Problem(`${seen.position} is unreachable from the start`);
      this.#context.succeed();
      this.#page.go(seen.position);
    } catch (error) {
      this.#context.fail(error);
      this.show();
    }
  }
}

/** The number of columns of the board in a picture, if its squares are as many as the symbols; else null. */
function columnsOf({ width, height }, rows) {
  if (rows.length > 1) return null;
  const [across, down] = [Math.floor(width / 40), Math.floor(height / 40)];
  return across * down === rows[0].length ? across : null;
}

function laidOut(rows, columns) {
  if (columns === null) return rows;
  return Array.from({ length: rows[0].length / columns }, (_, at) => rows[0].slice(at * columns, (at + 1) * columns));
}
