// The views of a table as tabs; each view is a module, which is mounted when the user chooses its tab.

import { button, element } from "./elements.js";
import { addRovingFocus } from "./keys.js";

const VIEWS = {
  moves: ["Moves", () => import("./moves.js")],
  distribution: ["Distribution", () => import("./distribution.js")],
  antipodes: ["Antipodes", () => import("./antipodes.js")],
  pattern: ["Pattern", () => import("./pattern.js")],
  graph: ["Graph", () => import("./graph.js")],
};

export class Tabs {
  #context;
  #mounted = null;
  #chosen = null;

  constructor(context, names) {
    this.#context = context;
    this.names = names;
    this.tabs = this.names.map((name) => button(VIEWS[name][0], () => context.navigate({ view: name }), { role: "tab", id: `tab-${name}`, "aria-controls": "view" }));
    this.panel = element("div", { class: "view", id: "view", role: "tabpanel", tabindex: "-1" });
    this.list = element("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs);
    addRovingFocus(this.tabs, 0, (tab) => tab.click());
    this.element = element("section", { class: "views", "aria-label": "Views" }, this.list, this.panel);
  }

  /** Show the view that the address names, or update it if it is shown already. */
  update() {
    const { view } = this.#context.state;
    const chosen = this.names.includes(view) ? view : this.names[0];
    if (chosen !== this.#chosen) this.#choose(chosen);
    else this.#mounted?.update();
  }

  async #choose(chosen) {
    this.#chosen = chosen;
    this.#mounted?.close();
    this.#mounted = null;
    this.tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(this.names[at] === chosen));
      tab.setAttribute("tabindex", this.names[at] === chosen ? "0" : "-1");
    });
    const tab = this.tabs[this.names.indexOf(chosen)];
    this.list.scrollLeft = tab.offsetLeft - this.list.offsetLeft - (this.list.clientWidth - tab.offsetWidth) / 2; // on a phone
    this.panel.setAttribute("aria-labelledby", `tab-${chosen}`);
    this.panel.replaceChildren();
    try {
      const module = await VIEWS[chosen][1]();
      if (chosen !== this.#chosen) return;
      const inner = element("div", { class: `view-${chosen}` });
      this.panel.replaceChildren(inner);
      this.#mounted = module.mount(inner, this.#context) ?? null;
    } catch (error) {
      this.#context.fail(error);
    }
  }

  close() {
    this.#chosen = null;
    this.#mounted?.close();
  }
}
