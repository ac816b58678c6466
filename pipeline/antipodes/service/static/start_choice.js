// The controls that select and sort the stores on the start page; the address stores the choice.

import { element, formatCount } from "./elements.js";

const FEW = 6;
const ORDERS = {
  name: { label: "By name", compare: (one, other) => titleOf(one).localeCompare(titleOf(other), "en", { numeric: true }) },
  positions: { label: "Most positions first", compare: (one, other) => sizeOf(other) - sizeOf(one) },
  radius: { label: "Largest radius first", compare: (one, other) => (other.radius ?? -1) - (one.radius ?? -1) },
};
const FILTERS = {
  finished: { label: "Finished", fits: (store) => store.complete && !store.problem },
  unfinished: { label: "Running or unfinished", fits: (store) => !store.complete && !store.problem },
  problems: { label: "With problems", fits: (store) => Boolean(store.problem) },
  counts: { label: "Counts only", fits: (store) => store.kind === "counts" },
  tilings: { label: "Tilings", fits: (store) => store.kind === "tilings" },
};
const FAMILY = "family:";

/** The name under which a store is listed. */
export function titleOf(store) {
  return store.puzzle ?? store.board ?? store.name;
}

function sizeOf(store) {
  return store.states ?? store.tilings ?? -1;
}

/** A search field, a filter and a sort order. */
export class StoreChoice {
  #context;

  constructor(context) {
    this.#context = context;
    this.find = element("input", { type: "search", class: "wide", placeholder: "Find a puzzle", "aria-label": "Find a puzzle", autocomplete: "off", on: { input: () => this.#set({ find: this.find.value }) } });
    this.filter = element("select", { "aria-label": "Show", on: { change: () => this.#set({ show: this.filter.value }) } });
    const orders = Object.entries(ORDERS).map(([value, { label }]) => element("option", { value, text: label }));
    this.order = element("select", { "aria-label": "Sort by", on: { change: () => this.#set({ sort: this.order.value === "name" ? null : this.order.value }) } }, ...orders);
    this.count = element("p", { class: "small muted", role: "status" });
    this.element = element("form", { class: "row store-choice", role: "search", hidden: true, on: { submit: (event) => event.preventDefault() } }, this.find, this.filter, this.order, this.count);
  }

  #set(changes) {
    this.#context.navigate(changes, { replace: true });
  }

  /** Return the stores to show, in order; hide the controls if there are only a few stores. */
  chosen(stores) {
    const { find = "", show = "", sort } = this.#context.state;
    this.element.hidden = stores.length <= FEW && !find && !show && !sort;
    this.#offer(stores, show);
    if (this.find.value !== find) this.find.value = find;
    this.order.value = sort in ORDERS ? sort : "name";
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (store) => fitsFilter(store, show) && words.every((word) => textOf(store).includes(word));
    const shown = stores.filter(fits).sort(ORDERS[this.order.value].compare);
    this.count.textContent = shown.length < stores.length ? `${formatCount(shown.length)} of ${formatCount(stores.length, "store")}` : "";
    return shown;
  }

  /** Offer the filters that match a store, and the families that occur. */
  #offer(stores, show) {
    const families = [...new Set(stores.map(({ family }) => family).filter(Boolean))].sort();
    const options = [
      ["", "All stores"],
      ...Object.entries(FILTERS).filter(([value, { fits }]) => value === show || stores.some(fits)).map(([value, { label }]) => [value, label]),
      ...families.map((family) => [FAMILY + family, family]),
    ];
    const text = JSON.stringify(options);
    if (text !== this.offered) this.filter.replaceChildren(...options.map(([value, label]) => element("option", { value, text: label })));
    this.offered = text;
    this.filter.value = options.some(([value]) => value === show) ? show : "";
  }
}

function fitsFilter(store, show) {
  if (show.startsWith(FAMILY)) return store.family === show.slice(FAMILY.length);
  return FILTERS[show]?.fits(store) ?? true;
}

/** Return the text in which the words of a search are looked up. */
function textOf(store) {
  return [store.name, titleOf(store), store.family, store.kind, store.description].filter(Boolean).join(" ").toLowerCase();
}
