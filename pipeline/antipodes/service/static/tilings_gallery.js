// A gallery of thousands of tilings. Only the visible part exists in the page, and only its tilings are requested.

import { element, formatCount } from "./elements.js";
import { tilingPicture } from "./tilings_drawing.js";

const PAGE = 60;
const KEPT = 40;
const AT_A_TIME = 2;
const MARGIN = 2;
const SPACE = 12;
const TALLEST = 8_000_000;
const RESTING = 120;

export class Gallery {
  /**
   * `ask(first, limit, signal)` requests the JSON of /tilings. `open(number)` is called when the user chooses a tiling,
   * and `rest(at)` when the user has stopped scrolling; `at` is the place of the first visible tiling, from 0.
   */
  constructor(plan, { ask, open, rest, fail }) {
    Object.assign(this, { plan, ask, open, rest, fail });
    [this.count, this.columns, this.active, this.pages, this.cells] = [0, 1, 0, new Map(), new Map()];
    this.list = element("div", { class: "gallery-list", role: "listbox", "aria-label": "Tilings", "aria-orientation": "vertical" });
    this.element = element("div", { class: "gallery", tabindex: "-1" }, this.list);
    this.element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.sizes = new ResizeObserver(() => this.#resize());
    this.sizes.observe(this.element);
  }

  /** Show a new list of `count` tilings, scrolled to a place; all of them are requested again. */
  reset(count, at = 0) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.running = 0;
    this.pages.clear();
    this.cells.forEach((cell) => cell.remove());
    this.cells.clear();
    [this.count, this.active] = [count, Math.min(at, Math.max(0, count - 1))];
    this.#resize(at);
  }

  /** Use the tilings of an answer of /tilings that has already arrived. */
  take({ first, tilings }) {
    if (first % PAGE === 0) this.pages.set(first / PAGE, tilings);
    this.#fill();
  }

  /** Mark the tiling with a number as the enlarged one. */
  select(number) {
    this.selected = number;
    this.cells.forEach((cell, at) => this.#mark(cell, at));
  }

  /** Scroll to a place, unless it is already the first visible one. */
  scrollTo(at) {
    if (at === this.first) return;
    this.element.scrollTop = this.#top(Math.floor(at / this.columns));
  }

  /** Place of the first visible tiling, from 0. */
  get first() {
    return Math.min(Math.max(0, this.count - 1), Math.round(this.#row()) * this.columns);
  }

  close() {
    this.asking?.abort();
    clearTimeout(this.resting);
    this.sizes.disconnect();
    this.element.remove();
  }

  #resize(at = this.first) {
    const width = this.element.clientWidth;
    if (!width) return;
    const { plan } = this;
    const wanted = Math.min(width - SPACE, Math.max(104, Math.min(210, Math.sqrt((15000 * plan.width) / plan.height))));
    this.columns = Math.max(1, Math.floor((width - SPACE) / (wanted + SPACE)));
    this.wide = (width - SPACE) / this.columns;
    this.high = ((this.wide - 2 * SPACE) * plan.height) / plan.width + 2 * SPACE + 22;
    this.rows = Math.ceil(this.count / this.columns);
    this.full = this.rows * this.high + SPACE;
    this.list.style.height = `${Math.min(TALLEST, this.full)}px`;
    this.element.scrollTop = this.#top(Math.floor(at / this.columns));
    this.#fill();
  }

  /** Number of pixels of the list per scrolled pixel: 1, unless the list is taller than browsers support. */
  get #factor() {
    const view = this.element.clientHeight;
    return this.full > TALLEST ? (this.full - view) / (TALLEST - view) : 1;
  }

  #row() {
    return this.high ? (this.element.scrollTop * this.#factor) / this.high : 0;
  }

  #top(row) {
    return (row * this.high) / this.#factor;
  }

