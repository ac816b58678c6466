// The readout beside the board: the distance, how it compares with all positions, the number of shortest paths, and
// buttons such as undo and play.

import { trailChart } from "./chart.js";
import { button, element, formatCount, formatPercent } from "./elements.js";
import { bestMove, isOneWay, startName, wordsAfterDistance } from "./results.js";

const ICONS = { undo: "↶", redo: "↷", step: "→", play: "▶", pause: "❚❚" };

export class Readout {
  #page;
  #context;
  #count = { key: null, text: "" };
  #shownTrail = "";

  constructor(page) {
    this.#page = page;
    this.#context = page.context;
    const { store, name } = this.#context;
    this.number = element("p", { class: "distance", id: "distance" });
    this.words = element("p", { class: "distance-words" });
    this.facts = element("p", { class: "facts muted" });
    this.meter = element("div", { class: "meter", "aria-hidden": "true" }, element("span"));
    this.status = element("p", { class: "following small", role: "status" });
    this.trail = element("div", { class: "history", title: "The distance after each step" });
    const heading = element("h1", { text: store.puzzle ?? name });
    const about = element("p", { class: "muted about", text: store.description || "" });
    const problem = store.problem ? element("p", { class: "card-problem", text: store.problem }) : null;
    const live = element("div", { class: "reading", "aria-live": "polite", "aria-atomic": "true" }, this.number, this.words);
    const parts = page.playable ? [live, this.meter, this.facts, this.#walk()] : [live, this.facts];
    this.element = element("section", { class: "readout", "aria-label": "Distance" }, element("header", {}, heading, about, this.status, problem), ...parts);
  }

  #walk() {
    const page = this.#page;
    const icon = (name, label, act) => button(ICONS[name], act, { class: "button icon", "aria-label": label, title: label });
    this.undo = icon("undo", "Undo (Ctrl+Z)", () => page.undo());
    this.redo = icon("redo", "Redo (Ctrl+Shift+Z)", () => page.redo());
    const { store } = this.#context;
    this.best = isOneWay(store) ? null : button("Best move", () => page.step(), { class: "button", title: "One move of a shortest path (space)" });
    this.play = button("Play", () => page.player.toggle(), { class: "button main play" });
    const parts = [this.play, this.best, this.undo, this.redo].filter(Boolean);
    for (const one of parts) one.disabled = true;
    return element("div", { class: "row walk", role: "group", "aria-label": "Walk" }, ...parts, this.trail);
  }

  /** Show the facts that are known about the position on the board. */
  show() {
    const { store, layers } = this.#context;
    this.status.textContent = store.complete ? "" : following(store);
    this.status.hidden = store.complete;
    this.status.classList.toggle("running", Boolean(store.run));
    if (!this.#page.playable) return this.#summary(layers);
    const here = this.#page.trail.here;
    if (!here) return;
    this.#distance(here, this.#context.seen);
    this.#buttons(here.distance);
    this.#history();
    this.#countPaths(here);
  }

  #summary(layers) {
    if (!layers) return;
    setText(this.number, String(layers.radius ?? "–"));
    setText(this.words, layers.complete ? "moves to the farthest positions" : "moves deep so far");
    const sum = layers.layers.reduce((total, one) => total + one, 0);
    const why = this.#context.store.kind === "counts" ? "; only their counts were kept, so positions cannot be queried." : ".";
    this.facts.textContent = formatCount(sum, "position") + why;
  }

  #distance(here, seen) {
    const { store, layers } = this.#context;
    const { distance } = here;
    const unreached = distance === null && seen && seen.reached === false && !store.complete;
    setText(this.number, distance === null ? (unreached ? `> ${seen.depth}` : "–") : String(distance));
    setText(this.words, distance === null ? missing(unreached, seen) : wordsAfterDistance(distance, store));
    const radius = layers?.radius ?? store.radius;
    this.meter.firstChild.style.width = `${radius && distance !== null ? (100 * distance) / radius : 0}%`;
    this.facts.replaceChildren(...this.#place(here, layers));
  }

