// The start page: the stores as cards, which show the progress of runs under way.

import { element, formatCount, formatPercent, formatRounded } from "./elements.js";
import { StoreChoice, titleOf } from "./start_choice.js";

const POLL = 1500;
const KINDS = { counts: "counts only", tilings: "tilings" };

/** Fill the element with the cards of all stores. */
export function mount(root, context) {
  const page = new StartPage(context);
  root.append(page.element);
  page.look();
  return { update: () => page.update(), close: () => page.close() };
}

class StartPage {
  #context;
  #timer = 0;
  #shown = new Map();
  #stores = null;
  #closed = false;

  constructor(context) {
    this.#context = context;
    this.heading = element("p", { class: "lead", text: "Looking for stores…" });
    this.choice = new StoreChoice(context);
    this.cards = element("ul", { class: "cards", "aria-label": "Stores" });
    this.element = element("div", { class: "start" }, element("h1", { text: "Your tables" }), this.heading, this.choice.element, this.cards);
  }

  /** Handle a change of the address, which determines which stores are shown, and their order. */
  update() {
    if (this.#stores) this.#show(this.#stores);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Request the stores, show them, and repeat, more often while a run is under way. */
  async look() {
    try {
      const stores = await this.#context.api.get("/stores");
      if (this.#closed) return;
      this.#context.succeed();
      this.#show(stores);
      this.#later(stores.some((store) => store.run || (!store.complete && !store.problem)) ? POLL : 4 * POLL);
    } catch (error) {
      if (this.#closed) return;
      this.#context.fail(error);
      this.#later(2 * POLL);
    }
  }

  #later(milliseconds) {
    this.#timer = setTimeout(() => (document.hidden ? this.#later(milliseconds) : this.look()), milliseconds);
  }

  #show(stores) {
    this.#stores = stores;
    const running = stores.filter((store) => store.run).length;
    const under = running ? `, ${formatCount(running, "run")} under way` : "";
    this.heading.textContent = stores.length
      ? `${formatCount(stores.length, "store")}${under}. Choose one to play and to see its distribution and its farthest positions.`
      : "There is no store yet. Create one with: antipodes run eight-puzzle";
    const cards = this.choice.chosen(stores).map((store) => this.#card(store));
    if (cards.some((card, at) => this.cards.children[at] !== card) || cards.length !== this.cards.children.length) {
      this.cards.replaceChildren(...cards);
    }
  }

  /** Return the card of a store; the element is reused if nothing has changed. */
  #card(store) {
    const text = JSON.stringify(store);
    const known = this.#shown.get(store.name);
    if (known?.text === text) return known.card;
    const card = this.#newCard(store);
    if (known?.card.contains(document.activeElement)) requestAnimationFrame(() => card.querySelector("a")?.focus());
    this.#shown.set(store.name, { text, card });
    return card;
  }

  #newCard(store) {
    const title = titleOf(store);
    const link = element("a", { href: `#/${encodeURIComponent(store.name)}`, class: "card-link", text: title });
    const words = element("div", { class: "card-words" }, element("h2", {}, link), this.#kind(store, title), ...facts(store));
    return element("li", { class: `card${store.problem ? " broken" : ""}` }, this.#picture(store), words);
  }

  #kind(store, title) {
    const named = [store.name === title ? null : store.name, store.family, KINDS[store.kind]];
    const text = named.filter(Boolean).join(" · ");
    return text ? element("p", { class: "muted small", text }) : null;
  }

  #picture({ picture }) {
    const image = picture ? this.#context.board(picture, "") : element("span", { class: "no-picture", "aria-hidden": "true" });
    return element("div", { class: "card-picture" }, image);
  }
}

/** Return the content of a store's card, as elements. */
function facts(store) {
  if (store.problem) return [element("p", { class: "card-problem small", text: store.problem })];
  return [numbers(store), store.complete ? finished(store) : progress(store)];
}

function numbers(store) {
  const pairs = store.kind === "tilings"
    ? [[count(store.tilings), "tilings up to symmetry"]]
    : [[count(store.states), "positions"], [store.radius ?? "–", store.complete ? "radius" : "depth"]];
  const items = pairs.map(([value, name]) => element("div", {}, element("dt", { text: name }), element("dd", { text: value })));
  return element("dl", { class: "numbers" }, ...items);
}

function count(number) {
  if (number === null || number === undefined) return "–";
  return number < 1e9 ? formatCount(number) : formatRounded(number);
}

function finished() {
  return element("p", { class: "state done small", text: "finished" });
}

function progress(store) {
  const [done, all] = store.kind === "tilings"
    ? [store.searched_partitions, store.partitions]
    : [store.states, store.expected];
  const words = store.run ? "running" : "unfinished";
  const part = all ? Math.min(1, done / all) : null;
  const known = part !== null || store.run; // a bar without a value is animated, so it is only used for a run under way
  const bar = known ? element("progress", { max: 1, value: part, "aria-label": `Progress of ${store.name}` }) : null;
  const text = part === null ? words : `${words}, ${formatPercent(part)}`;
  return element("div", { class: "state" }, bar, element("span", { class: "small", text }));
}
