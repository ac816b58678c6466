// The page of tilings: a gallery, conditions that select tilings, and an enlarged tiling.

import { LatestRequest, storePath } from "./api.js";
import { element, formatCount } from "./elements.js";
import { copyButton, quoteForShell } from "./saving.js";
import { useStyles } from "./style_sheets.js";
import { Filter, addressOf, conditionsIn } from "./tilings_filter.js";
import { Gallery } from "./tilings_gallery.js";
import { Large } from "./tilings_large.js";
import { Plan } from "./tilings_drawing.js";

const FIRST = 60;

export function mount(root, context) {
  const page = new TilingsPage(root, context);
  page.update();
  return page;
}

class TilingsPage {
  constructor(root, context) {
    [this.context, this.counts, this.asked] = [context, new LatestRequest(), null];
    this.conditions = [];
    this.styled = useStyles("tilings.css");
    this.words = element("p", { class: "lead", role: "status" });
    this.none = element("p", { class: "note", hidden: true });
    this.main = element("div", { class: "tilings-main" });
    this.side = element("div", { class: "tilings-side" });
    const copy = copyButton("Copy command", () => this.#command(), context, "Copy the shell command that shows these tilings");
    const line = element("div", { class: "row apart" }, this.words, copy);
    const head = element("header", { class: "tilings-head" }, element("h1", { text: context.name }), line);
    this.root = element("div", { class: "tilings" }, head, this.main, this.side);
    root.append(this.root);
  }

  /** Show the tilings that the address selects; request them again after a commit of the store. */
  async update() {
    try {
      if (!this.plan) await this.#begin();
      if (!this.plan) return;
      const { state, store } = this.context;
      const asked = JSON.stringify([store.version, store.complete, state.where ?? ""]);
      if (asked !== this.asked) await this.#ask(asked);
      else if (state.at !== undefined) this.gallery.scrollTo(numberIn(state.at, 1) - 1);
      await this.#showLarge();
    } catch (error) {
      this.context.fail(error);
    }
  }

  close() {
    this.counts.stop();
    this.gallery?.close();
    this.large?.close();
    this.root.remove();
  }

  #command() {
    return [this.context.store.command, ...this.conditions.map((one) => `--where ${quoteForShell(one)}`)].join(" ");
  }

