// The shortest paths between the start and the position on the board, one at a time, as boards and as names of moves.

import { CachedRequest } from "./cached_request.js";
import { button, element, formatCount } from "./elements.js";
import { thumbs } from "./gallery.js";
import { stepsInOrder } from "./player.js";
import { isOneWay, startName } from "./results.js";

export class PathView {
  #context;
  #request;
  #position = null;
  #number = 1n;
  #open = false;
  #shown = null;

  constructor(context) {
    this.#context = context;
    this.#request = new CachedRequest(context);
    this.opener = button("Show a shortest path", () => this.#show(), { class: "button", hidden: true }); // hidden until the position is known
    this.title = element("h2");
    this.previous = button("←", () => this.#step(-1n), { class: "button icon", "aria-label": "Previous path", title: "Previous path" });
    this.next = button("→", () => this.#step(1n), { class: "button icon", "aria-label": "Next path", title: "Next path" });
    this.place = element("p", { class: "muted small path-place", role: "status" });
    this.steps = element("div", { class: "row", role: "group", "aria-label": "Shortest paths" }, this.previous, this.next, this.place);
    this.boards = element("div");
    this.box = element("div", { class: "path", hidden: true }, this.title, this.steps, this.boards);
    this.element = element("div", { class: "path-part" }, this.opener, this.box);
  }

  /** Forget the paths if the position on the board has changed. */
  update() {
    const { here } = this.#context;
    if (here?.position !== this.#position) [this.#position, this.#number] = [here?.position ?? null, 1n];
    const any = Boolean(here?.distance);
    this.opener.hidden = !any || this.#open;
    this.box.hidden = !any || !this.#open;
    this.box.classList.toggle("stale", this.#shown?.position !== this.#position);
    if (any && this.#open) this.#ask();
  }

  #show() {
    this.#open = true;
    this.update();
  }

  #step(by) {
    const number = this.#number + by;
    if (number < 1n || number > BigInt(this.#shown.count)) return;
    this.#number = number;
    this.update();
  }

  async #ask() {
    const position = this.#position;
    try {
      const found = await this.#request.ask("/path", { position, number: this.#number === 1n ? null : String(this.#number) });
      if (!found || found === this.#shown || position !== this.#position) return;
      this.#shown = found;
      this.#fill(found);
    } catch (error) {
      [this.#open, this.#number] = [false, 1n];
      this.update();
      this.#context.fail(error);
    }
  }

  #fill(found) {
    const { count, number, distance, moves } = found;
    const { store } = this.#context;
    const single = count === "1";
    this.box.classList.remove("stale");
    this.title.textContent = `${single ? "The" : "A"} shortest path ${isOneWay(store) ? `from the ${startName(store)}` : `to the ${startName(store)}`}`;
    const which = number === null || single ? "" : `path ${formatCount(number)} of ${formatCount(count)}, `;
    this.place.textContent = `${which}${formatCount(distance, "move")}${single ? ", the only one" : ""}`;
    this.previous.hidden = this.next.hidden = number === null || single;
    setEnabled(this.previous, number !== "1", this.next);
    setEnabled(this.next, number !== count, this.previous);
    const steps = stepsInOrder(found, store);
    const list = thumbs(this.#context, steps.map((one) => one.position), steps.map((one) => one.picture), steps.map((one) => String(one.distance)), "strip");
    const named = moves?.some((move) => move !== null) ? sequence(moves) : null;
    this.boards.replaceChildren(...[list, named].filter(Boolean));
  }
}

/** Enable or disable a button; a disabled button loses the focus. */
function setEnabled(made, enabled, other) {
  const focused = made === document.activeElement;
  made.disabled = !enabled;
  if (focused && !enabled) {
    other.disabled = false;
    other.focus();
  }
}

/** Return the names of moves as a text without line breaks within a name. */
function sequence(moves) {
  const words = moves.flatMap((move) => [" ", element("span", { text: move ?? "?" })]).slice(1);
  const box = element("p", { class: "sequence mono" }, ...words);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Moves of the path" }, box);
}
