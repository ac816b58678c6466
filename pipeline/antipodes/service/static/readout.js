// What the board says: the distance, how far that is, the shortest paths, and the buttons to walk on.

import { Latest, of } from "./api.js";
import { trailChart } from "./chart.js";
import { button, counted, element, percent } from "./elements.js";

const ICONS = { undo: "↶", redo: "↷", step: "→", play: "▶", pause: "❚❚" };

export class Readout {
  #page;
  #context;
  #latest = new Latest();
  #counted = null;
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
    this.best = button("Best move", () => page.step(), { class: "button", title: "One move of a shortest path (space)" });
    this.play = button("Play", () => page.player.toggle(), { class: "button main play" });
    for (const one of [this.undo, this.redo, this.best, this.play]) one.disabled = true;
    return element("div", { class: "row walk", role: "group", "aria-label": "Walk" }, this.play, this.best, this.undo, this.redo, this.trail);
  }

  /** Show what is known of the position on the board. */
  show() {
    const { store, layers } = this.#context;
    this.status.textContent = store.complete ? "" : following(store);
    this.status.hidden = store.complete;
    this.status.classList.toggle("running", Boolean(store.run));
    if (!this.#page.playable) return this.#summary(layers);
    const here = this.#page.trail.here;
    if (!here) return;
    const seen = this.#context.seen?.position === here.position ? this.#context.seen : null;
    this.#distance(here.distance, seen);
    this.#buttons(here.distance);
    this.#history();
    if (seen) this.#paths(seen);
  }

  #summary(layers) {
    if (!layers) return;
    setText(this.number, String(layers.radius ?? "–"));
    setText(this.words, layers.complete ? "moves to the farthest positions" : "moves deep so far");
    const sum = layers.layers.reduce((total, one) => total + one, 0);
    const why = this.#context.store.kind === "counts" ? "; only their counts were kept, so no position can be asked for." : ".";
    this.facts.textContent = counted(sum, "position") + why;
  }

  #distance(distance, seen) {
    const { store, layers } = this.#context;
    const zero = store.depth_zero ?? "start";
    const unreached = distance === null && seen && seen.reached === false && !store.complete;
    setText(this.number, distance === null ? (unreached ? `> ${seen.depth}` : "–") : String(distance));
    setText(this.words, distance === null ? missing(unreached, seen) : distance === 0 ? `this is the ${zero}` : `${distance === 1 ? "move" : "moves"} from the ${zero}`);
    const radius = layers?.radius ?? store.radius;
    this.meter.firstChild.style.width = `${radius && distance !== null ? (100 * distance) / radius : 0}%`;
    this.facts.replaceChildren(...this.#place(distance, layers));
  }

  /** How far that is among all positions, and how many shortest paths there are. */
  #place(distance, layers) {
    if (distance === null || !layers) return [];
    const sum = layers.layers.reduce((total, one) => total + one, 0);
    const nearer = layers.layers.slice(0, distance).reduce((total, one) => total + one, 0);
    const share = nearer / sum >= 0.0005 ? element("span", { text: `farther than ${percent(nearer / sum)} of all${layers.complete ? "" : " so far"}` }) : "";
    const radius = element("span", { text: layers.complete ? `radius ${layers.radius}` : `depth ${layers.radius} so far` });
    this.paths = element("span", { class: "paths", text: this.#counted?.text ?? "" });
    return [radius, share, this.paths];
  }

  async #paths(seen) {
    const key = `${this.#context.store.version} ${seen.position}`;
    if (this.#counted?.key === key || this.#page.player.playing) return;
    this.#counted = { key, text: "" };
    if (!seen.distance || !this.#context.store.reversible) return;
    try {
      const found = await this.#latest.ask(() => this.#page.player.path());
      if (!found || this.#counted.key !== key) return;
      this.#counted.text = found.count === null ? "very many shortest paths" : counted(found.count, "shortest path");
      if (this.paths) this.paths.textContent = this.#counted.text;
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #buttons(distance) {
    const { trail, player } = this.#page;
    this.undo.disabled = !trail.before;
    this.redo.disabled = !trail.after;
    const { reversible } = this.#context.store;
    this.best.disabled = !distance || player.playing || !this.#context.seen?.successors.some(({ change }) => change === -1);
    this.play.disabled = !distance && !player.playing;
    const zero = this.#context.store.depth_zero ?? "start";
    const [words, label] = player.playing
      ? ["Pause", "Pause"]
      : reversible === false
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

/** Set a text only where it differs, so that a screen reader says it once. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function missing(unreached, seen) {
  if (unreached) return `not reached yet at depth ${seen.depth}`;
  return seen ? "unreachable from the start" : "…";
}

function following({ run, committed_depth: depth }) {
  const reached = depth === null || depth === undefined ? "nothing committed yet" : `depth ${depth} is committed`;
  return run ? `A run is under way: ${reached}; this page follows it.` : `Unfinished: ${reached}; antipodes run resumes it.`;
}