  async #begin() {
    const { api, name } = this.context;
    this.beginning ??= api.get(storePath(name, "/board"));
    const board = await this.beginning;
    await this.styled;
    if (this.plan || !this.root.isConnected) return;
    this.plan = new Plan(board);
    this.filter = new Filter(this.plan, (conditions) => this.context.navigate({ where: addressOf(conditions), at: null }));
    this.gallery = new Gallery(this.plan, {
      ask: (first, limit, signal) => api.get(storePath(name, "/tilings"), { first, limit, where: this.conditions }, signal),
      open: (tiling) => this.context.navigate({ tiling, image: null, step: null }),
      rest: (at) => this.context.navigate({ at: at ? at + 1 : null }, { replace: true }),
      fail: (error) => this.context.fail(error),
    });
    const filter = element("details", { class: "tilings-filter" }, element("summary", { text: "Filter by the place of a piece" }), this.filter.element);
    filter.open = matchMedia("(min-width: 1000px)").matches || Boolean(this.context.state.where);
    this.main.append(this.none, this.gallery.element);
    this.side.append(filter);
  }

  /** Request the number of tilings and the first ones to show, and show them. */
  async #ask(asked) {
    const { api, name, state } = this.context;
    this.asked = asked;
    this.conditions = conditionsIn(state.where);
    this.filter.set(this.conditions);
    const at = Math.max(0, numberIn(state.at, 1) - 1);
    const first = at - (at % FIRST);
    try {
      const answer = await this.counts.ask((signal) => api.get(storePath(name, "/tilings"), { first, limit: FIRST, where: this.conditions }, signal));
      if (answer) this.#showCount(answer, at);
    } catch (error) {
      this.asked = null;
      this.#showInvalid();
      throw error;
    }
  }

  #showInvalid() {
    this.words.textContent = "These conditions are not valid.";
    this.gallery.reset(0);
  }

  #showCount(answer, at) {
    const { matching, complete } = answer;
    const unfinished = complete ? "" : " found so far; the search is unfinished";
    this.words.textContent = `${numbersIn(answer, this.conditions.length > 0)}${unfinished}`;
    this.none.hidden = matching > 0;
    this.gallery.element.hidden = matching === 0;
    this.none.textContent = emptiness(this.conditions.length > 0, complete);
    this.matching = matching;
    this.gallery.reset(matching, at);
    this.gallery.take(answer);
  }

  async #showLarge() {
    const { tiling, image, step } = this.context.state;
    const number = numberIn(tiling, 0);
    this.root.classList.toggle("with-large", number > 0);
    this.gallery.select(number || null);
    if (!(number > 0)) return this.#removeLarge();
    if (!this.large) {
      this.large = new Large(this.context, this.plan, { close: () => this.#closeLarge(), turn: (by) => this.#turn(by) });
      this.side.prepend(this.large.element);
      this.keyed = (event) => this.#key(event);
      document.addEventListener("keydown", this.keyed);
    }
    const before = this.large.number;
    try {
      await this.large.show({ number, image: numberIn(image, -1), laid: numberIn(step, Infinity), where: this.conditions });
    } catch (error) {
      this.context.navigate({ tiling: null, image: null, step: null }, { replace: true });
      throw error;
    }
    if (before !== number && this.large) this.#announce(number);
  }

  /** Announce the enlarged tiling. On a small screen it is above the gallery, so move the focus there. */
  #announce(number) {
    if (matchMedia("(max-width: 999px)").matches) this.large.title.focus();
    else this.context.say(`Tiling ${formatCount(number)} is shown large`);
  }

  #removeLarge() {
    this.large?.close();
    this.large = null;
    document.removeEventListener("keydown", this.keyed);
  }

  #closeLarge() {
    this.context.navigate({ tiling: null, image: null, step: null });
    this.gallery.focus(this.gallery.active);
  }

  #key(event) {
    if (event.key === "Escape" && !event.defaultPrevented) this.#closeLarge();
  }

  /** Show the next or the previous tiling that satisfies the conditions. */
  async #turn(by) {
    const { api, name, state } = this.context;
    try {
      const place = await this.#placeOf(Number(state.tiling));
      const next = Math.max(0, Math.min(this.matching - 1, place + by));
      const { tilings } = await api.get(storePath(name, "/tilings"), { first: next, limit: 1, where: this.conditions });
      if (tilings.length) this.context.navigate({ tiling: tilings[0].number, image: null, step: null }, { replace: true });
    } catch (error) {
      this.context.fail(error);
    }
  }

  /** Return the place of a tiling among the tilings that satisfy the conditions, by binary search for its number. */
  async #placeOf(number) {
    if (!this.conditions.length) return number - 1;
    const { api, name } = this.context;
    let [low, high] = [0, this.matching - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { tilings } = await api.get(storePath(name, "/tilings"), { first: middle, limit: 1, where: this.conditions });
      if (tilings[0].number < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Return a value of the address as a number, or `otherwise` if it is not a number. */
function numberIn(text, otherwise) {
  return /^\d{1,15}$/.test(text ?? "") ? Number(text) : otherwise;
}

/** Return the numbers of tilings: up to symmetry, and of all symmetric copies if there are more. */
function numbersIn({ classes, copies, matching_classes, matching_copies }, conditional) {
  const chosen = (number) => (conditional ? `${formatCount(number)} of ` : "");
  if (copies === classes) return `${chosen(matching_classes)}${formatCount(classes, "tiling")}`;
  return `${chosen(matching_classes)}${formatCount(classes, "tiling")} up to symmetry, ${chosen(matching_copies)}${formatCount(copies)} in all`;
}

function emptiness(conditional, complete) {
  if (conditional) return "No tiling satisfies these conditions.";
  return complete ? "There is no tiling: these pieces cannot fill this board." : "No tiling found yet.";
}
