// The view "Moves": each legal move with what it changes, and the shortest path as boards.

import { button, counted, element, nameOf, signed } from "./elements.js";
import { thumbs } from "./gallery.js";
import { Question } from "./tabs.js";

export function mount(root, context) {
  const view = new MovesView(context);
  root.append(view.element);
  view.update();
  return view;
}

class MovesView {
  #context;
  #shown = null;
  #question;
  #pathOf = null;

  constructor(context) {
    this.#context = context;
    this.#question = new Question(context);
    this.lead = element("p", { class: "muted small" });
    this.moves = element("div", { class: "moves", role: "group", "aria-label": "Legal moves" });
    this.before = element("div", { class: "before" });
    this.path = element("div", { class: "path" });
    this.pathButton = button("Show a shortest path", () => this.#showPath(), { class: "button", hidden: true }); // until the position is known
    this.element = element("div", {}, this.lead, this.moves, this.before, element("div", { class: "path-part" }, this.pathButton, this.path));
  }

  close() {}

  update() {
    const { seen } = this.#context;
    if (!seen || seen === this.#shown) return;
    this.#shown = seen;
    this.#moves(seen);
    this.#before(seen);
    this.pathButton.hidden = !seen.distance;
    if (this.#pathOf !== null && seen.distance) this.#showPath();
    else this.path.replaceChildren();
  }

  #moves({ successors, distance }) {
    const focused = document.activeElement?.dataset?.move;
    const nearer = successors.filter(({ change }) => change < 0).length;
    this.lead.textContent = lead(successors.length, nearer, distance, this.#context.store);
    const made = successors.map((one, number) => this.#button(one, number));
    this.moves.replaceChildren(...made);
    if (focused !== undefined) (made.find((one) => one.dataset.move === focused) ?? made[0])?.focus({ preventScroll: true });
  }

  #button(successor, number) {
    const { sign, words, tone } = signed(successor.change);
    const name = nameOf(successor, number);
    const far = successor.distance === null ? "" : `, distance ${successor.distance}`;
    const made = button("", () => this.#context.make(successor), { class: "move", "data-move": name, "aria-label": `${name}: ${words}${far}` });
    made.append(element("span", { class: "move-name", text: name }), element("span", { class: `sign ${tone}`, text: sign }));
    return made;
  }

  /** Where moves cannot be undone: the positions one move before. */
  #before({ predecessors }) {
    if (!predecessors?.length) return this.before.replaceChildren();
    const pictures = predecessors.map(({ picture }) => picture);
    const captions = predecessors.map(({ distance }) => (distance === null ? "?" : String(distance)));
    const title = element("h2", { text: "One move before" });
    this.before.replaceChildren(title, thumbs(this.#context, predecessors.map(({ position }) => position), pictures, captions));
  }

  async #showPath() {
    const { position } = this.#context.seen;
    this.#pathOf = position;
    try {
      const found = await this.#question.ask("/path", { position });
      if (!found || this.#context.seen.position !== position) return;
      this.pathButton.hidden = true;
      this.path.replaceChildren(...this.#boards(found));
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #boards({ path, pictures, moves, count, distance }) {
    const title = element("h2", { text: count === null || count === "1" ? "The shortest path" : "A shortest path" });
    if (count === null) title.textContent = "A shortest path";
    const many = count === null ? "" : `, one of ${counted(count)}`;
    const words = element("p", { class: "muted small", text: `${counted(distance, "move")}${count === "1" ? ", the only one" : many}` });
    const named = moves?.some((move) => move !== null) ? sequence(moves) : null;
    const list = thumbs(this.#context, path, pictures, path.map((_, at) => String(distance - at)), "strip");
    return [title, words, list, named].filter(Boolean);
  }
}

/** The names of moves as a text that never breaks within one. */
function sequence(moves) {
  const words = moves.flatMap((move) => [" ", element("span", { text: move })]).slice(1);
  const box = element("p", { class: "sequence mono" }, ...words);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Moves of the path" }, box);
}

function lead(moves, nearer, distance, { reversible, depth_zero: zero }) {
  if (moves === 0) return "No move is legal here.";
  const all = `${counted(moves, "legal move")}`;
  if (distance === 0) return `${all} from the ${zero ?? "start"}.`;
  if (!nearer) return reversible === false ? `${all}. Moves cannot be undone here: distances count from the start.` : `${all}.`;
  return `${all}, ${nearer} of them ${nearer === 1 ? "leads" : "lead"} nearer.`;
}