  #scrolled() {
    this.filling ??= requestAnimationFrame(() => this.#fill());
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rest(this.first), RESTING);
  }

  /** Create the cells that are visible, and remove the others. */
  #fill() {
    this.filling = undefined;
    if (!this.high) return;
    const [row, seen] = [this.#row(), this.element.clientHeight / this.high];
    const begin = Math.max(0, Math.floor(row) - MARGIN) * this.columns;
    const end = Math.min(this.count, (Math.ceil(row + seen) + MARGIN) * this.columns);
    for (const [at, cell] of this.cells) if ((at < begin || at >= end) && cell !== document.activeElement) this.#drop(at, cell);
    for (let at = begin; at < end; at += 1) this.#place(at, row);
    this.#setTabStop(begin, end);
    for (let page = Math.floor(begin / PAGE); page * PAGE < end; page += 1) if (!this.pages.has(page)) this.#requestPage(page);
  }

  #drop(at, cell) {
    cell.remove();
    this.cells.delete(at);
  }

  #place(at, row) {
    if (!this.cells.has(at)) this.cells.set(at, this.#cell(at));
    const cell = this.cells.get(at);
    const [line, column] = [Math.floor(at / this.columns), at % this.columns];
    const top = this.element.scrollTop + (line - row) * this.high + SPACE;
    cell.style.transform = `translate(${SPACE / 2 + column * this.wide}px, ${top}px)`;
    cell.style.width = `${this.wide - SPACE}px`;
    cell.style.height = `${this.high - SPACE}px`;
    const tiling = this.pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (tiling && cell.dataset.number !== String(tiling.number)) this.#show(cell, at, tiling);
  }

  #cell(at) {
    const cell = element("div", { class: "gallery-cell", role: "option", tabindex: "-1", "aria-posinset": at + 1, "aria-setsize": this.count });
    cell.setAttribute("aria-label", `tiling ${formatCount(at + 1)} of ${formatCount(this.count)}, still loading`);
    cell.addEventListener("click", () => this.#choose(at));
    cell.addEventListener("focus", () => (this.active = at));
    this.list.append(cell);
    this.#mark(cell, at);
    return cell;
  }

  #show(cell, at, tiling) {
    cell.dataset.number = tiling.number;
    const place = `tiling ${formatCount(at + 1)} of ${formatCount(this.count)}`;
    cell.setAttribute("aria-label", tiling.number === at + 1 ? place : `${place}, number ${formatCount(tiling.number)}`);
    cell.replaceChildren(tilingPicture(this.plan, tiling.pieces), element("span", { class: "caption", text: formatCount(tiling.number) }));
    this.#mark(cell, at);
  }

  #mark(cell) {
    cell.setAttribute("aria-selected", String(cell.dataset.number === String(this.selected)));
  }

  /** Make one cell reachable with the tab key: the active one, or else the first visible one. */
  #setTabStop(begin, end) {
    const stop = this.active >= begin && this.active < end ? this.active : Math.min(this.first, end - 1);
    this.cells.forEach((cell, at) => cell.setAttribute("tabindex", at === stop ? "0" : "-1"));
  }

  /** Request a page of tilings, unless AT_A_TIME requests are under way; `#fill` asks again when one is answered. */
  async #requestPage(page) {
    if (this.running >= AT_A_TIME) return;
    this.running += 1;
    this.pages.set(page, null);
    const { signal } = this.asking;
    try {
      const { tilings } = await this.ask(page * PAGE, PAGE, signal);
      if (!signal.aborted) this.#addPage(page, tilings);
    } catch (error) {
      if (!signal.aborted) this.#reportFailure(page, error);
    }
  }

  #addPage(page, tilings) {
    this.running -= 1;
    this.pages.set(page, tilings);
    this.#dropFarPages();
    this.#fill();
  }

  /** Report an error; the page is requested again when the user scrolls. */
  #reportFailure(page, error) {
    this.running -= 1;
    this.pages.delete(page);
    this.fail(error);
  }

  /** Drop the pages that are farthest from the visible part. */
  #dropFarPages() {
    const here = this.first / PAGE;
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - here) - Math.abs(a - here));
    for (const page of far.slice(0, Math.max(0, this.pages.size - KEPT))) if (this.pages.get(page)) this.pages.delete(page);
  }

  #choose(at) {
    const tiling = this.pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (tiling) this.open(tiling.number);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const screen = Math.max(1, Math.floor(this.element.clientHeight / this.high)) * this.columns;
    const across = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    const steps = { ...across, ArrowUp: -this.columns, ArrowDown: this.columns, PageUp: -screen, PageDown: screen };
    if (event.key === "Enter" || event.key === " ") this.#choose(this.active);
    else if (event.key in steps) this.focus(this.active + steps[event.key]);
    else return;
    event.preventDefault();
  }

  /** Focus the tiling at a place, and scroll to it if it is not visible. */
  focus(to) {
    const at = Math.max(0, Math.min(this.count - 1, to));
    const [row, line, seen] = [this.#row(), Math.floor(at / this.columns), this.element.clientHeight / this.high];
    this.active = at;
    if (line < row) this.element.scrollTop = this.#top(line);
    else if (line + 1 > row + seen) this.element.scrollTop = this.#top(line + 1.15 - seen);
    this.#fill();
    this.cells.get(at)?.focus({ preventScroll: true });
  }
}
