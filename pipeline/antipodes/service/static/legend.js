// The meanings of the names of moves: one sentence for a family, or one line per move for permutations.

import { CachedRequest } from "./cached_request.js";
import { element, formatCount } from "./elements.js";

export class Legend {
  #context;
  #request;

  constructor(context) {
    this.#context = context;
    this.#request = new CachedRequest(context);
    this.words = element("div");
    const summary = element("summary", { text: "What the names mean" });
    this.element = element("details", { class: "move-legend", hidden: !context.store.moves, on: { toggle: () => this.#opened() } }, summary, this.words);
  }

  async #opened() {
    if (!this.element.open) return;
    try {
      const found = await this.#request.ask("/moves", {});
      if (found) this.words.replaceChildren(...parts(found));
    } catch (error) {
      this.element.open = false;
      this.#context.fail(error);
    }
  }
}

function parts({ text, count, moves }) {
  const known = moves.filter(({ meaning }) => meaning !== null);
  const list = element("dl", { class: "meanings" }, ...known.map(({ name, meaning }) => element("div", {}, element("dt", { class: "mono", text: name }), element("dd", { text: meaning }))));
  const rest = known.length && count > moves.length ? element("p", { class: "small muted", text: `The first ${formatCount(moves.length)} of ${formatCount(count, "move")}.` }) : null;
  const none = text === null && !known.length ? element("p", { class: "small", text: "The puzzle's definition does not explain its moves. Point at a move to preview it." }) : null;
  return [text && element("p", { class: "small", text }), none, known.length ? list : null, rest].filter(Boolean);
}
