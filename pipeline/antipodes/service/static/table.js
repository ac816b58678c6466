// The page of a table: the board, the readout beside it, and the views as tabs.

import { LatestRequest, storePath } from "./api.js";
import { element, nameOf } from "./elements.js";
import { Entry } from "./entry.js";
import { Hints } from "./hints.js";
import { isArrowKey, isTyping, letterMove } from "./keys.js";
import { Player } from "./player.js";
import { Readout } from "./readout.js";
import { bestMove, capitalized, describeStart, isOneWay, startName } from "./results.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Tools } from "./tools.js";
import { Trail } from "./trail.js";

const MOST_RENEWED = 200;

/** Show the page of a table or of counts in an element. */
export function mount(root, context) {
  const page = new TablePage(context);
  root.append(page.element);
  page.begin();
  return page;
}

class TablePage {
  #viewRequest = new LatestRequest();
  #layersRequest = new LatestRequest();
  #answer = null;
  #pending = null;
  #waiting = null;
  #seenVersion = null;

  constructor(context) {
    this.context = context;
    this.trail = new Trail();
    this.playable = context.store.kind === "table" && !context.store.problem;
    Object.assign(context, { layers: null, stage: null, go: (position) => this.go(position), make: (one) => this.make(one) });
    Object.defineProperties(context, { here: { get: () => this.trail.here }, seen: { get: () => this.#seen } });
    this.stage = context.stage = new Stage(() => context.store, (successor) => this.make(successor));
    this.player = new Player(this);
    this.readout = new Readout(this);
    this.entry = new Entry(this);
    this.tools = new Tools(this);
    this.hints = new Hints(context);
    this.tabs = new Tabs(context, viewsOf(context.store));
    this.element = this.#laidOut();
    this.keyed = (event) => this.#key(event);
    document.addEventListener("keydown", this.keyed);
  }

  #laidOut() {
    const controls = element("div", { class: "controls" }, this.entry.element, this.tools.element, this.hints.element);
    const stage = element("section", { class: "stage", "aria-label": "Board" }, this.stage.element, this.playable ? controls : null);
    return element("div", { class: `table${this.playable ? "" : " still"}` }, stage, this.readout.element, this.tabs.element);
  }

  begin() {
    const { store, state } = this.context;
    if (store.picture && (!this.playable || !state.position)) this.stage.show(store.picture, "The start", 0);
    if (this.playable) this.#askMoves();
    this.update();
  }

  /** Request the moves that turn each sticker of a net. */
  async #askMoves() {
    const { api, name } = this.context;
    try {
      const { stickers } = await api.get(storePath(name, "/moves"));
      this.stage.setStickers(stickers);
      this.hints.show();
    } catch (error) {
      this.stage.setStickers(null);
      this.context.fail(error);
    }
  }

  /** The answer about the position on the board; null until it has arrived. */
  get #seen() {
    return this.#answer?.position === this.trail.here?.position ? this.#answer : null;
  }

  close() {
    this.player.pause();
    this.entry.drop();
    this.#viewRequest.stop();
    this.#layersRequest.stop();
    this.tabs.close();
    document.removeEventListener("keydown", this.keyed);
  }

  /** Handle a change of the state or the store: request missing data, and update the views. */
  update() {
    const { context } = this;
    const renewed = context.store.version !== this.#seenVersion;
    this.#seenVersion = context.store.version;
    if (renewed) this.#renewTrail();
    if (renewed) this.#askLayers();
    if (this.playable) this.#follow(renewed);
    this.readout.show();
    this.tabs.update();
  }

  /** Request the position in the address; if it is known already, ignore the answer to a request under way. */
  #follow(renewed) {
    if (this.#addressedPosition() !== this.trail.here?.position) this.#cancelPending(); // after a link, or the browser's back button
    if (renewed || this.#addressedPosition() !== this.#answer?.position) {
      this.#load(renewed);
    } else if (this.#pending !== null) {
      this.#viewRequest.stop();
      this.#pending = null;
      this.#arrived(this.#answer);
    }
  }

