// The view "Moves": the legal moves and their results, the meanings of the names, and the shortest paths as boards.

import { button, element, formatCount, nameOf } from "./elements.js";
import { thumbs } from "./gallery.js";
import { Legend } from "./legend.js";
import { PathView } from "./path_view.js";
import { withPreview } from "./preview.js";
import { describeResult, isOneWay, reasonUnknown, startName } from "./results.js";

export function mount(root, context) {
  const view = new MovesView(context);
  root.append(view.element);
  view.update();
  return view;
}

class MovesView {
  #context;
  #shown = null;

  constructor(context) {
    this.#context = context;
    this.lead = element("p", { class: "muted small" });
    this.moves = element("div", { class: "moves", role: "group", "aria-label": "Legal moves" });
    this.before = element("div", { class: "before" });
    this.legend = new Legend(context);
    this.path = new PathView(context);
    this.element = element("div", {}, this.lead, this.moves, this.legend.element, this.before, this.path.element);
  }

  close() {
    this.#context.stage.endPreview();
  }

  update() {
    const { seen } = this.#context;
    for (const one of [this.lead, this.before]) one.classList.toggle("stale", !seen);
    if (!seen) this.#forget();
    else if (seen !== this.#shown) this.#show(seen);
    this.path.update();
  }

  /** Show only the names of the moves until the successors of the position on the board have arrived. */
  #forget() {
    this.#shown = null;
    for (const one of this.moves.children) {
      one.setAttribute("aria-label", one.dataset.move);
      one.querySelector(".sign").textContent = "…";
    }
  }

  #show(seen) {
    this.#shown = seen;
    const { store } = this.#context;
    const focused = document.activeElement?.dataset?.move;
    this.lead.textContent = lead(seen, store);
    const made = sortedByResult(seen.successors, store).map((one) => this.#button(one));
    this.moves.replaceChildren(...made);
    this.#before(seen);
    const again = made.find((one) => one.dataset.move === focused) ?? made[0];
    if (focused !== undefined) this.#context.stage.withoutPreview(() => again?.focus({ preventScroll: true }));
  }

  #button(successor) {
    const { stage, store, seen } = this.#context;
    const { sign, words, tone } = describeResult(successor, store);
    const name = nameOf(successor, seen.successors);
    const made = button("", () => this.#context.make(successor), { class: "move", "data-move": name, "aria-label": `${name}: ${words}` });
    made.append(element("span", { class: "move-name", text: name }), element("span", { class: `sign ${tone}`, text: sign }));
    return withPreview(made, stage, successor, `Preview of ${name}: ${successor.position}, ${words}`);
  }

  /** Show the predecessors if moves are irreversible. */
  #before({ predecessors }) {
    if (!predecessors?.length) return this.before.replaceChildren();
    const pictures = predecessors.map(({ picture }) => picture);
    const captions = predecessors.map(({ distance }) => (distance === null ? reasonUnknown(this.#context.store) : `distance ${distance}`));
    const title = element("h2", { text: "One move before" });
    this.before.replaceChildren(title, thumbs(this.#context, predecessors.map(({ position }) => position), pictures, captions));
  }
}

/** Sort moves by their results, the closest first; moves with equal results keep the puzzle's order. */
function sortedByResult(successors, store) {
  const ranked = successors.map((one) => ({ one, ...describeResult(one, store) }));
  return ranked.sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank)).map(({ one }) => one);
}

function lead({ successors, distance }, store) {
  if (successors.length === 0) return "No move is legal here.";
  const all = formatCount(successors.length, "legal move");
  if (isOneWay(store)) return `${all}. Some moves are irreversible, so each number is the distance from the ${startName(store)} after the move.`;
  if (distance === 0) return `${all}.`;
  const nearer = successors.filter(({ change }) => change < 0).length;
  return nearer ? `${all}, ${nearer} of them ${nearer === 1 ? "leads" : "lead"} nearer.` : `${all}.`;
}
