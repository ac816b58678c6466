// The view "Antipodes": the farthest positions, as a gallery.

import { CachedRequest } from "./cached_request.js";
import { button, element, formatCount } from "./elements.js";
import { markHere, thumbs } from "./gallery.js";
import { startName } from "./results.js";

const EACH = 24;
const MOST = 192;

export function mount(root, context) {
  const view = new AntipodesView(context);
  root.append(view.element);
  view.update();
  return view;
}

class AntipodesView {
  #context;
  #request;
  #limit = EACH;
  #found = null;

  constructor(context) {
    this.#context = context;
    this.#request = new CachedRequest(context);
    this.element = element("div");
  }

  close() {}

  async update() {
    if (!this.#context.store.complete) {
      const radius = this.#context.layers?.radius;
      this.#found = null;
      const text = `The antipodes are only known once the table is finished${radius === undefined ? "" : `; it has reached depth ${radius}`}.`;
      this.element.replaceChildren(element("p", { class: "muted", text }));
      return;
    }
    markHere(this.element, this.#context);
    try {
      const found = await this.#request.ask("/antipodes", { limit: this.#limit });
      if (!found || found === this.#found) return;
      this.#found = found;
      this.element.replaceChildren(...this.#gallery(found));
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #gallery({ radius, count, positions, pictures }) {
    const words = `${formatCount(count, "position")} ${count === 1 ? "is" : "are"} farthest: ${formatCount(radius, "move")} from the ${startName(this.#context.store)}.`;
    const few = positions.length < count ? ` ${formatCount(positions.length)} of them:` : "";
    const more = () => {
      this.#limit = Math.min(MOST, this.#limit * 3);
      this.update();
    };
    const rest = positions.length < Math.min(count, MOST) && positions.length === this.#limit ? button("Show more", more, { class: "button" }) : null;
    const lead = element("p", { class: "muted small", text: words + few });
    return [lead, thumbs(this.#context, positions, pictures), rest].filter(Boolean);
  }
}