  /** Show how the distance compares with all positions, and the number of shortest paths; or why it is unreachable. */
  #place(here, layers) {
    const { distance } = here;
    if (distance === null) return [element("span", { text: this.#context.seen?.obstacle ?? "" })];
    if (!layers) return [];
    const sum = layers.layers.reduce((total, one) => total + one, 0);
    const nearer = layers.layers.slice(0, distance).reduce((total, one) => total + one, 0);
    const share = nearer / sum >= 0.0005 ? element("span", { text: `farther than ${formatPercent(nearer / sum)} of all${layers.complete ? "" : " so far"}` }) : "";
    const radius = element("span", { text: layers.complete ? `radius ${layers.radius}` : `depth ${layers.radius} so far` });
    const text = this.#count.key === this.#countKey(here) ? this.#count.text : "";
    return [radius, share, element("span", { class: "paths", text })];
  }

  /** Return a key for a number of paths: the position and the commit to which it belongs. */
  #countKey({ position }) {
    return `${this.#context.store.version} ${position}`;
  }

  async #countPaths(here) {
    const key = this.#countKey(here);
    if (!here.distance || this.#count.key === key || this.#page.player.playing) return;
    try {
      const found = await this.#page.player.path(here.position);
      if (found) this.#setCount(key, numberOf(found, this.#context.store));
    } catch (error) {
      this.#setCount(key, "");
      if (error.status !== 413) this.#context.fail(error); // the table is too large to search for paths
    }
  }

  #setCount(key, text) {
    this.#count = { key, text };
    const { here } = this.#page.trail;
    if (key === this.#countKey(here)) this.facts.replaceChildren(...this.#place(here, this.#context.layers));
  }

  #buttons(distance) {
    const { trail, player } = this.#page;
    this.undo.disabled = !trail.before;
    this.redo.disabled = !trail.after;
    const { seen, store } = this.#context;
    if (this.best) this.best.disabled = !distance || player.playing || !bestMove(seen, store);
    this.play.disabled = !distance && !player.playing;
    const zero = startName(store);
    const [words, label] = player.playing
      ? ["Pause", "Pause"]
      : isOneWay(store)
        ? [`Play from the ${zero}`, `Play a shortest path from the ${zero} to here`]
        : ["Play", `Play a shortest path to the ${zero}`];
    if (this.play.getAttribute("aria-label") === label) return;
    this.play.replaceChildren(element("span", { "aria-hidden": "true", text: player.playing ? ICONS.pause : ICONS.play }), words);
    this.play.setAttribute("aria-label", label);
    this.play.title = label;
  }

  #history() {
    const { trail } = this.#page;
    const text = JSON.stringify([trail.at, trail.entries.map(({ distance, position }) => [distance, position])]);
    if (text === this.#shownTrail) return;
    this.#shownTrail = text;
    const focused = this.trail.contains(document.activeElement);
    const chart = trailChart(trail.entries, trail.at, (at) => this.#page.goTo(at));
    this.trail.replaceChildren(...(trail.entries.length > 1 ? [chart] : []));
    if (focused) this.trail.querySelector(".here")?.focus();
  }
}

/** Set the text of an element only if it differs, so that screen readers announce it once. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Return the number of shortest paths as text; it is empty if the paths were not counted because moves have no inverses. */
function numberOf({ count }, { reversible, invertible }) {
  if (count !== null) return formatCount(count, "shortest path");
  return reversible || invertible ? "very many shortest paths" : "";
}

function missing(unreached, seen) {
  if (unreached) return `not reached yet at depth ${seen.depth}`;
  return seen ? "unreachable from the start" : "…";
}

function following({ run, committed_depth: depth }) {
  const reached = depth === null || depth === undefined ? "nothing committed yet" : `depth ${depth} is committed`;
  return run ? `A run is under way: ${reached}; this page follows it.` : `Unfinished: ${reached}; antipodes run resumes it.`;
}