  /** Return the position that the address names; by default the start. */
  #addressedPosition() {
    return this.context.state.position ?? this.context.store.start;
  }

  async #askLayers() {
    try {
      const layers = await this.#layersRequest.ask((signal) => this.context.api.get(storePath(this.context.name, "/layers"), {}, signal));
      if (!layers) return;
      this.context.layers = layers;
      this.readout.show();
      this.tabs.update();
    } catch (error) {
      this.context.fail(error);
    }
  }

  /** Request the distances of positions on the trail that were not known yet when they were on the board. */
  async #renewTrail() {
    const { api, name } = this.context;
    const unknown = this.trail.entries.filter(({ distance }) => distance === null).slice(-MOST_RENEWED);
    if (!unknown.length) return;
    try {
      const found = await api.post(storePath(name, "/distances"), { positions: unknown.map(({ position }) => position) });
      found.forEach(({ distance }, at) => (unknown[at].distance = distance));
      this.readout.show();
    } catch (error) {
      this.context.fail(error);
    }
  }

  /** Request everything that the page shows about the position in the address. */
  async #load(renewed) {
    const position = this.#addressedPosition();
    if (this.#pending === position && !renewed) return;
    this.#pending = position;
    try {
      const seen = await this.#viewRequest.ask((signal) => this.context.api.get(storePath(this.context.name, "/view"), { position }, signal));
      if (seen) this.#arrived(seen);
    } catch (error) {
      this.context.fail(error);
      if (!this.#answer && position !== this.context.store.start) this.#fallBack();
    } finally {
      if (this.#pending === position) this.#pending = null;
    }
  }

  /** Show the start, because the position in the address could not be loaded. */
  #fallBack() {
    this.#pending = null;
    this.context.navigate({ position: null }, { replace: true });
  }

  #arrived(seen) {
    const before = this.#answer;
    this.#answer = seen;
    if (before) this.context.succeed(); // otherwise an error about the address stays visible
    this.trail.arrive({ position: seen.position, distance: seen.distance, index: seen.index, picture: seen.picture, move: null });
    if (this.shown === seen.position) this.stage.rename(seen.picture, labelOf(seen));
    else this.stage.show(seen.picture, labelOf(seen), before ? undefined : 0);
    this.shown = seen.position;
    this.stage.setMoves(seen.successors);
    this.hints.show();
    if (seen.position !== this.#addressedPosition()) this.context.navigate({ position: seen.position }, { replace: true });
    this.readout.show();
    this.#showText(seen.position);
    this.tabs.update();
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting && [null, seen.position].includes(waiting.position)) waiting.act();
  }

  #showText(position) {
    this.entry.show(position);
    this.tools.editor.show();
  }

  /** Make a move: show its picture and distance, which are known already, and request the rest. */
  make(successor) {
    this.player.pause();
    const name = nameOf(successor, this.#answer.successors);
    if (this.#seen) this.put(successor, name);
    else this.makeNamed(name);
  }

  /** Make the move with a name if it is legal, as soon as the legal moves are known. */
  makeNamed(name) {
    this.#whenKnown(() => {
      const { successors } = this.#seen;
      const named = successors.find((one) => nameOf(one, successors) === name);
      if (named) this.make(named);
      else this.context.say(`${name} is not legal here`);
    });
  }

  /** Put {position, distance, index, picture} on the board as the next entry of the trail. */
  put({ position, distance, index, picture }, move, { replace = false, milliseconds } = {}) {
    this.#waiting = null;
    this.entry.drop();
    this.trail.push({ position, distance, index, picture, move });
    this.stage.show(picture, labelOf({ position, distance }), milliseconds);
    this.shown = position;
    this.#showText(position);
    this.readout.show();
    this.context.navigate({ position }, { replace });
  }

  /** Make several moves, given as {position, distance, move}; `picture` shows the last position. */
  walk(steps, picture) {
    this.player.pause();
    const last = steps.pop();
    steps.forEach((step) => this.trail.push(step));
    this.put({ ...last, picture }, last.move);
  }

  /** Cancel actions for the position on the board, because another position replaces it. */
  #cancelPending() {
    this.player.pause();
    this.entry.drop();
  }

  /** Put a position on the board. */
  go(position) {
    this.#waiting = null;
    this.#cancelPending();
    this.context.navigate({ position });
  }

  /** Go back or forth in the trail. */
  goTo(at) {
    const entry = this.trail.goTo(at);
    this.#waiting = null;
    this.#cancelPending();
    if (entry.picture) this.stage.show(entry.picture, labelOf(entry));
    else this.stage.cover(labelOf(entry));
    this.shown = entry.picture ? entry.position : null;
    this.#showText(entry.position);
    this.context.navigate({ position: entry.position });
    this.readout.show();
  }

  undo() {
    if (this.trail.before) this.goTo(this.trail.at - 1);
  }

  redo() {
    if (this.trail.after) this.goTo(this.trail.at + 1);
  }

  /** Run an action as soon as the moves of the position on the board are known. */
  #whenKnown(act) {
    if (this.#seen) act();
    else this.#waiting = { position: this.trail.here?.position ?? null, act };
  }

  /** Make a move that leads closer to the start, if there is one. */
  step() {
    this.#whenKnown(() => this.#step());
  }

  #step() {
    const { store } = this.context;
    const best = bestMove(this.#seen, store);
    if (best) this.make(best);
    else this.context.say(this.#seen.distance === 0 ? capitalized(describeStart(store)) : `No move leads nearer to the ${startName(store)}`);
  }

  #key(event) {
    if (!this.playable || event.defaultPrevented || event.altKey || isTyping(event.target)) return;
    if (event.ctrlKey || event.metaKey) return this.#undoKey(event);
    const onControl = event.target.closest("button, a, summary, [role=button], [role=tab]");
    if (isArrowKey(event.key) && !event.target.closest("[role=tab], .chart, .trail, .scroll, canvas")) {
      if (!this.stage.mayMatchKey(event.key)) return;
      event.preventDefault();
      this.#whenKnown(() => this.stage.arrow(event.key));
    } else if (event.key === " " && !onControl && !isOneWay(this.context.store)) {
      event.preventDefault();
      this.step();
    } else if (letterMove(event, this.context.store.moves ?? [])) {
      event.preventDefault();
      this.makeNamed(letterMove(event, this.context.store.moves));
    }
  }

  #undoKey(event) {
    if (event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (event.shiftKey) this.redo();
    else this.undo();
  }
}

/** Return the text that screen readers read for a board. */
function labelOf({ position, distance }) {
  return `Board: ${position}${distance === null ? "" : `, distance ${distance}`}`;
}

/** Return the names of the views that a store has. */
function viewsOf({ kind, problem }) {
  if (problem) return ["distribution"];
  return kind === "table" ? ["moves", "distribution", "antipodes", "pattern", "graph"] : ["distribution", "antipodes"];
}
